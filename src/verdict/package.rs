//! The libraries of one package on one GPU: main and side libraries, siblings, and what is said of each.
//!
//! "Any uncovered fatbin fails" would deny every large package on every GPU, and the union of
//! architectures would pass broken ones; the rules here were tried on real wheels, which they name.

use std::cell::OnceCell;

use crate::compat::Driver;
use crate::cuda::{ComputeCapability, Suffix};
use crate::device::{HostFormat, ImageKind};
use crate::inventory::{Artifact, Library};
use crate::policy::{FleetTarget, Policy, Thresholds, WaiverSubject};
use crate::rule::Code;
use crate::tables::{RoleRow, Tables};

use super::coverage::{Coverage, Extent, HALF};
use super::finding::{Finding, PackageName};
use super::floor::{self, Floor};
use super::kernels::{self, Missing};
use super::runs::LibraryOnGpu;
use super::siblings;
use super::state::On;
use super::units::{own_fatbins, own_targets};
use super::words::{self, Subject};

/// What a package gives on one GPU.
#[derive(Debug, Default)]
pub(super) struct OnGpu<'l> {
    pub(super) findings: Vec<Finding>,
    pub(super) floors: Vec<Floor>,
    /// The kernels of each library for which there is no code, where kernels have names.
    pub(super) missing: Vec<(&'l Library, Missing)>,
    /// Whether any library has device code of the package's own.
    pub(super) has_code: bool,
    /// Which of its sibling libraries run, of which one is loaded.
    pub(super) siblings: Option<String>,
    /// What the GPU gets of each library.
    pub(super) libraries: Vec<LibraryOnGpu>,
    /// That its main library runs here, and would not on GPUs of the next generation.
    pub(super) no_forward_ptx: Option<Finding>,
}

/// A library with its coverage.
pub(super) struct Judged<'l> {
    pub(super) library: &'l Library,
    /// With the target's driver.
    pub(super) coverage: Coverage,
    /// With a driver that accepts everything.
    free: Coverage,
    /// With the target's driver, as figures for people.
    figures: Coverage,
    /// Whether the package links or assembles it at run time, so that the driver compiles none of it.
    linked: bool,
    /// From which share on a finding counts.
    thresholds: Thresholds,
}

impl Judged<'_> {
    /// The code for a lack of code: what blocks it where something would fit.
    fn blocked_by(&self, would_do: impl Fn(&Coverage) -> bool) -> Code {
        let blocked = would_do(&self.free) && !would_do(&self.coverage);
        match &self.coverage {
            coverage if blocked && coverage.coding_blocked >= coverage.jit_blocked => {
                Code::CompressionNeedsDriver
            }
            _ if blocked => Code::PtxTooNew,
            coverage if would_do(&coverage.if_linked()) => Code::LinkOnly,
            _ => Code::NoKernelImage,
        }
    }
}

