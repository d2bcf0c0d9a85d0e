//! How a package's device code stands on each GPU of a target: the cell of a heat map, and what is below it.
//!
//! It says what the GPU gets of the code; whether that is enough is the verdict of the row.

use std::collections::BTreeSet;

use crate::cuda::ComputeCapability;
use crate::device::FatbinClass;
use crate::inventory::{Artifact, Library};
use crate::platform::Os;
use crate::policy::{FleetTarget, TargetGpu};
use crate::rule::Code;
use crate::tables::Tables;

use super::artifact::os_of;
use super::coverage::{Coverage, Extent};
use super::finding::Finding;
use super::of_image::OfImage;
use super::package::is_linked;
use super::state::{On, State};
use super::units::Units;

/// What a GPU gets of device code, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runs {
    /// Machine code for it.
    Native,
    /// Some or all of it is PTX, which the driver compiles at first use.
    Jit,
    /// Code of which nobody promises that it runs on a Tegra GPU.
    Unsure,
    /// Some of the code is not for it.
    Partial,
    /// Code for it that the program must link at run time.
    LinkOnly,
    /// Code for it that its driver, or the package's platform, keeps from it.
    Blocked,
    /// No code for it.
    None,
}

impl Runs {
    /// Every value, best first.
    pub const ALL: &[Self] = &[
        Self::Native,
        Self::Jit,
        Self::Unsure,
        Self::Partial,
        Self::LinkOnly,
        Self::Blocked,
        Self::None,
    ];

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Jit => "jit",
            Self::Unsure => "unsure",
            Self::Partial => "partial",
            Self::LinkOnly => "link-only",
            Self::Blocked => "blocked",
            Self::None => "none",
        }
    }

    /// What a library gives of which the coverage is this, where it lacks code because of `lacks`.
    fn of(coverage: &Coverage, lacks: impl FnOnce() -> Code) -> Self {
        match coverage.extent() {
            Extent::None => match lacks() {
                Code::PtxTooNew | Code::CompressionNeedsDriver => Self::Blocked,
                Code::LinkOnly => Self::LinkOnly,
                _ => Self::None,
            },
            Extent::Partial => Self::Partial,
            Extent::Full if coverage.unsure() > 0 => Self::Unsure,
            Extent::Full if coverage.jit() > 0 => Self::Jit,
            Extent::Full => Self::Native,
        }
    }
}

/// A package on one GPU of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OnGpu {
    /// The GPU, as the policy names it.
    pub gpu: String,
    /// Its compute capability.
    pub cc: ComputeCapability,
    /// What it gets of the package's code: that of the library that gives least, where side libraries without code
    /// count as partial; nothing where the package has no code of its own that a GPU could load.
    pub runs: Option<Runs>,
    /// Its libraries with device code of its own, by path. Of siblings of which one is loaded, that one.
    pub libraries: Vec<LibraryOnGpu>,
}

/// A library on a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LibraryOnGpu {
    /// Its path.
    pub library: String,
    /// What the GPU gets of it.
    pub runs: Runs,
    /// Fatbins that count: those for more than one capability, or all where there is none.
    pub fatbins: u64,
    /// Of these, those that the GPU can run.
    pub covered: u64,
    /// Of these, those that the driver compiles first.
    pub jit: u64,
}

impl LibraryOnGpu {
    /// What `figures` say of a library; `coverage` decides, `lacks` says why it has no code where it has none.
    pub(super) fn new(
        path: &str,
        coverage: &Coverage,
        figures: &Coverage,
        lacks: impl FnOnce() -> Code,
    ) -> Self {
        let counted = figures.counted();
        Self {
            library: path.to_owned(),
            runs: Runs::of(coverage, lacks),
            fatbins: counted.total,
            covered: counted.covered,
            jit: figures.jit(),
        }
    }
}

impl OnGpu {
    /// A package with these libraries, of which `findings` are said on this GPU.
    pub(super) fn new(gpu: &TargetGpu, libraries: Vec<LibraryOnGpu>, findings: &[Finding]) -> Self {
        let sides = findings.iter().filter(|finding| {
            let code = finding.code;
            matches!(code, Code::ArchSpecificOnly | Code::LibraryForNewerGpus)
        });
        let sides: BTreeSet<&str> = sides
            .filter_map(|finding| finding.library.as_deref())
            .collect();
        let of_libraries = libraries.iter().map(|one| match one.runs {
            Runs::None if sides.contains(one.library.as_str()) => Runs::Partial,
            runs => runs,
        });
        let paths: BTreeSet<&str> = libraries.iter().map(|one| one.library.as_str()).collect();
        // of the library that would be loaded and is not there
        let is_absent = |finding: &&Finding| {
            let of_one = finding.library.as_deref();
            finding.code == Code::NoKernelImage && !of_one.is_some_and(|one| paths.contains(one))
        };
        let absent = findings.iter().find(is_absent).map(|_| Runs::None);
        let runs = of_libraries.chain(absent).max();
        let drives = |finding: &Finding| {
            !matches!(finding.code, Code::DriverTooOld | Code::DriverDroppedGpu)
        };
        let blocked = !findings.iter().all(drives);
        let mut on = Self {
            gpu: gpu.name.clone(),
            cc: gpu.cc,
            runs,
            libraries,
        };
        if blocked {
            on.block();
        }
        on
    }

    /// Something keeps the code from the GPU.
    pub(super) fn block(&mut self) {
        self.runs = self.runs.map(|runs| runs.max(Runs::Blocked));
    }
}

/// Equal fatbins of a library on a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FatbinsOnGpu<'l> {
    /// What they are made of: one class, or the objects that are linked to one.
    pub classes: Vec<&'l FatbinClass>,
    /// How many there are.
    pub count: u64,
    /// Whether they were meant for more than one capability.
    pub general: bool,
    /// What happens when one is loaded.
    pub state: State,
}

/// The package's own fatbins of `library`, one of `artifact`, on a GPU of `target`: what the figures of
/// [`LibraryOnGpu`] are made of, and those without kernels too.
pub fn fatbins<'l>(
    artifact: &'l Artifact,
    library: &'l Library,
    target: &FleetTarget,
    gpu: &TargetGpu,
    tables: &Tables,
) -> Vec<FatbinsOnGpu<'l>> {
    let of_package = artifact.libraries.iter();
    let of_package: Vec<&Library> = of_package
        .filter(|one| one.package == library.package)
        .collect();
    let os = os_of(artifact, &of_package);
    let driver = target.known_driver(os.unwrap_or(Os::Linux), tables);
    let driver = match OfImage::of(artifact, tables) {
        Some(image) => image.driver(&driver, gpu, tables).0,
        None => driver,
    };
    let package = library
        .package
        .and_then(|index| artifact.packages.get(index));
    let package = package.map(|package| package.name.as_str());
    let driver = if is_linked(package, library, tables) {
        driver.any()
    } else {
        driver
    };
    let on = On {
        cc: gpu.cc,
        tegra: target.tegra,
        driver: &driver,
        tables,
    };
    let units = Units::of(library, |_| true);
    let on_gpu = units.judged(library, on).map(|unit| FatbinsOnGpu {
        classes: unit.classes.to_vec(),
        count: unit.count,
        general: unit.general,
        state: unit.judged.state,
    });
    on_gpu.collect()
}
