//! Typed rows of the tables. Values only: how a file is read is `yaml`, what must hold is `check`.
//!
//! A field that is `None` or empty is unknown, never "no". Sources are documents or measurements.

use serde::{Deserialize, Serialize};

use super::yaml;
use crate::cuda::{
    ComputeCapability, DriverBranch, DriverSpec, DriverVersion, PtxIsa, SmTarget, ToolkitVersion,
};
use crate::platform::Os;

/// How a value is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// A tool or a library of that release was run.
    Measured,
    /// Part of it was measured, the rest read.
    PartlyMeasured,
    /// A document or a file of NVIDIA says so.
    Docs,
    /// A document is named that was not read for this row.
    Cited,
    /// Public reports say so.
    Secondary,
    /// It follows from another row by rule.
    Derived,
    /// It was concluded from values beside it.
    Inferred,
    /// No document was found.
    Unverified,
}

impl Evidence {
    /// The name in tables and JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::PartlyMeasured => "partly-measured",
            Self::Docs => "docs",
            Self::Cited => "cited",
            Self::Secondary => "secondary",
            Self::Derived => "derived",
            Self::Inferred => "inferred",
            Self::Unverified => "unverified",
        }
    }
}

/// How sure the capability of a GPU is, where no source states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Secondary sources agree.
    Medium,
    /// Concluded from the chip alone.
    Low,
}

/// What a GPU is sold as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuClass {
    /// Data centre.
    Datacenter,
    /// `GeForce` and TITAN.
    Geforce,
    /// Notebook.
    Mobile,
    /// Anything else.
    Other,
    /// Jetson and DRIVE.
    Tegra,
    /// RTX and Quadro.
    Workstation,
}

impl GpuClass {
    /// The name in tables and JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Datacenter => "datacenter",
            Self::Geforce => "geforce",
            Self::Mobile => "mobile",
            Self::Other => "other",
            Self::Tegra => "tegra",
            Self::Workstation => "workstation",
        }
    }
}

/// A GPU by one of its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GpuRow {
    /// The name, as `nvidia-smi` prints it but without `NVIDIA`, or as documents write it.
    pub name: String,
    /// Its compute capability; several where one name covers several chips, none where unknown.
    #[serde(deserialize_with = "yaml::words")]
    pub cc: Vec<ComputeCapability>,
    /// What it is sold as.
    pub class: GpuClass,
    /// Other names, beyond what normalisation gives.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Chips: `GH100`.
    #[serde(default, deserialize_with = "yaml::words")]
    pub chips: Vec<String>,
    /// PCI ids: `10de:2330`.
    #[serde(default, deserialize_with = "yaml::words")]
    pub pci: Vec<String>,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// Set where no source states the capability or the chip.
    pub confidence: Option<Confidence>,
    /// A remark: a conflict between sources, or the reason of the confidence.
    pub note: Option<String>,
}

/// An sm target: what code can be built for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SmRow {
    /// The target.
    pub target: SmTarget,
    /// The first toolkit that builds for it.
    pub first_toolkit: Option<ToolkitVersion>,
    /// The last toolkit that builds for it; none while current toolkits do.
    pub last_toolkit: Option<ToolkitVersion>,
    /// The lowest PTX ISA version that may name it; none where it is no PTX target.
    pub min_ptx_isa: Option<PtxIsa>,
    /// How the row is known.
    pub evidence: Evidence,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

/// The oldest driver that knows GPUs of a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FirstDriver {
    /// Its branch; none where only a Tegra release is known.
    pub branch: Option<DriverBranch>,
    /// The exact first Linux version.
    pub linux: Option<DriverVersion>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where it comes from.
    pub source: String,
    /// A remark.
    pub note: Option<String>,
}

/// A compute capability: what GPUs have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CapabilityRow {
    /// The capability.
    pub cc: ComputeCapability,
    /// A short label for people: `Hopper (H100, H200)`.
    pub examples: String,
    /// Whether these are Tegra chips, for which NVIDIA promises no binary compatibility with desktop chips.
    #[serde(default)]
    pub tegra: bool,
    /// Whether these Tegra chips run what is made for Arm servers (SBSA), not only what is made for Jetson.
    #[serde(default)]
    pub sbsa: bool,
    /// The capabilities that family-specific code for this one reaches, itself included; empty without such a target.
    #[serde(default, deserialize_with = "yaml::words")]
    pub family: Vec<ComputeCapability>,
    /// The number that newer toolkits give it.
    pub renamed_to: Option<ComputeCapability>,
    /// The number that older toolkits gave it.
    pub renamed_from: Option<ComputeCapability>,
    /// The oldest driver that knows such GPUs.
    pub first_driver: Option<FirstDriver>,
    /// The last driver branch that supports such GPUs; none while branches go on.
    pub last_branch: Option<DriverBranch>,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

