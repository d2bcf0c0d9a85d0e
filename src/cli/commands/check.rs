//! `smgate check`: the gate.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::args::{Check, FailOn};
use crate::cli::{Exit, Failure, Output, stdout_width, unless_closed};
use crate::inventory::from_json;
use crate::policy::{Date, Policy};
use crate::report::{HumanOptions, write_check};
use crate::source::read_named;
use crate::tables::Tables;
use crate::verdict::{EvaluateOptions, evaluate};
use crate::{Error, ErrorKind};

use super::{host, load_policy, nothing_read, require_something, scan_inputs};

/// The largest saved inventory that is read, in bytes.
const INVENTORY_MAX: u64 = 256 << 20;

pub(in crate::cli) fn run(args: &Check, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    // mistakes in the policy are told before a long scan
    let policy = if args.target.is_empty() {
        load_policy(args.policy.as_deref(), tables)?
    } else {
        by_hand(args, tables)?
    };
    let today = today(args.today.as_deref())?;
    let inventory = match &args.inventory {
        Some(path) => {
            let origin = path.display().to_string();
            let bytes = read_named(path, INVENTORY_MAX, ErrorKind::Data)?;
            let text = String::from_utf8(bytes).map_err(|error| {
                Error::new(ErrorKind::Data, format!("`{origin}` is not UTF-8 text"))
                    .with_source(error)
            })?;
            from_json(&origin, &text)?
        }
        None => scan_inputs(&args.inputs, &args.scan.options(), tables)?,
    };
    require_something(&inventory, args.inventory.as_deref())?;
    let options = EvaluateOptions {
        today,
        fail_on_warn: args.fail_on == FailOn::Warn,
    };
    let evaluation = evaluate(&inventory, &policy, tables, options);
    let mut stdout = output.stdout();
    let human =
        HumanOptions::new(output.stdout_colour(), args.report.verbose).with_width(stdout_width());
    let written = write_check(&evaluation, args.report.format.into(), human, &mut stdout);
    unless_closed(written.and_then(|()| stdout.flush()))?;
    Ok(if nothing_read(&inventory) {
        Exit::CannotJudge
    } else {
        evaluation.verdict.into()
    })
}

/// The policy of `--target`. `host` is this machine, by the text that `smgate host` prints.
fn by_hand(args: &Check, tables: &Tables) -> Result<Policy, Failure> {
    let driver = args.driver.as_deref();
    let is_host = |target: &&String| target.eq_ignore_ascii_case("host");
    let (host, others): (Vec<&String>, Vec<&String>) = args.target.iter().partition(is_host);
    let others = |platform| Policy::for_targets(&others, driver, platform, tables);
    if host.is_empty() {
        return Ok(others(args.platform.as_deref())?);
    }
    if args.platform.is_some() {
        let message =
            "`--platform` does not go with `--target host`, whose platform is that of this machine";
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("leave it out, or name the GPU: `--target H100`")
            .into());
    }
    let text = format!("version: 1\ntargets:\n{}", host::target(driver, tables)?);
    let mut policy = Policy::parse(Policy::BY_HAND, &text, tables).map_err(Failure::Policy)?;
    if host.len() < args.target.len() {
        policy.targets.extend(others(None)?.targets);
    }
    Ok(policy)
}

fn today(given: Option<&str>) -> Result<Date, Error> {
    if let Some(text) = given {
        return text
            .parse()
            .map_err(|error: crate::policy::ParseDateError| {
                Error::new(ErrorKind::Usage, format!("`--today`: {error}"))
                    .with_hint("write it as `2027-03-01`")
            });
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map(|elapsed| elapsed.as_secs());
    now.ok().and_then(Date::from_unix_seconds).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "the clock of this machine is not set")
            .with_hint("give the day with `--today 2027-03-01`")
    })
}
