//! Images among the inputs: which files and directories are images, those of registries and daemons, and streams that
//! must be read to find out.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::daemon::{self, Daemon};
use super::oci::{self, Choice, Expected, Image};
use super::spec::SpecKind;
use super::{OpenOptions, Source, SourceSpec, cannot_open, shown};
use crate::archive::{Fault, Kind, SharedBytes, Sniffed, Tar, decoder, describe};
use crate::limits::Limits;
use crate::{Error, ErrorKind, Locator};

/// Members of a compressed archive that are looked at to see whether it holds images.
const MEMBERS_LOOKED_AT: u64 = 16;

/// Bytes of a compressed archive that are unpacked for that.
const UNPACKED_MAX: u64 = 16 << 20;

/// Bytes that are read from standard input at a time.
const BUFFER: usize = 256 << 10;

/// An archive of images that can only be read forward: a compressed one, standard input, or a daemon's answer.
pub struct ImageStream {
    /// Where it is.
    pub at: Locator,
    /// Which of its images is meant.
    pub choice: Choice,
    input: Input,
}

enum Input {
    Bytes(SharedBytes),
    Once(Box<dyn Read + Send>),
}

impl fmt::Debug for ImageStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageStream")
            .field("at", &self.at)
            .field("choice", &self.choice)
            .finish_non_exhaustive()
    }
}

impl ImageStream {
    /// The bytes of the file, which have a digest; what passes once has none before it was read.
    pub fn bytes(&self) -> Option<&SharedBytes> {
        match &self.input {
            Input::Bytes(bytes) => Some(bytes),
            Input::Once(_) => None,
        }
    }

    /// A reader of the tar archive, unpacked.
    ///
    /// # Errors
    ///
    /// What is no tar archive, compressed or not.
    pub fn open(self) -> Result<Box<dyn Read + Send>, Fault> {
        match self.input {
            Input::Bytes(bytes) => unpacked(bytes.cursor()),
            Input::Once(reader) => unpacked(reader),
        }
    }
}

/// A reader of what a stream unpacks to, where it is compressed.
fn unpacked<'r>(packed: impl Read + Send + 'r) -> Result<Box<dyn Read + Send + 'r>, Fault> {
    let sniffed = Sniffed::new(packed).map_err(|error| Fault::of(&error))?;
    let kind = sniffed.kind();
    let reader = BufReader::with_capacity(BUFFER, sniffed);
    match kind {
        None | Some(Kind::Tar) => Ok(Box::new(reader)),
        Some(kind) => decoder(kind, reader),
    }
}

/// Opens standard input, which is an archive of images.
pub(super) fn open_stdin(index: usize, options: &mut OpenOptions) -> Result<Source, Error> {
    let Some(stdin) = options.stdin.take() else {
        return Err(
            Error::new(ErrorKind::Usage, "standard input is read once only")
                .with_hint("name `-` once, and save other images to files"),
        );
    };
    Ok(Source::ImageStream(ImageStream {
        at: Locator::root(index, "-"),
        choice: options.choice(None),
        input: Input::Once(stdin),
    }))
}

/// Opens an image on a registry.
#[cfg(feature = "registry")]
pub(super) fn open_remote(
    spec: &SourceSpec,
    index: usize,
    options: &OpenOptions,
) -> Result<Source, Error> {
    let reference: oci::Reference = spec.name()?.parse()?;
    let access = options.access.as_ref().ok_or_else(|| {
        let message =
            format!("`{reference}` is on a registry, and no access to registries is set up");
        Error::new(ErrorKind::Usage, message).with_hint("give the options an `Access`")
    })?;
    let at = Locator::root(index, reference.to_string());
    let choice = options.choice(None);
    let images = oci::open_remote(&reference, &at, &choice, &options.limits, access)?;
    Ok(Source::Images { at, images })
}

/// Opens an image that a daemon on this machine holds.
pub(super) fn open_daemon(
    spec: &SourceSpec,
    daemon: &Daemon,
    index: usize,
    options: &OpenOptions,
) -> Result<Source, Error> {
    let name = daemon::full_name(spec.name()?)?;
    let answer = daemon.save(&name)?;
    Ok(Source::ImageStream(ImageStream {
        at: Locator::root(index, name),
        choice: options.choice(None),
        input: Input::Once(answer),
    }))
}

