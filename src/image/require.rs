//! `NVIDIA_REQUIRE_*`: what an image asks of driver and GPU, as the tools that enforce it read it.
//!
//! A value is terms with blanks between them, of which one must hold; a term is factors with commas between
//! them, which all must hold; a factor is a property, an operator and a value. All variables must hold. Two
//! tools read this and differ: `nvidia-container-cli` (`dsl.c` of
//! <https://github.com/NVIDIA/libnvidia-container>) and `nvidia-container-runtime` (`internal/requirements` of
//! <https://github.com/NVIDIA/nvidia-container-toolkit>). What one of them refuses is kept and says by whom.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// A tool that enforces requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// `nvidia-container-cli`, behind `docker run --gpus`.
    Cli,
    /// `nvidia-container-runtime` in its csv mode, on Tegra.
    Runtime,
}

impl Tool {
    /// Its name.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Cli => "nvidia-container-cli",
            Self::Runtime => "nvidia-container-runtime",
        }
    }
}

/// Numbers with dots between them, of any length; a missing one counts as zero.
#[derive(Debug, Clone)]
pub struct Numbers(Vec<u64>);

impl Numbers {
    /// These numbers.
    pub fn new(numbers: impl IntoIterator<Item = u64>) -> Self {
        Self(numbers.into_iter().collect())
    }

    /// Reads `12.8` and `570.86.10`; dots may repeat, as `nvidia-container-cli` has it.
    pub fn parse(text: &str) -> Option<Self> {
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let parts = text.split('.').filter(|part| !part.is_empty());
        let digits = |part: &str| {
            let plain = part.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| part.parse().ok()).flatten()
        };
        parts.map(digits).collect::<Option<_>>().map(Self)
    }
}

impl Ord for Numbers {
    fn cmp(&self, other: &Self) -> Ordering {
        let len = self.0.len().max(other.0.len());
        let padded = |numbers: &Self| {
            let zeros = std::iter::repeat(0);
            numbers.0.clone().into_iter().chain(zeros).take(len)
        };
        padded(self).cmp(padded(other))
    }
}

impl PartialOrd for Numbers {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Numbers {}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

/// A property that is a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// The CUDA version that the host's driver reports.
    Cuda,
    /// The version of the host's kernel driver.
    Driver,
    /// The compute capability of the GPU.
    Arch,
}

impl Property {
    /// The name in requirements.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Driver => "driver",
            Self::Arch => "arch",
        }
    }
}

/// An operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compare {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// What a factor asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// A version in a relation to a value.
    Version(Property, Compare, Numbers),
    /// The brand of the GPU, or any other, in lower case.
    Brand {
        /// Whether it must be this one.
        is: bool,
        /// The brand.
        brand: String,
    },
    /// A property that no tool knows.
    Unknown(String),
    /// Something else; why it is not understood.
    Malformed(&'static str),
}

/// One condition: `driver>=470`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// As written.
    pub text: String,
    /// What it asks.
    pub test: Test,
    /// The tools that refuse the whole variable because of it.
    pub refused_by: Vec<Tool>,
}

/// Conditions that all must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As written: `brand=tesla,driver>=470,driver<471`.
    pub text: String,
    /// Its conditions.
    pub factors: Vec<Factor>,
}

/// One variable: terms of which one must hold. Without terms it asks nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The variable that it is from: `NVIDIA_REQUIRE_CUDA`, or `CUDA_VERSION` where it is implied.
    pub variable: String,
    /// The terms, as written from left to right.
    pub terms: Vec<Term>,
}

impl Requirement {
    /// Reads the value of a variable.
    pub fn parse(variable: &str, value: &str) -> Self {
        let terms = value.split(' ').filter_map(|text| {
            let factors: Vec<Factor> = text
                .split(',')
                .filter(|factor| !factor.trim().is_empty())
                .map(Factor::parse)
                .collect();
            (!factors.is_empty()).then(|| Term {
                text: text.to_owned(),
                factors,
            })
        });
        Self {
            variable: variable.to_owned(),
            terms: terms.collect(),
        }
    }

    /// The conditions that `tool` refuses.
    pub fn refused_by(&self, tool: Tool) -> impl Iterator<Item = &Factor> {
        let factors = self.terms.iter().flat_map(|term| &term.factors);
        factors.filter(move |factor| factor.refused_by.contains(&tool))
    }

    /// Whether it is implied by `CUDA_VERSION`.
    pub fn is_implied(&self) -> bool {
        self.variable == CUDA_VERSION
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<&str> = self.terms.iter().map(|term| term.text.as_str()).collect();
        write!(f, "{}={}", self.variable, terms.join(" "))
    }
}

impl Factor {
    fn parse(text: &str) -> Self {
        let (test, refused_by) = read(text);
        Self {
            text: text.to_owned(),
            test,
            refused_by,
        }
    }
}

