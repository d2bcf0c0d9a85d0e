//! What an installer would put on a machine, of a lock file.
//!
//! Responsible for the conditions of packages, the walk over their dependencies, and the file of each: the best of its
//! wheels, else its source. What cannot be decided is a problem, and the package is taken as installed.

mod candidates;
mod file;
mod markers;
mod python;
mod scope;
mod tags;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

pub use candidates::{Candidate, choose_of_index};
pub use python::{ChosenPython, PythonFrom};

use self::file::{Best, Form, best, is_conda_file};
use self::python::is_of_conda;
use self::scope::Scope;
use super::environment::{Environment, PythonVersion};
use super::model::{Lock, LockKind, Locked, LockedFile, Origin, Unlocked};
use super::pick::{Pick, PickStatus, PickedFile};
use crate::Problem;
use crate::source::lock::without_secrets;
use crate::source::wheel::normal_name;

/// What one environment gets of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chosen {
    /// One for each package that is installed, by line. The project itself and members of its workspace are not
    /// among them.
    pub picks: Vec<Pick>,
    /// Requirements without an exact version.
    pub unlocked: Vec<Unlocked>,
    /// What could not be decided, sorted.
    pub problems: Vec<Problem>,
    /// The Python that it was decided for; none where nobody says and no wheel names one.
    pub python: Option<ChosenPython>,
}

/// What an installer would put on the machine of `environment`.
pub fn choose(lock: &Lock, environment: &Environment) -> Chosen {
    let scope = Scope::new(lock, environment);
    let reached = lock
        .roots
        .as_deref()
        .map(|roots| walk::reached(&scope, roots));
    // uv goes by the edges alone: the markers of its packages say for which forks they were resolved
    let by_edges = lock.kind == LockKind::Uv && reached.is_some();
    let packages = lock.packages.iter().enumerate().filter(|(at, package)| {
        reached.as_ref().is_none_or(|reached| reached.contains(at))
            && (by_edges || scope.applies(package, &scope.asked))
    });
    let packages: Vec<&Locked> = packages.map(|(_, package)| package).collect();
    let mut picks: Vec<Pick> = admitted(&scope, &packages)
        .into_iter()
        .filter_map(|package| pick(&scope, package))
        .collect();
    picks.sort_by(|one, other| (one.line, &one.name).cmp(&(other.line, &other.name)));
    let picks = once_each(&scope, picks);
    let unlocked = lock.unlocked.iter();
    let unlocked = unlocked
        .filter(|unlocked| scope.asks_for(unlocked))
        .cloned();
    Chosen {
        picks,
        unlocked: unlocked.collect(),
        python: scope.python,
        problems: scope.into_problems(),
    }
}

