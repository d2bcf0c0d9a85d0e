//! What there is to read of a source: one job a file, and one for its digest.

use std::sync::Arc;

use crate::archive::{MemberKind, SharedBytes, Zip};
use crate::locator::Locator;
use crate::source::{Dir, Source, Wheel};

use super::draft::Draft;
use super::leaf::Input;
use super::{ArtifactKind, Package};

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

/// The artifact that a source is, and what there is to read of it.
pub(super) fn plan(source: Source, index: usize) -> (Draft, Vec<(u64, Job)>) {
    match source {
        Source::Wheel(wheel) => plan_wheel(wheel, index),
        Source::Dir(dir) => plan_dir(dir, index),
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
    }
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

fn plan_dir(dir: Dir, index: usize) -> (Draft, Vec<(u64, Job)>) {
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
        let members = place.zip.members().iter().enumerate();
        // pip writes the data of a member that is marked as a link into a file, library or not
        members
            .filter(|(_, member)| member.is_readable() && member.kind != MemberKind::Dir)
            .map(|(index, member)| {
                let job = Job {
                    artifact: place.artifact,
                    package: place.package.clone(),
                    what: What::Member(Arc::clone(&place), index),
                };
                (member.size, job)
            })
            .collect()
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
