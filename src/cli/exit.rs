//! Exit statuses, a contract with scripts and CI.

use std::process::ExitCode;

use crate::verdict::Verdict;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// Everything was read and nothing is denied.
    Pass,
    /// The policy denies something.
    Fail,
    /// Nothing could be judged: usage, policy, input.
    CannotJudge,
    /// Something could not be read, and nothing else failed.
    Incomplete,
}

impl Exit {
    /// Every way to end.
    pub const ALL: &[Self] = &[Self::Pass, Self::Fail, Self::CannotJudge, Self::Incomplete];

    /// The number that the shell sees.
    pub const fn status(self) -> u8 {
        match self {
            Self::Pass => Verdict::Pass.status(),
            Self::Fail => Verdict::Fail.status(),
            Self::CannotJudge => Verdict::CANNOT_JUDGE,
            Self::Incomplete => Verdict::Incomplete.status(),
        }
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Incomplete => Self::Incomplete,
            Verdict::Fail => Self::Fail,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statuses_are_those_of_the_documentation() {
        let statuses: Vec<u8> = Exit::ALL.iter().map(|exit| exit.status()).collect();
        assert_eq!(statuses, [0, 1, 2, 3]);
        assert_eq!(Exit::from(Verdict::Pass), Exit::Pass);
        assert_eq!(Exit::from(Verdict::Fail), Exit::Fail);
        assert_eq!(Exit::from(Verdict::Incomplete), Exit::Incomplete);
    }
}
