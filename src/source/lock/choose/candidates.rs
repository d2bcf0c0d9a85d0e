//! Which file of an index an installer takes, where the lock does not say.
//!
//! Format: PEP 440 (`==` and local versions), PEP 592 (yanked files).

use std::str::FromStr;

use pep440_rs::{Version, VersionSpecifier};

use super::super::environment::{Environment, PythonVersion};
use super::super::model::Hash;
use super::super::pick::{Pick, PickStatus, PickedFile};
use super::file::{Form, Goodness, goodness, sdist_stem};
use super::python::{Ranges, pythons_of};
use super::tags::Tags;
use crate::source::wheel::{WheelFilename, normal_name};

/// A file that an index offers for a package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// Its name, decoded.
    pub name: String,
    /// Its address.
    pub url: Option<String>,
    /// Its hash, where the index says.
    pub hash: Option<Hash>,
    /// The Python versions that it is for, as the index says: `>=3.10`.
    pub requires_python: Option<String>,
    /// Whether its publisher took it back: it is only taken where nothing else is there.
    pub yanked: bool,
    /// Bytes.
    pub size: Option<u64>,
}

impl Candidate {
    /// A file by name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            url: None,
            hash: None,
            requires_python: None,
            yanked: false,
            size: None,
        }
    }

    /// The version that its name says, where it is a wheel or a source distribution of the package called `name`.
    pub(crate) fn version_of(&self, name: &str) -> Option<Version> {
        named(self, &normal_name(name)).map(|(version, _)| version)
    }
}

impl Pick {
    /// A package of which only an index knows the file.
    pub fn ask(name: impl Into<String>, version: Option<String>) -> Self {
        Self {
            name: name.into(),
            version,
            line: 1,
            status: PickStatus::AskIndex,
            file: None,
            hashes: Vec::new(),
            index: None,
            no_binary: false,
            only_binary: false,
        }
    }
}

/// A candidate of the right version and hash.
struct Offered<'c> {
    candidate: &'c Candidate,
    version: Version,
    /// None for a source distribution.
    wheel: Option<WheelFilename>,
}

/// How good a candidate is, as pip sorts: the greater, the better.
type Key<'c> = (bool, bool, bool, &'c Version, Option<Goodness>);

/// The file of `candidates` that an installer takes for `pick`, which is [`PickStatus::AskIndex`]: of its version, with
/// one of its hashes, for the Python and the platform of `environment`; the best wheel, else the source,
/// of which `--no-binary` and `--only-binary` leave out one. The version
/// of the answer is that of the file: `==2.9.1` takes `2.9.1+cu128`. Without a Python, the newest that has a wheel.
pub fn choose_of_index(pick: &Pick, candidates: &[Candidate], environment: &Environment) -> Pick {
    let name = normal_name(&pick.name);
    let offered = candidates
        .iter()
        .filter_map(|candidate| offered(pick, &name, candidate));
    let offered: Vec<_> = offered.collect();
    let wheels = || offered.iter().filter_map(|o| o.wheel.clone());
    let pythons: Vec<Option<PythonVersion>> = if environment.python.is_some() {
        vec![environment.python]
    } else {
        let newest_first = pythons_of(&wheels().collect::<Vec<_>>(), environment);
        let newest_first = newest_first.into_iter().rev();
        newest_first.map(Some).chain([None]).collect()
    };
    let mut taken: Option<&Offered<'_>> = None;
    for python in pythons {
        taken = best(pick, &offered, environment, python).or(taken);
        if taken.is_some_and(|offered| offered.wheel.is_some()) {
            break;
        }
    }
    let status = match taken {
        Some(Offered { wheel: Some(_), .. }) => PickStatus::Wheel,
        Some(_) => PickStatus::Sdist,
        None => PickStatus::NoFile,
    };
    Pick {
        version: taken.map_or_else(|| pick.version.clone(), |o| Some(o.version.to_string())),
        status,
        file: taken.map(|offered| PickedFile {
            name: offered.candidate.name.clone(),
            url: offered.candidate.url.clone(),
            hash: offered.candidate.hash.clone(),
            size: offered.candidate.size,
            line: pick.line,
        }),
        ..pick.clone()
    }
}

/// The version of a candidate, and its parts where it is a wheel; nothing where it is of another package.
fn named(candidate: &Candidate, name: &str) -> Option<(Version, Option<WheelFilename>)> {
    let (version, wheel) = match Form::of(&candidate.name) {
        Form::Wheel(wheel) if normal_name(&wheel.name) == name => {
            (wheel.version.replace('_', "-"), Some(*wheel))
        }
        Form::Sdist => (sdist_version(&candidate.name, name)?, None),
        _ => return None,
    };
    Some((Version::from_str(&version).ok()?, wheel))
}

fn offered<'c>(pick: &Pick, name: &str, candidate: &'c Candidate) -> Option<Offered<'c>> {
    let (version, wheel) = named(candidate, name)?;
    let is_version = match &pick.version {
        Some(wanted) => {
            VersionSpecifier::equals_version(Version::from_str(wanted).ok()?).contains(&version)
        }
        None => true,
    };
    // A hash of another kind says nothing: pip downloads such a file and compares
    let of_kind = |hash: &Hash| pick.hashes.iter().any(|h| h.algorithm == hash.algorithm);
    let is_wrong = |hash: &Hash| of_kind(hash) && !pick.hashes.contains(hash);
    let is_refused = if wheel.is_some() {
        pick.no_binary
    } else {
        pick.only_binary
    };
    let fits = !is_refused && is_version && !candidate.hash.as_ref().is_some_and(is_wrong);
    fits.then_some(Offered {
        candidate,
        version,
        wheel,
    })
}

/// The version in `NAME-VERSION.tar.gz`, where the name may have dashes.
fn sdist_version(file: &str, name: &str) -> Option<String> {
    let stem = sdist_stem(file)?;
    let mut dashes = stem.match_indices('-').map(|(at, _)| at);
    dashes.find_map(|at| {
        let (before, after) = (stem.get(..at)?, stem.get(at + 1..)?);
        (normal_name(before) == name).then(|| after.to_owned())
    })
}

fn best<'o, 'c>(
    pick: &Pick,
    offered: &'o [Offered<'c>],
    environment: &Environment,
    python: Option<PythonVersion>,
) -> Option<&'o Offered<'c>> {
    let tags = Tags::new(environment, python);
    let mut best: Option<(Key<'_>, &Offered<'_>)> = None;
    for one in offered {
        // what cannot be read is not asked for, as pip does
        let range = one
            .candidate
            .requires_python
            .as_deref()
            .and_then(Ranges::parse);
        let admits = range
            .zip(python)
            .is_none_or(|(range, python)| range.admits(python));
        let good = match &one.wheel {
            Some(wheel) => goodness(&tags, wheel),
            None => None,
        };
        if !admits || one.wheel.is_some() && good.is_none() {
            continue;
        }
        let is_hashed = one
            .candidate
            .hash
            .as_ref()
            .is_some_and(|h| pick.hashes.contains(h));
        let is_release = pick.version.is_some() || !one.version.any_prerelease();
        let key = (
            is_hashed,
            !one.candidate.yanked,
            is_release,
            &one.version,
            good,
        );
        if best.as_ref().is_none_or(|(best, _)| key > *best) {
            best = Some((key, one));
        }
    }
    best.map(|(_, offered)| offered)
}
