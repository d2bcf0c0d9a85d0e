//! Reports: an evaluation or an inventory in the form that a person or a program reads.
//!
//! Reads finished results only and decides nothing. Output carries no time, host or path of the machine,
//! so that equal inputs give equal bytes.

mod beside;
mod check;
mod checked;
mod counts;
mod diff;
mod document;
mod export;
mod facts;
mod fatbins;
mod find;
mod group;
mod hidden;
mod html;
mod human;
mod images;
mod inspect;
mod kernels;
mod locked;
mod steps;
mod style;
mod text;

use std::io::{self, Write};

use crate::escape::{in_json, visible};
use crate::facts::Answer;
use crate::find::Found;
use crate::inventory::{Inventory, to_json};
use crate::verdict::compare::Comparison;

pub use checked::{CheckFormat, Checked, write_check};
pub use export::{ExportFormat, write_export};
pub(crate) use text::plural;

/// The form of a report other than that of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs: `smgate/diff/1`, `smgate/find/1`, `smgate/inspect/1` or `smgate/facts/1`.
    Json,
}

/// How a report for people looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HumanOptions {
    /// Whether to use colours.
    pub colour: bool,
    /// Whether to show findings without effect, and every target of every library.
    pub verbose: bool,
    /// Whether to write the results alone, without findings.
    pub quiet: bool,
    /// Whether to list what an image ships and never uses.
    pub wasted: bool,
    /// Columns of the terminal, at which long sentences are wrapped; none where there is no terminal.
    pub width: Option<usize>,
}

impl HumanOptions {
    /// Options with or without colours and details.
    pub fn new(colour: bool, verbose: bool) -> Self {
        Self {
            colour,
            verbose,
            quiet: false,
            wasted: false,
            width: None,
        }
    }

    /// With colours, or without.
    #[must_use]
    pub fn with_colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// Writes the results alone, or all of the report.
    #[must_use]
    pub fn with_quiet(self, quiet: bool) -> Self {
        Self { quiet, ..self }
    }

    /// Lists what an image ships and never uses.
    #[must_use]
    pub fn with_wasted(self, wasted: bool) -> Self {
        Self { wasted, ..self }
    }

    /// Wraps long sentences at `width` columns, where there is a terminal.
    #[must_use]
    pub fn with_width(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }
}

/// Writes the result of `diff`.
///
/// # Errors
///
/// What writing to `out` gives.
pub fn write_diff(
    comparison: &Comparison,
    format: Format,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Human => diff::write(comparison, options, out),
        Format::Json => {
            let json = diff::document::to_json(comparison).map_err(io::Error::other)?;
            writeln!(out, "{json}")
        }
    }
}

/// Writes the result of `find`.
///
/// # Errors
///
/// What writing to `out` gives.
pub fn write_find(
    found: &Found,
    format: Format,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Human => find::write(found, options, out),
        Format::Json => {
            let json = find::document::to_json(found).map_err(io::Error::other)?;
            writeln!(out, "{json}")
        }
    }
}

/// Writes the result of `inspect`.
///
/// # Errors
///
/// What writing to `out` gives.
pub fn write_inspect(
    inventory: &Inventory,
    format: Format,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Human => inspect::write(inventory, options, out),
        Format::Json => {
            let json = to_json(inventory).map_err(io::Error::other)?;
            writeln!(out, "{json}")
        }
    }
}

/// Writes the answer of `facts`.
///
/// # Errors
///
/// What writing to `out` gives.
pub fn write_facts(
    answer: &Answer,
    format: Format,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Human => facts::write(answer, options, out),
        Format::Json => {
            let json = serde_json::to_string_pretty(answer).map_err(io::Error::other)?;
            writeln!(out, "{}", in_json(json))
        }
    }
}
