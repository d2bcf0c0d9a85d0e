//! What a client needs to know of its surroundings, which only the command line may look at.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::source::secret::Secret;

/// Time as the client sees it: the command line gives the real one, tests one that passes at once.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Time since a moment that stays the same.
    fn now(&self) -> Duration;
    /// Waits.
    fn sleep(&self, time: Duration);
}

/// How servers are reached.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The proxy for `http:` (`http://proxy.example:3128`); it may hold a user and a password.
    pub http_proxy: Option<Secret>,
    /// The proxy for `https:`.
    pub https_proxy: Option<Secret>,
    /// Hosts that are reached without a proxy, as in `NO_PROXY`: domains, addresses and ranges, with commas
    /// between. This machine never has a proxy before it.
    pub no_proxy: String,
    /// Certificate authorities to trust beside those of the system: the bytes of a PEM file.
    pub ca_pem: Option<Vec<u8>>,
    /// Whether servers on other machines may be asked without TLS.
    pub plain_http: bool,
    /// The longest wait for a connection.
    pub connect_timeout: Duration,
    /// The longest wait for the head of an answer, and for more of its body.
    pub idle_timeout: Duration,
    /// How often a request is sent before its failure is final; at least 1.
    pub attempts: u32,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

impl HttpOptions {
    /// The usual patience, no proxy, and the certificate authorities of the system.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            http_proxy: None,
            https_proxy: None,
            no_proxy: String::new(),
            ca_pem: None,
            plain_http: false,
            connect_timeout: Duration::from_secs(20),
            idle_timeout: Duration::from_secs(60),
            attempts: 4,
            clock,
        }
    }
}
