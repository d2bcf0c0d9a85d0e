//! One model for all kinds of lock files.

use super::super::wheel::normal_name;
pub use super::hash::Hash;
use super::options::{InstallOptions, LockPlatform};
use super::without_secrets;
use crate::{Locator, Problem};

/// The kinds of lock files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LockKind {
    /// `uv.lock`
    Uv,
    /// `pylock.toml` (PEP 751)
    Pylock,
    /// `poetry.lock`
    Poetry,
    /// `pdm.lock`
    Pdm,
    /// `Pipfile.lock`
    Pipenv,
    /// `requirements.txt` with exact versions
    Requirements,
    /// `conda-lock.yml`
    CondaLock,
    /// A list of addresses behind `@EXPLICIT`
    Explicit,
    /// `pixi.lock`
    Pixi,
    /// `environment.yml`, which is no lock: everything of it is [`Unlocked`]
    CondaEnvironment,
}

impl LockKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Uv,
        Self::Pylock,
        Self::Poetry,
        Self::Pdm,
        Self::Pipenv,
        Self::Requirements,
        Self::CondaLock,
        Self::Explicit,
        Self::Pixi,
        Self::CondaEnvironment,
    ];

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Uv => "uv",
            Self::Pylock => "pylock",
            Self::Poetry => "poetry",
            Self::Pdm => "pdm",
            Self::Pipenv => "pipenv",
            Self::Requirements => "requirements",
            Self::CondaLock => "conda-lock",
            Self::Explicit => "conda-explicit",
            Self::Pixi => "pixi",
            Self::CondaEnvironment => "conda-environment",
        }
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Uv => "uv.lock",
            Self::Pylock => "pylock.toml",
            Self::Poetry => "poetry.lock",
            Self::Pdm => "pdm.lock",
            Self::Pipenv => "Pipfile.lock",
            Self::Requirements => "requirements.txt",
            Self::CondaLock => "conda-lock.yml",
            Self::Explicit => "conda explicit list",
            Self::Pixi => "pixi.lock",
            Self::CondaEnvironment => "environment.yml",
        }
    }
}

/// A lock file as it is written, before anything is chosen of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lock {
    /// The file.
    pub at: Locator,
    /// What it is.
    pub kind: LockKind,
    /// The version of its format, as it says.
    pub format: Option<String>,
    /// The Python versions that it is for, `>=3.10`.
    pub requires_python: Option<String>,
    /// Markers of the environments that it is for: where there are any, one must hold, and installers refuse it
    /// elsewhere (uv's `supported-markers`, `environments` of PEP 751, pdm's targets).
    pub supported_markers: Vec<String>,
    /// Its packages, in the order of the file.
    pub packages: Vec<Locked>,
    /// Where an installer begins to walk the dependencies. None where the file is a flat list, all of which is
    /// installed where its conditions hold.
    pub roots: Option<Vec<Dependency>>,
    /// Names of extras that a user can ask for, as the file lists them; empty where it lists none.
    pub extras: Vec<String>,
    /// Names of groups that a user can ask for.
    pub groups: Vec<String>,
    /// Groups that are installed where the user names none.
    pub default_groups: Vec<String>,
    /// Environments by name, of `pixi.lock`.
    pub environments: Vec<String>,
    /// Addresses of package indexes that it names, in its order, without secrets. The first is the main one.
    pub indexes: Vec<String>,
    /// Whether the main index is one that the file names: `--extra-index-url` alone leaves it to the configuration.
    pub has_main_index: bool,
    /// What it asks of an installer beside packages.
    pub options: InstallOptions,
    /// Machines that it is made for by name, of `pixi.lock` 7.
    pub platforms: Vec<LockPlatform>,
    /// Requirements without an exact version.
    pub unlocked: Vec<Unlocked>,
    /// Whether it is one package looked at by itself: what the package needs is not listed.
    pub alone: bool,
    /// What of it could not be understood.
    pub problems: Vec<Problem>,
}

impl Lock {
    /// Whether it lists all that is installed. Requirements do where each has a hash: pip refuses the others then.
    pub fn is_whole(&self) -> bool {
        let hashed = |package: &Locked| {
            !package.hashes.is_empty() || package.files.iter().any(|file| file.hash.is_some())
        };
        match self.kind {
            _ if self.alone => false,
            LockKind::CondaEnvironment => false,
            LockKind::Requirements => self.unlocked.is_empty() && self.packages.iter().all(hashed),
            _ => true,
        }
    }

    /// Whether it installs anything anywhere.
    pub fn has_packages(&self) -> bool {
        let is_project = |package: &Locked| package.origin == Origin::Project;
        self.packages.iter().any(|package| !is_project(package))
    }

    /// An empty one of `kind`.
    pub fn new(at: Locator, kind: LockKind) -> Self {
        Self {
            at,
            kind,
            format: None,
            requires_python: None,
            supported_markers: Vec::new(),
            packages: Vec::new(),
            roots: None,
            extras: Vec::new(),
            groups: Vec::new(),
            default_groups: Vec::new(),
            environments: Vec::new(),
            indexes: Vec::new(),
            has_main_index: false,
            options: InstallOptions::default(),
            platforms: Vec::new(),
            unlocked: Vec::new(),
            alone: false,
            problems: Vec::new(),
        }
    }
}

/// A requirement that no exact version answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unlocked {
    /// As written, without secrets.
    pub text: String,
    /// The line, from 1 on.
    pub line: u32,
    /// When it is installed, as [`Condition::marker`].
    pub marker: Option<String>,
}

