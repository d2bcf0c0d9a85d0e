//! Which Python the machine has, and which versions a `requires-python` admits.
//!
//! Format: PEP 440 (specifiers), and the `^3.10`, `~3.10` and `||` of poetry.

use std::collections::BTreeMap;
use std::str::FromStr;

use pep440_rs::{Version, VersionSpecifiers};

use super::super::environment::{Environment, PythonVersion};
use super::super::model::{Lock, LockKind};
use super::tags::{Tags, version_of};
use crate::source::wheel::WheelFilename;

/// The Python that files were chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ChosenPython {
    /// Its version.
    pub version: PythonVersion,
    /// Who says so.
    pub from: PythonFrom,
}

/// Who says which Python the machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PythonFrom {
    /// The lock installs it: the conda package `python`, whatever was asked.
    Package,
    /// The user.
    Asked,
    /// The oldest that the lock's `requires-python` admits.
    RequiresPython,
    /// The newest for which most packages have wheels.
    Wheels,
}

/// The last number of a version of which the user says only `3.12`. Machines are kept up to date within a minor
/// version, so it is a late one: `python_full_version < '3.12.4'` does not hold, `>= '3.12.4'` does.
const LATE: u64 = 99;

/// Versions of Python that are admitted: those of any of the alternatives.
#[derive(Debug)]
pub(super) struct Ranges(Vec<VersionSpecifiers>);

impl Ranges {
    /// Reads `>=3.10,<3.13`, and poetry's `^3.10 || ~3.8`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let alternatives = text.split("||").map(|alternative| {
            let clauses = alternative.split(',').map(clause);
            let clauses: Vec<_> = clauses.collect::<Option<_>>()?;
            let clauses: Vec<_> = clauses.into_iter().filter(|c| !c.is_empty()).collect();
            VersionSpecifiers::from_str(&clauses.join(",")).ok()
        });
        alternatives.collect::<Option<_>>().map(Self)
    }

    /// The full version with which `python` is admitted: with a late last number, else the last one that is; none
    /// where no one is.
    pub(super) fn full_version(&self, python: PythonVersion) -> Option<Version> {
        (0..=LATE)
            .rev()
            .map(|patch| full_version(python, patch))
            .find(|version| self.0.iter().any(|any| any.contains(version)))
    }

    pub(super) fn admits(&self, python: PythonVersion) -> bool {
        self.full_version(python).is_some()
    }

    /// The oldest Python 3 that is admitted; none where nothing newer than 3.0 is asked.
    fn oldest(&self) -> Option<PythonVersion> {
        let mut versions = (0..100).map(|minor| PythonVersion {
            major: 3,
            minor,
            free_threaded: false,
        });
        versions
            .find(|python| self.admits(*python))
            .filter(|python| python.minor > 0)
    }
}

/// One clause in the words of PEP 440, empty for every version.
fn clause(text: &str) -> Option<String> {
    let text = text.trim();
    let release = |text: &str| {
        Version::from_str(text.trim())
            .ok()
            .map(|v| v.release().to_vec())
    };
    if let Some(version) = text.strip_prefix('^') {
        let release = release(version)?;
        return Some(format!(">={},<{}", version.trim(), release.first()? + 1));
    }
    if let Some(version) = text.strip_prefix('~').filter(|v| !v.starts_with('=')) {
        let below = match *release(version)? {
            [major] => format!("{}", major + 1),
            [major, minor, ..] => format!("{major}.{}", minor + 1),
            [] => return None,
        };
        return Some(format!(">={},<{below}", version.trim()));
    }
    if text == "*" {
        return Some(String::new());
    }
    let bare = text.starts_with(|c: char| c.is_ascii_digit());
    Some(if bare {
        format!("=={text}")
    } else {
        text.to_owned()
    })
}

fn full_version(python: PythonVersion, patch: u64) -> Version {
    Version::new([u64::from(python.major), u64::from(python.minor), patch])
}

