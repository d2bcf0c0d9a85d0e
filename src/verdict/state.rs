//! The state of one fatbin on one GPU: the best that any of its images gives.

use crate::compat::{Driver, Fit, cubin_fit, ptx_fit};
use crate::cuda::{ComputeCapability, PtxIsa, SmTarget};
use crate::device::{Coding, ImageKey, ImageKind};
use crate::tables::Tables;

/// What happens when a fatbin is loaded on a GPU, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Machine code fits.
    Native,
    /// The driver compiles its PTX.
    Jit,
    /// The evidence conflicts; taken as covered, and said.
    Unsure,
    /// PTX would fit, and is newer than the driver accepts.
    JitBlocked,
    /// Code would fit, and the driver cannot unpack it.
    CodingBlocked,
    /// Only LTO-IR fits.
    LinkOnly,
    /// Nothing fits.
    None,
}

impl State {
    /// Whether the GPU can run the fatbin's kernels.
    pub const fn covers(self) -> bool {
        matches!(self, Self::Native | Self::Jit | Self::Unsure)
    }
}

/// A state, and what of the fatbin's image made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) state: State,
    /// The PTX ISA of the PTX that is compiled, or that is too new.
    pub(super) isa: Option<PtxIsa>,
    /// How the image that decides is stored.
    pub(super) coding: Coding,
}

impl Judged {
    pub(super) const NONE: Self = Self {
        state: State::None,
        isa: None,
        coding: Coding::None,
    };
}

/// A GPU with its driver.
#[derive(Debug, Clone, Copy)]
pub(super) struct On<'a> {
    pub(super) cc: ComputeCapability,
    pub(super) driver: &'a Driver<'a>,
    pub(super) tables: &'a Tables,
}

/// The state of a fatbin with these images.
pub(super) fn judge(images: impl IntoIterator<Item = ImageKey>, on: On<'_>) -> Judged {
    let mut cubin: Option<(SmTarget, ImageKey)> = None;
    let mut unsure: Option<ImageKey> = None;
    let mut ptx: Option<(SmTarget, ImageKey)> = None;
    let mut linkable: Option<ImageKey> = None;
    for image in images {
        let Some(target) = image.target else { continue };
        match image.kind {
            ImageKind::Cubin => match cubin_fit(target, on.cc, on.tables) {
                // the driver takes the closest one
                Fit::Yes if cubin.is_none_or(|(best, _)| best < target) => {
                    cubin = Some((target, image));
                }
                Fit::Unsure => unsure = Some(image),
                Fit::Yes | Fit::No => {}
            },
            ImageKind::Ptx | ImageKind::RelocatablePtx => {
                let closer = ptx.is_none_or(|(best, _)| best < target);
                if closer && ptx_fit(target, on.cc, on.tables) {
                    ptx = Some((target, image));
                }
            }
            ImageKind::LtoIr => {
                if ptx_fit(target, on.cc, on.tables) {
                    linkable = Some(image);
                }
            }
            ImageKind::TileIr | ImageKind::Index | ImageKind::Unknown(_) => {}
        }
    }
    let judged = |state, image: ImageKey| Judged {
        state,
        isa: image.isa,
        coding: image.coding,
    };
    if let Some((_, image)) = cubin {
        let unpacks = on.driver.unpacks(image.coding);
        // Whether PTX beside code that cannot be unpacked is tried is not known: fail closed.
        return judged(
            if unpacks {
                State::Native
            } else {
                State::CodingBlocked
            },
            image,
        );
    }
    let compiled = ptx.map(|(_, image)| {
        let state = if !on.driver.accepts_isa(image.isa) {
            State::JitBlocked
        } else if !on.driver.unpacks(image.coding) {
            State::CodingBlocked
        } else {
            State::Jit
        };
        judged(state, image)
    });
    let tolerated = unsure.map(|image| {
        let unpacks = on.driver.unpacks(image.coding);
        judged(
            if unpacks {
                State::Unsure
            } else {
                State::CodingBlocked
            },
            image,
        )
    });
    let linked = linkable.map(|image| judged(State::LinkOnly, image));
    let best = [compiled, tolerated, linked]
        .into_iter()
        .flatten()
        .min_by_key(|judged| judged.state);
    best.unwrap_or(Judged::NONE)
}
