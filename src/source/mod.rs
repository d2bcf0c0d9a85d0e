//! Sources: what the user names, opened far enough to say what it is and who owns which file.
//!
//! Responsible for arguments of the command line, for file names and metadata of packages, and for
//! walking directories, and for fetching from registries and from daemons on this machine. It reads archives through `archive`, and knows
//! nothing of device code or of policies. Nothing is installed, imported or unpacked to disk.

mod bounded;
pub mod conda;
#[cfg(feature = "registry")]
mod credentials;
mod daemon;
mod dir;
mod fetch;
mod file;
mod hide;
#[cfg(feature = "registry")]
pub mod http;
mod images;
#[cfg(feature = "registry")]
pub mod index;
pub mod lock;
mod named;
pub mod oci;
pub mod packages;
#[cfg(feature = "registry")]
pub(crate) mod process;
#[cfg(feature = "registry")]
mod reach;
#[cfg(feature = "registry")]
pub mod remote;
#[cfg(feature = "registry")]
mod secret;
mod spec;
pub(crate) mod sum;
pub mod wheel;

use std::fs;
use std::io::{self, Read};
use std::path::Path;
#[cfg(feature = "registry")]
use std::sync::Arc;

pub use conda::Conda;
#[cfg(feature = "registry")]
pub use credentials::Credentials;
pub use daemon::{Daemon, Daemons, Endpoint};
pub use dir::{Dir, DirFile};
pub use fetch::Fetch;
pub use file::{PlainFile, Said, Sdist};
pub(crate) use file::{is_named_wheel, open_as};
pub use images::ImageStream;
pub use lock::LockFile;
pub(crate) use named::{open_regular, read_named};
pub use packages::{Manager, Package};
#[cfg(feature = "registry")]
pub use reach::Servers;
#[cfg(feature = "registry")]
pub use secret::Secret;
pub use spec::SourceSpec;
pub use wheel::{Wheel, WheelFilename};

use self::hide::without_secrets;
#[cfg(feature = "registry")]
use self::oci::Access;
use self::oci::{Choice, Image};
#[cfg(feature = "registry")]
use self::remote::RemoteFile;
use self::spec::SpecKind;
#[cfg(feature = "registry")]
use crate::archive::Fault;
use crate::archive::SharedBytes;
use crate::limits::Limits;
use crate::{Error, ErrorKind, Locator, MemberName, Problem};

/// What the user named, opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Source {
    /// A wheel.
    Wheel(Wheel),
    /// A conda package.
    Conda(Conda),
    /// A source distribution, which holds no device code before it is built.
    Sdist(Sdist),
    /// A directory, a virtual environment for one.
    Dir(Dir),
    /// The images of a layout or of an archive; at least one. Each has its own problems.
    Images {
        /// Where they are.
        at: Locator,
        /// The images.
        images: Vec<Image>,
    },
    /// A lock file.
    Lock(LockFile),
    /// An archive of images that must be read to its end before it is known which they are.
    ImageStream(ImageStream),
    /// Any other file.
    File(PlainFile),
    /// A file at an address.
    #[cfg(feature = "registry")]
    Remote {
        /// What it is.
        source: Box<Self>,
        /// How it is read.
        file: RemoteFile,
    },
}

impl Source {
    /// The address of what the user named.
    pub fn at(&self) -> &Locator {
        match self {
            Self::Images { at, .. } => at,
            Self::Lock(file) => &file.lock.at,
            Self::ImageStream(stream) => &stream.at,
            Self::Wheel(wheel) => &wheel.at,
            Self::Conda(conda) => &conda.at,
            Self::Sdist(sdist) => &sdist.at,
            Self::Dir(dir) => &dir.at,
            Self::File(file) => &file.at,
            #[cfg(feature = "registry")]
            Self::Remote { source, .. } => source.at(),
        }
    }

