//! How much of a library a GPU can run: fatbin by fatbin, never the union of architectures.
//!
//! Which fatbins count was tried on more than a hundred real wheels; each rule below names the wheel that
//! taught it. *General* fatbins hold images for more than one capability and were meant to run widely;
//! *single-target* ones are one architecture's file of a library that dispatches by itself.

use crate::cuda::PtxIsa;
use crate::device::Coding;
use crate::inventory::Library;

use super::state::{Judged, On, State};
use super::units::{Units, is_empty};

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
        self.total = self.total.saturating_add(count);
        let covered = if covers { count } else { 0 };
        self.covered = self.covered.saturating_add(covered);
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
    /// Fatbins for one capability, or bare images where there is nothing else.
    pub(super) single: Count,
    /// Fatbins that the driver compiles, among the general ones and the others.
    jit_general: u64,
    jit_single: u64,
    native_single: u64,
    unsure_general: u64,
    unsure_single: u64,
    pub(super) jit_blocked: u64,
    pub(super) coding_blocked: u64,
    /// Of them those that are not general, and their newest PTX ISA.
    blocked_single: u64,
    isa_blocked_single: Option<PtxIsa>,
    general_link_only: u64,
    single_link_only: u64,
    /// The newest PTX ISA that is compiled, or would be, among the general ones and the others.
    isa_general: Option<PtxIsa>,
    isa_single: Option<PtxIsa>,
    /// Whether code that counts is compressed with zstd.
    pub(super) zstd: bool,
    /// Whether the library holds no fatbin that counts, only images by themselves.
    bare_only: bool,
}

impl Coverage {
    /// The coverage of the package's own code in `library`; `None` where it has none that can be loaded.
    ///
    /// Fatbins without any kernel say nothing, so they must not decide.
    pub(super) fn of(library: &Library, on: On<'_>) -> Option<Self> {
        let units = Units::of(library, |class| !is_empty(class));
        if units.is_empty() {
            return None;
        }
        Some(Self::of_units(&units, library, on))
    }

    /// The figures to show: those of all fatbins, as every other tool counts them, where fatbins without
    /// kernels change no answer at `shares`.
    pub(super) fn figures(&self, library: &Library, on: On<'_>, shares: &[f64]) -> Self {
        let everything = Self {
            isa_general: self.isa_general,
            isa_single: self.isa_single,
            zstd: self.zstd,
            ..Self::of_units(&Units::of(library, |_| true), library, on)
        };
        let answers = |coverage: &Self| {
            let carries: Vec<bool> = shares.iter().map(|s| coverage.carries(*s)).collect();
            (
                coverage.extent(),
                coverage.if_linked().extent(),
                carries,
                coverage.jit() > 0,
                coverage.unsure() > 0,
            )
        };
        if answers(self) == answers(&everything) {
            everything
        } else {
            self.clone()
        }
    }

    fn of_units(units: &Units<'_>, library: &Library, on: On<'_>) -> Self {
        let mut coverage = Self {
            bare_only: units.are_bare(),
            ..Self::empty()
        };
        for unit in units.judged(library, on) {
            coverage.count(unit.count, unit.general, unit.judged);
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
            unsure_general: 0,
            unsure_single: 0,
            jit_blocked: 0,
            coding_blocked: 0,
            blocked_single: 0,
            isa_blocked_single: None,
            general_link_only: 0,
            single_link_only: 0,
            isa_general: None,
            isa_single: None,
            zstd: false,
            bare_only: false,
        }
    }

    fn count(&mut self, count: u64, general: bool, judged: Judged) {
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
        let sum = match judged.state {
            State::Native if !general => Some(&mut self.native_single),
            State::Native | State::None => None,
            State::Jit => Some(jit),
            State::Unsure if general => Some(&mut self.unsure_general),
            State::Unsure => Some(&mut self.unsure_single),
            State::JitBlocked => Some(&mut self.jit_blocked),
            State::CodingBlocked => Some(&mut self.coding_blocked),
            State::LinkOnly if general => Some(&mut self.general_link_only),
            State::LinkOnly => Some(&mut self.single_link_only),
        };
        if let Some(sum) = sum {
            *sum = sum.saturating_add(count);
        }
        if !general && matches!(judged.state, State::JitBlocked | State::CodingBlocked) {
            self.blocked_single = self.blocked_single.saturating_add(count);
            if judged.state == State::JitBlocked {
                self.isa_blocked_single = self.isa_blocked_single.max(judged.isa);
            }
        }
        if matches!(judged.state, State::Jit | State::JitBlocked) {
            *isa = (*isa).max(judged.isa);
        }
        let needed = judged.state.covers() || judged.state == State::CodingBlocked;
        self.zstd |= needed && judged.coding == Coding::Zstd;
    }

    /// The coverage that it would be, were its LTO-IR linked at run time.
    pub(super) fn if_linked(&self) -> Self {
        let mut linked = self.clone();
        for (count, more) in [
            (&mut linked.general, self.general_link_only),
            (&mut linked.single, self.single_link_only),
        ] {
            count.covered = count.covered.saturating_add(more);
        }
        linked
    }

    /// Whether single-target fatbins decide: there are no general ones, and none of them is native, which a
    /// library that dispatches by itself would choose (libcublasLt: 1 of 3,817 fatbins is PTX for a T4).
    fn singles_decide(&self) -> bool {
        self.general.total == 0 && self.native_single == 0
    }

    /// Counted fatbins that the driver must compile.
    pub(super) fn jit(&self) -> u64 {
        self.counting_singles(self.jit_general, self.jit_single)
    }

    /// Counted fatbins of which nobody promises that they run.
    pub(super) fn unsure(&self) -> u64 {
        self.counting_singles(self.unsure_general, self.unsure_single)
    }

    /// Single-target fatbins, beside code that runs, that would run but for the driver. They fit this GPU, so they
    /// are not files of other GPUs. With the newest PTX ISA of those that must be compiled.
    pub(super) fn blocked_beside(&self) -> (u64, Option<PtxIsa>) {
        match self.extent() {
            Extent::Full => (self.blocked_single, self.isa_blocked_single),
            Extent::Partial | Extent::None => (0, None),
        }
    }

    fn counting_singles(&self, general: u64, single: u64) -> u64 {
        general.saturating_add(if self.singles_decide() { single } else { 0 })
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

    /// How much of the library the GPU can run.
    pub(super) fn extent(&self) -> Extent {
        let covered = self.general.covered.max(self.single.covered);
        if covered == 0 || (self.general.total > 0 && self.general.covered == 0) {
            Extent::None
        } else if self.general.covered == self.general.total {
            Extent::Full
        } else {
            Extent::Partial
        }
    }

    /// Whether its fatbins carry a target, so that another library may be a side library.
    pub(super) fn carries_others(&self) -> bool {
        !self.bare_only && self.carries(HALF)
    }

    /// Whether at least `share` of its general fatbins are covered (of all, where there are none).
    pub(super) fn carries(&self, share: f64) -> bool {
        let Count { total, covered } = self.counted();
        #[expect(
            clippy::cast_precision_loss,
            reason = "a library has far fewer than 2^52 fatbins"
        )]
        let (total, covered) = (total as f64, covered as f64);
        // a quotient, because it is rounded as the share was when it was read: 55 of 100 is 0.55
        covered > 0.0 && covered / total >= share
    }
}
