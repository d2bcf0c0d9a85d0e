//! The sentences of coverage findings: what is wrong, the evidence, and the one next step.

mod driver;

use std::collections::BTreeSet;

use crate::compat::Driver;
use crate::cuda::{DriverSpec, PtxIsa, SmTarget, Suffix};
use crate::device::{ImageKind, Place};
use crate::inventory::Library;
use crate::platform::Os;
use crate::policy::{FleetTarget, TargetGpu};
use crate::rule::{Code, Level};
use crate::tables::Tables;

use super::coverage::{Count, Coverage};
use super::finding::{Finding, PackageName};
use super::units::{is_unjudged, own_targets};

pub(super) use driver::{driver_dropped, driver_too_old, driver_unknown};

/// What a coverage finding is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) package: Option<&'a PackageName>,
    pub(super) target: &'a FleetTarget,
    pub(super) gpu: &'a TargetGpu,
    /// Whose driver numbers the target has.
    pub(super) os: Os,
    pub(super) tables: &'a Tables,
}

impl Subject<'_> {
    /// The GPU as sentences name it: `H100 (9.0)`.
    pub(super) fn gpu_name(&self) -> String {
        self.gpu.to_string()
    }

    fn driver(&self) -> Driver<'_> {
        Driver::new(self.target.driver.clone(), self.os, self.tables)
    }

    pub(super) fn sm(&self) -> SmTarget {
        SmTarget::new(self.gpu.cc, Suffix::None)
    }

    pub(super) fn what(&self) -> String {
        self.package
            .map_or_else(|| "it".to_owned(), |package| format!("`{}`", package.name))
    }

    /// Where to get code for the GPU.
    fn other_build(&self) -> String {
        let sm = self.sm();
        let (what, cc) = (self.what(), self.gpu.cc);
        let package = self.package.map(|package| package.name.as_str());
        if package.is_some_and(|package| self.tables.is_vendor_package(package)) {
            return format!("look for another version of {what} with code for {sm}");
        }
        let number = cc.number();
        let row = self.tables.sm(sm);
        let toolkit = match row.map(|row| (row.first_toolkit, row.last_toolkit)) {
            Some((_, Some(last))) => format!(", which toolkits up to CUDA {last} can make"),
            Some((Some(first), None)) => format!(", made by CUDA {first} or newer"),
            _ => String::new(),
        };
        format!(
            "look for another build or version of {what} with code for {sm}{toolkit}; to build it yourself add \
             `{cc}` to `TORCH_CUDA_ARCH_LIST`, `{number}-real` to `CMAKE_CUDA_ARCHITECTURES`, or \
             `-gencode arch=compute_{number},code=sm_{number}`"
        )
    }

    pub(super) fn finding(&self, code: Code, message: String, next_step: String) -> Finding {
        let mut finding = Finding::new(code, message, next_step);
        finding.package = self.package.cloned();
        finding.target = Some(self.target.name.clone());
        finding.gpu = Some(self.gpu_name());
        finding
    }
}

/// A list of targets for people, machine code and PTX apart.
fn holds(library: &Library) -> String {
    let targets = own_targets(library);
    let list = |wanted: fn(ImageKind) -> bool, name: fn(SmTarget) -> String| {
        let names: Vec<String> = targets
            .iter()
            .filter(|(kind, _)| wanted(*kind))
            .map(|(_, target)| name(*target))
            .collect();
        if names.is_empty() {
            None
        } else {
            Some(names.join(", "))
        }
    };
    let cubins = list(|kind| kind == ImageKind::Cubin, |target| target.to_string());
    let ptx = list(ImageKind::is_ptx, |target| target.compute().to_string());
    let lto = list(|kind| kind == ImageKind::LtoIr, |target| target.to_string());
    let mut parts = vec![cubins.map_or_else(
        || "no machine code".to_owned(),
        |list| format!("machine code for {list}"),
    )];
    parts.push(ptx.map_or_else(|| "no PTX".to_owned(), |list| format!("PTX for {list}")));
    parts.extend(lto.map(|list| format!("LTO-IR for {list}")));
    let unjudged: BTreeSet<String> = library
        .code
        .iter()
        .filter(|code| code.own)
        .flat_map(|code| &code.class.images)
        .map(|image| image.key.kind)
        .filter(|kind| is_unjudged(*kind))
        .map(|kind| format!("code of kind {kind}, which is not judged"))
        .collect();
    parts.extend(unjudged);
    parts.join("; ")
}

fn of(Count { total, covered }: Count) -> String {
    format!("{covered} of {total}")
}

/// The verb behind `1 of 33 fatbins`: one of many is one, and so is none of one.
fn verb(count: u64, total: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 || total == 1 { one } else { many }
}

/// `182 fatbins`, or what else is counted.
fn units(coverage: &Coverage, library: &Library) -> &'static str {
    let bare_only = library
        .code
        .iter()
        .filter(|code| code.own)
        .all(|code| code.class.bare);
    match (coverage.counted().total, bare_only) {
        (1, true) => "device image",
        (_, true) => "device images",
        (1, false) => "fatbin",
        (_, false) if coverage.general.total > 0 && coverage.single.total > 0 => "general fatbins",
        (_, false) => "fatbins",
    }
}

