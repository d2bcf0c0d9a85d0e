//! Compilers that a package carries, and the GPUs that they compile for.

use std::collections::BTreeSet;

use crate::cuda::{ComputeCapability, ToolkitVersion};
use crate::inventory::Library;
use crate::rule::Code;
use crate::tables::{Tables, ToolkitRow};

use super::finding::Finding;
use super::words::Subject;

/// What is wrong where no compiler among `libraries` compiles for the GPU. A compiler of an unknown toolkit may, and
/// so may one for a GPU that no toolkit is known to compile for.
pub(super) fn mismatch(libraries: &[&Library], subject: Subject<'_>) -> Option<Finding> {
    let (cc, tables) = (subject.gpu.cc, subject.tables);
    let carried: BTreeSet<ToolkitVersion> = libraries
        .iter()
        .flat_map(|library| library.compilers.iter().copied())
        .collect();
    if libraries
        .iter()
        .any(|library| is_unknown(library, libraries))
    {
        return None;
    }
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
    let versions: Vec<String> = carried.iter().map(ToString::to_string).collect();
    let which = match versions.len() {
        1 => "which does not compile",
        _ => "none of which compiles",
    };
    let message = format!(
        "compiles device code at run time with CUDA {}, {which} for {}",
        versions.join(", "),
        subject.gpu_name()
    );
    let next_step = format!(
        "look for another build or version of {} with a compiler of {wanted}",
        subject.what()
    );
    let mut finding = subject.finding(Code::JitCompilerMismatch, message, next_step);
    for library in libraries {
        for version in &library.compilers {
            finding = finding.evidence(format!("`{}` is of CUDA {version}", library.path));
        }
    }
    Some(finding.evidence(fact))
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
