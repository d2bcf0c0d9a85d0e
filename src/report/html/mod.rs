//! The report of `check` as one HTML file: a heat map of packages and targets, with every detail below it.
//!
//! It loads nothing and sends nothing: its style and its script stand in it, and its content security policy allows
//! these two by their hashes and no request at all. Without the script everything can be read. Foreign text is escaped
//! by the templates; what a reader could not see of it is made visible in one place, [`page`].

mod details;
mod findings;
mod grid;
mod head;
mod lists;
mod matrix;
mod scale;
mod sizes;
mod words;

#[cfg(test)]
mod tests;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::escape::visible;

use super::checked::Checked;
use grid::Grids;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Writes the report.
pub(super) fn write(checked: Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let grids = Grids::new(checked);
    let sections = [
        head::write(&grids)?,
        findings::first(&grids),
        matrix::write(&grids),
        details::write(&grids),
        sizes::write(&grids),
        scale::write(&grids),
        findings::rest(&grids),
        lists::write(&grids)?,
    ];
    out.write_all(page(checked, sections).as_bytes())
}

/// The page around `sections`. Templates write no line feed, so that every character which a terminal or a reader of
/// the source could take for something else is part of foreign text.
fn page(checked: Checked<'_>, sections: [Markup; 8]) -> String {
    let (style, script) = (trimmed(STYLE), trimmed(SCRIPT));
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&style),
        hash(&script)
    );
    let evaluation = checked.evaluation;
    let title = format!(
        "{}: smgate check, {}",
        words::verdict(evaluation.verdict),
        visible(&evaluation.policy)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                a.skip href="#main" { "Skip to the result" }
                main #main {
                    @for section in sections {
                        "\n"
                        (PreEscaped(visible(&section.into_string())))
                    }
                }
                "\n"
                script { (PreEscaped(script)) }
            }
        }
    };
    page.into_string() + "\n"
}

/// A part of the page without indentation, and with line feeds only: its hash must be that of what a browser reads.
fn trimmed(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// The hash of a part as content security policies write it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
