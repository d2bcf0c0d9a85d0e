//! `smgate policy`: writes a starter policy, checks policy files, shows what they mean.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind as IoErrorKind, IsTerminal as _, Write as _};
use std::path::Path;

use crate::cli::args::{
    Policy as PolicyArgs, PolicyCommand, PolicyInit, PolicyLint, PolicyShow, ShowFormat,
};
use crate::cli::{Exit, Failure, Output, unless_closed};
use crate::escape::{in_json, visible};
use crate::policy::{self, Policy};
use crate::report::plural;
use crate::tables::Tables;
use crate::{Error, ErrorKind};

use super::{POLICY_FILE, load_policy, today};

pub(in crate::cli) fn run(
    args: &PolicyArgs,
    tables: &Tables,
    output: &Output,
) -> Result<Exit, Failure> {
    match &args.command {
        PolicyCommand::Init(args) => init(args, tables, output),
        PolicyCommand::Lint(args) => lint(args, tables, output),
        PolicyCommand::Show(args) => show(args, tables, output),
    }
}

fn init(args: &PolicyInit, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    let text = policy::init(
        &args.target,
        args.driver.as_deref(),
        args.platform.as_deref(),
        tables,
    )?;
    let mut stdout = output.stdout();
    let file = match args.output.as_deref() {
        Some(path) if path == Path::new("-") => None,
        Some(path) => Some(path),
        // `smgate policy init > smgate.yaml` is what people try
        None => io::stdout().is_terminal().then(|| Path::new(POLICY_FILE)),
    };
    match file {
        None => write!(stdout, "{text}")?,
        Some(path) => {
            write_new(path, &text)?;
            writeln!(
                stdout,
                "wrote {}: edit it, then run `smgate check INPUT...`",
                visible(&path.display().to_string())
            )?;
        }
    }
    stdout.flush()?;
    Ok(Exit::Pass)
}

fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    let cannot = |error: io::Error| {
        let hint = match error.kind() {
            IoErrorKind::AlreadyExists => "it exists already: name another with `--output FILE`",
            _ => "name a place where you may write with `--output FILE`",
        };
        Error::new(
            ErrorKind::Output,
            format!("`{}` could not be written", path.display()),
        )
        .with_hint(hint)
        .with_source(error)
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(cannot)?;
    file.write_all(text.as_bytes()).map_err(cannot)
}

fn lint(args: &PolicyLint, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    let mut stdout = output.stdout();
    let names: Vec<Option<&str>> = if args.files.is_empty() {
        vec![None]
    } else {
        args.files.iter().map(|name| Some(name.as_str())).collect()
    };
    let today = today(args.today.as_deref())?;
    let mut exit = Exit::Pass;
    for name in names {
        match load_policy(name, tables) {
            Ok(policy) => {
                let line = writeln!(
                    stdout,
                    "{}: {}",
                    visible(policy.origin()),
                    visible(&describe(&policy))
                );
                unless_closed(line)?;
                let doubts = policy.lint(tables, today);
                let shown = doubts.render(output.stderr_colour());
                unless_closed(write!(output.stderr(), "{shown}"))?;
            }
            // the other files are checked too
            Err(failure) => {
                unless_closed(failure.print(output))?;
                exit = Exit::CannotJudge;
            }
        }
    }
    unless_closed(stdout.flush())?;
    Ok(exit)
}

fn show(args: &PolicyShow, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    let today = today(args.today.as_deref())?;
    let policy = load_policy(args.file.as_deref(), tables)?;
    let resolved = policy.resolved(tables, today);
    let mut stdout = output.stdout();
    match args.format {
        ShowFormat::Human => {
            for line in resolved.to_string().lines() {
                writeln!(stdout, "{}", visible(line))?;
            }
        }
        ShowFormat::Json => {
            let document = serde_json::to_string_pretty(&resolved).map_err(io::Error::from)?;
            writeln!(stdout, "{}", in_json(document))?;
        }
    }
    stdout.flush()?;
    Ok(Exit::Pass)
}

fn describe(policy: &Policy) -> String {
    let targets: Vec<&str> = policy
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    let host = if policy.asks_for_host() {
        "; `host: true` is looked at when `check` runs, not here"
    } else {
        ""
    };
    format!(
        "valid, {}: {}{host}",
        plural(targets.len() as u64, "target"),
        targets.join(", ")
    )
}