impl Unlocked {
    /// The requirement `text` on `line`.
    pub fn new(text: impl Into<String>, line: u32) -> Self {
        Self {
            text: without_secrets(&text.into()),
            line,
            marker: None,
        }
    }
}

/// One package of a lock file: one version from one place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Locked {
    /// The name as written.
    pub name: String,
    /// The version, where the file says one.
    pub version: Option<String>,
    /// The line where it stands, from 1 on.
    pub line: u32,
    /// Where it comes from.
    pub origin: Origin,
    /// When it is installed.
    pub condition: Condition,
    /// What it needs, where the file is walked as a graph.
    pub dependencies: Vec<Dependency>,
    /// The files of it.
    pub files: Vec<LockedFile>,
    /// Hashes of files without names: any file of the index that has one of them is allowed.
    pub hashes: Vec<Hash>,
    /// The address of the index that it comes from, where the file says, without secrets.
    pub index: Option<String>,
}

impl Locked {
    /// A package without conditions and files, from an index.
    pub fn new(name: impl Into<String>, version: Option<String>, line: u32) -> Self {
        Self {
            name: name.into(),
            version,
            line,
            origin: Origin::Index,
            condition: Condition::default(),
            dependencies: Vec::new(),
            files: Vec::new(),
            hashes: Vec::new(),
            index: None,
        }
    }

    /// What [`Dependency::source`] says of it: its index, or what its [`Origin`] holds, or the address of its file;
    /// without secrets.
    pub fn source(&self) -> Option<String> {
        match &self.origin {
            Origin::Index => self.index.clone(),
            Origin::Url => self.files.first()?.url.as_deref().map(without_secrets),
            Origin::Vcs(source) | Origin::File(source) | Origin::Directory(source) => {
                Some(source.clone())
            }
            Origin::Project => None,
        }
    }
}

/// Where a locked package comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A Python package index or a conda channel.
    Index,
    /// An address of its own; the file is in `files`.
    Url,
    /// A repository of source code: the address, without secrets.
    Vcs(String),
    /// A file on this machine, relative to the lock file; it is in `files` too.
    File(String),
    /// A directory on this machine, relative to the lock file: built at install.
    Directory(String),
    /// The project itself, or a workspace member without files: nothing is installed that matters here.
    Project,
}

/// When a package is installed. What is empty does not matter; all that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Condition {
    /// An environment marker (PEP 508), with the `extras` and `dependency_groups` of PEP 751.
    pub marker: Option<String>,
    /// Its own `requires-python`. (An installer refuses the lock where it does not hold; pdm uses it to tell two
    /// versions of one package apart.)
    pub requires_python: Option<String>,
    /// It belongs to one of these groups (poetry 2.1, pdm, Pipfile: `default`, `develop`).
    pub groups: Vec<String>,
    /// It is only installed for an extra of the project: one of these.
    pub extras: Vec<String>,
    /// It is only for these conda subdirs: `linux-64`, `linux-aarch64`, `win-64`, `noarch` is not listed here.
    pub subdirs: Vec<String>,
    /// It is in these environments of `pixi.lock`.
    pub environments: Vec<String>,
    /// It is for these machines of [`Lock::platforms`], where they say more than `subdirs`.
    pub platforms: Vec<String>,
    /// Whether it is optional and nothing says for which extra or group (old poetry).
    pub optional: bool,
}

/// An edge of the graph of packages.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependency {
    /// The name of the package that is needed.
    pub name: String,
    /// Its version, where the lock tells two of one name apart.
    pub version: Option<String>,
    /// The place that it comes from, where the lock tells two apart by it: what [`Locked::source`] says.
    pub source: Option<String>,
    /// When it is needed.
    pub marker: Option<String>,
    /// Extras of the needed package.
    pub extras: Vec<String>,
    /// Only for an extra or a group of the package that needs it.
    pub under: Option<Under>,
}

impl Dependency {
    /// A dependency by name alone.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: None,
            source: None,
            marker: None,
            extras: Vec::new(),
            under: None,
        }
    }
}

/// What a dependency is only needed for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Under {
    /// An extra.
    Extra(String),
    /// A dependency group.
    Group(String),
}

impl Under {
    /// How `uv.lock` writes, in the markers of edges, that this extra or group of `package` is asked for:
    /// `extra-3-app-gpu` in `extra == 'extra-3-app-gpu'`. The number is the length of the package's name.
    ///
    /// Only extras and groups that exclude each other (`[tool.uv] conflicts`) occur there. Such a marker is
    /// evaluated with this text as an extra for each extra and group of each package that is asked for.
    pub fn in_uv_markers(&self, package: &str) -> String {
        let (kind, name) = match self {
            Self::Extra(name) => ("extra", name),
            Self::Group(name) => ("group", name),
        };
        let (package, name) = (normal_name(package), normal_name(name));
        format!("{kind}-{}-{package}-{name}", package.len())
    }
}

/// A file of a locked package.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockedFile {
    /// Its name, decoded: `torch-2.9.1+cu128-cp312-cp312-manylinux_2_28_x86_64.whl`.
    pub name: String,
    /// Its address, absolute or relative to the lock file; it may hold secrets, and is shown without them only.
    pub url: Option<String>,
    /// Its hash, the strongest that the file gives.
    pub hash: Option<Hash>,
    /// Bytes.
    pub size: Option<u64>,
    /// The line where it stands, from 1 on.
    pub line: u32,
}

impl LockedFile {
    /// A file by name.
    pub fn new(name: impl Into<String>, line: u32) -> Self {
        Self {
            name: name.into(),
            url: None,
            hash: None,
            size: None,
            line,
        }
    }
}
