//! The arguments of `smgate diff`.

use std::ffi::OsString;

use clap::Args as ClapArgs;

use super::{FailOn, Fleet, FormatArg, Network, Scan};

/// Show what changes between two versions of a package, an environment or an image, for your targets
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Diff {
    /// What there was: any input of `check`, or a file that `inspect --format json` wrote
    #[arg(value_name = "BEFORE", value_hint = clap::ValueHint::AnyPath)]
    pub(in crate::cli) before: OsString,
    /// What there will be
    #[arg(value_name = "AFTER", value_hint = clap::ValueHint::AnyPath)]
    pub(in crate::cli) after: OsString,
    /// Exit with 1 where there are more warnings too
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub(in crate::cli) fail_on: FailOn,
    /// The day on which waivers are judged, `2027-03-01`; today if not given
    #[arg(long, value_name = "DATE", hide_short_help = true)]
    pub(in crate::cli) today: Option<String>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(in crate::cli) format: FormatArg,
    /// Show more: the megabytes of every architecture, every library and package, remarks
    #[arg(long, short)]
    pub(in crate::cli) verbose: bool,
    #[command(flatten)]
    pub(in crate::cli) fleet: Fleet,
    #[command(flatten)]
    pub(in crate::cli) network: Network,
    #[command(flatten)]
    pub(in crate::cli) scan: Scan,
}
