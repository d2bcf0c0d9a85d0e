//! The arguments of `smgate find`.

use clap::Args as ClapArgs;

use super::{Fleet, FormatArg, Network, Scan};

pub(super) const HELP: &str = "\
Example: which torch is the newest with code for a GTX 1060, of your index and of PyTorch's own builds for CUDA 12.6?
  smgate find torch --target gtx1060 --driver R580 --extra-index-url https://INDEX/whl/cu126

Of each index and each local label (`+cu126`) the newest build is read first, by parts of its file. Where it does not \
run, older ones follow in leaps, then the gap is halved. What runs was read and judged as `check` does; a newer build \
that was not read may run too.

Exit status: 0 something runs on every target, 1 on some target nothing does that was read, 2 nothing could be looked \
for (usage, policy, index), 3 on some target something could not be read and nothing else runs";

/// Find the newest builds of a package that run on your targets, in package indexes
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Find {
    /// The package, with extras and versions if you like: `torch`, `torch>=2.5,<2.9`
    #[arg(value_name = "REQUIREMENT")]
    pub(in crate::cli) requirement: String,
    #[command(flatten)]
    pub(in crate::cli) fleet: Fleet,
    /// Look at pre-releases too
    #[arg(long)]
    pub(in crate::cli) pre: bool,
    /// The most builds that are read, over all targets
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(in crate::cli) most: u64,
    /// The day on which waivers are judged, `2027-03-01`; today if not given
    #[arg(long, value_name = "DATE")]
    pub(in crate::cli) today: Option<String>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(in crate::cli) format: FormatArg,
    #[command(flatten)]
    pub(in crate::cli) network: Network,
    #[command(flatten)]
    pub(in crate::cli) scan: Scan,
}
