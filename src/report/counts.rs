//! How many findings and problems there are: the last line of the human report, and the head of the JSON form.

use serde::Serialize;

use crate::rule::Level;
use crate::verdict::{Evaluation, Finding};

/// Findings of an evaluation by what they do, and what could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    /// Findings that fail.
    pub(super) denied: u64,
    /// Findings that are shown, and fail where warnings do.
    pub(super) warnings: u64,
    /// Findings at the level `allow`.
    pub(super) remarks: u64,
    /// Findings of any level that a waiver or a baseline accepts.
    pub(super) waived: u64,
    /// Problems of all artifacts.
    pub(super) problems: u64,
}

impl Counts {
    pub(super) fn of(evaluation: &Evaluation) -> Self {
        let count = |wanted: &dyn Fn(&Finding) -> bool| {
            let found = evaluation.findings.iter().filter(|finding| wanted(finding));
            found.count() as u64
        };
        let at = |level| count(&|finding| finding.level == level && finding.counts());
        let problems = evaluation.artifacts.iter().map(|one| one.problems.len());
        Self {
            denied: at(Level::Deny),
            warnings: at(Level::Warn),
            remarks: at(Level::Allow),
            waived: count(&|finding| !finding.counts()),
            problems: problems.sum::<usize>() as u64,
        }
    }
}
