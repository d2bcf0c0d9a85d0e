//! From everything that is there to the images that are meant: equal ones merged, the chosen ones kept.

use std::collections::{BTreeMap, BTreeSet};

use super::docker_hub::familiar;
use super::names::{Choice, Digested, named, normal};
use super::{Image, ImageLayer};
use crate::{Error, ErrorKind, Locator};

/// Remarks that one image carries.
const NOTES_MAX: usize = 20;

/// An image and the digests of the indexes that it is in.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) image: Image,
    pub(super) parents: Vec<String>,
}

/// What indexes and lists of saved images name.
#[derive(Debug, Default)]
pub(super) struct Found {
    candidates: Vec<Candidate>,
    /// Groups of which something is there.
    present: BTreeSet<usize>,
    /// What is named and not there, by its group.
    pub(super) absent: Vec<(usize, Candidate)>,
    /// What is named for platforms that are not wanted, and was not read.
    pub(super) elsewhere: Vec<Candidate>,
    notes: Vec<String>,
}

impl Found {
    pub(super) fn add(&mut self, group: usize, candidate: Candidate) {
        self.present.insert(group);
        self.candidates.push(candidate);
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Adds what another file of the same input names.
    pub(super) fn extend(&mut self, other: Self) {
        let other = other.settle();
        self.candidates.extend(other.candidates);
        self.elsewhere.extend(other.elsewhere);
        self.notes.extend(other.notes);
    }

    /// Decides what absent manifests mean. An index may name platforms that were never pulled, as `docker save`
    /// leaves it; where nothing of an image is there, it is missing.
    pub(super) fn settle(mut self) -> Self {
        for (group, candidate) in std::mem::take(&mut self.absent) {
            let Image {
                platform, digest, ..
            } = &candidate.image;
            match platform {
                Some(platform) if self.present.contains(&group) => {
                    let digest = digest.as_deref().unwrap_or_default();
                    self.notes.push(format!(
                        "{platform} is in the index and not here ({digest})"
                    ));
                }
                _ => self.candidates.push(candidate),
            }
        }
        self
    }

    /// The images that are meant.
    pub(super) fn choose(self, at: &Locator, choice: &Choice) -> Result<Vec<Image>, Error> {
        let mut absent: Vec<String> = self
            .absent
            .iter()
            .filter_map(|(_, candidate)| candidate.image.platform.clone())
            .collect();
        absent.sort();
        let Self {
            candidates,
            elsewhere,
            mut notes,
            ..
        } = self.settle();
        let mut candidates = merge(candidates);
        if candidates.is_empty() && elsewhere.is_empty() {
            let mut message = format!("there is no image in `{at}`");
            if let Some(note) = notes.first() {
                message = format!("{message}: {note}");
            }
            let hint = "name an archive of `docker save`, an OCI image layout, or a directory as `dir:PATH`";
            return Err(Error::new(ErrorKind::Input, message).with_hint(hint));
        }
        if let Some(wanted) = &choice.name {
            let all: Vec<Digested<'_>> = candidates
                .iter()
                .map(|candidate| (&candidate.image, candidate.parents.as_slice()))
                .collect();
            let mut hits = named(&all, wanted).into_iter();
            if !hits.clone().any(|hit| hit) {
                let message = format!("`{at}` holds no image `{wanted}`");
                return Err(Error::new(ErrorKind::Input, message).with_hint(list(&candidates)));
            }
            candidates.retain(|_| hits.next().unwrap_or(false));
        }
        if let Some(wanted) = &choice.platform {
            let (chosen, mut other): (Vec<_>, Vec<_>) = candidates
                .into_iter()
                .partition(|candidate| candidate.image.is_for(wanted));
            other.extend(elsewhere);
            if chosen.is_empty() {
                return Err(no_such_platform(at, wanted, &other, &absent));
            }
            notes.extend(
                other
                    .iter()
                    .map(|other| format!("left out {}", describe(&other.image))),
            );
            candidates = chosen;
        }
        let more = notes.len().saturating_sub(NOTES_MAX);
        notes.truncate(NOTES_MAX);
        if more > 0 {
            notes.push(format!("and {more} more of these"));
        }
        let images = candidates.into_iter().map(|Candidate { mut image, .. }| {
            image.notes.extend_from_slice(&notes);
            image
        });
        Ok(images.collect())
    }
}

fn no_such_platform(at: &Locator, wanted: &str, other: &[Candidate], absent: &[String]) -> Error {
    let is_absent = absent
        .iter()
        .any(|platform| normal(platform) == normal(wanted));
    let message = if is_absent {
        format!("`{at}` names an image for {wanted}, and does not hold it")
    } else {
        format!("`{at}` holds no image for {wanted}")
    };
    let hint = if is_absent {
        format!("pull and save the image with `--platform {wanted}`")
    } else {
        list(other)
    };
    Error::new(ErrorKind::Input, message).with_hint(hint)
}

fn list(candidates: &[Candidate]) -> String {
    const LISTED: usize = 8;
    let mut known: Vec<String> = candidates
        .iter()
        .map(|candidate| describe(&candidate.image))
        .collect();
    let more = known.len().saturating_sub(LISTED);
    known.truncate(LISTED);
    if more > 0 {
        known.push(format!("and {more} more"));
    }
    format!("it holds {}", known.join(", "))
}

fn describe(image: &Image) -> String {
    let name = if image.names.is_empty() {
        let digest = image.digest.as_ref().or(image.image_id.as_ref());
        digest
            .map_or("an image without a name", String::as_str)
            .to_owned()
    } else {
        image.names.join(" = ")
    };
    match &image.platform {
        Some(platform) => format!("`{name}` for {platform}"),
        None => format!("`{name}`"),
    }
}

/// Makes one of equal images, with the names of all. Several tags of one image are such, and what `index.json` and
/// `manifest.json` of one archive say.
fn merge(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut merged: Vec<Candidate> = Vec::new();
    let mut places = BTreeMap::new();
    for candidate in candidates {
        let key = key(&candidate.image);
        let before = places
            .get(&key)
            .and_then(|place: &usize| merged.get_mut(*place));
        if let Some(before) = before {
            join(before, candidate);
        } else {
            places.insert(key, merged.len());
            merged.push(candidate);
        }
    }
    for candidate in &mut merged {
        let names = &mut candidate.image.names;
        for name in names.iter_mut() {
            *name = familiar(name).to_owned();
        }
        names.sort();
        names.dedup();
        let problems = &mut candidate.image.problems;
        problems.sort();
        problems.dedup();
    }
    merged
}

/// What two images have in common that are one: configuration, platform, and every layer. Where the configuration
/// was not read, nothing but the manifest says so.
fn key(image: &Image) -> String {
    let identity = match &image.image_id {
        Some(id) if !image.layers.is_empty() => id,
        _ => image
            .digest
            .as_ref()
            .or(image.image_id.as_ref())
            .unwrap_or(NONE),
    };
    let platform = image.platform.as_deref().map(normal).unwrap_or_default();
    let layers: Vec<String> = image.layers.iter().map(|layer| layer.blob.key()).collect();
    format!("{identity} {platform} {}", layers.join(" "))
}

static NONE: &String = &String::new();

fn join(before: &mut Candidate, other: Candidate) {
    let Candidate { image, parents } = other;
    let into = &mut before.image;
    into.names.extend(image.names);
    into.digest = into.digest.take().or(image.digest);
    into.image_id = into.image_id.take().or(image.image_id);
    into.problems.extend(image.problems);
    for note in image.notes {
        if !into.notes.contains(&note) {
            into.notes.push(note);
        }
    }
    for (layer, other) in into.layers.iter_mut().zip(image.layers) {
        let ImageLayer {
            digest,
            diff_id,
            size,
            media_type,
            created_by,
            blob: _,
        } = other;
        layer.digest = layer.digest.take().or(digest);
        layer.diff_id = layer.diff_id.take().or(diff_id);
        layer.size = layer.size.or(size);
        layer.media_type = layer.media_type.take().or(media_type);
        layer.created_by = layer.created_by.take().or(created_by);
    }
    before.parents.extend(parents);
}
