//! Files at addresses (`https:`): read by ranges where the server gives them, as a whole where it does not.
//!
//! Responsible for asking no more than once for what is needed, for noticing a file that changes while it is read, for
//! hashes where all of a file passes, and for credentials. What the files are is decided by who reads them.
//!
//! The end of a file comes first (`bytes=-65536`): it holds the directory of a zip archive, or the beginning of it.
//! Servers that answer 200, 400, 405 or 501 to that, or with other bytes than they were asked for, give the whole file,
//! which is spooled. Protocol: RFC 9110, sections 13 (`If-Range`) and 14 (ranges).

mod body;
mod file;
mod refusal;
mod slots;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use self::body::{Body, not_encoded, strong_etag};
use self::file::State;
pub use self::file::{RemoteFile, Verified};
use self::refusal::Refusal;
use self::slots::Slots;
use super::credentials::Credentials;
use super::http::{Address, Http, HttpError, HttpErrorKind, Request, Response, content_range};
use super::lock::Hash;
use super::oci::Access;
use super::secret::Secret;
use super::sum::Sum;
use crate::Error;
use crate::archive::{Fault, Ranges, SharedBytes, spool};
use crate::limits::{Limits, read_capped};

/// Bytes at the end that are asked for first. The end record and most directories of zip archives are in them.
const TAIL: u64 = 64 << 10;

/// What is known of a file before it is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expected {
    /// Its hash.
    pub hash: Option<Hash>,
    /// Bytes.
    pub size: Option<u64>,
}

impl Expected {
    /// As a lock file states it.
    pub fn new(hash: Option<Hash>, size: Option<u64>) -> Self {
        Self { hash, size }
    }
}

/// Fetches files. Cloning is cheap, and clones share connections.
#[derive(Debug, Clone)]
pub struct Fetcher {
    http: Arc<Http>,
    credentials: Option<Arc<dyn Credentials>>,
    slots: Slots,
}

/// A file on a server.
struct Remote {
    fetcher: Fetcher,
    address: Address,
    base: Request,
    authorization: OnceLock<Secret>,
    /// Bytes, where the server says.
    len: Option<u64>,
    /// With which the server tells whether the file is still the same (`If-Range`).
    validator: Option<String>,
    etag: Option<String>,
    state: Arc<State>,
}

/// How [`SharedBytes`] ask for ranges.
#[derive(Debug)]
struct Source(Arc<Remote>, u64);

impl Fetcher {
    /// A fetcher that reaches servers by `access`.
    ///
    /// # Errors
    ///
    /// A proxy or a certificate that cannot be understood.
    pub fn new(access: &Access) -> Result<Self, Error> {
        Ok(Self {
            http: Arc::new(Http::new(&access.http)?),
            credentials: access.files.clone(),
            slots: Slots::default(),
        })
    }

    /// Asks for the end of the file at `address`. A hash behind `#` is expected where `expected` has none.
    ///
    /// # Errors
    ///
    /// What is no address, what the server does not give, and a file of another size than is expected. A hash that
    /// differs is a problem of the file instead ([`RemoteFile::problem`]).
    pub fn open(
        &self,
        address: &str,
        expected: &Expected,
        limits: &Limits,
    ) -> Result<RemoteFile, Error> {
        Ok(self.try_open(address, expected, limits)?)
    }

    fn try_open(
        &self,
        address: &str,
        expected: &Expected,
        limits: &Limits,
    ) -> Result<RemoteFile, Refusal> {
        let (mut address, login) = Address::parse(address).map_err(|why| {
            let message = format!("an address that cannot be understood: {why}");
            Refusal::of_http(&HttpError::new(HttpErrorKind::Address, message))
        })?;
        let fragment = address.take_fragment().unwrap_or_default();
        let named = || fragment.split('&').find_map(named_hash);
        let hash = expected.hash.clone().or_else(named);
        let base = Request::get(address.as_str()).map_err(|error| Refusal::of_http(&error))?;
        let authorization = OnceLock::new();
        if let Some((user, password)) = login {
            let password = password.unwrap_or_else(|| Secret::new(""));
            let _first = authorization.set(Secret::basic(&user, &password));
        }
        let remote = Remote {
            fetcher: self.clone(),
            base,
            address,
            authorization,
            len: None,
            validator: None,
            etag: None,
            state: Arc::new(State::new(hash)),
        };
        remote.open(expected.size, limits)
    }
}

/// `sha256=…` as it stands behind `#`.
fn named_hash(field: &str) -> Option<Hash> {
    Hash::parse(field).filter(|hash| Sum::of(&hash.algorithm).is_some())
}

impl Remote {
    /// Asks for the end.
    fn open(mut self, size: Option<u64>, limits: &Limits) -> Result<RemoteFile, Refusal> {
        let shown = self.shown();
        let request = self.request().header("range", format!("bytes=-{TAIL}"));
        let mut response = self.send(&request)?;
        if response.status() == 416 {
            // some servers refuse to give more than there is
            let request = self
                .request()
                .header("range", format!("bytes=0-{}", TAIL - 1));
            response = self.send(&request)?;
        }
        let why = match response.status() {
            206 => {
                not_encoded(&shown, &response)?;
                match end_of(&response) {
                    Some((first, len)) => {
                        stated(&shown, len, size)?;
                        self.len = Some(len);
                        self.etag = strong_etag(&response).map(str::to_owned);
                        let modified = || response.header("last-modified").map(str::to_owned);
                        self.validator = self.etag.clone().or_else(modified);
                        return self.by_ranges(first, len, response);
                    }
                    None => "the server answers with other bytes than it was asked for".to_owned(),
                }
            }
            200 => {
                let why = "the server gives whole files only".to_owned();
                return self.whole(response, why, size, limits);
            }
            status @ (400 | 405 | 416 | 501) => {
                format!("the server answers {status} to a request for a part")
            }
            _ => return Err(self.refused(&response)),
        };
        let response = self.send(&self.request())?;
        match response.status() {
            200 => self.whole(response, why, size, limits),
            _ => Err(self.refused(&response)),
        }
    }

