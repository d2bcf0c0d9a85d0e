//! The verdict: an inventory judged against a policy, with the reason, the evidence and the next step.
//!
//! A pure function of inventory, policy, tables and today's date: no I/O, no clock. The rules of what runs
//! where are in `compat`, the states of fatbins (`RULES.md`) in `state`; what counts is in `coverage` and
//! `package`.
//!
#![doc = include_str!("SEMANTICS.md")]

mod artifact;
mod baseline;
mod closure;
pub mod compare;
mod compilers;
mod conda;
mod coverage;
mod drivers;
mod finding;
mod floor;
mod glibc;
pub mod image;
mod judge;
mod kernels;
mod lock;
mod of_image;
mod package;
mod python;
mod rows;
mod runs;
mod siblings;
mod state;
#[cfg(test)]
mod tests;
mod units;
mod unused;
mod waive;
mod weights;
mod words;

use std::collections::BTreeMap;

use crate::cuda::DriverSpec;
use crate::inventory::{Artifact, ArtifactKind, Fetched, Hidden, Inventory, LockFacts, Seen};
use crate::policy::{Date, Policy, normal_package};
use crate::problem::Problem;
use crate::rule::Level;
use crate::tables::{Origin, Tables};

use judge::Judge;

pub use artifact::is_without_cuda;
pub(crate) use artifact::megabytes;
pub use baseline::Baseline;
pub use drivers::branch_on;
pub use finding::{Finding, FromLayer, PackageName, WaivedBy};
pub use floor::{Floor, Mechanism, RuntimeVersion};
pub use kernels::{Missing, MissingKernels};
pub use lock::environment;
pub(crate) use rows::RowIndex;
pub use runs::{FatbinsOnGpu, LibraryOnGpu, OnGpu, Runs, fatbins};
pub use state::State;
pub use weights::{Weight, weights};

/// The result for something: worse is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing was found that the policy denies, and everything was read.
    Pass,
    /// Something could not be read, and nothing else failed.
    Incomplete,
    /// The policy denies something.
    Fail,
}

impl Verdict {
    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Incomplete => "incomplete",
            Self::Fail => "fail",
        }
    }

    /// The exit status of a check that ends so. It is [`Self::CANNOT_JUDGE`] where nothing was read.
    pub const fn status(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::Incomplete => 3,
        }
    }

    /// The exit status where nothing could be judged.
    pub const CANNOT_JUDGE: u8 = 2;

    /// What a finding of `level` makes of its subject.
    pub(crate) fn of_level(level: Level, fail_on_warn: bool) -> Self {
        match level {
            Level::Deny => Self::Fail,
            Level::Warn if fail_on_warn => Self::Fail,
            Level::Incomplete => Self::Incomplete,
            Level::Warn | Level::Allow => Self::Pass,
        }
    }
}

/// One cell of the matrix: a package of an artifact on a fleet target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The artifact: an index into the inventory.
    pub artifact: usize,
    /// The package; none for what no package owns.
    pub package: Option<PackageName>,
    /// The fleet target, by name.
    pub target: String,
    /// The result.
    pub verdict: Verdict,
    /// What each GPU of the target gets of its device code, in the order of the policy.
    pub gpus: Vec<OnGpu>,
    /// The highest floor of its drivers, where one is known.
    pub minimum_driver: Option<Floor>,
    /// The driver of the target, where it is older than that.
    pub driver_below: Option<DriverSpec>,
    /// Whether the package has device code of its own that a GPU could load.
    pub has_device_code: bool,
    /// Whether it has code of its own of which a GPU could load none by itself: relocatable, or without kernels.
    pub has_unloadable_code: bool,
    /// Whether it carries device code of NVIDIA's libraries.
    pub has_foreign_code: bool,
    /// Whether it compiles device code at run time, with a compiler that it carries or another; a note says with which.
    pub compiles: bool,
    /// Remarks that are no findings, such as from which version of a branch on it runs.
    pub notes: Vec<String>,
}

