//! Forward compatibility: what a `cuda-compat-X-Y` package gives on a machine.
//!
//! Rules of NVIDIA's forward compatibility document (RULES.md 5): the package brings a newer user-mode driver, its
//! PTX compiler too, on Linux, on data-centre GPUs, selected RTX GPUs and Jetson, with the host branches of a table.
//! It cannot make the kernel driver of the host know a GPU.

use super::{Driver, Meets, first_driver};
use crate::cuda::{ComputeCapability, ToolkitVersion};
use crate::platform::Os;
use crate::tables::{ForwardCompat, GpuClass, Tables};

/// A GPU as far as forward compatibility tells GPUs apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompatGpu {
    /// Its compute capability.
    pub cc: ComputeCapability,
    /// What it is sold as.
    pub class: GpuClass,
}

/// Whether the package of a CUDA version works on a host with `driver` and `gpu`.
///
/// It is unknown where the documents leave it open: RTX GPUs for workstations are "selected" without a list that was
/// found, Jetson has packages of its own, and a driver that is not given or of no known branch has no row.
pub fn forward_compat(
    package: ToolkitVersion,
    driver: &Driver<'_>,
    gpu: CompatGpu,
    tables: &Tables,
) -> ForwardCompat {
    let Some(host) = driver.known_branch() else {
        return ForwardCompat::Unknown;
    };
    let by_branch = tables.forward_compat(package, host);
    if by_branch == ForwardCompat::NotNeeded {
        return by_branch;
    }
    let knows = first_driver(gpu.cc, driver.os(), tables).map(|first| driver.meets(&first));
    if driver.os() != Os::Linux || knows == Some(Meets::No) {
        return ForwardCompat::Unsupported;
    }
    let works = matches!(
        by_branch,
        ForwardCompat::Supported | ForwardCompat::SupportedOnce
    );
    match gpu.class {
        GpuClass::Datacenter => by_branch,
        // error 804, "forward compatibility was attempted on non supported HW"
        GpuClass::Geforce => ForwardCompat::Unsupported,
        _ if works => ForwardCompat::Unknown,
        _ => by_branch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ForwardCompat::{NotNeeded, Supported, SupportedOnce, Unknown, Unsupported};

    fn on(package: &str, driver: &str, os: Os, cc: &str, class: GpuClass) -> ForwardCompat {
        let spec = (!driver.is_empty()).then(|| driver.parse().unwrap());
        let tables = Tables::builtin();
        let gpu = CompatGpu {
            cc: cc.parse().unwrap(),
            class,
        };
        let driver = Driver::new(spec, os, tables);
        forward_compat(package.parse().unwrap(), &driver, gpu, tables)
    }

    /// RULES.md 5, the table of NVIDIA's document (v615): C works, X does not, n/a is the branch itself. Every X of it
    /// is a host that is newer than the package, which has no use for it.
    const DOCUMENT: &str = "
        host 535 570 580 590 595 610 615
        13.4 C   C   C   C   C   C   n/a
        13.3 C   C   C   C   C   n/a X
        13.2 C   C   C   C   n/a X   X
        13.1 C   C   C   n/a X   X   X
        13.0 C   C   n/a X   X   X   X
        12.9 C   C   X   X   X   X   X
        12.8 C   n/a X   X   X   X   X
        12.6 C   X   X   X   X   X   X
        12.5 C   X   X   X   X   X   X
        12.4 C   X   X   X   X   X   X
        12.3 C   X   X   X   X   X   X
        12.2 n/a X   X   X   X   X   X";

    #[test]
    fn every_cell_of_the_document_holds_on_a_data_centre_gpu() {
        let mut lines = DOCUMENT.lines().filter(|line| !line.trim().is_empty());
        let hosts: Vec<&str> = lines.next().unwrap().split_whitespace().skip(1).collect();
        let mut cells = 0;
        for line in lines {
            let mut words = line.split_whitespace();
            let package = words.next().unwrap();
            for (host, cell) in hosts.iter().zip(words) {
                let expected = match cell {
                    "C" => Supported,
                    "X" | "n/a" => NotNeeded,
                    other => panic!("what is `{other}`?"),
                };
                // every one of these branches drives an A100
                let found = on(package, host, Os::Linux, "8.0", GpuClass::Datacenter);
                assert_eq!(found, expected, "{package} on R{host}");
                cells += 1;
            }
        }
        assert_eq!(cells, 84);
    }

    // RULES.md 5: "Branches not listed ... are end of life"; images of those days named them.
    #[test]
    fn branches_beside_the_document_are_ended_unsupported_or_unknown() {
        for (package, driver, expected) in [
            ("12.4", "R470", SupportedOnce),
            ("12.4", "R545", Unsupported),
            ("13.0", "R560", Unsupported),
            ("13.0", "570.86.15", Supported),
            ("13.5", "R580", Unknown),
            ("13.5", "R620", NotNeeded),
            ("12.7", "R535", Unknown),
            // no driver, and none of which the branch is known
            ("13.4", "", Unknown),
            ("13.4", "R999", Unknown),
        ] {
            let found = on(package, driver, Os::Linux, "8.0", GpuClass::Datacenter);
            assert_eq!(found, expected, "{package} on {driver}");
        }
    }

    // RULES.md 5: data-centre GPUs, selected RTX GPUs, Jetson; GeForce fails with 804; Linux only.
    #[test]
    fn only_some_gpus_and_linux_take_it() {
        for (class, cc, expected) in [
            (GpuClass::Datacenter, "9.0", Supported),
            (GpuClass::Geforce, "8.9", Unsupported),
            (GpuClass::Workstation, "8.6", Unknown),
            (GpuClass::Mobile, "8.6", Unknown),
            (GpuClass::Tegra, "8.7", Unknown),
            (GpuClass::Other, "8.6", Unknown),
        ] {
            let found = on("12.8", "R535", Os::Linux, cc, class);
            assert_eq!(found, expected, "{class:?}");
        }
        let windows = on("12.8", "537.13", Os::Windows, "9.0", GpuClass::Datacenter);
        assert_eq!(windows, Unsupported);
        // what the host has by itself needs no package, whatever the GPU
        let geforce = on("12.4", "R570", Os::Linux, "8.9", GpuClass::Geforce);
        assert_eq!(geforce, NotNeeded);
    }

    // "It cannot make an old kernel driver support a new GPU": 570.86.15 is the first driver of a B200.
    #[test]
    fn the_driver_of_the_host_must_know_the_gpu() {
        for (driver, expected) in [("R535", Unsupported), ("570.86.15", Supported)] {
            let found = on("13.0", driver, Os::Linux, "10.0", GpuClass::Datacenter);
            assert_eq!(found, expected, "{driver}");
        }
    }
}
