//! What is below the heat map: each package on each target, its libraries on each GPU, their fatbins.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use crate::inventory::Artifact;
use crate::report::images::images;
use crate::report::text::plural;
use crate::rule::Level;
use crate::verdict::{
    FatbinsOnGpu, Finding, LibraryOnGpu, Row, Runs, State, Verdict, fatbins, megabytes,
};

use super::grid::{Gets, Grids, Line};
use super::{matrix, words};

/// Kinds of fatbins that are listed of a library, where nothing of it is denied.
const KINDS_MAX: usize = 24;
/// The same where something is denied: more than any real library has.
const DENIED_KINDS_MAX: usize = 2000;
/// Libraries of which fatbins are listed, beside those of which something is denied.
const LIBRARIES_MAX: usize = 300;
/// Libraries without a denied finding that are listed of a package.
const LISTED_MAX: usize = 300;

/// A GPU of a target: their numbers in the policy.
type Column = (usize, usize);

/// The packages.
pub(super) fn write(grids: &Grids<'_>) -> Markup {
    let mut left = LIBRARIES_MAX;
    let lines = grids.lines().filter(|line| grids.folded(line).is_none());
    let lines: Vec<&Line<'_>> = lines.collect();
    if lines.is_empty() {
        return Markup::default();
    }
    html! {
        section #packages aria-labelledby="packages-title" {
            h2 #packages-title { "Packages in detail" }
            p.tools hidden {
                button #open type="button" { "Open all" } " "
                button #close type="button" { "Close all" }
            }
            @for line in lines { (package(grids, line, &mut left)) }
        }
    }
}

fn package(grids: &Grids<'_>, line: &Line<'_>, left: &mut usize) -> Markup {
    let judged = grids.judged(line);
    let verdict = line.verdict();
    html! {
        details.package data-name=(line.name()) data-verdict=(verdict.id()) {
            summary {
                (words::sign(verdict)) span.sr { (verdict.id()) ": " }
                " " span.name { (matrix::name(grids, line)) } " " span.small { (summary(line)) }
            }
            div.body id={ "p" (line.number) } {
                @if let Some(judged) = judged { p.of { (judged.input) } }
                (targets(grids, line))
                @if let Some(artifact) = grids.artifact(line) { (libraries(grids, line, artifact, left)) }
            }
        }
    }
}

/// On how many targets it does what.
fn summary(line: &Line<'_>) -> String {
    let mut counts: BTreeMap<Verdict, u64> = BTreeMap::new();
    for (_, row) in line.rows() {
        *counts.entry(row.verdict).or_default() += 1;
    }
    let counts = counts.into_iter().rev().map(|(verdict, count)| {
        let what = match verdict {
            Verdict::Pass => "passes on",
            Verdict::Incomplete => "incomplete on",
            Verdict::Fail => "fails on",
        };
        format!("{what} {count}")
    });
    counts.collect::<Vec<_>>().join(", ")
}

fn targets(grids: &Grids<'_>, line: &Line<'_>) -> Markup {
    let id = format!("t{}", line.number);
    html! {
        div.scroll role="region" tabindex="0" aria-labelledby=(id) {
            table.targets {
                caption id=(id) { "On each target" }
                thead { tr {
                    th scope="col" { "Target" } th scope="col" { "Verdict" } th scope="col" { "GPU" }
                    th scope="col" { "Needs and notes" }
                } }
                tbody {
                    @for (at, row) in line.rows() {
                        tr {
                            th scope="row" { (row.target) }
                            td { (words::marked(row.verdict)) }
                            td { (gpus(grids, row)) }
                            td { (words::prose(&grids.remarks(at, row))) }
                        }
                    }
                }
            }
        }
    }
}

/// What each GPU gets.
fn gpus(grids: &Grids<'_>, row: &Row) -> Markup {
    html! {
        @if row.gpus.is_empty() { (grids.gets(row).word()) }
        @for on in &row.gpus {
            @let gets = on.runs.map_or(Gets::NoCode, Gets::Runs);
            span.pair { span.gets.(gets.class()) { (gets.word()) } " " (on.gpu) }
        }
    }
}

