//! Why reading failed, in the words of [`ProblemKind`], without the place.
//!
//! A fault travels through [`io::Error`], so that readers stay ordinary [`io::Read`]ers; whoever
//! knows the place turns it into a [`Problem`].

use std::io;

use crate::limits::LimitHit;
use crate::{Extent, Locator, Problem, ProblemKind};

/// Why reading failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Fault {
    /// The kind of problem this becomes.
    pub kind: ProblemKind,
    /// The particulars, in words.
    pub detail: String,
}

impl Fault {
    /// A fault of `kind` that says `detail`.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }

    /// The fault behind an I/O error; every I/O error has one.
    pub fn of(error: &io::Error) -> Self {
        if let Some(fault) = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Self>())
        {
            return fault.clone();
        }
        let kind = if LimitHit::of(error).is_some() {
            ProblemKind::LimitExceeded
        } else if error.raw_os_error().is_some() {
            ProblemKind::Io
        } else {
            match error.kind() {
                io::ErrorKind::UnexpectedEof => ProblemKind::Truncated,
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                    ProblemKind::CorruptData
                }
                _ => ProblemKind::Io,
            }
        };
        Self::new(kind, error.to_string())
    }

    /// Whether an I/O error is one of where the bytes come from, and not of what they say.
    pub(super) fn is_of_source(error: &io::Error) -> bool {
        error.raw_os_error().is_some()
            || error
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Self>)
    }

    /// The problem that this fault is at `at`.
    pub fn at(self, at: Locator, extent: Extent) -> Problem {
        Problem::new(self.kind, at, extent, self.detail)
    }
}

impl From<LimitHit> for Fault {
    fn from(hit: LimitHit) -> Self {
        Self::new(ProblemKind::LimitExceeded, hit.to_string())
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::other(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_the_way_through_an_io_error() {
        let fault = Fault::new(ProblemKind::ChecksumMismatch, "CRC-32 differs");
        assert_eq!(Fault::of(&fault.clone().into()), fault);
    }

    #[test]
    fn names_errors_of_other_readers() {
        let kinds = [
            (
                io::Error::other(LimitHit::Ratio(300)),
                ProblemKind::LimitExceeded,
            ),
            (io::ErrorKind::UnexpectedEof.into(), ProblemKind::Truncated),
            (io::ErrorKind::InvalidInput.into(), ProblemKind::CorruptData),
            (io::Error::from_raw_os_error(22), ProblemKind::Io),
            (io::ErrorKind::PermissionDenied.into(), ProblemKind::Io),
        ];
        for (error, kind) in kinds {
            assert_eq!(Fault::of(&error).kind, kind, "{error:?}");
        }
    }
}
