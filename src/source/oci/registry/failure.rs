//! Failures of a registry, in words: what was asked for, what it answered, what to do.

use serde::Deserialize;

use crate::archive::Fault;
use crate::source::http::{HttpError, HttpErrorKind, Response, bounded};
use crate::{Error, ErrorKind, ProblemKind};

/// Bytes of an answer that are read for its messages.
const ANSWER_MAX: u64 = 64 << 10;
/// Messages of one answer that are shown.
const MESSAGES_MAX: usize = 3;
/// Characters of one message that are shown.
const MESSAGE_MAX: usize = 200;

/// The body of an error, after the distribution specification. oci-spec's type refuses every answer with a code
/// that is not in the specification, and registries have many.
#[derive(Deserialize)]
struct Answer {
    errors: Vec<Said>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// Why a registry did not give what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: ProblemKind,
    pub(super) message: String,
    pub(super) hint: String,
}

impl Failure {
    pub(super) fn new(
        kind: ProblemKind,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// What came is not what its digest or its size says.
    pub(super) fn damaged(kind: ProblemKind, message: impl Into<String>) -> Self {
        Self::new(
            kind,
            message,
            "pull it again; if it stays so, the registry or something before it is damaged, and the image must be pushed again",
        )
    }

    /// The registry breaks the rules of its own protocol.
    pub(super) fn nonsense(message: impl Into<String>) -> Self {
        Self::new(
            ProblemKind::Network,
            message,
            "check that the name is that of a registry, and that no proxy or login page answers in its place",
        )
    }

    /// No answer.
    pub(super) fn of_http(error: &HttpError) -> Self {
        let hint = match error.kind {
            HttpErrorKind::Insecure => {
                "use a registry with TLS; `--plain-http` asks one without, for networks that you trust"
            }
            HttpErrorKind::Tls => {
                "if its certificate is from an authority of your own, give that with `--ca-file FILE`"
            }
            HttpErrorKind::Connection | HttpErrorKind::Timeout => {
                "check the name, the network and the proxy (`HTTPS_PROXY`, `NO_PROXY`), then run again"
            }
            HttpErrorKind::Address | HttpErrorKind::Redirect | HttpErrorKind::TooLong => {
                "check that the name is that of a registry, and that no proxy or login page answers in its place"
            }
        };
        Self::new(ProblemKind::Network, error.message.clone(), hint)
    }

    /// Another answer than the one that was asked for. `what` was asked for, of `registry`.
    pub(super) fn of_answer(response: Response, what: &str, registry: &str) -> Self {
        let status = response.status();
        let from = response.shown();
        let wait = response
            .header("retry-after")
            .map(|wait| bounded(wait, MESSAGE_MAX));
        let said = said(response);
        let codes = |code: &str| said.contains(code);
        let login = format!("log in with `docker login {registry}` or `podman login {registry}`");
        let hint = match status {
            401 => format!("{login}; if you are, check that this account may pull it"),
            403 => format!("ask for the right to pull it, or {login} as an account that may"),
            404 if codes("NAME_UNKNOWN") => {
                "check the registry and the name of the repository".to_owned()
            }
            404 if codes("MANIFEST_UNKNOWN") => {
                "check the tag or the digest: the repository has no such image".to_owned()
            }
            404 if codes("BLOB_UNKNOWN") => {
                "the image is incomplete on the registry: push it again".to_owned()
            }
            404 => "check the registry, the name and the tag".to_owned(),
            429 => {
                let wait =
                    wait.map_or_else(|| "later".to_owned(), |wait| format!("in {wait} seconds"));
                format!("run again {wait}, or {login}: accounts may pull more than others")
            }
            500.. => "run again later: the registry itself failed".to_owned(),
            _ => "check that the name is that of a registry, and that no proxy or login page answers in its place"
                .to_owned(),
        };
        Self::new(
            ProblemKind::Network,
            format!("{what}: `{from}` answered {status}{said}"),
            hint,
        )
    }
}

/// The messages in an answer, cut and escaped: they are foreign text.
fn said(response: Response) -> String {
    let Ok(bytes) = response.read_small(ANSWER_MAX) else {
        return String::new();
    };
    let Ok(answer) = serde_json::from_slice::<Answer>(&bytes) else {
        return String::new();
    };
    let messages = answer.errors.iter().take(MESSAGES_MAX).map(|said| {
        let code = bounded(&said.code, MESSAGE_MAX);
        let message = bounded(&said.message, MESSAGE_MAX);
        match (code.is_empty(), message.is_empty()) {
            (true, true) => String::new(),
            (false, true) => format!(" ({code})"),
            (true, false) => format!(" ({message})"),
            (false, false) => format!(" ({code}: {message})"),
        }
    });
    messages.collect()
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::new(ErrorKind::Input, failure.message).with_hint(failure.hint)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::new(
            failure.kind,
            format!("{}; {}", failure.message, failure.hint),
        )
    }
}
