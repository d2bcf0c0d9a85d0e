//! An artifact on the way: what threads have found of it, merged and sorted at the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::locator::Locator;
use crate::problem::Problem;

use super::nested::Described;
use super::{Artifact, ArtifactKind, Library, Manager, Package, Seen};

/// An artifact on the way.
pub(super) struct Draft {
    pub(super) artifact: Artifact,
    pub(super) packages: BTreeSet<Package>,
    pub(super) libraries: Vec<(Library, Option<Package>)>,
}

/// Something that a thread has found.
pub(super) enum Found {
    Library(Box<Library>, Option<Arc<Package>>),
    Package(Arc<Package>),
    /// That the input is a conda package, and which.
    Conda(Box<Described>),
    Digest(String),
    Seen(Seen),
}

impl Draft {
    pub(super) fn new(kind: ArtifactKind, at: &Locator) -> Self {
        Self {
            artifact: Artifact {
                input: at.artifact().to_owned(),
                kind,
                name: None,
                version: None,
                sha256: None,
                platforms: Vec::new(),
                other_platforms: Vec::new(),
                platform_tags: Vec::new(),
                python_tags: Vec::new(),
                packages: Vec::new(),
                libraries: Vec::new(),
                problems: Vec::new(),
                seen: Seen::default(),
                conda: None,
                image: None,
            },
            packages: BTreeSet::new(),
            libraries: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, found: Found) {
        let artifact = &mut self.artifact;
        match found {
            Found::Library(library, package) => {
                self.libraries.push((*library, package.as_deref().cloned()));
            }
            Found::Package(package) => {
                self.packages.insert(Package::clone(&package));
            }
            Found::Conda(described) => {
                artifact.kind = ArtifactKind::Conda;
                artifact.name = Some(described.name);
                artifact.version = Some(described.version);
                artifact.platforms = described.platforms;
                artifact.other_platforms = described.other_platform.into_iter().collect();
                artifact.conda = Some(Box::new(described.facts));
            }
            Found::Digest(hex) => artifact.sha256 = Some(hex),
            Found::Seen(seen) => artifact.seen.add(seen),
        }
    }

    /// The artifact with all of its `problems`.
    pub(super) fn finish(mut self, problems: Vec<Problem>) -> Artifact {
        // a conda package that does not say what it is has at least a file name
        if let (ArtifactKind::Conda, None, Some(name)) = (
            self.artifact.kind,
            self.packages.first(),
            &self.artifact.name,
        ) {
            self.packages.insert(Package {
                manager: Some(Manager::Conda),
                ..Package::new(name, self.artifact.version.clone())
            });
        }
        self.artifact.packages = self.packages.into_iter().collect();
        let packages = &self.artifact.packages;
        self.artifact.libraries = self
            .libraries
            .into_iter()
            .map(|(mut library, package)| {
                library.package = package.and_then(|package| packages.binary_search(&package).ok());
                library
            })
            .collect();
        self.artifact
            .libraries
            .sort_by(|a, b| a.path.cmp(&b.path).then(a.size.cmp(&b.size)));
        self.artifact.problems = problems;
        self.artifact.problems.sort();
        self.artifact
    }
}
