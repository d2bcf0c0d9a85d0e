//! Who may read: answers challenges of a registry with a password, or with a token that it gets for one.
//!
//! The token protocol is that of the distribution project (`spec/auth/token` and `spec/auth/oauth`). The scope is
//! always our own, reading one repository, whatever a registry proposes. A password goes to the registry that it is
//! for and to the issuer of tokens that this registry names; to an issuer without TLS only where the registry itself
//! has none.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::challenge::{self, Challenge};
use super::credentials::Credential;
use super::failure::Failure;
use super::reference::Reference;
use crate::ProblemKind;
use crate::source::Secret;
use crate::source::http::{Http, Request, Response, bounded};

/// Bytes of an answer with a token.
const TOKEN_ANSWER_MAX: u64 = 256 << 10;
/// How long a token lives that does not say so.
const USUAL_LIFE: u64 = 60;
/// The longest life that is believed.
const LONGEST_LIFE: u64 = 3600;
/// So long before its end a token is not used any more.
const MARGIN: Duration = Duration::from_secs(5);

/// Answers the challenges of one repository's registry.
#[derive(Debug)]
pub(super) struct Authorizer {
    registry: String,
    scope: String,
    /// Whether the registry itself is reached through TLS.
    https: bool,
    credential: Credential,
    grant: Mutex<Grant>,
}

/// What is sent with requests.
#[derive(Debug, Clone, Default)]
struct Grant {
    header: Option<Secret>,
    /// A token's end, and where to get another.
    renewal: Option<(Duration, Issuer)>,
}

/// Who issues tokens.
#[derive(Debug, Clone)]
struct Issuer {
    realm: String,
    service: Option<String>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}

impl Authorizer {
    /// For reading the repository of `reference`, whose registry is at `base`.
    pub(super) fn new(reference: &Reference, base: &str, credential: Credential) -> Self {
        Self {
            registry: reference.registry().to_owned(),
            scope: format!("repository:{}:pull", reference.repository()),
            https: base.starts_with("https:"),
            credential,
            grant: Mutex::default(),
        }
    }

    /// Sends `request` with what the registry asked for before, or asks for now.
    pub(super) fn send(&self, http: &Http, request: &Request) -> Result<Response, Failure> {
        let sent = self.current(http)?;
        let response = send_with(http, request, sent.as_ref())?;
        if response.status() != 401 || !response.is_from(request) {
            // a host that a redirect led to has no claim on credentials
            return Ok(response);
        }
        let challenges = challenge::parse(response.headers("www-authenticate"));
        drop(response);
        let fresh = self.answer(http, &challenges, sent.as_ref())?;
        send_with(http, request, Some(&fresh))
    }

    fn lock(&self) -> MutexGuard<'_, Grant> {
        // a grant is replaced as a whole: it is good after a panic elsewhere too
        self.grant.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to send now: nothing before the first challenge, and no token that has come to its end.
    fn current(&self, http: &Http) -> Result<Option<Secret>, Failure> {
        let mut grant = self.lock();
        if let Some((end, issuer)) = &grant.renewal
            && http.clock().now() + MARGIN >= *end
        {
            let issuer = issuer.clone();
            *grant = self.ask_issuer(http, issuer)?;
        }
        Ok(grant.header.clone())
    }

    /// What to send after a challenge to a request that was sent with `sent`.
    fn answer(
        &self,
        http: &Http,
        challenges: &[Challenge],
        sent: Option<&Secret>,
    ) -> Result<Secret, Failure> {
        let mut grant = self.lock();
        if let Some(header) = &grant.header
            && Some(header) != sent
        {
            // another thread has been through this in the meantime
            return Ok(header.clone());
        }
        let find = |scheme: &str| challenges.iter().find(|one| one.scheme == scheme);
        if let Some(bearer) = find("bearer") {
            if let Credential::Bearer(token) = &self.credential {
                *grant = self.fixed(&format!("Bearer {}", token.expose()), sent)?;
            } else {
                let issuer = self.issuer(bearer)?;
                *grant = self.ask_issuer(http, issuer)?;
            }
        } else if find("basic").is_some() {
            let Credential::Password { user, secret } = &self.credential else {
                return Err(self.no_login("it asks for a user and a password"));
            };
            *grant = self.fixed(Secret::basic(user, secret).expose(), sent)?;
        } else {
            let schemes: Vec<&str> = challenges.iter().map(|one| one.scheme.as_str()).collect();
            return Err(Failure::nonsense(format!(
                "`{}` asks for a login of a kind that is not known: `{}`",
                self.registry,
                bounded(&schemes.join(", "), 100)
            )));
        }
        grant
            .header
            .clone()
            .ok_or_else(|| self.no_login("it asks for a login"))
    }

