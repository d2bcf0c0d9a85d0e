//! The heat map: packages by targets.

use maud::{Markup, html};

use crate::policy::FleetTarget;
use crate::report::text::plural;
use crate::verdict::{Row, Verdict};

use super::grid::{Gets, Grid, Grids, Line};
use super::words;

/// Targets that a wide window has room for, with their longest words.
const FITS: usize = 8;

/// The heat map.
pub(super) fn write(grids: &Grids<'_>) -> Markup {
    html! {
        section #map aria-labelledby="map-title" {
            h2 #map-title { "What each target gets" }
            (legend())
            p.filter hidden {
                label { "Filter packages " input #filter type="search" autocomplete="off"; }
                label { input #failing type="checkbox"; " only what does not pass" }
            }
            @for (at, grid) in grids.all.iter().enumerate() {
                (table(grids, grid, at))
            }
        }
    }
}

fn legend() -> Markup {
    let verdicts = [
        (Verdict::Fail, "the policy denies it"),
        (Verdict::Incomplete, "not all could be judged"),
        (Verdict::Pass, "nothing denied"),
    ];
    html! {
        details.legend {
            summary {
                "Legend "
                @for (gets, _) in Gets::LEGEND { span.gets.(gets.class()) { (gets.word()) } " " }
            }
            dl {
                @for (gets, means) in Gets::LEGEND {
                    div { dt { span.gets.(gets.class()) { (gets.word()) } } dd { (means) } }
                }
                @for (verdict, means) in verdicts {
                    div { dt { (words::marked(verdict)) } dd { (means) } }
                }
                div { dt { "≥ 525.60.13" } dd { "the oldest driver that it runs on" } }
            }
        }
    }
}

fn table(grids: &Grids<'_>, grid: &Grid<'_>, at: usize) -> Markup {
    let shown: Vec<&Line<'_>> = grid
        .lines
        .iter()
        .filter(|line| grids.folded(line).is_none())
        .collect();
    let used = |column: usize| {
        let cell = |line: &Line<'_>| line.cells.get(column).is_some_and(Option::is_some);
        grid.lines.iter().any(cell)
    };
    let columns: Vec<(usize, &FleetTarget)> = grids
        .targets()
        .iter()
        .enumerate()
        .filter(|(column, _)| used(*column))
        .collect();
    let id = format!("map-{at}");
    let caption = grid.title.unwrap_or("Packages");
    html! {
        @if let Some(title) = grid.title { h3 { (title) } }
        @if !shown.is_empty() {
            div.scroll.heat.fits[columns.len() <= FITS] role="region" tabindex="0" aria-labelledby=(id) {
                table {
                    caption.sr id=(id) { "What each target gets of " (caption) }
                    thead { tr {
                        th scope="col" { "Package" }
                        @for (_, target) in &columns { th scope="col" { (head(target)) } }
                    } }
                    tbody {
                        @for line in &shown {
                            tr data-name=(line.name()) data-verdict=(line.verdict().id()) {
                                th scope="row" {
                                    a href={ "#p" (line.number) } { (name(grids, line)) }
                                }
                                @for (column, _) in &columns {
                                    (cell(grids, line.cells.get(*column).copied().flatten().map(|(_, row)| row)))
                                }
                            }
                        }
                    }
                }
            }
        }
        @if grid.lines.is_empty() { p.cut { "Judged on no target: see the findings." } }
        @for gets in [Gets::NotRead, Gets::NoCode] { (folded(grids, grid, gets)) }
    }
}

/// The name of a package, its version less loud; its file where another is called the same.
pub(super) fn name(grids: &Grids<'_>, line: &Line<'_>) -> Markup {
    match line.package {
        None => html! { (line.name()) },
        Some(package) => html! {
            b { (package.name) }
            @if let Some(version) = &package.version { " " span.version { (version) } }
            @if let Some(file) = grids.told_apart(package, line.artifact) { " " span.file { (file) } }
        },
    }
}

/// A target as the head of a column.
fn head(target: &FleetTarget) -> Markup {
    let gpus: Vec<String> = target.gpus.iter().map(|gpu| gpu.name.clone()).collect();
    let gpus = super::findings::counted(&gpus, "GPU");
    html! {
        b { (target.name) }
        // a target made of one GPU is often called by its name
        @if gpus != target.name { " " span.small { (gpus) } }
        @if let Some(driver) = &target.driver { " " span.small { (driver) } }
    }
}

fn cell(grids: &Grids<'_>, row: Option<&Row>) -> Markup {
    let Some(row) = row else {
        return html! { td.gets.absent { span.sr { "not judged" } } };
    };
    let gets = grids.gets(row);
    html! {
        td.gets.(gets.class()).(row.verdict.id()) {
            span.word { (gets.word()) }
            @if row.compiles && gets == Gets::NoCode { " " span.small { "compiled at run time" } }
            @if let Some(floor) = &row.minimum_driver {
                " " span.small.below[row.driver_below.is_some()] { "≥ " (floor.driver) }
            }
            " " (words::sign(row.verdict)) span.sr { " " (row.verdict.id()) }
        }
    }
}

/// The packages of which there is little to say, in one line.
fn folded(grids: &Grids<'_>, grid: &Grid<'_>, gets: Gets) -> Markup {
    let folded = grid
        .lines
        .iter()
        .filter(|line| grids.folded(line) == Some(gets));
    let folded: Vec<&Line<'_>> = folded.collect();
    if folded.is_empty() {
        return Markup::default();
    }
    let count = plural(folded.len() as u64, "package");
    let (what, verdict) = match gets {
        Gets::NotRead => ("not read", Verdict::Incomplete),
        _ => ("without device code", Verdict::Pass),
    };
    html! {
        details.folded {
            summary { (words::sign(verdict)) " " (count) " " (what) }
            ul {
                @for line in folded {
                    li data-name=(line.name()) {
                        (name(grids, line))
                        @for remark in remarks(grids, line) { " " span.small { (remark) } }
                    }
                }
            }
        }
    }
}

/// What is said beside its verdicts, each once.
fn remarks(grids: &Grids<'_>, line: &Line<'_>) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    for (at, row) in line.rows() {
        let remark = grids.remarks(at, row);
        if !remark.is_empty() && !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    remarks
}
