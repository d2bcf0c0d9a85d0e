//! The report of `check` for people: a verdict per package and target, then findings, then what was looked at.

use std::io::{self, Write};

use crate::rule::{Code, Level};
use crate::verdict::{Evaluation, Finding, FromLayer, Judged, Row, Verdict};

use super::beside::Beside;
use super::checked::Checked;
use super::counts::Tally;
use super::fatbins;
use super::group::{Group, gather};
use super::hidden;
use super::kernels;
use super::locked;
use super::steps::Steps;
use super::style::Styles;
use super::text::{Look, listed, plural, wrapped, write_looked_at, write_tables};
use super::{HumanOptions, visible};

/// Writes the report.
pub(super) fn write(
    checked: Checked<'_>,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let evaluation = checked.evaluation;
    let styles = Styles::new(options.colour);
    if options.quiet {
        return write_results(evaluation, styles, options, out);
    }
    let shown: Vec<&Finding> = evaluation
        .findings
        .iter()
        .filter(|finding| {
            options.verbose || (finding.level > Level::Allow && finding.waived.is_none())
        })
        .collect();
    // said of every package, it would be the loudest finding of all
    let (drivers, shown): (Vec<&Finding>, Vec<&Finding>) = shown
        .into_iter()
        .partition(|finding| finding.code == Code::DriverNotGiven);
    let beside = Beside::of_rows(evaluation);
    for (index, artifact) in evaluation.artifacts.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_artifact(evaluation, index, artifact, &beside, styles, options, out)?;
        let mut findings: Vec<&Finding> = shown
            .iter()
            .copied()
            .filter(|finding| finding.artifact == Some(index))
            .collect();
        // what fails is not looked for among warnings of packages that come before
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        // where an artifact is one package, its name stands above
        let several = artifact.package.is_none();
        write_findings(&findings, several, styles, options, out)?;
        kernels::write_missing(evaluation, index, styles, options, out)?;
        if options.verbose {
            fatbins::write(checked, index, styles, options, out)?;
        }
    }
    write_findings(&drivers, false, styles, options, out)?;
    let policy: Vec<&Finding> = shown
        .iter()
        .copied()
        .filter(|finding| finding.artifact.is_none())
        .collect();
    write_findings(&policy, false, styles, options, out)?;
    write_legend(&shown, styles, options, out)?;
    write_summary(evaluation, styles, options, out)
}

/// Writes the verdicts and nothing else.
fn write_results(
    evaluation: &Evaluation,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let beside = Beside::of_rows(evaluation);
    for (index, artifact) in evaluation.artifacts.iter().enumerate() {
        write_artifact(evaluation, index, artifact, &beside, styles, options, out)?;
    }
    write_result(evaluation, styles, options, out)
}

