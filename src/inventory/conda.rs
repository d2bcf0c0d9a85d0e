//! What a conda package says of itself that bears on CUDA.

use std::ops::RangeInclusive;

use crate::platform::Platform;
use crate::source::conda::{DriverFloor, Index, MatchSpec, Subdir};

pub use crate::source::conda::BuildClaim;

/// Specifications that are kept of a list.
const SPECS_MAX: usize = 256;
/// Bytes of the longest name, version or build that is kept.
const WORD_MAX: usize = 1024;

/// What the metadata of a conda package says that bears on CUDA.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CondaFacts {
    /// The platform, `linux-64` or `noarch`.
    pub subdir: Option<String>,
    /// The build string, `cuda129_mkl_py313_h8e1f4a9_200`.
    pub build: Option<String>,
    /// Which build it is of equal ones.
    pub build_number: Option<u64>,
    /// `python` or `generic`, of a package for any platform.
    pub noarch: Option<String>,
    /// What it needs of CUDA, of drivers and of the system under them, as written.
    pub depends: Vec<String>,
    /// What must hold for packages of these where they are there, as written.
    pub constrains: Vec<String>,
}

impl CondaFacts {
    /// What an index says.
    pub(super) fn of(index: &Index) -> Self {
        let concerning = |specs: &[String]| -> Vec<String> {
            let of_cuda =
                |text: &&String| MatchSpec::parse(text).is_some_and(|spec| spec.is_of_cuda());
            let specs = specs.iter().filter(of_cuda);
            specs.take(SPECS_MAX).cloned().collect()
        };
        Self {
            subdir: index.subdir.as_deref().map(word),
            build: index.build.as_deref().map(word),
            build_number: index.build_number,
            noarch: index.noarch.as_deref().map(word),
            depends: concerning(&index.depends),
            constrains: concerning(&index.constrains),
        }
    }

    /// The platform that it is for; nothing for any platform.
    pub(super) fn platform(&self) -> Option<Result<Platform, String>> {
        let subdir = self.subdir.as_deref()?;
        match Subdir::of(subdir) {
            Subdir::Any => None,
            Subdir::One(platform) => Some(Ok(platform)),
            Subdir::Other => Some(Err(subdir.to_owned())),
        }
    }

    /// The driver that it declares with `__cuda`, as what it needs or as what it wants where there is one.
    pub fn driver_floor(&self) -> Option<DriverFloor> {
        let specs = self.depends.iter().chain(&self.constrains);
        DriverFloor::highest(specs.map(String::as_str))
    }

    /// What its build string says.
    pub fn build_claim(&self) -> Option<BuildClaim> {
        BuildClaim::of(self.build.as_deref()?)
    }

    /// What it needs that says it is the variant without CUDA, as written.
    pub fn needs_cpu(&self) -> Option<&str> {
        let asks = |text: &&str| MatchSpec::parse(text).is_some_and(|spec| spec.asks_for_cpu());
        self.depends.iter().map(String::as_str).find(asks)
    }

    /// The CUDA major versions that each of the toolkits it needs may have, with what says so.
    pub fn toolkit_majors(&self) -> impl Iterator<Item = (&str, RangeInclusive<u32>)> {
        let specs = self.depends.iter().map(String::as_str);
        specs.filter_map(|text| Some((text, MatchSpec::parse(text)?.toolkit_majors()?)))
    }
}

/// A word of the metadata, as far as anybody needs it.
pub(super) fn word(text: &str) -> String {
    text.chars().take(WORD_MAX).collect()
}