/// Judges `libraries` of one package on one GPU, with what else the artifact holds `beside` it.
pub(super) fn judge<'l>(
    libraries: &[&'l Library],
    subject: Subject<'_>,
    driver: &Driver<'_>,
    policy: &Policy,
    beside: &Artifact,
) -> OnGpu<'l> {
    let tables = subject.tables;
    let package = subject.package.map(|package| package.name.as_str());
    let any = driver.any();
    let cc = subject.gpu.cc;
    let on = On {
        cc,
        tegra: subject.target.tegra,
        driver,
        tables,
    };
    let free = On { driver: &any, ..on };
    let thresholds = |library: &Library| {
        let path = Some(library.path.as_str());
        policy.thresholds_for(&self::subject(subject.package, path, subject.target))
    };
    let mut judged: Vec<Judged<'l>> = Vec::new();
    let mut result = OnGpu::default();
    for library in libraries.iter().copied() {
        let linked = is_linked(package, library, tables);
        let on = if linked { free } else { on };
        let (Some(coverage), Some(free)) = (Coverage::of(library, on), Coverage::of(library, free))
        else {
            result
                .floors
                .extend(floor::of_library(library, None, driver, tables));
            continue;
        };
        let thresholds = thresholds(library);
        let mut shares = vec![HALF, thresholds.main_library];
        shares.extend(thresholds.partial_coverage);
        judged.push(Judged {
            library,
            figures: coverage.figures(library, on, &shares),
            thresholds,
            coverage,
            free,
            linked,
        });
    }
    result.has_code = !judged.is_empty();
    let kept = siblings::keep(libraries, &mut judged, subject, driver, beside);
    result.siblings = kept.note;
    result.findings.extend(kept.missing);
    drop_files_of_other_gpus(&mut judged);
    for one in &judged {
        result.floors.extend(floor::of_library(
            one.library,
            Some(&one.free).filter(|_| !one.linked),
            driver,
            tables,
        ));
        let on = if one.linked { free } else { on };
        let missing = kernels::missing(one.library, on);
        result
            .missing
            .extend(missing.map(|missing| (one.library, missing)));
    }
    let main = main_library(&judged);
    result.no_forward_ptx = main
        .or_else(|| largest(&judged))
        .and_then(|index| judged.get(index))
        .and_then(|one| no_forward_ptx(one, free));
    let most = OnceCell::new();
    let carriers_are_most = || *most.get_or_init(|| carriers_are_most(&judged));
    for (index, one) in judged.iter().enumerate() {
        let share = one.thresholds.main_library;
        let is_main = main == Some(index);
        let would_do = |coverage: &Coverage| {
            coverage.extent() != Extent::None && (!is_main || coverage.carries(share))
        };
        let why = || one.blocked_by(would_do);
        result.libraries.push(LibraryOnGpu::new(
            &one.library.path,
            &one.coverage,
            &one.figures,
            why,
        ));
        let found = match one.coverage.extent() {
            Extent::None => lacking(package, one, would_do, &judged, &carriers_are_most, subject),
            Extent::Partial | Extent::Full if !would_do(&one.coverage) => {
                let code = one.blocked_by(would_do);
                words::main_lacks(subject, code, one.library, &one.figures)
            }
            Extent::Partial => {
                let denied = one
                    .thresholds
                    .partial_coverage
                    .is_some_and(|share| !one.coverage.carries(share));
                words::partial(subject, one.library, &one.figures, denied)
            }
            Extent::Full => {
                result.findings.extend(how_covered(one, subject));
                // what dispatches by itself takes machine code before PTX
                if one.coverage.blocked_beside().0 > 0 && !one.library.dispatches {
                    let found = words::blocked_beside(subject, one.library, &one.coverage);
                    result.findings.push(found);
                }
                continue;
            }
        };
        let lacks = !matches!(found.code, Code::PartialCoverage);
        result.findings.push(found);
        if !lacks {
            result.findings.extend(how_covered(one, subject));
        }
    }
    result
}

/// A package on a target, or one of its libraries, as policies tell subjects apart.
pub(super) fn subject<'a>(
    package: Option<&'a PackageName>,
    library: Option<&'a str>,
    target: &'a FleetTarget,
) -> WaiverSubject<'a> {
    WaiverSubject {
        package: package.map(|package| package.name.as_str()),
        version: package.and_then(|package| package.version.as_deref()),
        library,
        target: Some(&target.name),
    }
}

/// Whether `package` links or assembles the code of `library` by itself, so that the driver compiles none of it.
pub(super) fn is_linked(package: Option<&str>, library: &Library, tables: &Tables) -> bool {
    role(package, library, tables).is_some_and(|row| row.role.bypasses_driver())
}

fn role<'t>(package: Option<&str>, library: &Library, tables: &'t Tables) -> Option<&'t RoleRow> {
    tables.role(package?, &library.path)
}

/// What is said of a library that the GPU can run: that the driver compiles it, that it is unsure.
fn how_covered(one: &Judged<'_>, subject: Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if one.linked {
        return findings;
    }
    // single-target kernels beside general code are extras
    let counted = one.coverage.counted();
    if one.coverage.jit() > 0 && counted.covered > 0 {
        findings.push(words::jit_only(subject, one.library, &one.figures));
    }
    if one.coverage.unsure() > 0 {
        findings.push(words::tegra_unsure(subject, one.library, &one.figures));
    }
    findings
}