fn libraries(grids: &Grids<'_>, line: &Line<'_>, artifact: &Artifact, left: &mut usize) -> Markup {
    let mut columns: Vec<Column> = Vec::new();
    let mut on: BTreeMap<&str, BTreeMap<Column, &LibraryOnGpu>> = BTreeMap::new();
    for (target, cell) in line.cells.iter().enumerate() {
        let gpus = cell.map(|(_, row)| row.gpus.as_slice()).unwrap_or_default();
        for (gpu, found) in gpus.iter().enumerate() {
            columns.push((target, gpu));
            for library in &found.libraries {
                let of = on.entry(&library.library).or_default();
                of.insert((target, gpu), library);
            }
        }
    }
    if on.is_empty() {
        return Markup::default();
    }
    let denied = denied(grids, line);
    let all = on.len();
    let mut kept = 0_usize;
    on.retain(|path, _| {
        kept += usize::from(!denied.contains(path));
        denied.contains(path) || kept <= LISTED_MAX
    });
    let cut = all - on.len();
    let others = on.keys().filter(|path| !denied.contains(*path)).count();
    let without_fatbins = others.saturating_sub(*left) as u64;
    let id = format!("l{}", line.number);
    html! {
        div.scroll role="region" tabindex="0" aria-labelledby=(id) {
            table.libraries {
                caption id=(id) { "Fatbins that run, of those that count, by library and GPU" }
                thead { tr {
                    th scope="col" { "Library" }
                    @for column in &columns { th scope="col" { (gpu_head(grids, *column)) } }
                } }
                tbody {
                    @for (path, of) in &on {
                        tr {
                            th scope="row" { (path) }
                            @for column in &columns { (figures(of.get(column).copied())) }
                        }
                    }
                }
            }
        }
        @if cut > 0 {
            p.cut { (plural(cut as u64, "more library")) " without a denied finding: in the JSON report."  }
        }
        @for path in on.keys() {
            (kinds(grids, artifact, path, &columns, denied.contains(path), left))
        }
        @if without_fatbins > 0 {
            p.cut {
                "The fatbins of " (plural(without_fatbins, "library")) " without a denied finding are left out: the inventory lists them ("
                code { "smgate inspect --format json" } ")."
            }
        }
    }
}

/// The libraries of which something is denied.
fn denied<'c>(grids: &Grids<'c>, line: &Line<'_>) -> BTreeSet<&'c str> {
    let findings = grids.checked.evaluation.findings.iter();
    let denied = findings.filter(|finding: &&Finding| {
        finding.artifact == Some(line.artifact)
            && finding.package.as_ref() == line.package
            && finding.level == Level::Deny
            && finding.counts()
    });
    denied
        .filter_map(|finding| finding.library.as_deref())
        .collect()
}

fn gpu_head(grids: &Grids<'_>, (target, gpu): Column) -> Markup {
    let target = grids.targets().get(target);
    let gpu = target.and_then(|target| target.gpus.get(gpu));
    html! {
        @if let Some(gpu) = gpu {
            b { (gpu.name) }
            // one without a name is called by its capability
            @if gpu.to_string() != gpu.name { " " span.small { "(" (gpu.cc) ")" } }
        }
        @if let Some(target) = target { " " span.small { (target.name) } }
    }
}

fn figures(on: Option<&LibraryOnGpu>) -> Markup {
    let Some(on) = on else {
        return html! { td.gets.absent { span.sr { "not loaded" } } };
    };
    let gets = Gets::Runs(on.runs);
    html! {
        td.gets.(gets.class()) {
            span.word { (gets.word()) }
            " " span.small { (on.covered) " of " (on.fatbins) }
            @if on.jit > 0 && on.runs != Runs::Native { " " span.small { (on.jit) " by JIT" } }
        }
    }
}

