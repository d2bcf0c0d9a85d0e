//! Arguments of the command line: which file or directory, and how it is to be read.
//!
//! Responsible for schemes (`wheel:PATH`), for paths without one, and for wildcards that the shell
//! left alone, as those of Windows do. It opens nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::hide::without_secrets;
#[cfg(feature = "registry")]
use super::http::Address;
#[cfg(feature = "registry")]
use super::secret::Secret;
use super::{lock, shown};
use crate::{Error, ErrorKind};

/// An input of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSpec {
    kind: SpecKind,
    /// Of an address, what may be shown of it.
    path: PathBuf,
    /// The whole address, which may hold secrets.
    #[cfg(feature = "registry")]
    address: Option<Secret>,
}

/// How an input is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpecKind {
    /// By what it turns out to be.
    Bare,
    /// `wheel:`
    Wheel,
    /// `conda:`
    Conda,
    /// `file:`
    File,
    /// `dir:`
    Dir,
    /// `lock:`
    Lock,
    /// `oci-dir:`
    OciDir,
    /// `oci-archive:`
    OciArchive,
    /// `docker-archive:`
    DockerArchive,
    /// `registry:`
    #[cfg(feature = "registry")]
    Registry,
    /// `https:` or `http:`
    #[cfg(feature = "registry")]
    Url,
    /// `docker:`
    Docker,
    /// `podman:`
    Podman,
    /// `-`
    Stdin,
}

impl SpecKind {
    /// Whether it may name one of several images behind the path.
    fn is_image(self) -> bool {
        matches!(self, Self::OciDir | Self::OciArchive | Self::DockerArchive)
    }

    /// Whether what it names is in the file system.
    fn is_path(self) -> bool {
        match self {
            #[cfg(feature = "registry")]
            Self::Registry | Self::Url => false,
            Self::Docker | Self::Podman | Self::Stdin => false,
            Self::Bare | Self::Wheel | Self::Conda => true,
            Self::File | Self::Dir | Self::Lock => true,
            Self::OciDir | Self::OciArchive | Self::DockerArchive => true,
        }
    }
}

/// What can be named.
const SUPPORTED: &str = "name a path, `wheel:PATH`, `conda:PATH`, `dir:PATH`, `file:PATH`, `lock:PATH`, `oci-dir:PATH[:TAG]`, `oci-archive:PATH[:TAG]`, `docker-archive:PATH[:NAME]`, `https://HOST/FILE`, `registry:IMAGE`, `docker:IMAGE`, `podman:IMAGE`, or `-`";

impl SourceSpec {
    /// The file or directory that an argument names by itself, as written; none where it names an image, an address or
    /// standard input.
    pub(crate) fn file_of(argument: &str) -> Option<String> {
        let spec = Self::parse(OsStr::new(argument)).ok()?;
        let path = spec.path.to_str()?;
        (spec.kind.is_path() && !spec.kind.is_image()).then(|| path.to_owned())
    }

    /// Understands an argument. Whether it exists and what it is turns out when it is opened.
    ///
    /// # Errors
    ///
    /// A scheme that is not known, or that is not read yet.
    pub fn parse(argument: &OsStr) -> Result<Self, Error> {
        // What is no text has no scheme: it can only be a path.
        let Some(text) = argument.to_str() else {
            return Ok(Self::new(SpecKind::Bare, argument));
        };
        if text == "-" {
            return Ok(Self::new(SpecKind::Stdin, text));
        }
        #[cfg(feature = "registry")]
        if let Some(("http" | "https", _)) = scheme(&text.to_ascii_lowercase()) {
            return Self::url(text);
        }
        let (kind, path) = match scheme(text) {
            None => (SpecKind::Bare, text),
            Some((scheme, rest)) => (known(&scheme.to_ascii_lowercase(), text)?, rest),
        };
        if path.is_empty() {
            let message = format!("`{text}` names nothing");
            return Err(Error::new(ErrorKind::Usage, message).with_hint(SUPPORTED));
        }
        Ok(Self::new(kind, path))
    }

