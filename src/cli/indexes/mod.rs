//! Which package indexes are asked: options, the lock file, the policy, and what the user has told pip or uv.
//!
//! What is found out is a function of [`Surroundings`], which tests make up. The order of what counts first: the lock
//! file, the options, the policy, `UV_…` of the environment, `PIP_…`, the files of uv, the files of pip, and what pip
//! says is its default. The first that names a main index decides that one; further indexes and flat pages of all of
//! them are added, as pip and uv do. A policy that names indexes ends the search: what it says is the same everywhere.

mod pip;
mod surroundings;
mod uv;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use self::surroundings::Surroundings;
use crate::source::http::{Http, HttpOptions};
use crate::source::index::{IndexConfig, IndexCredentials, IndexLogin, IndexSpec, Indexes, Merge};
use crate::source::lock::{Lock, LockKind};
use crate::source::{Credentials, Secret, read_named};
use crate::{Error, ErrorKind};

/// The largest file of certificate authorities that is read; that of a whole system has 300 KB.
const CA_MAX: u64 = 16 << 20;

/// Options about package indexes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Package indexes")]
#[non_exhaustive]
pub struct IndexOptions {
    /// The package index that is asked; without it, that of your pip or uv
    ///
    /// It has the simple API, and is asked where the lock file names none.
    #[arg(long, value_name = "URL", value_parser = secret)]
    pub index_url: Option<Secret>,
    /// A further package index; repeatable
    #[arg(long, value_name = "URL", value_parser = secret)]
    pub extra_index_url: Vec<Secret>,
    /// A page or a directory with files of packages; repeatable
    #[arg(long, value_name = "URL|PATH", value_parser = secret, hide_short_help = true)]
    pub find_links: Vec<Secret>,
    /// Whether the program `keyring` is asked for passwords of package indexes
    #[arg(long, value_enum, value_name = "PROVIDER", hide_short_help = true)]
    pub keyring_provider: Option<KeyringProvider>,
    /// Whether no package index is asked, nor pip for its own
    #[arg(skip)]
    pub offline: bool,
}

/// Whether `keyring` is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeyringProvider {
    /// It is not
    Disabled,
    /// It is run as a program
    Subprocess,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the form that the parser of arguments wants"
)]
fn secret(text: &str) -> Result<Secret, Infallible> {
    Ok(Secret::new(text))
}

/// Package indexes that can be asked, and what files of them are fetched with.
#[derive(Debug)]
#[non_exhaustive]
pub struct IndexAccess {
    /// The indexes.
    pub indexes: Indexes,
    /// The client, which trusts what the user's pip trusts.
    pub http: Arc<Http>,
    /// Logins of the indexes, and of the servers where their files are.
    pub credentials: Arc<dyn Credentials>,
}

/// The package indexes of this run, found out of `options`, of what `lock` names, of `policy` (the main index, then
/// further ones) and of the surroundings of this process. It may ask the user's pip, which takes a second: call it
/// where an index is needed.
///
/// # Errors
///
/// A file of pip or uv that cannot be understood, and an address or a certificate that is none.
pub fn index_access(
    options: &IndexOptions,
    lock: Option<&Lock>,
    policy: Option<&[String]>,
    mut http: HttpOptions,
) -> Result<IndexAccess, Error> {
    let config = index_config(options, lock, policy)?;
    trust(&mut http, &config)?;
    let http = Arc::new(Http::new(&http)?);
    let credentials: Arc<dyn Credentials> = Arc::new(IndexCredentials::new(&config)?);
    Ok(IndexAccess {
        indexes: Indexes::new(&config, Arc::clone(&http), Arc::clone(&credentials))?,
        http,
        credentials,
    })
}

/// Trusts what the user's installer trusts, where nothing else is said.
pub(super) fn trust(http: &mut HttpOptions, config: &IndexConfig) -> Result<(), Error> {
    if let (None, Some(path)) = (&http.ca_pem, &config.ca_file) {
        http.ca_pem = Some(read_authorities(path)?);
    }
    Ok(())
}

/// Reads a file of certificate authorities.
pub(super) fn read_authorities(path: &Path) -> Result<Vec<u8>, Error> {
    read_named(path, CA_MAX, ErrorKind::Input)
}

/// The configuration behind [`index_access`].
///
/// # Errors
///
/// A file of pip or uv that cannot be understood.
pub fn index_config(
    options: &IndexOptions,
    lock: Option<&Lock>,
    policy: Option<&[String]>,
) -> Result<IndexConfig, Error> {
    surroundings::of_this_process(|surroundings| resolve(options, lock, policy, surroundings))
}

/// What one place says of indexes.
#[derive(Debug, Default)]
struct Level {
    main: Option<IndexSpec>,
    extra: Vec<IndexSpec>,
    flat: Vec<IndexSpec>,
    /// Whether only flat pages are to be used.
    no_index: bool,
    /// What it says of several indexes, or what its tool does.
    merge: Option<Merge>,
}

fn resolve(
    options: &IndexOptions,
    lock: Option<&Lock>,
    policy: Option<&[String]>,
    around: &Surroundings<'_>,
) -> Result<IndexConfig, Error> {
    let mut levels = vec![
        lock.map(of_lock).unwrap_or_default(),
        of_options(options, around),
    ];
    let pip = pip::Settings::read(around)?;
    if let Some(policy) = policy {
        levels.push(in_order(policy.iter().cloned(), "the policy", around));
    } else {
        levels.push(uv::environment(around));
        levels.push(pip::environment(around));
        levels.extend(uv::files(around)?);
        levels.push(pip.files(around));
    }
    let decided = |level: &Level| level.main.is_some() || level.no_index;
    let ask_pip = policy.is_none() && !options.offline && !levels.iter().any(decided);
    if let Some(url) = ask_pip.then(|| pip::default_index(around)).flatten() {
        let main = Some(IndexSpec::simple(url, "pip"));
        levels.push(Level {
            main,
            ..Level::default()
        });
    }
    let mut config = combine(levels);
    config.offline = options.offline;
    for spec in config.indexes.iter_mut().chain(&mut config.also_known) {
        spec.login = spec.name.as_deref().and_then(|name| login(name, around));
    }
    let credentials = &mut config.credentials;
    credentials.netrc = netrc(around);
    credentials.path = (around.variable)("PATH");
    credentials.keyring = keyring(options, around);
    config.ca_file = ca_file(&pip, around);
    Ok(config)
}

