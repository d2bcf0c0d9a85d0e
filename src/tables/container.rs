//! What container images say of GPUs, and what their words mean: brands, names of architectures, capabilities.
//!
//! A GPU's brand is what the driver reports (NVML), not what the table of GPUs calls its class; where drivers
//! differ, or no capture was found, more than one brand is possible.

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::Tables;
use super::rows::{Evidence, GpuClass, GpuRow};
use super::yaml::{self, Sources};
use crate::error::Error;

const FILE: &str = "containers.yaml";

/// A brand of the NVML enumeration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BrandRow {
    /// Its number, as in the `device` list of a forward compatibility note.
    pub id: u32,
    /// Its name in lower case without blanks, as `brand=` writes it.
    pub brand: String,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
}

/// The brands that a driver may report for GPUs whose names fit a pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BrandRule {
    /// A glob of names of GPUs, without regard to case.
    pub name: String,
    /// Only GPUs of this class.
    pub class: Option<GpuClass>,
    /// The brands; empty where none is known.
    #[serde(deserialize_with = "yaml::words")]
    pub brands: Vec<String>,
    /// How the rule is known.
    pub evidence: Evidence,
    /// Where the rule comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
    #[serde(skip)]
    glob: Option<GlobMatcher>,
}

/// A name that stands for architectures in `TORCH_CUDA_ARCH_LIST`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ArchNameRow {
    /// The name: `Ampere`.
    pub name: String,
    /// What it stands for, in the same notation: `8.0`, `8.6+PTX`.
    #[serde(deserialize_with = "yaml::words")]
    pub list: Vec<String>,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
}

/// The driver capabilities of the NVIDIA Container Toolkit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CapabilitiesRow {
    /// Every one that it knows.
    #[serde(deserialize_with = "yaml::words")]
    pub supported: Vec<String>,
    /// Those that an image gets which names none.
    #[serde(deserialize_with = "yaml::words")]
    pub default: Vec<String>,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    brands: Vec<BrandRow>,
    rules: Vec<BrandRule>,
    names: Vec<ArchNameRow>,
    capabilities: CapabilitiesRow,
}

/// The table of container words.
#[derive(Debug)]
pub(super) struct ContainerTable {
    pub(super) as_of: String,
    pub(super) brands: Vec<BrandRow>,
    pub(super) rules: Vec<BrandRule>,
    pub(super) names: Vec<ArchNameRow>,
    pub(super) capabilities: CapabilitiesRow,
}

impl ContainerTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        let sources = file.brands.iter_mut().map(|row| &mut row.sources);
        let sources = sources.chain(file.rules.iter_mut().map(|row| &mut row.sources));
        let sources = sources.chain(file.names.iter_mut().map(|row| &mut row.sources));
        for source in sources.chain([&mut file.capabilities.sources]).flatten() {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        for rule in &mut file.rules {
            let glob = GlobBuilder::new(&rule.name).case_insensitive(true).build();
            let glob = glob.map_err(|source| yaml::invalid(FILE, source))?;
            rule.glob = Some(glob.compile_matcher());
        }
        Ok(Self {
            as_of: file.as_of,
            brands: file.brands,
            rules: file.rules,
            names: file.names,
            capabilities: file.capabilities,
        })
    }

    /// The rule of a GPU.
    pub(super) fn rule(&self, gpu: &GpuRow) -> Option<&BrandRule> {
        self.rules.iter().find(|rule| {
            rule.class.is_none_or(|class| class == gpu.class)
                && rule
                    .glob
                    .as_ref()
                    .is_some_and(|glob| glob.is_match(&gpu.name))
        })
    }
}

impl Tables {
    /// The brands that a driver may report for a GPU, as `brand=` writes them; empty where none is known.
    pub fn brands_of(&self, gpu: &GpuRow) -> &[String] {
        let rule = self.container_table().rule(gpu);
        rule.map_or(&[], |rule| rule.brands.as_slice())
    }

    /// All brands of the NVML enumeration, by number.
    pub fn brands(&self) -> &[BrandRow] {
        &self.container_table().brands
    }

    /// The brand with a number of the NVML enumeration.
    pub fn brand(&self, id: u32) -> Option<&BrandRow> {
        self.brands().iter().find(|row| row.id == id)
    }

    /// What a name in `TORCH_CUDA_ARCH_LIST` stands for.
    pub fn arch_name(&self, name: &str) -> Option<&ArchNameRow> {
        let mut rows = self.container_table().names.iter();
        rows.find(|row| row.name == name)
    }

    /// The driver capabilities of the NVIDIA Container Toolkit.
    pub fn driver_capabilities(&self) -> &CapabilitiesRow {
        &self.container_table().capabilities
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GpuLookup, Tables};

    // captures of `nvidia-smi -q`, "Product Brand"
    #[test]
    fn gpus_have_the_brands_that_drivers_report() {
        for (gpu, brands) in [
            ("Tesla V100-SXM2-16GB", "tesla nvidia"),
            ("T4", "tesla nvidia"),
            ("H100", "tesla nvidia"),
            ("L4", "tesla nvidia"),
            ("B200", "tesla nvidia"),
            ("RTX 4090", "geforce geforcertx"),
            ("GeForce GTX 1080 Ti", "geforce"),
            ("RTX 3080 Laptop GPU", "geforce geforcertx"),
            ("RTX A6000", "nvidiartx"),
            ("RTX 6000 Ada", "nvidiartx"),
            ("Quadro P4000", "quadro"),
            ("TITAN RTX", "titan titanrtx"),
            ("TITAN V", "titan"),
            ("DGX Spark", ""),
            ("GB10", ""),
            ("Jetson AGX Orin", ""),
            ("T1000", ""),
        ] {
            let GpuLookup::Found(row) = Tables::builtin().gpu(gpu) else {
                panic!("{gpu}");
            };
            let found = Tables::builtin().brands_of(row).join(" ");
            assert_eq!(found, brands, "{gpu}");
        }
    }
}
