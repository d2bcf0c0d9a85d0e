//! From a package of a lock file to its opened file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::facts::{Content, NotRead};
use super::files::Wanted;
use crate::Error;
use crate::archive::Fault;
use crate::inventory::cache::{Cache, Stated};
use crate::inventory::leaf::Means;
use crate::inventory::{Artifact, ArtifactKind};
use crate::locator::Locator;
use crate::problem::{Extent, Problem, ProblemKind};
use crate::source::lock::{self, Hash, PickStatus, PickedFile};
use crate::source::sum::Sum;
use crate::source::{self, Fetch, Said, Source};

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
    /// What an earlier run found in it, and whether all of it was read and has its hash.
    pub(super) kept: Option<(Artifact, bool)>,
    /// Hashes of which it must have one; empty where there is none but that of `file`.
    pub(super) hashes: Vec<Hash>,
    /// Its hashes but for the SHA-256, where all of it is there.
    pub(super) sums: Vec<Hash>,
}

impl Outcome {
    fn of(wanted: &Wanted) -> Self {
        Self {
            status: wanted.pick.status,
            version: wanted.pick.version.clone(),
            file: wanted.pick.file.clone(),
            content: Content::None,
            kept: None,
            hashes: wanted.pick.hashes.clone(),
            sums: Vec::new(),
        }
    }

    /// Hashes of which the file must have one.
    pub(super) fn allowed(&self) -> &[Hash] {
        let of_file = self.file.as_ref().and_then(|file| file.hash.as_ref());
        match of_file {
            Some(hash) if self.hashes.is_empty() => std::slice::from_ref(hash),
            _ => &self.hashes,
        }
    }

    /// Takes what an earlier run found. What lies on this machine is read each time.
    fn take_kept(&mut self, reach: Reach<'_>, means: &Means<'_>) -> bool {
        let Some(file) = &self.file else {
            return false;
        };
        let (Some(cache), Some(stated)) = (reach.cache, stated(file, file.size)) else {
            return false;
        };
        if stated.address.is_some_and(is_local) {
            return false;
        }
        let kept = cache.load(stated, means.kernels, means.tables);
        let said = self.said();
        self.kept = kept.filter(|(artifact, _)| fits(said, artifact.kind));
        self.kept.is_some()
    }