/// What kind of driver branch it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BranchKind {
    /// For hardware that newer branches dropped.
    Legacy,
    /// Long-lived, before the present names.
    LongLived,
    /// Short-lived, before the present names.
    ShortLived,
    /// For developers and evaluation.
    Developer,
    /// New feature branch.
    NewFeature,
    /// Production branch.
    Production,
    /// Long-term support branch.
    LongTerm,
}

impl BranchKind {
    /// The name in tables and JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::LongLived => "long-lived",
            Self::ShortLived => "short-lived",
            Self::Developer => "developer",
            Self::NewFeature => "new-feature",
            Self::Production => "production",
            Self::LongTerm => "long-term",
        }
    }
}

/// A driver branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BranchRow {
    /// The branch.
    pub branch: DriverBranch,
    /// The CUDA version that its drivers report.
    pub cuda: ToolkitVersion,
    /// The desktop and data-centre capabilities that it supports, in rising order; Tegra is not listed.
    #[serde(rename = "cc", deserialize_with = "yaml::words")]
    pub capabilities: Vec<ComputeCapability>,
    /// What kind of branch it is.
    #[serde(rename = "type")]
    pub kind: Option<BranchKind>,
    /// `ended`, or the month of its end: `2028-06`.
    pub eol: Option<String>,
    /// The first Linux version seen in public.
    pub first_linux: Option<DriverVersion>,
    /// How the CUDA version is known.
    pub evidence: Evidence,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

impl BranchRow {
    /// Whether the branch lists the desktop or data-centre capability; Tegra capabilities are not listed.
    pub fn supports(&self, cc: ComputeCapability) -> bool {
        self.capabilities.contains(&cc)
    }
}

/// The first numbers of driver versions that belong to a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NumberRow {
    /// The branch.
    pub branch: DriverBranch,
    /// The lowest first number: 551 of `551.61`.
    pub from: u32,
    /// The highest first number; none where it is open.
    pub to: Option<u32>,
    /// How the range is known.
    pub evidence: Evidence,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

impl NumberRow {
    /// The row by branch and first number: `R550 from 551`.
    pub fn key(&self) -> String {
        format!("{} from {}", self.branch, self.from)
    }

    /// Whether a version with this first number is in the range.
    pub fn contains(&self, number: u32) -> bool {
        self.from <= number && self.to.is_none_or(|to| number <= to)
    }
}

/// The driver that is paired with an update of a toolkit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PairedDriver {
    /// The update: `12.4.1 Update 1`.
    pub release: String,
    /// The Linux driver.
    pub linux: Option<DriverVersion>,
    /// The Windows driver.
    pub windows: Option<DriverVersion>,
    /// A remark.
    pub note: Option<String>,
}

/// A CUDA toolkit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolkitRow {
    /// Its version.
    pub cuda: ToolkitVersion,
    /// The PTX ISA version that it writes.
    pub ptx_isa: PtxIsa,
    /// The first driver branch that reports this CUDA version.
    pub branch: DriverBranch,
    /// Whether a toolkit of this version was ever public.
    #[serde(default = "yes")]
    pub released: bool,
    /// What nvcc builds for without `-arch`.
    pub default_target: Option<SmTarget>,
    /// The SONAME of its runtime library on Linux.
    pub cudart: String,
    /// What it builds for, in rising order; empty where unknown.
    #[serde(default, deserialize_with = "yaml::words")]
    pub targets: Vec<SmTarget>,
    /// The drivers paired with its updates, oldest first.
    #[serde(default)]
    pub drivers: Vec<PairedDriver>,
    /// How the row is known.
    pub evidence: Evidence,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

/// The default of a field that most rows leave out.
pub(super) fn yes() -> bool {
    true
}

/// A PTX ISA version and the oldest drivers whose JIT accepts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PtxRow {
    /// The PTX ISA version.
    pub isa: PtxIsa,
    /// The oldest CUDA version whose driver accepts it.
    pub cuda: ToolkitVersion,
    /// The first driver branch that reports this CUDA version.
    pub branch: Option<DriverBranch>,
    /// The first Linux driver with it.
    pub linux: Option<DriverVersion>,
    /// The first Windows driver with it.
    pub windows: Option<DriverVersion>,
    /// How the row is known.
    pub evidence: Evidence,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

impl PtxRow {
    /// The first driver that accepts the version on `os`, where an exact one is known.
    pub fn first_driver(&self, os: Os) -> Option<&DriverVersion> {
        match os {
            Os::Linux => self.linux.as_ref(),
            Os::Windows => self.windows.as_ref(),
            Os::MacOs => None,
        }
    }
}

/// The oldest driver on which something works.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Floor {
    /// The driver.
    pub driver: DriverSpec,
    /// How it is known.
    pub evidence: Evidence,
    /// Where it comes from.
    pub source: String,
    /// A remark.
    pub note: Option<String>,
}
