//! The answer of `facts` for people: each value with how it is known and where it comes from.

use std::io::{self, Write};

use super::style::Styles;
use super::text::{wrapped, write_tables};
use super::{HumanOptions, visible};
use crate::facts::{Answer, Candidate, Fact, Status};
use crate::tables::Evidence;

/// Columns of the names.
const NAMES: usize = 26;
/// Candidates that are listed.
const CANDIDATES: usize = 24;

/// Writes the answer.
pub(super) fn write(answer: &Answer, options: HumanOptions, out: &mut dyn Write) -> io::Result<()> {
    let styles = Styles::new(options.colour);
    let noun = answer.kind.noun();
    let name = answer.name.as_ref().unwrap_or(&answer.asked);
    let name = styles.bold(visible(name));
    if answer.status == Status::Ambiguous {
        writeln!(out, "{name}  {}", styles.dim(format!("{noun}, ambiguous")))?;
        write_candidates(&answer.candidates, out)?;
        let by_id = answer
            .candidates
            .iter()
            .any(|candidate| candidate.pci.is_some());
        let next = if by_id {
            "ask by the PCI id that `lspci -nn -d 10de:` or `nvidia-smi -q` prints: `smgate facts pci 10de:....`"
        } else {
            "ask for one of these"
        };
        return writeln!(out, "  {} {next}", styles.bold("next:"));
    }
    writeln!(out, "{name}  {}", styles.dim(noun))?;
    let mut sources: Vec<&str> = Vec::new();
    for fact in &answer.facts {
        let mut marks = Vec::new();
        for source in &fact.sources {
            let known = sources.iter().position(|known| known == source);
            let at = known.unwrap_or_else(|| {
                sources.push(source);
                sources.len() - 1
            });
            marks.push(format!("[{}]", at + 1));
        }
        write_fact(fact, &marks.join(""), options.width, out)?;
    }
    if !answer.candidates.is_empty() {
        let names = answer.candidates.iter().map(|other| other.name.as_str());
        let names: Vec<&str> = names.collect();
        write_line("also", &names.join(", "), options.width, out)?;
    }
    writeln!(out, "{}", styles.bold("Sources"))?;
    for (index, source) in sources.iter().enumerate() {
        writeln!(out, "  [{}] {}", index + 1, visible(source))?;
    }
    write_tables(&answer.tables, styles, out)
}

fn write_fact(
    fact: &Fact,
    marks: &str,
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let none = if fact.name.starts_with("last-") {
        "none so far"
    } else {
        "none"
    };
    let value = match &fact.value {
        None => "unknown".to_owned(),
        Some(values) if values.is_empty() => none.to_owned(),
        Some(values) => values.join(", "),
    };
    let evidence = fact.evidence.map(Evidence::id).unwrap_or_default();
    let known = format!("{evidence} {marks}");
    let overlay = if fact.overlay {
        ", from the overlay"
    } else {
        ""
    };
    let known = match known.trim() {
        "" => String::new(),
        known => format!(" ({known}{overlay})"),
    };
    let text = format!("{}{known}", visible(&value));
    write_line(&fact.name.replace('-', " "), &text, width, out)?;
    match &fact.note {
        Some(note) => write_line("", &format!("note: {}", visible(note)), width, out),
        None => Ok(()),
    }
}

fn write_candidates(candidates: &[Candidate], out: &mut dyn Write) -> io::Result<()> {
    for candidate in candidates.iter().take(CANDIDATES) {
        let or_unknown = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
        let id = candidate.pci.as_deref().unwrap_or_default();
        let chip = candidate.chip.as_deref().unwrap_or_default();
        let line = format!(
            "{id:<10} {:<5} {}  {chip}",
            or_unknown(&candidate.cc),
            candidate.name
        );
        writeln!(out, "  {}", visible(line.trim_end()))?;
    }
    let more = candidates.len().saturating_sub(CANDIDATES);
    if more > 0 {
        writeln!(out, "  and {more} more (`--format json` lists all)")?;
    }
    Ok(())
}

/// A name and a text behind it.
fn write_line(name: &str, text: &str, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {name:<NAMES$}{}", wrapped(text, NAMES + 2, width))
}
