//! `smgate diff`: what changes from one input to another.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use crate::cli::args::{Diff, FailOn};
use crate::cli::{Exit, Failure, Output, stdout_width, unless_closed};
use crate::inventory::{Inventory, SCHEMA, from_json};
use crate::limits::read_capped;
use crate::policy::Policy;
use crate::report::{HumanOptions, write_diff};
use crate::tables::Tables;
use crate::verdict::compare::Comparison;
use crate::verdict::{EvaluateOptions, Evaluation, evaluate};
use crate::{Error, ErrorKind};

use super::{fleet, read_text, require_something, scan_inputs, today};

/// Bytes of the beginning of a file in which a saved inventory says what it is.
const HEAD: u64 = 256;

pub(in crate::cli) fn run(args: &Diff, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    if args.before == "-" && args.after == "-" {
        let message = "standard input holds one image, and `-` is named twice";
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("save one of them to a file: `docker save IMAGE > before.tar`")
            .into());
    }
    // mistakes in the policy are told before a long scan
    let policy = fleet::policy_if_any(&args.fleet, tables)?;
    let options = EvaluateOptions {
        today: today(args.today.as_deref())?,
        fail_on_warn: args.fail_on == FailOn::Warn,
    };
    let before = inventory(&args.before, args, policy.as_ref(), tables)?;
    let after = inventory(&args.after, args, policy.as_ref(), tables)?;
    let judge = |inventory: &Inventory| -> Option<Evaluation> {
        Some(evaluate(inventory, policy.as_ref()?, tables, options))
    };
    let evaluations = judge(&before).zip(judge(&after));
    let both = evaluations.as_ref().map(|(before, after)| (before, after));
    let comparison = Comparison::of(&before, &after, both);
    let mut stdout = output.stdout();
    let human = HumanOptions::new(output.stdout_colour(), args.verbose).with_width(stdout_width());
    let written = write_diff(&comparison, args.format.into(), human, &mut stdout);
    unless_closed(written.and_then(|()| stdout.flush()))?;
    Ok(if before.is_unread() || after.is_unread() {
        Exit::CannotJudge
    } else if comparison.is_worse() {
        Exit::Fail
    } else if comparison.incomplete {
        Exit::Incomplete
    } else {
        Exit::Pass
    })
}

/// What an argument holds: an input that is scanned, or an inventory that was saved.
fn inventory(
    input: &OsStr,
    args: &Diff,
    policy: Option<&Policy>,
    tables: &Tables,
) -> Result<Inventory, Failure> {
    let path = Path::new(input);
    if is_saved(path) {
        let (origin, text) = read_text(path)?;
        let inventory = from_json(&origin, &text)?;
        require_something(&inventory, Some(path))?;
        return Ok(inventory);
    }
    let mut options = args.scan.options(false);
    fleet::places(&mut options, &args.fleet, policy);
    let inventory = scan_inputs(&[input.to_owned()], options, &args.network, policy, tables)?;
    require_something(&inventory, None)?;
    Ok(inventory)
}

/// Whether a file begins as an inventory that `inspect --format json` wrote, of whatever version.
fn is_saved(path: &Path) -> bool {
    // opening a pipe would wait for its writer
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let head = File::open(path).and_then(|file| read_capped(file, HEAD));
    let Ok((head, _)) = head else {
        return false;
    };
    let head = String::from_utf8_lossy(&head);
    let name = SCHEMA.rsplit_once('/').map_or(SCHEMA, |(name, _)| name);
    let text = head.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('{') && text.contains(&format!("\"{name}/"))
}