/// An artifact as reports name it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judged {
    /// The input as the user named it.
    pub input: String,
    /// The package that it is, by name and version, where it is one.
    pub package: Option<PackageName>,
    /// What it is.
    pub kind: ArtifactKind,
    /// The worst of what is said of it.
    pub verdict: Verdict,
    /// How much was looked at.
    pub seen: Seen,
    /// What of it was fetched, where it is a file at an address.
    pub fetched: Option<Fetched>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Files with device code that later layers of an image removed or replaced.
    pub hidden: Vec<Hidden>,
    /// What it is as a lock file, where it is one.
    pub lock: Option<Box<LockFacts>>,
}

/// Everything that a report needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The worst of all.
    pub verdict: Verdict,
    /// The name of the policy.
    pub policy: String,
    /// The tables by which it was judged.
    pub tables: Origin,
    /// Whether warnings fail too.
    pub fail_on_warn: bool,
    /// The artifacts, in the order of the command line.
    pub artifacts: Vec<Judged>,
    /// The results, by artifact, package and target in the order of the policy.
    pub matrix: Vec<Row>,
    /// The findings, waived ones too.
    pub findings: Vec<Finding>,
    /// The kernels for which a GPU finds no code, by artifact, package, target, GPU and library; none where the
    /// inventory has no names of kernels.
    pub missing_kernels: Option<Vec<MissingKernels>>,
}

impl Row {
    /// What the GPU of the target gets that gets least; nothing where the package has no code of its own that a GPU
    /// could load.
    pub fn runs(&self) -> Option<Runs> {
        self.gpus.iter().filter_map(|on| on.runs).max()
    }
}

impl Evaluation {
    /// Whether its targets were given one by one, not by a policy.
    pub fn has_targets_by_hand(&self) -> bool {
        self.policy == Policy::BY_HAND
    }
}

/// How to judge.
#[derive(Debug, Clone, Copy)]
pub struct EvaluateOptions {
    /// The day on which waivers are judged.
    pub today: Date,
    /// Whether warnings fail too.
    pub fail_on_warn: bool,
}

/// Judges `inventory` against `policy`.
pub fn evaluate(
    inventory: &Inventory,
    policy: &Policy,
    tables: &Tables,
    options: EvaluateOptions,
) -> Evaluation {
    evaluate_new(inventory, policy, tables, options, None)
}