    /// What could not be read while it was opened.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Wheel(wheel) => &wheel.problems,
            Self::Conda(conda) => &conda.problems,
            Self::Dir(dir) => &dir.problems,
            Self::Lock(file) => &file.lock.problems,
            #[cfg(feature = "registry")]
            Self::Remote { source, .. } => source.problems(),
            Self::Sdist(_) | Self::File(_) | Self::Images { .. } | Self::ImageStream(_) => &[],
        }
    }
}

/// How to open inputs.
#[derive(Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Upper bounds of the run.
    pub limits: Limits,
    /// The platform of images that are there for several, `linux/arm64`. An image for another one only is an error.
    pub platform: Option<String>,
    /// Standard input, taken by the input `-`.
    pub stdin: Option<Box<dyn Read + Send>>,
    /// How registries are reached.
    #[cfg(feature = "registry")]
    pub access: Option<Access>,
    /// Whether inputs on other machines are refused.
    pub offline: bool,
    /// How files at addresses are fetched; such inputs are refused without it.
    #[cfg(feature = "registry")]
    pub fetch: Option<Arc<dyn Fetch>>,
    /// Where daemons that hold images listen.
    pub daemons: Daemons,
}

impl OpenOptions {
    /// Within `limits`: without a platform, without standard input, and without registries or daemons.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Which image is meant, with the name that an input gives.
    fn choice(&self, name: Option<&str>) -> Choice {
        Choice {
            platform: self.platform.clone(),
            name: name.map(str::to_owned),
        }
    }
}

/// Opens what `spec` names, the `index`th input of the run.
///
/// # Errors
///
/// What does not exist or cannot be opened, and images without the one that is asked for. What is found to be damaged
/// is a [`Problem`] of the source instead.
pub fn open(spec: &SourceSpec, index: usize, options: &mut OpenOptions) -> Result<Source, Error> {
    #[cfg(feature = "registry")]
    if options.offline && matches!(spec.kind(), SpecKind::Registry | SpecKind::Url) {
        let message = format!(
            "`{}` is on another machine, and this run is offline",
            shown(spec.path())
        );
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("leave out `--offline`, or name a file of this machine"));
    }
    match spec.kind() {
        SpecKind::Stdin => return images::open_stdin(index, options),
        SpecKind::OciDir | SpecKind::OciArchive | SpecKind::DockerArchive => {
            return images::open_said(spec, index, options);
        }
        #[cfg(feature = "registry")]
        SpecKind::Registry => return images::open_remote(spec, index, options),
        #[cfg(feature = "registry")]
        SpecKind::Url => return open_url(spec, index, options),
        SpecKind::Docker => {
            return images::open_daemon(spec, &options.daemons.docker, index, options);
        }
        SpecKind::Podman => {
            return images::open_daemon(spec, &options.daemons.podman, index, options);
        }
        SpecKind::Bare
        | SpecKind::Wheel
        | SpecKind::Conda
        | SpecKind::File
        | SpecKind::Dir
        | SpecKind::Lock => {}
    }
    let path = spec.path();
    let at = Locator::root(index, shown(path));
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = path
                .to_str()
                .filter(|text| spec.kind() == SpecKind::Bare && lock::is_requirement(text));
            // what is no file may be anything
            let bare = without_secrets(&shown(path));
            return match text {
                Some(text) => {
                    let at = Locator::root(index, bare);
                    LockFile::of_requirement(text, &at).map(Source::Lock)
                }
                None => Err(cannot_open(Path::new(&bare), error)),
            };
        }
        metadata => metadata.map_err(|error| cannot_open(path, error))?,
    };
    let bare = spec.kind() == SpecKind::Bare;
    if metadata.is_dir() {
        if matches!(
            spec.kind(),
            SpecKind::Wheel | SpecKind::Conda | SpecKind::File | SpecKind::Lock
        ) {
            return Err(wrong_kind(spec, "a directory"));
        }
        if bare && let Some(images) = images::in_dir(path, &at, options) {
            return Ok(Source::Images {
                images: images?,
                at,
            });
        }
        return Ok(Source::Dir(Dir::open(path, at, &options.limits)));
    }
    if let Some(what) = named::what_it_is_instead(&metadata) {
        return Err(wrong_kind(spec, what));
    }
    if spec.kind() == SpecKind::Dir {
        return Err(wrong_kind(spec, "a file"));
    }
    let bytes = SharedBytes::open(path).map_err(|error| cannot_open(path, error))?;
    if bare && let Some(source) = images::in_file(&bytes, &at, options)? {
        return Ok(source);
    }
    if spec.kind() == SpecKind::Lock {
        return LockFile::open(path, &bytes, &at).map(Source::Lock);
    }
    if bare && let Some(file) = LockFile::recognise(path, &bytes, &at)? {
        return Ok(Source::Lock(file));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let limits = &options.limits;
    match spec.kind() {
        SpecKind::Wheel => open_as(Said::Wheel, bytes, at, &name, limits),
        SpecKind::Conda => open_as(Said::Conda, bytes, at, &name, limits),
        SpecKind::File => PlainFile::open(bytes, at).map(Source::File),
        _ => open_as(Said::Nothing, bytes, at, &name, limits),
    }
    .map_err(|error| cannot_open(path, error))
}

