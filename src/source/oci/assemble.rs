//! From the files of an image to images: which of the lists is there, and what they name together.

use serde::Deserialize;

use super::files::Files;
use super::json::{Document, MANIFEST_MAX, Places, Reader, parse};
use super::manifest::{self, Outcome};
use super::merge::{Candidate, Found};
use super::names::Choice;
use super::{Image, index, json, saved};
use crate::archive::Fault;
use crate::limits::Limits;
use crate::{Error, ErrorKind, Extent, Locator, Problem, ProblemKind};

pub(super) const INDEX: &str = "index.json";
pub(super) const LAYOUT: &str = "oci-layout";
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const REPOSITORIES: &str = "repositories";
const VERSION: &str = "version";

/// Bytes of files that say a version.
const SMALL: u64 = 64 << 10;

/// The images that the files hold. `index.json` and `manifest.json` may both be there, and different tools obey
/// different ones: both are read, and what they have in common is one image.
pub(super) fn assemble(
    files: &dyn Files,
    at: &Locator,
    choice: &Choice,
    limits: &Limits,
    damage: &[Problem],
) -> Result<Vec<Image>, Error> {
    let copied = is_copied(files);
    let places = if copied { Places::Bare } else { Places::Blobs };
    let reader = Reader::new(files, places, limits);
    let cannot = |name: &str, fault: Fault| {
        let message = format!("`{at}` › `{name}`: {fault}");
        Error::new(ErrorKind::Input, message).with_hint(fault.kind.hint())
    };
    let read = |name: &str| {
        let read = reader.file(name, MANIFEST_MAX);
        read.map_err(|fault| cannot(name, fault))
    };
    let mut found = None;
    if copied {
        let bytes = read(MANIFEST)?.unwrap_or_default();
        let document = document(&bytes, None, &json::sha256(&bytes), &reader, at);
        found = Some(document.map_err(|fault| cannot(MANIFEST, fault))?);
    } else {
        check_version(&reader).map_err(|fault| cannot(LAYOUT, fault))?;
        if let Some(bytes) = read(INDEX)? {
            let walked = index::walk(&bytes, &reader, at);
            found = Some(walked.map_err(|fault| cannot(INDEX, fault))?);
        }
        if let Some(bytes) = read(MANIFEST)? {
            let listed = saved::read(&bytes, &reader, at);
            let listed = listed.map_err(|fault| cannot(MANIFEST, fault))?;
            match &mut found {
                Some(found) => found.extend(listed),
                None => found = Some(listed),
            }
        }
    }
    let Some(found) = found else {
        return Err(no_list(at, read(REPOSITORIES)?.is_some(), damage));
    };
    let mut images = found.choose(at, choice)?;
    for image in &mut images {
        image.problems.extend_from_slice(damage);
    }
    Ok(images)
}

fn no_list(at: &Locator, repositories: bool, damage: &[Problem]) -> Error {
    let (message, hint) = if let Some(problem) = damage.first() {
        let message = format!(
            "`{at}` lists no images, perhaps because it is damaged: {}",
            problem.detail
        );
        (message, problem.kind.hint())
    } else if repositories {
        (
            format!("`{at}` was saved by Docker before version 1.10, in a format that is not read"),
            "load it with `docker load` and save it again with a current `docker save`",
        )
    } else {
        (
            format!(
                "`{at}` holds neither `{INDEX}` nor `{MANIFEST}`, one of which lists the images"
            ),
            "save the image again with `docker save`, `podman save` or `skopeo copy`",
        )
    };
    Error::new(ErrorKind::Input, message).with_hint(hint)
}

/// Whether the files are what skopeo's `dir:` writes.
pub(super) fn is_copied(files: &dyn Files) -> bool {
    let version = files.read_small(VERSION, SMALL);
    version.is_ok_and(|version| {
        version.is_some_and(|version| version.starts_with(b"Directory Transport Version: 1."))
    })
}

/// What one manifest or one index names. `stated` is the type that it is said to be of.
pub(super) fn document(
    bytes: &[u8],
    stated: Option<&str>,
    digest: &str,
    reader: &Reader<'_>,
    at: &Locator,
) -> Result<Found, Fault> {
    if Document::of(bytes, stated)? == Document::Index {
        return index::walk(bytes, reader, at);
    }
    let mut found = Found::default();
    match manifest::read(bytes, reader, at, None, digest)? {
        Outcome::Image(image) | Outcome::Bare(image) => {
            let parents = Vec::new();
            found.add(0, Candidate { image, parents });
        }
        Outcome::Other(what) => found.note(what),
    }
    Ok(found)
}

/// Later layouts may mean other things by the same names.
fn check_version(reader: &Reader<'_>) -> Result<(), Fault> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Layout {
        image_layout_version: String,
    }
    let Some(bytes) = reader.file(LAYOUT, SMALL)? else {
        return Ok(());
    };
    let layout: Layout = parse(&bytes, "mark of an image layout")?;
    if layout.image_layout_version.starts_with("1.") {
        return Ok(());
    }
    let shown: String = layout.image_layout_version.chars().take(40).collect();
    let detail = format!("version `{shown}` of image layouts is not known");
    Err(Fault::new(ProblemKind::UnsupportedCompression, detail))
}

/// A problem of an archive as a whole.
pub(super) fn damaged(fault: Fault, at: &Locator) -> Problem {
    fault.at(at.clone(), Extent::RestOfArchive)
}
