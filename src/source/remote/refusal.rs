//! Why a file at an address is not to be had, in words: which address, without secrets, and what to do.

use crate::archive::Fault;
use crate::source::http::{HttpError, HttpErrorKind, Response};
use crate::{Error, ErrorKind, ProblemKind};

/// Why a file, or a part of it, is not to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) kind: ProblemKind,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

const AGAIN: &str = "run again; if it stays so, download the file with another program and name it";
const ADDRESS: &str =
    "check the address, and that no proxy or login page answers in place of the server";

impl Refusal {
    /// The server answers otherwise than HTTP says.
    pub(super) fn nonsense(message: String) -> Self {
        Self {
            kind: ProblemKind::Network,
            message,
            hint: AGAIN,
        }
    }

    /// The file is another one than before.
    pub(super) fn changed(shown: &str, how: &str) -> Self {
        Self {
            kind: ProblemKind::Network,
            message: format!("`{shown}` changed while it was read: {how}"),
            hint: "run again, and pin the file by its hash: `URL#sha256=…`",
        }
    }

    /// What came is not what was stated.
    pub(super) fn size(shown: &str, has: u64, stated: u64) -> Self {
        Self {
            kind: ProblemKind::SizeMismatch,
            message: format!("`{shown}` has {has} bytes, and {stated} are stated for it"),
            hint: "the file is not the one that was meant: lock it again, or ask whoever serves it",
        }
    }

    /// No answer.
    pub(super) fn of_http(error: &HttpError) -> Self {
        let hint = match error.kind {
            HttpErrorKind::Insecure => {
                "use an address with `https:`; `--plain-http` asks one without, for networks that you trust"
            }
            HttpErrorKind::Tls => {
                "if its certificate is from an authority of your own, give that with `--ca-file FILE`"
            }
            HttpErrorKind::Connection | HttpErrorKind::Timeout => {
                "check the address, the network and the proxy (`HTTPS_PROXY`, `NO_PROXY`), then run again"
            }
            HttpErrorKind::Address | HttpErrorKind::Redirect | HttpErrorKind::TooLong => ADDRESS,
        };
        Self {
            kind: ProblemKind::Network,
            message: error.message.clone(),
            hint,
        }
    }

    /// An answer without the file. `logged_in` says whether credentials were sent.
    pub(super) fn of_answer(
        shown: &str,
        response: &Response,
        logged_in: bool,
        remark: Option<&str>,
    ) -> Self {
        let status = response.status();
        let from = response.shown();
        let redirected = if from == shown {
            String::new()
        } else {
            format!(", by way of `{from}`")
        };
        let (what, hint) = match status {
            401 | 403 if logged_in => (
                "does not take the credentials",
                "check the user and the password, and that this account may read the file",
            ),
            401 => (
                "wants credentials",
                "give them as `https://USER:PASSWORD@…`, or keep them in `~/.netrc`",
            ),
            403 => (
                "does not give the file",
                "check the address; a signed one may be too old. Where it wants credentials, give them as `https://USER:PASSWORD@…`, or keep them in `~/.netrc`",
            ),
            404 | 410 => (
                "has no such file",
                "check the address; the file may have been removed",
            ),
            429 | 500.. => ("does not give the file now", "run again later"),
            _ => ("does not give the file", ADDRESS),
        };
        let remark = remark.map_or_else(String::new, |remark| format!(" ({remark})"));
        Self {
            kind: ProblemKind::Network,
            message: format!("`{shown}`: the server {what}: status {status}{redirected}{remark}"),
            hint,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(ErrorKind::Input, refusal.message).with_hint(refusal.hint)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::new(
            refusal.kind,
            format!("{}; {}", refusal.message, refusal.hint),
        )
    }
}
