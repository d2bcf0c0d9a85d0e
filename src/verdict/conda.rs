//! What a conda package says of itself, held against its targets and against what it holds.
//!
//! A claim is taken for wrong only where everything in the package speaks against it: build strings are free text, and
//! packages that claim CUDA and hold no code are common (they only pull in others).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::cuda::DriverSpec;
use crate::inventory::{Artifact, BuildClaim, CondaFacts, Library};
use crate::rule::Code;
use crate::tables::Tables;

use super::finding::Finding;
use super::floor::{self, Floor, Mechanism};

/// Libraries that a finding names.
const NAMED: usize = 4;

/// What a package declares about drivers.
#[derive(Default)]
pub(super) struct Declared {
    pub(super) floor: Option<Floor>,
    /// What is to be said where nothing is known of the driver.
    pub(super) note: Option<String>,
}

/// The driver that `artifact` declares, where it is a conda package that does. The version that `__cuda` compares is
/// the one that a driver reports, which does not change inside a branch (rule 4.9).
pub(super) fn declared(artifact: &Artifact, tables: &Tables) -> Declared {
    let Some(asked) = artifact
        .conda
        .as_ref()
        .and_then(|facts| facts.driver_floor())
    else {
        return Declared::default();
    };
    match tables.toolkit(asked.cuda) {
        Some(row) => Declared {
            floor: Some(Floor {
                driver: DriverSpec::Branch(row.branch),
                mechanism: Mechanism::DeclaredByPackage(asked.spec),
                culprit: None,
            }),
            note: None,
        },
        None => Declared {
            floor: None,
            note: Some(format!(
                "it declares `{}`, and no table knows which driver supports CUDA {}",
                asked.spec, asked.cuda
            )),
        },
    }
}

/// What the evidence for a CUDA major version is.
struct Evidence<'l> {
    major: u32,
    library: &'l Library,
    runtime: bool,
}

/// Where the claims of a conda package contradict what it holds.
pub(super) fn claims(artifact: &Artifact, tables: &Tables) -> Vec<Finding> {
    let Some(facts) = artifact.conda.as_deref() else {
        return Vec::new();
    };
    let own: Vec<&Library> = artifact
        .libraries
        .iter()
        .filter(|library| library.code.iter().any(|code| code.own))
        .collect();
    if let Some(claim) = cpu_claim(facts) {
        return is_no_cpu_build(&claim, &own).into_iter().collect();
    }
    let found: Vec<Evidence<'_>> = own
        .iter()
        .flat_map(|library| majors_of(library, tables))
        .collect();
    let build = facts.build_claim().and_then(|claim| match claim {
        BuildClaim::Cuda { major, .. } => {
            let build = facts.build.as_deref().unwrap_or_default();
            Some((format!("its build string `{build}`"), major..=major))
        }
        BuildClaim::Cpu => None,
    });
    let needs = facts
        .toolkit_majors()
        .map(|(spec, majors)| (format!("its dependency `{spec}`"), majors));
    build
        .into_iter()
        .chain(needs)
        .find_map(|(claim, majors)| is_of_other_major(&claim, &majors, &found))
        .into_iter()
        .collect()
}

/// What says that the package is a build without CUDA; nothing where that is not said.
pub(super) fn cpu_claim(facts: &CondaFacts) -> Option<String> {
    if facts.build_claim() == Some(BuildClaim::Cpu) {
        let build = facts.build.as_deref().unwrap_or_default();
        return Some(format!("its build string `{build}`"));
    }
    // a build string that names a toolkit says more than a dependency
    let claims_cuda = facts.build_claim().is_some();
    let needs = facts.needs_cpu().filter(|_| !claims_cuda)?;
    Some(format!("its dependency `{needs}`"))
}

fn is_no_cpu_build(claim: &str, own: &[&Library]) -> Option<Finding> {
    if own.is_empty() {
        return None;
    }
    let message = format!("{claim} says that it is a CPU build, and it holds device code");
    let next_step = "trust the device code; ask whoever built it which of the two is meant";
    let mut finding = Finding::new(Code::ClaimMismatch, message, next_step);
    for library in own.iter().take(NAMED) {
        finding = finding.evidence(format!("device code in `{}`", library.path));
    }
    Some(finding)
}

/// The CUDA major versions that a library speaks for: the runtime that it needs, else the toolkits of its code.
fn majors_of<'l>(library: &'l Library, tables: &Tables) -> Vec<Evidence<'l>> {
    let runtime = floor::runtime_of(library, tables).map(|version| version.major);
    let toolkits: BTreeSet<u32> = match runtime {
        Some(_) => BTreeSet::new(),
        None => library
            .toolkits
            .iter()
            .map(|version| version.major)
            .collect(),
    };
    let evidence = |major, runtime| Evidence {
        major,
        library,
        runtime,
    };
    let of_toolkits = toolkits.into_iter().map(|major| evidence(major, false));
    let runtime = runtime.map(|major| evidence(major, true));
    runtime.into_iter().chain(of_toolkits).collect()
}

fn is_of_other_major(
    claim: &str,
    majors: &RangeInclusive<u32>,
    found: &[Evidence<'_>],
) -> Option<Finding> {
    if found.is_empty() || found.iter().any(|one| majors.contains(&one.major)) {
        return None;
    }
    let is: BTreeSet<String> = found
        .iter()
        .map(|one| format!("CUDA {}", one.major))
        .collect();
    let is: Vec<String> = is.into_iter().collect();
    let message = format!("{claim} is not what it holds: code for {}", is.join(", "));
    let next_step = "trust the device code: the drivers that it needs are those of its own CUDA version; ask whoever built it which of the two is meant";
    let mut finding = Finding::new(Code::ClaimMismatch, message, next_step);
    for one in found.iter().take(NAMED) {
        let what = if one.runtime {
            "needs the runtime of"
        } else {
            "holds code made by"
        };
        let text = format!("`{}` {what} CUDA {}", one.library.path, one.major);
        finding = finding.evidence(text);
    }
    Some(finding)
}
