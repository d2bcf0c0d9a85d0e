//! `index.json` and the indexes in it: every manifest that is there, and what is not.

use std::collections::BTreeSet;

use oci_spec::image::{Descriptor, ImageIndex};

use super::config::UNKNOWN;
use super::json::{Document, Reader, manifest_path, parse};
use super::manifest::{self, Outcome, stated_platform};
use super::merge::{Candidate, Found};
use super::names::normal;
use crate::archive::Fault;
use crate::{Extent, Locator, MemberName, ProblemKind};

/// Indexes in each other. BuildKit and containerd write two.
const DEPTH_MAX: u32 = 4;

/// Manifests and indexes of one input that are looked at.
const DESCRIPTORS_MAX: usize = 4096;

/// Names of an image: the tag, and the full name that containerd and Docker add.
const NAME: &str = "org.opencontainers.image.ref.name";
const FULL_NAME: &str = "io.containerd.image.name";

/// What BuildKit writes beside an attestation.
const REFERENCE: &str = "vnd.docker.reference.type";

/// A descriptor that is still to be looked at.
struct Todo {
    descriptor: Descriptor,
    names: Vec<String>,
    /// Which top entry it is below: platforms of one image have the same.
    group: usize,
    /// Digests of the indexes that it is in.
    parents: Vec<String>,
}

/// Looks at everything that an index names. Indexes are no trees: one may be in several, or in itself as far as
/// anyone can tell before its digest is verified, so that what was seen below an entry is not looked at again.
pub(super) fn walk(bytes: &[u8], reader: &Reader<'_>, at: &Locator) -> Result<Found, Fault> {
    let index: ImageIndex = parse(bytes, "image index")?;
    let mut found = Found::default();
    let mut seen = BTreeSet::new();
    let mut todo = Vec::new();
    let mut looked = 0;
    for (place, descriptor) in index.manifests().iter().enumerate().rev() {
        let names = names(descriptor);
        let group = if names.is_empty() { usize::MAX } else { place };
        todo.push(Todo {
            descriptor: descriptor.clone(),
            names,
            group,
            parents: Vec::new(),
        });
    }
    while let Some(entry) = todo.pop() {
        looked += 1;
        if looked > DESCRIPTORS_MAX || todo.len() > DESCRIPTORS_MAX {
            let detail =
                format!("more than {DESCRIPTORS_MAX} manifests, the most that are looked at");
            return Err(Fault::new(ProblemKind::LimitExceeded, detail));
        }
        let digest = entry.descriptor.digest().to_string();
        // the same manifest may be there for two platforms
        let platform = stated_platform(&entry.descriptor);
        if !seen.insert((
            entry.group,
            entry.names.clone(),
            digest.clone(),
            platform.clone(),
        )) {
            continue;
        }
        let looked_at = Step {
            reader,
            at,
            platform,
            digest,
        };
        looked_at.look(entry, &mut todo, &mut found);
    }
    Ok(found)
}

/// A descriptor while it is looked at.
struct Step<'s> {
    reader: &'s Reader<'s>,
    at: &'s Locator,
    platform: Option<String>,
    digest: String,
}

