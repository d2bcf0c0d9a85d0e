//! Logins: the files of Docker and podman, and the helpers that they name.
//!
//! `auths`, `credHelpers` and `credsStore` of Docker's `config.json`, and podman's `auth.json`, whose keys may name
//! a repository or a part of one (`containers-auth.json(5)`). A login is looked for in each file in turn: the helper
//! for the registry, the store of all logins, then the file itself, where the longest key that fits counts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::helper;
use crate::escape::visible;
use crate::limits::read_capped;
use crate::source::Secret;
use crate::source::oci::docker_hub;
use crate::{Error, ErrorKind};

/// Bytes of a file with logins.
const FILE_MAX: u64 = 4 << 20;

/// Where logins are kept. The command line fills it from its environment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CredentialOptions {
    /// Files to look into, in this order; those that do not exist are passed over.
    pub files: Vec<PathBuf>,
    /// The longest wait for a helper.
    pub helper_timeout: Duration,
    /// Where helpers are looked for, as in `PATH`; where this process looks if it is not given.
    pub helper_path: Option<OsString>,
}

impl CredentialOptions {
    /// Looks into `files`, and waits for helpers for half a minute.
    pub fn new(files: Vec<PathBuf>) -> Self {
        Self {
            files,
            helper_timeout: Duration::from_secs(30),
            helper_path: None,
        }
    }
}

/// A login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Credential {
    /// Nobody in particular.
    None,
    /// A user with a password.
    Password {
        /// The user.
        user: String,
        /// The password.
        secret: Secret,
    },
    /// An identity token, which an issuer takes for tokens.
    Identity(Secret),
    /// A token that is sent as it is.
    Bearer(Secret),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(default)]
    auths: BTreeMap<String, Entry>,
    #[serde(default)]
    cred_helpers: BTreeMap<String, String>,
    #[serde(default)]
    creds_store: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
    registrytoken: String,
}

/// The login for a repository of a registry, `Credential::None` where there is none.
///
/// # Errors
///
/// A file that cannot be read or understood, and a helper that fails: going on without a login would look like a
/// missing image.
pub(super) fn credential_for(
    registry: &str,
    repository: &str,
    options: &CredentialOptions,
) -> Result<Credential, Error> {
    for path in &options.files {
        let Some(bytes) = read(path)? else {
            continue;
        };
        // the text of the error could repeat a part of a secret
        let config: Config = serde_json::from_slice(&bytes).map_err(|error| {
            let place = format!("line {} column {}", error.line(), error.column());
            unusable(path, &format!("is no file of logins: {place}"))
        })?;
        let found = in_config(&config, registry, repository, options, path)?;
        if found != Credential::None {
            return Ok(found);
        }
    }
    Ok(Credential::None)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unusable(path, "could not be opened").with_source(error)),
    };
    match read_capped(file, FILE_MAX) {
        Ok((bytes, false)) => Ok(Some(bytes)),
        Ok((_, true)) => Err(unusable(
            path,
            &format!("has more than {FILE_MAX} bytes, and is no file of logins"),
        )),
        Err(error) => Err(unusable(path, "could not be read").with_source(error)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn unusable(path: &Path, why: &str) -> Error {
    let path = path.to_string_lossy();
    let message = format!("`{}` {why}", visible(&path));
    Error::new(ErrorKind::Input, message).with_hint(
        "correct it, or have `docker login` or `podman login` write it anew; `DOCKER_CONFIG` names another directory",
    )
}

fn in_config(
    config: &Config,
    registry: &str,
    repository: &str,
    options: &CredentialOptions,
    path: &Path,
) -> Result<Credential, Error> {
    let own_helper = longest(config.cred_helpers.iter(), registry, repository);
    let helpers = own_helper.into_iter().chain([&config.creds_store]);
    for name in helpers.filter(|name| !name.is_empty()) {
        let server = if docker_hub::is(registry) {
            docker_hub::CREDENTIAL_KEY
        } else {
            registry
        };
        let found = helper::get(name, server, options)?;
        if found != Credential::None {
            return Ok(found);
        }
    }
    let logins = config.auths.iter().filter(|(_, entry)| !entry.is_empty());
    let own = longest(logins, registry, repository);
    own.map_or(Ok(Credential::None), |entry| {
        entry.credential().ok_or_else(|| {
            unusable(
                path,
                &format!("has a login for `{registry}` that is damaged"),
            )
        })
    })
}

/// The value whose key says most of the repository. Of equal ones the first in the alphabet counts, so that the order
/// of the file plays no part.
fn longest<'c, V>(
    all: impl Iterator<Item = (&'c String, &'c V)>,
    registry: &str,
    repository: &str,
) -> Option<&'c V> {
    let fitting =
        all.filter_map(|(key, value)| Some((prefix_len(key, registry, repository)?, value)));
    let best = fitting.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, value)| value)
}

/// How many characters of the repository a key names, if it names this registry and nothing else: 0 for the registry
/// alone.
fn prefix_len(key: &str, registry: &str, repository: &str) -> Option<usize> {
    let with_scheme = ["https://", "http://"]
        .iter()
        .find_map(|scheme| key.strip_prefix(scheme));
    let (host, path) = match with_scheme.unwrap_or(key).split_once('/') {
        Some((host, path)) => (host, path.trim_end_matches('/')),
        None => (with_scheme.unwrap_or(key), ""),
    };
    let host = host.to_ascii_lowercase();
    let same_host = host == registry || (docker_hub::is(&host) && docker_hub::is(registry));
    if !same_host {
        return None;
    }
    // `docker login` writes addresses of the API, of which the path says nothing
    if with_scheme.is_some() || matches!(path, "" | "v1" | "v2") {
        return Some(0);
    }
    let rest = repository.strip_prefix(path)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(path.len())
}

impl Entry {
    fn is_empty(&self) -> bool {
        self.auth.is_empty()
            && self.username.is_empty()
            && self.identitytoken.is_empty()
            && self.registrytoken.is_empty()
    }

    fn credential(&self) -> Option<Credential> {
        if !self.registrytoken.is_empty() {
            return Some(Credential::Bearer(Secret::new(&self.registrytoken)));
        }
        if !self.identitytoken.is_empty() {
            return Some(Credential::Identity(Secret::new(&self.identitytoken)));
        }
        if self.auth.is_empty() {
            return Some(Credential::Password {
                user: self.username.clone(),
                secret: Secret::new(&self.password),
            });
        }
        let bytes = STANDARD.decode(self.auth.trim()).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (user, secret) = text.split_once(':')?;
        Some(Credential::Password {
            user: user.to_owned(),
            // Docker writes zeros behind some
            secret: Secret::new(secret.trim_end_matches('\0')),
        })
    }
}

#[cfg(test)]
mod tests;
