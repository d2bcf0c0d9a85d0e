//! A report in markdown, for the comment on a pull request or the summary of a step.
//!
//! GitHub takes 65,536 characters of a comment and refuses more, so the report stays below that. What weighs most
//! comes first and is kept longest: whole findings become lines, then lines are left out, and a sentence says how
//! many. All foreign text goes through `crate::escape`.

use std::cmp::Reverse;
use std::fmt::{self, Write as _};
use std::io::{self, Write};

use crate::escape::{code_cell, code_span, in_markdown, summary_line};
use crate::report::Checked;
use crate::report::counts::Tally;
use crate::report::group::{Group, name};
use crate::report::text::{listed, plural};
use crate::rule::Level;
use crate::verdict::{Evaluation, Finding, Row, Verdict};

use super::words::{evidence, groups, judged_by, ranked, subject, verdict, waived};

/// Bytes of a report; characters are fewer.
const BYTES_MAX: usize = 65_000;
/// Of these, for the table.
const TABLE_BYTES: usize = 20_000;
/// Of these, for sentences about what is left out.
const TAIL_BYTES: usize = 1_000;
/// Lines of a table from which on packages without device code are only counted.
const LINES_MAX: usize = 10;

/// Writes the report.
pub(in crate::report) fn write(checked: Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(text(checked, BYTES_MAX).as_bytes())
}

fn text(checked: Checked<'_>, bytes_max: usize) -> String {
    let evaluation = checked.evaluation;
    let only = match evaluation.artifacts.as_slice() {
        [only] => format!("{}: ", code_span(&only.input)),
        _ => String::new(),
    };
    let mut text = format!(
        "## {} smgate: {}\n\n{only}{} ({})\n",
        symbol(evaluation.verdict),
        verdict(evaluation.verdict),
        Tally::of(&evaluation.findings).words(),
        in_markdown(&judged_by(evaluation)),
    );
    let targets = checked.policy.targets.iter();
    let targets: Vec<&str> = targets.map(|target| target.name.as_str()).collect();
    write_table(
        evaluation,
        &targets,
        TABLE_BYTES.min(bytes_max / 3),
        &mut text,
    );
    let budget = bytes_max.saturating_sub(TAIL_BYTES);
    write_findings(evaluation, budget, &mut text);
    write_waived(evaluation, budget, &mut text);
    if !evaluation.findings.is_empty() {
        text.push_str("\n`smgate explain RULE` says more of a rule, such as `no-kernel-image`.\n");
    }
    add(
        &mut text,
        format_args!("\n{}\n", in_markdown(&evaluation.tables.to_string())),
    );
    text
}

fn add(text: &mut String, more: fmt::Arguments<'_>) {
    let _infallible = text.write_fmt(more);
}

fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✅",
        Verdict::Incomplete => "❓",
        Verdict::Fail => "❌",
    }
}

fn symbol_of(level: Level) -> &'static str {
    match level {
        Level::Deny => "❌",
        Level::Incomplete => "❓",
        Level::Warn => "⚠️",
        Level::Allow => "ℹ️",
    }
}

/// A line of the table.
struct Line {
    verdict: Verdict,
    has_device_code: bool,
    text: String,
}

/// Packages and targets.
fn write_table(evaluation: &Evaluation, targets: &[&str], bytes_max: usize, text: &mut String) {
    let mut lines: Vec<Line> = Vec::new();
    for (index, artifact) in evaluation.artifacts.iter().enumerate() {
        let rows = evaluation.matrix.iter();
        let rows: Vec<&Row> = rows.filter(|row| row.artifact == index).collect();
        // of one it is said above
        let input = match evaluation.artifacts.len() {
            1 => String::new(),
            _ => format!(" {} |", code_cell(&artifact.input)),
        };
        if rows.is_empty() {
            let cells = targets.iter().map(|_| Some(artifact.verdict));
            lines.push(line(&input, "", &[], cells));
        }
        for rows in rows.chunk_by(|one, next| one.package == next.package) {
            let package = match rows.first().and_then(|row| row.package.as_ref()) {
                Some(package) => code_cell(&package.to_string()),
                None => "files of no package".to_owned(),
            };
            let cells = targets.iter().map(|target| {
                let row = rows.iter().find(|row| row.target == **target);
                row.map(|row| row.verdict)
            });
            lines.push(line(&input, &package, rows, cells));
        }
    }
    lines.sort_by_key(|line| Reverse(line.verdict));
    let is_quiet = |line: &Line| line.verdict == Verdict::Pass && !line.has_device_code;
    let mut quiet = 0;
    if lines.len() > LINES_MAX {
        let before = lines.len();
        lines.retain(|line| !is_quiet(line));
        quiet = (before - lines.len()) as u64;
    }
    if !lines.is_empty() {
        let names: Vec<String> = targets.iter().map(|target| code_cell(target)).collect();
        let names = names.join(" | ");
        let (input, line) = match evaluation.artifacts.len() {
            1 => ("", ""),
            _ => (" Input |", " --- |"),
        };
        add(
            text,
            format_args!("\n|{input} Package | {names} |\n|{line} --- |"),
        );
        text.push_str(&" --- |".repeat(targets.len()));
        text.push('\n');
    }
    let end = text.len() + bytes_max;
    let mut left = [0_u64; 3];
    for line in &lines {
        if text.len() + line.text.len() <= end && left == [0; 3] {
            text.push_str(&line.text);
        } else if let Some(left) = left.get_mut(line.verdict as usize) {
            *left += 1;
        }
    }
    let [pass, incomplete, fail] = left;
    let left = [
        (fail, "fail"),
        (incomplete, "are incomplete"),
        (pass, "pass"),
    ];
    let left: Vec<String> = left
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} that {what}"))
        .collect();
    if !left.is_empty() {
        add(
            text,
            format_args!("\nNot in this table: {}.\n", listed(&left)),
        );
    }
    if quiet > 0 {
        add(
            text,
            format_args!(
                "\nNot in this table: {} without device code, which {} on every target.\n",
                plural(quiet, "package"),
                if quiet == 1 { "passes" } else { "pass" },
            ),
        );
    }
}

