//! Why a request got no answer.

use std::error::Error as StdError;
use std::io;

use reqwest::Url;

use super::request::shown;
use crate::escape::visible;

/// The longest text of a cause that is shown, in characters.
const CAUSE_MAX: usize = 300;

/// Why there is no answer, or not the whole of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpError {
    /// The kind of failure.
    pub kind: HttpErrorKind,
    /// The particulars, in words and without secrets.
    pub message: String,
}

/// Kinds of failures of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// The address or a header of the request is none.
    Address,
    /// The server, or where it redirects to, may not be asked without TLS.
    Insecure,
    /// No connection, or one that broke.
    Connection,
    /// The server could not prove who it is.
    Tls,
    /// No answer in time.
    Timeout,
    /// A redirect that may not be followed.
    Redirect,
    /// More bytes than such an answer can have.
    TooLong,
}

impl HttpErrorKind {
    /// Whether another attempt may go better.
    pub(crate) fn is_transient(self) -> bool {
        matches!(self, Self::Connection | Self::Timeout)
    }
}

impl HttpError {
    pub(crate) fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The failure behind an error of the HTTP crate, whose own text would repeat the whole address.
    pub(super) fn of(error: reqwest::Error, url: &Url) -> Self {
        let error = error.without_url();
        let at = shown(url);
        if error.is_timeout() {
            return Self::new(
                HttpErrorKind::Timeout,
                format!("`{at}` did not answer in time"),
            );
        }
        let cause = cause(&error);
        if is_tls(&error) {
            return Self::new(
                HttpErrorKind::Tls,
                format!("no trusted connection to `{at}`: {cause}"),
            );
        }
        if error.is_builder() {
            return Self::new(
                HttpErrorKind::Address,
                format!("`{at}` cannot be asked for: {cause}"),
            );
        }
        Self::new(
            HttpErrorKind::Connection,
            format!("no answer from `{at}`: {cause}"),
        )
    }

    /// The failure behind an error while a body is read.
    pub(super) fn of_body(error: &io::Error, url: &Url) -> Self {
        let at = shown(url);
        let timeout = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<reqwest::Error>())
            .is_some_and(reqwest::Error::is_timeout);
        if timeout {
            Self::new(
                HttpErrorKind::Timeout,
                format!("`{at}` stopped sending in the middle"),
            )
        } else {
            Self::new(
                HttpErrorKind::Connection,
                format!("the connection to `{at}` broke: {}", cause(error)),
            )
        }
    }
}

/// The innermost cause, which says most.
fn cause(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = error.to_string();
        next = error.source();
    }
    bounded(&text, CAUSE_MAX)
}

/// Foreign text, cut to `most` characters and with nothing that a terminal would obey.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    let cut: String = text.chars().take(most).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{more}", visible(&cut))
}

fn is_tls(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<rustls::Error>() {
            return true;
        }
        // the source of such an error is that of what it holds
        let held = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        if held.is_some_and(|held| is_tls(held)) {
            return true;
        }
        next = error.source();
    }
    false
}