    /// A file that is read by ranges, whose last bytes from `first` on are in `response`.
    fn by_ranges(self, first: u64, len: u64, response: Response) -> Result<RemoteFile, Refusal> {
        let remote = Arc::new(self);
        let mut body = Body::range(&remote, first..len, Some(response))?;
        let (tail, _) = read_capped(&mut body, TAIL).map_err(|error| as_refusal(&error))?;
        drop(body);
        let bytes = if first == 0 {
            SharedBytes::from(tail)
        } else {
            SharedBytes::from_ranges(Box::new(Source(Arc::clone(&remote), len)), tail)
        };
        Ok(remote.file(bytes, None))
    }

    /// A file that came as a whole.
    fn whole(
        self,
        response: Response,
        why: String,
        size: Option<u64>,
        limits: &Limits,
    ) -> Result<RemoteFile, Refusal> {
        let shown = self.shown();
        not_encoded(&shown, &response)?;
        let claimed = response.claimed_len();
        if let Some(claimed) = claimed {
            stated(&shown, claimed, size)?;
        }
        let remote = Arc::new(self);
        let body = Body::whole(&remote, response);
        let bytes = spool(body, limits, claimed).map_err(|fault| Refusal {
            kind: fault.kind,
            message: format!("`{shown}` could not be fetched as a whole, and {why}: {fault}"),
            hint: fault.kind.hint(),
        })?;
        stated(&shown, bytes.len(), size)?;
        Ok(remote.file(bytes, Some(why)))
    }

    fn file(&self, bytes: SharedBytes, whole: Option<String>) -> RemoteFile {
        RemoteFile {
            bytes,
            name: self.address.file_name(),
            shown: self.shown(),
            whole,
            state: Arc::clone(&self.state),
        }
    }

    fn shown(&self) -> String {
        self.address.shown()
    }

    /// A request for the bytes as they are stored.
    fn request(&self) -> Request {
        self.base.clone().header("accept-encoding", "identity")
    }

    /// Sends a request, with credentials where the server wants some.
    fn send(&self, request: &Request) -> Result<Response, Refusal> {
        let of_http = |error: HttpError| Refusal::of_http(&error);
        let send = |secret: &Secret| {
            let request = request.clone().authorization(secret).map_err(of_http)?;
            self.fetcher.http.send(&request).map_err(of_http)
        };
        if let Some(secret) = self.authorization.get() {
            return send(secret);
        }
        let response = self.fetcher.http.send(request).map_err(of_http)?;
        // a host that a redirect led to has no claim on credentials
        if !matches!(response.status(), 401 | 403) || !response.is_from(request) {
            return Ok(response);
        }
        let credentials = self.fetcher.credentials.as_ref();
        let found = credentials.and_then(|known| known.for_url(self.address.as_str()));
        match found {
            Some(secret) => send(self.authorization.get_or_init(|| secret)),
            None => Ok(response),
        }
    }

    fn refused(&self, response: &Response) -> Refusal {
        let asks = matches!(response.status(), 401 | 403);
        let credentials = self.fetcher.credentials.as_ref().filter(|_| asks);
        let remark = credentials.and_then(|known| known.remark(self.address.as_str()));
        let logged_in = self.authorization.get().is_some();
        Refusal::of_answer(&self.shown(), response, logged_in, remark.as_deref())
    }
}

/// First byte and length of the file, out of an answer that must have its end.
fn end_of(response: &Response) -> Option<(u64, u64)> {
    let (first, last, total) = response.header("content-range").and_then(content_range)?;
    let len = total?;
    let whole = first == len.saturating_sub(TAIL) && last.checked_add(1) == Some(len);
    let fits = response
        .claimed_len()
        .is_none_or(|claimed| first.checked_add(claimed) == Some(len));
    (whole && fits).then_some((first, len))
}

fn stated(shown: &str, has: u64, size: Option<u64>) -> Result<(), Refusal> {
    match size {
        Some(size) if size != has => Err(Refusal::size(shown, has, size)),
        _ => Ok(()),
    }
}

/// The refusal behind an error of a [`Body`], whose words hold the next step already.
fn as_refusal(error: &io::Error) -> Refusal {
    let fault = Fault::of(error);
    Refusal {
        hint: fault.kind.hint(),
        kind: fault.kind,
        message: fault.detail,
    }
}

impl Ranges for Source {
    fn len(&self) -> u64 {
        self.1
    }

    fn open(&self, range: Range<u64>) -> io::Result<Box<dyn Read + Send>> {
        let state = &self.0.state;
        if let Some(fault) = state.failed() {
            return Err(fault.into());
        }
        match Body::range(&self.0, range, None) {
            Ok(body) => Ok(Box::new(body)),
            Err(refusal) => Err(state.fail(refusal).into()),
        }
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("address", &self.address)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
