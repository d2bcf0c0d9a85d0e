//! Device images: what one cubin, PTX text or other entry is, and classes of fatbins that hold the same.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::cuda::{PtxIsa, SmTarget};

use super::payload::Coding;

/// The kind of a device image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageKind {
    /// Machine code for one sm target.
    Cubin,
    /// Virtual-ISA text that the driver compiles.
    Ptx,
    /// PTX of separately compiled objects, to be linked.
    RelocatablePtx,
    /// Intermediate code for nvJitLink; not loadable by itself.
    LtoIr,
    /// Tile IR bytecode.
    TileIr,
    /// An index entry; its format is not public.
    Index,
    /// Any other kind number of a fatbin entry.
    Unknown(u16),
}

impl ImageKind {
    /// The kind that a number in an entry header stands for (FORMAT.md §4.1).
    pub(super) const fn from_entry(kind: u16) -> Self {
        match kind {
            0x01 => Self::Ptx,
            0x02 => Self::Cubin,
            0x08 => Self::LtoIr,
            0x20 => Self::Index,
            0x40 => Self::RelocatablePtx,
            0x80 => Self::TileIr,
            other => Self::Unknown(other),
        }
    }

    /// Whether the payload is PTX text.
    pub const fn is_ptx(self) -> bool {
        matches!(self, Self::Ptx | Self::RelocatablePtx)
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cubin => "cubin",
            Self::Ptx => "ptx",
            Self::RelocatablePtx => "relocatable-ptx",
            Self::LtoIr => "lto-ir",
            Self::TileIr => "tile-ir",
            Self::Index => "index",
            Self::Unknown(kind) => return write!(f, "unknown-{kind:#04x}"),
        })
    }
}

impl FromStr for ImageKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = [
            Self::Cubin,
            Self::Ptx,
            Self::RelocatablePtx,
            Self::LtoIr,
            Self::TileIr,
            Self::Index,
        ];
        named
            .into_iter()
            .find(|kind| kind.to_string() == text)
            .or_else(|| {
                let number = text.strip_prefix("unknown-0x")?;
                u16::from_str_radix(number, 16).ok().map(Self::Unknown)
            })
            .ok_or(())
    }
}

/// What coverage needs to know of a device image; equal images count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageKey {
    /// The kind.
    pub kind: ImageKind,
    /// What it was built for, as its payload says it; the `f` of a cubin only the entry header knows.
    pub target: Option<SmTarget>,
    /// The PTX ISA version, of PTX only.
    pub isa: Option<PtxIsa>,
    /// How the payload is stored.
    pub coding: Coding,
    /// What the entry header says where the payload says otherwise.
    pub header: Option<HeaderClaim>,
    /// Whether the cubin is relocatable (ELF type REL): to be linked before it can be loaded.
    pub relocatable: bool,
    /// Known to hold no kernel at all.
    pub empty: bool,
}

impl ImageKey {
    /// Whether it is machine code or PTX, whose kernels have names that can be read.
    pub(super) const fn is_code(&self) -> bool {
        matches!(self.kind, ImageKind::Cubin) || self.kind.is_ptx()
    }

    /// The name of its target in the spelling of its kind: `sm_90a` or `compute_90a`.
    pub fn target_name(&self) -> Option<String> {
        self.target.map(|target| {
            if self.kind.is_ptx() {
                target.compute().to_string()
            } else {
                target.to_string()
            }
        })
    }
}

/// What an entry header states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeaderClaim {
    /// The target.
    pub target: Option<SmTarget>,
    /// The PTX ISA version, of PTX only.
    pub isa: Option<PtxIsa>,
}

/// Equal images of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageTally {
    /// What they are.
    pub key: ImageKey,
    /// How many of them one fatbin of the class holds.
    pub per_fatbin: u64,
    /// Bytes as stored, over all fatbins of the class.
    pub bytes: u64,
}

/// Where a class of fatbins or bare images lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In the section of that name.
    Section(String),
    /// In a host file, outside every section (or its sections could not be read).
    NoSection,
    /// The file is the device code itself, or has no sections by its format.
    File,
}

impl Place {
    /// The name shown for it.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Section(name) => Some(name),
            Self::NoSection => None,
            Self::File => Some("file"),
        }
    }

    /// Whether the linker put relocatable code there, which cannot be loaded by itself.
    pub(super) fn is_relocatable(&self) -> bool {
        // ELF, and the same name cut to eight bytes in PE and COFF
        matches!(self, Self::Section(name) if name == "__nv_relfatbin" || name == "__nv_rel")
    }
}

/// Fatbins that hold the same set of images, or equal bare images: one row of coverage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FatbinClass {
    /// Whether these are bare images, outside any fatbin.
    pub bare: bool,
    /// Where they lie.
    pub place: Place,
    /// Whether they must be linked before they can be loaded.
    pub relocatable: bool,
    /// Whether these are the result of a device link.
    pub device_linked: bool,
    /// Whether some of what their headers promise could not be read.
    pub damaged: bool,
    /// What the caller's recogniser says of all of their kernels.
    pub owner: Option<u16>,
    /// The images, ascending by key.
    pub images: Vec<ImageTally>,
    /// How many fatbins (or bare images).
    pub count: u64,
    /// Bytes as stored, headers included.
    pub bytes: u64,
    /// Offset of the first one in its file.
    pub first: u64,
    /// A bounded sample of the identifiers stored in their entries.
    pub names: Vec<String>,
    /// The names of the kernels in any of them, as linkers know them, ascending; none where they were not read:
    /// nobody asked, or it is PTX or a zstd frame outside fatbins.
    pub kernels: Option<Vec<Arc<str>>>,
}
