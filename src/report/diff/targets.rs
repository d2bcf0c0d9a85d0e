//! What changes for each target: one line for those for which it is the same.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::rule::{Code, Level};
use crate::verdict::compare::{FindingChange, Outcome, Pair, Standing};
use crate::verdict::{Floor, Verdict};

use super::super::style::Styles;
use super::{HumanOptions, listed, plural, visible, wrapped};

/// Targets that one line is for.
#[derive(Debug)]
struct Line<'p> {
    verdicts: (Option<Verdict>, Option<Verdict>),
    worse: bool,
    targets: Vec<&'p str>,
    text: String,
}

/// Writes the lines of a pair.
pub(super) fn write(
    pair: &Pair,
    fail_on_warn: bool,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = lines(pair, fail_on_warn, options);
    let shown = |line: &Line<'_>| verdicts(line).chars().count();
    let verdict_width = lines.iter().map(shown).max().unwrap_or_default();
    let names = |line: &Line<'_>| visible(&line.targets.join(", ")).into_owned();
    let target_width = lines.iter().map(|line| names(line).chars().count()).max();
    // a long list of targets must not push the words of the others away
    let target_width = target_width.unwrap_or_default().min(24);
    for line in &lines {
        let pad = " ".repeat(verdict_width.saturating_sub(shown(line)));
        let targets = format!("{:target_width$}", names(line));
        let indent = 2 + verdict_width + 2 + targets.chars().count() + 2;
        let text = wrapped(&visible(&line.text), indent, options.width);
        write!(out, "  ")?;
        write_verdicts(line, styles, out)?;
        writeln!(out, "{}", format!("{pad}  {targets}  {text}").trim_end())?;
    }
    write_unchanged(pair, &lines, options, out)
}

fn verdict_name(verdict: Option<Verdict>) -> String {
    verdict.map_or("-".to_owned(), |verdict| verdict.id().to_uppercase())
}

fn verdicts(line: &Line<'_>) -> String {
    let (before, after) = line.verdicts;
    if before == after {
        verdict_name(after)
    } else {
        format!("{} -> {}", verdict_name(before), verdict_name(after))
    }
}

fn write_verdicts(line: &Line<'_>, styles: Styles, out: &mut dyn Write) -> io::Result<()> {
    let (before, after) = line.verdicts;
    let mut one = |verdict: Option<Verdict>| match verdict {
        Some(verdict) => write!(out, "{}", styles.verdict(verdict)),
        None => write!(out, "-"),
    };
    if before != after {
        one(before)?;
        write!(out, " -> ")?;
    }
    let (_, after) = line.verdicts;
    match after {
        Some(verdict) => write!(out, "{}", styles.verdict(verdict)),
        None => write!(out, "-"),
    }
}

/// The lines, those that are worse first, else in the order of the policy.
fn lines<'p>(pair: &'p Pair, fail_on_warn: bool, options: HumanOptions) -> Vec<Line<'p>> {
    let several = of_several_packages(&pair.outcomes);
    let verdict = |standing: &Option<Standing>| standing.as_ref().map(|standing| standing.verdict);
    let mut lines: Vec<Line<'p>> = Vec::new();
    let mut add = |line: Line<'p>| {
        let same = lines.iter_mut().find(|known| {
            (known.verdicts, known.worse, &known.text) == (line.verdicts, line.worse, &line.text)
        });
        match same {
            Some(known) => known.targets.extend(line.targets),
            None => lines.push(line),
        }
    };
    let mut by_subject: BTreeMap<(Option<&str>, Option<&str>), Vec<&FindingChange>> =
        BTreeMap::new();
    for finding in &pair.findings {
        let subject = (finding.package.as_deref(), finding.target.as_deref());
        by_subject.entry(subject).or_default().push(finding);
    }
    for outcome in &pair.outcomes {
        let subject = (outcome.package.as_deref(), Some(outcome.target.as_str()));
        let findings = by_subject.remove(&subject).unwrap_or_default();
        let mut parts = said(&findings, options);
        parts.extend(floor(outcome));
        if parts.is_empty() && !outcome.is_changed() {
            continue;
        }
        let text = parts.join("; ");
        let text = match (&outcome.package, several) {
            (Some(package), true) => format!("{package}: {text}"),
            (None, true) => format!("files of no package: {text}"),
            (_, false) => text,
        };
        add(Line {
            verdicts: (verdict(&outcome.before), verdict(&outcome.after)),
            worse: outcome.is_worse()
                || findings
                    .iter()
                    .any(|finding| finding.is_worse(fail_on_warn)),
            targets: vec![&outcome.target],
            text,
        });
    }
    lines.sort_by_key(|line| (!line.worse, line.verdicts.0 == line.verdicts.1));
    lines
}

