//! Hosts on which the user-mode driver that an image brings makes up for an old one.

use crate::compat::{Driver, Forward, Meets, Package, forward, user_mode};
use crate::cuda::{ComputeCapability, DriverBranch, DriverSpec};
use crate::platform::Os;
use crate::tables::{GpuRow, Tables};

/// A driver branch of hosts, with the brand that their driver reports for the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostBrand {
    /// The branch.
    pub branch: DriverBranch,
    /// The brand, as `brand=` has it.
    pub brand: String,
}

/// The hosts below `floor` on which `package` gives GPUs of `capabilities` a user-mode driver that meets it: by
/// branch, then in the order of the brands.
///
/// A brand counts where the package is made for every GPU of these capabilities that a driver of the branch knows
/// and that may be of that brand.
pub fn forward_hosts(
    package: &Package<'_>,
    capabilities: &[ComputeCapability],
    floor: &DriverSpec,
    tables: &Tables,
) -> Vec<HostBrand> {
    let gpus = tables.gpus().iter();
    let gpus = gpus.flat_map(|gpu| gpu.cc.iter().map(move |cc| (*cc, gpu)));
    let gpus: Vec<(ComputeCapability, &GpuRow, &[String])> = gpus
        .filter(|(cc, _)| capabilities.contains(cc))
        .map(|(cc, gpu)| (cc, gpu, tables.brands_of(gpu)))
        .collect();
    let mut hosts = Vec::new();
    for row in tables.branches() {
        let host = Driver::new(Some(DriverSpec::Branch(row.branch)), Os::Linux, tables);
        if host.meets(floor) != Meets::No {
            continue;
        }
        let helps = |cc: ComputeCapability, gpu: &GpuRow| {
            let what = forward(package, &host, cc, Some(gpu), tables);
            matches!(what, Forward::Applies { .. })
                && user_mode(&what, package, &host, tables).meets(floor) != Meets::No
        };
        for brand in tables.brands() {
            let mut of_brand = gpus
                .iter()
                .filter(|(cc, _, brands)| row.supports(*cc) && brands.contains(&brand.brand))
                .peekable();
            if of_brand.peek().is_some() && of_brand.all(|(cc, gpu, _)| helps(*cc, gpu)) {
                hosts.push(HostBrand {
                    branch: row.branch,
                    brand: brand.brand.clone(),
                });
            }
        }
    }
    hosts
}
