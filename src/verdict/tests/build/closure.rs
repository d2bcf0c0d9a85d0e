//! Environments and images: what is installed, and what NVIDIA's libraries are there.

use crate::inventory::{ArtifactKind, ImageFacts, Manager, Provided};

use super::{Input, artifact};

/// An image.
pub(in crate::verdict::tests) fn image_of(name: &str) -> Input {
    let mut input = artifact(ArtifactKind::Image, name);
    input.0.image = Some(Box::new(ImageFacts::default()));
    input
}

impl Input {
    /// What package managers installed, as far as it is named by now.
    pub(in crate::verdict::tests) fn installed(mut self, manager: Manager) -> Self {
        for package in &mut self.0.packages {
            package.manager.get_or_insert(manager);
        }
        self
    }

    /// Libraries of NVIDIA's at these paths, blanks between them; with `=NAME` those that say another name.
    pub(in crate::verdict::tests) fn provides(mut self, paths: &str) -> Self {
        let provided = self.0.provided.get_or_insert_default();
        for path in paths.split_whitespace() {
            let (path, soname) = match path.split_once('=') {
                Some((path, soname)) => (path, Some(soname.to_owned())),
                None => (path, None),
            };
            provided.push(Provided::new(path, soname, None));
        }
        self
    }

    /// As an older document has it, which does not say what is provided.
    pub(in crate::verdict::tests) fn of_older_document(mut self) -> Self {
        self.0.provided = None;
        self
    }
}