/// Where the library's first code lies, for whoever wants to look at it.
fn place(library: &Library) -> Option<String> {
    let class = &library.code.iter().find(|code| code.own)?.class;
    match &class.place {
        Place::File => None,
        Place::NoSection => Some(format!(
            "its first device code is at offset {:#x}",
            class.first
        )),
        Place::Section(name) => Some(format!(
            "its first device code is at offset {:#x}, in `{name}`",
            class.first
        )),
    }
}

fn with_evidence(finding: Finding, library: &Library, coverage: &Coverage) -> Finding {
    let beside = coverage.single.total > 0 && coverage.general.total > 0;
    let beside = beside.then(|| {
        let Count { total, covered } = coverage.single;
        let fatbins = if total == 1 { "fatbin" } else { "fatbins" };
        format!(
            "beside them {} single-target {fatbins} {}",
            of(coverage.single),
            verb(covered, total, "fits", "fit")
        )
    });
    with_place(finding, library, beside)
}

/// What a library holds and where, with what is said between the two.
fn with_place(finding: Finding, library: &Library, between: Option<String>) -> Finding {
    let finding = finding.library(&library.path).evidence(holds(library));
    let more = between.into_iter().chain(place(library));
    more.fold(finding, Finding::evidence)
}

/// A library without code for the GPU.
pub(super) fn lacks(
    subject: Subject<'_>,
    code: Code,
    library: &Library,
    coverage: &Coverage,
) -> Finding {
    let (gpu, covered) = (subject.gpu_name(), of(coverage.counted()));
    let units = units(coverage, library);
    let driver = subject
        .target
        .driver
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let (message, next_step) = match code {
        Code::PtxTooNew => {
            let isa = coverage
                .newest_isa()
                .map(|isa| isa.to_string())
                .unwrap_or_default();
            let verb = if subject.driver().is_beyond_known() {
                "is not known to compile"
            } else {
                "does not compile"
            };
            let message = format!(
                "only PTX {isa} fits {gpu}, which driver {driver} {verb}: {covered} {units} can run"
            );
            (message, needs_driver(subject, coverage))
        }
        Code::CompressionNeedsDriver => {
            let message = format!(
                "driver {driver} cannot unpack the zstd-compressed code for {gpu}: {covered} {units} can run"
            );
            (message, needs_driver(subject, coverage))
        }
        Code::LinkOnly => {
            let counted = coverage.counted();
            let linked = coverage.if_linked().counted().covered - counted.covered;
            let message = format!(
                "only LTO-IR fits {gpu} in {linked} of {} {units}: it must be linked with nvJitLink at run time",
                counted.total
            );
            (message, "make sure that the program links it with nvJitLink, and ships nvJitLink of the same major version".to_owned())
        }
        _ => {
            // of a main library, some may fit
            let none = coverage.counted().covered == 0;
            let lack = if none { "no" } else { "too little" };
            (
                format!("{lack} code for {gpu}: {covered} {units} can run"),
                subject.other_build(),
            )
        }
    };
    with_evidence(subject.finding(code, message, next_step), library, coverage)
}

/// The first driver that compiles PTX of `isa`: its version where that is known, else its branch.
pub(super) fn driver_for_isa(subject: Subject<'_>, isa: PtxIsa) -> Option<DriverSpec> {
    let row = subject.tables.ptx(isa)?;
    let exact = row.first_driver(subject.os).cloned();
    exact
        .map(DriverSpec::Exact)
        .or(row.branch.map(DriverSpec::Branch))
}

fn needs_driver(subject: Subject<'_>, coverage: &Coverage) -> String {
    let (os, tables) = (subject.os, subject.tables);
    let compiled = coverage.jit_blocked > 0;
    let needed = if compiled {
        let newest = coverage.newest_isa().max(coverage.blocked_beside().1);
        newest.and_then(|isa| driver_for_isa(subject, isa))
    } else {
        let floor = tables.compression_floor("zstd", os);
        floor.map(|floor| floor.driver.clone())
    };
    let Some(upgrade) = needed.and_then(|needed| driver::upgrade(subject, &needed)) else {
        return subject.other_build();
    };
    let cost = if compiled {
        " (it compiles the code at first use: a slow first start, and a cache that must persist)"
    } else {
        ""
    };
    format!("{upgrade}{cost}, or {}", subject.other_build())
}

/// The main library carries too little.
pub(super) fn main_lacks(
    subject: Subject<'_>,
    code: Code,
    library: &Library,
    coverage: &Coverage,
) -> Finding {
    let mut finding = lacks(subject, code, library, coverage);
    finding.message = format!("{}; this is the package's main library", finding.message);
    finding
}

