//! What the host file says of itself: format, machine, SONAME, NEEDED, search paths, sections.
//!
//! A library is streamed once, so its bytes are kept sparsely (`image`) and parsed by the `object` crate
//! where they lie (`elf`, `pe`).

mod elf;
mod image;
mod note;
mod pe;

use std::ops::Range;

use super::le::u16_at;

pub(super) use image::{HEAD, HostImage};
pub use note::{BrokenNote, ForwardNote};

/// Libraries that a file may name as needed before the rest is left out.
const NEEDED_MAX: usize = 4096;
/// What is said of one that names more.
const TOO_MANY_NEEDED: &str = "it names more libraries that it needs than are counted";
/// Bytes kept of the name of a section: many sections may share one long name.
const SECTION_NAME_MAX: usize = 256;

/// The format of a host file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostFormat {
    /// An ELF executable or shared object.
    Elf,
    /// An ELF object file, to be linked.
    ElfObject,
    /// A Windows executable, `.dll` or `.pyd`.
    Pe,
    /// A static library.
    Ar,
    /// A Windows object file.
    Coff,
    /// Anything else, device code by itself included.
    Raw,
}

impl HostFormat {
    /// Every format.
    pub const ALL: &[Self] = &[
        Self::Elf,
        Self::ElfObject,
        Self::Pe,
        Self::Ar,
        Self::Coff,
        Self::Raw,
    ];

    /// The format of the file that begins with `head`.
    pub fn of(head: &[u8]) -> Self {
        if head.starts_with(b"\x7fELF") && u16_at(head, 18) != Some(190) {
            // e_type 1 is ET_REL
            if u16_at(head, 16) == Some(1) {
                Self::ElfObject
            } else {
                Self::Elf
            }
        } else if head.starts_with(b"MZ") {
            Self::Pe
        } else if head.starts_with(b"!<arch>\n") || head.starts_with(b"!<thin>\n") {
            Self::Ar
        } else if matches!(u16_at(head, 0), Some(0x8664 | 0xaa64)) && head.len() >= 20 {
            Self::Coff
        } else {
            Self::Raw
        }
    }

    /// Whether it is a program or a library as it is loaded, and no input of a linker.
    pub const fn is_linked(self) -> bool {
        matches!(self, Self::Elf | Self::Pe)
    }

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Elf => "elf",
            Self::ElfObject => "elf-object",
            Self::Pe => "pe",
            Self::Ar => "ar",
            Self::Coff => "coff",
            Self::Raw => "raw",
        }
    }
}

/// What a host file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// The file format.
    pub format: HostFormat,
    /// The CPU it is for, as the format names it: `x86_64`, `aarch64`; none where it is not known.
    pub machine: Option<&'static str>,
    /// The name that other libraries need it by.
    pub soname: Option<String>,
    /// Libraries that it needs, as written, in file order.
    pub needed: Vec<String>,
    /// `DT_RPATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`.
    pub runpath: Option<String>,
    /// The note of a forward compatibility driver, `libcuda.so` of `cuda-compat`, where it has one.
    pub forward_compatibility: Option<Result<ForwardNote, BrokenNote>>,
    pub(super) sections: Vec<HostSection>,
    /// File offset and address of what is loaded, to translate pointers.
    pub(super) segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostSection {
    pub(super) name: String,
    pub(super) range: Range<u64>,
}

impl HostSection {
    /// A section of that name; one that is too long is cut, and marked as cut.
    fn new(name: &[u8], range: Range<u64>) -> Self {
        let name = match name.get(..SECTION_NAME_MAX) {
            Some(kept) if name.len() > SECTION_NAME_MAX => {
                format!("{}\u{2026}", String::from_utf8_lossy(kept))
            }
            _ => String::from_utf8_lossy(name).into_owned(),
        };
        Self { name, range }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    address: u64,
    file: Range<u64>,
}

impl HostFacts {
    pub(super) fn new(format: HostFormat) -> Self {
        Self {
            format,
            machine: None,
            soname: None,
            needed: Vec::new(),
            rpath: None,
            runpath: None,
            forward_compatibility: None,
            sections: Vec::new(),
            segments: Vec::new(),
        }
    }

    /// The section that holds a file offset.
    pub(super) fn section_at(&self, offset: u64) -> Option<&HostSection> {
        // sections do not overlap in honest files: one of the few that begin before it, or none
        let before = self
            .sections
            .partition_point(|section| section.range.start <= offset);
        let near = self.sections.get(before.saturating_sub(8)..before)?;
        near.iter()
            .rev()
            .find(|section| section.range.contains(&offset))
    }

    /// The file offset of a loaded address.
    pub(super) fn offset_of(&self, address: u64) -> Option<u64> {
        self.segments.iter().find_map(|segment| {
            let offset = segment
                .file
                .start
                .checked_add(address.checked_sub(segment.address)?)?;
            segment.file.contains(&offset).then_some(offset)
        })
    }
}
