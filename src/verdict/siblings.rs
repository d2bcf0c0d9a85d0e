//! Sibling libraries of which one is loaded: bitsandbytes ships one for each CUDA version.
//!
//! Which one is decided by another package (`tables/libraries.yaml`). Where that lies beside it, the one that would
//! be loaded is judged; else the best of them, and what does not run is said.

use std::collections::{BTreeMap, BTreeSet};

use crate::compat::{Driver, Meets};
use crate::cuda::ToolkitVersion;
use crate::inventory::{Artifact, Library, Package};
use crate::rule::Code;
use crate::tables::{DeciderRow, FamilyRow, Tables};

use super::coverage::{Count, Extent};
use super::finding::Finding;
use super::floor;
use super::package::Judged;
use super::words::Subject;

/// What is said of the siblings.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Which of them is loaded, or which run and which do not.
    pub(super) note: Option<String>,
    /// None of them would be loaded.
    pub(super) missing: Option<Finding>,
}

/// A library of which one of several is loaded.
struct Sibling<'l, 't> {
    row: &'t FamilyRow,
    /// None where it has no code that can be loaded.
    rank: Option<Rank>,
    library: &'l Library,
}

/// The CUDA version that decides, and how it is known.
struct Decided {
    version: ToolkitVersion,
    package: String,
    /// `12.8, by the version of `torch` 2.9.1+cu128`.
    how: String,
}

/// Keeps in `judged`, of siblings among `libraries`, the one that is loaded.
pub(super) fn keep<'l>(
    libraries: &[&'l Library],
    judged: &mut Vec<Judged<'l>>,
    subject: Subject<'_>,
    driver: &Driver<'_>,
    beside: &Artifact,
) -> Kept {
    let Some(package) = subject.package else {
        return Kept::default();
    };
    let tables = subject.tables;
    let mut families: BTreeMap<&str, Vec<Sibling<'_, '_>>> = BTreeMap::new();
    for library in libraries.iter().copied() {
        if let Some(row) = tables.sibling_family(&package.name, &library.path) {
            let judged = judged.iter().find(|one| std::ptr::eq(one.library, library));
            families.entry(&row.library).or_default().push(Sibling {
                row,
                rank: judged.map(|one| Rank::of(one, driver, tables)),
                library,
            });
        }
    }
    let mut kept = Kept::default();
    let mut notes = Vec::new();
    for siblings in families.values() {
        let Some(row) = siblings.first().map(|sibling| sibling.row) else {
            continue;
        };
        let decided = decided(&row.decider, beside);
        let loaded = if let Some(decided) = &decided {
            let chosen = choose(siblings, decided.version);
            notes.extend(chosen.map(|sibling| {
                let name = file_name(&sibling.library.path);
                format!("`{name}` is loaded, by the {}: {}", row.by, decided.how)
            }));
            chosen
        } else {
            notes.extend(runs_and_not(siblings));
            // of equals the first
            siblings.iter().rev().max_by_key(|sibling| sibling.rank)
        };
        if let Some(decided) = &decided
            && loaded.is_none_or(|loaded| loaded.rank.is_none())
        {
            kept.missing = Some(missing(subject, siblings, decided, loaded));
        }
        let is = |one: &Judged<'_>, sibling: &Sibling<'_, '_>| {
            std::ptr::eq(one.library, sibling.library)
        };
        judged.retain(|one| {
            loaded.is_some_and(|loaded| is(one, loaded))
                || !siblings.iter().any(|sibling| is(one, sibling))
        });
    }
    kept.note = (!notes.is_empty()).then(|| notes.join("; "));
    kept
}