    fn new(kind: SpecKind, path: impl Into<PathBuf>) -> Self {
        Self {
            kind,
            path: path.into(),
            #[cfg(feature = "registry")]
            address: None,
        }
    }

    /// A file at an address.
    #[cfg(feature = "registry")]
    fn url(text: &str) -> Result<Self, Error> {
        // what cannot be understood may hold a secret anywhere
        let (address, _login) = Address::parse(text).map_err(|why| {
            let message = format!("an address that cannot be understood: {why}");
            Error::new(ErrorKind::Usage, message).with_hint("write `https://HOST/PATH/FILE.whl`")
        })?;
        let mut spec = Self::new(SpecKind::Url, address.shown());
        spec.address = Some(Secret::new(text));
        Ok(spec)
    }

    /// The whole of an address, which may hold secrets.
    #[cfg(feature = "registry")]
    pub(super) fn address(&self) -> Option<&str> {
        self.address.as_ref().map(Secret::expose)
    }

    /// The inputs that this names: itself, or what its wildcards match, in the order of names.
    ///
    /// Only `*` and `?` in the last component are wildcards, and only where nothing has that name.
    ///
    /// # Errors
    ///
    /// Wildcards that match nothing.
    pub fn expand(self) -> Result<Vec<Self>, Error> {
        let pattern = self
            .path
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or_default();
        if !pattern.contains(['*', '?'])
            || !self.kind.is_path()
            || lock::is_requirement(pattern)
            || fs::symlink_metadata(&self.path).is_ok()
        {
            return Ok(vec![self]);
        }
        let parent = self.path.parent().unwrap_or(Path::new(""));
        let listed = if parent == Path::new("") {
            Path::new(".")
        } else {
            parent
        };
        let mut names: Vec<_> = fs::read_dir(listed)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .filter(|name| matches(pattern, &name.to_string_lossy()))
            .collect();
        names.sort();
        if names.is_empty() {
            let message = format!("nothing matches `{}`", without_secrets(&shown(&self.path)));
            let hint = format!("look at what is in `{}`", without_secrets(&shown(listed)));
            return Err(Error::new(ErrorKind::Input, message).with_hint(hint));
        }
        let found = names
            .into_iter()
            .map(|name| Self::new(self.kind, parent.join(name)));
        Ok(found.collect())
    }

    /// The path, as typed; the name of an image that lies in no path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of an image that lies in no path.
    pub(super) fn name(&self) -> Result<&str, Error> {
        self.path.to_str().ok_or_else(|| {
            let message = format!("`{}` is no name of an image", shown(&self.path));
            Error::new(ErrorKind::Usage, message).with_hint("names are plain text")
        })
    }

    pub(super) fn kind(&self) -> SpecKind {
        self.kind
    }

    /// The path of images, and the name or digest of one of them that stands behind it.
    ///
    /// A path may have colons itself. What is there decides: the whole, then the shortest part before a colon that
    /// is there, then what is before the first colon.
    pub(super) fn image(&self) -> (&Path, Option<&str>) {
        let whole = (self.path.as_path(), None);
        let Some(text) = self.path.to_str().filter(|_| self.kind.is_image()) else {
            return whole;
        };
        if fs::symlink_metadata(&self.path).is_ok() {
            return whole;
        }
        let mut ends = image_ends(text);
        let first = ends.clone().next();
        let there = ends.find(|end| {
            text.get(..*end)
                .is_some_and(|path| fs::symlink_metadata(path).is_ok())
        });
        match there.or(first).and_then(|end| text.split_at_checked(end)) {
            Some((path, name)) => (Path::new(path), name.get(1..)),
            None => whole,
        }
    }
}

impl FromStr for SourceSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text.as_ref())
    }
}

