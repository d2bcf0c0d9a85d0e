//! The command line: the one place that prints, reads the environment and the clock, and ends with a status.

mod args;
mod bytes;
mod commands;
mod daemons;
mod exit;
mod files;
#[cfg(feature = "registry")]
mod indexes;
#[cfg(feature = "registry")]
mod network;
mod output;
mod places;
mod progress;
mod reach;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;

use crate::escape::visible;
use crate::tables::Tables;
use crate::{Error, ErrorKind};
use args::{Args, Command};
use output::{Output, stdout_width};

pub use daemons::local_daemons;
pub use exit::Exit;
#[cfg(feature = "registry")]
pub use indexes::{IndexAccess, IndexOptions, KeyringProvider, index_access, index_config};
#[cfg(feature = "registry")]
pub use network::registry_access;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    if let Err(failure) = no_file_is_an_option(std::env::args_os().skip(1)) {
        let _closed = failure.print(&Output::new(args::Colour::Auto));
        return Exit::CannotJudge.into();
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let error = harmless(error);
            // help and version are no errors; a closed pipe is nobody's business
            let _closed = error.print();
            let exit = if error.use_stderr() {
                Exit::CannotJudge
            } else {
                Exit::Pass
            };
            return exit.into();
        }
    };
    let output = Output::new(args.colour);
    match run(&args, &output) {
        Ok(exit) => exit.into(),
        // whoever read the output has seen enough of it
        Err(Failure::Output(error)) if is_closed(&error) => Exit::Pass.into(),
        Err(failure) => {
            let _closed = failure.print(&output);
            Exit::CannotJudge.into()
        }
    }
}

/// Refuses an argument that reads as an option and is the name of something in the working directory. Hooks append the
/// names of changed files to their own arguments: a file called `--policy=x/y.whl` would choose the policy. Behind `--`
/// everything is a name.
fn no_file_is_an_option(arguments: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    let is_option = |argument: &OsStr| {
        let bytes = argument.as_encoded_bytes();
        bytes.starts_with(b"-") && bytes.len() > 1
    };
    let file = arguments
        .take_while(|argument| argument != "--")
        .find(|argument| is_option(argument) && Path::new(argument).symlink_metadata().is_ok());
    let Some(file) = file else { return Ok(()) };
    let message = format!(
        "the argument `{}` reads as an option, and is also the name of something in this directory",
        file.to_string_lossy()
    );
    let error = Error::new(ErrorKind::Usage, message);
    Err(error
        .with_hint("put `--` before file names, or rename the file")
        .into())
}

/// An error about the arguments that repeats none of them in a form that a terminal would obey: it is made again
/// from arguments in which that is visible, so that the colours of the error stay.
fn harmless(error: clap::Error) -> clap::Error {
    let mut changed = false;
    let arguments: Vec<String> = std::env::args_os()
        .map(|argument| {
            let text = argument.to_string_lossy();
            let shown = visible(&text);
            changed |= matches!(shown, Cow::Owned(_));
            shown.into_owned()
        })
        .collect();
    if changed {
        Args::try_parse_from(arguments).err().unwrap_or(error)
    } else {
        error
    }
}

fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let overlaid = commands::tables(args.tables.as_deref(), output)?;
    let tables = overlaid.as_ref().unwrap_or_else(|| Tables::builtin());
    match &args.command {
        Command::Check(args) => commands::check::run(args, tables, output),
        Command::Diff(args) => commands::diff::run(args, tables, output),
        Command::Find(args) => commands::find::run(args, tables, output),
        Command::Export(args) => commands::export::run(args, tables, output),
        Command::Inspect(args) => commands::inspect::run(args, tables, output),
        Command::Explain(args) => commands::explain::run(args, tables, output),
        Command::Facts(args) => commands::facts::run(args, tables, output),
        Command::Policy(args) => commands::policy::run(args, tables, output),
        Command::Host(args) => commands::host::run(args, tables, output),
        Command::Cache(args) => commands::cache::run(args, output),
        Command::Completions(args) => commands::shell::completions(args, output),
        Command::Man(args) => commands::shell::man(args, output),
    }
}

/// Whether nobody reads the output any more.
fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// What a verdict needs of its report: a reader that leaves early (`smgate check … | head -1`) must not
/// change the exit status.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if is_closed(&error) => Ok(()),
        other => other,
    }
}

/// Why a command could not do its work.
enum Failure {
    /// A fatal error.
    Fatal(Error),
    /// A policy with mistakes.
    Policy(crate::policy::Diagnostics),
    /// The output is gone.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    fn print(&self, output: &Output) -> io::Result<()> {
        let mut stderr = output.stderr();
        match self {
            Self::Fatal(error) => output::print_error(error, &mut stderr),
            Self::Policy(diagnostics) => {
                write!(stderr, "{}", diagnostics.render(output.stderr_colour()))
            }
            Self::Output(error) => {
                writeln!(stderr, "error: the output could not be written: {error}")
            }
        }
    }
}
