//! Lock files and their packages.

use super::{Input, artifact};
use crate::inventory::{
    ArtifactKind, Content, Environment, LockFacts, LockKind, LockedPackage, PickStatus, PickedFile,
};

/// A lock file without packages, on this platform.
pub(in super::super) fn lock(platform: &str) -> Input {
    let mut input = artifact(ArtifactKind::LockFile, "uv.lock").tags(platform);
    let environment = Environment::new(platform.parse().unwrap());
    input.0.lock = Some(Box::new(LockFacts::new(LockKind::Uv, environment)));
    input
}

/// A package of a lock file.
pub(in super::super) fn locked(
    name: &str,
    version: &str,
    status: PickStatus,
    content: Content,
) -> LockedPackage {
    let is_file = !matches!(
        status,
        PickStatus::NoFile | PickStatus::AskIndex | PickStatus::Vcs | PickStatus::Directory
    );
    let file = format!("{name}-{version}-py3-none-any.whl");
    LockedPackage {
        name: name.to_owned(),
        version: Some(version.to_owned()),
        line: 1,
        status,
        file: is_file.then(|| PickedFile::new(file, 2)),
        content,
    }
}

impl Input {
    /// A package of the lock file.
    pub(in super::super) fn locked(self, package: LockedPackage) -> Self {
        let version = package.version.clone().unwrap_or_default();
        let input = self.package_of(&package.name, &version);
        input.change(|lock| lock.packages.push(package))
    }

    /// What the lock file says, changed.
    pub(in super::super) fn change(mut self, change: impl FnOnce(&mut LockFacts)) -> Self {
        change(self.0.lock.as_mut().unwrap());
        self
    }
}
