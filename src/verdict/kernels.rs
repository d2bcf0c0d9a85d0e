//! The kernels of a library for which a GPU finds no code: what coverage means by name.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::device::FatbinClass;
use crate::inventory::Library;

use super::finding::PackageName;
use super::state::On;
use super::units::{Unit, Units, is_empty};

/// The kernels of one library for which one GPU finds no code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingKernels {
    /// The artifact: an index into the inventory.
    pub artifact: usize,
    /// The package; none for what no package owns.
    pub package: Option<PackageName>,
    /// The library, by path.
    pub library: String,
    /// The fleet target, by name.
    pub target: String,
    /// The GPU of the target.
    pub gpu: String,
    /// What is missing.
    pub missing: Missing,
}

/// What a GPU finds no code for in a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Fatbins with kernels that count: the general ones, or all where there are none.
    pub fatbins: u64,
    /// Of these, those that the GPU cannot run.
    pub uncovered: u64,
    /// Of these, those of which no kernel is known by name: LTO-IR, or code that could not be read.
    pub unnamed: u64,
    /// Kernels of theirs that fatbins which the GPU can run have too.
    pub elsewhere: u64,
    /// The others, by the names that linkers know them by; ascending.
    pub kernels: Vec<Arc<str>>,
}

/// The kernels of the package's own code in `library` for which the GPU finds none; `None` where it is covered as
/// far as it must be, or its kernels have no names.
pub(super) fn missing(library: &Library, on: On<'_>) -> Option<Missing> {
    if library.code.iter().all(|code| code.class.kernels.is_none()) {
        return None;
    }
    let all = Units::of(library, |class| !is_empty(class));
    let units: Vec<Unit<'_, '_>> = all.judged(library, on).collect();
    let (covered, lacking): (Vec<&Unit<'_, '_>>, Vec<&Unit<'_, '_>>) =
        units.iter().partition(|unit| unit.judged.state.covers());
    // single-target kernels are picked where they fit, and are a gap only where nothing does
    let general = units.iter().any(|unit| unit.general);
    if !general && !covered.is_empty() {
        return None;
    }
    let counts = |unit: &&&Unit<'_, '_>| unit.general || !general;
    let sum = |units: &[&Unit<'_, '_>]| {
        let counted = units.iter().filter(counts);
        counted.fold(0_u64, |sum, unit| sum.saturating_add(unit.count))
    };
    let uncovered = sum(&lacking);
    if uncovered == 0 {
        return None;
    }
    let has: BTreeSet<&Arc<str>> = covered.iter().flat_map(|unit| names(unit)).collect();
    let lacking = lacking.iter().filter(counts);
    let unnamed = lacking.clone().filter(|unit| names(unit).next().is_none());
    let unnamed = unnamed.fold(0_u64, |sum, unit| sum.saturating_add(unit.count));
    let lacks: BTreeSet<&Arc<str>> = lacking.flat_map(|unit| names(unit)).collect();
    let kernels: Vec<Arc<str>> = lacks
        .difference(&has)
        .map(|name| Arc::clone(name))
        .collect();
    Some(Missing {
        fatbins: uncovered.saturating_add(sum(&covered)),
        uncovered,
        unnamed,
        elsewhere: (lacks.len() - kernels.len()) as u64,
        kernels,
    })
}

fn names<'u>(unit: &'u Unit<'_, '_>) -> impl Iterator<Item = &'u Arc<str>> {
    let named = |class: &&'u FatbinClass| class.kernels.iter().flatten();
    unit.classes
        .iter()
        .map(|class| &**class)
        .flat_map(move |class| named(&class))
}