fn of_several_packages(outcomes: &[Outcome]) -> bool {
    let mut packages = outcomes.iter().map(|outcome| &outcome.package);
    packages
        .next()
        .is_some_and(|first| packages.any(|other| other != first))
}

/// What is found and was not, and what is gone, by rule.
pub(super) fn said(findings: &[&FindingChange], options: HumanOptions) -> Vec<String> {
    let mut parts = Vec::new();
    let mut seen: Vec<(Level, Code)> = Vec::new();
    for finding in findings {
        let kind = (finding.level, finding.code);
        if seen.contains(&kind) || (finding.level == Level::Allow && !options.verbose) {
            continue;
        }
        seen.push(kind);
        let same: Vec<&&FindingChange> = findings
            .iter()
            .filter(|other| (other.level, other.code) == kind)
            .collect();
        let libraries = |side: fn(&FindingChange) -> &Vec<String>| -> Vec<String> {
            let mut paths: Vec<String> = same.iter().flat_map(|one| side(one)).cloned().collect();
            paths.sort();
            paths.dedup();
            paths
        };
        let (new, gone) = (libraries(|one| &one.new), libraries(|one| &one.gone));
        let before: u64 = same
            .iter()
            .map(|one| one.before)
            .fold(0, u64::saturating_add);
        let after: u64 = same
            .iter()
            .map(|one| one.after)
            .fold(0, u64::saturating_add);
        let rule = match finding.level {
            Level::Warn => format!("warning {}", finding.code),
            Level::Allow => format!("remark {}", finding.code),
            Level::Deny | Level::Incomplete => finding.code.to_string(),
        };
        if !new.is_empty() || after > before {
            let more = if before > 0 { "also " } else { "" };
            parts.push(format!("{more}{rule}{}", inside(&new)));
        }
        if !gone.is_empty() || after < before {
            parts.push(format!("no longer {rule}{}", inside(&gone)));
        }
    }
    parts
}

/// ` in lib.so`, ` in 12 libraries`, or nothing.
fn inside(libraries: &[String]) -> String {
    match libraries {
        [] => String::new(),
        [one] => format!(" in {}", one.rsplit('/').next().unwrap_or(one)),
        many => format!(" in {} libraries", many.len()),
    }
}

fn floor(outcome: &Outcome) -> Option<String> {
    let (before, after) = outcome.floors()?;
    let driver = |floor: &Floor| floor.driver.to_string();
    Some(match (before, after) {
        (Some(before), Some(after)) if driver(before) == driver(after) => {
            format!("driver {} as before, for {}", after.driver, after.mechanism)
        }
        (Some(before), Some(after)) => {
            format!(
                "driver {} -> {} ({})",
                before.driver, after.driver, after.mechanism
            )
        }
        (None, Some(after)) => {
            format!("driver {} ({}), none before", after.driver, after.mechanism)
        }
        (Some(before), None) => format!("driver {} -> any", before.driver),
        (None, None) => return None,
    })
}

/// The targets without a line.
fn write_unchanged(
    pair: &Pair,
    lines: &[Line<'_>],
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut unchanged: Vec<(Verdict, Vec<String>)> = Vec::new();
    let mut done: Vec<&str> = lines.iter().flat_map(|line| line.targets.clone()).collect();
    for outcome in &pair.outcomes {
        if done.contains(&outcome.target.as_str()) {
            continue;
        }
        done.push(&outcome.target);
        let same = pair
            .outcomes
            .iter()
            .filter(|other| other.target == outcome.target);
        let verdicts = same.filter_map(|other| Some(other.after.as_ref()?.verdict));
        let Some(worst) = verdicts.max() else {
            continue;
        };
        match unchanged.iter_mut().find(|(verdict, _)| *verdict == worst) {
            Some((_, targets)) => targets.push(outcome.target.clone()),
            None => unchanged.push((worst, vec![outcome.target.clone()])),
        }
    }
    if unchanged.is_empty() {
        return Ok(());
    }
    let parts: Vec<String> = unchanged
        .iter()
        .map(|(verdict, targets)| format!("{} {}", verdict.id().to_uppercase(), listed(targets)))
        .collect();
    let count: u64 = unchanged
        .iter()
        .map(|(_, targets)| targets.len() as u64)
        .sum();
    let text = format!(
        "{} unchanged: {}",
        plural(count, "target"),
        parts.join("; ")
    );
    writeln!(out, "  {}", wrapped(&visible(&text), 2, options.width))
}
