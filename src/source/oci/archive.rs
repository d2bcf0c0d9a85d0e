//! Archives of images whose bytes can be read at any place.

use super::assemble::{INDEX, LAYOUT, MANIFEST, REPOSITORIES, assemble, damaged};
use super::blob::Blob;
use super::files::{Files, too_large};
use super::json::{MANIFEST_MAX, is_sha256_hex, parse};
use super::members::Members;
use super::names::Choice;
use super::saved::Saved;
use super::{Image, files};
use crate::archive::{Fault, Kind, Listed, SharedBytes, TarEnd, TarKind, list};
use crate::limits::{Limits, read_capped};
use crate::{Error, ErrorKind, Locator, Problem};

/// What the user says that an archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// With `index.json`.
    Oci,
    /// With `manifest.json`.
    Docker,
}

/// The files of a tar archive.
struct TarFiles {
    members: Members<SharedBytes>,
    end: Result<TarEnd, Fault>,
}

impl TarFiles {
    fn new(bytes: &SharedBytes, limits: &Limits) -> Self {
        let Listed {
            members: listed,
            end,
        } = list(bytes, limits.members);
        let mut members = Members::default();
        for (member, body) in listed {
            match member.kind {
                TarKind::File => members.add_file(&member.name, body, same),
                kind => members.add_link(&member.name, &kind),
            }
        }
        Self { members, end }
    }

    fn has(&self, path: &str) -> bool {
        !matches!(self.members.get(path), Ok(None))
    }

    fn damage(&self, at: &Locator) -> Option<Problem> {
        let fault = self.end.as_ref().err()?;
        Some(damaged(fault.clone(), at))
    }
}

impl Files for TarFiles {
    fn read_small(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>, Fault> {
        let found = self.members.get(path)?;
        found.map(|bytes| read_all(bytes, cap)).transpose()
    }

    fn blob(&self, path: &str) -> Option<Blob> {
        match self.members.get(path) {
            Ok(found) => found.cloned().map(Blob::Bytes),
            Err(fault) => Some(Blob::Absent(fault)),
        }
    }
}

/// The bytes of a small member.
pub(super) fn read_all(bytes: &SharedBytes, cap: u64) -> Result<Vec<u8>, Fault> {
    match read_capped(bytes.cursor(), cap) {
        Ok((bytes, false)) => Ok(bytes),
        Ok((_, true)) => Err(too_large(cap)),
        Err(error) => Err(Fault::of(&error)),
    }
}

/// Whether two members have the same bytes. Some build tools write a layer as often as it is used.
pub(super) fn same(one: &SharedBytes, other: &SharedBytes) -> bool {
    const CHUNK: usize = 64 << 10;
    if one.len() != other.len() {
        return false;
    }
    let (mut a, mut b) = (vec![0; CHUNK], vec![0; CHUNK]);
    let mut at = 0;
    while at < one.len() {
        let read = one.read_at(&mut a, at).and_then(|n| {
            let (a, b) = (a.get(..n), b.get_mut(..n));
            let m = other.read_at(b.unwrap_or_default(), at)?;
            Ok((a.and_then(|a| a.get(..m)).map(<[u8]>::to_vec), m))
        });
        match read {
            Ok((part, n)) if n > 0 && part.as_deref() == b.get(..n) => at += n as u64,
            _ => return false,
        }
    }
    true
}

/// Opens a tar archive of images, of whichever kind its content says.
///
/// # Errors
///
/// An archive without an image, or without the one that `choice` names; lists of images that cannot be read.
pub fn open_archive(
    bytes: &SharedBytes,
    at: &Locator,
    choice: &Choice,
    limits: &Limits,
) -> Result<Vec<Image>, Error> {
    open_archive_as(bytes, at, choice, limits, None)
}

/// Opens an archive of which the user says what it is.
pub(crate) fn open_archive_as(
    bytes: &SharedBytes,
    at: &Locator,
    choice: &Choice,
    limits: &Limits,
    expected: Option<Expected>,
) -> Result<Vec<Image>, Error> {
    let files = TarFiles::new(bytes, limits);
    let damage: Vec<Problem> = files.damage(at).into_iter().collect();
    let other = match expected {
        Some(Expected::Oci) if !files.has(INDEX) && files.has(MANIFEST) => {
            Some("a `docker save` archive without an OCI index: write `docker-archive:`")
        }
        Some(Expected::Docker) if !files.has(MANIFEST) && files.has(INDEX) => {
            Some("an OCI archive without Docker's `manifest.json`: write `oci-archive:`")
        }
        _ => None,
    };
    if let Some((what, hint)) = other.and_then(|other| other.split_once(": ")) {
        let message = format!("`{at}` is {what}");
        return Err(Error::new(ErrorKind::Input, message).with_hint(hint));
    }
    assemble(&files, at, choice, limits, &damage)
}

/// Whether a file is a tar archive of images: it holds a list of images, or is damaged and begins as such archives
/// do.
pub fn is_image_archive(bytes: &SharedBytes, limits: &Limits) -> bool {
    let mut head = vec![0; Kind::HEAD];
    let read = bytes.read_at(&mut head, 0);
    if !read.is_ok_and(|n| n == Kind::HEAD) || Kind::sniff(&head) != Some(Kind::Tar) {
        return false;
    }
    let files = TarFiles::new(bytes, limits);
    let small = |name: &str| files.read_small(name, MANIFEST_MAX);
    let lists = match (small(INDEX), small(MANIFEST)) {
        (Ok(index), Ok(manifest)) => {
            index.is_some() && files.has(LAYOUT)
                || manifest.is_some_and(|bytes| parse::<Vec<Saved>>(&bytes, MANIFEST).is_ok())
        }
        _ => files.has(LAYOUT),
    };
    let mut paths = files.members.paths();
    let mut old = || files.has(REPOSITORIES) && paths.any(|path| path.ends_with("/layer.tar"));
    lists || old() || files.end.is_err() && looks_like_image(files.members.paths())
}

/// Whether these are the first names of an archive of images: of layers and configurations that are called by their
/// digests, behind names that say nothing either way.
pub(crate) fn looks_like_image<N: AsRef<[u8]>>(names: impl IntoIterator<Item = N>) -> bool {
    for name in names {
        let Some(path) = files::inside(name.as_ref()) else {
            return false;
        };
        let parts: Vec<&str> = path.split('/').collect();
        match parts.as_slice() {
            [INDEX | MANIFEST | REPOSITORIES | "blobs"] | ["blobs", "sha256" | "sha512"] => {}
            [LAYOUT] | ["blobs", "sha256" | "sha512", _] => return true,
            [first] | [first, "layer.tar" | "json" | "VERSION"] => return is_digest(first),
            _ => return false,
        }
    }
    false
}

/// `HEX`, `HEX.json`, `HEX.tar`, `HEX.tar.gz`, `sha256:HEX`.
fn is_digest(name: &str) -> bool {
    let name = name.strip_prefix("sha256:").unwrap_or(name);
    is_sha256_hex(name.split('.').next().unwrap_or(name))
}
