//! The arguments of `smgate find`.

use clap::Args as ClapArgs;

use super::{Fleet, FormatArg, Network, Scan};

/// Find the newest builds of a package that run on your targets, in package indexes
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Find {
    /// The package, with extras and versions if you like: `torch`, `torch>=2.5,<2.9`
    #[arg(value_name = "REQUIREMENT")]
    pub(in crate::cli) requirement: String,
    /// Look at pre-releases too
    #[arg(long)]
    pub(in crate::cli) pre: bool,
    /// The most builds that are read, over all targets
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(in crate::cli) most: u64,
    /// The day on which waivers are judged, `2027-03-01`; today if not given
    #[arg(long, value_name = "DATE", hide_short_help = true)]
    pub(in crate::cli) today: Option<String>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(in crate::cli) format: FormatArg,
    #[command(flatten)]
    pub(in crate::cli) fleet: Fleet,
    #[command(flatten)]
    pub(in crate::cli) network: Network,
    #[command(flatten)]
    pub(in crate::cli) scan: Scan,
}
