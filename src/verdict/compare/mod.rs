//! Two inventories compared: what each package holds before and after, and what that does to the targets.
//!
//! A pure function of two inventories and, where there are targets, of the evaluations of both against one policy.
//! Nothing is judged here: verdicts, floors and findings are those of `evaluate`.

mod content;
mod outcome;
mod pairs;

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{self, Artifact, Inventory};
use crate::problem::ProblemKind;
use crate::rule::Level;
use crate::tables::Origin;

use super::{Evaluation, PackageName, Verdict};
use content::Key;
use outcome::Paired;

pub(crate) use content::library_stem;
pub use content::{CodeKey, Content};
pub use outcome::{FindingChange, Outcome, Standing};

/// What changed between two inventories.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// The name of the policy; none where there are no targets and only contents were compared.
    pub policy: Option<String>,
    /// Whether the targets were given one by one, not by a policy.
    pub targets_by_hand: bool,
    /// The tables by which was judged.
    pub tables: Option<Origin>,
    /// Whether more warnings are worse too.
    pub fail_on_warn: bool,
    /// Whether something on either side could not be read, so that a change may not have been seen.
    pub incomplete: bool,
    /// What was compared with what, in the order of the second inventory.
    pub pairs: Vec<Pair>,
}

/// An artifact of each side; one of them may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pair {
    /// The artifact of the first inventory.
    pub before: Option<Compared>,
    /// That of the second.
    pub after: Option<Compared>,
    /// The packages that are not the same, by name.
    pub packages: Vec<PackageChange>,
    /// How many packages are the same.
    pub unchanged: u64,
    /// The results by package and target, changed or not; empty where there are no targets.
    pub outcomes: Vec<Outcome>,
    /// The findings that are not the same.
    pub findings: Vec<FindingChange>,
}

/// An artifact as reports name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The input as the user named it.
    pub input: String,
    /// The package that it is, where it is one.
    pub package: Option<PackageName>,
    /// Members that could not be read, or other problems.
    pub problems: u64,
}

/// A package that is not the same on both sides; one of them may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageChange {
    /// What it held.
    pub before: Option<Content>,
    /// What it holds.
    pub after: Option<Content>,
}

impl PackageChange {
    /// The targets that it has own code for on one side only: those that are lost, and those that are gained.
    /// Machine code and PTX for one architecture are two targets.
    pub fn targets(&self) -> (Vec<&CodeKey>, Vec<&CodeKey>) {
        let of = |content: &'_ Option<Content>| -> BTreeSet<CodeKey> {
            let targets = content.iter().flat_map(Content::targets);
            targets.cloned().collect()
        };
        let (before, after) = (of(&self.before), of(&self.after));
        let lost = self.before.iter().flat_map(Content::targets);
        let gained = self.after.iter().flat_map(Content::targets);
        (
            lost.filter(|key| !after.contains(*key)).collect(),
            gained.filter(|key| !before.contains(*key)).collect(),
        )
    }

    /// Whether it has device code, or links NVIDIA's libraries, on either side.
    pub fn is_about_gpus(&self) -> bool {
        let sides = [&self.before, &self.after];
        sides
            .into_iter()
            .flatten()
            .any(|content| !content.code.is_empty() || !content.needs.is_empty())
    }
}

impl Comparison {
    /// Compares two inventories, and two evaluations of them against one policy where there is one.
    pub fn of(
        before: &Inventory,
        after: &Inventory,
        evaluations: Option<(&Evaluation, &Evaluation)>,
    ) -> Self {
        let titles = (before.titles(), after.titles());
        let pairs = pairs::of_artifacts(before, after).into_iter();
        let pairs = pairs.map(|artifacts| {
            let old = artifacts.0.and_then(|index| before.artifacts.get(index));
            let new = artifacts.1.and_then(|index| after.artifacts.get(index));
            let named = |artifact: Option<&Artifact>, titles: &[String], index: Option<usize>| {
                let title = titles.get(index?)?;
                Some(compared(artifact?, title))
            };
            let mut pair = contents(old, new, artifacts, evaluations);
            pair.before = named(old, &titles.0, artifacts.0);
            pair.after = named(new, &titles.1, artifacts.1);
            pair
        });
        Self {
            policy: evaluations.map(|(_, after)| after.policy.clone()),
            targets_by_hand: evaluations.is_some_and(|(_, after)| after.has_targets_by_hand()),
            tables: evaluations
                .map(|(_, after)| after.tables.clone())
                .or_else(|| after.tables.clone()),
            fail_on_warn: evaluations.is_some_and(|(_, after)| after.fail_on_warn),
            incomplete: match evaluations {
                None => unread(before) || unread(after),
                Some((before, after)) => is_incomplete(before) || is_incomplete(after),
            },
            pairs: pairs.collect(),
        }
    }