fn write_artifact(
    evaluation: &Evaluation,
    index: usize,
    artifact: &Judged,
    beside: &[Beside<'_>],
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows: Vec<(&Row, &Beside<'_>)> = evaluation
        .matrix
        .iter()
        .zip(beside)
        .filter(|(row, _)| row.artifact == index)
        .collect();
    match &artifact.package {
        Some(package) => {
            let name = package.to_string();
            writeln!(
                out,
                "{}  {}",
                styles.bold(visible(&name)),
                styles.dim(visible(&artifact.input))
            )?;
        }
        None => writeln!(out, "{}", styles.bold(visible(&artifact.input)))?,
    }
    write_rows(&rows, artifact, styles, out)?;
    if options.quiet {
        return Ok(());
    }
    hidden::write(&artifact.hidden, options, out)
}

/// A line for each target of a package; of a lock file, with its many packages, one for targets of which the same is
/// said.
fn write_rows(
    rows: &[(&Row, &Beside<'_>)],
    artifact: &Judged,
    styles: Styles,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines: Vec<(&Row, String, Vec<String>)> = Vec::new();
    let locked = artifact.lock.as_ref().map(|lock| lock.by_name());
    for (row, beside) in rows {
        let remarks = beside.remarks(row, artifact, locked.as_ref());
        let same = lines
            .iter_mut()
            .rev()
            .take_while(|(other, ..)| artifact.lock.is_some() && other.package == row.package)
            .find(|(other, said, _)| other.verdict == row.verdict && *said == remarks);
        match same {
            Some((.., targets)) => targets.push(row.target.clone()),
            None => lines.push((row, remarks, vec![row.target.clone()])),
        }
    }
    let widths = lines
        .iter()
        .map(|(.., targets)| listed(targets).chars().count());
    let width = widths.max().unwrap_or_default();
    let mut shown_package = artifact.package.as_ref();
    for (row, remarks, targets) in lines {
        if row.package.as_ref() != shown_package {
            shown_package = row.package.as_ref();
            match &row.package {
                Some(package) => writeln!(out, " {}", styles.bold(visible(&package.to_string())))?,
                None => writeln!(out, " {}", styles.bold("files of no package"))?,
            }
        }
        let verdict = styles.verdict(row.verdict);
        let pad = " ".repeat(10_usize.saturating_sub(verdict_width(row.verdict)));
        let targets = listed(&targets);
        write!(out, "  {verdict}{pad}  {:width$}", visible(&targets))?;
        if remarks.is_empty() {
            writeln!(out)?;
        } else {
            writeln!(out, "  {}", styles.dim(visible(&remarks)))?;
        }
    }
    Ok(())
}

pub(super) fn look(artifact: &Judged) -> Look<'_> {
    Look {
        kind: artifact.kind,
        seen: artifact.seen,
        fetched: artifact.fetched.as_ref(),
        problems: artifact.problems.len(),
    }
}

fn verdict_width(verdict: Verdict) -> usize {
    verdict.id().len()
}

fn write_findings(
    findings: &[&Finding],
    several: bool,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut steps = Steps::default();
    for group in gather(findings) {
        write_group(&group, several, styles, options, out)?;
        for (head, text) in steps.lines(&group) {
            let (head, indent) = (visible(&head), 3 + head.chars().count());
            let text = wrapped(&visible(&text), indent, options.width);
            writeln!(out, "  {} {text}", styles.bold(head.as_ref()))?;
        }
    }
    Ok(())
}

fn write_group(
    group: &Group<'_>,
    several: bool,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let finding = group.first;
    writeln!(out)?;
    write!(
        out,
        "{} {}",
        styles.level(finding.level),
        styles.bold(finding.code)
    )?;
    if let Some(target) = &finding.target {
        write!(out, "  {}", visible(target))?;
    }
    if let Some(waived) = &finding.waived {
        write!(
            out,
            "  {}",
            styles.dim(match &waived.until {
                Some(until) => format!("waived until {until}: {}", visible(&waived.reason)),
                None => visible(&waived.reason).into_owned(),
            })
        )?;
    }
    writeln!(out)?;
    let package = finding
        .package
        .as_ref()
        .filter(|_| several)
        .map(ToString::to_string);
    let subject: Vec<&str> = package
        .as_deref()
        .into_iter()
        .chain(finding.library.as_deref())
        .collect();
    let line = finding.line.map(|line| format!("line {line}"));
    if !subject.is_empty() {
        let line = line.map(|line| format!("  ({line})")).unwrap_or_default();
        writeln!(
            out,
            "  {}{}",
            visible(&subject.join(" › ")),
            styles.dim(line)
        )?;
    } else if let Some(line) = line {
        writeln!(out, "  {}", styles.dim(line))?;
    }
    let line = |text: &str, indent: usize| wrapped(&visible(text), indent, options.width);
    writeln!(out, "  {}", line(&finding.message, 2))?;
    let mut evidence = finding.evidence.clone();
    evidence.extend(finding.layer.as_ref().map(layer_line));
    evidence.extend(group.same_elsewhere());
    for text in &evidence {
        writeln!(out, "  {} {}", styles.dim("-"), line(text, 4))?;
    }
    Ok(())
}

/// Explains the words for fatbins, where a finding uses them.
fn write_legend(
    shown: &[&Finding],
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let uses = |word: &str| {
        shown.iter().any(|finding| {
            finding.message.contains(word)
                || finding.evidence.iter().any(|line| line.contains(word))
        })
    };
    if !uses("general fatbin") && !uses("single-target fatbin") {
        return Ok(());
    }
    let text = "A fatbin is the code of one source file. General ones hold it for several GPUs; single-target ones \
                for one, and the library picks among these by itself.";
    writeln!(out)?;
    writeln!(out, "{}", styles.dim(wrapped(text, 0, options.width)))
}

/// The line with the worst of all.
fn write_result(
    evaluation: &Evaluation,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Tally {
        denied,
        incomplete,
        warned,
        allowed,
        waived,
        ..
    } = Tally::of(&evaluation.findings);
    write!(out, "{}: ", styles.verdict(evaluation.verdict))?;
    write!(
        out,
        "{}, {}",
        plural(denied, "denied finding"),
        plural(warned, "warning")
    )?;
    if evaluation.fail_on_warn && warned > 0 && denied == 0 {
        let what = if warned == 1 { "fails" } else { "fail" };
        write!(out, ", which {what} under `--fail-on warn`")?;
    }
    if incomplete > 0 {
        write!(out, ", {incomplete} not read")?;
    }
    if waived > 0 {
        write!(out, ", {waived} waived")?;
    }
    if allowed > 0 && !options.verbose && !options.quiet {
        write!(
            out,
            ", {} not shown (`--verbose`)",
            plural(allowed, "remark")
        )?;
    }
    if evaluation.has_targets_by_hand() {
        writeln!(out, " (targets of the command line)")
    } else {
        writeln!(out, " (policy {})", visible(&evaluation.policy))
    }
}

fn write_summary(
    evaluation: &Evaluation,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    write_result(evaluation, styles, options, out)?;
    let locks = evaluation
        .artifacts
        .iter()
        .filter_map(|artifact| Some((artifact.lock.as_deref()?, artifact.problems.as_slice())));
    if let Some(line) = locked::summary(locks) {
        writeln!(out, "{line}")?;
    }
    write_looked_at(evaluation.artifacts.iter().map(look), out)?;
    write_tables(&evaluation.tables, styles, out)?;
    // the finding that decided: of those that make the verdict the one of the highest level, of these the first
    // that is shown
    let decided = evaluation
        .findings
        .iter()
        .filter(|finding| {
            finding.counts()
                && evaluation.verdict != Verdict::Pass
                && Verdict::of_level(finding.level, evaluation.fail_on_warn) == evaluation.verdict
        })
        .rev()
        .max_by_key(|finding| (finding.level, finding.code != Code::DriverNotGiven));
    if let Some(finding) = decided {
        writeln!(
            out,
            "{}",
            styles.dim(format!("`smgate explain {}` says more", finding.code))
        )?;
    }
    Ok(())
}

/// The layer and the build step that brought a library.
pub(super) fn layer_line(layer: &FromLayer) -> String {
    let FromLayer { number, of, .. } = layer;
    match &layer.created_by {
        Some(step) => format!("brought by layer {number} of {of}: `{}`", shortened(step)),
        None => format!("brought by layer {number} of {of}"),
    }
}

/// The beginning of a build step; some are whole scripts.
fn shortened(step: &str) -> String {
    const CHARS: usize = 120;
    let step = step.split_whitespace().collect::<Vec<_>>().join(" ");
    match step.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{} …", step.get(..end).unwrap_or_default()),
        None => step,
    }
}
