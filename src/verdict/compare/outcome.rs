//! What two evaluations say of the same packages on the same targets.

use std::collections::{BTreeMap, BTreeSet};

use crate::policy::normal_package;
use crate::rule::{Code, Level};
use crate::verdict::{Evaluation, Finding, Floor, PackageName, Verdict};

use super::content::{Key, library_stem};
use super::pairs::Two;

/// A package on a target, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The package; none for what no package owns.
    pub package: Option<String>,
    /// The target, by name.
    pub target: String,
    /// What it was; nothing where the package was not there.
    pub before: Option<Standing>,
    /// What it is; nothing where the package is not there any more.
    pub after: Option<Standing>,
}

/// How a package stands on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The verdict.
    pub verdict: Verdict,
    /// The highest floor of its drivers, where one is known.
    pub minimum_driver: Option<Floor>,
}

impl Outcome {
    /// Whether it fails and did not before.
    pub fn is_worse(&self) -> bool {
        let fails = |standing: &Option<Standing>| {
            let standing = standing.as_ref();
            standing.is_some_and(|standing| standing.verdict == Verdict::Fail)
        };
        fails(&self.after) && !fails(&self.before)
    }

    /// Whether the verdict is another one. Where a package is new or gone, only one that does not pass tells anything.
    pub fn is_changed(&self) -> bool {
        let verdict = |standing: &Option<Standing>| {
            let standing = standing.as_ref();
            standing.map_or(Verdict::Pass, |standing| standing.verdict)
        };
        verdict(&self.before) != verdict(&self.after)
    }

    /// The floors of drivers, where both are there and differ.
    pub fn floors(&self) -> Option<(Option<&Floor>, Option<&Floor>)> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let (before, after) = (&before.minimum_driver, &after.minimum_driver);
        let said = |floor: &Floor| (floor.driver.to_string(), floor.mechanism.to_string());
        let differ = before.as_ref().map(said) != after.as_ref().map(said);
        differ.then_some((before.as_ref(), after.as_ref()))
    }
}

/// Findings of one rule and level about one package on one GPU, where they are not the same before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindingChange {
    /// The rule.
    pub code: Code,
    /// What the policy makes of it.
    pub level: Level,
    /// The package; none for what no package owns.
    pub package: Option<String>,
    /// The target, by name; none where they hold for all.
    pub target: Option<String>,
    /// The GPU of the target.
    pub gpu: Option<String>,
    /// How many there were.
    pub before: u64,
    /// How many there are.
    pub after: u64,
    /// The libraries, by path, that have one now and had none.
    pub new: Vec<String>,
    /// The libraries, by path, that had one and have none.
    pub gone: Vec<String>,
    /// What the first new one says, or else the first that is gone.
    pub message: String,
    /// What to do about it.
    pub next_step: String,
}

impl FindingChange {
    /// Whether the policy denies more than before, or, where warnings fail too, warns more.
    pub fn is_worse(&self, fail_on_warn: bool) -> bool {
        self.after > self.before && Verdict::of_level(self.level, fail_on_warn) == Verdict::Fail
    }
}

/// One of the two that are compared.
#[derive(Debug, Clone, Copy)]
enum Side {
    Before,
    After,
}

/// The packages of a pair of artifacts, and what each evaluation calls them.
pub(super) struct Paired<'p> {
    /// The place of each package among the pairs, by its name before and after.
    places: (BTreeMap<&'p Key, usize>, BTreeMap<&'p Key, usize>),
    /// What reports call each of them: its name after, or before where it is gone.
    names: Vec<Option<String>>,
    /// The index of the artifact in each evaluation.
    artifacts: Two<usize>,
}

impl<'p> Paired<'p> {
    pub(super) fn new(
        packages: &'p [Two<Key>],
        names: Vec<Option<String>>,
        artifacts: Two<usize>,
    ) -> Self {
        let places = |side: fn(&Two<Key>) -> Option<&Key>| {
            let keys = packages.iter().map(side).enumerate();
            keys.filter_map(|(place, key)| Some((key?, place)))
                .collect()
        };
        Self {
            places: (
                places(|(before, _)| before.as_ref()),
                places(|(_, after)| after.as_ref()),
            ),
            names,
            artifacts,
        }
    }

    /// The place among the pairs of a package that one side names.
    fn at(&self, package: Option<&PackageName>, side: Side) -> Option<usize> {
        let key: Key = package.map(|package| normal_package(&package.name));
        let places = match side {
            Side::Before => &self.places.0,
            Side::After => &self.places.1,
        };
        places.get(&key).copied()
    }

    fn name(&self, at: Option<usize>) -> Option<String> {
        self.names.get(at?).cloned().flatten()
    }

