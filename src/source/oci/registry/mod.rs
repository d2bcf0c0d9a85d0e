//! Registries: manifests and blobs of one repository, over the HTTP API of the OCI distribution specification.
//!
//! Responsible for addresses and for who answers what; what a manifest means, and which image of an index is
//! wanted, is decided by the caller.

mod auth;
mod blob;
mod challenge;
mod credentials;
mod failure;
mod helper;
mod manifest;
mod reference;

use std::sync::Arc;

use super::docker_hub;

use self::auth::Authorizer;
pub use self::blob::Blob as RemoteBlob;
pub use self::credentials::CredentialOptions;
use self::credentials::credential_for;
use self::failure::Failure;
pub use self::manifest::Fetched;
pub use self::reference::Reference;

use crate::Error;
use crate::source::credentials::Credentials;
use crate::source::http::{Http, HttpErrorKind, HttpOptions, Request, Response, is_loopback_host};

/// How registries are reached, and who asks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Access {
    /// Proxies, certificates, time.
    pub http: HttpOptions,
    /// Where logins are kept.
    pub credentials: CredentialOptions,
    /// Credentials of servers of files, asked where one wants some.
    pub files: Option<Arc<dyn Credentials>>,
}

impl Access {
    /// Access with logins out of `credentials`.
    pub fn new(http: HttpOptions, credentials: CredentialOptions) -> Self {
        Self {
            http,
            credentials,
            files: None,
        }
    }
}

/// One repository of a registry. Threads share it.
///
/// ```no_run
/// use smgate::source::oci::{Reference, Registry};
///
/// let reference: Reference = "registry.example/team/app:1.2".parse()?;
/// let registry = Registry::open(&reference, &smgate::cli::registry_access())?;
/// let fetched = registry.manifest(&reference)?;
/// println!("{} is {}", fetched.media_type, fetched.digest);
/// # Ok::<(), smgate::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Registry {
    pub(super) session: Arc<Session>,
}

/// What requests to a repository share.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) http: Http,
    pub(super) reference: Reference,
    /// `https://registry.example:5000`
    base: String,
    authorizer: Authorizer,
}

impl Registry {
    /// Prepares to read the repository of `reference`. A registry on this machine is asked whether it speaks TLS;
    /// any other is asked for nothing yet.
    ///
    /// # Errors
    ///
    /// Options that cannot be understood, and files of credentials or helpers that fail.
    pub fn open(reference: &Reference, access: &Access) -> Result<Self, Error> {
        let http = Http::new(&access.http)?;
        let base = base(&http, reference.registry());
        let credential = credential_for(
            reference.registry(),
            reference.repository(),
            &access.credentials,
        )?;
        let authorizer = Authorizer::new(reference, &base, credential);
        Ok(Self {
            session: Arc::new(Session {
                http,
                reference: reference.clone(),
                base,
                authorizer,
            }),
        })
    }

    /// The image that was named.
    pub fn reference(&self) -> &Reference {
        &self.session.reference
    }
}

impl Session {
    /// A request for something of the repository: `blobs/sha256:…`.
    fn request(&self, path: &str) -> Result<Request, Failure> {
        let repository = self.reference.repository();
        Request::get(&format!("{}/v2/{repository}/{path}", self.base))
            .map_err(|error| Failure::of_http(&error))
    }

    /// Sends a request with what the registry asks for, and once more with a fresh token where the one that was
    /// sent is not good any longer. Every other answer is for the caller to judge.
    fn send(&self, request: &Request) -> Result<Response, Failure> {
        self.authorizer.send(&self.http, request)
    }

    /// What an answer that is not the one asked for means.
    fn refused(&self, response: Response, what: &str) -> Failure {
        Failure::of_answer(response, what, self.reference.registry())
    }
}

/// The scheme and the host of a registry. Without TLS only where that was asked for, or on this machine.
fn base(http: &Http, registry: &str) -> String {
    let host = docker_hub::api_host(registry);
    if http.plain_http() {
        return format!("http://{host}");
    }
    let base = format!("https://{host}");
    let Ok(probe) = Request::get(&format!("{base}/v2/")) else {
        return base;
    };
    let bare = host.rsplit_once(':').map_or(
        host,
        |(bare, port)| {
            if port.ends_with(']') { host } else { bare }
        },
    );
    if is_loopback_host(bare) {
        // a registry for tests seldom has a certificate, and nobody listens in between
        let spoken = http.send_once(&probe);
        if spoken.is_err_and(|error| error.kind != HttpErrorKind::Timeout) {
            return format!("http://{host}");
        }
    }
    base
}

#[cfg(test)]
pub(super) mod tests;
