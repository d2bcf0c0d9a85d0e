//! What lock files say beside packages: how to install them, and on which machines.

use std::collections::BTreeSet;
use std::fmt;

use super::{link, without_secrets};

/// What a lock file asks of an installer. What is empty or false was not asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InstallOptions {
    /// Pages and directories that list files (`--find-links`), without secrets.
    pub find_links: Vec<String>,
    /// Whether no index is asked at all (`--no-index`): files come from `find_links` alone.
    pub no_index: bool,
    /// Packages of which no wheel is taken (`--no-binary`), in the spelling of PEP 503; `:all:` is every package.
    pub no_binary: BTreeSet<String>,
    /// Packages of which nothing but a wheel is taken (`--only-binary`), likewise.
    pub only_binary: BTreeSet<String>,
    /// Addresses of `indexes` and `find_links` that hold a user, a password or a token.
    pub logins: Vec<Login>,
}

impl InstallOptions {
    /// Keeps an address for who fetches, where it says more than may be shown.
    pub(super) fn keep_login(&mut self, url: &str) {
        if link::has_secret(url) {
            self.logins.push(Login::new(url));
        }
    }
}

/// An address with its secrets. `Debug` shows it without them.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    shown: String,
    url: String,
}

impl Login {
    fn new(url: &str) -> Self {
        Self {
            shown: without_secrets(url),
            url: url.to_owned(),
        }
    }

    /// The address without secrets, as in [`Lock::indexes`](super::Lock::indexes).
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The whole address, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.url
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Login").field(&self.shown).finish()
    }
}

/// A machine that a lock file is made for, by name. Several may have one subdir: one with a GPU, one without.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockPlatform {
    /// The name.
    pub name: String,
    /// The conda subdir, `linux-64`.
    pub subdir: String,
    /// What the machine must have at least: `__cuda=12`, `__glibc=2.28`.
    pub virtual_packages: Vec<String>,
    /// The line where it stands, from 1 on.
    pub line: u32,
}