fn line(
    input: &str,
    package: &str,
    rows: &[&Row],
    cells: impl Iterator<Item = Option<Verdict>>,
) -> Line {
    let mut worst = Verdict::Pass;
    let mut text = format!("|{input} {package} |");
    for verdict in cells {
        match verdict {
            Some(verdict) => {
                worst = worst.max(verdict);
                add(
                    &mut text,
                    format_args!(" {} {} |", symbol(verdict), verdict.id()),
                );
            }
            None => text.push_str(" – |"),
        }
    }
    text.push('\n');
    Line {
        verdict: worst,
        has_device_code: rows.iter().any(|row| row.has_device_code),
        text,
    }
}

/// Each group as a foldable part where there is room, as a line where there is less.
fn write_findings(evaluation: &Evaluation, budget: usize, text: &mut String) {
    let groups = groups(evaluation);
    if groups.is_empty() {
        return;
    }
    text.push_str("\n### Findings\n");
    let forms = groups
        .iter()
        .map(|group| (folded(group, evaluation), item(group.first, evaluation)));
    let forms: Vec<(String, String)> = forms.collect();
    let room = budget.saturating_sub(text.len());
    // as many as leave room for a line of each of the others, and half of the room where those have none
    let mut all: usize = forms.iter().map(|(_, line)| line.len()).sum();
    let mut used = 0;
    let mut whole = 0;
    for (folded, line) in &forms {
        all = all - line.len() + folded.len();
        used += folded.len();
        if all > room && used > room / 2 {
            break;
        }
        whole += 1;
    }
    let (folded, lines) = forms.split_at(whole);
    for (folded, _) in folded {
        text.push_str(folded);
    }
    let mut shown = whole;
    if !lines.is_empty() {
        text.push_str("\nIn short, as there is no room for more:\n\n");
        for (_, line) in lines {
            if text.len() + line.len() > budget {
                break;
            }
            text.push_str(line);
            shown += 1;
        }
    }
    let left = groups.iter().skip(shown);
    let left: Vec<&Finding> = left
        .flat_map(|group| std::iter::once(group.first).chain(group.others.iter().copied()))
        .collect();
    if !left.is_empty() {
        add(
            text,
            format_args!(
                "\nNot shown, as there is no room: {}. The other reports of smgate have all.\n",
                Tally::of(left).words()
            ),
        );
    }
}

fn folded(group: &Group<'_>, evaluation: &Evaluation) -> String {
    let finding = group.first;
    let mut text = format!(
        "\n<details><summary>{}",
        head(finding, evaluation, |name| {
            summary_line(&format!("`{}`", name.replace('`', "'")))
        })
    );
    add(
        &mut text,
        format_args!(": {}</summary>\n\n", summary_line(&finding.message)),
    );
    for line in evidence(finding).chain(group.same_elsewhere()) {
        add(&mut text, format_args!("- {}\n", in_markdown(&line)));
    }
    for (index, step) in group.next_steps().iter().enumerate() {
        let of = match index {
            0 => String::new(),
            _ => format!(" for {}", in_markdown(&name(step))),
        };
        let step = in_markdown(&step.next_step);
        add(&mut text, format_args!("\n**Next{of}:** {step}\n"));
    }
    text.push_str("\n</details>\n");
    text
}

/// Of what kind it is, and what it is about.
fn head(finding: &Finding, evaluation: &Evaluation, code: impl Fn(&str) -> String) -> String {
    let mut head = format!(
        "{} {} {}",
        symbol_of(finding.level),
        finding.level,
        code(finding.code.id())
    );
    if let Some(subject) = subject(finding, evaluation) {
        add(&mut head, format_args!(" {}", code(&subject)));
    }
    if let Some(line) = finding.line {
        add(&mut head, format_args!(" (line {line})"));
    }
    if let Some(target) = &finding.target {
        add(&mut head, format_args!(" on {}", code(target)));
    }
    head
}

/// A finding as an item of a list.
fn item(finding: &Finding, evaluation: &Evaluation) -> String {
    let waived = waived(finding).map(|why| format!(" ({why})"));
    format!(
        "- {}: {}\n",
        head(finding, evaluation, code_span),
        in_markdown(&format!(
            "{}{}",
            finding.message,
            waived.unwrap_or_default()
        ))
    )
}

fn write_waived(evaluation: &Evaluation, budget: usize, text: &mut String) {
    let waived = ranked(evaluation).into_iter();
    let waived: Vec<&Finding> = waived
        .map(|(_, finding)| finding)
        .filter(|finding| !finding.counts())
        .collect();
    if waived.is_empty() {
        return;
    }
    let count = plural(waived.len() as u64, "waived finding");
    add(
        text,
        format_args!("\n<details><summary>{count}</summary>\n\n"),
    );
    let mut shown = 0;
    for finding in &waived {
        let item = item(finding, evaluation);
        if text.len() + item.len() > budget {
            break;
        }
        text.push_str(&item);
        shown += 1;
    }
    if shown < waived.len() {
        add(text, format_args!("- and {} more\n", waived.len() - shown));
    }
    text.push_str("\n</details>\n");
}