/// What a condition asks, and who refuses it.
fn read(text: &str) -> (Test, Vec<Tool>) {
    let malformed = |why, by: &[Tool]| (Test::Malformed(why), by.to_vec());
    let is_operator = |c: char| matches!(c, '<' | '>' | '=' | '!');
    let Some(at) = text.find(is_operator) else {
        return malformed("there is no operator in it", &[Tool::Cli, Tool::Runtime]);
    };
    let (name, rest) = text.split_at(at);
    let value = rest.trim_start_matches(is_operator);
    let (operator, _) = rest.split_at(rest.len() - value.len());
    // the names are compared without regard to case by the first tool only
    let lower = name.to_ascii_lowercase();
    let skipped = lower != name;
    let property = match lower.as_str() {
        "cuda" => Some(Property::Cuda),
        "driver" => Some(Property::Driver),
        "arch" => Some(Property::Arch),
        "brand" => None,
        // the second tool skips it
        _ => return (Test::Unknown(name.to_owned()), vec![Tool::Cli]),
    };
    let compare = match operator {
        "=" => Compare::Equal,
        // what begins like it is taken for it by the first tool
        "!=" | "!" => Compare::NotEqual,
        "<" => Compare::Less,
        "<=" => Compare::LessEqual,
        ">" => Compare::Greater,
        ">=" => Compare::GreaterEqual,
        _ if property.is_none() => return malformed("its operator is none", &[Tool::Cli]),
        _ => return malformed("its operator is none", &[Tool::Cli, Tool::Runtime]),
    };
    let mut refused_by = Vec::new();
    if operator == "!" && !skipped {
        refused_by.push(Tool::Runtime);
    }
    let Some(property) = property else {
        let is = match compare {
            _ if value.is_empty() => return malformed("there is no value in it", &[Tool::Cli]),
            Compare::Equal => true,
            Compare::NotEqual => false,
            _ => return malformed("brands have no order", &[Tool::Cli]),
        };
        let brand = value.to_ascii_lowercase();
        return (Test::Brand { is, brand }, refused_by);
    };
    if !skipped && !is_semantic(value) && !refused_by.contains(&Tool::Runtime) {
        refused_by.push(Tool::Runtime);
    }
    if let Some(numbers) = Numbers::parse(value) {
        return (Test::Version(property, compare, numbers), refused_by);
    }
    refused_by.insert(0, Tool::Cli);
    (Test::Malformed("its value is no version"), refused_by)
}

/// Whether Go's `semver` takes a text for a version: up to three numbers without leading zeros. Suffixes of three
/// numbers are let through.
fn is_semantic(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, suffix) = text
        .find(['-', '+'])
        .map_or((text, ""), |at| text.split_at(at));
    let parts: Vec<&str> = numbers.split('.').collect();
    let number = |part: &&str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && (*part == "0" || !part.starts_with('0'))
    };
    let suffix_fits = suffix.is_empty() || parts.len() == 3;
    parts.len() <= 3 && parts.iter().all(number) && suffix_fits
}

/// The prefix of the variables.
pub(super) const PREFIX: &str = "NVIDIA_REQUIRE_";
/// Those that are no requirements: Jetson images name host mounts there.
pub(super) const EXCEPTED: &str = "NVIDIA_REQUIRE_JETPACK";
/// The variable that switches the checks off.
pub(super) const DISABLE: &str = "NVIDIA_DISABLE_REQUIRE";
/// The variable that implies a requirement where `NVIDIA_REQUIRE_CUDA` is unset or empty.
pub(super) const CUDA_VERSION: &str = "CUDA_VERSION";
const REQUIRE_CUDA: &str = "NVIDIA_REQUIRE_CUDA";

/// Everything that an image asks of driver and GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requirements {
    /// The variables in the order of their names, the implied one last; all must hold.
    pub all: Vec<Requirement>,
    /// Whether the image switches the checks off.
    pub disabled: bool,
    /// Whether it is an image of the old kind: `CUDA_VERSION` is set, and no `NVIDIA_REQUIRE_CUDA`.
    pub legacy: bool,
}

impl Requirements {
    /// Reads them out of an environment.
    pub(super) fn parse(env: &BTreeMap<&str, &str>) -> Self {
        let value = |name: &str| env.get(name).copied();
        let required = |name: &str| name.starts_with(PREFIX) && !name.starts_with(EXCEPTED);
        let mut all: Vec<Requirement> = env
            .iter()
            .filter(|(name, _)| required(name))
            .map(|(name, value)| Requirement::parse(name, value))
            .filter(|requirement| !requirement.terms.is_empty())
            .collect();
        let unset = value(REQUIRE_CUDA).is_none_or(str::is_empty);
        let version = value(CUDA_VERSION).filter(|version| unset && !version.is_empty());
        all.extend(version.map(implied));
        Self {
            all,
            disabled: value(DISABLE).is_some_and(is_true),
            legacy: version.is_some(),
        }
    }

    /// Those that are checked: none where the image switches the checks off.
    pub fn checked(&self) -> &[Requirement] {
        if self.disabled { &[] } else { &self.all }
    }
}

/// What Go's `strconv.ParseBool` takes for true.
fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "TRUE" | "true" | "True")
}

/// The requirement that `CUDA_VERSION` implies by itself; the tools refuse one that is no version for them.
fn implied(version: &str) -> Requirement {
    let plain = version.strip_prefix('v').unwrap_or(version);
    let mut parts = plain.split(['.', '-', '+']);
    let major = parts.next().unwrap_or_default();
    let minor = parts.next().unwrap_or("0");
    let text = format!("cuda>={major}.{minor}");
    let mut requirement = Requirement::parse(CUDA_VERSION, &text);
    if !is_semantic(version) {
        let factors = requirement
            .terms
            .iter_mut()
            .flat_map(|term| &mut term.factors);
        for factor in factors {
            // both get it from one program, which gives up
            factor.test = Test::Malformed("`CUDA_VERSION` is no version to the tools");
            factor.refused_by = vec![Tool::Cli, Tool::Runtime];
        }
    }
    requirement
}

#[cfg(test)]
mod tests;