/// The full version that markers see: one that `ranges` admit, where one does.
pub(super) fn full_version_for(python: PythonVersion, ranges: Option<&Ranges>) -> Version {
    ranges
        .and_then(|ranges| ranges.full_version(python))
        .unwrap_or_else(|| full_version(python, LATE))
}

/// The Python of the machine; none where nobody says and no wheel is for one Python.
pub(super) fn python_of(
    lock: &Lock,
    environment: &Environment,
    ranges: Option<&Ranges>,
    installed: Option<PythonVersion>,
) -> Option<ChosenPython> {
    let chosen = |version, from| ChosenPython { version, from };
    let from = |python: Option<PythonVersion>, from| python.map(|version| chosen(version, from));
    from(installed, PythonFrom::Package)
        .or_else(|| from(environment.python, PythonFrom::Asked))
        .or_else(|| from(ranges.and_then(Ranges::oldest), PythonFrom::RequiresPython))
        .or_else(|| {
            let names = lock.packages.iter().map(|package| {
                let names = package.files.iter().map(|file| file.name.as_str());
                names.collect::<Vec<_>>()
            });
            from(most_wheels(names, environment), PythonFrom::Wheels)
        })
}

/// Versions of Python of which the wheels are counted, from the newest on; each costs a look at all files.
const MOST_PYTHONS: usize = 24;

/// The Python for which most of the packages have a wheel on the platform, the newest of these. A package is the
/// names of its files.
fn most_wheels<'f>(
    packages: impl Iterator<Item = Vec<&'f str>>,
    environment: &Environment,
) -> Option<PythonVersion> {
    let mut counts: BTreeMap<PythonVersion, usize> = BTreeMap::new();
    let packages: Vec<Vec<WheelFilename>> = packages
        .map(|names| names.iter().filter_map(|name| name.parse().ok()).collect())
        .collect();
    for wheels in &packages {
        for python in pythons_of(wheels, environment) {
            counts.entry(python).or_default();
        }
    }
    for (python, count) in counts.iter_mut().rev().take(MOST_PYTHONS) {
        let tags = Tags::new(environment, Some(*python));
        let has_wheel =
            |wheels: &&Vec<WheelFilename>| wheels.iter().any(|w| tags.rank(w).is_some());
        *count = packages.iter().filter(has_wheel).count();
    }
    let best = counts
        .into_iter()
        .max_by_key(|(python, count)| (*count, *python));
    best.map(|(python, _)| python)
}

/// The Python versions that wheels for the platform of `environment` name, sorted: `cp312` is 3.12.
pub(super) fn pythons_of(
    wheels: &[WheelFilename],
    environment: &Environment,
) -> Vec<PythonVersion> {
    let tags = Tags::new(environment, None);
    let fitting = wheels.iter().filter(|wheel| tags.has_platform_of(wheel));
    let mut pythons: Vec<_> = fitting
        .flat_map(|wheel| wheel.python.split('.'))
        .filter_map(|tag| {
            let (major, minor) = version_of(tag.strip_prefix("cp")?)?;
            (major == 3).then_some(PythonVersion {
                major,
                minor,
                free_threaded: false,
            })
        })
        .collect();
    pythons.sort_unstable();
    pythons.dedup();
    pythons
}

/// The Python that a conda package `python` of this version and file name installs.
pub(super) fn of_conda(version: &str, file: &str) -> Option<PythonVersion> {
    let mut parts = version.split('.');
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let free_threaded = file.contains(&format!("_cp{major}{minor}t"));
    Some(PythonVersion {
        major,
        minor,
        free_threaded,
    })
}

/// Whether a lock of this kind may install Python itself.
pub(super) fn is_of_conda(kind: LockKind) -> bool {
    matches!(
        kind,
        LockKind::CondaLock | LockKind::Explicit | LockKind::Pixi
    )
}
