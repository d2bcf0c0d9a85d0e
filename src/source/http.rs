//! HTTP for inputs on other machines: proxies, certificate authorities, redirects and repeated attempts.
//!
//! The only module that names the HTTP and TLS crates. It knows nothing of registries or of packages, reads no
//! environment, and looks at no clock but the one that it is given. What it says of an address never holds a
//! user, a password or a query, which may be a signature.

mod address;
mod error;
mod options;
mod request;
mod tls;
mod transfer;

use std::sync::Arc;
use std::time::Duration;

use reqwest::blocking::Client;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{NoProxy, Proxy, Url};

use crate::{Error, ErrorKind};

pub(crate) use self::address::{Address, Login};
pub(crate) use self::error::bounded;
pub use self::error::{HttpError, HttpErrorKind};
pub use self::options::{Clock, HttpOptions};
pub(crate) use self::request::is_loopback_host;
use self::request::{Body, is_loopback, origin, shown};
pub use self::request::{Request, Response};
pub(crate) use self::transfer::{Patience, content_range};

/// Redirects that are followed for one request.
const REDIRECTS: usize = 5;
/// The pause before the second attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause that this client chooses by itself.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// The longest pause that a server may ask for; where it wants more, its answer is taken as final.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);
/// Hosts that no proxy stands before.
const THIS_MACHINE: &str = "localhost,127.0.0.0/8,::1";

/// A client for requests over HTTP. Threads share it.
#[derive(Debug)]
pub struct Http {
    client: Client,
    clock: Arc<dyn Clock>,
    attempts: u32,
    unencrypted: bool,
}

impl Http {
    /// A client after `options`.
    ///
    /// # Errors
    ///
    /// A proxy or a certificate that cannot be understood.
    pub fn new(options: &HttpOptions) -> Result<Self, Error> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config(options.ca_pem.as_deref())?)
            .user_agent(concat!("smgate/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(options.connect_timeout)
            // covers the head of an answer, then each read of its body
            .timeout(options.idle_timeout)
            .no_proxy();
        for proxy in proxies(options)? {
            builder = builder.proxy(proxy);
        }
        let client = builder.build().map_err(|error| {
            Error::new(ErrorKind::Input, "the HTTP client could not be set up").with_source(error)
        })?;
        Ok(Self {
            client,
            clock: Arc::clone(&options.clock),
            attempts: options.attempts.max(1),
            unencrypted: options.plain_http,
        })
    }

    /// Whether requests without TLS were asked for.
    pub(crate) fn plain_http(&self) -> bool {
        self.unencrypted
    }

    /// The clock of this client.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// How long to wait before the attempt after the `attempt`th.
    pub(crate) fn pause(attempt: u32) -> Duration {
        let factor = 1_u32 << attempt.saturating_sub(1).min(10);
        FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)
    }

    /// Sends `request`, follows redirects, and repeats where the failure may pass: no connection, 408, 429, 5xx.
    ///
    /// An answer of any other status is an answer. `Authorization` goes to the host, port and scheme of the
    /// request alone.
    ///
    /// # Errors
    ///
    /// No answer, or a redirect that may not be followed.
    pub fn send(&self, request: &Request) -> Result<Response, HttpError> {
        self.send_up_to(request, self.attempts)
    }

    /// [`Http::send`] with one attempt.
    pub(crate) fn send_once(&self, request: &Request) -> Result<Response, HttpError> {
        self.send_up_to(request, 1)
    }

    fn send_up_to(&self, request: &Request, attempts: u32) -> Result<Response, HttpError> {
        let mut attempt = 1;
        loop {
            let outcome = self.follow(request);
            let asked = match &outcome {
                Ok(response) if is_transient(response.status()) => retry_after(response),
                Err(error) if error.kind.is_transient() => None,
                _ => return outcome,
            };
            if attempt >= attempts || asked > Some(LONGEST_RETRY_AFTER) {
                return outcome;
            }
            self.clock.sleep(asked.unwrap_or(Self::pause(attempt)));
            attempt += 1;
        }
    }

    fn follow(&self, request: &Request) -> Result<Response, HttpError> {
        let mut url = request.url.clone();
        let mut authorization = request.authorization.as_ref();
        for _ in 0..=REDIRECTS {
            self.may_be_asked(&url)?;
            let response = self.once(request, &url, authorization)?;
            let Some(location) = redirect(&response) else {
                return Ok(response);
            };
            let next = location
                .ok()
                .and_then(|location| url.join(location).ok())
                .ok_or_else(|| {
                    HttpError::new(
                        HttpErrorKind::Redirect,
                        format!("`{}` redirects to an address that is none", shown(&url)),
                    )
                })?;
            if request.body != Body::None {
                return Err(HttpError::new(
                    HttpErrorKind::Redirect,
                    format!("`{}` redirects a request that holds a secret", shown(&url)),
                ));
            }
            if url.scheme() == "https" && next.scheme() != "https" {
                return Err(HttpError::new(
                    HttpErrorKind::Insecure,
                    format!(
                        "`{}` redirects to `{}`, which is not encrypted",
                        shown(&url),
                        shown(&next)
                    ),
                ));
            }
            if origin(&next) != origin(&url) {
                authorization = None;
            }
            url = next;
        }
        Err(HttpError::new(
            HttpErrorKind::Redirect,
            format!(
                "`{}` redirects more than {REDIRECTS} times",
                shown(&request.url)
            ),
        ))
    }

    fn may_be_asked(&self, url: &Url) -> Result<(), HttpError> {
        let may = match url.scheme() {
            "https" => true,
            "http" => self.unencrypted || is_loopback(url),
            _ => false,
        };
        if may && url.username().is_empty() && url.password().is_none() {
            return Ok(());
        }
        let why = if may {
            "holds a user, and no credentials are taken from an address"
        } else {
            "is not `https:`"
        };
        Err(HttpError::new(
            HttpErrorKind::Insecure,
            format!("`{}` {why}", shown(url)),
        ))
    }

    fn once(
        &self,
        request: &Request,
        url: &Url,
        authorization: Option<&HeaderValue>,
    ) -> Result<Response, HttpError> {
        let mut builder = match &request.body {
            Body::None => self.client.get(url.clone()),
            Body::Form(form) => self
                .client
                .post(url.clone())
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form.expose().to_owned()),
        };
        for (name, value) in &request.headers {
            let value = HeaderValue::from_str(value).map_err(|_invalid| {
                HttpError::new(
                    HttpErrorKind::Address,
                    format!("a value for the header `{name}` that no header can hold"),
                )
            })?;
            builder = builder.header(HeaderName::from_static(name), value);
        }
        if let Some(value) = authorization {
            builder = builder.header(AUTHORIZATION, value.clone());
        }
        match builder.send() {
            Ok(inner) => Ok(Response::new(inner, url.clone(), Arc::clone(&self.clock))),
            Err(error) => Err(HttpError::of(error, url)),
        }
    }
}