/// A library with no code for the GPU: a failure, unless it is a side library.
fn lacking(
    package: Option<&str>,
    one: &Judged<'_>,
    would_do: impl Fn(&Coverage) -> bool,
    all: &[Judged<'_>],
    carriers_are_most: &dyn Fn() -> bool,
    subject: Subject<'_>,
) -> Finding {
    let code = one.blocked_by(would_do);
    if code != Code::NoKernelImage {
        return words::lacks(subject, code, one.library, &one.figures);
    }
    let others = || {
        all.iter()
            .filter(|other| !std::ptr::eq(other.library, one.library))
    };
    // the row says that the package does without it there; another library that lacks the GPU denies by itself
    if let Some(row) =
        role(package, one.library, subject.tables).filter(|row| row.role.is_optional())
    {
        return words::known_side_library(subject, one.library, &one.figures, &row.why);
    }
    if others().any(|other| other.coverage.carries_others()) {
        if is_specific_elsewhere(one) {
            return words::side_library(subject, Code::ArchSpecificOnly, one.library, &one.figures);
        }
        if is_for_newer(one, subject) && carriers_are_most() {
            return words::side_library(
                subject,
                Code::LibraryForNewerGpus,
                one.library,
                &one.figures,
            );
        }
    }
    words::lacks(subject, Code::NoKernelImage, one.library, &one.figures)
}

/// All of its code is specific to other architectures or families: `FlashAttention` 3 beside `_C.so` (xformers, vllm).
fn is_specific_elsewhere(one: &Judged<'_>) -> bool {
    let mut targets = code_targets(one.library).peekable();
    targets.peek().is_some() && targets.all(|target| target.suffix != Suffix::None)
}

/// All of its code is for newer capabilities: `FlashAttention` 2 of vllm on a T4.
fn is_for_newer(one: &Judged<'_>, subject: Subject<'_>) -> bool {
    let mut targets = code_targets(one.library).peekable();
    targets.peek().is_some() && targets.all(|target| target.cc > subject.gpu.cc)
}

fn code_targets(library: &Library) -> impl Iterator<Item = crate::cuda::SmTarget> {
    own_targets(library)
        .into_iter()
        .filter(|(kind, _)| *kind == ImageKind::Cubin || kind.is_ptx())
        .map(|(_, target)| target)
}

/// Whether the libraries that carry the target hold the larger part of the package's own fatbins; code that
/// is specific to other architectures is not counted.
fn carriers_are_most(all: &[Judged<'_>]) -> bool {
    let lacks = |one: &&Judged<'_>| one.coverage.extent() == Extent::None;
    let sum = |sum: u128, one: &Judged<'_>| sum + u128::from(own_fatbins(one.library));
    let total = all
        .iter()
        .filter(|one| !(lacks(one) && is_specific_elsewhere(one)))
        .fold(0, sum);
    let carried = all
        .iter()
        .filter(|one| one.coverage.carries_others())
        .fold(0, sum);
    carried * 2 > total
}

/// The own library with the most general fatbins; a package without general code has none.
fn main_library(judged: &[Judged<'_>]) -> Option<usize> {
    let general = |one: &Judged<'_>| one.coverage.general.total;
    let with_general = judged
        .iter()
        .enumerate()
        .filter(|(_, one)| general(one) > 0);
    // of equals the first, which is the first by path
    with_general
        .rev()
        .max_by_key(|(_, one)| general(one))
        .map(|(index, _)| index)
}

/// The own library with the most fatbins, of a package without general code.
fn largest(judged: &[Judged<'_>]) -> Option<usize> {
    let fatbins = |one: &Judged<'_>| one.coverage.counted().total;
    let all = judged.iter().enumerate().rev();
    all.max_by_key(|(_, one)| fatbins(one))
        .map(|(index, _)| index)
}

/// What is said of a library that covers a GPU, where those of a generation of which nobody knows would have too
/// little of it. Only PTX without a suffix is compiled for them. What dispatches by itself, and what the driver does
/// not compile, is no measure.
fn no_forward_ptx(one: &Judged<'_>, free: On<'_>) -> Option<Finding> {
    let share = one.thresholds.main_library;
    let covers = one.coverage.extent() != Extent::None && one.coverage.carries(share);
    if !covers || one.library.dispatches || one.linked {
        return None;
    }
    let newest = free.tables.capabilities().iter().map(|row| row.cc).max()?;
    let next = ComputeCapability::new(newest.major.saturating_add(1), 0);
    let on = On { cc: next, ..free };
    let coverage = Coverage::of(one.library, on)?;
    let figures = || coverage.figures(one.library, on, &[share]);
    (!coverage.carries(share)).then(|| words::no_forward_ptx(one.library, &figures()))
}

/// Device code in files of its own (`k_sm80.cubin`, `k_sm90.cubin`) is picked by whoever loads it: where one
/// of these files fits, the others are those of other GPUs. Where none does, each of them is lacking.
fn drop_files_of_other_gpus(judged: &mut Vec<Judged<'_>>) {
    let is_loose =
        |one: &Judged<'_>| one.library.format == HostFormat::Raw && one.coverage.general.total == 0;
    let fits = |one: &Judged<'_>| one.coverage.extent() != Extent::None;
    if judged.iter().any(|one| is_loose(one) && fits(one)) {
        judged.retain(|one| fits(one) || !is_loose(one));
    }
}
