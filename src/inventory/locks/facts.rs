//! What a lock file puts on one kind of machine.

use std::collections::BTreeMap;

use crate::source::lock::{Environment, LockKind, PickStatus, PickedFile, PythonVersion, Unlocked};
use crate::source::wheel::normal_name;

/// A lock file for one environment: an artifact of its own, like an image for one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockFacts {
    /// What it is.
    pub kind: LockKind,
    /// Where it would be installed, as it was asked for.
    pub environment: Environment,
    /// The Python by which wheels were chosen; none where nothing depends on it.
    pub python: Option<PythonVersion>,
    /// What would be installed there, in the order of lines.
    pub packages: Vec<LockedPackage>,
    /// Whether it has packages, and none of them for this environment.
    pub is_for_others: bool,
    /// Whether it lists all that is installed.
    pub is_whole: bool,
    /// Requirements without an exact version.
    pub unlocked: Vec<Unlocked>,
    /// Bytes of files that were asked of servers.
    pub fetched: u64,
}

impl LockFacts {
    /// What `environment` gets of a lock file of `kind`: nothing yet.
    pub fn new(kind: LockKind, environment: Environment) -> Self {
        Self {
            kind,
            environment,
            python: None,
            packages: Vec::new(),
            is_for_others: false,
            is_whole: true,
            unlocked: Vec::new(),
            fetched: 0,
        }
    }

    /// The environment in words: `linux/amd64, Python 3.12, glibc 2.28`.
    pub fn title(&self) -> String {
        let Environment {
            platform,
            libc,
            extras,
            groups,
            named,
            ..
        } = &self.environment;
        let mut parts = vec![platform.to_string()];
        parts.extend(self.python.map(|python| format!("Python {python}")));
        parts.extend(libc.named());
        parts.extend(named.clone());
        let optional = extras.iter().chain(groups);
        parts.extend(optional.map(|name| format!("with {name}")));
        parts.join(", ")
    }

    /// Whether nothing in it is locked: all is decided at install, or it is a list without entries. (A project without
    /// dependencies has a lock file all the same.)
    pub fn installs_nothing(&self) -> bool {
        let is_list = matches!(
            self.kind,
            LockKind::Requirements | LockKind::Explicit | LockKind::CondaEnvironment
        );
        let is_empty = self.packages.is_empty() && !self.is_for_others;
        is_empty && (is_list || !self.unlocked.is_empty())
    }

    /// How many packages have a file, or could have one, that was not read.
    pub fn unread(&self) -> u64 {
        let unread = |package: &&LockedPackage| matches!(package.content, Content::NotRead(_));
        self.packages.iter().filter(unread).count() as u64
    }

    /// Whether all that is installed is listed, and every file of it was read. What is built at install is no file yet.
    pub fn is_read(&self) -> bool {
        let read = |package: &LockedPackage| !matches!(package.content, Content::NotRead(_));
        self.is_whole && self.packages.iter().all(read)
    }

    /// The packages, to be asked for by name.
    pub fn by_name(&self) -> LockedByName<'_> {
        let mut by_name = LockedByName::default();
        for package in &self.packages {
            let named = by_name.packages.entry(normal_name(&package.name));
            let named = named.or_insert_with(|| Named {
                first: package,
                of_version: BTreeMap::new(),
            });
            let version = package.version.as_deref();
            named.of_version.entry(version).or_insert(package);
        }
        by_name
    }
}

/// The packages of a lock file by name and version: each is found without asking all of them.
#[derive(Debug, Default)]
pub struct LockedByName<'l> {
    packages: BTreeMap<String, Named<'l>>,
}

/// The packages of one name.
#[derive(Debug)]
struct Named<'l> {
    first: &'l LockedPackage,
    of_version: BTreeMap<Option<&'l str>, &'l LockedPackage>,
}

impl<'l> LockedByName<'l> {
    /// The package called `name`, whatever its spelling: the first of that version, else the first of any.
    pub fn get(&self, name: &str, version: Option<&str>) -> Option<&'l LockedPackage> {
        let named = self.packages.get(&normal_name(name))?;
        let of_version = named.of_version.get(&version);
        Some(of_version.copied().unwrap_or(named.first))
    }
}

/// One package that an environment gets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockedPackage {
    /// The name as written.
    pub name: String,
    /// The version.
    pub version: Option<String>,
    /// The line of the lock file, from 1 on.
    pub line: u32,
    /// What an installer would do.
    pub status: PickStatus,
    /// The file; its address is without secrets.
    pub file: Option<PickedFile>,
    /// Whether its content was read.
    pub content: Content,
}

/// Whether the content of a locked package was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// There is no file that could be read: a source distribution, a repository, nothing at all.
    None,
    /// It was read whole, and has the hash of the lock file.
    Verified,
    /// What can hold device code was read; whether the rest has the hash of the lock file is not known.
    Read,
    /// It was not read.
    NotRead(NotRead),
}

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotRead {
    /// Nothing may be asked of a server.
    Offline,
    /// It could not be read: a problem says why.
    Failed,
}

impl Content {
    /// Every content.
    pub const ALL: &[Self] = &[
        Self::None,
        Self::Verified,
        Self::Read,
        Self::NotRead(NotRead::Offline),
        Self::NotRead(NotRead::Failed),
    ];

    /// Whether what is in the file is known.
    pub const fn is_known(self) -> bool {
        matches!(self, Self::Verified | Self::Read)
    }

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Verified => "verified",
            Self::Read => "read",
            Self::NotRead(NotRead::Offline) => "offline",
            Self::NotRead(NotRead::Failed) => "failed",
        }
    }
}
