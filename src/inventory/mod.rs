//! What was found: artifacts, their packages, their libraries and what could not be read.
//!
//! Binds `archive` and `device`, which do not know each other, to what the user named (`source`). Holds
//! facts only; what they mean for a target is `verdict`. An inventory can be written as JSON and judged
//! later (`document`).

mod by_name;
mod cache;
mod conda;
mod document;
mod draft;
mod fetched;
#[cfg(test)]
mod hostile;
mod image;
mod layer;
mod leaf;
mod locks;
mod nested;
mod own;
mod plan;
mod problems;
mod progress;
mod provided;
mod run;
mod scan;
mod squash;
mod stream;
#[cfg(test)]
mod tests;
mod work;

use std::collections::BTreeMap;

use crate::cuda::ToolkitVersion;
use crate::device::{FatbinClass, ForwardNote, HostFormat};
use crate::platform::Platform;
use crate::problem::Problem;
use crate::source;
use crate::tables::Origin;

pub use crate::source::Manager;
pub use crate::source::lock::{
    Environment, Libc, LockKind, PickStatus, PickedFile, PythonVersion, Unlocked,
};
pub use cache::Cache;
pub use conda::{BuildClaim, CondaFacts};
pub use document::{SCHEMA, from_json, to_json};
pub use fetched::{Fetched, HashCheck};
pub use locks::{Content, LockFacts, LockedByName, LockedPackage, NotRead};
pub use progress::{Counts, Progress};
pub use provided::Provided;
pub use scan::{ScanOptions, scan, scan_sources, scan_with};

/// Everything that the inputs of a run hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Inventory {
    /// The inputs, in the order of the command line.
    pub artifacts: Vec<Artifact>,
    /// The tables by which vendor libraries were told from own code; none where an older document does not say.
    pub tables: Option<Origin>,
}

impl Inventory {
    /// Whether the names of kernels were read, of any of its device code.
    pub fn has_kernels(&self) -> bool {
        let libraries = self
            .artifacts
            .iter()
            .flat_map(|artifact| &artifact.libraries);
        libraries
            .flat_map(|library| &library.code)
            .any(|code| code.class.kernels.is_some())
    }
}

impl Inventory {
    /// Whether there are inputs, and nothing of any could be read.
    pub fn is_unread(&self) -> bool {
        !self.artifacts.is_empty() && self.artifacts.iter().all(Artifact::is_unread)
    }

    /// What reports call each artifact: its input, and of several images in one input, which one.
    pub fn titles(&self) -> Vec<String> {
        let alone = |artifact: &Artifact| {
            let same = self
                .artifacts
                .iter()
                .filter(|other| other.input == artifact.input);
            same.count() == 1
        };
        self.artifacts
            .iter()
            .map(|artifact| match &artifact.image {
                None if !alone(artifact) => match &artifact.lock {
                    Some(lock) => format!("{} › {}", artifact.input, lock.title()),
                    None => artifact.input.clone(),
                },
                Some(image) if !alone(artifact) => {
                    let named = image.names.first().or(image.digest.as_ref());
                    let which = [named, image.platform.as_ref()].into_iter().flatten();
                    let which: Vec<&str> = which.map(String::as_str).collect();
                    format!("{} › {}", artifact.input, which.join(" "))
                }
                _ => artifact.input.clone(),
            })
            .collect()
    }
}

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArtifactKind {
    /// A Python wheel.
    Wheel,
    /// A conda package.
    Conda,
    /// A source distribution, which holds no built code.
    Sdist,
    /// A file by itself.
    File,
    /// A directory tree: a virtual environment, `site-packages`, a build tree.
    Directory,
    /// A container image.
    Image,
    /// What a lock file puts on one kind of machine.
    LockFile,
}

impl ArtifactKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Wheel,
        Self::Conda,
        Self::Sdist,
        Self::File,
        Self::Directory,
        Self::Image,
        Self::LockFile,
    ];

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Wheel => "wheel",
            Self::Conda => "conda",
            Self::Sdist => "sdist",
            Self::File => "file",
            Self::Directory => "directory",
            Self::Image => "image",
            Self::LockFile => "lock-file",
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
    /// The package's name, of a wheel, a conda package or an sdist.
    pub name: Option<String>,
    /// The package's version, of a wheel, a conda package or an sdist.
    pub version: Option<String>,
    /// SHA-256 of the file in hexadecimal; a directory has none.
    pub sha256: Option<String>,
    /// The platforms that its tags name, or the `subdir` of a conda package; empty where it is for any, or has no
    /// tags. A conda package for any platform has those that its libraries are for, by their directories.
    pub platforms: Vec<Platform>,
    /// Platform tags that no target can have, `linux_riscv64`; of a conda package `linux-riscv64`.
    pub other_platforms: Vec<String>,
    /// All its platform tags as written, sorted, `manylinux_2_28_x86_64`; empty where it has no tags.
    pub platform_tags: Vec<String>,
    /// Python tags with their ABI tags, `cp312-abi3`; empty where it has no tags.
    pub python_tags: Vec<String>,
    /// The packages in it. A library that belongs to none has no package.
    pub packages: Vec<Package>,
    /// Members with device code, that link CUDA, or that are a CUDA compiler; by path.
    pub libraries: Vec<Library>,
    /// Libraries of NVIDIA's in it that others can need by name, whether they hold device code or not; by path. None
    /// where an older document does not say.
    pub provided: Option<Vec<Provided>>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How much was looked at.
    pub seen: Seen,
    /// What of it was fetched, where it is a file at an address.
    pub fetched: Option<Fetched>,
    /// What it says of itself as a conda package, where it is one and could be asked.
    pub conda: Option<Box<CondaFacts>>,
    /// What it is as an image, where it is one.
    pub image: Option<Box<ImageFacts>>,
    /// What it is as a lock file, where it is one.
    pub lock: Option<Box<LockFacts>>,
}