    /// Whether something got worse for a target: it fails and did not, or more is denied than before.
    pub fn is_worse(&self) -> bool {
        self.pairs
            .iter()
            .any(|pair| pair.is_worse(self.fail_on_warn))
    }
}

impl Pair {
    /// Whether something got worse for a target.
    pub fn is_worse(&self, fail_on_warn: bool) -> bool {
        self.outcomes.iter().any(Outcome::is_worse)
            || self
                .findings
                .iter()
                .any(|finding| finding.is_worse(fail_on_warn))
    }
}

/// Whether something of an inventory could not be read.
fn unread(inventory: &Inventory) -> bool {
    let artifacts = || inventory.artifacts.iter();
    // whose a file is says nothing of what is in it
    let mut problems = artifacts().flat_map(|artifact| &artifact.problems);
    let locks = artifacts().filter_map(|artifact| artifact.lock.as_deref());
    let mut locked = locks.flat_map(|lock| &lock.packages);
    problems.any(|problem| problem.kind != ProblemKind::PackagesUnread)
        || locked.any(|package| matches!(package.content, inventory::Content::NotRead(_)))
}

/// Whether an evaluation rests on what could not be read, as its policy sees it.
fn is_incomplete(evaluation: &Evaluation) -> bool {
    let mut findings = evaluation.findings.iter();
    let rows = || evaluation.matrix.iter();
    evaluation.verdict == Verdict::Incomplete
        || rows().any(|row| row.verdict == Verdict::Incomplete)
        || findings.any(|finding| finding.counts() && finding.level == Level::Incomplete)
}

fn compared(artifact: &Artifact, title: &str) -> Compared {
    let name = artifact.name.clone();
    Compared {
        input: title.to_owned(),
        package: name.map(|name| PackageName {
            name,
            version: artifact.version.clone(),
        }),
        problems: artifact.problems.len() as u64,
    }
}

/// What the artifacts hold and how they are judged, without their names.
fn contents(
    before: Option<&Artifact>,
    after: Option<&Artifact>,
    artifacts: pairs::Two<usize>,
    evaluations: Option<(&Evaluation, &Evaluation)>,
) -> Pair {
    let mut of_before = before.map_or_else(BTreeMap::new, content::of_artifact);
    let mut of_after = after.map_or_else(BTreeMap::new, content::of_artifact);
    let packages: Vec<pairs::Two<Key>> = pairs::of_packages(
        before.map(|artifact| (artifact, &of_before)),
        after.map(|artifact| (artifact, &of_after)),
    );
    let name = |key: &Option<Key>, contents: &BTreeMap<Key, Content>| {
        contents.get(key.as_ref()?)?.name.clone()
    };
    let names = packages
        .iter()
        .map(|(old, new)| name(new, &of_after).or_else(|| name(old, &of_before)));
    let paired = Paired::new(&packages, names.collect(), artifacts);
    let (outcomes, findings) = match evaluations {
        None => (Vec::new(), Vec::new()),
        Some((before, after)) => (
            paired.outcomes(before, after),
            paired.findings(before, after),
        ),
    };
    let mut changes = Vec::new();
    let mut unchanged = 0;
    for (old, new) in &packages {
        let change = PackageChange {
            before: old.as_ref().and_then(|key| of_before.remove(key)),
            after: new.as_ref().and_then(|key| of_after.remove(key)),
        };
        if change.before == change.after {
            unchanged += 1;
        } else {
            changes.push(change);
        }
    }
    Pair {
        before: None,
        after: None,
        packages: changes,
        unchanged,
        outcomes,
        findings,
    }
}
