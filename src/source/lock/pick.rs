//! What one environment gets of a lock file.

use super::hash::Hash;

/// What one environment gets of a locked package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pick {
    /// The name as written.
    pub name: String,
    /// The version.
    pub version: Option<String>,
    /// The line of the package, from 1 on.
    pub line: u32,
    /// What would be installed.
    pub status: PickStatus,
    /// The file, where it is known.
    pub file: Option<PickedFile>,
    /// Hashes of the package, of which its file must have one; empty where the lock gives none but that of the file.
    pub hashes: Vec<Hash>,
    /// The address of the index, where the lock says.
    pub index: Option<String>,
    /// Whether no wheel of it is taken (`--no-binary`).
    pub no_binary: bool,
    /// Whether nothing but a wheel of it is taken (`--only-binary`).
    pub only_binary: bool,
}

/// The file of a [`Pick`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct PickedFile {
    /// Its name, decoded.
    pub name: String,
    /// Its address, where the lock has one.
    pub url: Option<String>,
    /// Its hash.
    pub hash: Option<Hash>,
    /// Bytes.
    pub size: Option<u64>,
    /// The line of the file, from 1 on.
    pub line: u32,
}

/// What an installer would do with a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PickStatus {
    /// Installs a wheel from an index.
    Wheel,
    /// Installs a conda package.
    Conda,
    /// Builds a source distribution: no wheel fits.
    Sdist,
    /// Installs a wheel or a source archive from an address of its own.
    Url,
    /// Builds from a repository.
    Vcs,
    /// Installs a file of this machine.
    File,
    /// Builds a directory of this machine.
    Directory,
    /// Only the index knows which file.
    AskIndex,
    /// There is no file for the environment.
    NoFile,
}

impl PickedFile {
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

impl PickStatus {
    /// Every status.
    pub const ALL: &[Self] = &[
        Self::Wheel,
        Self::Conda,
        Self::Sdist,
        Self::Url,
        Self::Vcs,
        Self::File,
        Self::Directory,
        Self::AskIndex,
        Self::NoFile,
    ];

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Wheel => "wheel",
            Self::Conda => "conda",
            Self::Sdist => "sdist",
            Self::Url => "url",
            Self::Vcs => "vcs",
            Self::File => "file",
            Self::Directory => "directory",
            Self::AskIndex => "ask-index",
            Self::NoFile => "no-file",
        }
    }
}
