//! Requests and answers.

use std::fmt;
use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;

use super::address::Address;
use super::error::{HttpError, HttpErrorKind, bounded};
use super::options::Clock;
use crate::source::hide::path_without_secrets;
use crate::source::secret::Secret;

/// Time in which a body must bring [`LEAST`] bytes, waiting for it alone counted.
const PATIENCE: Duration = Duration::from_secs(60);
/// See [`PATIENCE`]: about 1 KiB a second.
const LEAST: u64 = 60 << 10;
/// The longest address that is shown, in characters.
const SHOWN_MAX: usize = 300;

/// What is asked of a server.
#[derive(Clone)]
pub struct Request {
    pub(super) url: Url,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) authorization: Option<HeaderValue>,
    pub(super) body: Body,
}

/// What goes with a request.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Body {
    /// Nothing: `GET`.
    None,
    /// Fields of a form, encoded: `POST`.
    Form(Secret),
}

impl Request {
    /// Asks for what is at `address`.
    ///
    /// # Errors
    ///
    /// An address that is none.
    pub fn get(address: &str) -> Result<Self, HttpError> {
        let url = Url::parse(address).map_err(|error| {
            HttpError::new(
                HttpErrorKind::Address,
                format!("an address that cannot be understood: {error}"),
            )
        })?;
        if !url.has_host() {
            return Err(HttpError::new(
                HttpErrorKind::Address,
                "an address without a host",
            ));
        }
        Ok(Self {
            url,
            headers: Vec::new(),
            authorization: None,
            body: Body::None,
        })
    }

    /// Adds fields to the query of the address.
    #[must_use]
    pub fn query(mut self, fields: &[(&str, &str)]) -> Self {
        self.url.query_pairs_mut().extend_pairs(fields);
        self
    }

    /// Sends fields as a form instead. They may be secret, and are never sent on by a redirect.
    #[must_use]
    pub fn form(mut self, fields: &[(&str, &str)]) -> Self {
        let mut encoder = self.url.clone();
        encoder.query_pairs_mut().clear().extend_pairs(fields);
        self.body = Body::Form(Secret::new(encoder.query().unwrap_or_default()));
        self
    }

    /// Adds a header; `name` in lower case.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sends `value` as `Authorization`, to the host, port and scheme of this request alone.
    ///
    /// # Errors
    ///
    /// A secret that no header can hold.
    pub fn authorization(mut self, value: &Secret) -> Result<Self, HttpError> {
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_secret| {
            HttpError::new(
                HttpErrorKind::Address,
                "credentials with characters that no header can hold",
            )
        })?;
        value.set_sensitive(true);
        self.authorization = Some(value);
        Ok(self)
    }

    /// The address, without what may be secret in it.
    pub fn shown(&self) -> String {
        shown(&self.url)
    }

    /// Whether it goes through TLS.
    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Request").field(&self.shown()).finish()
    }
}

/// What a server answered. Its body is read as a stream.
pub struct Response {
    inner: reqwest::blocking::Response,
    url: Url,
    clock: Arc<dyn Clock>,
    waited: Duration,
    received: u64,
}

impl Response {
    pub(super) fn new(inner: reqwest::blocking::Response, url: Url, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner,
            url,
            clock,
            waited: Duration::ZERO,
            received: 0,
        }
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.inner.status().as_u16()
    }

    /// A header, where it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.inner.headers().get(name)?.to_str().ok()
    }

    /// Every header of a name that is text, in their order.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        let all = self.inner.headers().get_all(name).iter();
        all.filter_map(|value| value.to_str().ok())
    }

    /// Bytes of the body, as the server states them.
    pub fn claimed_len(&self) -> Option<u64> {
        self.header("content-length")?.trim().parse().ok()
    }

    /// Whether it came from the host, port and scheme that `request` went to: no redirect led elsewhere.
    pub fn is_from(&self, request: &Request) -> bool {
        origin(&self.url) == origin(&request.url)
    }

    /// The address that answered, without what may be secret in it.
    pub fn shown(&self) -> String {
        shown(&self.url)
    }

    /// The address that answered, for what is relative to it.
    pub(crate) fn address(&self) -> Option<Address> {
        let found = Address::parse(self.url.as_str()).ok();
        found.map(|(address, _login)| address)
    }

    /// The whole body, of `most` bytes at most, and within a minute.
    ///
    /// # Errors
    ///
    /// A body that is longer, slower, or breaks off.
    pub fn read_small(mut self, most: u64) -> Result<Vec<u8>, HttpError> {
        let until = self.clock.now() + PATIENCE;
        let mut bytes = Vec::new();
        let mut chunk = vec![0; 16 << 10];
        loop {
            let len = self
                .read(&mut chunk)
                .map_err(|error| self.error_of(&error))?;
            if len == 0 {
                return Ok(bytes);
            }
            bytes.extend(chunk.iter().take(len));
            if bytes.len() as u64 > most {
                return Err(HttpError::new(
                    HttpErrorKind::TooLong,
                    format!("`{}` sent more than {most} bytes", self.shown()),
                ));
            }
            if self.clock.now() > until {
                return Err(self.too_slow());
            }
        }
    }

    /// The failure behind an error of reading the body.
    pub(crate) fn error_of(&self, error: &io::Error) -> HttpError {
        let own = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<HttpError>());
        own.cloned()
            .unwrap_or_else(|| HttpError::of_body(error, &self.url))
    }

    fn too_slow(&self) -> HttpError {
        HttpError::new(
            HttpErrorKind::Timeout,
            format!("`{}` sends too slowly", self.shown()),
        )
    }
}

impl Read for Response {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let before = self.clock.now();
        let len = self.inner.read(buf)?;
        self.waited += self.clock.now().saturating_sub(before);
        self.received += len as u64;
        if self.waited > PATIENCE {
            if self.received < LEAST && len > 0 {
                return Err(io::Error::other(self.too_slow()));
            }
            self.waited = Duration::ZERO;
            self.received = 0;
        }
        Ok(len)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status())
            .field("from", &self.shown())
            .finish_non_exhaustive()
    }
}

/// Scheme, host and port of an address.
pub(super) fn origin(url: &Url) -> (&str, Option<&str>, Option<u16>) {
    (url.scheme(), url.host_str(), url.port_or_known_default())
}

/// An address without user, password, query, fragment and the tokens of conda, which may be or hold secrets.
pub(super) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    bounded(
        &format!(
            "{}://{host}{port}{}",
            url.scheme(),
            path_without_secrets(url.path())
        ),
        SHOWN_MAX,
    )
}

/// Whether an address is one of this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(is_loopback_host)
}

/// Whether a host, an IPv6 address in its brackets, is this machine.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address: Result<IpAddr, _> = bare.parse();
    address.map_or_else(
        |_name| host.eq_ignore_ascii_case("localhost"),
        |address| address.is_loopback(),
    )
}
