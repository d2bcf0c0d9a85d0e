//! From what was read of its files to the artifact that a lock file is for one environment.

use std::collections::BTreeSet;

use super::facts::{Content, LockedPackage, NotRead};
use super::files::PlannedLock;
use super::read::{Outcome, Reach, fits, stated};
use crate::archive::Fault;
use crate::inventory::draft::Draft;
use crate::inventory::{
    Artifact, ArtifactKind, HashCheck, Library, Manager, Package, Provided, Seen,
};
use crate::locator::Locator;
use crate::problem::{Extent, Problem, ProblemKind};
use crate::source::lock::{Hash, PickStatus, without_secrets};
use crate::source::wheel::{Installed, same_name, same_version};
use crate::tables::Tables;

/// A file that was read, or why not.
#[derive(Debug)]
pub(in crate::inventory) struct FileRead {
    pub(super) outcome: Outcome,
    /// What is in it.
    pub(super) artifact: Artifact,
    /// The hash of the lock file that it has, where all of it was read.
    verified: Option<Hash>,
}

impl FileRead {
    /// What became of a file, with what was found in it. Its hash is compared where the whole was read.
    pub(in crate::inventory) fn new(mut outcome: Outcome, found: Artifact, at: &Locator) -> Self {
        let (mut artifact, was_verified) = match outcome.kept.take() {
            // nothing was fetched now
            Some((kept, verified)) => (
                Artifact {
                    fetched: None,
                    ..kept
                },
                verified,
            ),
            None => (found, false),
        };
        let mut verified = None;
        if outcome.content == Content::Read {
            match compared(&outcome, &artifact, was_verified) {
                Ok(hash) => verified = hash,
                Err(fault) => {
                    let problem = fault.at(at.clone(), Extent::Artifact);
                    artifact.problems.push(problem);
                    artifact.problems.sort();
                }
            }
        }
        if verified.is_some() {
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
        Self {
            outcome,
            artifact,
            verified,
        }
    }
}

/// Which of the hashes that are allowed the file has; none where that is not known, or said to be wrong already.
fn compared(
    outcome: &Outcome,
    artifact: &Artifact,
    was_verified: bool,
) -> Result<Option<Hash>, Fault> {
    let mut has = outcome.sums.clone();
    has.extend(artifact.sha256.as_ref().map(|hex| Hash {
        algorithm: "sha256".to_owned(),
        hex: hex.clone(),
    }));
    let stated = outcome.file.as_ref().and_then(|file| file.hash.clone());
    has.extend(stated.filter(|_| was_verified));
    let allowed = outcome.allowed();
    if let Some(fetched) = &artifact.fetched {
        let stated = || fetched.hash.as_deref().and_then(Hash::parse);
        match fetched.verified {
            HashCheck::No => return Ok(None),
            HashCheck::Yes if allowed.is_empty() => return Ok(stated()),
            HashCheck::Yes => has.extend(stated()),
            _ => {}
        }
    }
    if let Some(right) = allowed.iter().find(|hash| has.contains(hash)) {
        return Ok(Some(right.clone()));
    }
    let of_kind = |hash: &&Hash| allowed.iter().any(|one| one.algorithm == hash.algorithm);
    let Some(other) = has.iter().find(of_kind) else {
        return Ok(None);
    };
    let allowed: Vec<String> = allowed.iter().map(Hash::to_string).collect();
    let detail = format!(
        "its hash is {other}, and the lock file says {}",
        allowed.join(" or ")
    );
    Err(Fault::new(ProblemKind::ChecksumMismatch, detail))
}

impl FileRead {
    /// Bytes that were asked of servers.
    fn fetched(&self) -> u64 {
        let fetched = self.artifact.fetched.as_ref();
        fetched.map_or(0, |fetched| fetched.received)
    }

    /// Keeps what was found for other runs, where all of it could be read.
    pub(in crate::inventory) fn keep(&self, reach: Reach<'_>, kernels: bool, tables: &Tables) {
        let (Some(cache), Some(file), Some(fetched)) =
            (reach.cache, &self.outcome.file, &self.artifact.fetched)
        else {
            return;
        };
        if let Some(stated) = stated(file, Some(fetched.size))
            && self.outcome.content.is_known()
            && self.artifact.problems.is_empty()
        {
            let verified = self.verified == file.hash;
            cache.store(stated, verified, kernels, tables, self.artifact.clone());
        }
    }
}

/// What a package says of itself, where it is not what the lock file says.
fn belied(locked: &LockedPackage, found: &Artifact) -> Option<Fault> {
    if !matches!(found.kind, ArtifactKind::Wheel | ArtifactKind::Conda) {
        return None;
    }
    let name = found.name.as_deref()?;
    if !same_name(name, &locked.name) {
        let detail = format!(
            "it is the package `{name}`, and the lock file says `{}`",
            locked.name
        );
        return Some(Fault::new(ProblemKind::MalformedMetadata, detail));
    }
    let (has, says) = (found.version.as_deref()?, locked.version.as_deref()?);
    // `==2.9.1` takes `2.9.1+cu128`
    let public = has.split_once('+').map_or(has, |(public, _)| public);
    if same_version(has, says) || same_version(public, says) {
        return None;
    }
    let detail = format!("it is version `{has}` of `{name}`, and the lock file says `{says}`");
    Some(Fault::new(ProblemKind::MalformedMetadata, detail))
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
            if let Some(fault) = belied(locked, &read.artifact) {
                let name = read.outcome.file.as_ref().map_or(&locked.name, |f| &f.name);
                all.insert(fault.at(at.member(&name.as_str().into()), Extent::Artifact));
            }
            if locked.status == PickStatus::AskIndex {
                locked.status = read.outcome.status;
                locked.version.clone_from(&read.outcome.version);
            }
            locked.file.clone_from(&read.outcome.file);
            locked.content = read.outcome.content;
            if let Some(file) = &mut locked.file {
                // one of several that are allowed
                let one = read.verified.as_ref().or(read.outcome.hashes.first());
                file.hash = file.hash.take().or(one.cloned());
            }
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
