//! From a package of a lock file to its opened file.

use std::path::{Path, PathBuf};

use super::facts::{Content, NotRead};
use super::files::Wanted;
use crate::Error;
use crate::archive::Fault;
use crate::inventory::Artifact;
use crate::inventory::cache::Cache;
use crate::inventory::leaf::Means;
use crate::locator::Locator;
use crate::problem::{Extent, Problem, ProblemKind};
use crate::source::lock::{self, PickStatus, PickedFile};
use crate::source::{self, Fetch, Source};

/// How files of lock files are reached.
#[derive(Debug, Clone, Copy)]
pub(in crate::inventory) struct Reach<'a> {
    /// None where no server may be asked.
    pub(in crate::inventory) fetch: Option<&'a dyn Fetch>,
    pub(in crate::inventory) cache: Option<&'a Cache>,
}

/// What became of a wanted file.
#[derive(Debug)]
pub(in crate::inventory) struct Outcome {
    pub(super) status: PickStatus,
    pub(super) version: Option<String>,
    pub(super) file: Option<PickedFile>,
    pub(super) content: Content,
    /// What an earlier run found in it.
    pub(super) kept: Option<Artifact>,
}

impl Outcome {
    fn of(wanted: &Wanted) -> Self {
        Self {
            status: wanted.pick.status,
            version: wanted.pick.version.clone(),
            file: wanted.pick.file.clone(),
            content: Content::None,
            kept: None,
        }
    }

    fn not_read(mut self, why: NotRead) -> Self {
        self.content = Content::NotRead(why);
        self
    }
}

/// What became of a wanted file, what there is to read of it, and what is wrong.
pub(in crate::inventory) fn open(
    wanted: &Wanted,
    reach: Reach<'_>,
    means: &Means<'_>,
) -> (Outcome, Option<Source>, Vec<Problem>) {
    let mut outcome = Outcome::of(wanted);
    match resolve(wanted, reach, means, &mut outcome) {
        Ok(true) => {}
        Ok(false) => return (outcome, None, Vec::new()),
        Err(problem) => return (outcome.not_read(NotRead::Failed), None, vec![problem]),
    }
    let Some(file) = outcome.file.clone() else {
        return (outcome, None, Vec::new());
    };
    if let (Some(cache), Some(hash)) = (reach.cache, &file.hash)
        && let Some(artifact) = cache.load(hash, means.kernels, means.tables)
    {
        outcome.content = Content::Read;
        outcome.kept = Some(artifact);
        return (outcome, None, Vec::new());
    }
    match source_of(&file, wanted, reach, means) {
        Ok(Some(source)) => {
            outcome.content = Content::Read;
            (outcome, Some(source), Vec::new())
        }
        Ok(None) => (outcome.not_read(NotRead::Offline), None, Vec::new()),
        Err(problem) => (outcome.not_read(NotRead::Failed), None, vec![problem]),
    }
}

/// Asks the index for what the lock file does not say: which file, or where it is. False where there is no file, or
/// none that may be asked for.
fn resolve(
    wanted: &Wanted,
    reach: Reach<'_>,
    means: &Means<'_>,
    outcome: &mut Outcome,
) -> Result<bool, Problem> {
    let pick = &wanted.pick;
    let ask = pick.status == PickStatus::AskIndex;
    let address = pick.file.as_ref().and_then(|file| file.url.as_ref());
    if !ask && address.is_some() {
        return Ok(true);
    }
    let known = pick.file.as_ref().and_then(|file| file.hash.as_ref());
    if let (Some(cache), Some(hash), false) = (reach.cache, known, ask)
        && cache.holds(hash, means.kernels, means.tables)
    {
        return Ok(true);
    }
    let Some(fetch) = reach.fetch else {
        outcome.content = Content::NotRead(NotRead::Offline);
        return Ok(false);
    };
    let candidates = fetch
        .candidates(&pick.name, pick.index.as_deref(), &wanted.lock)
        .map_err(|error| problem(&wanted.at, ProblemKind::Io, in_full(&error)))?;
    if ask {
        let chosen = lock::choose_of_index(pick, &candidates, &wanted.environment);
        outcome.status = chosen.status;
        outcome.version = chosen.version;
        outcome.file = chosen.file;
        return Ok(outcome.status == PickStatus::Wheel);
    }
    let Some(file) = outcome.file.as_mut() else {
        return Ok(false);
    };
    let same = candidates.iter().find(|candidate| {
        candidate.name == file.name
            && (file.hash.is_none() || candidate.hash.is_none() || candidate.hash == file.hash)
    });
    let Some(candidate) = same else {
        let detail = format!(
            "the index has no `{}` with the hash of the lock file",
            file.name
        );
        return Err(problem(&wanted.at, ProblemKind::Io, detail));
    };
    file.url.clone_from(&candidate.url);
    file.size = file.size.or(candidate.size);
    Ok(true)
}

/// A file, opened; none where it is not on this machine and no server may be asked.
fn source_of(
    file: &PickedFile,
    wanted: &Wanted,
    reach: Reach<'_>,
    means: &Means<'_>,
) -> Result<Option<Source>, Problem> {
    let address = file.url.as_deref().unwrap_or(&file.name);
    let limits = means.budget.limits();
    if let Some(path) = local(address, &wanted.dir) {
        let source = source::open_regular(&path)
            .and_then(|bytes| source::recognise(bytes, wanted.at.clone(), &file.name, limits));
        let source = source.map_err(|error| {
            let detail = format!("`{address}` could not be opened: {error}");
            problem(&wanted.at, ProblemKind::Io, detail)
        })?;
        return Ok(Some(source));
    }
    let Some(fetch) = reach.fetch else {
        return Ok(None);
    };
    let source = fetch.open(file, wanted.at.clone(), limits);
    source
        .map(Some)
        .map_err(|error| problem(&wanted.at, ProblemKind::Io, in_full(&error)))
}

/// What went wrong, and what to do about it.
fn in_full(error: &Error) -> String {
    match error.hint() {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    }
}

/// The path of an address that is a file of this machine, below the directory of the lock file.
fn local(address: &str, dir: &Path) -> Option<PathBuf> {
    if let Some(rest) = address.strip_prefix("file://") {
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        let path = lock::percent_decoded(rest);
        // `file:///C:/x.whl`
        let drive = path
            .strip_prefix('/')
            .filter(|path| cfg!(windows) && matches!(path.as_bytes(), [_, b':', ..]));
        return Some(drive.unwrap_or(&path).into());
    }
    (!address.contains("://")).then(|| dir.join(address))
}

fn problem(at: &Locator, kind: ProblemKind, detail: String) -> Problem {
    Fault::new(kind, detail).at(at.clone(), Extent::Artifact)
}
