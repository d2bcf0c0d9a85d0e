//! The report of `check` for people: a verdict per package and target, then findings, then what was looked at.

use std::io::{self, Write};

use crate::rule::{Code, Level};
use crate::verdict::{Evaluation, Finding, Judged, Row, Verdict};

use super::style::Styles;
use super::{HumanOptions, visible};

/// Targets listed beside the first of findings that say the same.
const ALIKE_MAX: usize = 8;

/// Writes the report.
pub(super) fn write(
    evaluation: &Evaluation,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let styles = Styles::new(options.colour);
    for (index, artifact) in evaluation.artifacts.iter().enumerate() {
        write_artifact(evaluation, index, artifact, styles, options, out)?;
    }
    let policy: Vec<&Finding> = evaluation
        .findings
        .iter()
        .filter(|finding| finding.artifact.is_none())
        .collect();
    write_findings(&policy, false, styles, options, out)?;
    write_summary(evaluation, styles, options, out)
}

fn write_artifact(
    evaluation: &Evaluation,
    index: usize,
    artifact: &Judged,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows: Vec<&Row> = evaluation
        .matrix
        .iter()
        .filter(|row| row.artifact == index)
        .collect();
    let target_width = rows
        .iter()
        .map(|row| row.target.chars().count())
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
    for row in rows {
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
        writeln!(
            out,
            "  {}",
            styles.dim(visible(&remarks(row, artifact).join("; ")))
        )?;
    }
    let findings: Vec<&Finding> = evaluation
        .findings
        .iter()
        .filter(|finding| finding.artifact == Some(index))
        .collect();
    // where an artifact is one package, its name stands above
    let several = artifact.package.is_none();
    write_findings(&findings, several, styles, options, out)
}

/// What is said beside a verdict.
fn remarks(row: &Row, artifact: &Judged) -> Vec<String> {
    let mut remarks = Vec::new();
    if !row.has_device_code && artifact.seen.files == 0 {
        remarks.push("nothing could be read".to_owned());
    } else if !row.has_device_code {
        let whose = if row.has_foreign_code {
            " of its own"
        } else {
            ""
        };
        remarks.push(format!("no device code{whose}"));
    }
    if let Some(floor) = &row.minimum_driver {
        remarks.push(format!(
            "driver {} or newer ({})",
            floor.driver, floor.mechanism
        ));
    }
    if row.compiles {
        remarks
            .push("carries a CUDA compiler: what it compiles at run time is not judged".to_owned());
    }
    remarks.extend(row.notes.iter().cloned());
    remarks
}

fn verdict_width(verdict: Verdict) -> usize {
    verdict.id().len()
}

/// Whether two findings say the same: of other targets, or of other places that could not be read.
fn alike(a: &Finding, b: &Finding) -> bool {
    let whose = (&a.package, a.waived.is_some()) == (&b.package, b.waived.is_some());
    let what = match a.code {
        Code::Unreadable => a.message == b.message,
        _ => a.target.is_some() && a.library == b.library,
    };
    (a.code, a.level) == (b.code, b.level) && whose && what
}

fn write_findings(
    findings: &[&Finding],
    several: bool,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut left: Vec<&Finding> = findings
        .iter()
        .copied()
        .filter(|finding| {
            options.verbose || (finding.level > Level::Allow && finding.waived.is_none())
        })
        .collect();
    while !left.is_empty() {
        let first = left.remove(0);
        let same: Vec<&Finding> = left
            .iter()
            .copied()
            .filter(|other| alike(first, other))
            .collect();
        left.retain(|other| !alike(first, other));
        write_finding(first, &same, several, styles, out)?;
    }
    Ok(())
}

fn write_finding(
    finding: &Finding,
    same: &[&Finding],
    several: bool,
    styles: Styles,
    out: &mut dyn Write,
) -> io::Result<()> {
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
    writeln!(out, "  {}", visible(&finding.message))?;
    for line in &finding.evidence {
        writeln!(out, "  {} {}", styles.dim("-"), visible(line))?;
    }
    if !same.is_empty() {
        let names: Vec<String> = same
            .iter()
            .take(ALIKE_MAX)
            .map(|other| place(other))
            .collect();
        let more = same.len().saturating_sub(ALIKE_MAX);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        writeln!(
            out,
            "  {} the same for {}{more}",
            styles.dim("-"),
            visible(&names.join(", "))
        )?;
    }
    writeln!(
        out,
        "  {} {}",
        styles.bold("next:"),
        visible(&finding.next_step)
    )
}

fn place(finding: &Finding) -> String {
    let target = finding.target.as_deref().unwrap_or_default();
    match (&finding.gpu, &finding.library) {
        // a target made of one GPU is often called by its name
        (Some(gpu), _) if gpu.contains(target) => gpu.clone(),
        (Some(gpu), _) => format!("{target}: {gpu}"),
        (None, Some(library)) if target.is_empty() => library.clone(),
        _ => target.to_owned(),
    }
}

fn write_summary(
    evaluation: &Evaluation,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    // a saved inventory may say any number
    let sum = |count: fn(&Judged) -> u64| {
        let counts = evaluation.artifacts.iter().map(count);
        counts.fold(0, u64::saturating_add)
    };
    let files = sum(|artifact| artifact.seen.files);
    let with_code = sum(|artifact| artifact.seen.with_device_code);
    let unopened = sum(|artifact| artifact.seen.unopened);
    let problems = sum(|artifact| artifact.problems.len() as u64);
    let count = |level: Level| {
        evaluation
            .findings
            .iter()
            .filter(|finding| finding.level == level && finding.waived.is_none())
            .count()
    };
    let waived = evaluation
        .findings
        .iter()
        .filter(|finding| finding.waived.is_some())
        .count();
    let allowed = count(Level::Allow);
    writeln!(out)?;
    write!(out, "{}: ", styles.verdict(evaluation.verdict))?;
    write!(
        out,
        "{}, {}",
        plural(count(Level::Deny), "denied finding"),
        plural(count(Level::Warn), "warning")
    )?;
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
    write!(
        out,
        "Looked at {}: {with_code} with device code, ",
        plural(usize::try_from(files).unwrap_or(usize::MAX), "file")
    )?;
    match problems {
        0 => write!(out, "all readable")?,
        n => write!(
            out,
            "{} while reading",
            plural(usize::try_from(n).unwrap_or(usize::MAX), "problem")
        )?,
    }
    if unopened > 0 {
        write!(
            out,
            ", {} not opened",
            plural(
                usize::try_from(unopened).unwrap_or(usize::MAX),
                "compressed file"
            )
        )?;
    }
    writeln!(out)?;
    if let Some(finding) = evaluation
        .findings
        .iter()
        .find(|finding| finding.level >= Level::Incomplete && finding.counts())
    {
        writeln!(
            out,
            "{}",
            styles.dim(format!("`smgate explain {}` says more", finding.code))
        )?;
    }
    Ok(())
}

/// A number and what it counts: `1 file`, `2 files`.
pub(crate) fn plural(count: usize, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}
