//! Compilers that a package carries, and the GPUs that they compile for.

use std::collections::BTreeSet;

use crate::compat::Driver;
use crate::cuda::{ComputeCapability, PtxIsa, ToolkitVersion};
use crate::inventory::Library;
use crate::rule::Code;
use crate::tables::{Loads, Tables, ToolkitRow};

use super::finding::{Finding, PackageName};
use super::words::{self, Subject};

/// What is wrong with the compilers among `libraries`: none compiles for the GPU, or the driver does not take what they
/// write.
pub(super) fn mismatch(
    libraries: &[&Library],
    subject: Subject<'_>,
    driver: &Driver<'_>,
) -> Option<Finding> {
    let any_unknown = libraries
        .iter()
        .any(|library| is_unknown(library, libraries));
    if any_unknown {
        return None;
    }
    knows_not(libraries, subject).or_else(|| ptx_too_new(libraries, subject, driver))
}

/// What is wrong where no compiler compiles for the GPU. One of an unknown toolkit may, and so may one for a GPU that no
/// toolkit is known to compile for.
fn knows_not(libraries: &[&Library], subject: Subject<'_>) -> Option<Finding> {
    let (cc, tables) = (subject.gpu.cc, subject.tables);
    let carried = releases(libraries);
    let rows: Option<Vec<&ToolkitRow>> = carried
        .iter()
        .map(|version| {
            tables
                .toolkit(*version)
                .filter(|row| !row.targets.is_empty())
        })
        .collect();
    if rows?.iter().any(|row| compiles_for(row, cc, tables)) {
        return None;
    }
    let newest = *carried.last()?;
    let knows = || {
        tables
            .toolkits()
            .iter()
            .filter(|row| compiles_for(row, cc, tables))
            .map(|row| row.cuda)
    };
    let (first, last) = (knows().min()?, knows().max()?);
    let sm = subject.sm();
    let (fact, wanted) = if newest < first {
        (
            format!("CUDA {first} is the first that compiles for {sm}"),
            format!("CUDA {first} or newer"),
        )
    } else {
        (
            format!("CUDA {last} is the last that compiles for {sm}"),
            format!("CUDA {last} or older"),
        )
    };
    let which = match carried.len() {
        1 => "which does not compile",
        _ => "none of which compiles",
    };
    let message = format!(
        "compiles device code at run time with CUDA {}, {which} for {}",
        joined(&carried),
        subject.gpu_name()
    );
    let next_step = format!(
        "look for another build or version of {} with a compiler of {wanted}",
        subject.what()
    );
    let finding = subject.finding(Code::JitCompilerMismatch, message, next_step);
    Some(with_releases(finding, libraries).evidence(fact))
}

/// What is wrong where the PTX that compilers write is newer than what the driver compiles. Whether they are asked for
/// PTX is not to be seen; nothing is said where something else in the package makes machine code of it, nor of
/// packages that are known to ask for machine code.
fn ptx_too_new(
    libraries: &[&Library],
    subject: Subject<'_>,
    driver: &Driver<'_>,
) -> Option<Finding> {
    let tables = subject.tables;
    let row = subject
        .package
        .and_then(|package| tables.run_time(&package.name));
    if row.is_some_and(|row| row.loads == Loads::Cubin) {
        return None;
    }
    let compilers = libraries.iter().copied().filter(|library| library.compiler);
    let (writers, others): (Vec<&Library>, Vec<&Library>) =
        compilers.partition(|library| library.writes_ptx);
    if !others.is_empty() {
        return None;
    }
    let written = releases(&writers);
    let isas: Option<Vec<PtxIsa>> = written
        .iter()
        .map(|version| tables.toolkit(*version).map(|row| row.ptx_isa))
        .collect();
    let oldest = isas?.into_iter().min()?;
    let taken = driver.newest_isa()?;
    if driver.accepts_isa(Some(oldest)) {
        return None;
    }
    let spec = driver.spec()?;
    let message = format!(
        "compiles device code at run time with CUDA {}, which writes PTX {oldest}; driver {spec} compiles PTX up to {taken}",
        joined(&written)
    );
    let upgrade = words::driver_for_isa(subject, oldest).map_or_else(String::new, |driver| {
        format!(
            ", or upgrade the driver of `{}` to {driver} or newer",
            subject.target.name
        )
    });
    let next_step = format!(
        "make sure that whatever calls the compiler asks for machine code (`--gpu-architecture={}` and `nvrtcGetCUBIN`){upgrade}",
        subject.sm()
    );
    let finding = subject.finding(Code::JitCompilerMismatch, message, next_step);
    Some(with_releases(finding, &writers).evidence(
        "only callers that hand PTX to the driver are affected: machine code of this compiler, and PTX that ptxas or \
         nvJitLink assembles, load",
    ))
}

/// How a package compiles on the machine that runs it, where it does: with the compilers that it carries, or with others
/// that are known.
pub(super) fn note(
    libraries: &[&Library],
    package: Option<&PackageName>,
    tables: &Tables,
) -> Option<String> {
    let known = || tables.run_time(&package?.name)?.with.clone();
    let carried: BTreeSet<String> = libraries
        .iter()
        .flat_map(|library| {
            let component = library.component.as_deref();
            let row = component.and_then(|component| tables.component(component));
            // others hold one, mostly NVRTC
            let is_one = row.is_some_and(|row| row.compiler);
            let name = component.filter(|_| is_one).unwrap_or("CUDA");
            let versions = library.compilers.iter();
            versions.map(move |version| format!("{name} {version}"))
        })
        .collect();
    let with = if !carried.is_empty() {
        let versions: Vec<ToolkitVersion> = releases(libraries).into_iter().collect();
        let range = tables.compile_range(&versions);
        let knows = range.map_or_else(String::new, |(first, last)| {
            format!(" (knows {first} to {last})")
        });
        let carried: Vec<String> = carried.into_iter().collect();
        format!("{}{knows}", carried.join(", "))
    } else if libraries.iter().any(|library| library.compiler) {
        "a compiler that does not name its release".to_owned()
    } else {
        known()?
    };
    Some(format!(
        "compiles on your machine with {with}; what it compiles there is not judged"
    ))
}

fn releases(libraries: &[&Library]) -> BTreeSet<ToolkitVersion> {
    let libraries = libraries.iter();
    libraries
        .flat_map(|library| library.compilers.iter().copied())
        .collect()
}

fn joined(versions: &BTreeSet<ToolkitVersion>) -> String {
    let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
    versions.join(", ")
}

fn with_releases(mut finding: Finding, libraries: &[&Library]) -> Finding {
    for library in libraries {
        for version in &library.compilers {
            finding = finding.evidence(format!("`{}` is of CUDA {version}", library.path));
        }
    }
    finding
}

/// Whether it is a compiler of a release that neither it nor another file of the same component names.
fn is_unknown(library: &Library, all: &[&Library]) -> bool {
    let named =
        |other: &&Library| !other.compilers.is_empty() && other.component == library.component;
    library.compiler
        && library.compilers.is_empty()
        && library.format.is_linked()
        && !all.iter().any(named)
}

fn compiles_for(row: &ToolkitRow, cc: ComputeCapability, tables: &Tables) -> bool {
    row.targets.iter().any(|target| {
        let renamed = tables.capability(target.cc).and_then(|row| row.renamed_to);
        target.cc == cc || renamed == Some(cc)
    })
}