    /// What the lock file says that its file is.
    pub(super) fn said(&self) -> Said {
        let is_wheel = |file: &PickedFile| source::is_named_wheel(&file.name);
        match self.status {
            PickStatus::Conda => Said::Conda,
            PickStatus::Wheel => Said::Wheel,
            _ if self.file.as_ref().is_some_and(is_wheel) => Said::Wheel,
            _ => Said::Nothing,
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
    // what an index would be asked for may be known
    if outcome.status != PickStatus::AskIndex && outcome.take_kept(reach, means) {
        outcome.content = Content::Read;
        return (outcome, None, Vec::new());
    }
    match resolve(wanted, reach, &mut outcome) {
        Ok(true) => {}
        Ok(false) => return (outcome, None, Vec::new()),
        Err(problem) => return (outcome.not_read(NotRead::Failed), None, vec![problem]),
    }
    let Some(file) = outcome.file.clone() else {
        return (outcome, None, Vec::new());
    };
    if outcome.file != wanted.pick.file && outcome.take_kept(reach, means) {
        outcome.content = Content::Read;
        return (outcome, None, Vec::new());
    }
    match source_of(&file, outcome.said(), wanted, reach, means) {
        Ok(Some(source)) => {
            outcome.sums = sums(&source, outcome.allowed());
            outcome.content = Content::Read;
            (outcome, Some(source), Vec::new())
        }
        Ok(None) => (outcome.not_read(NotRead::Offline), None, Vec::new()),
        Err(problem) => (outcome.not_read(NotRead::Failed), None, vec![problem]),
    }
}

/// Asks the index for what the lock file does not say: which file, or where it is. False where there is no file, or
/// none that may be asked for.
fn resolve(wanted: &Wanted, reach: Reach<'_>, outcome: &mut Outcome) -> Result<bool, Problem> {
    let pick = &wanted.pick;
    let ask = pick.status == PickStatus::AskIndex;
    let address = pick.file.as_ref().and_then(|file| file.url.as_ref());
    if !ask && address.is_some() {
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
        // of an index that states no hash, or one of another kind, that of the lock file is expected
        if let (Some(file), [only]) = (&mut outcome.file, pick.hashes.as_slice()) {
            file.hash = Some(only.clone());
        }
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
    said: Said,
    wanted: &Wanted,
    reach: Reach<'_>,
    means: &Means<'_>,
) -> Result<Option<Source>, Problem> {
    let address = file.url.as_deref().unwrap_or(&file.name);
    let limits = means.budget.limits();
    if let Some(path) = local(address, &wanted.dir) {
        let source = source::open_regular(&path)
            .and_then(|bytes| source::open_as(said, bytes, wanted.at.clone(), &file.name, limits));
        let source = source.map_err(|error| {
            let detail = format!("`{address}` could not be opened: {error}");
            problem(&wanted.at, ProblemKind::Io, detail)
        })?;
        return Ok(Some(source));
    }
    let Some(fetch) = reach.fetch else {
        return Ok(None);
    };
    let source = fetch.open(file, said, wanted.at.clone(), limits);
    source
        .map(Some)
        .map_err(|error| problem(&wanted.at, ProblemKind::Io, in_full(&error)))
}

/// Whether a file of this kind is what it is said to be.
pub(super) fn fits(said: Said, kind: ArtifactKind) -> bool {
    match said {
        Said::Nothing => true,
        Said::Wheel => kind == ArtifactKind::Wheel,
        Said::Conda => kind == ArtifactKind::Conda,
    }
}

/// What went wrong, and what to do about it.
fn in_full(error: &Error) -> String {
    match error.hint() {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    }
}

/// A file as the cache knows it; none where no hash is stated.
pub(super) fn stated(file: &PickedFile, size: Option<u64>) -> Option<Stated<'_>> {
    Some(Stated {
        hash: file.hash.as_ref()?,
        name: &file.name,
        address: file.url.as_deref(),
        size,
    })
}

/// The hashes of a file, of those kinds that are `allowed`, where all of it is there. Its SHA-256 is taken with what is
/// read of it.
fn sums(source: &Source, allowed: &[Hash]) -> Vec<Hash> {
    let bytes = match source {
        Source::Wheel(wheel) => &wheel.bytes,
        Source::Conda(conda) => &conda.bytes,
        Source::Sdist(sdist) => &sdist.bytes,
        Source::File(file) => &file.bytes,
        #[cfg(feature = "registry")]
        Source::Remote { source, .. } => return sums(source, allowed),
        _ => return Vec::new(),
    };
    if bytes.is_fetched() {
        return Vec::new();
    }
    let kinds: BTreeSet<&str> = allowed.iter().map(|hash| hash.algorithm.as_str()).collect();
    let kinds = kinds.into_iter().filter(|kind| *kind != "sha256");
    // whoever reads the same bytes as members reports where they cannot be read
    kinds
        .filter_map(|kind| Sum::of(kind)?.of_all(bytes.cursor()).ok())
        .collect()
}

/// Whether an address is one of this machine.
fn is_local(address: &str) -> bool {
    address.starts_with("file://") || !address.contains("://")
}

/// The path of an address that is a file of this machine, below the directory of the lock file.
pub(super) fn local(address: &str, dir: &Path) -> Option<PathBuf> {
    if let Some(rest) = address.strip_prefix("file://") {
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        let path = lock::percent_decoded(rest);
        // `file:///C:/x.whl`
        let drive = path
            .strip_prefix('/')
            .filter(|path| cfg!(windows) && matches!(path.as_bytes(), [_, b':', ..]));
        return Some(drive.unwrap_or(&path).into());
    }
    is_local(address).then(|| dir.join(address))
}

fn problem(at: &Locator, kind: ProblemKind, detail: String) -> Problem {
    Fault::new(kind, detail).at(at.clone(), Extent::Artifact)
}
