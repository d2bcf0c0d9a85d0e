//! How much of a library a GPU can run: fatbin by fatbin, never the union of architectures.
//!
//! Which fatbins count was tried on more than a hundred real wheels; each rule below names the wheel that
//! taught it. *General* fatbins hold images for more than one capability and were meant to run widely;
//! *single-target* ones are one architecture's file of a library that dispatches by itself.

use std::collections::BTreeSet;

use crate::cuda::{PtxIsa, SmTarget};
use crate::device::{Coding, FatbinClass, ImageKey, ImageKind};
use crate::inventory::Library;

use super::state::{Judged, On, State, judge};

/// Fatbins of one kind, and how many of them are covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Count {
    /// All of them.
    pub(super) total: u64,
    /// Those that the GPU can run.
    pub(super) covered: u64,
}

impl Count {
    fn add(&mut self, count: u64, covers: bool) {
        self.total += count;
        self.covered += if covers { count } else { 0 };
    }
}

/// How much of a library a GPU can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// All of its general fatbins.
    Full,
    /// Some of them.
    Partial,
    /// None.
    None,
}

/// What it takes to carry a target, where no policy says otherwise.
pub(super) const HALF: f64 = 0.5;

/// The coverage of one library on one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Coverage {
    /// Fatbins with images for more than one capability.
    pub(super) general: Count,
    /// Fatbins for one capability, and bare images.
    pub(super) single: Count,
    /// Fatbins that the driver compiles, among the general ones and the others.
    jit_general: u64,
    jit_single: u64,
    native_single: u64,
    pub(super) unsure: u64,
    pub(super) jit_blocked: u64,
    pub(super) coding_blocked: u64,
    pub(super) link_only: u64,
    /// The newest PTX ISA that is compiled, or would be, among the general ones and the others.
    isa_general: Option<PtxIsa>,
    isa_single: Option<PtxIsa>,
    /// Whether code that counts is compressed with zstd.
    pub(super) zstd: bool,
}

impl Coverage {
    /// The coverage of the package's own code in `library`; `None` where it has none that can be loaded.
    ///
    /// Fatbins without any kernel say nothing, so they must not decide. Where they don't, they are counted
    /// like the others, and the figures are those of every other tool.
    pub(super) fn of(library: &Library, on: On<'_>) -> Option<Self> {
        let units = Units::of(library, |class| !is_empty(class));
        if units.loadable.is_empty() {
            return None;
        }
        let with_kernels = Self::of_units(&units, library, on);
        let everything = Self::of_units(&Units::of(library, |_| true), library, on);
        let conclusion = |coverage: &Self| {
            (
                coverage.extent(),
                coverage.carries(HALF),
                coverage.jit() > 0,
            )
        };
        Some(if conclusion(&with_kernels) == conclusion(&everything) {
            everything
        } else {
            with_kernels
        })
    }

    fn of_units(units: &Units<'_>, library: &Library, on: On<'_>) -> Self {
        let mut coverage = Self::empty();
        for class in &units.loadable {
            let mut judged = judge(images(class), on);
            if !judged.state.covers() && units.is_linked(class) && units.relinks(on) {
                // the driver links again from the PTX of every object (rule 2.12)
                let relinked = units.relocatable.iter().flat_map(|class| images(class));
                judged.state = State::Jit;
                judged.isa = relinked.filter_map(|key| key.isa).max();
            }
            coverage.count(class, is_general(class) && !library.dispatches, judged);
        }
        coverage
    }

    const fn empty() -> Self {
        Self {
            general: Count {
                total: 0,
                covered: 0,
            },
            single: Count {
                total: 0,
                covered: 0,
            },
            jit_general: 0,
            jit_single: 0,
            native_single: 0,
            unsure: 0,
            jit_blocked: 0,
            coding_blocked: 0,
            link_only: 0,
            isa_general: None,
            isa_single: None,
            zstd: false,
        }
    }

    fn count(&mut self, class: &FatbinClass, general: bool, judged: Judged) {
        let count = class.count;
        let (kind, jit, isa) = if general {
            (
                &mut self.general,
                &mut self.jit_general,
                &mut self.isa_general,
            )
        } else {
            (&mut self.single, &mut self.jit_single, &mut self.isa_single)
        };
        kind.add(count, judged.state.covers());
        match judged.state {
            State::Native if !general => self.native_single += count,
            State::Native | State::None => {}
            State::Jit => *jit += count,
            State::Unsure => self.unsure += count,
            State::JitBlocked => self.jit_blocked += count,
            State::CodingBlocked => self.coding_blocked += count,
            State::LinkOnly => self.link_only += count,
        }
        if matches!(judged.state, State::Jit | State::JitBlocked) {
            *isa = (*isa).max(judged.isa);
        }
        let needed = judged.state.covers() || judged.state == State::CodingBlocked;
        self.zstd |= needed && judged.coding == Coding::Zstd;
    }

    /// Whether single-target fatbins decide: there are no general ones, and none of them is native, which a
    /// library that dispatches by itself would choose (libcublasLt: 1 of 3,817 fatbins is PTX for a T4).
    fn singles_decide(&self) -> bool {
        self.general.total == 0 && self.native_single == 0
    }

