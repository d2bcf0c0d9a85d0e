//! What is asked of a lock, and which of its packages that takes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::super::environment::Environment;
use super::super::model::{Lock, LockKind, Locked, Under, Unlocked};
use super::file::is_conda_file;
use super::markers::{Asked, Markers, Truth};
use super::python::{ChosenPython, Ranges, full_version_for, is_of_conda, of_conda, python_of};
use super::tags::Tags;
use crate::platform::{CpuArch, Os, Platform};
use crate::source::lock::without_secrets;
use crate::source::wheel::normal_name;
use crate::{Extent, Problem, ProblemKind};

/// A lock with the machine that it is installed on.
pub(super) struct Scope<'l> {
    pub(super) lock: &'l Lock,
    pub(super) environment: &'l Environment,
    pub(super) asked: Asked,
    pub(super) python: Option<ChosenPython>,
    pub(super) tags: Tags,
    /// None where the environment cannot be told to the judge of markers, which does not happen.
    markers: Option<Markers>,
    has_conflicts: bool,
    problems: RefCell<BTreeSet<Problem>>,
    untold: Cell<usize>,
}

/// Problems of one lock that are told one by one.
const TOLD: usize = 200;

impl<'l> Scope<'l> {
    pub(super) fn new(lock: &'l Lock, environment: &'l Environment) -> Self {
        let ranges = lock.requires_python.as_deref().map(Ranges::parse);
        let known = ranges.as_ref().and_then(Option::as_ref);
        let mut scope = Self {
            lock,
            environment,
            asked: asked(lock, environment),
            python: None,
            tags: Tags::new(environment, None),
            markers: None,
            has_conflicts: has_conflicts(lock),
            problems: RefCell::default(),
            untold: Cell::new(0),
        };
        let installed = scope.installed_python();
        scope.python = python_of(lock, environment, known, installed);
        let version = scope.python.map(|python| python.version);
        scope.tags = Tags::new(environment, version);
        let full = version.map(|python| (python, full_version_for(python, known)));
        scope.markers = Markers::new(environment, full);
        if let Some(text) = lock.requires_python.as_deref().map(shortened) {
            let refused = known
                .zip(version)
                .is_some_and(|(r, python)| !r.admits(python));
            if let Some(python) = version.filter(|_| refused) {
                let detail = format!(
                    "the lock is for Python {text}, and an installer refuses it for {python}"
                );
                scope.say(Extent::Artifact, &detail);
            } else if known.is_none() {
                scope.say(
                    Extent::Part,
                    &format!("`{text}` is no range of Python versions"),
                );
            }
        }
        scope.check_names();
        scope.check_supported();
        scope
    }

    /// Whether the lock is for such a machine at all.
    fn check_supported(&self) {
        let markers = &self.lock.supported_markers;
        let holds = |marker: &String| self.holds(Some(marker), &self.asked, 1, "everything");
        if !markers.is_empty() && !markers.iter().any(holds) {
            let detail = "the lock is not for such a machine, and an installer refuses it there";
            self.say(Extent::Artifact, detail);
        }
    }

    /// The Python that the lock itself installs.
    fn installed_python(&self) -> Option<super::PythonVersion> {
        let of_package = |package: &Locked| {
            let file = package
                .files
                .iter()
                .find(|file| is_conda_file(&file.name))?;
            of_conda(package.version.as_deref()?, &file.name)
        };
        let mut packages = self.lock.packages.iter().filter(|package| {
            is_of_conda(self.lock.kind) && package.name == "python" && self.is_in_place(package)
        });
        packages.find_map(of_package)
    }

