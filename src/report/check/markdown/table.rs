//! The table of packages and targets.

use std::cmp::Reverse;

use crate::escape::code_cell;
use crate::report::text::{listed, plural};
use crate::verdict::{Evaluation, Row, Verdict};

use super::short::Short;
use super::{add, symbol};

/// Lines of a table from which on packages without device code are only counted.
const LINES_MAX: usize = 10;
/// Targets beyond which a line counts them, as nobody reads so many columns.
const COLUMNS_MAX: usize = 30;
/// The part of the room from which on the names of the targets are too long for columns.
const HEAD_PART: usize = 4;

/// What the columns are.
enum Columns {
    /// A target each.
    Targets,
    /// How many targets fail, are incomplete and pass.
    Counts,
}

/// A line of the table.
struct Line {
    verdict: Verdict,
    has_device_code: bool,
    text: String,
}

/// Writes packages and targets in about `bytes_max` bytes, and what is left out.
pub(super) fn write(
    evaluation: &Evaluation,
    targets: &[&str],
    bytes_max: usize,
    short: &Short,
    text: &mut String,
) {
    let (columns, head) = columns(targets, bytes_max, short);
    let mut lines = lines(evaluation, targets, &columns, short);
    lines.sort_by_key(|line| Reverse(line.verdict));
    let is_quiet = |line: &Line| line.verdict == Verdict::Pass && !line.has_device_code;
    let mut quiet = 0;
    if lines.len() > LINES_MAX {
        let before = lines.len();
        lines.retain(|line| !is_quiet(line));
        quiet = (before - lines.len()) as u64;
    }
    let end = text.len() + bytes_max;
    if !lines.is_empty() {
        if matches!(columns, Columns::Counts) {
            let count = plural(targets.len() as u64, "target");
            add(text, format_args!("\nHow each package ends on {count}:\n"));
        }
        let (input, line) = match evaluation.artifacts.len() {
            1 => ("", ""),
            _ => (" Input |", " --- |"),
        };
        add(
            text,
            format_args!("\n|{input} Package | {} |\n|{line} --- |", head.join(" | ")),
        );
        text.push_str(&" --- |".repeat(head.len()));
        text.push('\n');
    }
    let mut left = [0_u64; 3];
    for line in &lines {
        // a shorter one may fit
        if text.len() + line.text.len() <= end {
            text.push_str(&line.text);
        } else if let Some(left) = left.get_mut(line.verdict as usize) {
            *left += 1;
        }
    }
    write_left(left, quiet, text);
}

/// What the columns are, and what stands above them.
fn columns(targets: &[&str], bytes_max: usize, short: &Short) -> (Columns, Vec<String>) {
    if targets.len() <= COLUMNS_MAX {
        let names = targets.iter().map(|target| code_cell(&short.name(target)));
        let names: Vec<String> = names.collect();
        if names.iter().map(String::len).sum::<usize>() <= bytes_max / HEAD_PART {
            return (Columns::Targets, names);
        }
    }
    let counts = COUNTED.map(|verdict| format!("{} {}", symbol(verdict), verdict.id()));
    (Columns::Counts, counts.to_vec())
}

/// The columns of counts.
const COUNTED: [Verdict; 3] = [Verdict::Fail, Verdict::Incomplete, Verdict::Pass];

fn lines(evaluation: &Evaluation, targets: &[&str], columns: &Columns, short: &Short) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (index, artifact) in evaluation.artifacts.iter().enumerate() {
        let rows = evaluation.matrix.iter();
        let rows: Vec<&Row> = rows.filter(|row| row.artifact == index).collect();
        // of one it is said above
        let input = match evaluation.artifacts.len() {
            1 => String::new(),
            _ => format!(" {} |", code_cell(&short.name(&artifact.input))),
        };
        if rows.is_empty() {
            let cells = targets.iter().map(|_| Some(artifact.verdict));
            lines.push(line(&input, "", &[], cells.collect(), columns));
        }
        for rows in rows.chunk_by(|one, next| one.package == next.package) {
            let package = match rows.first().and_then(|row| row.package.as_ref()) {
                Some(package) => code_cell(&short.name(&package.to_string())),
                None => "files of no package".to_owned(),
            };
            let cells = targets.iter().map(|target| {
                let row = rows.iter().find(|row| row.target == **target);
                row.map(|row| row.verdict)
            });
            lines.push(line(&input, &package, rows, cells.collect(), columns));
        }
    }
    lines
}

fn line(
    input: &str,
    package: &str,
    rows: &[&Row],
    cells: Vec<Option<Verdict>>,
    columns: &Columns,
) -> Line {
    let mut text = format!("|{input} {package} |");
    match columns {
        Columns::Targets => {
            for verdict in &cells {
                match verdict {
                    Some(verdict) => add(
                        &mut text,
                        format_args!(" {} {} |", symbol(*verdict), verdict.id()),
                    ),
                    None => text.push_str(" – |"),
                }
            }
        }
        Columns::Counts => {
            for counted in COUNTED {
                let count = cells.iter().filter(|verdict| **verdict == Some(counted));
                add(&mut text, format_args!(" {} |", count.count()));
            }
        }
    }
    text.push('\n');
    Line {
        verdict: cells.into_iter().flatten().max().unwrap_or(Verdict::Pass),
        has_device_code: rows.iter().any(|row| row.has_device_code),
        text,
    }
}

/// How many lines are not in the table.
fn write_left(left: [u64; 3], quiet: u64, text: &mut String) {
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
