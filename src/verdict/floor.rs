//! The minimum driver of a package on a GPU: the highest of its floors, each with mechanism and culprit.
//!
//! Rules 1.9 and 4.5 (CUDA runtime), the first driver that knows a GPU, 2.3 (PTX ISA where code is
//! compiled) and 2.13 (compression).

use crate::cuda::{ComputeCapability, DriverSpec, PtxIsa};
use crate::device::Coding;
use crate::inventory::Library;
use crate::platform::Os;
use crate::tables::Tables;

use super::coverage::Coverage;
use super::driver::Driver;

/// A driver that is needed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// The oldest driver that meets it.
    pub driver: DriverSpec,
    /// What asks for it.
    pub mechanism: Mechanism,
    /// The member that causes it, by path.
    pub culprit: Option<String>,
}

/// What asks for a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mechanism {
    /// The CUDA runtime of a major version, linked or bundled.
    Runtime(u32),
    /// The CUDA major of the toolkit that made the code, where the runtime is linked statically or not at all.
    Toolkit(u32),
    /// The GPU: older drivers do not know it.
    Gpu(ComputeCapability),
    /// PTX that the driver compiles.
    Ptx(PtxIsa),
    /// A compression that the driver unpacks.
    Compression,
}

impl std::fmt::Display for Mechanism {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Runtime(major) => write!(f, "the CUDA {major} runtime"),
            Self::Toolkit(major) => write!(f, "code made by CUDA {major}"),
            Self::Gpu(cc) => write!(f, "the first driver for compute capability {cc}"),
            Self::Ptx(isa) => write!(f, "compiling PTX {isa}"),
            Self::Compression => f.write_str("code compressed with zstd"),
        }
    }
}

/// The floors of one library on one GPU. `coverage` is what it gives with a driver that accepts everything.
pub(super) fn of_library(
    library: &Library,
    coverage: Option<&Coverage>,
    driver: &Driver<'_>,
    tables: &Tables,
) -> Vec<Floor> {
    let os = driver.os();
    let mut floors = Vec::new();
    let culprit = Some(library.path.clone());
    let runtime = runtime_major(library, tables).map(|major| (major, Mechanism::Runtime(major)));
    let toolkit = || {
        // several toolkits in one library: the newest major decides
        let newest = library.toolkits.last().filter(|_| coverage.is_some())?;
        Some((newest.major, Mechanism::Toolkit(newest.major)))
    };
    if let Some((major, mechanism)) = runtime.or_else(toolkit)
        && let Some(floor) = tables.runtime_floor(major, os)
    {
        floors.push(Floor {
            driver: floor.driver.clone(),
            mechanism,
            culprit: culprit.clone(),
        });
    }
    let Some(coverage) = coverage else {
        return floors;
    };
    if let Some(isa) = coverage.newest_isa()
        && let Some(row) = tables.ptx(isa)
    {
        let exact = row.first_driver(os).cloned().map(DriverSpec::Exact);
        if let Some(needed) = exact.or(row.branch.map(DriverSpec::Branch)) {
            floors.push(Floor {
                driver: needed,
                mechanism: Mechanism::Ptx(isa),
                culprit: culprit.clone(),
            });
        }
    }
    if coverage.zstd
        && let Some(needed) = driver.coding_floor(Coding::Zstd)
    {
        floors.push(Floor {
            driver: needed,
            mechanism: Mechanism::Compression,
            culprit,
        });
    }
    floors
}

/// The first driver that knows GPUs of a capability.
pub(super) fn of_gpu(cc: ComputeCapability, os: Os, tables: &Tables) -> Option<Floor> {
    let first = tables.capability(cc)?.first_driver.as_ref()?;
    let exact = first
        .linux
        .clone()
        .filter(|_| os == Os::Linux)
        .map(DriverSpec::Exact);
    let driver = exact.or(first.branch.map(DriverSpec::Branch))?;
    Some(Floor {
        driver,
        mechanism: Mechanism::Gpu(cc),
        culprit: None,
    })
}

/// The CUDA major of the runtime library that a library needs, by its name (rule 4.8).
fn runtime_major(library: &Library, tables: &Tables) -> Option<u32> {
    let runtimes = library.needed.iter().filter(|name| {
        tables
            .vendor(name)
            .is_some_and(|row| row.component == "cuda-runtime")
    });
    runtimes.filter_map(|name| major_in_name(name)).max()
}

/// `libcudart.so.12` and `libcudart-5a077122.so.12.0.107` are 12, `cudart64_110.dll` is 11.
fn major_in_name(name: &str) -> Option<u32> {
    let lower = name.to_ascii_lowercase();
    let digits = |text: &str| {
        text.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    };
    if let Some((_, version)) = lower.rsplit_once(".so.") {
        return digits(version).parse().ok();
    }
    let number = digits(lower.strip_prefix("cudart64_")?);
    // up to 11 the minor version is in the name too: 101, 110; from 12 on it is not
    match number.len() {
        2 => number.parse().ok(),
        3 => number.parse::<u32>().ok().map(|number| number / 10),
        _ => None,
    }
}

/// The highest of `floors`.
pub(super) fn highest<'f>(floors: &'f [Floor], driver: &Driver<'_>) -> Option<&'f Floor> {
    floors.iter().reduce(|best, floor| {
        if driver.compare(&floor.driver, &best.driver).is_gt() {
            floor
        } else {
            best
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Names as in wheels and toolkits; majors by RULES.md 4.8.
    #[test]
    fn the_runtime_major_is_in_the_library_name() {
        for (name, major) in [
            ("libcudart.so.12", Some(12)),
            ("libcudart.so.11.0", Some(11)),
            ("libcudart-5a077122.so.12.0.107", Some(12)),
            ("libcudart.e8e8b82a.so.12", Some(12)),
            ("libcudart.so.13", Some(13)),
            ("libcudart.so", None),
            ("cudart64_12.dll", Some(12)),
            ("cudart64_110.dll", Some(11)),
            ("cudart64_101.dll", Some(10)),
            ("CUDART64_13.dll", Some(13)),
        ] {
            assert_eq!(major_in_name(name), major, "{name}");
        }
    }
}
