//! The policy of a run: a file, a preset, or targets of the command line.

use crate::cli::Failure;
use crate::cli::args::Fleet;
use crate::inventory::ScanOptions;
use crate::policy::Policy;
use crate::tables::Tables;
use crate::verdict::environment;
use crate::{Error, ErrorKind};

use super::{find_policy, host, load_policy};

/// The policy that the arguments name, or the one found upwards from here.
pub(super) fn policy(fleet: &Fleet, tables: &Tables) -> Result<Policy, Failure> {
    let mut policy = if fleet.target.is_empty() {
        host::fill_in(load_policy(fleet.policy.as_deref(), tables)?, tables)?
    } else {
        by_hand(fleet, tables)?
    };
    for target in &mut policy.targets {
        fleet.install.complete(target);
    }
    Ok(policy)
}

/// As [`policy`]; none where no argument names one and none is found.
pub(super) fn policy_if_any(fleet: &Fleet, tables: &Tables) -> Result<Option<Policy>, Failure> {
    let named = fleet.policy.is_some() || !fleet.target.is_empty();
    if named || find_policy()?.is_some() {
        policy(fleet, tables).map(Some)
    } else {
        Ok(None)
    }
}

/// For which machines inputs are read: images for one platform, lock files for each environment of a target.
pub(super) fn places(options: &mut ScanOptions, fleet: &Fleet, policy: Option<&Policy>) {
    options.platform = platform(fleet, policy);
    let targets = policy.into_iter().flat_map(|policy| &policy.targets);
    for environment in targets.map(environment) {
        let environment = fleet.install.choices(environment);
        if !options.environments.contains(&environment) {
            options.environments.push(environment);
        }
    }
    if policy.is_none() {
        let environment = fleet.install.of_platform(fleet.platform.as_deref());
        options.environments.extend(environment);
    }
}

/// The platform that images are taken for: the one that is asked for, or that all targets have.
fn platform(fleet: &Fleet, policy: Option<&Policy>) -> Option<String> {
    fleet.platform.clone().or_else(|| {
        let mut platforms = policy?.targets.iter().map(|target| target.platform);
        let first = platforms.next()??;
        platforms
            .all(|platform| platform == Some(first))
            .then(|| first.to_string())
    })
}

/// The policy of `--target`. `host` is this machine, by the text that `smgate host` prints.
fn by_hand(fleet: &Fleet, tables: &Tables) -> Result<Policy, Failure> {
    let driver = fleet.driver.as_deref();
    let is_host = |target: &&String| target.eq_ignore_ascii_case("host");
    let (host, others): (Vec<&String>, Vec<&String>) = fleet.target.iter().partition(is_host);
    let others = |platform| Policy::for_targets(&others, driver, platform, tables);
    if host.is_empty() {
        return Ok(others(fleet.platform.as_deref())?);
    }
    if fleet.platform.is_some() {
        let message =
            "`--platform` does not go with `--target host`, whose platform is that of this machine";
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("leave it out, or name the GPU: `--target H100`")
            .into());
    }
    let mut policy = host::policy(driver, tables)?;
    if host.len() < fleet.target.len() {
        policy.targets.extend(others(None)?.targets);
    }
    Ok(policy)
}
