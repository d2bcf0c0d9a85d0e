//! How a run reaches what is not in its files: daemons, registries, servers and package indexes.

use crate::Error;
#[cfg(not(feature = "registry"))]
use crate::ErrorKind;
use crate::inventory::{Cache, ScanOptions};

use super::args::Network;
use super::daemons::local_daemons;
use super::places::cache_dir;

/// Lets a run reach what `network` allows, and asks the `indexes` of the policy, if it names some.
pub(super) fn reach(
    options: &mut ScanOptions,
    network: &Network,
    indexes: &[String],
) -> Result<(), Error> {
    options.offline = network.offline;
    options.daemons = local_daemons();
    if !network.no_cache {
        options.cache = cache_dir().map(Cache::new);
    }
    servers(options, network, indexes)
}

/// There are no servers.
#[cfg(not(feature = "registry"))]
fn servers(_: &mut ScanOptions, network: &Network, _: &[String]) -> Result<(), Error> {
    if !network.plain_http && network.ca_file.is_none() {
        return Ok(());
    }
    let message =
        "`--plain-http` and `--ca-file` are about servers, which this build of smgate does not ask";
    Err(Error::new(ErrorKind::Usage, message)
        .with_hint("build it with the feature `registry`, which is on by default"))
}

#[cfg(feature = "registry")]
pub(super) use with_servers::open_servers;
#[cfg(feature = "registry")]
use with_servers::servers;

#[cfg(feature = "registry")]
mod with_servers {
    use std::sync::{Arc, OnceLock};

    use crate::cli::args::Network;
    use crate::cli::indexes::{IndexOptions, index_access, index_config};
    use crate::cli::network::registry_access;
    use crate::inventory::ScanOptions;
    use crate::source::index::IndexCredentials;
    use crate::source::oci::Access;
    use crate::source::remote::Fetcher;
    use crate::source::{Credentials, Secret, Servers, read_named};
    use crate::{Error, ErrorKind};

    /// The largest file of certificate authorities that is read; that of a whole system has 300 KB.
    const CA_MAX: u64 = 16 << 20;

    /// Sets up access to registries and servers.
    pub(in crate::cli) fn servers(
        options: &mut ScanOptions,
        network: &Network,
        of_policy: &[String],
    ) -> Result<(), Error> {
        let access = access(network)?;
        if !network.offline {
            options.fetch = Some(Arc::new(open(&access, &network.indexes, of_policy)?));
        }
        options.access = Some(access);
        Ok(())
    }

    /// What fetches files, and asks package indexes; offline those of this machine only.
    pub(in crate::cli) fn open_servers(
        network: &Network,
        of_policy: &[String],
    ) -> Result<Servers, Error> {
        let mut indexes = network.indexes.clone();
        indexes.offline = network.offline;
        open(&access(network)?, &indexes, of_policy)
    }

    fn access(network: &Network) -> Result<Access, Error> {
        let mut access = registry_access();
        access.http.plain_http = network.plain_http;
        let config = LazyLogins::new(&network.indexes);
        let trusted = match &network.ca_file {
            Some(path) => Some(path.clone()),
            // what is wrong with the configuration is told where an index is needed
            None => index_config(&config.options, None, None)
                .ok()
                .and_then(|config| config.ca_file),
        };
        if let Some(path) = trusted {
            access.http.ca_pem = Some(read_named(&path, CA_MAX, ErrorKind::Input)?);
        }
        access.files = Some(Arc::new(config));
        Ok(access)
    }

    fn open(
        access: &Access,
        indexes: &IndexOptions,
        of_policy: &[String],
    ) -> Result<Servers, Error> {
        let (http, indexes) = (access.http.clone(), indexes.clone());
        let of_policy = (!of_policy.is_empty()).then(|| of_policy.to_vec());
        Ok(Servers::new(Fetcher::new(access)?, move |lock| {
            Ok(index_access(&indexes, lock, of_policy.as_deref(), http.clone())?.indexes)
        }))
    }

    /// Logins of servers, looked for where the first is asked for.
    #[derive(Debug)]
    struct LazyLogins {
        options: IndexOptions,
        logins: OnceLock<Option<IndexCredentials>>,
    }

    impl LazyLogins {
        fn new(options: &IndexOptions) -> Self {
            let mut options = options.clone();
            // which index is pip's default matters to no login
            options.offline = true;
            Self {
                options,
                logins: OnceLock::new(),
            }
        }
    }

    impl Credentials for LazyLogins {
        fn for_url(&self, url: &str) -> Option<Secret> {
            let logins = self.logins.get_or_init(|| {
                let config = index_config(&self.options, None, None).ok()?;
                IndexCredentials::new(&config).ok()
            });
            logins.as_ref()?.for_url(url)
        }
    }
}