/// Judges `inventory` against `policy`; findings that are in `baseline` are accepted.
pub fn evaluate_new(
    inventory: &Inventory,
    policy: &Policy,
    tables: &Tables,
    options: EvaluateOptions,
    baseline: Option<&Baseline>,
) -> Evaluation {
    let mut findings = Vec::new();
    let mut matrix = Vec::new();
    let mut missing = Vec::new();
    let mut releases: BTreeMap<Release<'_>, Vec<&Artifact>> = BTreeMap::new();
    for artifact in &inventory.artifacts {
        if let Some(release) = release(artifact) {
            releases.entry(release).or_default().push(artifact);
        }
    }
    for (index, artifact) in inventory.artifacts.iter().enumerate() {
        let judge = Judge {
            index,
            artifact,
            policy,
            tables,
            of_same_input: of_same_input(&inventory.artifacts, index),
            of_same_name: release(artifact)
                .and_then(|release| releases.get(&release))
                .map_or(&[], Vec::as_slice),
        };
        judge.artifact(&mut findings, &mut matrix, &mut missing);
    }
    findings.extend(unused::scopes(policy, inventory, &findings));
    waive::apply(policy, options.today, &mut findings);
    let order: BTreeMap<&str, usize> = policy
        .targets
        .iter()
        .enumerate()
        .map(|(index, target)| (target.name.as_str(), index))
        .collect();
    findings.sort_by_cached_key(|finding| sort_key(finding, &order));
    let titled = inventory.artifacts.iter().zip(inventory.titles());
    let artifacts = titled.map(|(artifact, title)| Judged {
        input: title,
        package: artifact.name.clone().map(|name| PackageName {
            name,
            version: artifact.version.clone(),
        }),
        kind: artifact.kind,
        verdict: Verdict::Pass,
        seen: artifact.seen,
        fetched: artifact.fetched.clone(),
        problems: artifact.problems.clone(),
        hidden: artifact
            .image
            .as_ref()
            .map_or_else(Vec::new, |image| image.hidden.clone()),
        lock: artifact.lock.clone(),
    });
    let mut artifacts: Vec<Judged> = artifacts.collect();
    if let Some(baseline) = baseline {
        // in the order of reports, so that of several the first are the known ones
        baseline.apply(policy, &artifacts, &mut findings);
    }
    let mut verdict = Verdict::Pass;
    let rows = RowIndex::new(&matrix);
    let mut of_rows = vec![Verdict::Pass; matrix.len()];
    for finding in findings.iter().filter(|finding| finding.counts()) {
        let result = Verdict::of_level(finding.level, options.fail_on_warn);
        verdict = verdict.max(result);
        let about = finding.artifact.and_then(|index| artifacts.get_mut(index));
        if let Some(judged) = about {
            judged.verdict = judged.verdict.max(result);
        }
        for index in rows.concerned(finding) {
            if let Some(of_row) = of_rows.get_mut(index) {
                *of_row = result.max(*of_row);
            }
        }
    }
    for (row, of_row) in matrix.iter_mut().zip(of_rows) {
        row.verdict = of_row;
    }
    // a policy may accept that a part was not read, but not that nothing was
    for (index, artifact) in inventory.artifacts.iter().enumerate() {
        if artifact.is_unread() {
            verdict = verdict.max(Verdict::Incomplete);
            if let Some(judged) = artifacts.get_mut(index) {
                judged.verdict = judged.verdict.max(Verdict::Incomplete);
            }
            for row in matrix.iter_mut().filter(|row| row.artifact == index) {
                row.verdict = row.verdict.max(Verdict::Incomplete);
            }
        }
    }
    // nobody said what the machine that checks has
    let unknown = policy
        .targets
        .iter()
        .filter(|target| target.gpus.is_empty());
    for target in unknown {
        verdict = verdict.max(Verdict::Incomplete);
        for judged in &mut artifacts {
            judged.verdict = judged.verdict.max(Verdict::Incomplete);
        }
        for row in matrix.iter_mut().filter(|row| row.target == target.name) {
            row.verdict = row.verdict.max(Verdict::Incomplete);
        }
    }
    Evaluation {
        verdict,
        policy: policy.origin().to_owned(),
        tables: tables.origin(),
        fail_on_warn: options.fail_on_warn,
        artifacts,
        matrix,
        findings,
        missing_kernels: inventory.has_kernels().then_some(missing),
    }
}

/// A release of a package: its normal name and its version.
type Release<'a> = (String, Option<&'a str>);

/// The release that a wheel is a file of.
fn release(artifact: &Artifact) -> Option<Release<'_>> {
    let name = artifact.name.as_deref()?;
    let is_wheel = artifact.kind == ArtifactKind::Wheel;
    is_wheel.then(|| (normal_package(name), artifact.version.as_deref()))
}

/// The artifact at `index` and, where it is an image, those of the same name for other platforms, side by side.
fn of_same_input(artifacts: &[Artifact], index: usize) -> &[Artifact] {
    let names = |artifact: &Artifact| artifact.image.as_ref().map(|image| image.names.clone());
    let same = |other: &Artifact| {
        artifacts.get(index).is_some_and(|one| {
            one.image.is_some() && other.input == one.input && names(other) == names(one)
        })
    };
    let first = artifacts.iter().position(same);
    let first = first.unwrap_or(index).min(index);
    let rest = artifacts.get(first..).unwrap_or_default();
    let count = rest.iter().take_while(|other| same(other)).count();
    rest.get(..count).unwrap_or_default()
}

/// The order of reports: artifact, package, level, library, code, target in the order of the policy.
fn sort_key(finding: &Finding, order: &BTreeMap<&str, usize>) -> impl Ord + use<> {
    (
        finding.artifact.unwrap_or(usize::MAX),
        finding.package.clone(),
        std::cmp::Reverse(finding.level),
        finding.library.clone(),
        finding.code,
        finding
            .target
            .as_deref()
            .and_then(|target| order.get(target))
            .copied(),
        finding.gpu.clone(),
        finding.message.clone(),
    )
}
