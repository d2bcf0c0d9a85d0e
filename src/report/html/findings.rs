//! Findings: first what the policy denies, with what to do; further down warnings, what is waived, and remarks.

use maud::{Markup, html};

use crate::report::group::{Group, gather};
use crate::report::human::layer_line;
use crate::report::steps::Steps;
use crate::report::text::{listed, plural};
use crate::rule::{Code, Level};
use crate::verdict::Finding;

use super::grid::Grids;
use super::words;

/// Findings that are shown open; the others are two lines each until they are opened.
const OPEN: usize = 1;
/// Findings of a section that are shown; the others are behind one more line.
const SHOWN: usize = 8;

/// What is denied, or could not be judged.
pub(super) fn first(grids: &Grids<'_>) -> Markup {
    let denied = |finding: &Finding| finding.level == Level::Deny && finding.counts();
    let incomplete = |finding: &Finding| finding.level == Level::Incomplete && finding.counts();
    html! {
        (section(grids, "first", "What to do first", OPEN, denied))
        (section(grids, "incomplete", "What could not be judged", OPEN, incomplete))
    }
}

/// The rest.
pub(super) fn rest(grids: &Grids<'_>) -> Markup {
    let of = |level| move |finding: &Finding| finding.level == level && finding.counts();
    html! {
        (section(grids, "warnings", "Warnings", 0, of(Level::Warn)))
        (section(grids, "waived", "Waived", 0, |finding| !finding.counts()))
        (section(grids, "remarks", "Remarks without effect", 0, of(Level::Allow)))
    }
}

fn section(
    grids: &Grids<'_>,
    id: &str,
    title: &str,
    open: usize,
    wanted: impl Fn(&Finding) -> bool,
) -> Markup {
    let evaluation = grids.checked.evaluation;
    let found: Vec<&Finding> = evaluation
        .findings
        .iter()
        .filter(|one| wanted(one))
        .collect();
    if found.is_empty() {
        return Markup::default();
    }
    let count = found.len();
    // said of every package, it would be the loudest finding of all
    let (drivers, found): (Vec<&Finding>, Vec<&Finding>) = found
        .into_iter()
        .partition(|finding| finding.code == Code::DriverNotGiven);
    let artifacts = (0..evaluation.artifacts.len()).map(Some);
    let mut groups = Vec::new();
    for artifact in artifacts.chain([None]) {
        let of: Vec<&Finding> = found
            .iter()
            .copied()
            .filter(|finding| finding.artifact == artifact)
            .collect();
        groups.extend(gather(&of).into_iter().map(|group| (artifact, group)));
    }
    groups.extend(gather(&drivers).into_iter().map(|group| (None, group)));
    let count = if groups.len() == count {
        count.to_string()
    } else {
        let of = plural(groups.len() as u64, "group");
        format!("{} in {of}", plural(count as u64, "finding"))
    };
    let title_id = format!("{id}-title");
    html! {
        section.findings id=(id) aria-labelledby=(title_id) {
            h2 id=(title_id) { (title) " " span.count { (count) } }
            @let shown = if groups.len() > SHOWN + 1 { SHOWN } else { groups.len() };
            @for (at, (artifact, group)) in groups.iter().take(shown).enumerate() {
                (finding(grids, *artifact, group, at < open))
            }
            @if groups.len() > shown {
                details.more {
                    summary { (groups.len() - shown) " more" }
                    @for (artifact, group) in groups.iter().skip(shown) {
                        (finding(grids, *artifact, group, false))
                    }
                }
            }
        }
    }
}

/// What a group is about, in a line: package and library.
fn subject(finding: &Finding) -> String {
    let package = finding.package.as_ref().map(ToString::to_string);
    let parts = package.into_iter().chain(finding.library.clone());
    parts.collect::<Vec<_>>().join(" › ")
}

/// Where it is said of: `prod: A100 (8.0)`, `prod`.
fn place(finding: &Finding) -> Option<String> {
    match (&finding.target, &finding.gpu) {
        (Some(target), Some(gpu)) => Some(format!("{target}: {gpu}")),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (None, None) => None,
    }
}

/// Where it is from: the input, and the line of a lock file; nothing where the package is the input.
fn origin(grids: &Grids<'_>, artifact: usize, finding: &Finding) -> Option<String> {
    let judged = grids.checked.evaluation.artifacts.get(artifact)?;
    let package = finding.package.as_ref();
    match finding.line {
        Some(line) => Some(format!("{}, line {line}", judged.input)),
        None if judged.package.is_none() => Some(judged.input.clone()),
        None => match package {
            Some(package) => grids.told_apart(package, artifact).map(str::to_owned),
            None => Some(judged.input.clone()),
        },
    }
}

fn finding(grids: &Grids<'_>, artifact: Option<usize>, group: &Group<'_>, open: bool) -> Markup {
    let first = group.first;
    // a card is read by itself, so its steps are said in full
    let steps = Steps::default().lines(group);
    let subject = subject(first);
    let places = 1 + group.others.len();
    let origin = artifact.and_then(|artifact| origin(grids, artifact, first));
    html! {
        details.finding.(first.level.id()) open[open] {
            summary {
                span.level { (words::level(first.level)) } " "
                span.subject { @if subject.is_empty() { (first.code.title()) } @else { (subject) } } " "
                @if let (true, Some(line)) = (subject.is_empty(), first.line) { span.where { "line " (line) } " " }
                @if let Some(place) = place(first) {
                    span.where {
                        (place)
                        @if places > 1 { " and " (places - 1) " more" }
                    } " "
                }
                code.code { (first.code) }
                span.message { (words::prose(&first.message)) }
            }
            div.body {
                @if let Some(waived) = &first.waived {
                    p.waiver {
                        @if let Some(until) = &waived.until { "Waived until " (until) ": " }
                        (waived.reason)
                    }
                }
                @let layer = first.layer.as_ref().map(layer_line);
                @if !first.evidence.is_empty() || layer.is_some() || places > 1 || !group.copies.is_empty() {
                    ul {
                        @for line in &first.evidence { li { (words::prose(line)) } }
                        @if let Some(layer) = &layer { li { (words::prose(layer)) } }
                        @if !group.copies.is_empty() { li { "the same in " (group.copies.join(", ")) } }
                        @let names = group.names();
                        @if !names.is_empty() { li { "the same for " (names.join(", ")) } }
                    }
                }
                dl.steps {
                    @for (head, text) in steps {
                        dt { (head.trim_end_matches(':')) } dd { (words::prose(&text)) }
                    }
                }
                @if let Some(origin) = &origin { p.of { "in " (origin) } }
            }
        }
    }
}

/// The names of many things, of which all are there.
pub(super) fn counted(names: &[String], what: &str) -> String {
    match names {
        [] => String::new(),
        few if few.len() <= 3 => listed(few),
        many => plural(many.len() as u64, what),
    }
}
