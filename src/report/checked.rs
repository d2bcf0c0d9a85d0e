//! What `check` found, and the forms in which it is reported.

use std::io::{self, Write};

use crate::inventory::Inventory;
use crate::policy::Policy;
use crate::tables::Tables;
use crate::verdict::Evaluation;

use super::check::{github, gitlab, junit, markdown, ndjson, sarif};
use super::{HumanOptions, document, html, human};

/// What `check` found, and what it was found in.
#[derive(Debug, Clone, Copy)]
pub struct Checked<'a> {
    /// The result, which is all that reports judge by.
    pub evaluation: &'a Evaluation,
    /// What was judged, for details.
    pub inventory: &'a Inventory,
    /// By what it was judged, for the places of targets and waivers.
    pub policy: &'a Policy,
    /// The facts by which it was judged.
    pub tables: &'a Tables,
}

/// The form of a report of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum CheckFormat {
    /// Annotations of GitHub: workflow commands.
    Github,
    /// A code quality report of GitLab.
    Gitlab,
    /// For people, with a picture of every package on every target: one HTML file that loads nothing.
    Html,
    /// For people.
    #[default]
    Human,
    /// For programs: `smgate/check/1`.
    Json,
    /// A report of tests, which most CI servers show.
    Junit,
    /// For the comment on a pull request or the summary of a step.
    Markdown,
    /// One line of JSON for each artifact, `smgate/check-artifact/1`, and one for the whole, `smgate/check-summary/1`.
    Ndjson,
    /// SARIF 2.1.0, for code hosts and editors.
    Sarif,
}

/// Writes the result of `check`.
///
/// # Errors
///
/// What writing to `out` gives.
pub fn write_check(
    checked: Checked<'_>,
    format: CheckFormat,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        CheckFormat::Github => github::write(checked, out),
        CheckFormat::Gitlab => gitlab::write(checked, out),
        CheckFormat::Html => html::write(checked, out),
        CheckFormat::Human => human::write(checked, options, out),
        CheckFormat::Json => {
            let json = document::to_json(checked.evaluation).map_err(io::Error::other)?;
            writeln!(out, "{json}")
        }
        CheckFormat::Junit => junit::write(checked, out),
        CheckFormat::Markdown => markdown::write(checked, out),
        CheckFormat::Ndjson => ndjson::write(checked, out),
        CheckFormat::Sarif => sarif::write(checked, out),
    }
}