/// The scheme before the first colon and what follows it. One letter is a Windows drive.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    let named = scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (named && scheme.chars().all(letter)).then_some((scheme, rest))
}

/// Where the path of an image may end: before `@ALGORITHM:`, and before colons that are not of a Windows drive.
fn image_ends(text: &str) -> impl Iterator<Item = usize> + Clone {
    let drive =
        matches!(text.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let digest = ["@sha256:", "@sha512:"]
        .into_iter()
        .find_map(|mark| text.find(mark));
    let before = text.get(..digest.unwrap_or(text.len())).unwrap_or_default();
    let colons = before.match_indices(':').map(|(at, _)| at);
    let colons = colons.skip(usize::from(drive)).filter(|at| *at > 0);
    digest.into_iter().chain(colons)
}

fn known(scheme: &str, text: &str) -> Result<SpecKind, Error> {
    let hint = match scheme {
        "wheel" => return Ok(SpecKind::Wheel),
        "conda" => return Ok(SpecKind::Conda),
        "file" => return Ok(SpecKind::File),
        "dir" => return Ok(SpecKind::Dir),
        "lock" => return Ok(SpecKind::Lock),
        "oci-dir" => return Ok(SpecKind::OciDir),
        "oci-archive" => return Ok(SpecKind::OciArchive),
        "docker-archive" => return Ok(SpecKind::DockerArchive),
        #[cfg(feature = "registry")]
        "registry" => return Ok(SpecKind::Registry),
        "docker" if text.contains("://") => {
            let message = format!(
                "`{}` is how other tools name an image on a registry",
                without_secrets(text)
            );
            return Err(Error::new(ErrorKind::Usage, message).with_hint(
                "write `registry:IMAGE`, or `docker:IMAGE` for one that Docker holds on this machine",
            ));
        }
        "docker" => return Ok(SpecKind::Docker),
        "podman" => return Ok(SpecKind::Podman),
        #[cfg(not(feature = "registry"))]
        "http" | "https" => "download the file and name it".to_owned(),
        "oci" => "write `oci-dir:` for a directory, `oci-archive:` for a file".to_owned(),
        "docker-daemon" => "write `docker:IMAGE`".to_owned(),
        #[cfg(not(feature = "registry"))]
        "registry" => {
            let message = "this build of smgate was made without `registry:`";
            return Err(Error::new(ErrorKind::Usage, message).with_hint(
                "build it with the feature `registry`, which is on by default, or pipe `docker save IMAGE` into `smgate check -`",
            ));
        }
        _ => {
            let message = format!("`{scheme}:` is no kind of input");
            let text = without_secrets(text);
            let hint = format!("{SUPPORTED}; a path that has a colon is written `./{text}`");
            return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
        }
    };
    let message = format!("`{scheme}:` inputs are not read yet");
    Err(Error::new(ErrorKind::Usage, message).with_hint(format!("{hint}: {SUPPORTED}")))
}

/// What to do where nothing has the name that was typed.
pub(super) fn hint_where_nothing_is(path: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '[' | ']' | ',');
    if path.chars().all(word) {
        format!("check the spelling; if it is a package, name its version: `{path}==VERSION`")
    } else {
        "check the spelling, and the directory that you are in".to_owned()
    }
}

/// Whether a name matches a pattern of `*` and `?`, as shells match: a leading dot only by a dot.
fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let fold = |text: &str| -> Vec<char> {
        let same = if cfg!(windows) {
            text.to_lowercase()
        } else {
            text.to_owned()
        };
        same.chars().collect()
    };
    let (pattern, name) = (fold(pattern), fold(name));
    let (mut p, mut n) = (0, 0);
    // Where to go on when the text after the last `*` does not match: one character further.
    let mut retry = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || name.get(n) == Some(c) => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((star, from)) = &mut retry else {
                    return false;
                };
                *from += 1;
                (p, n) = (*star + 1, *from);
            }
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

#[cfg(test)]
mod tests;
