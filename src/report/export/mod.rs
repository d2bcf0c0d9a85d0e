//! Artifacts for others, from what content needs: a requirement of container tools, a compatibility specification
//! for Kubernetes nodes, a bill of materials.
//!
//! Equal inputs give equal bytes: nothing holds a time or a random number.

mod cyclonedx;
mod nfd;
mod require;

use std::io::{self, Write};

use crate::export::Needs;
use crate::inventory::Inventory;
use crate::tables::Tables;

use super::text::plural;
use super::visible;

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// `ENV NVIDIA_REQUIRE_CUDA="…"` with the reasons as comments, for a Dockerfile.
    RequireCuda,
    /// The values of `NVIDIA_REQUIRE_CUDA` alone, a line for each artifact.
    RequireCudaValue,
    /// An image compatibility specification of Node Feature Discovery, as YAML.
    Nfd,
    /// A bill of materials in the JSON form of `CycloneDX` 1.6.
    CycloneDx,
}

/// Writes what `needs`, of the artifacts of `inventory` in their order, come to; remarks for people go to `remarks`,
/// where the form has no place for them.
///
/// # Errors
///
/// What writing gives.
pub fn write_export(
    inventory: &Inventory,
    needs: &[Needs],
    tables: &Tables,
    format: ExportFormat,
    out: &mut dyn Write,
    remarks: &mut dyn Write,
) -> io::Result<()> {
    match format {
        ExportFormat::RequireCuda => require::write(inventory, needs, tables, out),
        ExportFormat::RequireCudaValue => {
            require::write_values(inventory, needs, tables, out, remarks)
        }
        ExportFormat::Nfd => nfd::write(inventory, needs, tables, out),
        ExportFormat::CycloneDx => {
            let json = cyclonedx::to_json(inventory, needs).map_err(io::Error::other)?;
            writeln!(out, "{json}")
        }
    }
}

/// That content asks for nothing, as far as it was read; `so` is what follows.
fn nothing_found(needs: &Needs, so: &str) -> String {
    let seen = if needs.is_incomplete() {
        "was found in what was read"
    } else {
        "was found"
    };
    format!("no device code and nothing that links CUDA {seen}: {so}")
}

/// What was not read, where there is any.
fn not_read(needs: &Needs) -> Option<String> {
    let problems = plural(needs.problems as u64, "problem");
    let packages = plural(needs.unread as u64, "package");
    let what = match (needs.problems, needs.unread) {
        (0, 0) => return None,
        (_, 0) => format!("{problems} while reading"),
        (0, _) => format!("what is in {packages}"),
        _ => format!("{problems} while reading, and what is in {packages}"),
    };
    Some(format!(
        "not known: {what}, so that more may be needed; `smgate inspect` names them"
    ))
}

/// Columns of a comment.
const WIDTH: usize = 100;

/// A sentence as lines of a comment, `# ` before each; made harmless.
fn comment(text: &str) -> String {
    let lines = super::text::wrapped(&visible(text), 2, Some(WIDTH));
    format!("# {}\n", lines.replace("\n  ", "\n# "))
}
