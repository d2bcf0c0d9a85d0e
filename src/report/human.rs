//! The report of `check` for people: a verdict per package and target, then findings, then what was looked at.

use std::io::{self, Write};

use crate::inventory::ArtifactKind;
use crate::rule::{Code, Level};
use crate::verdict::{Evaluation, Finding, Judged, Row, RowIndex, Verdict};

use super::group::{Group, gather, name};
use super::kernels;
use super::style::Styles;
use super::text::{Look, listed, plural, wrapped, write_looked_at, write_tables};
use super::{HumanOptions, visible};

/// Writes the report.
pub(super) fn write(
    evaluation: &Evaluation,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let styles = Styles::new(options.colour);
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
    let waived = count_waived(evaluation);
    for (index, artifact) in evaluation.artifacts.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_artifact(evaluation, index, artifact, &waived, styles, out)?;
        let findings: Vec<&Finding> = shown
            .iter()
            .copied()
            .filter(|finding| finding.artifact == Some(index))
            .collect();
        // where an artifact is one package, its name stands above
        let several = artifact.package.is_none();
        write_findings(&findings, several, styles, options, out)?;
        kernels::write_missing(evaluation, index, styles, options, out)?;
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

/// How many findings about each row are waived.
fn count_waived(evaluation: &Evaluation) -> Vec<usize> {
    let rows = RowIndex::new(&evaluation.matrix);
    let mut counts = vec![0; evaluation.matrix.len()];
    for finding in evaluation.findings.iter().filter(|f| f.waived.is_some()) {
        for index in rows.concerned(finding) {
            if let Some(count) = counts.get_mut(index) {
                *count += 1;
            }
        }
    }
    counts
}

fn write_artifact(
    evaluation: &Evaluation,
    index: usize,
    artifact: &Judged,
    waived: &[usize],
    styles: Styles,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows: Vec<(&Row, usize)> = evaluation
        .matrix
        .iter()
        .zip(waived.iter().copied())
        .filter(|(row, _)| row.artifact == index)
        .collect();
    let target_width = rows
        .iter()
        .map(|(row, _)| row.target.chars().count())
        .max()
        .unwrap_or_default();
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
    let mut shown_package = artifact.package.as_ref();
    for (row, waived) in rows {
        if row.package.as_ref() != shown_package {
            shown_package = row.package.as_ref();
            match &row.package {
                Some(package) => writeln!(out, " {}", styles.bold(visible(&package.to_string())))?,
                None => writeln!(out, " {}", styles.bold("files of no package"))?,
            }
        }
        let verdict = styles.verdict(row.verdict);
        let pad = " ".repeat(10_usize.saturating_sub(verdict_width(row.verdict)));
        write!(
            out,
            "  {verdict}{pad}  {:target_width$}",
            visible(&row.target)
        )?;
        let remarks = remarks(row, artifact, waived);
        if remarks.is_empty() {
            writeln!(out)?;
        } else {
            writeln!(out, "  {}", styles.dim(visible(&remarks)))?;
        }
    }
    Ok(())
}

/// What is said beside a verdict.
fn remarks(row: &Row, artifact: &Judged, waived: usize) -> String {
    let mut remarks = Vec::new();
    if !row.has_device_code {
        remarks.push(no_device_code(row, artifact).to_owned());
    }
    if let Some(floor) = &row.minimum_driver {
        let (needed, why) = (&floor.driver, &floor.mechanism);
        remarks.push(match &row.driver_below {
            Some(have) => format!("needs driver {needed} or newer, has {have} ({why})"),
            None => format!("driver {needed} or newer ({why})"),
        });
    }
    remarks.extend(row.notes.iter().cloned());
    let said = remarks.join("; ");
    match waived {
        0 => said,
        n if said.is_empty() => format!("({n} waived)"),
        n => format!("{said} ({n} waived)"),
    }
}

/// What a package without device code of its own is, as far as can be said.
fn no_device_code(row: &Row, artifact: &Judged) -> &'static str {
    if let Some(why) = look(artifact).why_none() {
        why
    } else if row.has_unloadable_code {
        "device code that no GPU loads by itself, as it must be linked first: nothing to judge"
    } else if row.has_foreign_code {
        "no device code but that of NVIDIA's own libraries, which is not judged"
    } else if row.minimum_driver.is_some() {
        "no device code of its own, but it links CUDA"
    } else if row.compiles {
        "no device code"
    } else if artifact.kind == ArtifactKind::Wheel {
        "no device code: nothing to judge (pure Python or a CPU build)"
    } else {
        "no device code: nothing to judge"
    }
}

fn look(artifact: &Judged) -> Look {
    Look {
        kind: artifact.kind,
        seen: artifact.seen,
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
    for group in gather(findings) {
        write_group(&group, several, styles, options, out)?;
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
    if !subject.is_empty() {
        writeln!(out, "  {}", visible(&subject.join(" › ")))?;
    }
    let line = |text: &str, indent: usize| wrapped(&visible(text), indent, options.width);
    writeln!(out, "  {}", line(&finding.message, 2))?;
    let mut evidence = finding.evidence.clone();
    if !group.copies.is_empty() {
        let copies: Vec<String> = group.copies.iter().map(|path| (*path).to_owned()).collect();
        evidence.push(format!("the same in {}", listed(&copies)));
    }
    let names = group.names();
    if !names.is_empty() {
        evidence.push(format!("the same for {}", listed(&names)));
    }
    for text in &evidence {
        writeln!(out, "  {} {}", styles.dim("-"), line(text, 4))?;
    }
    for (index, step) in group.next_steps().iter().enumerate() {
        let head = match index {
            0 => "next:".to_owned(),
            _ => format!("next for {}:", visible(&name(step))),
        };
        writeln!(
            out,
            "  {} {}",
            styles.bold(head.as_str()),
            line(&step.next_step, 3 + head.chars().count())
        )?;
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

fn write_summary(
    evaluation: &Evaluation,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let count = |wanted: fn(&Finding) -> bool| {
        let found = evaluation.findings.iter().filter(|finding| wanted(finding));
        found.count() as u64
    };
    let denied = count(|finding| finding.level == Level::Deny && finding.counts());
    let warned = count(|finding| finding.level == Level::Warn && finding.counts());
    let allowed = count(|finding| finding.level == Level::Allow && finding.counts());
    let waived = count(|finding| !finding.counts());
    writeln!(out)?;
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
    if waived > 0 {
        write!(out, ", {waived} waived")?;
    }
    if allowed > 0 && !options.verbose {
        write!(
            out,
            ", {} not shown (`--verbose`)",
            plural(allowed, "remark")
        )?;
    }
    if evaluation.has_targets_by_hand() {
        writeln!(out, " (targets of the command line)")?;
    } else {
        writeln!(out, " (policy {})", visible(&evaluation.policy))?;
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
