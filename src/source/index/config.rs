//! Which indexes are asked, in which way, and with which logins: what the command line finds out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::source::Secret;

/// Which indexes are asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IndexConfig {
    /// The indexes, in the order in which they are asked. Empty where none is known, which is an error only when one
    /// is needed.
    pub indexes: Vec<IndexSpec>,
    /// Indexes that are configured and not asked, because something else counts before them. Packages can be pinned to
    /// them, and their logins count.
    pub also_known: Vec<IndexSpec>,
    /// What is done with the answers of several.
    pub merge: Merge,
    /// Whether nothing may be asked over the network.
    pub offline: bool,
    /// Where logins are looked for beside the addresses of the indexes.
    pub credentials: CredentialSources,
    /// A file of certificate authorities that the user's installer trusts, as PEM; for
    /// [`HttpOptions::ca_pem`](crate::source::http::HttpOptions::ca_pem) where the user gives none to smgate.
    pub ca_file: Option<PathBuf>,
}

impl IndexConfig {
    /// Asks `indexes`, as pip does, and knows no logins but those of their addresses.
    pub fn new(indexes: Vec<IndexSpec>) -> Self {
        Self {
            indexes,
            also_known: Vec::new(),
            merge: Merge::Union,
            offline: false,
            credentials: CredentialSources::default(),
            ca_file: None,
        }
    }
}

/// One index, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexSpec {
    /// Its name, where it has one (uv).
    pub name: Option<String>,
    /// Its address, which may hold a user and a password; or an absolute path.
    pub address: Secret,
    /// What it is.
    pub kind: IndexKind,
    /// Whether it is the main index, in whose place installers ask their own where none is given.
    pub is_main: bool,
    /// Whether it is only asked for packages that are pinned to it (`explicit` of uv).
    pub only_pinned: bool,
    /// A login that was given for it beside its address.
    pub login: Option<IndexLogin>,
    /// What names it, for messages: `PIP_INDEX_URL`, `/etc/pip.conf`.
    pub named_by: String,
}

impl IndexSpec {
    /// An index with the simple API.
    pub fn simple(address: impl Into<String>, named_by: impl Into<String>) -> Self {
        Self {
            name: None,
            address: Secret::new(address),
            kind: IndexKind::Simple,
            is_main: false,
            only_pinned: false,
            login: None,
            named_by: named_by.into(),
        }
    }

    /// A page or a directory of files.
    pub fn flat(address: impl Into<String>, named_by: impl Into<String>) -> Self {
        Self {
            kind: IndexKind::Flat,
            ..Self::simple(address, named_by)
        }
    }
}

/// A user with a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLogin {
    /// The user; empty where the password is a token.
    pub user: String,
    /// The password, where it is known.
    pub password: Option<Secret>,
}

/// What an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IndexKind {
    /// A server with a page for each project, or a directory with a directory for each.
    Simple,
    /// One page, or one directory, with files of all projects: `--find-links`.
    Flat,
}

/// What is done with the answers of several indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Merge {
    /// The files of all of them count (pip).
    Union,
    /// Those of the first index that has the project count, and those of flat pages (uv).
    FirstIndex,
}

/// Where logins are looked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CredentialSources {
    /// Files in the form of `.netrc`, in this order; those that do not exist are passed over.
    pub netrc: Vec<PathBuf>,
    /// Whether the program `keyring` may be asked.
    pub keyring: bool,
    /// The longest wait for it.
    pub keyring_timeout: Duration,
    /// Where it is looked for, as in `PATH`; where this process looks if it is not given.
    pub path: Option<OsString>,
}

impl Default for CredentialSources {
    /// Nowhere; a program would have half a minute.
    fn default() -> Self {
        Self {
            netrc: Vec::new(),
            keyring: false,
            keyring_timeout: Duration::from_secs(30),
            path: None,
        }
    }
}
