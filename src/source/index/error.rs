//! Why an index gave no answer.

use crate::source::http::{HttpError, HttpErrorKind};

/// Why an index gave no answer, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct IndexError {
    /// The kind of failure.
    pub kind: IndexErrorKind,
    /// Which index and what happened, in words and without secrets.
    pub message: String,
    /// The next step for the user.
    pub hint: String,
}

/// Kinds of failures of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexErrorKind {
    /// No index is known.
    NoIndex,
    /// The index has no such project: it answered 404 or 410, or 403 where no login was refused.
    NoProject,
    /// The index must not be asked, because the run is without a network.
    Offline,
    /// The index does not let this user in.
    Refused,
    /// No answer, or one that says that the server failed.
    Network,
    /// The answer is no page of an index, or one that is damaged.
    WrongPage,
    /// The answer is larger than a page of an index can be.
    TooLarge,
    /// A directory or a file of this machine could not be read.
    Unreadable,
}

impl IndexError {
    pub(super) fn new(
        kind: IndexErrorKind,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// A page at `at` that is none.
    pub(super) fn wrong_page(at: &str, why: &str) -> Self {
        Self::new(
            IndexErrorKind::WrongPage,
            format!("`{at}` {why}"),
            "check the address of the index: it is that of its simple API (PEP 503), and most end with `/simple`",
        )
    }

    /// A page at `at` that is larger than `most`, a number and what it counts.
    pub(super) fn too_large(at: &str, most: &str) -> Self {
        Self::new(
            IndexErrorKind::TooLarge,
            format!("`{at}` has more than {most}"),
            "check that it is an index of Python packages; a page of one is much smaller",
        )
    }

    pub(super) fn of_http(error: &HttpError) -> Self {
        let (kind, hint) = match error.kind {
            HttpErrorKind::TooLong => (
                IndexErrorKind::TooLarge,
                "check that it is an index of Python packages",
            ),
            HttpErrorKind::Tls => (
                IndexErrorKind::Network,
                "give the certificate authority of the index with `--ca-file FILE`",
            ),
            HttpErrorKind::Insecure => (
                IndexErrorKind::Network,
                "name it with `https:`, or, in a network that you trust, add `--plain-http`",
            ),
            HttpErrorKind::Address | HttpErrorKind::Redirect => {
                (IndexErrorKind::Network, "check the address of the index")
            }
            HttpErrorKind::Connection | HttpErrorKind::Timeout => (
                IndexErrorKind::Network,
                "check the network and the proxy (`HTTPS_PROXY`, `NO_PROXY`), then try again",
            ),
        };
        Self::new(kind, error.message.clone(), hint)
    }
}