/// The packages that admit the Python. poetry and pdm tell two versions of one package apart by it; other installers
/// refuse the lock.
fn admitted<'l>(scope: &Scope<'l>, packages: &[&'l Locked]) -> Vec<&'l Locked> {
    let selects = matches!(scope.lock.kind, LockKind::Pdm | LockKind::Poetry);
    let (mut kept, refused): (Vec<&Locked>, Vec<&Locked>) =
        packages.iter().partition(|package| scope.admits(package));
    let names: BTreeSet<_> = kept
        .iter()
        .map(|package| normal_name(&package.name))
        .collect();
    for package in refused {
        if selects && names.contains(&normal_name(&package.name)) {
            continue;
        }
        let range = package
            .condition
            .requires_python
            .as_deref()
            .unwrap_or_default();
        let detail = format!(
            "`{}` is for Python {}",
            package.name,
            scope::shortened(range)
        );
        scope.problem(package.line, &detail);
        kept.push(package);
    }
    kept
}

fn pick(scope: &Scope<'_>, package: &Locked) -> Option<Pick> {
    let (status, file) = match &package.origin {
        Origin::Project => return None,
        Origin::Vcs(_) => (PickStatus::Vcs, None),
        Origin::Directory(_) => (PickStatus::Directory, None),
        Origin::Url => of_its_own(scope, package, PickStatus::Url),
        Origin::File(_) => of_its_own(scope, package, PickStatus::File),
        Origin::Index => of_index(scope, package),
    };
    let options = &scope.lock.options;
    Some(Pick {
        name: without_secrets(&package.name),
        version: package.version.as_deref().map(without_secrets),
        line: package.line,
        status,
        file: file.map(PickedFile::from),
        hashes: package.hashes.clone(),
        index: package.index.clone(),
        no_binary: names(&options.no_binary, &options.only_binary, &package.name),
        only_binary: names(&options.only_binary, &options.no_binary, &package.name),
    })
}

/// Whether an option of pip is for a package: names come before the `:all:` of the other one (`FormatControl`).
fn names(option: &BTreeSet<String>, other: &BTreeSet<String>, name: &str) -> bool {
    let name = normal_name(name);
    option.contains(&name) || option.contains(":all:") && !other.contains(&name)
}

/// A file with its own address: a wheel that does not fit is refused, anything else is taken.
fn of_its_own<'l>(
    scope: &Scope<'_>,
    package: &'l Locked,
    status: PickStatus,
) -> (PickStatus, Option<&'l LockedFile>) {
    // wherever it lies, what conda installs is a conda package
    if let Some(file) = of_conda(scope, package) {
        return (PickStatus::Conda, Some(file));
    }
    match best(&scope.tags, &package.files) {
        Best::Wheel(file) | Best::Sdist(file) => (status, Some(file)),
        Best::Nothing(_) => {
            let is_wheel = |file: &&LockedFile| matches!(Form::of(&file.name), Form::Wheel(_));
            if package.files.iter().any(|file| is_wheel(&file)) {
                (PickStatus::NoFile, None)
            } else {
                (status, package.files.first())
            }
        }
    }
}

/// The file of a conda package; none for another package, a wheel beside conda packages for one.
fn of_conda<'l>(scope: &Scope<'_>, package: &'l Locked) -> Option<&'l LockedFile> {
    let mut files = package.files.iter();
    files.find(|file| is_of_conda(scope.lock.kind) && is_conda_file(&file.name))
}

fn of_index<'l>(scope: &Scope<'_>, package: &'l Locked) -> (PickStatus, Option<&'l LockedFile>) {
    if package.files.is_empty() {
        return (PickStatus::AskIndex, None);
    }
    if let Some(file) = of_conda(scope, package) {
        return (PickStatus::Conda, Some(file));
    }
    match best(&scope.tags, &package.files) {
        Best::Wheel(file) => (PickStatus::Wheel, Some(file)),
        Best::Sdist(file) => (PickStatus::Sdist, Some(file)),
        Best::Nothing(bad) => {
            if let Some(file) = bad {
                let name = scope::shortened(&file.name);
                scope.problem(file.line, &format!("`{name}` is no name of a wheel"));
            }
            (PickStatus::NoFile, None)
        }
    }
}

/// Leaves the first of what is listed twice; an installer never installs two versions of one package.
fn once_each(scope: &Scope<'_>, picks: Vec<Pick>) -> Vec<Pick> {
    let mut firsts: BTreeMap<(String, bool), (Option<String>, u32)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for pick in picks {
        let is_conda = pick.status == PickStatus::Conda;
        // conda has `typing-extensions` and `typing_extensions`
        let name = if is_conda {
            pick.name.clone()
        } else {
            normal_name(&pick.name)
        };
        let name = (name, is_conda);
        let file = pick.file.as_ref();
        let place = (
            file.map(|file| (file.name.clone(), file.url.clone())),
            pick.index.clone(),
        );
        if !seen.insert((name.clone(), pick.version.clone(), pick.status, place)) {
            continue;
        }
        let this = (pick.version.clone(), pick.line);
        if let Some((other, line)) = firsts.get(&name) {
            let shown = |version: &Option<String>| version.clone().unwrap_or("?".to_owned());
            let detail = format!(
                "both {} (line {line}) and {} of `{}` would be installed: the lock does not tell which",
                shown(other),
                shown(&pick.version),
                pick.name
            );
            scope.problem(pick.line, &detail);
        } else {
            firsts.insert(name, this);
        }
        kept.push(pick);
    }
    kept
}
