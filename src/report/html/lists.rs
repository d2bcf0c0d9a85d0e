//! What could not be read, what was looked at, and lists that a few inputs have.

use std::io;

use maud::{Markup, html};

use crate::report::human::look;
use crate::report::text::{plural, write_looked_at};
use crate::report::{hidden, kernels, locked};
use crate::verdict::{Evaluation, Judged};

use super::grid::Grids;
use super::words;

/// The end of the page.
pub(super) fn write(grids: &Grids<'_>) -> io::Result<Markup> {
    let evaluation = grids.checked.evaluation;
    Ok(html! {
        (problems(evaluation))
        (missing(evaluation))
        (inputs(grids)?)
    })
}

/// What could not be read, each with its place.
fn problems(evaluation: &Evaluation) -> Markup {
    let count: usize = evaluation
        .artifacts
        .iter()
        .map(|one| one.problems.len())
        .sum();
    if count == 0 {
        return Markup::default();
    }
    html! {
        section #problems aria-labelledby="problems-title" {
            h2 #problems-title { "Not read " span.count { (count) } }
            @for (at, judged) in evaluation.artifacts.iter().enumerate() {
                @if !judged.problems.is_empty() { (problems_of(judged, at)) }
            }
        }
    }
}

fn problems_of(judged: &Judged, at: usize) -> Markup {
    let id = format!("problems-{at}");
    html! {
        div.scroll role="region" tabindex="0" aria-labelledby=(id) {
            table.problems {
                caption id=(id) { (judged.input) }
                thead { tr {
                    th scope="col" { "Where" } th scope="col" { "What" } th scope="col" { "Not seen" }
                    th scope="col" { "Next" }
                } }
                tbody {
                    @for problem in &judged.problems {
                        tr {
                            th scope="row" { (problem.at.to_string()) }
                            td { code.code { (problem.kind) } " " (words::prose(&problem.detail)) }
                            td { (problem.extent.id()) }
                            td { (words::prose(problem.kind.hint())) }
                        }
                    }
                }
            }
        }
    }
}

/// Kernels for which a GPU finds no code, where their names were asked for.
fn missing(evaluation: &Evaluation) -> Markup {
    let Some(missing) = evaluation
        .missing_kernels
        .as_ref()
        .filter(|all| !all.is_empty())
    else {
        return Markup::default();
    };
    html! {
        section #kernels aria-labelledby="kernels-title" {
            h2 #kernels-title { "Kernels without code" }
            @for found in missing {
                details.kernels {
                    summary { (found.library) " " span.small { (kernels::name(found)) } }
                    p { (kernels::summary(&found.missing)) }
                    ul { @for name in kernels::folded(found.missing.kernels.iter().map(|name| &**name)) { li { code { (name) } } } }
                }
            }
        }
    }
}

fn inputs(grids: &Grids<'_>) -> io::Result<Markup> {
    let evaluation = grids.checked.evaluation;
    let mut rows = Vec::new();
    for judged in &evaluation.artifacts {
        let mut looked = Vec::new();
        write_looked_at(std::iter::once(look(judged)), &mut looked)?;
        let looked = String::from_utf8_lossy(&looked).into_owned();
        let locks = judged
            .lock
            .iter()
            .map(|lock| (&**lock, judged.problems.as_slice()));
        rows.push((judged, looked, locked::summary(locks)));
    }
    Ok(html! {
        section #inputs aria-labelledby="inputs-title" {
            h2 #inputs-title { "Inputs" }
            div.scroll role="region" tabindex="0" aria-label="Inputs" {
                table.inputs {
                    caption.sr { "What was looked at" }
                    thead { tr {
                        th scope="col" { "Input" } th scope="col" { "Kind" } th scope="col" { "Looked at" }
                    } }
                    tbody {
                        @for (judged, looked, lock) in &rows {
                            tr {
                                th scope="row" { (judged.input) }
                                td { (judged.kind.id()) }
                                td {
                                    @for line in looked.lines() { p { (line.trim_start_matches("Looked at ")) } }
                                    @if let Some(lock) = lock { p { (lock) } }
                                    (wasted(judged))
                                }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// What an image ships and never uses.
fn wasted(judged: &Judged) -> Markup {
    if judged.hidden.is_empty() {
        return Markup::default();
    }
    html! {
        details {
            summary { (plural(judged.hidden.len() as u64, "file")) " with device code, shipped and never used" }
            ul { @for file in &judged.hidden { li { (hidden::line(file)) } } }
        }
    }
}
