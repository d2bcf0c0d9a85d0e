//! Errors that people paste: what each means, what may be behind it, and what sees it before an installation.

use std::io::{self, Write};

use crate::cuda::SmTarget;
use crate::escape::visible;
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
        writeln!(out, "  rules        no rule of `check` sees this cause")?;
        return writeln!(
            out,
            "  next: `smgate inspect PACKAGE.whl` lists what the package holds and which CUDA libraries it needs; \
             `smgate facts error {}` has the sources",
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

/// The capability of the GPU that the text names: `capability sm_120`, `compute capability 12.0`,
/// `sm_120 is not compatible`.
fn capability_in(text: &str, tables: &Tables) -> Option<String> {
    let lower = text.to_lowercase();
    let behind = lower.split("capability ").skip(1);
    let before = lower
        .split(" is not compatible")
        .filter(|_| lower.contains(" is not compatible"));
    let words = behind.filter_map(|rest| rest.split_whitespace().next());
    let words = words.chain(before.filter_map(|rest| rest.split_whitespace().next_back()));
    let mut known = words.filter_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let cc = match word.strip_prefix("sm_") {
            Some(_) => word.parse::<SmTarget>().ok()?.cc,
            None => word.parse().ok()?,
        };
        tables.capability(cc).map(|row| row.cc.to_string())
    });
    known.next()
}
