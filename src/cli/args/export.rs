//! The arguments of `smgate export`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::{Install, Network, Scan};
use crate::report::ExportFormat;

/// Write what packages or images need in a form for others
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Export {
    /// What to write
    #[arg(value_enum, value_name = "FORMAT")]
    pub(in crate::cli) format: ExportArg,
    /// Images, wheels, directories and the rest of what `inspect` takes
    #[arg(required_unless_present = "inventory", value_name = "INPUT")]
    pub(in crate::cli) inputs: Vec<OsString>,
    /// Read a saved inventory (`inspect --format json`) instead of inputs
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    pub(in crate::cli) inventory: Option<PathBuf>,
    /// Of `require-cuda` the value alone, for scripts; the reasons go to standard error
    #[arg(long)]
    pub(in crate::cli) value: bool,
    /// The platform of images that are there for several: `linux/amd64`, `linux/arm64/v8`; all of them if not given
    #[arg(long)]
    pub(in crate::cli) platform: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) install: Install,
    #[command(flatten)]
    pub(in crate::cli) network: Network,
    #[command(flatten)]
    pub(in crate::cli) scan: Scan,
}

/// What `export` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ExportArg {
    /// A line for a Dockerfile, `ENV NVIDIA_REQUIRE_CUDA="…"`, with the reasons as comments
    RequireCuda,
    /// An image compatibility specification of Kubernetes Node Feature Discovery, YAML
    Nfd,
    /// A bill of materials, `CycloneDX` 1.6 JSON
    #[value(name = "cyclonedx")]
    CycloneDx,
}

impl Export {
    /// What to write, if that goes together.
    pub(in crate::cli) fn form(&self) -> Option<ExportFormat> {
        match (self.format, self.value) {
            (ExportArg::RequireCuda, false) => Some(ExportFormat::RequireCuda),
            (ExportArg::RequireCuda, true) => Some(ExportFormat::RequireCudaValue),
            (ExportArg::Nfd, false) => Some(ExportFormat::Nfd),
            (ExportArg::CycloneDx, false) => Some(ExportFormat::CycloneDx),
            (ExportArg::Nfd | ExportArg::CycloneDx, true) => None,
        }
    }
}
