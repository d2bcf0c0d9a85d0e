//! What there is to read of a source: one job a file, and one for its digest.

use std::collections::HashMap;
use std::sync::Arc;

use crate::archive::{MemberKind, SharedBytes, Zip};
use crate::locator::Locator;
use crate::source::oci::{self, Blob};
use crate::source::{Dir, ImageStream, Source, Wheel};
use crate::tables::Tables;

use super::draft::{Draft, Found};
use super::leaf::Input;
use super::own;
use super::{ArtifactKind, Package, Provided};

/// Something to read.
pub(super) struct Job {
    pub(super) artifact: usize,
    /// The package that owns it.
    pub(super) package: Option<Arc<Package>>,
    pub(super) what: What,
}

/// What to read.
pub(super) enum What {
    File(Box<File>),
    /// The member of an archive: named when it is its turn, since there can be a million.
    Member(Arc<Place>, usize),
    Digest(SharedBytes),
    /// A layer of images, by its number among those of the run.
    Layer(usize, Blob, Option<u64>),
    /// Images that pass once.
    Stream(Box<ImageStream>),
}

/// What an input will be.
pub(super) enum Planned {
    One(Box<Draft>),
    /// Images, each with the numbers of its layers among those of the run.
    Images(Vec<(oci::Image, Vec<usize>)>),
    /// Images that are known when they have passed.
    Stream,
}

/// The layers of a run: one that is in several images is read once.
#[derive(Default)]
pub(super) struct Layers {
    numbers: HashMap<String, usize>,
}

impl Layers {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a layer, and whether it is new.
    fn number(&mut self, blob: &Blob) -> (usize, bool) {
        let next = self.numbers.len();
        let number = *self.numbers.entry(blob.key()).or_insert(next);
        (number, number == next)
    }
}

/// A file to read.
pub(super) struct File {
    pub(super) input: Input,
    /// The path that a report shows.
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) at: Locator,
    /// Archives around it.
    pub(super) depth: u32,
}

/// What a source is, and what there is to read of it.
pub(super) fn plan(
    source: Source,
    index: usize,
    layers: &mut Layers,
    tables: &Tables,
) -> (Planned, Vec<(u64, Job)>) {
    let (draft, jobs) = match source {
        Source::Wheel(wheel) => plan_wheel(wheel, index),
        Source::Dir(dir) => plan_dir(dir, index, tables),
        Source::Images { images, .. } => return plan_images(images, index, layers),
        Source::ImageStream(stream) => {
            let job = Job {
                artifact: index,
                package: None,
                what: What::Stream(Box::new(stream)),
            };
            // most likely the longest
            return (Planned::Stream, vec![(u64::MAX, job)]);
        }
        Source::Sdist(sdist) => {
            let mut draft = Draft::new(ArtifactKind::Sdist, &sdist.at);
            draft.artifact.name = Some(sdist.name.clone());
            draft.artifact.version = Some(sdist.version.clone());
            draft
                .packages
                .insert(Package::new(sdist.name, Some(sdist.version)));
            (draft, vec![digest_job(index, sdist.bytes)])
        }
        Source::File(file) => {
            let draft = Draft::new(ArtifactKind::File, &file.at);
            let path = file_name(file.at.artifact());
            let size = file.bytes.len();
            let input = Input::Bytes(file.bytes.clone());
            let what = What::File(Box::new(File {
                input,
                path,
                size,
                at: file.at,
                depth: 0,
            }));
            let job = Job {
                artifact: index,
                package: None,
                what,
            };
            (draft, vec![(size, job), digest_job(index, file.bytes)])
        }
    };
    (Planned::One(Box::new(draft)), jobs)
}

fn plan_images(
    images: Vec<oci::Image>,
    index: usize,
    layers: &mut Layers,
) -> (Planned, Vec<(u64, Job)>) {
    let mut jobs = Vec::new();
    let images = images.into_iter().map(|image| {
        let numbers = image.layers.iter().map(|layer| {
            let (number, new) = layers.number(&layer.blob);
            if new {
                // how much there is says more than how much is stated
                let size = layer.blob.len().or(layer.size);
                let what = What::Layer(number, layer.blob.clone(), size);
                let job = Job {
                    artifact: index,
                    package: None,
                    what,
                };
                jobs.push((size.unwrap_or(u64::MAX), job));
            }
            number
        });
        let numbers = numbers.collect();
        (image, numbers)
    });
    let images = images.collect();
    (Planned::Images(images), jobs)
}