    /// Names that the user asks for and the lock does not have: installers refuse them.
    fn check_names(&self) {
        let no_names = matches!(
            self.lock.kind,
            LockKind::Explicit | LockKind::Requirements | LockKind::CondaEnvironment
        );
        if let (LockKind::Pixi, Some(named)) = (self.lock.kind, &self.environment.named)
            && !self.lock.environments.contains(named)
        {
            self.say(
                Extent::Artifact,
                &format!("there is no environment `{named}`"),
            );
        }
        if no_names || is_of_conda(self.lock.kind) && self.lock.kind != LockKind::CondaLock {
            return;
        }
        let mut extras: BTreeSet<String> = BTreeSet::new();
        let mut groups: BTreeSet<String> = BTreeSet::new();
        extras.extend(self.lock.extras.iter().map(|name| normal_name(name)));
        groups.extend(self.lock.groups.iter().map(|name| normal_name(name)));
        groups.extend(
            self.lock
                .default_groups
                .iter()
                .map(|name| normal_name(name)),
        );
        let edges = self.lock.packages.iter().flat_map(|p| &p.dependencies);
        for under in edges
            .chain(self.lock.roots.iter().flatten())
            .filter_map(|d| d.under.as_ref())
        {
            match under {
                Under::Extra(name) => extras.insert(normal_name(name)),
                Under::Group(name) => groups.insert(normal_name(name)),
            };
        }
        for package in &self.lock.packages {
            extras.extend(
                package
                    .condition
                    .extras
                    .iter()
                    .map(|name| normal_name(name)),
            );
            groups.extend(
                package
                    .condition
                    .groups
                    .iter()
                    .map(|name| normal_name(name)),
            );
        }
        let is_pdm = self.lock.kind == LockKind::Pdm;
        for extra in &self.environment.extras {
            let name = normal_name(extra);
            if !(extras.contains(&name) || is_pdm && groups.contains(&name)) {
                self.say(Extent::Part, &format!("there is no extra `{extra}`"));
            }
        }
        for group in &self.environment.groups {
            if !groups.contains(&normal_name(group)) {
                self.say(Extent::Part, &format!("there is no group `{group}`"));
            }
        }
    }

    /// Whether edges have the conflict markers of uv.
    pub(super) fn has_conflicts(&self) -> bool {
        self.has_conflicts
    }

    /// Whether a marker holds; one that cannot be judged is a problem and holds.
    pub(super) fn holds(&self, marker: Option<&str>, asked: &Asked, line: u32, name: &str) -> bool {
        let Some((marker, markers)) = marker.zip(self.markers.as_ref()) else {
            return true;
        };
        let why = match markers.evaluate(marker, asked) {
            Ok(Truth::Holds) => return true,
            Ok(Truth::Fails) => return false,
            Ok(Truth::Unknown) => "it depends on what is not known of the machine".to_owned(),
            Err(error) => error.to_string(),
        };
        let marker = shortened(marker);
        self.problem(
            line,
            &format!("`{marker}`: {why}; `{name}` is taken as installed"),
        );
        true
    }

    /// Whether a requirement without an exact version is one of this machine.
    pub(super) fn asks_for(&self, unlocked: &Unlocked) -> bool {
        let Unlocked { text, line, marker } = unlocked;
        self.holds(marker.as_deref(), &self.asked, *line, text)
    }

    /// Whether the conditions of a package hold, with what was asked.
    pub(super) fn applies(&self, package: &Locked, asked: &Asked) -> bool {
        let condition = &package.condition;
        let marker = condition.marker.as_deref();
        self.is_in_place(package)
            && is_asked(&condition.groups, &asked.groups)
            && is_asked(&condition.extras, &asked.extras)
            && !self.is_left_out(package)
            && self.holds(marker, asked, package.line, &package.name)
    }

    /// Whether it is for the conda subdir of the machine and the environment of the lock that is asked for.
    fn is_in_place(&self, package: &Locked) -> bool {
        let condition = &package.condition;
        let named = self.environment.named.as_deref().unwrap_or("default");
        let subdir = conda_subdir(self.environment.platform);
        let is_here = |subdirs: &[String]| subdirs.iter().any(|s| s == subdir || s == "noarch");
        (condition.subdirs.is_empty() || is_here(&condition.subdirs))
            && (condition.environments.is_empty()
                || condition.environments.iter().any(|e| e == named))
    }