/// Puts the levels together; the first counts most.
fn combine(levels: Vec<Level>) -> IndexConfig {
    let mut main: Option<IndexSpec> = None;
    let mut merge = None;
    let mut no_index = false;
    let (mut extra, mut flat, mut also_known) = (Vec::new(), Vec::new(), Vec::new());
    for level in levels {
        flat.extend(level.flat);
        no_index |= level.no_index && main.is_none();
        if no_index {
            also_known.extend(level.main.into_iter().chain(level.extra));
            continue;
        }
        extra.extend(level.extra);
        if main.is_some() {
            also_known.extend(level.main);
        } else if level.main.is_some() {
            main = level.main;
            merge = merge.or(level.merge);
        }
        // of a place that names no main index, what it says counts where nothing before it did
        if merge.is_none() && main.is_none() {
            merge = level.merge;
        }
    }
    let merge = merge.unwrap_or(Merge::Union);
    if let Some(main) = &mut main {
        main.is_main = true;
    }
    let mut indexes = flat;
    match merge {
        // uv asks its default index last
        Merge::FirstIndex => indexes.extend(extra.into_iter().chain(main)),
        Merge::Union => indexes.extend(main.into_iter().chain(extra)),
    }
    let mut config = IndexConfig::new(indexes);
    config.merge = merge;
    config.also_known = also_known;
    config
}

/// A main index, then further ones.
fn in_order(
    addresses: impl Iterator<Item = String>,
    named_by: &str,
    around: &Surroundings<'_>,
) -> Level {
    let specs = addresses.map(|address| IndexSpec::simple(around.place(&address, None), named_by));
    let mut specs = specs.collect::<Vec<_>>().into_iter();
    Level {
        main: specs.next(),
        extra: specs.collect(),
        ..Level::default()
    }
}

fn of_lock(lock: &Lock) -> Level {
    let mut specs: Vec<IndexSpec> = lock
        .indexes
        .iter()
        .map(|address| IndexSpec::simple(address, "the lock file"))
        .collect();
    let has_main = lock.has_main_index && !specs.is_empty();
    Level {
        main: has_main.then(|| specs.remove(0)),
        extra: specs,
        merge: (lock.kind == LockKind::Uv).then_some(Merge::FirstIndex),
        ..Level::default()
    }
}

fn of_options(options: &IndexOptions, around: &Surroundings<'_>) -> Level {
    let place = |address: &Secret| around.place(address.expose(), None);
    let simple = |name: &'static str| move |address| IndexSpec::simple(address, name);
    let extra = options.extra_index_url.iter().map(place);
    let flat = options.find_links.iter().map(place);
    Level {
        main: options
            .index_url
            .as_ref()
            .map(place)
            .map(simple("`--index-url`")),
        extra: extra.map(simple("`--extra-index-url`")).collect(),
        flat: flat
            .map(|address| IndexSpec::flat(address, "`--find-links`"))
            .collect(),
        ..Level::default()
    }
}

/// `UV_INDEX_NAME_USERNAME` and `UV_INDEX_NAME_PASSWORD` of an index by its name.
fn login(name: &str, around: &Surroundings<'_>) -> Option<IndexLogin> {
    let upper = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(upper).collect();
    let user = around.text(&format!("UV_INDEX_{name}_USERNAME"));
    let password = around.text(&format!("UV_INDEX_{name}_PASSWORD"));
    if user.is_none() && password.is_none() {
        return None;
    }
    Some(IndexLogin {
        user: user.unwrap_or_default(),
        password: password.map(Secret::new),
    })
}

/// `NETRC`, else the first that there is of `.netrc` and `_netrc` in the home directory.
fn netrc(around: &Surroundings<'_>) -> Vec<PathBuf> {
    if let Some(path) = around.path("NETRC") {
        return vec![path];
    }
    let home = around.home();
    let candidates = [".netrc", "_netrc"].map(|name| home.as_ref().map(|home| home.join(name)));
    let mut found = candidates.into_iter().flatten();
    found
        .find(|path| (around.is_file)(path))
        .into_iter()
        .collect()
}

fn keyring(options: &IndexOptions, around: &Surroundings<'_>) -> bool {
    match options.keyring_provider {
        Some(provider) => provider == KeyringProvider::Subprocess,
        None => ["UV_KEYRING_PROVIDER", "PIP_KEYRING_PROVIDER"]
            .iter()
            .find_map(|name| around.text(name))
            .is_some_and(|provider| provider == "subprocess"),
    }
}

/// The certificate authorities that pip trusts. Directories of them are passed over.
fn ca_file(pip: &pip::Settings, around: &Surroundings<'_>) -> Option<PathBuf> {
    let named = [
        around.path("PIP_CERT"),
        pip.cert(around),
        around.path("REQUESTS_CA_BUNDLE"),
        around.path("SSL_CERT_FILE"),
    ];
    let is_file = |path: &PathBuf| (around.is_file)(Path::new(path));
    named.into_iter().flatten().find(is_file)
}

#[cfg(test)]
mod tests;
