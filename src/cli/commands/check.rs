//! `smgate check`: the gate.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::cli::args::{Check, FailOn};
use crate::cli::{Exit, Failure, Output, files, stdout_width, unless_closed};
use crate::inventory::from_json;
use crate::policy::Policy;
use crate::report::{Checked, HumanOptions, write_check};
use crate::tables::Tables;
use crate::verdict::{Baseline, EvaluateOptions, evaluate_new};
use crate::{Error, ErrorKind};

use super::{fleet, read_text, require_something, scan_inputs, today};

pub(in crate::cli) fn run(args: &Check, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    // mistakes in the policy are told before a long scan
    let policy = fleet::policy(&args.fleet, tables)?;
    let used = used(args, &policy);
    let used: Vec<&Path> = used.iter().map(PathBuf::as_path).collect();
    files::require_places(&args.output, &used)?;
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
        let mut options = args.scan.options(args.kernels);
        fleet::places(&mut options, &args.fleet, Some(&policy));
        scan_inputs(&args.inputs, options, &args.network, Some(&policy), tables)?
    };
    require_something(&inventory, args.inventory.as_deref())?;
    let options = EvaluateOptions {
        today,
        fail_on_warn: args.fail_on == FailOn::Warn,
    };
    let judge = |baseline| evaluate_new(&inventory, &policy, tables, options, baseline);
    let baseline = match &args.write_baseline {
        Some(path) if !inventory.is_unread() => {
            let baseline = Baseline::of(&path.display().to_string(), &judge(None));
            files::write(path, "baseline", baseline.to_json()?.as_bytes())?;
            Some(baseline)
        }
        _ => baseline,
    };
    let mut evaluation = judge(baseline.as_ref());
    if !args.kernels {
        // a saved inventory can have them all the same
        evaluation.missing_kernels = None;
    }
    let checked = Checked {
        evaluation: &evaluation,
        inventory: &inventory,
        policy: &policy,
        tables,
    };
    let plain = HumanOptions::new(false, args.details.verbose).with_wasted(args.details.wasted);
    // before standard output, whose reader may leave
    for file in &args.output {
        let mut report = Vec::new();
        write_check(checked, file.format.into(), plain, &mut report)?;
        files::write(&file.path, "report", &report)?;
    }
    let mut stdout = output.stdout();
    let human = plain
        .with_quiet(args.quiet)
        .with_colour(output.stdout_colour())
        .with_width(stdout_width());
    let written = write_check(checked, args.format.into(), human, &mut stdout);
    unless_closed(written.and_then(|()| stdout.flush()))?;
    Ok(if inventory.is_unread() {
        Exit::CannotJudge
    } else {
        evaluation.verdict.into()
    })
}

/// The files that the run reads, and the one that it writes beside reports.
fn used(args: &Check, policy: &Policy) -> Vec<PathBuf> {
    let files = [&args.inventory, &args.baseline, &args.write_baseline];
    let files = files.into_iter().flatten().cloned();
    let inputs = args.inputs.iter().map(PathBuf::from);
    files
        .chain(inputs)
        .chain([PathBuf::from(policy.origin())])
        .collect()
}

fn without_kernels(origin: &str) -> Error {
    let message = format!("the inventory `{origin}` has no names of kernels");
    Error::new(ErrorKind::Usage, message)
        .with_hint("write it with `smgate inspect --kernels --format json INPUT... > FILE`")
}