/// Part of a library has nothing for the GPU.
pub(super) fn partial(
    subject: Subject<'_>,
    library: &Library,
    coverage: &Coverage,
    denied: bool,
) -> Finding {
    let Count { total, covered } = coverage.general;
    let without = total - covered;
    let message = format!(
        "{without} of {total} general fatbins {} no code for {}; kernels in {} fail when they are launched",
        verb(without, total, "has", "have"),
        subject.gpu_name(),
        verb(without, total, "it", "them"),
    );
    let next_step = format!(
        "find out whether you call what they hold; if not, accept it with a waiver, else {}",
        subject.other_build()
    );
    let mut finding = with_evidence(
        subject.finding(Code::PartialCoverage, message, next_step),
        library,
        coverage,
    );
    if denied {
        finding.level = Level::Deny;
        finding = finding.evidence("the share is below `thresholds.partial-coverage`");
    }
    finding
}

/// Single-target code of a library fits the GPU, and the driver takes none of it.
pub(super) fn blocked_beside(
    subject: Subject<'_>,
    library: &Library,
    coverage: &Coverage,
) -> Finding {
    let driver = subject.target.driver.as_ref();
    let driver = driver.map(ToString::to_string).unwrap_or_default();
    let (blocked, _) = coverage.blocked_beside();
    let message = format!(
        "{blocked} of {} single-target fatbins are for {}, and driver {driver} does not take them; kernels in them fail when they are launched",
        coverage.single.total,
        subject.gpu_name()
    );
    let next_step = needs_driver(subject, coverage);
    let finding = subject.finding(Code::PartialCoverage, message, next_step);
    with_place(finding, library, None)
}

/// A library beside the one that carries the target.
pub(super) fn side_library(
    subject: Subject<'_>,
    code: Code,
    library: &Library,
    coverage: &Coverage,
) -> Finding {
    let gpu = subject.gpu_name();
    let message = match code {
        Code::ArchSpecificOnly => format!(
            "holds only architecture-specific code, none of it for {gpu}; other libraries of the package carry it"
        ),
        _ => format!(
            "is built for newer GPUs than {gpu} only; other libraries of the package carry it"
        ),
    };
    let next_step = "nothing, if you do not need what this library adds on newer GPUs; else choose a GPU that it is built for".to_owned();
    with_evidence(subject.finding(code, message, next_step), library, coverage)
}

/// A library that is known to be used on some GPUs only.
pub(super) fn known_side_library(
    subject: Subject<'_>,
    library: &Library,
    coverage: &Coverage,
    why: &str,
) -> Finding {
    let mut finding = side_library(subject, Code::ArchSpecificOnly, library, coverage);
    finding.message = format!(
        "no code for {}, and used on other GPUs only",
        subject.gpu_name()
    );
    finding.evidence.insert(0, why.to_owned());
    finding
}

/// The driver compiles the code.
pub(super) fn jit_only(subject: Subject<'_>, library: &Library, coverage: &Coverage) -> Finding {
    let total = coverage.counted().total;
    let isa = coverage
        .newest_isa()
        .map(|isa| format!(" (PTX {isa})"))
        .unwrap_or_default();
    let message = format!(
        "JIT only on {}: the driver compiles {} of {total} {} at first use{isa}",
        subject.gpu_name(),
        coverage.jit(),
        units(coverage, library),
    );
    let next_step = format!(
        "expect a slow first start, and a cache that must persist; to avoid it {}",
        subject.other_build()
    );
    with_evidence(
        subject.finding(Code::JitOnly, message, next_step),
        library,
        coverage,
    )
}

/// The evidence conflicts.
pub(super) fn tegra_unsure(
    subject: Subject<'_>,
    library: &Library,
    coverage: &Coverage,
) -> Finding {
    let (unsure, total) = (coverage.unsure(), coverage.counted().total);
    let message = format!(
        "{unsure} of {total} {} {} for desktop or renamed chips of the same major version as {}, for which NVIDIA \
         promises nothing",
        units(coverage, library),
        verb(unsure, total, "is", "are"),
        subject.gpu_name()
    );
    let next_step = format!("try it on the device, or {}", subject.other_build());
    with_evidence(
        subject.finding(Code::TegraCompatibilityUnsure, message, next_step),
        library,
        coverage,
    )
}

/// GPUs of the next generation would have nothing to compile.
pub(super) fn no_forward_ptx(library: &Library, coverage: &Coverage) -> Finding {
    let Count { total, covered } = coverage.counted();
    let message = format!(
        "{} {} {} PTX that GPUs of the next generation could compile; this is the package's main library",
        of(coverage.counted()),
        units(coverage, library),
        verb(covered, total, "holds", "hold"),
    );
    let newest = own_targets(library)
        .into_iter()
        .map(|(_, target)| target.cc)
        .max();
    let build = newest.map_or_else(String::new, |cc| {
        let number = cc.number();
        format!(
            ": `{cc}+PTX` in `TORCH_CUDA_ARCH_LIST`, `{number}-virtual` in `CMAKE_CUDA_ARCHITECTURES`, or \
             `-gencode arch=compute_{number},code=compute_{number}`"
        )
    });
    let next_step = format!(
        "nothing for the GPUs of today; to be ready for newer ones, build it with PTX of its newest target{build}"
    );
    let finding = Finding::new(Code::NoForwardPtx, message, next_step);
    finding.library(&library.path).evidence(holds(library))
}
