//! Pages over HTTP: what is asked for, with a login where the server wants one, and what the answer is.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::{IndexError, IndexErrorKind};
use super::{Page, html, json};
use crate::limits::read_capped;
use crate::source::credentials::Credentials;
use crate::source::http::{Address, Http, HttpError, Request, Response, bounded};

/// Bytes of a page. The largest ones of public indexes have about 30 MB.
pub(super) const PAGE_MAX: u64 = 64 << 20;
/// How often a page is asked for whose body breaks off.
const BODY_ATTEMPTS: u32 = 3;
/// What is asked for, as pip does: JSON, then HTML.
const ACCEPT: &str = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01";

/// Asks servers for pages.
#[derive(Debug)]
pub(super) struct Fetcher {
    pub(super) http: Arc<Http>,
    pub(super) credentials: Arc<dyn Credentials>,
    pub(super) offline: bool,
    /// Servers that have asked for a login, and were content with it.
    pub(super) with_login: Mutex<BTreeSet<String>>,
}

impl Fetcher {
    /// The page at `at`; with a login from the beginning where `eager`.
    pub(super) fn page(&self, at: &Address, eager: bool) -> Result<Page, IndexError> {
        if self.offline {
            return Err(IndexError::new(
                IndexErrorKind::Offline,
                format!("`{}` is not asked, because this run is offline", at.shown()),
                "leave out `--offline`, or name a directory that holds the wheels with `--find-links`",
            ));
        }
        let mut attempt = 1;
        loop {
            let response = self.answer(at, eager)?;
            let media_type = response.header("content-type").unwrap_or_default();
            let media_type = MediaType::of(media_type, &response)?;
            let from = response.address().unwrap_or_else(|| at.clone());
            match body(response) {
                Ok(Some(bytes)) => return media_type.parse(&bytes, &from),
                Ok(None) => {
                    let most = format!("{PAGE_MAX} bytes");
                    return Err(IndexError::too_large(&from.shown(), &most));
                }
                Err(error) if error.kind.is_transient() && attempt < BODY_ATTEMPTS => {
                    self.http.clock().sleep(Http::pause(attempt));
                    attempt += 1;
                }
                Err(error) => return Err(IndexError::of_http(&error)),
            }
        }
    }

    /// An answer with a page.
    fn answer(&self, at: &Address, eager: bool) -> Result<Response, IndexError> {
        let request = Request::get(at.as_str())
            .map(|request| request.header("accept", ACCEPT))
            .map_err(|error| IndexError::of_http(&error))?;
        let origin = at.origin();
        let send_login = eager || self.known().contains(&origin);
        if !send_login {
            let response = self.send(&request)?;
            let asks = matches!(response.status(), 401 | 403);
            // a host that a redirect led to has no claim on a login
            if !asks || !response.is_from(&request) {
                return judged(response, at, None);
            }
            let Some(login) = self.credentials.for_url(at.as_str()) else {
                return judged(response, at, self.credentials.remark(at.as_str()));
            };
            drop(response);
            return self.with(&request, &login, at, origin);
        }
        match self.credentials.for_url(at.as_str()) {
            Some(login) => self.with(&request, &login, at, origin),
            None => judged(
                self.send(&request)?,
                at,
                self.credentials.remark(at.as_str()),
            ),
        }
    }

    fn with(
        &self,
        request: &Request,
        login: &crate::source::Secret,
        at: &Address,
        origin: String,
    ) -> Result<Response, IndexError> {
        let request = request
            .clone()
            .authorization(login)
            .map_err(|error| IndexError::of_http(&error))?;
        let response = self.send(&request)?;
        // a server that took the login before means something else by 403
        let refuses = match response.status() {
            401 => true,
            403 => !self.known().contains(&origin),
            _ => false,
        };
        if refuses && response.is_from(&request) {
            let why = "does not take the login that is known for it";
            return Err(refused(&response, at, why, None));
        }
        self.known().insert(origin);
        judged(response, at, None)
    }

    fn send(&self, request: &Request) -> Result<Response, IndexError> {
        self.http
            .send(request)
            .map_err(|error| IndexError::of_http(&error))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        // a set is good after a panic elsewhere too
        self.with_login
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an answer of each status is. Static stores answer 403 for what they do not have; where a server says how to
/// log in, or where a login would have helped, it means what it says.
fn judged(
    response: Response,
    at: &Address,
    remark: Option<String>,
) -> Result<Response, IndexError> {
    match response.status() {
        200 => Ok(response),
        404 | 410 => Err(no_project(at, &format!("answers {}", response.status()))),
        403 if response.header("www-authenticate").is_none() && remark.is_none() => Err(
            no_project(at, "answers 403, as some do for what they do not have"),
        ),
        401 | 403 => Err(refused(&response, at, "asks for a login", remark)),
        status => Err(IndexError::new(
            IndexErrorKind::Network,
            format!("`{}` answers {status}", response.shown()),
            "try again later, or ask who runs the index",
        )),
    }
}

/// There is nothing at `at`.
pub(super) fn no_project(at: &Address, why: &str) -> IndexError {
    IndexError::new(
        IndexErrorKind::NoProject,
        format!("`{}` {why}", at.shown()),
        "name the index that has the package with `--index-url URL` or `--extra-index-url URL`",
    )
}

fn refused(response: &Response, at: &Address, why: &str, remark: Option<String>) -> IndexError {
    let remark = remark
        .map(|remark| format!("; {remark}"))
        .unwrap_or_default();
    IndexError::new(
        IndexErrorKind::Refused,
        format!(
            "`{}` {why} ({}){remark}",
            response.shown(),
            response.status()
        ),
        format!(
            "put a user and a password for `{}` into `.netrc`, or into the address of the index; for an index with a \
             name set `UV_INDEX_NAME_USERNAME` and `UV_INDEX_NAME_PASSWORD`; or add `--keyring-provider subprocess`",
            at.host()
        ),
    )
}

/// The body; nothing where it is too long.
fn body(mut response: Response) -> Result<Option<Vec<u8>>, HttpError> {
    match read_capped(response.by_ref(), PAGE_MAX) {
        Ok((bytes, more)) => Ok((!more).then_some(bytes)),
        Err(error) => Err(response.error_of(&error)),
    }
}

#[derive(Clone, Copy)]
enum MediaType {
    Json,
    Html,
}

impl MediaType {
    fn of(header: &str, response: &Response) -> Result<Self, IndexError> {
        let bare = header.split(';').next().unwrap_or_default().trim();
        match bare.to_ascii_lowercase().as_str() {
            "application/vnd.pypi.simple.v1+json" => Ok(Self::Json),
            "application/vnd.pypi.simple.v1+html" | "text/html" => Ok(Self::Html),
            _ => {
                let why = format!(
                    "answers with `{}`, which is no page of an index",
                    bounded(bare, 100)
                );
                Err(IndexError::wrong_page(&response.shown(), &why))
            }
        }
    }

    fn parse(self, bytes: &[u8], at: &Address) -> Result<Page, IndexError> {
        match self {
            Self::Json => json::parse(bytes, at),
            Self::Html => html::parse(bytes, at),
        }
    }
}
