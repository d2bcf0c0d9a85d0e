//! `smgate check`: the gate.

use std::io::Write as _;
use std::path::Path;

use crate::cli::args::{Check, FailOn};
use crate::cli::{Exit, Failure, Output, stdout_width, unless_closed};
use crate::inventory::{ScanOptions, from_json};
use crate::policy::Policy;
use crate::report::{HumanOptions, write_check};
use crate::source::read_named;
use crate::tables::Tables;
use crate::verdict::{Baseline, EvaluateOptions, environment, evaluate_new};
use crate::{Error, ErrorKind};

use super::{host, load_policy, nothing_read, require_something, scan_inputs, today};

/// The largest saved inventory or baseline that is read, in bytes.
const DATA_MAX: u64 = 256 << 20;

pub(in crate::cli) fn run(args: &Check, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    // mistakes in the policy are told before a long scan
    let mut policy = if args.target.is_empty() {
        host::fill_in(load_policy(args.policy.as_deref(), tables)?, tables)?
    } else {
        by_hand(args, tables)?
    };
    for target in &mut policy.targets {
        args.install.complete(target);
    }
    let today = today(args.today.as_deref())?;
    let baseline = match &args.baseline {
        Some(path) => {
            let (origin, text) = read_text(path)?;
            Some(Baseline::from_json(&origin, &text)?)
        }
        None => None,
    };
    let inventory = if let Some(path) = &args.inventory {
        let (origin, text) = read_text(path)?;
        let inventory = from_json(&origin, &text)?;
        if args.kernels && !inventory.has_kernels() {
            return Err(without_kernels(&origin).into());
        }
        inventory
    } else {
        let options = scan_options(args, &policy);
        scan_inputs(&args.inputs, options, &args.network, tables)?
    };
    require_something(&inventory, args.inventory.as_deref())?;
    let options = EvaluateOptions {
        today,
        fail_on_warn: args.fail_on == FailOn::Warn,
    };
    let judge = |baseline| evaluate_new(&inventory, &policy, tables, options, baseline);
    let baseline = match &args.write_baseline {
        Some(path) if !nothing_read(&inventory) => {
            let baseline = Baseline::of(&path.display().to_string(), &judge(None));
            write_baseline(path, &baseline)?;
            Some(baseline)
        }
        _ => baseline,
    };
    let mut evaluation = judge(baseline.as_ref());
    if !args.kernels {
        // a saved inventory can have them all the same
        evaluation.missing_kernels = None;
    }
    let mut stdout = output.stdout();
    let human = HumanOptions::new(output.stdout_colour(), args.report.verbose)
        .with_wasted(args.report.wasted)
        .with_width(stdout_width());
    let written = write_check(&evaluation, args.report.format.into(), human, &mut stdout);
    unless_closed(written.and_then(|()| stdout.flush()))?;
    Ok(if nothing_read(&inventory) {
        Exit::CannotJudge
    } else {
        evaluation.verdict.into()
    })
}

/// How to scan: images for the platform that is asked for, or that all targets have.
fn scan_options(args: &Check, policy: &Policy) -> ScanOptions {
    let mut options = args.scan.options(args.kernels);
    options.platform = args.platform.clone().or_else(|| {
        let mut platforms = policy.targets.iter().map(|target| target.platform);
        let first = platforms.next()??;
        platforms
            .all(|platform| platform == Some(first))
            .then(|| first.to_string())
    });
    for target in &policy.targets {
        let environment = args.install.choices(environment(target));
        if !options.environments.contains(&environment) {
            options.environments.push(environment);
        }
    }
    options
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
    let mut policy = host::policy(driver, tables)?;
    if host.len() < args.target.len() {
        policy.targets.extend(others(None)?.targets);
    }
    Ok(policy)
}

/// The name and content of a data file.
fn read_text(path: &Path) -> Result<(String, String), Error> {
    let origin = path.display().to_string();
    let bytes = read_named(path, DATA_MAX, ErrorKind::Data)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::new(ErrorKind::Data, format!("`{origin}` is not UTF-8 text")).with_source(error)
    })?;
    Ok((origin, text))
}

fn without_kernels(origin: &str) -> Error {
    let message = format!("the inventory `{origin}` has no names of kernels");
    Error::new(ErrorKind::Usage, message)
        .with_hint("write it with `smgate inspect --kernels --format json INPUT... > FILE`")
}

/// Writes a baseline, also over an older one.
fn write_baseline(path: &Path, baseline: &Baseline) -> Result<(), Error> {
    std::fs::write(path, baseline.to_json()?).map_err(|error| {
        let message = format!("the baseline `{}` could not be written", path.display());
        Error::new(ErrorKind::Output, message)
            .with_hint("name a place where you may write")
            .with_source(error)
    })
}
