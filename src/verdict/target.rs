//! What a fleet target is to the rules.

use crate::compat::Driver;
use crate::cuda::DriverSpec;
use crate::platform::Os;
use crate::policy::FleetTarget;
use crate::tables::Tables;

/// The driver of `target`, whose numbers are those of `os` where the target names no platform.
pub(super) fn driver<'t>(target: &FleetTarget, os: Os, tables: &'t Tables) -> Driver<'t> {
    let windows_number = |spec: &DriverSpec| match spec {
        // Linux versions have three parts since R390, Windows versions two
        DriverSpec::Exact(version) => version.to_string().matches('.').count() == 1,
        DriverSpec::Branch(_) => false,
    };
    let os = target.platform.map_or(os, |platform| platform.os);
    let wsl = target.wsl && target.driver.as_ref().is_some_and(windows_number);
    let os = if wsl { Os::Windows } else { os };
    Driver::new(target.driver.clone(), os, tables)
}
