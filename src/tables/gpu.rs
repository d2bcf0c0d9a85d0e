//! GPUs by name: the table and how spellings of a name meet.
//!
//! Knows nothing of PCI look-ups, machines or policies. Spellings follow what `nvidia-smi` prints, what
//! documents write, and what people type; the steps are in [`GpuTable::find`].

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::rows::GpuRow;
use super::spelling;
use super::yaml::{self, Sources};
use crate::cuda::ComputeCapability;
use crate::error::Error;

const FILE: &str = "gpus.yaml";

/// Product lines that people leave out.
const LINES: [&str; 3] = ["geforce", "quadro", "tesla"];

/// How the table writes a part of less power, and a part of laptops.
const MAX_Q: &[&str] = &["with Max-Q Design", "Max-Q", "Max-Q Workstation Edition"];
const LAPTOP: &[&str] = &["Laptop GPU", "Mobile"];

/// What a GPU name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GpuLookup<'a> {
    /// One GPU, or several of the same capability, of which this is the first.
    Found(&'a GpuRow),
    /// The name covers GPUs of different capabilities.
    Ambiguous {
        /// The name as the table has it.
        name: String,
        /// The capabilities, in rising order.
        capabilities: Vec<ComputeCapability>,
    },
    /// No GPU has this name.
    Unknown {
        /// Up to three names that are spelt much like it, the nearest first.
        nearest: Vec<String>,
    },
}

/// A short name that people use for GPUs of different capabilities.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AmbiguousName {
    pub(super) name: String,
    #[serde(deserialize_with = "yaml::words")]
    pub(super) cc: Vec<ComputeCapability>,
    #[serde(deserialize_with = "yaml::words")]
    pub(super) sources: Vec<String>,
    /// Its name as it is looked up.
    #[serde(skip)]
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    ambiguous: Vec<AmbiguousName>,
    gpus: Vec<GpuRow>,
}

/// The table of GPUs with its index of names.
#[derive(Debug)]
pub(super) struct GpuTable {
    pub(super) as_of: String,
    pub(super) ambiguous: Vec<AmbiguousName>,
    pub(super) rows: Vec<GpuRow>,
    /// Normalised names and aliases, and the rows that have them.
    names: BTreeMap<String, Vec<usize>>,
    /// Normalised names without their product line, where that leaves a letter.
    short: BTreeMap<String, Vec<usize>>,
}

impl GpuTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        let sources = file.ambiguous.iter_mut().map(|row| &mut row.sources);
        for source in sources
            .chain(file.gpus.iter_mut().map(|row| &mut row.sources))
            .flatten()
        {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        Ok(Self::new(file.as_of, file.ambiguous, file.gpus))
    }

    /// The table of these rows, with its index.
    pub(super) fn new(as_of: String, mut ambiguous: Vec<AmbiguousName>, rows: Vec<GpuRow>) -> Self {
        for name in &mut ambiguous {
            name.key = words(&name.name).concat();
        }
        let mut names = BTreeMap::<_, Vec<_>>::new();
        let mut short = BTreeMap::<_, Vec<_>>::new();
        for (index, row) in rows.iter().enumerate() {
            let add = |map: &mut BTreeMap<String, Vec<usize>>, key: String| {
                let rows = map.entry(key).or_default();
                if rows.last() != Some(&index) {
                    rows.push(index);
                }
            };
            for name in std::iter::once(&row.name).chain(&row.aliases) {
                let words = words(name);
                if let Some(rest) = without_line(&words) {
                    add(&mut short, rest.concat());
                }
                add(&mut names, words.concat());
            }
        }
        Self {
            as_of,
            ambiguous,
            rows,
            names,
            short,
        }
    }

    /// Looks a name up: as it is, then as a vGPU profile, then without memory and form factor, then with the
    /// table's words for a part of laptops (`Max-Q`, `Mobile`), which is never taken for the desktop part.
    ///
    /// Case, blanks, hyphens and underscores do not count, `NVIDIA` in front and a MIG profile behind are
    /// dropped, and the product line (`GeForce`, `Quadro`, `Tesla`) may be left out.
    pub(super) fn find(&self, name: &str) -> GpuLookup<'_> {
        let mut words = words(name);
        if let Some(at) = words.iter().position(|word| word == "mig") {
            words.truncate(at.max(1));
        }
        if let Some(found) = self.exact(&words) {
            return found;
        }
        if let Some(found) = vgpu(&words).and_then(|gpu| self.exact(&gpu)) {
            return found;
        }
        let mut rest = words.as_slice();
        while let Some(shorter) = without_suffix(rest) {
            if let Some(found) = self.exact(shorter) {
                return found;
            }
            rest = shorter;
        }
        let (model, forms) = without_mobile_form(&words);
        let spelled = |form: &&str| self.exact(&[model, &self::words(form)].concat());
        if let Some(found) = forms.iter().find_map(spelled) {
            return found;
        }
        let mut nearest = self.nearest(&words.concat());
        if !forms.is_empty() {
            // since GeForce RTX 30 the table has one name for both
            for other in [MAX_Q, LAPTOP].concat().iter().filter_map(spelled) {
                if let GpuLookup::Found(row) = other {
                    nearest.retain(|name| *name != row.name);
                    nearest.insert(0, row.name.clone());
                }
            }
            nearest.truncate(3);
        }
        GpuLookup::Unknown { nearest }
    }

    fn exact(&self, words: &[String]) -> Option<GpuLookup<'_>> {
        let key = words.concat();
        if let Some(row) = self.ambiguous.iter().find(|row| row.key == key) {
            return Some(GpuLookup::Ambiguous {
                name: row.name.clone(),
                capabilities: row.cc.clone(),
            });
        }
        let mut rows = self.of_words(words);
        let first = rows.next()?;
        let capabilities: BTreeSet<_> = rows
            .flat_map(|row| &row.cc)
            .chain(&first.cc)
            .copied()
            .collect();
        Some(if capabilities.len() > 1 {
            GpuLookup::Ambiguous {
                name: first.name.clone(),
                capabilities: capabilities.into_iter().collect(),
            }
        } else {
            GpuLookup::Found(first)
        })
    }

    /// The rows with exactly this name.
    fn of_words(&self, words: &[String]) -> impl Iterator<Item = &GpuRow> {
        let key = words.concat();
        // `Quadro K620` as `K620`, and `Tesla V100` though the table has `V100`
        let indices = self.names.get(&key).or_else(|| self.short.get(&key));
        let indices = indices.or_else(|| self.names.get(&without_line(words)?.concat()));
        let indices = indices.into_iter().flatten();
        indices.filter_map(|&index| self.rows.get(index))
    }

    /// The rows that an ambiguous name may mean: those that have it, or whose names hold its words in order.
    pub(super) fn candidates(&self, name: &str) -> Vec<&GpuRow> {
        let words = words(name);
        let mut rest = words.as_slice();
        loop {
            let key = rest.concat();
            let spoken = |row: &&AmbiguousName| row.key == key;
            if let Some(spoken) = self.ambiguous.iter().find(spoken) {
                let wanted = self::words(&spoken.name);
                let meant = |row: &&GpuRow| {
                    let mut words = self::words(&row.name).into_iter();
                    wanted.iter().all(|word| words.any(|other| other == *word))
                        && row.cc.iter().any(|cc| spoken.cc.contains(cc))
                };
                return self.rows.iter().filter(meant).collect();
            }
            let rows: Vec<&GpuRow> = self.of_words(rest).collect();
            match without_suffix(rest) {
                Some(shorter) if rows.is_empty() => rest = shorter,
                _ => return rows,
            }
        }
    }

    /// The names that are spelt most like `key`, at most three.
    fn nearest(&self, key: &str) -> Vec<String> {
        let scored = self.names.iter().filter_map(|(name, rows)| {
            let short = LINES.iter().find_map(|line| name.strip_prefix(line));
            let score = |name| spelling::likeness(key, name);
            let score = score(name).max(short.map_or(0.0, score));
            let row = rows.first().and_then(|&index| self.rows.get(index))?;
            Some((score, row.name.clone()))
        });
        spelling::best(scored)
    }
}

