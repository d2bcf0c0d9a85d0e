//! Which builds of a package run on the targets of a policy: versions and local builds of package indexes, of which as
//! few as possible are read.
//!
//! Responsible for what there is ([`Offer`], [`Wanted`]), for which builds to read ([`search`]), and for what comes of
//! it ([`Found`]). It asks no index: it is given what they have. Builds are scanned as the files of lock files are.

mod install;
mod judge;
mod run;
pub mod search;
mod stock;

pub use install::Install;
pub use judge::Why;
pub use run::find;
pub use stock::{How, Offer, Passed, Wanted};

use crate::inventory::ScanOptions;
use crate::policy::Date;
use crate::rule::Code;
use crate::tables::Origin;

/// How to look.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FindOptions {
    /// How builds are scanned; its environments do not matter.
    pub scan: ScanOptions,
    /// The most builds that are read.
    pub most: u64,
    /// The day on which waivers are judged.
    pub today: Date,
}

impl FindOptions {
    /// At most `most` builds.
    pub fn new(scan: ScanOptions, most: u64, today: Date) -> Self {
        Self { scan, most, today }
    }
}

/// What was found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found {
    /// What was asked for, as it was written.
    pub requirement: String,
    /// The name of the package.
    pub name: String,
    /// The name of the policy.
    pub policy: String,
    /// The tables by which was judged.
    pub tables: Origin,
    /// The indexes that have the package: address, and how installers are told of them.
    pub indexes: Vec<(String, How)>,
    /// What there is for each kind of machine.
    pub environments: Vec<Available>,
    /// The targets, in the order of the policy.
    pub targets: Vec<OnTarget>,
    /// Builds that were read.
    pub read: u64,
    /// The most that were to be read.
    pub most: u64,
    /// Bytes that were asked of servers for it, without the pages of indexes.
    pub fetched: u64,
}

/// What there is for one kind of machine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Available {
    /// `linux/amd64, Python 3.12`.
    pub environment: String,
    /// Builds that could be read.
    pub builds: u64,
    /// What was passed over.
    pub passed: Passed,
}

/// What was found for one target.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OnTarget {
    /// Its name.
    pub name: String,
    /// Its GPUs, `GTX 1060 (6.1)`.
    pub gpus: Vec<String>,
    /// Its driver.
    pub driver: Option<String>,
    /// Where it gets its builds from: an index into [`Found::environments`].
    pub environment: usize,
    /// Each series, the one with the newest build first.
    pub series: Vec<OfSeries>,
}

/// What was found of the builds of one index with one label.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OfSeries {
    /// An index into [`Found::indexes`].
    pub index: usize,
    /// The local part of its versions, `cu126`.
    pub label: Option<String>,
    /// How many builds it has.
    pub builds: u64,
    /// How many of them were read.
    pub read: u64,
    /// Whether the search stopped before its end, because enough builds were read.
    pub cut: bool,
    /// The newest that has code for the GPU, of those that were read.
    pub native: Option<Running>,
    /// The newest that the driver compiles, where it is newer than that.
    pub jit: Option<Running>,
    /// The newest of all, where it does not run.
    pub newest: Option<Failing>,
    /// Whether a build that was read could not be judged.
    pub unread: bool,
    /// Whether the search ended at a build because a GPU is newer than all code in it: older ones will not do.
    pub gpu_too_new: bool,
}

/// A build that runs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Running {
    /// Its version with its label.
    pub version: String,
    /// The name of its file.
    pub file: String,
    /// Bytes of the file.
    pub size: Option<u64>,
    /// The oldest driver that starts it, where that is known.
    pub minimum_driver: Option<String>,
    /// Rules that warn of it.
    pub warnings: Vec<Code>,
    /// How it is installed.
    pub install: Install,
}

/// A build that does not run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Failing {
    /// Its version with its label.
    pub version: String,
    /// The name of its file.
    pub file: String,
    /// Whether it could be read.
    pub is_read: bool,
    /// Why it does not run, or could not be read.
    pub why: Option<Why>,
    /// The oldest driver that starts it, where that is known.
    pub minimum_driver: Option<String>,
}

/// How well a package runs on a target: better is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Runs {
    /// No build that was read does.
    No,
    /// Something could not be read, and nothing that was read does.
    Unknown,
    /// A build does, after the driver has compiled it.
    ByJit,
    /// A build has code for the GPU.
    Natively,
}

impl Runs {
    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Unknown => "unknown",
            Self::ByJit => "jit",
            Self::Natively => "natively",
        }
    }
}

impl OnTarget {
    /// How well it runs here.
    pub fn runs(&self) -> Runs {
        let of_series = |series: &OfSeries| match series {
            series if series.native.is_some() => Runs::Natively,
            series if series.jit.is_some() => Runs::ByJit,
            series if series.unread => Runs::Unknown,
            _ => Runs::No,
        };
        self.series.iter().map(of_series).max().unwrap_or(Runs::No)
    }
}

impl Found {
    /// How well it runs on the target where it runs worst; what could not be read is better than what does not run.
    pub fn worst(&self) -> Runs {
        self.targets
            .iter()
            .map(OnTarget::runs)
            .min()
            .unwrap_or(Runs::No)
    }
}
