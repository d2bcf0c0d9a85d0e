//! What a device image is good for, in the words of reports.

use std::fmt;

use super::image::{FatbinClass, ImageKind};

/// What can be done with a device image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeForm {
    /// Machine code that a driver loads.
    MachineCode,
    /// Text that a driver compiles.
    Ptx,
    /// Machine code or PTX of separately compiled objects, which a linker must join first.
    ToBeLinked,
    /// Intermediate code that is linked at run time.
    LtoIr,
    /// Anything else.
    Other,
}

impl CodeForm {
    /// Every form, in the order of reports.
    pub const ALL: &[Self] = &[
        Self::MachineCode,
        Self::Ptx,
        Self::ToBeLinked,
        Self::LtoIr,
        Self::Other,
    ];

    /// The form of an image of `kind` in `class`.
    pub const fn of(class: &FatbinClass, kind: ImageKind) -> Self {
        match kind {
            ImageKind::LtoIr => Self::LtoIr,
            ImageKind::Cubin | ImageKind::Ptx | ImageKind::RelocatablePtx if class.relocatable => {
                Self::ToBeLinked
            }
            ImageKind::Cubin => Self::MachineCode,
            ImageKind::Ptx | ImageKind::RelocatablePtx => Self::Ptx,
            ImageKind::TileIr | ImageKind::Index | ImageKind::Unknown(_) => Self::Other,
        }
    }

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::MachineCode => "machine-code",
            Self::Ptx => "ptx",
            Self::ToBeLinked => "to-be-linked",
            Self::LtoIr => "lto-ir",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for CodeForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `pad`, so that columns have a width
        f.pad(match self {
            Self::MachineCode => "machine code",
            Self::Ptx => "PTX",
            Self::ToBeLinked => "to be linked",
            Self::LtoIr => "LTO-IR",
            Self::Other => "other",
        })
    }
}
