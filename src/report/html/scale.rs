//! Drivers on a scale of branches: what targets have, and what packages need.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::cuda::{DriverBranch, DriverSpec, DriverVersion};
use crate::report::text::plural;
use crate::verdict::{Floor, Row, branch_on};

use super::grid::{Grids, Line};
use super::matrix;

/// Rows without a driver that is too old that are shown.
const ROWS_MAX: usize = 200;
/// Units of a branch, across.
const STEP: usize = 46;

/// A driver that a package needs, on the targets where it does.
struct Need<'g, 'c> {
    line: &'g Line<'c>,
    floor: &'c Floor,
    branch: Option<DriverBranch>,
    /// The targets, and whether their driver is older.
    on: Vec<(&'c str, bool)>,
}

impl<'c> Need<'_, 'c> {
    /// What it is sorted by, the oldest driver first: one of no known branch last, a branch before its versions.
    fn age(&self) -> (bool, Option<DriverBranch>, Option<&'c DriverVersion>) {
        let version = match &self.floor.driver {
            DriverSpec::Exact(version) => Some(version),
            DriverSpec::Branch(_) => None,
        };
        (self.branch.is_none(), self.branch, version)
    }
}

/// The scale.
pub(super) fn write(grids: &Grids<'_>) -> Markup {
    let needs = needs(grids);
    let have: Vec<Option<DriverBranch>> = have(grids);
    let mut branches: Vec<DriverBranch> = needs.iter().filter_map(|need| need.branch).collect();
    branches.extend(have.iter().flatten());
    branches.sort_unstable();
    branches.dedup();
    if branches.is_empty() {
        return Markup::default();
    }
    let (below, met): (Vec<_>, Vec<_>) = needs
        .into_iter()
        .partition(|need| need.on.iter().any(|(_, below)| *below));
    let cut = met.len().saturating_sub(ROWS_MAX);
    let width = branches.len() * STEP;
    html! {
        section #drivers aria-labelledby="drivers-title" {
            h2 #drivers-title { "Drivers" }
            p {
                "Each line is a driver that a package needs, and which targets have it."
                span.on-scale { " On the scale it runs from the mark on, to the right; thin lines are the drivers of targets." }
            }
            div.scroll role="region" tabindex="0" aria-label="Drivers" {
                table.drivers {
                    caption.sr { "Drivers that targets have and packages need" }
                    thead { tr {
                        th scope="col" { "Target or package" } th scope="col" { "Driver" }
                        th scope="col" {
                            span.sr { "On a scale" }
                            svg.scale width=(width) height="18" aria-hidden="true" {
                                @for (at, branch) in branches.iter().enumerate() {
                                    text x=(middle(at)) y="13" { (branch) }
                                }
                            }
                        }
                        th scope="col" { "Why, and where" }
                    } }
                    tbody {
                        tr { th.group scope="rowgroup" colspan="4" { "What targets have" } }
                        @for (target, branch) in grids.targets().iter().zip(&have) {
                            tr {
                                th scope="row" { (target.name) }
                                td.number {
                                    @match &target.driver {
                                        Some(driver) => (driver),
                                        None => span.dim { "not given" },
                                    }
                                }
                                td { (mark(&branches, *branch, &have, "has")) }
                                td {
                                    @if branch.is_none() && target.driver.is_some() { "of no branch that is known" }
                                }
                            }
                        }
                    }
                    tbody {
                        tr { th.group scope="rowgroup" colspan="4" { "What packages need" } }
                        @for need in below.iter().chain(met.iter().take(ROWS_MAX)) { (row(grids, need, &branches, &have)) }
                    }
                }
            }
            @if cut > 0 { p.cut { (plural(cut as u64, "more need")) " that every target meets: the JSON report has them." } }
        }
    }
}

/// The branches of the targets' drivers.
fn have(grids: &Grids<'_>) -> Vec<Option<DriverBranch>> {
    // numbers of Windows are those of the platform; without one, the first input tells
    let artifact = grids.checked.inventory.artifacts.first();
    let targets = grids.targets().iter();
    let branch = targets.map(|target| {
        let driver = target.driver.as_ref()?;
        branch_on(driver, artifact?, target, grids.checked.tables)
    });
    branch.collect()
}

fn needs<'g, 'c>(grids: &'g Grids<'c>) -> Vec<Need<'g, 'c>> {
    let mut needs = Vec::new();
    for line in grids.lines() {
        let mut of_line: BTreeMap<String, Need<'g, 'c>> = BTreeMap::new();
        for (target, cell) in grids.targets().iter().zip(&line.cells) {
            let Some((_, row)) = cell else { continue };
            let row: &'c Row = row;
            let Some(floor) = &row.minimum_driver else {
                continue;
            };
            let key = format!("{} {}", floor.driver, floor.mechanism);
            let need = of_line.entry(key).or_insert_with(|| Need {
                line,
                floor,
                branch: grids.artifact(line).and_then(|artifact| {
                    branch_on(&floor.driver, artifact, target, grids.checked.tables)
                }),
                on: Vec::new(),
            });
            need.on.push((&row.target, row.driver_below.is_some()));
        }
        let mut of_line: Vec<Need<'g, 'c>> = of_line.into_values().collect();
        of_line.sort_by_key(Need::age);
        needs.extend(of_line);
    }
    needs
}

fn row(
    grids: &Grids<'_>,
    need: &Need<'_, '_>,
    branches: &[DriverBranch],
    have: &[Option<DriverBranch>],
) -> Markup {
    let names = |wanted: bool| {
        let on = need.on.iter().filter(|(_, below)| *below == wanted);
        let names: Vec<&str> = on.map(|(name, _)| *name).collect();
        names.join(", ")
    };
    let (below, met) = (names(true), names(false));
    let kind = if below.is_empty() { "needs" } else { "unmet" };
    html! {
        tr data-name=(need.line.name()) {
            th scope="row" { (matrix::name(grids, need.line)) }
            td.number { (need.floor.driver) }
            td { (mark(branches, need.branch, have, kind)) }
            td {
                (need.floor.mechanism.to_string())
                @if !below.is_empty() { " " span.small.below { "✗ too new for " (below) } }
                @if !met.is_empty() { " " span.small { "met by " (met) } }
            }
        }
    }
}

const fn middle(at: usize) -> usize {
    at * STEP + STEP / 2
}

/// A row of the scale: the drivers of targets as thin lines, and a mark.
fn mark(
    branches: &[DriverBranch],
    branch: Option<DriverBranch>,
    have: &[Option<DriverBranch>],
    kind: &str,
) -> Markup {
    let width = branches.len() * STEP;
    let at = branch.and_then(|branch| branches.iter().position(|one| *one == branch));
    let ticks = branches.iter().enumerate();
    let ticks = ticks.filter(|(_, branch)| have.contains(&Some(**branch)));
    html! {
        svg.scale.(kind) width=(width) height="18" aria-hidden="true" {
            @for (tick, _) in ticks { path.tick d={ "M" (middle(tick)) " 0v18" } {} }
            @if let Some(at) = at {
                @if kind != "has" {
                    rect.range x=(middle(at)) y="5" width=(width - middle(at)) height="8" rx="4" {}
                }
                circle cx=(middle(at)) cy="9" r="5" {}
            }
        }
    }
}
