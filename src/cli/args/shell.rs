//! What fits the program into a shell and a manual, as typed.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

/// Print the completions of a shell
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Completions {
    /// The shell that is to complete commands, options and their values
    #[arg(value_enum, value_name = "SHELL")]
    pub(in crate::cli) shell: Shell,
}

/// Print a page of the manual, or write all of them
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Man {
    /// The command of which the page is printed, `check` or `policy lint`; the page of `smgate` if not given
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub(in crate::cli) command: Vec<String>,
    /// Write all pages into this directory, which is made if need be, instead of printing one
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(in crate::cli) dir: Option<PathBuf>,
}
