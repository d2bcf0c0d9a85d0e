//! Logins of indexes: from their addresses, from `.netrc`, from the environment, from the program `keyring`.
//!
//! The order is that of pip and uv. Nothing is read before a server asks for it, save what an address holds.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::config::{CredentialSources, IndexConfig, IndexLogin};
use super::netrc::{self, Entry};
use super::set::address_of;
use crate::Error;
use crate::escape::visible;
use crate::limits::read_capped;
use crate::source::Secret;
use crate::source::credentials::Credentials;
use crate::source::http::Address;
use crate::source::process::{Silent, ask};

/// Bytes of a file of logins.
const NETRC_MAX: u64 = 4 << 20;
/// Bytes of what `keyring` says.
const ANSWER_MAX: u64 = 256 << 10;

/// The logins of the indexes of a configuration, and of the servers that they send to.
#[derive(Debug)]
pub struct IndexCredentials {
    known: Vec<Known>,
    sources: CredentialSources,
    netrc: OnceLock<Result<Vec<Entry>, String>>,
    /// What `keyring` said, by service and user.
    asked: Mutex<BTreeMap<(String, String), Password>>,
}

/// A password, where there is one, or why that is not known.
type Password = Result<Option<Secret>, String>;

/// An index with a user.
#[derive(Debug)]
struct Known {
    address: Address,
    /// Of its address.
    own: Option<IndexLogin>,
    /// Given beside it.
    given: Option<IndexLogin>,
}

impl IndexCredentials {
    /// The logins of `config`.
    ///
    /// # Errors
    ///
    /// An address of the configuration that is none.
    pub fn new(config: &IndexConfig) -> Result<Self, Error> {
        let mut known = Vec::new();
        for spec in config.indexes.iter().chain(&config.also_known) {
            let (address, login) = address_of(spec.address.expose(), spec.kind, &spec.named_by)?;
            known.push(Known {
                address: address.as_directory(),
                own: login.map(|(user, password)| IndexLogin { user, password }),
                given: spec.login.clone(),
            });
        }
        Ok(Self {
            known,
            sources: config.credentials.clone(),
            netrc: OnceLock::new(),
            asked: Mutex::default(),
        })
    }

    /// Indexes on the server of `address`, the one whose path says most of its path first.
    fn near(&self, address: &Address) -> Vec<&Known> {
        let here = self.known.iter();
        let mut near: Vec<&Known> = here
            .filter(|known| known.address.origin() == address.origin())
            .collect();
        // stable: of equal ones the first of the configuration counts
        near.sort_by_key(|known| {
            let path = known.address.path();
            std::cmp::Reverse(if address.path().starts_with(path) {
                path.len()
            } else {
                0
            })
        });
        near
    }

    fn netrc(&self) -> Result<&[Entry], &str> {
        let read = self.netrc.get_or_init(|| {
            let mut all = Vec::new();
            for path in &self.sources.netrc {
                all.extend(read_netrc(path)?);
            }
            Ok(all)
        });
        read.as_deref().map_err(String::as_str)
    }

    /// The password of `user` that `keyring` has for the index or for its host.
    fn ask_keyring(&self, known: &Known, user: &str) -> Password {
        // a program of others could take it for an option
        if !self.sources.keyring || user.is_empty() || user.starts_with('-') {
            return Ok(None);
        }
        let index = known.address.as_str().trim_end_matches('/');
        for service in [index, known.address.host()] {
            let key = (service.to_owned(), user.to_owned());
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            // the lock is held meanwhile, so that the user is asked for a key of the keyring once
            let answer = asked
                .entry(key)
                .or_insert_with(|| keyring(service, user, &self.sources));
            if let Some(password) = answer.clone()? {
                return Ok(Some(password));
            }
        }
        Ok(None)
    }

