//! The problems of one archive, bounded in number.

use crate::{Extent, Locator, MemberName, Problem, ProblemKind};

/// Collects the problems of one archive.
#[derive(Debug)]
pub(super) struct Report<'a> {
    at: &'a Locator,
    problems: Vec<Problem>,
    left_out: u64,
}

impl<'a> Report<'a> {
    /// Problems that are listed: an archive made to have a million gets no million lines.
    const LISTED: usize = 1000;

    pub(super) fn new(at: &'a Locator) -> Self {
        Self {
            at,
            problems: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds a problem of the archive itself.
    pub(super) fn archive(&mut self, kind: ProblemKind, extent: Extent, detail: impl Into<String>) {
        self.push(|at| Problem::new(kind, at.clone(), extent, detail));
    }

    /// Adds a problem of the member `name`.
    pub(super) fn member(
        &mut self,
        kind: ProblemKind,
        extent: Extent,
        name: &MemberName,
        detail: impl Into<String>,
    ) {
        self.push(|at| Problem::new(kind, at.member(name), extent, detail));
    }

    fn push(&mut self, problem: impl FnOnce(&Locator) -> Problem) {
        if self.problems.len() < Self::LISTED {
            self.problems.push(problem(self.at));
        } else {
            self.left_out += 1;
        }
    }

    /// All problems in the order of reports.
    pub(super) fn finish(self) -> Vec<Problem> {
        let Self {
            at,
            mut problems,
            left_out,
        } = self;
        if left_out > 0 {
            problems.push(Problem::new(
                ProblemKind::MalformedArchive,
                at.clone(),
                Extent::Artifact,
                format!("{left_out} more problems of this archive are not listed"),
            ));
        }
        problems.sort();
        problems.dedup();
        problems
    }
}