    /// Whether it is optional; where extras are asked for, it may be for one of them.
    fn is_left_out(&self, package: &Locked) -> bool {
        let optional = package.condition.optional;
        if optional && !self.environment.extras.is_empty() {
            let detail = format!(
                "the lock does not say for which extra `{}` is",
                package.name
            );
            self.problem(package.line, &detail);
            return false;
        }
        optional
    }

    /// Whether the package's own `requires-python` admits the machine's.
    pub(super) fn admits(&self, package: &Locked) -> bool {
        let Some((text, python)) = package
            .condition
            .requires_python
            .as_deref()
            .zip(self.python)
        else {
            return true;
        };
        let Some(ranges) = Ranges::parse(text) else {
            let detail = format!("`{}` is no range of Python versions", shortened(text));
            self.problem(package.line, &detail);
            return true;
        };
        ranges.admits(python.version)
    }

    /// A problem of a line.
    pub(super) fn problem(&self, line: u32, detail: &str) {
        self.say(Extent::Part, &format!("line {line}: {detail}"));
    }

    fn say(&self, extent: Extent, detail: &str) {
        let problem = self.told(extent, without_secrets(detail));
        let mut problems = self.problems.borrow_mut();
        if problems.len() < TOLD {
            problems.insert(problem);
        } else if !problems.contains(&problem) {
            self.untold.set(self.untold.get() + 1);
        }
    }

    fn told(&self, extent: Extent, detail: String) -> Problem {
        let at = self.lock.at.clone();
        Problem::new(ProblemKind::MalformedLock, at, extent, detail)
    }

    /// The problems, sorted; how many more there are is the last.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let untold = self.untold.get();
        let more = format!("there are {untold} more of these problems");
        let more = (untold > 0).then(|| self.told(Extent::Part, more));
        self.problems.into_inner().into_iter().chain(more).collect()
    }
}

/// Whether nothing is asked for or one of the names is.
fn is_asked(names: &[String], asked: &BTreeSet<String>) -> bool {
    names.is_empty() || names.iter().any(|name| asked.contains(&normal_name(name)))
}

fn asked(lock: &Lock, environment: &Environment) -> Asked {
    let normal = |names: &[String]| -> BTreeSet<String> {
        names.iter().map(|name| normal_name(name)).collect()
    };
    let mut asked = Asked {
        extras: normal(&environment.extras),
        groups: normal(&environment.groups),
    };
    asked.groups.extend(normal(&lock.default_groups));
    // These have no extras of their own: `--group` takes both
    if lock.kind == LockKind::Pdm {
        asked.groups.extend(normal(&environment.extras));
    }
    asked
}

fn has_conflicts(lock: &Lock) -> bool {
    let edges = lock
        .packages
        .iter()
        .flat_map(|package| &package.dependencies);
    let mut edges = edges.chain(lock.roots.iter().flatten());
    lock.kind == LockKind::Uv
        && edges.any(|edge| edge.marker.as_deref().is_some_and(|m| m.contains("extra")))
}

/// The name of a platform among conda's; it is not checked against a channel.
fn conda_subdir(platform: Platform) -> &'static str {
    match (platform.os, platform.arch) {
        (Os::Linux, CpuArch::Amd64) => "linux-64",
        (Os::Linux, CpuArch::Arm64) => "linux-aarch64",
        (Os::Linux, CpuArch::I386) => "linux-32",
        (Os::Linux, CpuArch::Ppc64le) => "linux-ppc64le",
        (Os::Windows, CpuArch::Arm64) => "win-arm64",
        (Os::Windows, CpuArch::I386) => "win-32",
        (Os::Windows, _) => "win-64",
        (Os::MacOs, CpuArch::Arm64) => "osx-arm64",
        (Os::MacOs, _) => "osx-64",
    }
}

/// The beginning of a text without its secrets, for messages.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 160;
    let text = &without_secrets(text);
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
