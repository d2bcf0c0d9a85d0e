//! Errors of CUDA and of frameworks on it: from what people paste to what it means.
//!
//! Numbers and texts are facts of this table; which rule sees the cause before an installation is a code of
//! `rule`. How a pasted text is compared is in [`text`].

mod text;

use serde::{Deserialize, Deserializer, Serialize};

use super::rows::Evidence;
use super::spelling;
use super::yaml::{self, Sources};
use crate::error::Error;
use crate::rule::Code;

pub(super) use text::Pattern;
use text::{Pasted, numbers_of, windows};

const FILE: &str = "errors.yaml";

/// An error as one of CUDA's interfaces numbers and names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ApiError {
    /// Its number: 209.
    pub number: u16,
    /// Its name: `cudaErrorNoKernelImageForDevice`.
    pub name: String,
}

impl<'de> Deserialize<'de> for ApiError {
    /// Reads `209 cudaErrorNoKernelImageForDevice`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parts = text.split_once(' ');
        parts
            .and_then(|(number, name)| Some((number.parse().ok()?, name.trim())))
            .filter(|(_, name)| !name.is_empty() && !name.contains(' '))
            .map(|(number, name)| Self {
                number,
                name: name.to_owned(),
            })
            .ok_or_else(|| serde::de::Error::custom("write a number and a name"))
    }
}

/// An error, what it means, and which rules see its cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ErrorRow {
    /// A short name of our own.
    pub id: String,
    /// Its number and name in the runtime API.
    pub runtime: Option<ApiError>,
    /// Its number and name in the driver API.
    pub driver: Option<ApiError>,
    /// The number that the runtime API gave it before CUDA 10.1.
    pub was: Option<u16>,
    /// Fragments as printed, with `{n}`, `{v}`, `{w}` and `{*}` for what changes.
    #[serde(default)]
    pub texts: Vec<String>,
    /// What it says, in one line.
    pub meaning: String,
    /// What is behind it.
    pub cause: String,
    /// How to tell which of several causes it is.
    pub tell: Option<String>,
    /// The rules that see the cause before an installation; empty where none can.
    #[serde(default, deserialize_with = "yaml::words")]
    pub codes: Vec<Code>,
    /// How numbers and texts are known.
    pub evidence: Evidence,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// How what it means, what is behind it and how to tell are known.
    pub advised: Evidence,
    /// Where that comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub advice: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

impl ErrorRow {
    fn apis(&self) -> impl Iterator<Item = &ApiError> {
        self.runtime.iter().chain(&self.driver)
    }
}

/// Words of a text that was cut short from which on it says something.
const PART_WORDS: usize = 3;
/// Bytes of the longest text that may be one.
const PART_MAX: usize = 200;

/// By what a pasted text was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchedBy {
    /// A number, of the present interfaces or of the old runtime.
    Number(u16),
    /// A name, of CUDA or of our own.
    Name(String),
    /// A fragment of its text, as it was pasted.
    Text(String),
}

/// An error that a pasted text may be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorMatch<'a> {
    /// The error.
    pub row: &'a ErrorRow,
    /// By what it was recognised.
    pub by: MatchedBy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    errors: Vec<ErrorRow>,
}

/// The table of errors.
#[derive(Debug)]
pub(super) struct ErrorTable {
    pub(super) as_of: String,
    pub(super) rows: Vec<ErrorRow>,
}

impl ErrorTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        let rows = file.errors.iter_mut();
        for source in rows.flat_map(|row| row.sources.iter_mut().chain(&mut row.advice)) {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        Ok(Self {
            as_of: file.as_of,
            rows: file.errors,
        })
    }

    /// What `pasted` may be, the surest first: by text, where more of it counts more, then by number.
    pub(super) fn find(&self, pasted: &str) -> Vec<ErrorMatch<'_>> {
        let texts: Vec<Pasted> = windows(pasted).map(Pasted::new).collect();
        let numbers: Vec<u16> = texts.iter().flat_map(numbers_of).collect();
        let mut found: Vec<(usize, ErrorMatch<'_>)> = self
            .rows
            .iter()
            .filter_map(|row| {
                let texts = texts.iter().find_map(|text| by_text(row, text));
                let (weight, by) = texts.or_else(|| by_number(row, &numbers))?;
                Some((weight, ErrorMatch { row, by }))
            })
            .collect();
        if found.is_empty() {
            return self.by_part(pasted).into_iter().collect();
        }
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.row.id.cmp(&b.1.row.id)));
        found.into_iter().map(|(_, found)| found).collect()
    }

    /// The one error of which `pasted` is a part of the text, at least some words of it.
    fn by_part(&self, pasted: &str) -> Option<ErrorMatch<'_>> {
        let part = pasted.trim();
        if part.len() > PART_MAX || part.split_whitespace().count() < PART_WORDS {
            return None;
        }
        let part = part.to_lowercase();
        let has = |text: &String| text.to_lowercase().contains(&part);
        let mut rows = self.rows.iter().filter(|row| row.texts.iter().any(has));
        let row = rows.next().filter(|_| rows.next().is_none())?;
        let by = MatchedBy::Text(pasted.trim().to_owned());
        Some(ErrorMatch { row, by })
    }

    /// Names that are spelt much like `name`.
    pub(super) fn nearest(&self, name: &str) -> Vec<String> {
        let names = self.rows.iter().flat_map(|row| {
            let apis = row.apis().map(|api| api.name.clone());
            apis.chain([row.id.clone()])
        });
        let name = name.to_lowercase();
        spelling::nearest(
            &name,
            names.map(|shown| (shown.clone(), shown.to_lowercase())),
        )
    }
}

/// A match by the longest text or name, and how much of it was literal.
fn by_text(row: &ErrorRow, pasted: &Pasted) -> Option<(usize, MatchedBy)> {
    let text = |pattern: &String| {
        let pattern = Pattern::new(pattern);
        let found = pattern.find(pasted)?;
        Some((pattern.literal(), MatchedBy::Text(found)))
    };
    let name = |name: &String| {
        let found = pasted.has_word(name);
        found.then(|| (name.len(), MatchedBy::Name(name.clone())))
    };
    let id = pasted
        .is(&row.id)
        .then(|| (row.id.len(), MatchedBy::Name(row.id.clone())));
    let texts = row.texts.iter().filter_map(text);
    let names = row.apis().filter_map(|api| name(&api.name));
    texts
        .chain(names)
        .chain(id)
        .max_by_key(|(weight, _)| *weight)
}

fn by_number(row: &ErrorRow, numbers: &[u16]) -> Option<(usize, MatchedBy)> {
    let present = |number: &&u16| row.apis().any(|api| api.number == **number);
    if let Some(number) = numbers.iter().find(present) {
        return Some((1, MatchedBy::Number(*number)));
    }
    let old = numbers.iter().find(|number| row.was == Some(**number))?;
    Some((0, MatchedBy::Number(*old)))
}

#[cfg(test)]
mod tests;
