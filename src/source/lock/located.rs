//! What is wrong in a lock file, with its line.

use std::fmt::Display;

use super::yaml::Fault;
use super::{Lock, without_secrets};
use crate::{Error, ErrorKind, Extent, Locator, Problem, ProblemKind};

/// Problems of one file that are told; more are counted.
const MOST_PROBLEMS: usize = 100;
/// Text of others that is quoted, in characters.
const QUOTED: usize = 120;

/// A file that is not read at all, because of a line of it.
pub(super) fn refused(at: &Locator, line: u32, what: impl Display, hint: &str) -> Error {
    let what = without_secrets(&what.to_string());
    Error::new(ErrorKind::Input, format!("{at}: line {line}: {what}")).with_hint(hint)
}

/// A file that is no YAML that can be read.
pub(super) fn not_yaml(at: &Locator, fault: &Fault) -> Error {
    let hint = "write the lock file again with the tool that made it";
    refused(at, fault.line, &fault.what, hint)
}

/// A part of the start of a foreign text without its secrets, for messages.
pub(super) fn quoted(text: &str) -> String {
    // before it is cut: what is cut is no address that can be told
    let text = &without_secrets(text);
    let mut start: String = text.chars().take(QUOTED).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    format!("`{start}`")
}

/// Collects what could not be understood, a bounded number of it.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    told: Vec<(u32, String)>,
    untold: usize,
}

impl Mistakes {
    /// Something at a line.
    pub(super) fn add(&mut self, line: u32, what: impl Into<String>) {
        if self.told.len() < MOST_PROBLEMS {
            self.told.push((line, without_secrets(&what.into())));
        } else {
            self.untold += 1;
        }
    }

    /// Those at lines, in the order in which they were found.
    pub(super) fn first(&self) -> Option<(u32, &str)> {
        self.told.first().map(|(line, what)| (*line, what.as_str()))
    }

    /// Hands them to the lock.
    pub(super) fn into_lock(self, lock: &mut Lock) {
        let at = &lock.at;
        let problem = |detail| {
            let kind = ProblemKind::MalformedLock;
            Problem::new(kind, at.clone(), Extent::Part, detail)
        };
        let told = self.told.into_iter();
        let mut problems: Vec<_> = told
            .map(|(line, what)| problem(format!("line {line}: {what}")))
            .collect();
        if self.untold > 0 {
            problems.push(problem(format!(
                "{} more lines are not understood",
                self.untold
            )));
        }
        lock.problems.append(&mut problems);
    }
}