/// Siblings among `libraries` of `package` that are not loaded with what lies `beside` them. Where nothing decides which
/// one is, those that lack least are, by `lacks`; of those that all lack something, the newest.
pub(super) fn idle<'l>(
    libraries: &[&'l Library],
    package: &str,
    beside: &Artifact,
    tables: &Tables,
    lacks: impl Fn(&'l Library) -> usize,
) -> Vec<&'l Library> {
    let mut families: BTreeMap<&str, Vec<Sibling<'l, '_>>> = BTreeMap::new();
    for library in libraries.iter().copied() {
        if let Some(row) = tables.sibling_family(package, &library.path) {
            families.entry(&row.library).or_default().push(Sibling {
                row,
                rank: None,
                library,
            });
        }
    }
    let mut idle = Vec::new();
    for siblings in families.values() {
        let decided = siblings
            .first()
            .and_then(|one| decided(&one.row.decider, beside));
        let best = siblings
            .iter()
            .min_by_key(|one| (lacks(one.library), std::cmp::Reverse(one.version())));
        let any_whole = best.is_some_and(|best| lacks(best.library) == 0);
        let is = |one: &Sibling<'_, '_>, other: &Sibling<'_, '_>| {
            std::ptr::eq(one.library, other.library)
        };
        let is_loaded = |one: &Sibling<'l, '_>| match &decided {
            Some(decided) => choose(siblings, decided.version).is_some_and(|other| is(one, other)),
            None if any_whole => lacks(one.library) == 0,
            None => best.is_some_and(|best| is(one, best)),
        };
        let others = siblings.iter().filter(|one| !is_loaded(one));
        idle.extend(others.map(|one| one.library));
    }
    idle
}

/// Which siblings run and which do not, where they differ.
fn runs_and_not(siblings: &[Sibling<'_, '_>]) -> Option<String> {
    let named = |runs: bool| {
        let found = siblings
            .iter()
            .filter(|sibling| sibling.rank.is_some_and(|rank| rank.runs == runs));
        let names = found.map(|sibling| format!("`{}`", file_name(&sibling.library.path)));
        names.collect::<Vec<_>>().join(", ")
    };
    let (run, not) = (named(true), named(false));
    let by = &siblings.first()?.row.by;
    (!run.is_empty() && !not.is_empty()).then(|| {
        format!("one of its libraries is loaded, by the {by}: {run} run here, {not} do not")
    })
}

/// The CUDA version of the package that decides, where it lies in the same artifact and says or shows it.
fn decided(decider: &DeciderRow, beside: &Artifact) -> Option<Decided> {
    let packages = beside.packages.iter().enumerate();
    let mut found = packages
        .filter(|(_, package)| decider.is(&package.name))
        .map(|(index, package)| cuda_of(decider, index, package, beside));
    let first = found.next()??;
    // several environments in one tree: nobody knows which belongs to which
    let same = |other: Option<Decided>| other.is_some_and(|other| other.version == first.version);
    found.all(same).then_some(first)
}

fn cuda_of(
    decider: &DeciderRow,
    index: usize,
    package: &Package,
    beside: &Artifact,
) -> Option<Decided> {
    let full = package.version.as_deref();
    let name = match full {
        Some(version) => format!("`{}` {version}", package.name),
        None => format!("`{}`", package.name),
    };
    if let Some((_, local)) = full.and_then(|version| version.split_once('+')) {
        // a build for AMD or for no GPU loads none of them, and is no CUDA version; letters are of any case (PEP 440)
        let local = local.to_ascii_lowercase();
        if let Some(version) = compact(local.strip_prefix("cu")?) {
            return Some(Decided {
                version,
                how: format!("{version}, by the version of {name}"),
                package: name,
            });
        }
    }
    let mut made_by = BTreeSet::new();
    let mut shown = None;
    for library in &beside.libraries {
        if library.package == Some(index) && decider.shows(&library.path) {
            made_by.extend(library.toolkits.iter().copied());
            shown = Some(&library.path);
        }
    }
    let (version, path) = (made_by.first().copied()?, shown?);
    (made_by.len() == 1).then(|| Decided {
        version,
        how: format!("{version}, by `{path}` of {name}"),
        package: name,
    })
}

/// `126` is 12.6 and `92` is 9.2: from 10 on, majors have two digits. `12` may be any 12.x, and is none.
fn compact(text: &str) -> Option<ToolkitVersion> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (major, minor) = match digits {
        2 if !text.starts_with('1') => text.get(..digits)?.split_at_checked(1)?,
        3 | 4 => text.get(..digits)?.split_at_checked(2)?,
        _ => return None,
    };
    Some(ToolkitVersion::new(
        major.parse().ok()?,
        minor.parse().ok()?,
    ))
}