    /// The results of each package on each target, by package in the order of the pairs, then in that of the policy.
    pub(super) fn outcomes(&self, before: &Evaluation, after: &Evaluation) -> Vec<Outcome> {
        let targets = targets(before, after);
        let mut found: BTreeMap<(Option<usize>, usize), Outcome> = BTreeMap::new();
        let (of_before, of_after) = self.artifacts;
        for (evaluation, artifact, side) in [
            (after, of_after, Side::After),
            (before, of_before, Side::Before),
        ] {
            let rows = evaluation.matrix.iter();
            for row in rows.filter(|row| Some(row.artifact) == artifact) {
                let at = self.at(row.package.as_ref(), side);
                let target = targets.iter().position(|target| *target == row.target);
                let outcome = found
                    .entry((at, target.unwrap_or_default()))
                    .or_insert_with(|| Outcome {
                        package: self.name(at),
                        target: row.target.clone(),
                        before: None,
                        after: None,
                    });
                let standing = Standing {
                    verdict: row.verdict,
                    minimum_driver: row.minimum_driver.clone(),
                };
                let slot = match side {
                    Side::Before => &mut outcome.before,
                    Side::After => &mut outcome.after,
                };
                match slot {
                    // there several times: the worst counts
                    Some(known) if known.verdict >= standing.verdict => {}
                    slot => *slot = Some(standing),
                }
            }
        }
        found.into_values().collect()
    }

    /// The findings that count and are not the same before and after: the worst first, then by package, rule, target
    /// and GPU.
    pub(super) fn findings(&self, before: &Evaluation, after: &Evaluation) -> Vec<FindingChange> {
        let targets = targets(before, after);
        let place = |name: &str| targets.iter().position(|target| *target == name);
        let mut groups: BTreeMap<Subject<'_>, Sides<'_>> = BTreeMap::new();
        let (of_before, of_after) = self.artifacts;
        for (evaluation, artifact, side) in [
            (after, of_after, Side::After),
            (before, of_before, Side::Before),
        ] {
            let findings = evaluation.findings.iter();
            let findings = findings.filter(|finding| {
                finding.artifact.is_some() && finding.artifact == artifact && finding.counts()
            });
            for finding in findings {
                let subject = Subject {
                    level: std::cmp::Reverse(finding.level),
                    package: self.at(finding.package.as_ref(), side),
                    code: finding.code,
                    place: finding.target.as_deref().and_then(place),
                    target: finding.target.as_deref(),
                    gpu: finding.gpu.as_deref(),
                };
                let sides = groups.entry(subject).or_default();
                let findings = match side {
                    Side::Before => &mut sides.before,
                    Side::After => &mut sides.after,
                };
                findings.push(finding);
            }
        }
        let changes = groups.into_iter();
        changes
            .filter_map(|(subject, sides)| sides.change(&subject, self.name(subject.package)))
            .collect()
    }
}

/// The targets in the order of the policy.
fn targets<'e>(before: &'e Evaluation, after: &'e Evaluation) -> Vec<&'e str> {
    let mut targets: Vec<&str> = Vec::new();
    for row in after.matrix.iter().chain(&before.matrix) {
        if !targets.contains(&row.target.as_str()) {
            targets.push(&row.target);
        }
    }
    targets
}

/// What findings are told apart by, beside their library.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Subject<'e> {
    level: std::cmp::Reverse<Level>,
    package: Option<usize>,
    code: Code,
    /// The place of the target in the policy, by which reports are in order.
    place: Option<usize>,
    target: Option<&'e str>,
    gpu: Option<&'e str>,
}

/// The findings about a subject.
#[derive(Debug, Default)]
struct Sides<'e> {
    before: Vec<&'e Finding>,
    after: Vec<&'e Finding>,
}

impl Sides<'_> {
    fn change(&self, subject: &Subject<'_>, package: Option<String>) -> Option<FindingChange> {
        let (of_before, of_after) = (stems(&self.before), stems(&self.after));
        let lacks = |stems: &Stems<'_>, one: &Finding| !stems.contains(&stem(one));
        let new = only(&self.after, |one| lacks(&of_before, one));
        let gone = only(&self.before, |one| lacks(&of_after, one));
        if new.is_empty() && gone.is_empty() && self.before.len() == self.after.len() {
            return None;
        }
        let shown = new.first().or(self.after.first());
        let shown = if self.after.len() >= self.before.len() {
            shown
        } else {
            gone.first().or(shown)
        };
        let shown = shown.or(self.before.first())?;
        let libraries = |findings: &[&Finding]| -> Vec<String> {
            let mut paths: Vec<String> = findings
                .iter()
                .filter_map(|finding| finding.library.clone())
                .collect();
            paths.dedup();
            paths
        };
        Some(FindingChange {
            code: subject.code,
            level: subject.level.0,
            package,
            target: subject.target.map(str::to_owned),
            gpu: subject.gpu.map(str::to_owned),
            before: self.before.len() as u64,
            after: self.after.len() as u64,
            new: libraries(&new),
            gone: libraries(&gone),
            message: shown.message.clone(),
            next_step: shown.next_step.clone(),
        })
    }
}

/// Libraries of findings, without what is another one in another version.
type Stems<'e> = BTreeSet<Option<&'e str>>;

fn stem(finding: &Finding) -> Option<&str> {
    finding.library.as_deref().map(library_stem)
}

fn stems<'e>(findings: &[&'e Finding]) -> Stems<'e> {
    findings.iter().map(|finding| stem(finding)).collect()
}

fn only<'e>(findings: &[&'e Finding], wanted: impl Fn(&Finding) -> bool) -> Vec<&'e Finding> {
    findings
        .iter()
        .copied()
        .filter(|finding| wanted(finding))
        .collect()
}