/// Opens a file at an address.
#[cfg(feature = "registry")]
fn open_url(spec: &SourceSpec, index: usize, options: &mut OpenOptions) -> Result<Source, Error> {
    let at = Locator::root(index, shown(spec.path()));
    let address = spec.address().unwrap_or_default();
    if lock::is_named(&lock::file_name(address)) {
        let message =
            format!("`{at}` is called as lock files are, and these are read on this machine only");
        return Err(
            Error::new(ErrorKind::Usage, message).with_hint("download it, and name the file")
        );
    }
    let fetch = options.fetch.as_ref().ok_or_else(|| {
        let message = format!("`{at}` is on another machine, and no access to servers is set up");
        Error::new(ErrorKind::Usage, message).with_hint("give the options a `Fetch`")
    })?;
    let mut file = lock::PickedFile::new(lock::file_name(address), 1);
    file.url = Some(address.to_owned());
    fetch.open(&file, Said::Nothing, at, &options.limits)
}

/// Opens a file at an address as what it is said to be, by the name that it has there or elsewhere.
#[cfg(feature = "registry")]
fn open_remote_as(
    said: Said,
    file: RemoteFile,
    at: Locator,
    name: &str,
    limits: &Limits,
) -> Result<Source, Error> {
    let source = open_as(said, file.bytes.clone(), at, name, limits).map_err(|error| {
        let fault = Fault::of(&error);
        Error::new(ErrorKind::Input, fault.detail).with_hint(fault.kind.hint())
    })?;
    Ok(Source::Remote {
        source: Box::new(source),
        file,
    })
}

/// A path as the user typed it, with what is no text escaped.
fn shown(path: &Path) -> String {
    MemberName::from_bytes(path.as_os_str().as_encoded_bytes()).to_string()
}

fn wrong_kind(spec: &SourceSpec, what: &str) -> Error {
    let path = shown(spec.path());
    Error::new(ErrorKind::Input, format!("`{path}` is {what}")).with_hint(match spec.kind() {
        SpecKind::Dir => format!("leave out `dir:`: `{path}` is recognised by its content"),
        SpecKind::Wheel | SpecKind::Conda | SpecKind::File => {
            "use `dir:PATH` for a directory".to_owned()
        }
        _ => "name a file or a directory".to_owned(),
    })
}

fn cannot_open(path: &Path, error: io::Error) -> Error {
    let path = shown(path);
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => (
            format!("`{path}` does not exist"),
            spec::hint_where_nothing_is(&path),
        ),
        io::ErrorKind::PermissionDenied => (
            format!("`{path}` may not be read"),
            "allow this user to read it, or run as one who may".to_owned(),
        ),
        _ => (
            format!("`{path}` could not be opened"),
            "check that it is on a disk that can be read".to_owned(),
        ),
    };
    Error::new(ErrorKind::Input, message)
        .with_hint(hint)
        .with_source(error)
}

#[cfg(test)]
mod tests;