impl Step<'_> {
    fn look(self, entry: Todo, todo: &mut Vec<Todo>, found: &mut Found) {
        let no_image = is_no_image(&entry.descriptor);
        if self.is_elsewhere(no_image) {
            if no_image {
                found.note(format!(
                    "left out {}: it says that it is no image",
                    self.digest
                ));
            } else {
                found
                    .elsewhere
                    .push(self.unknown(entry.names, entry.parents));
            }
            return;
        }
        let bytes = match self.reader.manifest(&entry.descriptor) {
            Ok(Some(bytes)) => bytes,
            Ok(None) if no_image => return,
            Ok(None) => {
                let detail = "the manifest is not there";
                let fault = Fault::new(ProblemKind::MissingBlob, detail);
                let candidate = self.unread(fault, entry.names, entry.parents);
                found.absent.push((entry.group, candidate));
                return;
            }
            Err(fault) => {
                let candidate = self.unread(fault, entry.names, entry.parents);
                found.add(entry.group, candidate);
                return;
            }
        };
        let stated = entry.descriptor.media_type().as_ref();
        let outcome = match Document::of(&bytes, Some(stated)) {
            Ok(Document::Index) => match self.children(&bytes, &entry, todo) {
                Ok(()) => return,
                Err(fault) => Err(fault),
            },
            Ok(Document::Manifest) => {
                let platform = self.platform.clone();
                manifest::read(&bytes, self.reader, self.at, platform, &self.digest)
            }
            Err(fault) => Err(fault),
        };
        let Todo {
            names,
            group,
            parents,
            ..
        } = entry;
        match outcome {
            Ok(Outcome::Image(mut image)) => {
                image.names = names;
                found.add(group, Candidate { image, parents });
            }
            Ok(Outcome::Bare(mut image)) => {
                image.names = names;
                found.absent.push((group, Candidate { image, parents }));
            }
            Ok(Outcome::Other(what)) => found.note(format!("left out {}: {what}", self.digest)),
            Err(fault) => found.add(group, self.unread(fault, names, parents)),
        }
    }

    /// Puts what an index names before everything else that is still to be looked at, in its order.
    fn children(&self, bytes: &[u8], entry: &Todo, todo: &mut Vec<Todo>) -> Result<(), Fault> {
        let malformed = |detail: &str| Fault::new(ProblemKind::MalformedMetadata, detail);
        if entry.parents.len() as u64 >= u64::from(DEPTH_MAX) {
            let detail = format!("more than {DEPTH_MAX} indexes in each other");
            return Err(Fault::new(ProblemKind::LimitExceeded, detail));
        }
        if entry.parents.contains(&self.digest) {
            return Err(malformed("an index that is in itself"));
        }
        let index: ImageIndex = parse(bytes, "image index")?;
        let mut parents = entry.parents.clone();
        parents.push(self.digest.clone());
        if index.manifests().is_empty() {
            return Err(malformed("an index without manifests"));
        }
        if index.manifests().len() > DESCRIPTORS_MAX {
            let detail = format!("more than {DESCRIPTORS_MAX} manifests in an index");
            return Err(Fault::new(ProblemKind::LimitExceeded, detail));
        }
        todo.extend(index.manifests().iter().rev().map(|descriptor| Todo {
            descriptor: descriptor.clone(),
            names: entry.names.clone(),
            group: entry.group,
            parents: parents.clone(),
        }));
        Ok(())
    }

    /// Whether only images for one platform are wanted, and this is none. Who runs an image for a platform takes what
    /// the index says is for it, or else what it says nothing of.
    fn is_elsewhere(&self, no_image: bool) -> bool {
        let (wanted, stated) = (&self.reader.platform, &self.platform);
        match (wanted, stated) {
            (None, _) => false,
            (Some(wanted), Some(stated)) => normal(wanted) != normal(stated),
            (Some(_), None) => no_image,
        }
    }

    fn unread(&self, fault: Fault, names: Vec<String>, parents: Vec<String>) -> Candidate {
        let digest = self.digest.parse().ok();
        let path = digest.and_then(|digest| manifest_path(self.reader.places, &digest).ok());
        let path = path.unwrap_or_else(|| self.digest.clone());
        let at = self.at.member(&MemberName::from(path.as_str()));
        let mut candidate = self.unknown(names, parents);
        candidate
            .image
            .problems
            .push(fault.at(at, Extent::Artifact));
        candidate
    }

    fn unknown(&self, names: Vec<String>, parents: Vec<String>) -> Candidate {
        let mut image = manifest::unknown(self.at, self.platform.clone(), &self.digest);
        image.names = names;
        Candidate { image, parents }
    }
}

/// Whether a descriptor says that it is an attestation. What it is called decides nothing where it is there: a
/// runtime that looks for another platform would still run it.
fn is_no_image(descriptor: &Descriptor) -> bool {
    let unknown = descriptor
        .platform()
        .as_ref()
        .is_none_or(|platform| format!("{}/{}", platform.os(), platform.architecture()) == UNKNOWN);
    let annotated = annotation(descriptor, REFERENCE).is_some();
    unknown && (annotated || descriptor.platform().is_some())
}

fn names(descriptor: &Descriptor) -> Vec<String> {
    let full = annotation(descriptor, FULL_NAME);
    let name = annotation(descriptor, NAME);
    let mut names: Vec<String> = full.map(str::to_owned).into_iter().collect();
    // the tag of the full name is no second name
    if let Some(name) = name
        && full.and_then(super::names::tag) != Some(name)
    {
        names.push(name.to_owned());
    }
    names
}

fn annotation<'d>(descriptor: &'d Descriptor, key: &str) -> Option<&'d str> {
    let value = descriptor.annotations().as_ref()?.get(key)?;
    (!value.is_empty()).then_some(value.as_str())
}