fn plan_wheel(wheel: Wheel, index: usize) -> (Draft, Vec<(u64, Job)>) {
    let mut draft = Draft::new(ArtifactKind::Wheel, &wheel.at);
    draft.artifact.name.clone_from(&wheel.name);
    draft.artifact.version.clone_from(&wheel.version);
    draft.artifact.platforms.clone_from(&wheel.platforms);
    draft
        .artifact
        .other_platforms
        .clone_from(&wheel.other_platforms);
    draft
        .artifact
        .platform_tags
        .clone_from(&wheel.platform_tags);
    draft.artifact.python_tags.clone_from(&wheel.python_tags);
    draft.artifact.problems = wheel.problems;
    let package = wheel
        .name
        .clone()
        .map(|name| Arc::new(Package::new(name, wheel.version.clone())));
    draft.packages.extend(package.as_deref().cloned());
    let place = Place {
        artifact: index,
        package,
        prefix: String::new(),
        at: wheel.at,
        depth: 1,
        zip: Arc::new(wheel.zip),
    };
    let mut jobs = place.members();
    jobs.push(digest_job(index, wheel.bytes));
    (draft, jobs)
}

fn plan_dir(dir: Dir, index: usize, tables: &Tables) -> (Draft, Vec<(u64, Job)>) {
    let mut draft = Draft::new(ArtifactKind::Directory, &dir.at);
    draft.artifact.problems = dir.problems;
    let packages: Vec<Arc<Package>> = dir
        .packages
        .into_iter()
        .map(|package| Arc::new(Package::from(package)))
        .collect();
    draft
        .packages
        .extend(packages.iter().map(|package| Package::clone(package)));
    // a loader finds a library by the name of a link to it
    let links = dir.file_links.iter().map(ToString::to_string);
    for link in links.filter(|link| own::provides(link, tables)) {
        draft.take(Found::Provided(Provided::new(link, None, None), None));
    }
    let jobs = dir.files.into_iter().map(|file| {
        let what = What::File(Box::new(File {
            input: Input::Path(file.path),
            at: dir.at.member(&file.name),
            path: file.name.to_string(),
            size: file.size,
            depth: 0,
        }));
        let package = file.package.and_then(|index| packages.get(index)).cloned();
        (
            file.size,
            Job {
                artifact: index,
                package,
                what,
            },
        )
    });
    (draft, jobs.collect())
}

fn digest_job(artifact: usize, bytes: SharedBytes) -> (u64, Job) {
    // hashing costs about a fifth of what inflating does
    (
        bytes.len() / 5,
        Job {
            artifact,
            package: None,
            what: What::Digest(bytes),
        },
    )
}

/// The last component of a path in the spelling of this machine, or of an archive.
pub(super) fn file_name(path: &str) -> String {
    path.rsplit(['/', std::path::MAIN_SEPARATOR])
        .next()
        .unwrap_or(path)
        .to_owned()
}

/// An opened archive in an artifact.
pub(super) struct Place {
    pub(super) artifact: usize,
    pub(super) package: Option<Arc<Package>>,
    /// What stands before the names of members in paths.
    pub(super) prefix: String,
    pub(super) at: Locator,
    /// Archives around its members, itself included.
    pub(super) depth: u32,
    pub(super) zip: Arc<Zip>,
}

impl Place {
    /// A job for each of its members.
    pub(super) fn members(self) -> Vec<(u64, Job)> {
        let place = Arc::new(self);
        let indices: Vec<usize> = place.readable().collect();
        indices
            .into_iter()
            .map(|index| {
                let size = place
                    .zip
                    .members()
                    .get(index)
                    .map_or(0, |member| member.size);
                let job = Job {
                    artifact: place.artifact,
                    package: place.package.clone(),
                    what: What::Member(Arc::clone(&place), index),
                };
                (size, job)
            })
            .collect()
    }

    /// The members that are read.
    pub(super) fn readable(&self) -> impl Iterator<Item = usize> {
        let members = self.zip.members().iter().enumerate();
        // pip writes the data of a member that is marked as a link into a file, library or not
        members
            .filter(|(_, member)| member.is_readable() && member.kind != MemberKind::Dir)
            .map(|(index, _)| index)
    }

    /// The member with this index, as a file.
    pub(super) fn file(&self, index: usize) -> Option<File> {
        let member = self.zip.members().get(index)?;
        Some(File {
            input: Input::Member(Arc::clone(&self.zip), index),
            path: format!("{}{}", self.prefix, member.name),
            size: member.size,
            at: self.at.member(&member.name),
            depth: self.depth,
        })
    }
}