    /// Counted fatbins that the driver must compile.
    pub(super) fn jit(&self) -> u64 {
        self.jit_general
            + if self.singles_decide() {
                self.jit_single
            } else {
                0
            }
    }

    /// The newest PTX ISA that must be compiled.
    pub(super) fn newest_isa(&self) -> Option<PtxIsa> {
        self.isa_general.max(if self.singles_decide() {
            self.isa_single
        } else {
            None
        })
    }

    /// Fatbins that are counted: the general ones, or all where there is none.
    pub(super) fn counted(&self) -> Count {
        if self.general.total > 0 {
            self.general
        } else {
            self.single
        }
    }

    /// Every fatbin of the package's own.
    pub(super) fn all(&self) -> u64 {
        self.general.total + self.single.total
    }

    /// How much of the library the GPU can run.
    pub(super) fn extent(&self) -> Extent {
        let covered = self.general.covered + self.single.covered;
        if covered == 0 || (self.general.total > 0 && self.general.covered == 0) {
            Extent::None
        } else if self.general.covered == self.general.total {
            Extent::Full
        } else {
            Extent::Partial
        }
    }

    /// Whether at least `share` of its general fatbins are covered (of all, where there are none).
    pub(super) fn carries(&self, share: f64) -> bool {
        let Count { total, covered } = self.counted();
        #[expect(
            clippy::cast_precision_loss,
            reason = "a library has far fewer than 2^52 fatbins"
        )]
        let (total, covered) = (total as f64, covered as f64);
        covered > 0.0 && covered >= total * share
    }
}

/// The package's own fatbins in a library, sorted by what they are for.
#[derive(Debug)]
struct Units<'l> {
    /// What can be loaded by itself.
    loadable: Vec<&'l FatbinClass>,
    /// What is linked first.
    relocatable: Vec<&'l FatbinClass>,
    /// Whether the control records tell which fatbins a device link made.
    links_known: bool,
}

impl<'l> Units<'l> {
    fn of(library: &'l Library, counts: impl Fn(&FatbinClass) -> bool) -> Self {
        let own = library
            .code
            .iter()
            .filter(|code| code.own)
            .map(|code| &code.class);
        // a fatbin of which nothing could be read is a problem, not a gap
        let own = own.filter(|class| class.images.iter().any(|image| image.key.target.is_some()));
        // code to be linked has its say even without a kernel: what it holds is called by others
        let (relocatable, loadable): (Vec<_>, Vec<_>) = own
            .filter(|class| class.relocatable || counts(class))
            .partition(|class| class.relocatable);
        let links_known = loadable.iter().any(|class| class.device_linked);
        Self {
            loadable,
            relocatable,
            links_known,
        }
    }

    /// Whether a device link made the fatbins of `class`. Where the records cannot be read, it is taken to
    /// have made those that hold cubins only, as it does.
    fn is_linked(&self, class: &FatbinClass) -> bool {
        if self.links_known {
            return class.device_linked;
        }
        let cubins_only = class
            .images
            .iter()
            .all(|image| image.key.kind == ImageKind::Cubin);
        !self.relocatable.is_empty() && !class.bare && cubins_only
    }

    /// Whether the driver can link anew from what the objects hold.
    fn relinks(&self, on: On<'_>) -> bool {
        !self.relocatable.is_empty()
            && self
                .relocatable
                .iter()
                .all(|class| judge(images(class), on).state.covers())
    }
}

fn images(class: &FatbinClass) -> impl Iterator<Item = ImageKey> + '_ {
    class.images.iter().map(|image| image.key)
}

/// Whether a fatbin holds nothing that could run: no image at all, or code without any kernel. nvcc leaves
/// such code for its default architecture in libraries without kernels (libnppc.so.12).
fn is_empty(class: &FatbinClass) -> bool {
    let mut cubins = images(class)
        .filter(|key| key.kind == ImageKind::Cubin)
        .peekable();
    if cubins.peek().is_some() {
        return cubins.all(|key| key.empty);
    }
    let mut code = images(class)
        .filter(|key| key.kind.is_ptx() || key.kind == ImageKind::LtoIr)
        .peekable();
    code.peek().is_none() || code.all(|key| key.empty)
}

/// Whether a fatbin was meant for more than one capability. Bare images are for the one they name.
fn is_general(class: &FatbinClass) -> bool {
    let capabilities: BTreeSet<_> = images(class)
        .filter_map(|key| key.target)
        .map(|target| target.cc)
        .collect();
    !class.bare && capabilities.len() > 1
}

/// Every target that the package's own code in `library` was built for, with its kind.
pub(super) fn own_targets(library: &Library) -> BTreeSet<(ImageKind, SmTarget)> {
    let classes = library
        .code
        .iter()
        .filter(|code| code.own && !is_empty(&code.class));
    classes
        .flat_map(|code| images(&code.class))
        .filter_map(|key| Some((key.kind, key.target?)))
        .collect()
}