/// Opens a path that is said to be images.
pub(super) fn open_said(
    spec: &SourceSpec,
    index: usize,
    options: &OpenOptions,
) -> Result<Source, Error> {
    let (path, name) = spec.image();
    let at = Locator::root(index, shown(spec.path()));
    let choice = options.choice(name);
    let limits = &options.limits;
    let metadata = std::fs::metadata(path).map_err(|error| cannot_open(path, error))?;
    let wrong = |what: &str, scheme: &str| {
        let message = format!("`{}` is {what}", shown(path));
        Err(Error::new(ErrorKind::Input, message).with_hint(format!("write `{scheme}PATH`")))
    };
    let expected = match spec.kind() {
        SpecKind::OciDir if metadata.is_dir() => {
            let images = oci::open_layout(path, &at, &choice, limits)?;
            return Ok(Source::Images { at, images });
        }
        SpecKind::OciDir => return wrong("a file", "oci-archive:"),
        _ if metadata.is_dir() => return wrong("a directory", "oci-dir:"),
        SpecKind::DockerArchive => Expected::Docker,
        _ => Expected::Oci,
    };
    if let Some(what) = super::named::what_it_is_instead(&metadata) {
        return wrong(what, "oci-dir:");
    }
    let bytes = SharedBytes::open(path).map_err(|error| cannot_open(path, error))?;
    match kind(&bytes).map_err(|error| cannot_open(path, error))? {
        Some(Kind::Tar) => {
            let images = oci::open_archive_as(&bytes, &at, &choice, limits, Some(expected))?;
            Ok(Source::Images { at, images })
        }
        Some(Kind::Gzip | Kind::Zstd) => Ok(Source::ImageStream(ImageStream {
            at,
            choice,
            input: Input::Bytes(bytes),
        })),
        _ => {
            let mut head = vec![0; Kind::HEAD];
            let read = bytes
                .read_at(&mut head, 0)
                .map_err(|error| cannot_open(path, error))?;
            let what = describe(head.get(..read).unwrap_or_default());
            let message = format!("`{}` is no archive of images: {what}", shown(path));
            Err(Error::new(ErrorKind::Input, message)
                .with_hint("name a tar archive, which may be compressed with gzip or zstd"))
        }
    }
}

/// The images of a directory, where it is an image layout.
pub(super) fn in_dir(
    path: &Path,
    at: &Locator,
    options: &OpenOptions,
) -> Option<Result<Vec<Image>, Error>> {
    oci::is_layout(path).then(|| oci::open_layout(path, at, &options.choice(None), &options.limits))
}

/// The images of a file, where it is an archive of images.
pub(super) fn in_file(
    bytes: &SharedBytes,
    at: &Locator,
    options: &OpenOptions,
) -> Result<Option<Source>, Error> {
    let choice = options.choice(None);
    // what cannot be read here is found again by whoever opens it as something else
    match kind(bytes).unwrap_or_default() {
        Some(Kind::Tar) if oci::is_image_archive(bytes, &options.limits) => {
            let images = oci::open_archive(bytes, at, &choice, &options.limits)?;
            Ok(Some(Source::Images {
                at: at.clone(),
                images,
            }))
        }
        Some(Kind::Gzip | Kind::Zstd) if begins_as_images(bytes, &options.limits) => {
            Ok(Some(Source::ImageStream(ImageStream {
                at: at.clone(),
                choice,
                input: Input::Bytes(bytes.clone()),
            })))
        }
        _ => Ok(None),
    }
}

/// Whether the first members of a compressed archive are called as those of an archive of images are.
fn begins_as_images(bytes: &SharedBytes, limits: &Limits) -> bool {
    let Ok(reader) = unpacked(bytes.cursor()) else {
        return false;
    };
    let most = MEMBERS_LOOKED_AT.min(limits.members);
    let mut tar = Tar::new(reader.take(UNPACKED_MAX), most);
    let names = std::iter::from_fn(|| tar.next_member().ok().flatten());
    oci::looks_like_image(names.map(|member| member.name))
}

fn kind(bytes: &SharedBytes) -> io::Result<Option<Kind>> {
    Ok(Sniffed::new(bytes.cursor())?.kind())
}
