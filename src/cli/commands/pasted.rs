//! Errors that people paste: what each means, what may be behind it, and what sees it before an installation.

use std::io::{self, Write};

use crate::report::visible;
use crate::tables::{ErrorMatch, MatchedBy, Tables};

/// Errors of one log that are explained.
const SHOWN: usize = 8;

/// Explains the errors in `text`; false where none is known.
pub(super) fn write(text: &str, tables: &Tables, out: &mut impl Write) -> io::Result<bool> {
    let mut found = tables.errors(text);
    // a number in a log is a guess beside an error that prints its text
    if found.iter().any(|found| !is_number(found)) {
        found.retain(|found| !is_number(found));
    }
    let target = capability_in(text, tables);
    for (index, found) in found.iter().take(SHOWN).enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_error(found, target.as_deref(), out)?;
    }
    if let Some(more) = found.get(SHOWN..).filter(|more| !more.is_empty()) {
        let names: Vec<&str> = more.iter().map(|found| found.row.id.as_str()).collect();
        writeln!(out, "\nalso: {}", names.join(", "))?;
    }
    Ok(!found.is_empty())
}

fn is_number(found: &ErrorMatch<'_>) -> bool {
    matches!(found.by, MatchedBy::Number(_))
}

fn write_error(
    found: &ErrorMatch<'_>,
    target: Option<&str>,
    out: &mut impl Write,
) -> io::Result<()> {
    let row = found.row;
    writeln!(out, "{}: {}", row.id, row.meaning)?;
    let by = match &found.by {
        MatchedBy::Number(number) => format!("error number {number}"),
        MatchedBy::Name(name) => format!("`{name}`"),
        MatchedBy::Text(text) => format!("`{}`", visible(text)),
    };
    writeln!(out, "  seen         {by}")?;
    for (api, error) in [("runtime API", &row.runtime), ("driver API", &row.driver)] {
        if let Some(error) = error {
            writeln!(out, "  {api:<12} {} {}", error.number, error.name)?;
        }
    }
    writeln!(out, "  causes       {}", row.cause)?;
    if let Some(tell) = &row.tell {
        writeln!(out, "  how to tell  {tell}")?;
    }
    if row.codes.is_empty() {
        writeln!(out, "  rules        none: it is not in the package")?;
        return writeln!(
            out,
            "  next: `smgate facts error {}` has the sources",
            row.id
        );
    }
    for code in &row.codes {
        writeln!(out, "  rule         {code}: {}", code.title())?;
    }
    let target = target.unwrap_or("GPU");
    writeln!(
        out,
        "  next: `smgate check PACKAGE.whl --target {target} --driver DRIVER` says it before an installation; \
         `smgate check SITE-PACKAGES --target {target} --driver DRIVER` says which installed library it is"
    )
}

/// The capability of the GPU that the text names: `capability sm_120 is not`, `compute capability 12.0`.
fn capability_in(text: &str, tables: &Tables) -> Option<String> {
    let lower = text.to_lowercase();
    let (_, behind) = lower.split_once("capability ")?;
    let word = behind.split_whitespace().next()?;
    let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let cc = word
        .parse()
        .or_else(|_| word.parse().map(|target: crate::cuda::SmTarget| target.cc));
    let cc = cc.ok()?;
    tables.capability(cc).map(|row| row.cc.to_string())
}
