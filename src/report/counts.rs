//! How many findings and problems there are: the last line of the human report, the head of the JSON form, and the
//! reports for other programs.

use serde::Serialize;

use crate::rule::{Code, Level};
use crate::verdict::{Evaluation, Finding};

use super::text::plural;

/// How many findings there are of each weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::report) struct Tally {
    pub(in crate::report) denied: u64,
    pub(in crate::report) incomplete: u64,
    pub(in crate::report) warned: u64,
    pub(in crate::report) allowed: u64,
    pub(in crate::report) waived: u64,
}

impl Tally {
    pub(in crate::report) fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut tally = Self::default();
        for finding in findings {
            *match (finding.counts(), finding.level) {
                (false, _) => &mut tally.waived,
                (true, Level::Deny) => &mut tally.denied,
                (true, Level::Incomplete) => &mut tally.incomplete,
                (true, Level::Warn) => &mut tally.warned,
                (true, Level::Allow) => &mut tally.allowed,
            } += 1;
        }
        tally
    }

    /// `3 denied findings, 1 not read, 2 warnings, 1 waived`; what there is none of is left out, but for the first.
    pub(in crate::report) fn words(self) -> String {
        let mut words = vec![plural(self.denied, "denied finding")];
        let more = [
            (self.incomplete, format!("{} not read", self.incomplete)),
            (self.warned, plural(self.warned, "warning")),
            (self.waived, format!("{} waived", self.waived)),
            (self.allowed, plural(self.allowed, "remark")),
        ];
        let more = more.into_iter().filter(|(count, _)| *count > 0);
        words.extend(more.map(|(_, words)| words));
        words.join(", ")
    }
}

/// The same with what could not be read, as the JSON form has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    pub(super) denied: u64,
    pub(super) warnings: u64,
    pub(super) remarks: u64,
    pub(super) waived: u64,
    pub(super) problems: u64,
}

impl Counts {
    pub(super) fn of(evaluation: &Evaluation) -> Self {
        let tally = Tally::of(&evaluation.findings);
        // of lock files, also what was not fetched
        let unread =
            |finding: &&Finding| matches!(finding.code, Code::Unreadable | Code::PackagesUnknown);
        let problems = evaluation.findings.iter().filter(unread);
        Self {
            denied: tally.denied,
            warnings: tally.warned,
            remarks: tally.allowed,
            waived: tally.waived,
            problems: problems.count() as u64,
        }
    }
}
