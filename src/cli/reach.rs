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

    use crate::Error;
    use crate::cli::args::Network;
    use crate::cli::indexes::{IndexOptions, index_access, index_config, read_authorities, trust};
    use crate::cli::network::registry_access;
    use crate::inventory::ScanOptions;
    use crate::source::index::{IndexConfig, IndexCredentials};
    use crate::source::oci::Access;
    use crate::source::remote::Fetcher;
    use crate::source::{Credentials, Secret, Servers};

    /// Sets up access to registries and servers.
    pub(in crate::cli) fn servers(
        options: &mut ScanOptions,
        network: &Network,
        of_policy: &[String],
    ) -> Result<(), Error> {
        let access = access(network)?;
        if !network.offline {
            options.fetch = Some(Arc::new(open(&access, &network.indexes, of_policy)));
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
        Ok(open(&access(network)?, &indexes, of_policy))
    }

    fn access(network: &Network) -> Result<Access, Error> {
        let mut access = registry_access();
        access.http.plain_http = network.plain_http;
        if let Some(path) = &network.ca_file {
            access.http.ca_pem = Some(read_authorities(path)?);
        }
        Ok(access)
    }

    fn open(access: &Access, indexes: &IndexOptions, of_policy: &[String]) -> Servers {
        let (mut files, http) = (access.clone(), access.http.clone());
        let installer = Arc::new(Installer::new(indexes));
        files.files = Some(Arc::clone(&installer) as Arc<dyn Credentials>);
        let connect = move || {
            let mut files = files.clone();
            // what is wrong with the configuration is told where an index is needed
            if let Some(config) = installer.config() {
                trust(&mut files.http, config)?;
            }
            Fetcher::new(&files)
        };
        let indexes = indexes.clone();
        let of_policy = (!of_policy.is_empty()).then(|| of_policy.to_vec());
        Servers::new(connect, move |lock| {
            Ok(index_access(&indexes, lock, of_policy.as_deref(), http.clone())?.indexes)
        })
    }

    /// What the configuration of the user's installer says of servers, looked for where the first is asked.
    #[derive(Debug)]
    struct Installer {
        options: IndexOptions,
        config: OnceLock<Option<IndexConfig>>,
        logins: OnceLock<Option<IndexCredentials>>,
    }

    impl Installer {
        fn new(options: &IndexOptions) -> Self {
            let mut options = options.clone();
            // which index is pip's default matters to no login
            options.offline = true;
            Self {
                options,
                config: OnceLock::new(),
                logins: OnceLock::new(),
            }
        }

        fn config(&self) -> Option<&IndexConfig> {
            let config = self
                .config
                .get_or_init(|| index_config(&self.options, None, None).ok());
            config.as_ref()
        }
    }

    impl Credentials for Installer {
        fn for_url(&self, url: &str) -> Option<Secret> {
            let logins = self
                .logins
                .get_or_init(|| IndexCredentials::new(self.config()?).ok());
            logins.as_ref()?.for_url(url)
        }
    }
}