    /// A header that does not change: sent once in vain, it is wrong.
    fn fixed(&self, header: &str, sent: Option<&Secret>) -> Result<Grant, Failure> {
        let header = Secret::new(header);
        if sent == Some(&header) {
            return Err(self.no_login("it does not take the login that is stored for it"));
        }
        Ok(Grant {
            header: Some(header),
            renewal: None,
        })
    }

    fn issuer(&self, challenge: &Challenge) -> Result<Issuer, Failure> {
        let realm = challenge.parameter("realm").unwrap_or_default();
        let Ok(request) = Request::get(realm) else {
            return Err(Failure::nonsense(format!(
                "`{}` names no address that issues tokens: `{}`",
                self.registry,
                bounded(realm, 100)
            )));
        };
        if self.https && !request.is_https() {
            return Err(Failure::new(
                ProblemKind::Network,
                format!(
                    "`{}` sends for a token to `{}`, which is not encrypted: no login is sent there",
                    self.registry,
                    request.shown()
                ),
                "the registry must name an issuer of tokens with `https:`",
            ));
        }
        Ok(Issuer {
            realm: realm.to_owned(),
            service: challenge.parameter("service").map(str::to_owned),
        })
    }

    fn ask_issuer(&self, http: &Http, issuer: Issuer) -> Result<Grant, Failure> {
        let mut fields = vec![("scope", self.scope.as_str())];
        if let Some(service) = &issuer.service {
            fields.push(("service", service));
        }
        let at_issuer = Request::get(&issuer.realm);
        let request = match &self.credential {
            Credential::Identity(token) => {
                fields.push(("grant_type", "refresh_token"));
                fields.push(("client_id", "smgate"));
                fields.push(("refresh_token", token.expose()));
                at_issuer.map(|request| request.form(&fields))
            }
            Credential::Password { user, secret } => at_issuer.and_then(|request| {
                request
                    .query(&fields)
                    .authorization(&Secret::basic(user, secret))
            }),
            Credential::None | Credential::Bearer(_) => {
                at_issuer.map(|request| request.query(&fields))
            }
        };
        let asked = http.clock().now();
        let response = request
            .and_then(|request| http.send(&request))
            .map_err(|error| Failure::of_http(&error))?;
        if response.status() != 200 {
            return Err(Failure::of_answer(response, "no token", &self.registry));
        }
        let from = response.shown();
        let bytes = response
            .read_small(TOKEN_ANSWER_MAX)
            .map_err(|error| Failure::of_http(&error))?;
        let nonsense = || Failure::nonsense(format!("`{from}` answered without a token"));
        // the text of the error could repeat a part of the token
        let answer: TokenAnswer = serde_json::from_slice(&bytes).map_err(|_secret| nonsense())?;
        let token = answer
            .token
            .filter(|token| !token.is_empty())
            .or(answer.access_token)
            .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()))
            .ok_or_else(nonsense)?;
        let life = answer.expires_in.unwrap_or(USUAL_LIFE).min(LONGEST_LIFE);
        Ok(Grant {
            header: Some(Secret::new(format!("Bearer {token}"))),
            renewal: Some((asked + Duration::from_secs(life), issuer)),
        })
    }

    fn no_login(&self, why: &str) -> Failure {
        let registry = &self.registry;
        Failure::new(
            ProblemKind::Network,
            format!("`{registry}` does not let this user in: {why}"),
            format!("log in with `docker login {registry}` or `podman login {registry}`"),
        )
    }
}

/// Sends `request` with `header` as its `Authorization`.
fn send_with(http: &Http, request: &Request, header: Option<&Secret>) -> Result<Response, Failure> {
    let request = request.clone();
    let request = match header {
        None => Ok(request),
        Some(header) => request.authorization(header),
    };
    request
        .and_then(|request| http.send(&request))
        .map_err(|error| Failure::of_http(&error))
}
