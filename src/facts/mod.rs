//! Answers from the tables: what people look up by hand about GPUs, toolkits, drivers and errors.
//!
//! Every value comes with its sources and how it is known, and what no row says is unknown. What follows from
//! rows is asked of `compat`. Nothing here knows artifacts or policies. Only the tables that an answer needs
//! are parsed.

mod arch;
mod driver;
mod error;
mod gpu;
mod instance;
mod toolkit;

use serde::Serialize;

use crate::tables::{Evidence, Origin, Tables, nearest};

/// What is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// A GPU by a name.
    Gpu,
    /// A PCI device by its id.
    Pci,
    /// An sm target, a compute capability or the name of an architecture.
    Arch,
    /// A CUDA toolkit.
    Toolkit,
    /// A driver or a driver branch.
    Driver,
    /// A PTX ISA version.
    Ptx,
    /// A cloud instance type.
    Instance,
    /// An error by its text, name or number.
    Error,
}

impl Kind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Gpu,
        Self::Pci,
        Self::Arch,
        Self::Toolkit,
        Self::Driver,
        Self::Ptx,
        Self::Instance,
        Self::Error,
    ];

    /// What it is called in sentences.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Gpu => "GPU",
            Self::Pci => "PCI device",
            Self::Arch => "architecture",
            Self::Toolkit => "CUDA toolkit",
            Self::Driver => "driver",
            Self::Ptx => "PTX ISA version",
            Self::Instance => "instance type",
            Self::Error => "error",
        }
    }
}

/// Whether a look-up has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has.
    Found,
    /// The name stands for several things; the candidates are named.
    Ambiguous,
    /// No row has the name.
    Unknown,
}

/// A value with what it is known by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fact {
    /// What it is a value of, as a stable name: `first-toolkit`.
    pub name: &'static str,
    /// The value; none where it is unknown, empty where there is nothing of the kind so far.
    pub value: Option<Vec<String>>,
    /// How it is known; none where the row does not say.
    pub evidence: Option<Evidence>,
    /// Where it comes from.
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
    /// Whether it is of a row that the user's overlay adds or replaces.
    pub overlay: bool,
}

/// One of the things that a name may stand for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Its name, by which it is found alone.
    pub name: String,
    /// Its compute capability; none where unknown.
    pub cc: Option<String>,
    /// Its chip.
    pub chip: Option<String>,
    /// Its PCI id.
    pub pci: Option<String>,
}

/// The answer to one look-up: `smgate/facts/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The name and version of this form.
    pub schema: &'static str,
    /// What was looked up.
    pub kind: Kind,
    /// The name as it was asked for.
    pub asked: String,
    /// Whether there is an answer.
    pub status: Status,
    /// The name as the tables have it.
    pub name: Option<String>,
    /// The facts, in a fixed order.
    pub facts: Vec<Fact>,
    /// What the name may stand for, where it is ambiguous; other errors that a pasted text holds.
    pub candidates: Vec<Candidate>,
    /// Names that are spelt much like one that is unknown, the nearest first.
    pub nearest: Vec<String>,
    /// The tables.
    pub tables: Origin,
}

/// Looks up what `name` of `kind` is.
pub fn look_up(kind: Kind, name: &str, tables: &Tables) -> Answer {
    let found = match kind {
        Kind::Gpu => gpu::by_name(name, tables),
        Kind::Pci => gpu::by_id(name, tables),
        Kind::Arch => arch::find(name, tables),
        Kind::Toolkit => toolkit::toolkit(name, tables),
        Kind::Driver => driver::driver(name, tables),
        Kind::Ptx => toolkit::ptx(name, tables),
        Kind::Instance => instance::instance(name, tables),
        Kind::Error => error::error(name, tables),
    };
    let (status, name_found, facts, candidates, nearest) = match found {
        Found::One {
            name,
            facts,
            others,
        } => (Status::Found, Some(name), facts, others, Vec::new()),
        Found::Several { name, candidates } => (
            Status::Ambiguous,
            Some(name),
            Vec::new(),
            candidates,
            Vec::new(),
        ),
        Found::None { nearest } => (Status::Unknown, None, Vec::new(), Vec::new(), nearest),
    };
    Answer {
        schema: "smgate/facts/1",
        kind,
        asked: name.to_owned(),
        status,
        name: name_found,
        facts,
        candidates,
        nearest,
        tables: tables.origin(),
    }
}

/// What a look-up gave.
enum Found {
    One {
        name: String,
        facts: Vec<Fact>,
        others: Vec<Candidate>,
    },
    Several {
        name: String,
        candidates: Vec<Candidate>,
    },
    None {
        nearest: Vec<String>,
    },
}

impl Found {
    fn one(name: impl Into<String>, facts: Vec<Fact>) -> Self {
        Self::One {
            name: name.into(),
            facts,
            others: Vec::new(),
        }
    }
}

/// The numbers next to `asked` where it is one, else those that are spelt much like `name`.
fn beside<T: Ord + Copy + ToString>(
    name: &str,
    asked: Option<T>,
    known: impl Iterator<Item = T>,
) -> Vec<String> {
    let mut known: Vec<T> = known.collect();
    known.sort_unstable();
    let Some(asked) = asked else {
        let name = name.to_uppercase();
        let names = known.iter().map(ToString::to_string);
        return nearest(&name, names.map(|name| (name.clone(), name)));
    };
    let below = known.iter().rfind(|known| **known <= asked);
    let above = known.iter().find(|known| **known > asked);
    below
        .into_iter()
        .chain(above)
        .map(ToString::to_string)
        .collect()
}

/// What the values of a row are known by.
#[derive(Debug, Clone)]
struct Ground {
    evidence: Option<Evidence>,
    sources: Vec<String>,
    note: Option<String>,
    overlay: bool,
}

impl Ground {
    fn new(evidence: Evidence, sources: &[String], note: Option<&String>) -> Self {
        Self {
            evidence: Some(evidence),
            sources: sources.to_vec(),
            note: note.cloned(),
            overlay: false,
        }
    }

    /// What follows from rows by a rule.
    fn rule(source: &str) -> Self {
        Self::new(Evidence::Derived, &[source.to_owned()], None)
    }

    fn overlaid(mut self, overlay: bool) -> Self {
        self.overlay = overlay;
        self
    }

    fn fact(&self, name: &'static str, value: Option<Vec<String>>) -> Fact {
        Fact {
            name,
            value,
            evidence: self.evidence,
            sources: self.sources.clone(),
            note: None,
            overlay: self.overlay,
        }
    }

    /// One value, or unknown.
    fn maybe(&self, name: &'static str, value: Option<impl ToString>) -> Fact {
        self.fact(name, value.map(|value| vec![value.to_string()]))
    }

    fn one(&self, name: &'static str, value: impl ToString) -> Fact {
        self.many(name, [value])
    }

    fn many(&self, name: &'static str, values: impl IntoIterator<Item = impl ToString>) -> Fact {
        let values = values.into_iter().map(|value| value.to_string());
        self.fact(name, Some(values.collect()))
    }

    /// The remark of the row, on the fact that it belongs to.
    fn noted(&self, mut fact: Fact) -> Fact {
        fact.note.clone_from(&self.note);
        fact
    }
}

#[cfg(test)]
mod tests;
