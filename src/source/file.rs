//! Single files: which are wheels, which are source distributions, and all others.
//!
//! Format: PEP 625 for names of source distributions.

use std::io::{self, Read as _};

use flate2::bufread::GzDecoder;

use super::conda::CondaFilename;
use super::wheel::version::{same_name, same_version};
use super::{Conda, Source, Wheel};
use crate::Locator;
use crate::archive::{Kind, MemberKind, SharedBytes, Zip};
use crate::limits::Limits;

/// A file that is no package.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlainFile {
    /// Where it is.
    pub at: Locator,
    /// Its bytes.
    pub bytes: SharedBytes,
    /// The archive or compressed stream that it is, by its first bytes.
    pub kind: Option<Kind>,
}

impl PlainFile {
    pub(super) fn open(bytes: SharedBytes, at: Locator) -> io::Result<Self> {
        let kind = Kind::sniff(&head(&bytes)?);
        Ok(Self { at, bytes, kind })
    }
}

/// A source distribution. What it holds is only known once it is built.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sdist {
    /// Where it is.
    pub at: Locator,
    /// The file.
    pub bytes: SharedBytes,
    /// The package, from the file name.
    pub name: String,
    /// Its version, from the file name.
    pub version: String,
}

/// What a file is said to be, by whoever names it: where it is not that, it is read as one that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Said {
    /// Nothing: it is what it turns out to be.
    Nothing,
    /// A wheel.
    Wheel,
    /// A conda package.
    Conda,
}

/// Opens a file as what it is said to be.
pub(crate) fn open_as(
    said: Said,
    bytes: SharedBytes,
    at: Locator,
    name: &str,
    limits: &Limits,
) -> io::Result<Source> {
    match said {
        Said::Nothing => recognise(bytes, at, name, limits),
        Said::Wheel => Ok(Source::Wheel(Wheel::from_bytes(bytes, at, name, limits))),
        Said::Conda => conda(bytes, at, name, limits).map(Source::Conda),
    }
}

/// Opens a file by what it turns out to be.
fn recognise(bytes: SharedBytes, at: Locator, name: &str, limits: &Limits) -> io::Result<Source> {
    if is_named_wheel(name) {
        return Ok(Source::Wheel(Wheel::from_bytes(bytes, at, name, limits)));
    }
    if CondaFilename::is_suffixed(name) {
        return Ok(Source::Conda(Conda::open(bytes, at, name, limits)));
    }
    let file = PlainFile::open(bytes, at)?;
    let content = match file.kind {
        Some(Kind::Zip) => in_zip(&file, limits),
        Some(Kind::Gzip) => in_gzip(&file, name),
        _ => Content::Other,
    };
    let PlainFile { at, bytes, .. } = file;
    if content == Content::Wheel {
        return Ok(Source::Wheel(Wheel::from_bytes(bytes, at, name, limits)));
    }
    if content == Content::Conda {
        return Ok(Source::Conda(Conda::open(bytes, at, name, limits)));
    }
    Ok(
        match split_sdist(name).filter(|_| content == Content::Sdist) {
            Some((package, version)) => Source::Sdist(Sdist {
                at,
                bytes,
                name: package.to_owned(),
                version: version.to_owned(),
            }),
            None => Source::File(PlainFile {
                at,
                bytes,
                kind: file.kind,
            }),
        },
    )
}

/// Opens a file that is said to be a conda package.
fn conda(bytes: SharedBytes, at: Locator, name: &str, limits: &Limits) -> io::Result<Conda> {
    Ok(match Kind::sniff(&head(&bytes)?) {
        Some(Kind::Bzip2) => Conda::of_tar(bytes, at, name),
        _ => Conda::open(bytes, at, name, limits),
    })
}

