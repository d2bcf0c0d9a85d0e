//! Baselines: findings that were there when the gate came, so that a check fails on what is new only.
//!
//! An entry is what a finding is about, without its words, figures, version or place in the report: other
//! findings, the order of inputs and a new version of the package do not touch it. What could not be read is
//! never in a baseline, and neither is what is said of the policy itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::policy::{Policy, normal_package};
use crate::rule::{Code, Level};

use super::finding::{Finding, WaivedBy};
use super::{Evaluation, Judged};

/// The name of the form.
const SCHEMA: &str = "smgate/baseline/1";
/// Entries that are listed in the finding about those that match nothing.
const LISTED: usize = 50;

/// Known findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    origin: String,
    entries: BTreeMap<Subject, Known>,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Subject {
    /// The package in its normal spelling; none for an input that is none.
    package: Option<String>,
    /// The file name of such an input.
    input: Option<String>,
    library: Option<String>,
    rule: Code,
    target: Option<String>,
    gpu: Option<String>,
}

/// How much of it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    /// The highest level: what is worse now is new.
    level: Level,
    /// How many findings; more are new.
    count: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Document {
    schema: String,
    findings: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    package: Option<String>,
    input: Option<String>,
    library: Option<String>,
    rule: Code,
    target: Option<String>,
    gpu: Option<String>,
    level: Level,
    count: u64,
}

impl Baseline {
    /// The findings of an evaluation that count, as a baseline. `origin` is the name of its file.
    pub fn of(origin: &str, evaluation: &Evaluation) -> Self {
        let mut entries: BTreeMap<Subject, Known> = BTreeMap::new();
        for finding in evaluation
            .findings
            .iter()
            .filter(|finding| finding.counts())
        {
            if finding.level == Level::Allow {
                continue;
            }
            if let Some(subject) = Subject::of(finding, &evaluation.artifacts) {
                let known = entries.entry(subject).or_insert(Known {
                    level: finding.level,
                    count: 0,
                });
                known.level = known.level.max(finding.level);
                known.count = known.count.saturating_add(1);
            }
        }
        Self {
            origin: origin.to_owned(),
            entries,
        }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The text of a baseline file: sorted, one line for each field, so that versions of it compare well.
    ///
    /// # Errors
    ///
    /// None that a baseline can cause.
    pub fn to_json(&self) -> Result<String, Error> {
        let entries = self.entries.iter().map(|(subject, known)| {
            let Subject {
                package,
                input,
                library,
                rule,
                target,
                gpu,
            } = subject.clone();
            Entry {
                package,
                input,
                library,
                rule,
                target,
                gpu,
                level: known.level,
                count: known.count,
            }
        });
        let document = Document {
            schema: SCHEMA.to_owned(),
            findings: entries.collect(),
        };
        let text = serde_json::to_string_pretty(&document).map_err(|error| {
            Error::new(ErrorKind::Output, "the baseline could not be written").with_source(error)
        })?;
        Ok(text + "\n")
    }

    /// Reads a baseline file. `origin` is its name in messages.
    ///
    /// # Errors
    ///
    /// A text of another form, with line and column.
    pub fn from_json(origin: &str, text: &str) -> Result<Self, Error> {
        let invalid = |message: String| {
            Error::new(
                ErrorKind::Data,
                format!("`{origin}` is no baseline: {message}"),
            )
            .with_hint("write one with `smgate check INPUT... --write-baseline FILE`")
        };
        let document: Document =
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        if document.schema != SCHEMA {
            return Err(invalid(format!(
                "its form is `{}`, and this smgate reads `{SCHEMA}`",
                document.schema
            )));
        }
        let mut entries = BTreeMap::new();
        for entry in document.findings {
            let subject = Subject {
                package: entry.package.as_deref().map(normal_package),
                input: entry.input,
                library: entry.library,
                rule: entry.rule,
                target: entry.target,
                gpu: entry.gpu,
            };
            if !may_be_known(subject.rule) {
                return Err(invalid(format!(
                    "`{}` is never in a baseline",
                    subject.rule
                )));
            }
            let known = Known {
                level: entry.level,
                count: entry.count,
            };
            entries.insert(subject, known);
        }
        Ok(Self {
            origin: origin.to_owned(),
            entries,
        })
    }

    /// Marks the findings that are known, and adds one about entries that match nothing any more.
    pub(super) fn apply(&self, policy: &Policy, artifacts: &[Judged], findings: &mut Vec<Finding>) {
        let mut left = self.entries.clone();
        for finding in findings.iter_mut().filter(|finding| finding.counts()) {
            let known = Subject::of(finding, artifacts).and_then(|subject| left.get_mut(&subject));
            if let Some(known) = known
                && known.count > 0
                && finding.level <= known.level
            {
                known.count -= 1;
                finding.waived = Some(WaivedBy {
                    reason: format!("known: it is in the baseline {}", self.origin),
                    until: None,
                });
            }
        }
        left.retain(|_, known| known.count > 0);
        findings.extend(self.unused(policy, &left));
    }

    fn unused(&self, policy: &Policy, left: &BTreeMap<Subject, Known>) -> Option<Finding> {
        if left.is_empty() {
            return None;
        }
        let (count, entries) = match left.len() {
            1 => (1, "entry"),
            count => (count, "entries"),
        };
        let message = format!(
            "{count} {entries} of the baseline {} occur no longer",
            self.origin
        );
        let next_step = "write it again with `--write-baseline`, so that they are not accepted when they come back";
        let mut finding = Finding::new(Code::BaselineUnused, message, next_step);
        for subject in left.keys().take(LISTED) {
            finding = finding.evidence(subject.to_string());
        }
        if count > LISTED {
            finding = finding.evidence(format!("and {} more", count - LISTED));
        }
        finding.level = policy.level(finding.code);
        Some(finding)
    }
}

/// Whether findings of a rule may be in a baseline: not what could not be read, which only a policy accepts.
fn may_be_known(rule: Code) -> bool {
    rule != Code::Unreadable && !rule.is_about_policy()
}

impl Subject {
    fn of(finding: &Finding, artifacts: &[Judged]) -> Option<Self> {
        let artifact = artifacts.get(finding.artifact?)?;
        if !may_be_known(finding.code) {
            return None;
        }
        let package = finding.package.as_ref();
        let package = package.map(|package| normal_package(&package.name));
        let file = || {
            let name = artifact.input.rsplit(['/', '\\']).next();
            name.unwrap_or_default().to_owned()
        };
        Some(Self {
            input: package.is_none().then(file),
            package,
            library: finding.library.clone(),
            rule: finding.code,
            target: finding.target.clone(),
            gpu: finding.gpu.clone(),
        })
    }
}

impl std::fmt::Display for Subject {
    /// `no-kernel-image: torch, torch/lib/libtorch.so, t4-pool, T4 (7.5)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [
            &self.package,
            &self.input,
            &self.library,
            &self.target,
            &self.gpu,
        ];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        write!(f, "{}: {}", self.rule, parts.join(", "))
    }
}
