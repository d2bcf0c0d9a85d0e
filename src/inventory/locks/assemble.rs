//! From what was read of its files to the artifact that a lock file is for one environment.

use std::collections::BTreeSet;

use super::facts::{Content, NotRead};
use super::files::PlannedLock;
use super::read::{Outcome, Reach, fits};
use crate::archive::Fault;
use crate::inventory::draft::Draft;
use crate::inventory::{
    Artifact, ArtifactKind, HashCheck, Library, Manager, Package, Provided, Seen,
};
use crate::locator::Locator;
use crate::problem::{Extent, Problem, ProblemKind};
use crate::source::lock::{Hash, PickStatus, without_secrets};
use crate::source::wheel::Installed;
use crate::tables::Tables;

/// A file that was read, or why not.
#[derive(Debug)]
pub(in crate::inventory) struct FileRead {
    pub(super) outcome: Outcome,
    /// What is in it.
    pub(super) artifact: Artifact,
}

impl FileRead {
    /// What became of a file, with what was found in it. Its hash is compared where the whole was read.
    pub(in crate::inventory) fn new(mut outcome: Outcome, found: Artifact, at: &Locator) -> Self {
        let mut artifact = match outcome.kept.take() {
            Some(kept) => Artifact {
                // nothing was fetched now
                fetched: None,
                ..kept
            },
            None => found,
        };
        let expected = outcome.file.as_ref().and_then(|file| file.hash.as_ref());
        let read = artifact.sha256.as_ref().map(|hex| Hash {
            algorithm: "sha256".to_owned(),
            hex: hex.clone(),
        });
        if let (Some(expected), Some(read)) = (expected, read)
            && expected.algorithm == read.algorithm
            && outcome.content == Content::Read
        {
            if *expected == read {
                outcome.content = Content::Verified;
            } else {
                let detail = format!("its hash is {read}, and the lock file says {expected}");
                let fault = Fault::new(ProblemKind::ChecksumMismatch, detail);
                artifact
                    .problems
                    .push(fault.at(at.clone(), Extent::Artifact));
                artifact.problems.sort();
            }
        }
        let check = artifact.fetched.as_ref().map(|fetched| fetched.verified);
        if check == Some(HashCheck::Yes) {
            outcome.content = Content::Verified;
        }
        if outcome.content.is_known()
            && artifact.problems.is_empty()
            && let Some(detail) = unopened(&outcome, &artifact)
        {
            let fault = Fault::new(ProblemKind::NotAnArchive, detail);
            artifact
                .problems
                .push(fault.at(at.clone(), Extent::Artifact));
        }
        Self { outcome, artifact }
    }

    /// Bytes that were asked of servers.
    fn fetched(&self) -> u64 {
        let fetched = self.artifact.fetched.as_ref();
        fetched.map_or(0, |fetched| fetched.received)
    }

    /// Keeps what was found for other runs, where all of it could be read.
    pub(in crate::inventory) fn keep(&self, reach: Reach<'_>, kernels: bool, tables: &Tables) {
        let hash = self
            .outcome
            .file
            .as_ref()
            .and_then(|file| file.hash.as_ref());
        let fresh = self.artifact.fetched.is_some() && self.outcome.content.is_known();
        if let (Some(cache), Some(hash)) = (reach.cache, hash)
            && fresh
            && self.artifact.problems.is_empty()
        {
            cache.store(hash, kernels, tables, self.artifact.clone());
        }
    }
}

/// Why nothing is known of a locked file in which nothing is wrong: no installer takes it for what the lock file says,
/// or it is no package, and no archive that is opened.
fn unopened(outcome: &Outcome, artifact: &Artifact) -> Option<&'static str> {
    if !fits(outcome.said(), artifact.kind) {
        return Some("it is not the kind of package that the lock file says");
    }
    let Seen {
        files,
        unopened,
        left_out,
        with_device_code,
    } = artifact.seen;
    match artifact.kind {
        // beside other files of a package such data is common
        ArtifactKind::Wheel | ArtifactKind::Conda => {
            (files > 0 && files == unopened && left_out == 0)
                .then_some("nothing in it could be opened")
        }
        ArtifactKind::File if unopened > 0 => {
            Some("it is or holds a compressed archive of a kind that is not opened")
        }
        // an archive is a file, and each of its members another
        ArtifactKind::File if files <= 1 && with_device_code == 0 && left_out == 0 => {
            Some("it is neither a package nor an archive of one")
        }
        _ => None,
    }
}

/// The artifact of a planned lock file. `files` are those of the run, by number.
pub(in crate::inventory) fn assemble(planned: PlannedLock, files: &[Option<FileRead>]) -> Artifact {
    let PlannedLock {
        at,
        mut facts,
        numbers,
        problems,
    } = planned;
    let mut draft = Draft::new(ArtifactKind::LockFile, &at);
    let mut all: BTreeSet<Problem> = problems.into_iter().collect();
    draft.artifact.platforms = vec![facts.environment.platform];
    for (locked, number) in facts.packages.iter_mut().zip(numbers) {
        let read = number.and_then(|number| files.get(number)?.as_ref());
        if let Some(read) = read {
            locked.status = read.outcome.status;
            locked.file.clone_from(&read.outcome.file);
            locked.content = read.outcome.content;
            locked.version.clone_from(&read.outcome.version);
            if locked.version.is_none() {
                locked.version.clone_from(&read.artifact.version);
            }
            facts.fetched = facts.fetched.saturating_add(read.fetched());
        } else if number.is_some() {
            locked.content = Content::NotRead(NotRead::Failed);
        }
        if let Some(url) = locked.file.as_mut().and_then(|file| file.url.as_mut()) {
            *url = without_secrets(url);
        }
        let mut package = Package::new(locked.name.clone(), locked.version.clone());
        if locked.status == PickStatus::Conda {
            package.manager = Some(Manager::Conda);
        }
        if let Some(read) = read {
            draft.artifact.seen.add(read.artifact.seen);
            all.extend(read.artifact.problems.iter().cloned());
            for library in &read.artifact.libraries {
                let library = Library {
                    path: installed(&library.path),
                    package: None,
                    ..library.clone()
                };
                draft.libraries.push((library, Some(package.clone())));
            }
            for provided in read.artifact.provided.iter().flatten() {
                let path = installed(&provided.path);
                let provided = Provided::new(path, provided.soname.clone(), None);
                draft.provided.push((provided, Some(package.clone())));
            }
        }
        draft.packages.insert(package);
    }
    draft.artifact.lock = Some(Box::new(facts));
    draft.finish(all.into_iter().collect())
}

/// Where an installer puts a member of a wheel.
fn installed(path: &str) -> String {
    let path = Installed::of(path.as_bytes()).path;
    String::from_utf8_lossy(path).into_owned()
}