/// Whether a file is called a wheel, whatever the case of the suffix.
pub(crate) fn is_named_wheel(name: &str) -> bool {
    let suffix = name.len().checked_sub(4).and_then(|at| name.get(at..));
    suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(".whl"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Wheel,
    Conda,
    Sdist,
    Other,
}

fn in_zip(file: &PlainFile, limits: &Limits) -> Content {
    // What is wrong with it is found again, and reported, when it is read.
    let Ok(opened) = Zip::open(file.bytes.clone(), &file.at, limits) else {
        return Content::Other;
    };
    let files = || {
        let members = opened.zip.members().iter();
        members
            .filter(|member| member.kind == MemberKind::File)
            .map(|member| member.name.as_str())
    };
    let parts = |name: &'_ str, dir: fn(&str) -> bool, file: &str| {
        name.split_once('/')
            .is_some_and(|(top, rest)| dir(top) && rest == file)
    };
    if files().any(|name| parts(name, |top| top.ends_with(".dist-info"), "WHEEL")) {
        Content::Wheel
    } else if Conda::is_zip_of_one(&opened.zip) {
        Content::Conda
    } else if files().any(|name| parts(name, |_| true, "PKG-INFO")) {
        Content::Sdist
    } else {
        Content::Other
    }
}

/// A source distribution is a tar archive of one directory that is called as the file is.
fn in_gzip(file: &PlainFile, name: &str) -> Content {
    let Some((package, version)) = split_sdist(name) else {
        return Content::Other;
    };
    let Some(first) = first_tar_name(GzDecoder::new(file.bytes.cursor())) else {
        return Content::Other;
    };
    let top = first
        .trim_start_matches("./")
        .split('/')
        .next()
        .unwrap_or_default();
    match top.rsplit_once('-') {
        Some((one, other)) if same_name(one, package) && same_version(other, version) => {
            Content::Sdist
        }
        _ => Content::Other,
    }
}

/// The name of the first member of a tar archive. Python's `tarfile` puts an extended header before
/// it, for the time in fractions of a second.
fn first_tar_name(mut tar: impl io::Read) -> Option<String> {
    const HEADERS: usize = 4;
    /// Larger than any extended header of a time or a name.
    const EXTENDED: u64 = 64 << 10;
    for _ in 0..HEADERS {
        let mut header = [0; 512];
        tar.read_exact(&mut header).ok()?;
        if Kind::sniff(&header) != Some(Kind::Tar) {
            return None;
        }
        if !matches!(header.get(156), Some(b'x' | b'g' | b'L' | b'K')) {
            let name = header.iter().take(100).take_while(|byte| **byte != 0);
            return Some(String::from_utf8_lossy(&name.copied().collect::<Vec<_>>()).into_owned());
        }
        let size = header
            .get(124..136)?
            .trim_ascii()
            .split(|byte| *byte == 0)
            .next()?;
        let size = u64::from_str_radix(std::str::from_utf8(size).ok()?, 8).ok()?;
        let blocks = size
            .checked_next_multiple_of(512)
            .filter(|blocks| *blocks <= EXTENDED)?;
        io::copy(&mut tar.by_ref().take(blocks), &mut io::sink()).ok()?;
    }
    None
}

/// Name and version of `NAME-VERSION.tar.gz` or `NAME-VERSION.zip`.
fn split_sdist(name: &str) -> Option<(&str, &str)> {
    let stem = name
        .strip_suffix(".tar.gz")
        .or_else(|| name.strip_suffix(".zip"))?;
    let (package, version) = stem.rsplit_once('-')?;
    let named = !package.is_empty() && version.starts_with(|c: char| c.is_ascii_digit());
    named.then_some((package, version))
}

fn head(bytes: &SharedBytes) -> io::Result<Vec<u8>> {
    let mut head = vec![0; Kind::HEAD];
    let n = bytes.read_at(&mut head, 0)?;
    head.truncate(n);
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_names_of_source_distributions() {
        assert_eq!(
            split_sdist("flash_attn-2.8.3.tar.gz"),
            Some(("flash_attn", "2.8.3"))
        );
        assert_eq!(
            split_sdist("python-dateutil-2.9.zip"),
            Some(("python-dateutil", "2.9"))
        );
        for name in [
            "a.tar.gz",
            "a-b.tar.gz",
            "-1.tar.gz",
            "a-1.tar.bz2",
            "a-1.whl",
        ] {
            assert_eq!(split_sdist(name), None, "{name}");
        }
    }
}
