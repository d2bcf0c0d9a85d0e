//! The report of `diff` for people: what changes in one line, then what that does to each target, then details.

mod details;
pub(super) mod document;
mod headline;
mod targets;

use std::io::{self, Write};

use crate::verdict::compare::{Comparison, FindingChange, Pair};

use super::style::Styles;
use super::text::{listed, plural, wrapped, write_tables};
use super::{HumanOptions, visible};

/// Writes the report.
pub(super) fn write(
    comparison: &Comparison,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let styles = Styles::new(options.colour);
    for pair in &comparison.pairs {
        let headline = headline::of(pair);
        let headline = wrapped(&visible(&headline), 2, options.width);
        writeln!(out, "{}", styles.bold(headline))?;
        targets::write(pair, comparison.fail_on_warn, styles, options, out)?;
        details::write(pair, styles, options, out)?;
        writeln!(out)?;
    }
    write_result(comparison, styles, options, out)
}

fn write_result(
    comparison: &Comparison,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match &comparison.policy {
        None => {
            let text = "No targets: only what is inside was compared. Name them with `--target T4 --driver R550` or `--policy FILE`";
            writeln!(out, "{}", wrapped(text, 0, options.width))?;
        }
        Some(policy) => {
            let by = if comparison.targets_by_hand {
                "(targets of the command line)".to_owned()
            } else {
                format!("(policy {})", visible(policy))
            };
            if comparison.is_worse() {
                let worse = worse_targets(comparison);
                let worse = listed(&worse);
                writeln!(out, "{} for {} {by}", styles.bold("WORSE"), visible(&worse))?;
            } else {
                writeln!(out, "{} {by}", styles.bold("Nothing got worse"))?;
            }
        }
    }
    if comparison.incomplete {
        let problems = |side: fn(&Pair) -> u64| {
            let pairs = comparison.pairs.iter();
            pairs.map(side).fold(0, u64::saturating_add)
        };
        let before = problems(|pair| pair.before.as_ref().map_or(0, |side| side.problems));
        let after = problems(|pair| pair.after.as_ref().map_or(0, |side| side.problems));
        let text = format!(
            "Not everything could be read, so that a change may not have been seen: {} before, {} after; `smgate inspect` names them",
            plural(before, "problem"),
            plural(after, "problem")
        );
        writeln!(out, "{}", wrapped(&text, 0, options.width))?;
    }
    match &comparison.tables {
        Some(tables) if comparison.policy.is_some() => write_tables(tables, styles, out),
        _ => Ok(()),
    }
}

/// The targets for which something got worse, in the order of the policy.
fn worse_targets(comparison: &Comparison) -> Vec<String> {
    let mut worse: Vec<String> = Vec::new();
    let mut add = |target: &str| {
        if !worse.iter().any(|known| known == target) {
            worse.push(target.to_owned());
        }
    };
    for pair in &comparison.pairs {
        for outcome in &pair.outcomes {
            let mut findings = pair.findings.iter();
            let found = findings.any(|finding| {
                finding.is_worse(comparison.fail_on_warn)
                    && finding.target.as_ref() == Some(&outcome.target)
            });
            if outcome.is_worse() || found {
                add(&outcome.target);
            }
        }
        let of_all = |finding: &FindingChange| {
            finding.target.is_none() && finding.is_worse(comparison.fail_on_warn)
        };
        if pair.findings.iter().any(of_all) {
            add("all targets");
        }
    }
    worse
}
