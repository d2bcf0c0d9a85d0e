//! The minimum driver of a package on a GPU: the highest of its floors, each with mechanism and culprit.
//!
//! Rules 1.9 and 4.5 (CUDA runtime), the first driver that knows a GPU, 2.3 (PTX ISA where code is
//! compiled) and 2.13 (compression).

use crate::compat::{Driver, first_driver};
use crate::cuda::{ComputeCapability, DriverSpec, PtxIsa, ToolkitVersion};
use crate::device::Coding;
use crate::inventory::Library;
use crate::platform::Os;
use crate::tables::Tables;

use super::coverage::Coverage;

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
    /// The CUDA runtime, linked or bundled.
    Runtime(RuntimeVersion),
    /// The runtime of the toolkit that made the code, where it is linked statically or not at all.
    Toolkit(RuntimeVersion),
    /// The GPU: older drivers do not know it.
    Gpu(ComputeCapability),
    /// PTX that the driver compiles.
    Ptx(PtxIsa),
    /// A compression that the driver unpacks.
    Compression,
    /// Variables of an image, by name.
    Declared(String),
    /// A specification of a conda package, as written: `__cuda >=12.9`.
    DeclaredByPackage(String),
}

/// A version of the CUDA runtime as drivers tell them apart: from 11 on by major version (rule 4.2), before
/// that each minor version by itself (rule 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuntimeVersion {
    /// Major version.
    pub major: u32,
    /// Minor version, where it matters.
    pub minor: Option<u32>,
}

impl RuntimeVersion {
    fn new(major: u32, minor: u32) -> Self {
        let minor = (major < FIRST_WITH_MINOR_COMPATIBILITY).then_some(minor);
        Self { major, minor }
    }

    /// The oldest driver on which it starts.
    fn floor(self, os: Os, tables: &Tables) -> Option<DriverSpec> {
        match self.minor {
            None => Some(tables.runtime_floor(self.major, os)?.driver.clone()),
            Some(minor) => {
                // the branch that reports this CUDA version, which does not change inside it (rule 4.9)
                let row = tables.toolkit(ToolkitVersion::new(self.major, minor))?;
                Some(DriverSpec::Branch(row.branch))
            }
        }
    }
}

impl std::fmt::Display for RuntimeVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CUDA {}", self.major)?;
        match self.minor {
            Some(minor) => write!(f, ".{minor}"),
            None => Ok(()),
        }
    }
}

/// The first CUDA major version whose runtimes start on every driver of that major version.
const FIRST_WITH_MINOR_COMPATIBILITY: u32 = 11;

impl std::fmt::Display for Mechanism {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Runtime(version) => write!(f, "the {version} runtime"),
            Self::Toolkit(version) => write!(f, "code made by {version}"),
            Self::Gpu(cc) => write!(f, "GPUs of compute capability {cc}"),
            Self::Ptx(isa) => write!(f, "compiling PTX {isa}"),
            Self::Compression => f.write_str("code compressed with zstd"),
            Self::DeclaredByPackage(spec) => write!(f, "the package's `{spec}`"),
            Self::Declared(variables) => write!(f, "the image's {variables}"),
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
    let runtime = runtime_of(library, tables).map(|version| (version, Mechanism::Runtime(version)));
    let toolkit = || {
        // several toolkits in one library: the newest decides
        let newest = library.toolkits.last().filter(|_| coverage.is_some())?;
        let version = RuntimeVersion::new(newest.major, newest.minor);
        Some((version, Mechanism::Toolkit(version)))
    };
    if let Some((version, mechanism)) = runtime.or_else(toolkit)
        && let Some(driver) = version.floor(os, tables)
    {
        floors.push(Floor {
            driver,
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
    let driver = first_driver(cc, os, tables)?;
    Some(Floor {
        driver,
        mechanism: Mechanism::Gpu(cc),
        culprit: None,
    })
}

/// The runtime library that a library needs, by its name (rule 4.8).
pub(super) fn runtime_of(library: &Library, tables: &Tables) -> Option<RuntimeVersion> {
    let runtimes = library.needed.iter().filter(|name| {
        tables
            .vendor(name)
            .is_some_and(|row| row.component == "cuda-runtime")
    });
    runtimes.filter_map(|name| version_in_name(name)).max()
}

/// `libcudart.so.12` and `libcudart-5a077122.so.12.0.107` are 12, `cudart64_110.dll` is 11,
/// `libcudart.so.10.2` and `cudart64_102.dll` are 10.2.
fn version_in_name(name: &str) -> Option<RuntimeVersion> {
    let lower = name.to_ascii_lowercase();
    let number = |text: &str| -> Option<u32> {
        let digits = text.chars().take_while(char::is_ascii_digit);
        digits.collect::<String>().parse().ok()
    };
    if let Some((_, version)) = lower.rsplit_once(".so.") {
        let (major, rest) = version.split_once('.').unwrap_or((version, ""));
        let major = number(major)?;
        return match number(rest) {
            Some(minor) => Some(RuntimeVersion::new(major, minor)),
            None if major >= FIRST_WITH_MINOR_COMPATIBILITY => Some(RuntimeVersion::new(major, 0)),
            None => None,
        };
    }
    // up to 11 the minor version is in the name too: 92, 101, 110; from 12 on it is not
    match number(lower.strip_prefix("cudart64_")?)? {
        major @ 12..=49 => Some(RuntimeVersion::new(major, 0)),
        tenfold @ 50..=119 => Some(RuntimeVersion::new(tenfold / 10, tenfold % 10)),
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

    // Names as in wheels and toolkits; versions by RULES.md 4.8.
    #[test]
    fn the_version_of_the_runtime_is_in_the_library_name() {
        for (name, version) in [
            ("libcudart.so.12", "CUDA 12"),
            ("libcudart.so.11.0", "CUDA 11"),
            ("libcudart-5a077122.so.12.0.107", "CUDA 12"),
            ("libcudart.e8e8b82a.so.12", "CUDA 12"),
            ("libcudart.so.13", "CUDA 13"),
            ("libcudart.so.10.2", "CUDA 10.2"),
            ("libcudart-72457585.so.10.2.89", "CUDA 10.2"),
            ("libcudart.so.9.0", "CUDA 9.0"),
            ("libcudart.so.10", "none"),
            ("libcudart.so", "none"),
            ("libcudart.so.x", "none"),
            ("cudart64_12.dll", "CUDA 12"),
            ("cudart64_110.dll", "CUDA 11"),
            ("cudart64_102.dll", "CUDA 10.2"),
            ("cudart64_101.dll", "CUDA 10.1"),
            ("cudart64_92.dll", "CUDA 9.2"),
            ("CUDART64_13.dll", "CUDA 13"),
            ("cudart64_.dll", "none"),
        ] {
            let found = version_in_name(name)
                .map_or_else(|| "none".to_owned(), |version| version.to_string());
            assert_eq!(found, version, "{name}");
        }
    }
}