/// Fatbins that are alike, on every GPU.
struct Kind {
    images: String,
    general: bool,
    count: u64,
    bytes: u64,
    states: Vec<State>,
}

/// The fatbins of a library, by what they hold.
fn kinds(
    grids: &Grids<'_>,
    artifact: &Artifact,
    path: &str,
    columns: &[Column],
    denied: bool,
    left: &mut usize,
) -> Markup {
    let Some(library) = Line::library(artifact, path) else {
        return Markup::default();
    };
    if !denied {
        if *left == 0 {
            return Markup::default();
        }
        *left -= 1;
    }
    let gpus = columns.iter().filter_map(|(target, gpu)| {
        let target = grids.targets().get(*target)?;
        Some((target, target.gpus.get(*gpu)?))
    });
    let on: Vec<Vec<FatbinsOnGpu<'_>>> = gpus
        .map(|(target, gpu)| fatbins(artifact, library, target, gpu, grids.checked.tables))
        .collect();
    let all = alike(&on);
    let most = if denied { DENIED_KINDS_MAX } else { KINDS_MAX };
    let shown = all.len().min(most);
    let cut = all
        .iter()
        .skip(shown)
        .fold(0_u64, |sum, kind| sum.saturating_add(kind.count));
    let count = all
        .iter()
        .fold(0_u64, |sum, kind| sum.saturating_add(kind.count));
    html! {
        details.library {
            summary { (path) " " span.small { (plural(count, "fatbin")) ", " (megabytes(library.size)) } }
            div.scroll role="region" tabindex="0" aria-label={ "Fatbins of " (path) } {
                table.fatbins {
                    caption.sr { "Fatbins of " (path) }
                    thead { tr {
                        th scope="col" { "Images" } th.number scope="col" { "Fatbins" } th.number scope="col" { "Stored" }
                        @for column in columns { th scope="col" { (gpu_head(grids, *column)) } }
                    } }
                    tbody {
                        @for kind in all.iter().take(shown) {
                            tr {
                                th scope="row" {
                                    (kind.images)
                                    @if !kind.general { " " span.small { "single-target" } }
                                }
                                td.number { (kind.count) }
                                td.number { (megabytes(kind.bytes)) }
                                @for state in &kind.states {
                                    @let (class, word) = words::state(*state);
                                    td.gets.(class) { span.word { (word) } }
                                }
                            }
                        }
                    }
                }
            }
            @if cut > 0 {
                p.cut { (plural(cut, "more fatbin")) " of " (all.len() - shown) " other kinds: the inventory lists them (" code { "smgate inspect --format json" } ")." }
            }
        }
    }
}

/// Fatbins with equal images and states together, the most first.
fn alike(on: &[Vec<FatbinsOnGpu<'_>>]) -> Vec<Kind> {
    let mut kinds: BTreeMap<(String, bool, Vec<State>), (u64, u64)> = BTreeMap::new();
    for (index, found) in on.first().into_iter().flatten().enumerate() {
        let of_classes: BTreeSet<String> = found
            .classes
            .iter()
            .map(|class| images(&[*class]))
            .collect();
        let images = of_classes
            .into_iter()
            .collect::<Vec<_>>()
            .join(", linked with ");
        let states = on.iter().filter_map(|gpu| Some(gpu.get(index)?.state));
        let kind = kinds
            .entry((images, found.general, states.collect()))
            .or_default();
        let bytes = found
            .classes
            .iter()
            .fold(0_u64, |sum, class| sum.saturating_add(class.bytes));
        kind.0 = kind.0.saturating_add(found.count);
        kind.1 = kind.1.saturating_add(bytes);
    }
    let kinds = kinds.into_iter();
    let mut kinds: Vec<Kind> = kinds
        .map(|((images, general, states), (count, bytes))| Kind {
            images,
            general,
            count,
            bytes,
            states,
        })
        .collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    kinds
}