/// Statuses that another attempt may not see again.
fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// Where an answer leads, if it is a redirect; `Err` for a place that is no text.
fn redirect(response: &Response) -> Option<Result<&str, ()>> {
    if !matches!(response.status(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    Some(response.header(LOCATION.as_str()).ok_or(()))
}

/// The pause that a server asks for. A date says nothing without the time of day, and is passed over.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.header(RETRY_AFTER.as_str())?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn proxies(options: &HttpOptions) -> Result<Vec<Proxy>, Error> {
    let given = [
        ("http", &options.http_proxy),
        ("https", &options.https_proxy),
    ];
    let mut proxies = Vec::new();
    for (scheme, proxy) in given {
        let Some(proxy) = proxy.as_ref().filter(|proxy| !proxy.expose().is_empty()) else {
            continue;
        };
        let wrong = || {
            let message = format!("the proxy for `{scheme}:` is no address of an HTTP proxy");
            Error::new(ErrorKind::Usage, message).with_hint(
                "give it as `http://HOST:PORT`, with `USER:PASSWORD@` before the host where it asks for that",
            )
        };
        let text = proxy.expose();
        let address = if text.contains("://") {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        let url = Url::parse(&address).map_err(|_secret| wrong())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong());
        }
        let made = match scheme {
            "http" => Proxy::http(url),
            _ => Proxy::https(url),
        };
        let direct = format!("{THIS_MACHINE},{}", options.no_proxy);
        let made = made.map_err(|_secret| wrong())?;
        proxies.push(made.no_proxy(NoProxy::from_string(&direct)));
    }
    Ok(proxies)
}

#[cfg(test)]
pub(crate) mod stub;
#[cfg(test)]
mod tests;