/// The parts of a name in lower case, without `NVIDIA` in front.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = name
        .split(|c: char| c.is_whitespace() || c == '-' || c == '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let vendor = words.iter().take_while(|word| *word == "nvidia").count();
    words.drain(..vendor.min(words.len().saturating_sub(1)));
    words
}

/// The name without its product line; `Quadro 4000` is no `4000`, which says nothing by itself.
fn without_line(words: &[String]) -> Option<&[String]> {
    let (line, rest) = words.split_first()?;
    let letter = rest
        .iter()
        .any(|word| word.bytes().any(|b| b.is_ascii_alphabetic()));
    (LINES.contains(&line.as_str()) && letter).then_some(rest)
}

/// The GPU of a vGPU profile: `GRID A100-10C`, `NVIDIA A10-24Q`, `GRID A100-1-5CME`.
fn vgpu(words: &[String]) -> Option<Vec<String>> {
    let (profile, rest) = words.split_last()?;
    let size = profile.strip_suffix("me").unwrap_or(profile);
    let size = size.strip_suffix(['q', 'c', 'a', 'b'])?;
    if !is_number(size) {
        return None;
    }
    let rest = match rest {
        [rest @ .., slices] if slices.len() == 1 && is_number(slices) => rest,
        _ => rest,
    };
    let grid = rest.first().is_some_and(|word| word == "grid");
    Some(rest.iter().skip(usize::from(grid)).cloned().collect())
}

/// The name without one memory or form-factor word at its end: `80GB`, `80 GB`, `SXM4`, `PCIe`, `HBM3e`, `NVL72`.
fn without_suffix(words: &[String]) -> Option<&[String]> {
    let (last, rest) = words.split_last()?;
    if rest.is_empty() {
        return None;
    }
    if last == "gb" {
        return rest.split_last().filter(|(n, _)| is_number(n)).map(|s| s.1);
    }
    let memory = last
        .strip_suffix("gb")
        .or_else(|| last.strip_suffix('g'))
        .is_some_and(is_number);
    let numbered = ["sxm", "hbm", "nvl"].iter().any(|form| {
        last.strip_prefix(form)
            .is_some_and(|n| n.is_empty() || is_number(n.strip_suffix('e').unwrap_or(n)))
    });
    (memory || numbered || matches!(last.as_str(), "pcie" | "cnx")).then_some(rest)
}

/// The name without what people write for a part of laptops or of less power, and how the table may write that.
fn without_mobile_form(words: &[String]) -> (&[String], &'static [&'static str]) {
    let ends: [(&[&str], _); 7] = [
        (&["max", "q"], MAX_Q),
        (&["maxq"], MAX_Q),
        (&["max", "q", "design"], MAX_Q),
        (&["laptop", "gpu"], LAPTOP),
        (&["laptop"], LAPTOP),
        (&["mobile", "gpu"], LAPTOP),
        (&["mobile"], LAPTOP),
    ];
    for (end, forms) in ends {
        let at = words.len().saturating_sub(end.len());
        let (model, last) = words.split_at(at);
        if !model.is_empty() && last.iter().eq(end) {
            return (model, forms);
        }
    }
    (words, &[])
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests;
