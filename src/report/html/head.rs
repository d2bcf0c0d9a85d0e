//! The head of the page: the verdict in words, the figures, by what it was judged.

use std::collections::BTreeSet;
use std::io;

use maud::{Markup, html};

use crate::report::counts::Counts;
use crate::report::human::look;
use crate::report::text::{listed, plural, write_looked_at};
use crate::rule::Level;
use crate::verdict::Verdict;

use super::grid::Grids;
use super::words;

/// The head.
pub(super) fn write(grids: &Grids<'_>) -> io::Result<Markup> {
    let evaluation = grids.checked.evaluation;
    let counts = Counts::of(evaluation);
    let incomplete = evaluation.findings.iter();
    let incomplete = incomplete.filter(|one| one.level == Level::Incomplete && one.counts());
    let verdict = evaluation.verdict;
    let mut looked = Vec::new();
    write_looked_at(evaluation.artifacts.iter().map(look), &mut looked)?;
    let looked = String::from_utf8_lossy(&looked).into_owned();
    let tiles = [
        ("denied", "denied", counts.denied, "first"),
        (
            "incomplete",
            "incomplete",
            incomplete.count() as u64,
            "incomplete",
        ),
        ("warning", "warnings", counts.warnings, "warnings"),
        ("waived", "waived", counts.waived, "waived"),
        ("remark", "remarks", counts.remarks, "remarks"),
        ("not read", "not read", counts.problems, "problems"),
    ];
    Ok(html! {
        header.head.(verdict.id()) {
            p.kicker { "smgate check" }
            h1 { (words::sign(verdict)) " " (words::verdict(verdict)) }
            p.lead { (lead(grids, &counts)) (not_judged(grids)) }
            ul.tiles aria-label="Counts" {
                @for (one, many, count, id) in tiles {
                    @let what = if count == 1 { one } else { many };
                    @if count > 0 {
                        li { a.(id) href={ "#" (id) } { b { (count) } " " (what) } }
                    } @else if id == "first" || id == "warnings" {
                        li { span.zero { b { "0" } " " (what) } }
                    }
                }
            }
            dl.facts {
                div {
                    dt { "Policy" }
                    dd {
                        @if evaluation.has_targets_by_hand() { "targets of the command line" } @else {
                            (evaluation.policy)
                        }
                        @if evaluation.fail_on_warn { ", warnings fail too" }
                    }
                }
                div { dt { "Looked at" } dd {
                    @for line in looked.lines() { p { (line.trim_start_matches("Looked at ")) } }
                } }
                div { dt { "Tables" } dd {
                    (evaluation.tables.as_of)
                    @if let Some(overlay) = &evaluation.tables.overlay { ", with rows of " (overlay) }
                    ", sha256 " code { (evaluation.tables.sha256) }
                } }
            }
            nav.contents aria-label="Sections" {
                a href="#map" { "Heat map" }
                a href="#packages" { "Packages" }
                a href="#sizes" { "Megabytes" }
                a href="#drivers" { "Drivers" }
                a href="#inputs" { "Inputs" }
            }
        }
    })
}

/// The verdict in a sentence.
fn lead(grids: &Grids<'_>, counts: &Counts) -> String {
    let targets = grids.targets().len();
    let (mut failing, mut lines) = (0_u64, 0_u64);
    let mut on: BTreeSet<&str> = BTreeSet::new();
    for line in grids.lines() {
        lines += 1;
        failing += u64::from(line.verdict() == Verdict::Fail);
        let fails = line.rows().filter(|(_, row)| row.verdict == Verdict::Fail);
        on.extend(fails.map(|(_, row)| row.target.as_str()));
    }
    let packages = plural(lines, "package");
    let fail = if failing == 1 { "fails" } else { "fail" };
    let all = plural(targets as u64, "target");
    match grids.checked.evaluation.verdict {
        Verdict::Fail if failing == 0 => {
            format!(
                "{} of what was judged.",
                plural(counts.denied, "denied finding")
            )
        }
        Verdict::Fail if lines == 1 => format!("The package fails on {} of {all}.", on.len()),
        Verdict::Fail => format!("{failing} of {packages} {fail}, on {} of {all}.", on.len()),
        Verdict::Incomplete => format!(
            "Nothing that was read fails, and not all could be judged: {packages} on {all}."
        ),
        Verdict::Pass => format!("{packages}, and nothing that the policy denies on {all}."),
    }
}

/// What was not judged in full beside what fails, as one more sentence.
fn not_judged(grids: &Grids<'_>) -> String {
    let of_lines = grids
        .lines()
        .filter(|line| line.verdict() == Verdict::Incomplete);
    let of_lines: Vec<usize> = of_lines.map(|line| line.artifact).collect();
    let findings = grids.checked.evaluation.findings.iter();
    let found = findings.filter(|one| one.level == Level::Incomplete && one.counts());
    let inputs: BTreeSet<usize> = found
        .filter_map(|finding| finding.artifact)
        .filter(|artifact| !of_lines.contains(artifact))
        .collect();
    let parts: Vec<String> = [(of_lines.len(), "package"), (inputs.len(), "input")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| plural(count as u64, what))
        .collect();
    match parts.as_slice() {
        [] => String::new(),
        parts => format!(" Not judged in full: {}.", listed(parts)),
    }
}