/// What an image says of itself, and what its layers are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ImageFacts {
    /// The names that it is known by, `registry.example/app:1.0`.
    pub names: Vec<String>,
    /// The digest of its manifest, `sha256:…`. Archives of `docker save` before Docker 25 have no manifest.
    pub digest: Option<String>,
    /// The digest of its configuration, which Docker calls the image's id.
    pub image_id: Option<String>,
    /// `linux/amd64`, with a variant where there is one: `linux/arm64/v8`.
    pub platform: Option<String>,
    /// What of its environment and its labels says something of GPUs, `NAME=VALUE`; the rest may be secrets.
    pub env: Vec<String>,
    /// As `env`, of its labels.
    pub labels: BTreeMap<String, String>,
    /// The user-mode drivers of forward compatibility packages in it.
    pub compat: Vec<CompatDriver>,
    /// Files that the container toolkit left behind where the image was saved from a running container.
    pub compat_configs: Vec<String>,
    /// The lowest first.
    pub layers: Vec<LayerFacts>,
    /// Files with device code that a later layer removed or replaced: they are shipped and never used.
    pub hidden: Vec<Hidden>,
}

/// The user-mode driver of a forward compatibility package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompatDriver {
    /// Its path.
    pub path: String,
    /// What it says of itself, since about R575; an error where that could not be read.
    pub note: Option<Result<ForwardNote, String>>,
}

/// A layer of an image.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LayerFacts {
    /// The digest of the bytes as stored.
    pub digest: Option<String>,
    /// The digest of the unpacked bytes.
    pub diff_id: Option<String>,
    /// Bytes as stored.
    pub size: Option<u64>,
    /// Bytes unpacked, where all of them were read.
    pub unpacked: Option<u64>,
    /// The build step that made it, as the image's history has it.
    pub created_by: Option<String>,
}

/// A file with device code that is not in the final file system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hidden {
    /// Its path in its layer.
    pub path: String,
    /// Bytes, unpacked.
    pub size: u64,
    /// The layer that brought it: an index into [`ImageFacts::layers`].
    pub layer: usize,
    /// The layer that took it away.
    pub by: Option<usize>,
}

impl Artifact {
    /// Whether it holds all that its programs load, the driver aside: what it lacks is then missing.
    ///
    /// An image is, and a lock file of which every file was read, and so is a directory that holds installed packages (a virtual environment, `site-packages`, a
    /// conda prefix, the root of a system). A build tree or a folder of wheels is not, and neither is a package by
    /// itself, whose dependencies lie elsewhere.
    pub fn is_closure(&self) -> bool {
        match self.kind {
            ArtifactKind::Image => true,
            ArtifactKind::Directory => self.packages.iter().any(Package::is_installed),
            // what is in a file that was not read may be what another needs
            ArtifactKind::LockFile => self.lock.as_ref().is_some_and(|lock| lock.is_read()),
            ArtifactKind::Wheel
            | ArtifactKind::Conda
            | ArtifactKind::Sdist
            | ArtifactKind::File => false,
        }
    }

    /// The file or directory that it is, as the user named it; none where that is an image, an address or standard
    /// input.
    pub fn file(&self) -> Option<String> {
        (self.image.is_none() && self.kind != ArtifactKind::Image)
            .then(|| source::SourceSpec::file_of(&self.input))?
    }

    /// Whether nothing of it could be read.
    pub fn is_unread(&self) -> bool {
        match &self.lock {
            // it says what is installed, read or not, unless all of it is decided at install
            Some(lock) => lock.installs_nothing(),
            None => self.seen.files == 0 && self.seen.left_out == 0 && !self.problems.is_empty(),
        }
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
    /// What installed it, or would; nothing for a wheel and an sdist that are not installed.
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

impl Package {
    /// Whether a package manager installed it where it lies.
    pub fn is_installed(&self) -> bool {
        self.manager.is_some()
    }
}

impl From<source::Package> for Package {
    fn from(package: source::Package) -> Self {
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
    /// Beside these, members of a file at an address that were not fetched, because their names say that they are text.
    pub left_out: u64,
}

impl Seen {
    /// Adds what was seen elsewhere.
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.with_device_code += other.with_device_code;
        self.unopened += other.unopened;
        self.left_out += other.left_out;
    }
}

/// A member that matters to a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Library {
    /// Its path in the artifact, with `/`; nested archives with ` › `.
    pub path: String,
    /// Other paths of the same file in an image: hard links. It is judged once, under `path`.
    pub also: Vec<String>,
    /// The package that owns it: an index into [`Artifact::packages`].
    pub package: Option<usize>,
    /// The layer of the image that brought it: an index into [`ImageFacts::layers`].
    pub layer: Option<usize>,
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
    /// Whether this compiler may write PTX, which the driver compiles, in place of machine code: NVRTC and libNVVM.
    pub writes_ptx: bool,
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