/// The sibling for a CUDA version: the same, else the newest older one of that major version, else the oldest newer
/// one of it.
fn choose<'s, 'l, 't>(
    siblings: &'s [Sibling<'l, 't>],
    version: ToolkitVersion,
) -> Option<&'s Sibling<'l, 't>> {
    let of = |sibling: &Sibling<'_, '_>| sibling.version().filter(|of| of.major == version.major);
    let known = || {
        siblings
            .iter()
            .filter_map(|sibling| Some((of(sibling)?, sibling)))
    };
    let older = known().filter(|(of, _)| *of <= version);
    let newer = known().filter(|(of, _)| *of > version);
    let chosen = older
        .max_by_key(|(of, _)| *of)
        .or_else(|| newer.min_by_key(|(of, _)| *of));
    chosen.map(|(_, sibling)| sibling)
}

fn missing(
    subject: Subject<'_>,
    siblings: &[Sibling<'_, '_>],
    decided: &Decided,
    loaded: Option<&Sibling<'_, '_>>,
) -> Finding {
    let Decided {
        version, package, ..
    } = decided;
    let (gpu, what) = (subject.gpu_name(), subject.what());
    let message = match loaded {
        Some(sibling) => format!(
            "no code for {gpu}: `{}`, which {what} loads beside {package}, has no device code",
            file_name(&sibling.library.path)
        ),
        None => format!(
            "no code for {gpu}: {what} has no library for CUDA {}, which {package} beside it uses",
            version.major
        ),
    };
    let next_step = format!(
        "look for another version of {what} with a library for CUDA {version}, or for a build of {package} of a CUDA \
         version that it has a library for"
    );
    let mut finding = subject.finding(Code::NoKernelImage, message, next_step);
    for sibling in siblings {
        let name = file_name(&sibling.library.path);
        finding = finding.evidence(match sibling.version() {
            Some(version) => format!("`{name}` is for CUDA {version}"),
            None => format!("`{name}` is for an unknown CUDA version"),
        });
    }
    finding.evidence(format!("CUDA {}", decided.how))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Sibling<'_, '_> {
    /// The CUDA version that its name says.
    fn version(&self) -> Option<ToolkitVersion> {
        let (prefix, _) = self.row.library.split_once('*')?;
        compact(file_name(&self.library.path).strip_prefix(prefix)?)
    }
}

/// How good a sibling is: what the driver starts first; then covered and native before covered and compiled
/// before not covered; of equals the one whose toolkit asks for the oldest driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    runs: bool,
    full: bool,
    covered: bool,
    native: bool,
    oldest: std::cmp::Reverse<Option<ToolkitVersion>>,
}

impl Rank {
    fn of(one: &Judged<'_>, driver: &Driver<'_>, tables: &Tables) -> Self {
        let extent = one.coverage.extent();
        let floors = floor::of_library(one.library, Some(&one.coverage), driver, tables);
        let starts = floors
            .iter()
            .all(|floor| driver.meets(&floor.driver) != Meets::No);
        let Count { covered, .. } = one.coverage.counted();
        Self {
            runs: starts && extent != Extent::None,
            full: extent == Extent::Full,
            covered: extent != Extent::None,
            native: covered > 0 && one.coverage.jit() == 0,
            oldest: std::cmp::Reverse(one.library.toolkits.last().copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Names of wheels, and of local versions of PyTorch.
    #[test]
    fn compact_versions_have_one_digit_of_minor_version() {
        for (text, version) in [
            ("118", "11.8"),
            ("126", "12.6"),
            ("132.so", "13.2"),
            ("92", "9.2"),
            ("102", "10.2"),
            ("126_nocublaslt", "12.6"),
            ("1", "none"),
            ("12", "none"),
            ("13", "none"),
            ("12699999999", "none"),
            ("", "none"),
            ("rocm", "none"),
        ] {
            let found = compact(text).map_or_else(|| "none".to_owned(), |v| v.to_string());
            assert_eq!(found, version, "{text}");
        }
    }
}
