//! What there is to read of a source: one job a file, and one for its digest.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Error;
use crate::archive::{Kind, MemberKind, SharedBytes, Zip};
use crate::locator::Locator;
use crate::source::lock::Environment;
use crate::source::oci::{self, Blob};
use crate::source::{Conda, Dir, ImageStream, PlainFile, Source, Wheel};
use crate::tables::Tables;

use super::draft::{Draft, Found};
use super::fetched;
use super::leaf::Input;
use super::locks::{Files, PlannedLock};
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
    /// Members of an archive that is fetched, which lie side by side, and those among them of which only the local
    /// header is compared.
    Members(Arc<Place>, Vec<usize>, Vec<usize>),
    /// The local header of a member that is not fetched.
    Header(Arc<Place>, usize),
    Digest(SharedBytes),
    /// A conda package, or a file that may turn out to be one where that is not sure.
    Conda(Box<Conda>, bool),
    /// A layer of images, by its number among those of the run.
    Layer(usize, Blob, Option<u64>),
    /// A file that lock files name, by its number among those of the run.
    Locked(usize),
    /// Images that pass once.
    Stream(Box<ImageStream>),
}

/// What an input will be.
pub(super) enum Planned {
    One(Box<Draft>),
    /// Images, each with the numbers of its layers among those of the run.
    Images(Vec<(oci::Image, Vec<usize>)>),
    /// A lock file, for each environment.
    Locks(Vec<PlannedLock>),
    /// Images that are known when they have passed.
    Stream,
}

/// What inputs of a run can have in common, which is read once.
#[derive(Default)]
pub(super) struct Shared<'e> {
    pub(super) layers: Layers,
    pub(super) files: Files,
    /// Where packages of lock files are installed.
    pub(super) environments: &'e [Environment],
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
    shared: &mut Shared<'_>,
    tables: &Tables,
) -> Result<(Planned, Vec<(u64, Job)>), Error> {
    let (draft, jobs) = match source {
        #[cfg(feature = "registry")]
        Source::Remote { source, file } => {
            let at = source.at().clone();
            let (mut planned, jobs) = plan(*source, index, shared, tables)?;
            if let Planned::One(draft) = &mut planned {
                draft.remote = Some((file, at));
            }
            return Ok((planned, jobs));
        }
        Source::Wheel(wheel) => plan_wheel(wheel, index),
        Source::Dir(dir) => plan_dir(dir, index, tables),
        Source::Images { images, .. } => {
            return Ok(plan_images(images, index, &mut shared.layers));
        }
        Source::Lock(file) => {
            let locks = shared
                .files
                .plan(file.lock, file.dir, shared.environments)?;
            return Ok((Planned::Locks(locks), Vec::new()));
        }
        Source::ImageStream(stream) => {
            let job = Job {
                artifact: index,
                package: None,
                what: What::Stream(Box::new(stream)),
            };
            // most likely the longest
            return Ok((Planned::Stream, vec![(u64::MAX, job)]));
        }
        Source::Sdist(sdist) => {
            let mut draft = Draft::new(ArtifactKind::Sdist, &sdist.at);
            draft.artifact.name = Some(sdist.name.clone());
            draft.artifact.version = Some(sdist.version.clone());
            draft
                .packages
                .insert(Package::new(sdist.name, Some(sdist.version)));
            (draft, digest_job(index, sdist.bytes).into_iter().collect())
        }
        Source::Conda(mut conda) => {
            let mut draft = Draft::new(ArtifactKind::Conda, &conda.at);
            // what its metadata says takes the place of it
            if let Some(filename) = conda.filename.clone() {
                draft.artifact.name = Some(filename.name);
                draft.artifact.version = Some(filename.version);
            }
            draft.artifact.problems = std::mem::take(&mut conda.problems);
            (draft, conda_jobs(conda, true, index))
        }
        Source::File(PlainFile {
            at,
            bytes,
            kind: Some(Kind::Bzip2),
            ..
        }) => {
            let draft = Draft::new(ArtifactKind::File, &at);
            let name = file_name(at.artifact());
            let conda = Conda::of_tar(bytes, at, &name);
            (draft, conda_jobs(conda, false, index))
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
            let jobs = std::iter::once((size, job)).chain(digest_job(index, file.bytes));
            (draft, jobs.collect())
        }
    };
    Ok((Planned::One(Box::new(draft)), jobs))
}

fn conda_jobs(conda: Conda, sure: bool, artifact: usize) -> Vec<(u64, Job)> {
    let bytes = conda.bytes.clone();
    let job = Job {
        artifact,
        package: None,
        what: What::Conda(Box::new(conda), sure),
    };
    let job = (bytes.len(), job);
    std::iter::once(job)
        .chain(digest_job(artifact, bytes))
        .collect()
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
    let (mut jobs, left_out) = place.members();
    draft.artifact.seen.left_out = left_out;
    jobs.extend(digest_job(index, wheel.bytes));
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

/// The digest of a file that is there; one that is fetched is not fetched for that.
fn digest_job(artifact: usize, bytes: SharedBytes) -> Option<(u64, Job)> {
    // hashing costs about a fifth of what inflating does
    let weight = bytes.len() / 5;
    let job = |bytes| Job {
        artifact,
        package: None,
        what: What::Digest(bytes),
    };
    (!bytes.is_fetched()).then(|| (weight, job(bytes)))
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
    /// A job for each of its members. Where they are fetched, some share one, and some have none: these are counted.
    pub(super) fn members(self) -> (Vec<(u64, Job)>, u64) {
        let place = Arc::new(self);
        if place.zip.is_fetched() {
            return fetched::jobs(&place);
        }
        let indices: Vec<usize> = place.readable().collect();
        let jobs = indices
            .into_iter()
            .map(|index| {
                let size = place.size(index);
                let job = Job {
                    artifact: place.artifact,
                    package: place.package.clone(),
                    what: What::Member(Arc::clone(&place), index),
                };
                (size, job)
            })
            .collect();
        (jobs, 0)
    }

    /// Bytes of the member with this index, unpacked, as claimed.
    pub(super) fn size(&self, index: usize) -> u64 {
        let member = self.zip.members().get(index);
        member.map_or(0, |member| member.size)
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
