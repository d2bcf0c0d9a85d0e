//! What was found: artifacts, their packages, their libraries and what could not be read.
//!
//! Binds `archive` and `device`, which do not know each other, to what the user named (`source`). Holds
//! facts only; what they mean for a target is `verdict`. An inventory can be written as JSON and judged
//! later (`document`).

mod document;
mod draft;
#[cfg(test)]
mod hostile;
mod leaf;
mod own;
mod plan;
mod problems;
mod scan;
#[cfg(test)]
mod tests;
mod work;

use crate::cuda::ToolkitVersion;
use crate::device::{FatbinClass, HostFormat};
use crate::platform::Platform;
use crate::problem::Problem;

pub use crate::source::Manager;
pub use document::{SCHEMA, from_json, to_json};
pub use scan::{ScanOptions, scan};

/// Everything that the inputs of a run hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Inventory {
    /// The inputs, in the order of the command line.
    pub artifacts: Vec<Artifact>,
}

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArtifactKind {
    /// A Python wheel.
    Wheel,
    /// A source distribution, which holds no built code.
    Sdist,
    /// A file by itself.
    File,
    /// A directory tree: a virtual environment, `site-packages`, a build tree.
    Directory,
}

impl ArtifactKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Wheel, Self::Sdist, Self::File, Self::Directory];

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Wheel => "wheel",
            Self::Sdist => "sdist",
            Self::File => "file",
            Self::Directory => "directory",
        }
    }
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The input as the user named it.
    pub input: String,
    /// What it is.
    pub kind: ArtifactKind,
    /// The distribution's name, of a wheel or an sdist.
    pub name: Option<String>,
    /// The distribution's version, of a wheel or an sdist.
    pub version: Option<String>,
    /// SHA-256 of the file in hexadecimal; a directory has none.
    pub sha256: Option<String>,
    /// The platforms that its tags name; empty where it is for any, or has no tags.
    pub platforms: Vec<Platform>,
    /// Platform tags that no target can have, `linux_riscv64`.
    pub other_platforms: Vec<String>,
    /// Python tags with their ABI tags, `cp312-abi3`; empty where it has no tags.
    pub python_tags: Vec<String>,
    /// The packages in it. A library that belongs to none has no package.
    pub packages: Vec<Package>,
    /// Members with device code, that link CUDA, or that are a CUDA compiler; by path.
    pub libraries: Vec<Library>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How much was looked at.
    pub seen: Seen,
}

impl Artifact {
    /// Whether nothing of it could be read.
    pub fn is_unread(&self) -> bool {
        self.seen.files == 0 && !self.problems.is_empty()
    }
}

/// A package in an artifact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Package {
    /// Its name, as its metadata spells it.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// What installed it; nothing for a file that is a package, which is not installed.
    pub manager: Option<Manager>,
}

impl Package {
    /// A package by name and version, that is not installed.
    pub fn new(name: impl Into<String>, version: Option<String>) -> Self {
        Self {
            name: name.into(),
            version,
            manager: None,
        }
    }
}

impl From<crate::source::Package> for Package {
    fn from(package: crate::source::Package) -> Self {
        Self {
            name: package.name,
            version: package.version,
            manager: Some(package.manager),
        }
    }
}

/// How much of an artifact was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Seen {
    /// Files and members.
    pub files: u64,
    /// Of these, those that hold device code.
    pub with_device_code: u64,
    /// Of these, compressed files or archives of kinds that are not opened.
    pub unopened: u64,
}

/// A member that matters to a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Library {
    /// Its path in the artifact, with `/`; nested archives with ` › `.
    pub path: String,
    /// The package that owns it: an index into [`Artifact::packages`].
    pub package: Option<usize>,
    /// Bytes, unpacked.
    pub size: u64,
    /// Its file format.
    pub format: HostFormat,
    /// The CPU it is for, as its format names it.
    pub machine: Option<String>,
    /// The name that other libraries need it by.
    pub soname: Option<String>,
    /// Libraries that it needs, as written.
    pub needed: Vec<String>,
    /// Those of them that are NVIDIA's.
    pub needed_cuda: Vec<String>,
    /// `DT_RPATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`.
    pub runpath: Option<String>,
    /// The component of NVIDIA's that it is, where it is one (`cublas`, `cudnn`).
    pub component: Option<String>,
    /// Whether it compiles device code at run time.
    pub compiler: bool,
    /// Toolkits that this compiler is of, ascending; empty where it does not say.
    pub compilers: Vec<ToolkitVersion>,
    /// Whether it picks among single-architecture fatbins by itself, so that these are no measure.
    pub dispatches: bool,
    /// Toolkits that made its code, as far as they were cheap to see; ascending.
    pub toolkits: Vec<ToolkitVersion>,
    /// Its device code, by first offset.
    pub code: Vec<Code>,
}

/// A class of fatbins in a library.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Code {
    /// The fatbins.
    pub class: FatbinClass,
    /// Whether it is the package's own code, and not a library of NVIDIA's that it carries.
    pub own: bool,
    /// The component of NVIDIA's that it belongs to, where it is not the package's own.
    pub component: Option<String>,
}

impl Library {
    /// Fatbins in it, bare images not counted.
    pub fn fatbins(&self) -> u64 {
        self.code
            .iter()
            .filter(|code| !code.class.bare)
            .map(|code| code.class.count)
            // a saved inventory may say any number
            .fold(0, u64::saturating_add)
    }

    /// Whether it has device code.
    pub fn has_device_code(&self) -> bool {
        !self.code.is_empty()
    }
}