    fn find(&self, address: &Address) -> Password {
        let near = self.near(address);
        let own = near.iter().find_map(|known| known.own.as_ref());
        if let Some(IndexLogin {
            user,
            password: Some(password),
        }) = own
        {
            return Ok(Some(Secret::basic(user, password)));
        }
        let netrc = self.netrc();
        let user = own.map(|login| login.user.as_str());
        let entries = netrc.unwrap_or_default().iter();
        let fits: Vec<&Entry> = entries
            .filter(|entry| user.is_none_or(|user| user == entry.user))
            .collect();
        // the last of a host counts, then the last of no host, as in Python
        let of = |host: Option<&str>| {
            let same = |known: &str, host: &str| known.eq_ignore_ascii_case(host);
            let mut last = fits.iter().rev();
            last.find(|entry| match (entry.host.as_deref(), host) {
                (Some(known), Some(host)) => same(known, host),
                (known, host) => known.is_none() && host.is_none(),
            })
        };
        let entry = of(Some(address.host())).or_else(|| of(None));
        if let Some(entry) = entry {
            return Ok(Some(Secret::basic(&entry.user, &entry.password)));
        }
        let given = near.iter().find_map(|known| known.given.as_ref());
        if let Some(IndexLogin {
            user,
            password: Some(password),
        }) = given
        {
            return Ok(Some(Secret::basic(user, password)));
        }
        let mut trouble = netrc.err().map(str::to_owned);
        for known in &near {
            for login in known.own.iter().chain(&known.given) {
                match self.ask_keyring(known, &login.user) {
                    Ok(Some(password)) => return Ok(Some(Secret::basic(&login.user, &password))),
                    Ok(None) => {}
                    Err(why) => trouble = Some(why),
                }
            }
        }
        // a token in the place of the user
        if let Some(login) = own {
            return Ok(Some(Secret::basic(&login.user, &Secret::new(""))));
        }
        trouble.map_or(Ok(None), Err)
    }
}

impl Credentials for IndexCredentials {
    fn for_url(&self, url: &str) -> Option<Secret> {
        let (address, _login) = Address::parse(url).ok()?;
        self.find(&address).ok().flatten()
    }

    fn remark(&self, url: &str) -> Option<String> {
        let (address, _login) = Address::parse(url).ok()?;
        self.find(&address).err()
    }
}

fn read_netrc(path: &Path) -> Result<Vec<Entry>, String> {
    let shown = path.to_string_lossy();
    let shown = visible(&shown);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(format!("`{shown}` could not be opened: {error}")),
    };
    let (bytes, more) = read_capped(file, NETRC_MAX)
        .map_err(|error| format!("`{shown}` could not be read: {error}"))?;
    let text = String::from_utf8(bytes).ok().filter(|_| !more);
    let text = text.ok_or_else(|| format!("`{shown}` is no file of logins"))?;
    netrc::parse(&text).map_err(|line| format!("`{shown}` is not understood at line {line}"))
}

fn keyring(service: &str, user: &str, sources: &CredentialSources) -> Password {
    let mut command = Command::new("keyring");
    if let Some(path) = &sources.path {
        command.env("PATH", path);
    }
    command
        .args(["get", service, user])
        .env("PYTHONIOENCODING", "utf-8");
    let said = ask(&mut command, None, ANSWER_MAX, sources.keyring_timeout);
    match said {
        // it fails where it has no such password
        Ok(said) if !said.success => Ok(None),
        Ok(said) => {
            let password = String::from_utf8(said.output)
                .map_err(|_secret| "`keyring` answers with something else than text")?;
            let password = password.trim_end_matches(['\r', '\n']);
            Ok(Some(password)
                .filter(|text| !text.is_empty())
                .map(Secret::new))
        }
        Err(Silent::NotStarted(_)) => Err("the program `keyring` could not be started".to_owned()),
        Err(Silent::NotEnded(_) | Silent::TooMuch) => {
            Err("the program `keyring` gave no answer in time".to_owned())
        }
    }
}
