//! Whose code it is, by the names of its kernels, in the words of whoever feeds the scanner.
//!
//! Libraries of NVIDIA's are also linked statically into others (the profiler's kernels in `libtorch_cpu.so`
//! of torch 1.13.1). Which names belong to whom is not known here: the caller says it, with a number.

use std::fmt;

/// Says with a number of its own choice whose a kernel is, by its name, or nothing.
pub type Recognise<'r> = &'r (dyn Fn(&str) -> Option<u16> + Sync);

/// The caller's recogniser, or none.
#[derive(Clone, Copy, Default)]
pub(super) struct Recogniser<'r>(pub(super) Option<Recognise<'r>>);

impl fmt::Debug for Recogniser<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Recogniser"
        } else {
            "none"
        })
    }
}

/// Whose the kernels are that were seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Owner {
    /// None was seen.
    #[default]
    Unseen,
    /// All are somebody's whom the caller knows.
    Known(u16),
    /// At least one is not, or could not be seen.
    Other,
}

impl Owner {
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unseen, owner) | (owner, Self::Unseen) => owner,
            (Self::Known(a), Self::Known(b)) if a == b => self,
            _ => Self::Other,
        }
    }

    pub(super) fn known(self) -> Option<u16> {
        match self {
            Self::Known(owner) => Some(owner),
            Self::Unseen | Self::Other => None,
        }
    }
}

impl Recogniser<'_> {
    /// Whose the kernel called `name` is.
    pub(super) fn owner(self, name: &[u8]) -> Owner {
        let known = self
            .0
            .and_then(|recognise| recognise(std::str::from_utf8(name).ok()?));
        known.map_or(Owner::Other, Owner::Known)
    }
}
