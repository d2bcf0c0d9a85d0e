//! The text of one lock file and what was read of it so far.

use std::collections::BTreeSet;

use super::model::{Lock, LockKind};
use super::without_secrets;
use crate::{Error, ErrorKind, Extent, Locator, Problem, ProblemKind};

/// Problems of one file that are told one by one.
const TOLD: usize = 100;
/// Bytes of a message of others that are shown.
const SHOWN: usize = 300;

/// The text of a lock file, with the lock that it becomes.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) lock: Lock,
    /// Where lines end.
    ends: Vec<usize>,
    untold: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, at: &Locator, kind: LockKind) -> Self {
        Self {
            text,
            lock: Lock::new(at.clone(), kind),
            ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect(),
            untold: 0,
        }
    }

    /// The line of a byte, from 1 on.
    pub(super) fn line(&self, offset: usize) -> u32 {
        let before = self.ends.partition_point(|end| *end < offset);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }

    /// That the file can't be read at all.
    pub(super) fn error(&self, line: Option<u32>, message: &str, hint: &str) -> Error {
        let place = match line {
            Some(line) => format!("{}, line {line}", self.lock.at),
            None => self.lock.at.to_string(),
        };
        let message = format!("{place}: {}", shown(message));
        Error::new(ErrorKind::Input, message).with_hint(hint)
    }

    /// Notes that something of the file can't be read.
    pub(super) fn problem(&mut self, line: u32, message: &str) {
        if self.lock.problems.len() < TOLD {
            self.add(&format!("line {line}: {}", shown(message)));
        } else {
            self.untold += 1;
        }
    }

    /// Notes that something beside the file can't be read.
    pub(super) fn note(&mut self, message: &str) {
        self.add(&shown(message));
    }

    fn add(&mut self, detail: &str) {
        let at = self.lock.at.clone();
        let problem = Problem::new(ProblemKind::MalformedLock, at, Extent::Part, detail);
        self.lock.problems.push(problem);
    }

    /// What was read.
    pub(super) fn finish(mut self) -> Lock {
        if self.untold > 0 {
            self.add(&format!("{} more entries can't be read", self.untold));
        }
        let mut seen: BTreeSet<_> = self.lock.indexes.iter().cloned().collect();
        for index in self.lock.packages.iter().filter_map(|p| p.index.as_ref()) {
            if !seen.contains(index) {
                seen.insert(index.clone());
                self.lock.indexes.push(index.clone());
            }
        }
        self.lock
    }
}

/// A message of others as it may be shown: without secrets, and not longer than a few lines.
fn shown(message: &str) -> String {
    let mut message = without_secrets(message);
    if message.len() > SHOWN {
        let end = (0..=SHOWN).rfind(|end| message.is_char_boundary(*end));
        message.truncate(end.unwrap_or(0));
        message.push('…');
    }
    message
}
