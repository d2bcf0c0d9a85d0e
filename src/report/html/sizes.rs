//! Megabytes by architecture: what is paid for, and what no target can use.

use maud::{Markup, html};

use crate::device::ImageKind;
use crate::inventory::Artifact;
use crate::verdict::{Weight, megabytes, weights};

use super::grid::Grids;

/// Units of a full bar.
const FULL: u64 = 1000;

/// What an input weighs.
struct Input<'c> {
    title: String,
    /// Its file, where another input is called the same.
    file: Option<&'c str>,
    own: Vec<Weight>,
    foreign: Vec<Weight>,
}

/// The chart of each input.
pub(super) fn write(grids: &Grids<'_>) -> Markup {
    let checked = grids.checked;
    let judged = checked.evaluation.artifacts.iter();
    let inputs = checked
        .inventory
        .artifacts
        .iter()
        .zip(judged)
        .enumerate()
        .map(|(at, (artifact, judged))| {
            let of = |own| weights(&artifact.libraries, own, checked.policy, checked.tables);
            Input {
                title: judged
                    .package
                    .as_ref()
                    .map_or_else(|| judged.input.clone(), ToString::to_string),
                file: judged
                    .package
                    .as_ref()
                    .and_then(|package| grids.told_apart(package, at)),
                own: of(true),
                foreign: of(false),
            }
        });
    let mut inputs: Vec<Input<'_>> = inputs
        .filter(|input| sum(&input.own, |_| true) > 0 || sum(&input.foreign, |_| true) > 0)
        .collect();
    if inputs.is_empty() {
        return Markup::default();
    }
    // the ones that cost most first
    inputs.sort_by_key(|input| std::cmp::Reverse(sum(&input.own, |one| one.unused)));
    html! {
        section #sizes aria-labelledby="sizes-title" {
            h2 #sizes-title { "Megabytes by architecture" }
            p { (total(&checked.inventory.artifacts, &inputs)) }
            @for (at, input) in inputs.iter().enumerate() { (chart(input, at)) }
        }
    }
}

fn sum(weights: &[Weight], wanted: impl Fn(&Weight) -> bool) -> u64 {
    let wanted = weights.iter().filter(|weight| wanted(weight));
    wanted.fold(0, |sum, weight| sum.saturating_add(weight.bytes))
}

/// What is paid over all inputs, where no file is in two of them.
fn total(artifacts: &[Artifact], inputs: &[Input<'_>]) -> String {
    let twice = artifacts.iter().enumerate().any(|(at, one)| {
        let mut before = artifacts.iter().take(at);
        before.any(|other| other.input == one.input)
    });
    if twice {
        return "Of each input, since several of them hold the same files.".to_owned();
    }
    let over = |wanted: fn(&Weight) -> bool| {
        let sums = inputs.iter().map(|input| sum(&input.own, wanted));
        sums.fold(0, u64::saturating_add)
    };
    let (unused, all) = (
        over(|one| one.unused),
        over(|one| one.kind == ImageKind::Cubin),
    );
    if unused == 0 {
        format!(
            "All {} of machine code are for GPUs that some target has.",
            megabytes(all)
        )
    } else {
        format!(
            "{} of {} of machine code are for GPUs that no target has.",
            megabytes(unused),
            megabytes(all)
        )
    }
}

fn chart(input: &Input<'_>, at: usize) -> Markup {
    let unused = sum(&input.own, |one| one.unused);
    let (own, foreign) = (sum(&input.own, |_| true), sum(&input.foreign, |_| true));
    let all = input.own.iter().chain(&input.foreign);
    let most = all.map(|weight| weight.bytes).max().unwrap_or_default();
    let id = format!("size-{at}");
    html! {
        details.size open[at == 0] {
            summary {
                span.name { (input.title) } " "
                @if let Some(file) = input.file { span.file { (file) } " " }
                span.small {
                    (megabytes(own)) " of its own"
                    @if unused > 0 { ", " b { (megabytes(unused)) " for no target" } }
                    @if foreign > 0 { ", " (megabytes(foreign)) " of NVIDIA's libraries" }
                }
            }
            div.scroll role="region" tabindex="0" aria-labelledby=(id) {
                table.sizes {
                    caption.sr id=(id) { "Bytes by architecture in " (input.title) }
                    thead { tr {
                        th scope="col" { "Built for" } th.number scope="col" { "Stored" } th scope="col" { "Share" }
                        th scope="col" { "Used by" }
                    } }
                    (rows("Its own code", &input.own, most))
                    (rows("NVIDIA's libraries in it", &input.foreign, most))
                }
            }
        }
    }
}

fn rows(title: &str, weights: &[Weight], most: u64) -> Markup {
    if weights.is_empty() {
        return Markup::default();
    }
    html! {
        tbody {
            tr { th.group scope="rowgroup" colspan="4" { (title) } }
            @for weight in weights {
                tr {
                    th scope="row" { (name(weight)) }
                    td.number { (megabytes(weight.bytes)) }
                    td { (bar(weight, most)) }
                    td {
                        @if weight.unused { span.unused { "no target" } }
                        @else if weight.kind == ImageKind::Cubin { "a target" }
                        @else { span.dim { "not machine code" } }
                    }
                }
            }
        }
    }
}

fn name(weight: &Weight) -> String {
    let target = weight.target;
    match (weight.kind, target) {
        (ImageKind::Cubin, Some(target)) => target.to_string(),
        (ImageKind::Ptx | ImageKind::RelocatablePtx, Some(target)) => {
            format!("PTX {}", target.compute())
        }
        (kind, Some(target)) => format!("{kind} {target}"),
        (kind, None) => format!("{kind} without a target"),
    }
}

fn bar(weight: &Weight, most: u64) -> Markup {
    let share = u128::from(weight.bytes) * u128::from(FULL) / u128::from(most.max(1));
    html! {
        svg.bar.unused[weight.unused] viewBox={ "0 0 " (FULL) " 10" } preserveAspectRatio="none" aria-hidden="true" {
            rect.track width=(FULL) height="10" {}
            rect.fill width=(share.max(2)) height="10" {}
        }
    }
}
