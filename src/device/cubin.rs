//! Cubins: the ELF files of machine code inside fatbins or by themselves.
//!
//! Reads what a gate needs: target, suffix, toolkit, whether it is relocatable and whether it holds any
//! kernel. Format: FORMAT.md §7 (both ABIs, measured on CUDA 11.8 to 13.5).

mod symbols;

use crate::cuda::{ComputeCapability, SmTarget, Suffix, ToolkitVersion};

use super::le::{c_str, range, u16_at, u32_at, u64_at};
pub(super) use symbols::NoNames;

/// Bytes that [`CubinHead::parse`] needs.
pub(super) const HEAD_LEN: usize = 64;

/// The lowest target number that has an `a` variant.
pub(super) const FIRST_ARCH_SPECIFIC: u16 = 90;
const EM_CUDA: u16 = 190;
const ET_REL: u16 = 1;
const OSABI_V7: u8 = 0x33;
const OSABI_V8: u8 = 0x41;
/// `.nv.compat`, section type of the attributes that carry the `a` suffix from CUDA 13.0 on.
const SHT_COMPAT: u32 = 0x7000_0086;
const SHT_NOTE: u32 = 7;
const SHT_NOBITS: u32 = 8;
/// Bytes of a section name that are looked at: many sections may share one long name.
const SECTION_NAME_MAX: usize = 4 << 10;
/// Notes of one cubin that are looked at: many sections may share their bytes.
const NOTES_MAX: usize = 1 << 16;
const COMPAT_ARCH_SPECIFIC: u8 = 9;
/// The name of every note of CUDA tools.
pub(super) const NOTE_NAME: &[u8] = b"NVIDIA Corp\0";
const NOTE_TKINFO: u32 = 2000;
const NOTE_CUINFO: u32 = 1000;

/// The ELF header of a cubin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CubinHead {
    /// The target; a suffix `a` of ABI 8 from CUDA 13.0 on is not in the header, `f` never is.
    pub(super) target: Option<SmTarget>,
    /// 7 or 8 (older ABIs share the layout of 7).
    pub(super) abi: u8,
    pub(super) relocatable: bool,
    /// Known from the header in ABI 7 only.
    pub(super) toolkit: Option<ToolkitVersion>,
    wide: bool,
    section_table: Table,
    program_table: Table,
    names_index: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Table {
    offset: u64,
    entry_len: u16,
    count: u16,
}

impl Table {
    fn end(self) -> Option<u64> {
        self.offset
            .checked_add(u64::from(self.entry_len) * u64::from(self.count))
    }
}

impl CubinHead {
    /// The head of a cubin, where `data` begins with one.
    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        let [
            0x7f,
            b'E',
            b'L',
            b'F',
            class @ (1 | 2),
            1,
            1,
            osabi @ (OSABI_V7 | OSABI_V8),
            version,
            ..,
        ] = *data
        else {
            return None;
        };
        if u16_at(data, 18)? != EM_CUDA {
            return None;
        }
        let wide = class == 2;
        let word = |wide_at, narrow_at| {
            if wide {
                u64_at(data, wide_at)
            } else {
                u32_at(data, narrow_at).map(u64::from)
            }
        };
        let half = |wide_at, narrow_at| u16_at(data, if wide { wide_at } else { narrow_at });
        let flags = if wide {
            u32_at(data, 0x30)?
        } else {
            u32_at(data, 0x24)?
        };
        let (number, specific, toolkit) = if osabi == OSABI_V8 {
            // 12.8 and 12.9 set bit 3 for `a`; 13.0 and later say it in `.nv.compat`
            ((flags >> 8) & 0xffff, flags & 0x08 != 0, None)
        } else {
            let tenfold = u32_at(data, 0x14)?;
            let toolkit = (50..=255)
                .contains(&tenfold)
                .then(|| ToolkitVersion::from_tenfold(tenfold));
            (flags & 0xff, flags & 0x800 != 0, toolkit)
        };
        // Some cubins before sm_90 have the bit too; no `a` variant exists there and cuobjdump shows none
        // (libcublas.so.12 12.9.3.13: one sm_50, two sm_60, two sm_61).
        let specific = specific && number >= FIRST_ARCH_SPECIFIC.into();
        let suffix = if specific { Suffix::Arch } else { Suffix::None };
        Some(Self {
            target: ComputeCapability::from_number(number).map(|cc| SmTarget::new(cc, suffix)),
            abi: if osabi == OSABI_V8 { 8 } else { version.min(7) },
            relocatable: u16_at(data, 16)? == ET_REL,
            toolkit,
            wide,
            program_table: Table {
                offset: word(0x20, 0x1c)?,
                entry_len: half(0x36, 0x2a)?,
                count: half(0x38, 0x2c)?,
            },
            section_table: Table {
                offset: word(0x28, 0x20)?,
                entry_len: half(0x3a, 0x2e)?,
                count: half(0x3c, 0x30)?,
            },
            names_index: half(0x3e, 0x32)?,
        })
    }

    /// Whether `data` is the beginning of a cubin that is too short for [`CubinHead::parse`].
    pub(super) fn is_cut(data: &[u8]) -> bool {
        let known = matches!(
            data,
            [0x7f, b'E', b'L', b'F', 1 | 2, 1, 1, OSABI_V7 | OSABI_V8, ..]
        );
        known && data.len() < HEAD_LEN && u16_at(data, 18).is_none_or(|machine| machine == EM_CUDA)
    }

    /// Whether only the sections can tell that it is architecture-specific.
    pub(super) fn hides_suffix(&self) -> bool {
        self.abi >= 8
            && self.target.is_some_and(|target| {
                target.suffix == Suffix::None && target.cc.number() >= FIRST_ARCH_SPECIFIC
            })
    }

    /// Where the two tables of the file end: a lower bound of its length. `None` where they cannot be.
    pub(super) fn tables_end(&self) -> Option<u64> {
        let expected = if self.wide { (64, 56) } else { (40, 32) };
        let sane = |table: Table, len| table.count == 0 || table.entry_len == len;
        if !sane(self.section_table, expected.0) || !sane(self.program_table, expected.1) {
            return None;
        }
        Some(
            self.section_table
                .end()?
                .max(self.program_table.end()?)
                .max(HEAD_LEN as u64),
        )
    }

    /// Offset and length of the section table.
    pub(super) fn section_table(&self) -> Option<(u64, u64)> {
        let Table { offset, .. } = self.section_table;
        Some((offset, self.section_table.end()?.checked_sub(offset)?))
    }
}

/// One section header.
#[derive(Debug, Clone, Copy)]
struct Section {
    name: u32,
    kind: u32,
    offset: u64,
    len: u64,
    link: u32,
}

/// The whole of a cubin, or its beginning and its section table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cubin<'a> {
    pub(super) head: CubinHead,
    /// The file from its first byte on, as far as it is known.
    pub(super) bytes: &'a [u8],
    /// The section table.
    table: &'a [u8],
}

impl<'a> Cubin<'a> {
    /// A cubin of which all bytes up to the end of the section table are known.
    pub(super) fn whole(bytes: &'a [u8]) -> Option<Self> {
        let head = CubinHead::parse(bytes)?;
        let (offset, len) = head.section_table()?;
        Some(Self {
            head,
            bytes,
            table: range(bytes, offset, len)?,
        })
    }

    /// A cubin of which the beginning and the section table are known.
    pub(super) fn split(bytes: &'a [u8], table: &'a [u8]) -> Option<Self> {
        let head = CubinHead::parse(bytes)?;
        let (_, len) = head.section_table()?;
        Some(Self {
            head,
            bytes,
            table: range(table, 0, len)?,
        })
    }

    fn sections(&self) -> impl Iterator<Item = Section> + use<'a> {
        let wide = self.head.wide;
        self.table
            .chunks_exact(if wide { 64 } else { 40 })
            .filter_map(move |row| {
                Some(if wide {
                    Section {
                        name: u32_at(row, 0)?,
                        kind: u32_at(row, 4)?,
                        offset: u64_at(row, 24)?,
                        len: u64_at(row, 32)?,
                        link: u32_at(row, 40)?,
                    }
                } else {
                    Section {
                        name: u32_at(row, 0)?,
                        kind: u32_at(row, 4)?,
                        offset: u32_at(row, 16)?.into(),
                        len: u32_at(row, 20)?.into(),
                        link: u32_at(row, 24)?,
                    }
                })
            })
    }

    fn content(&self, section: Section) -> Option<&'a [u8]> {
        range(self.bytes, section.offset, section.len)
    }

    /// Where the last section ends, the tables included: the length of the file.
    pub(super) fn file_len(&self) -> Option<u64> {
        let sections = self
            .sections()
            .filter(|section| section.kind != SHT_NOBITS)
            .map(|section| section.offset.checked_add(section.len))
            .try_fold(0, |end, this| Some(u64::max(end, this?)))?;
        Some(self.head.tables_end()?.max(sections))
    }

    /// Whether the code is architecture-specific, as far as the bytes at hand say it.
    pub(super) fn is_arch_specific(&self) -> Option<bool> {
        if self.head.target?.suffix == Suffix::Arch {
            return Some(true);
        }
        match self.sections().find(|section| section.kind == SHT_COMPAT) {
            Some(section) => compat_is_arch_specific(self.content(section)?),
            None => Some(false),
        }
    }

    /// The names of its functions, kernels and others. `None` where the section names are out of reach or
    /// longer than is looked at.
    pub(super) fn functions(&self) -> Option<Vec<&'a [u8]>> {
        let names = self.sections().nth(usize::from(self.head.names_index))?;
        let names = self.content(names)?;
        let mut functions = Vec::new();
        for section in self.sections() {
            let name = names.get(usize::try_from(section.name).ok()?..)?;
            let name = c_str(name.get(..SECTION_NAME_MAX).unwrap_or(name), 0)?;
            if name.len() == SECTION_NAME_MAX {
                return None;
            }
            functions.extend(name.strip_prefix(b".text.").filter(|_| section.len > 0));
        }
        Some(functions)
    }

    /// The toolkit that made it.
    pub(super) fn toolkit(&self) -> Option<ToolkitVersion> {
        self.head.toolkit.or_else(|| {
            let sections = self.sections().filter(|section| section.kind == SHT_NOTE);
            let contents = sections.filter_map(|section| self.content(section));
            tool(contents.flat_map(notes).take(NOTES_MAX)).map(|(toolkit, _)| toolkit)
        })
    }
}

/// Whether the attributes of `.nv.compat`, or their copy in an entry header, say `a` (FORMAT.md §7.3).
pub(super) fn compat_is_arch_specific(attributes: &[u8]) -> Option<bool> {
    let mut rest = attributes;
    while let [format, attribute, tail @ ..] = rest {
        let (value, len) = match format {
            2 => (u16::from(*tail.first()?), 2),
            3 => (u16_at(tail, 0)?, 2),
            4 => (0, 2 + usize::from(u16_at(tail, 0)?)),
            // the stream is padded with zeros
            0 => return Some(false),
            _ => return None,
        };
        if *attribute == COMPAT_ARCH_SPECIFIC {
            return Some(value == 1);
        }
        rest = tail.get(len..)?;
    }
    Some(false)
}

/// A note of a CUDA tool.
#[derive(Debug, Clone, Copy)]
struct Note<'a> {
    kind: u32,
    desc: &'a [u8],
}

/// The notes that follow each other from the first byte of `bytes` on.
fn notes(mut bytes: &[u8]) -> impl Iterator<Item = Note<'_>> {
    std::iter::from_fn(move || {
        let name_len = (u64::from(u32_at(bytes, 0)?) + 3) & !3;
        let desc_len = u64::from(u32_at(bytes, 4)?);
        let kind = u32_at(bytes, 8)?;
        if range(bytes, 12, name_len)? != NOTE_NAME {
            return None;
        }
        let desc = range(bytes, 12 + name_len, desc_len)?;
        let next = usize::try_from(12 + name_len + ((desc_len + 3) & !3)).ok()?;
        bytes = bytes.get(next..).unwrap_or_default();
        Some(Note { kind, desc })
    })
}

const TKINFO_VERSION: usize = 3;
const TKINFO_COMMAND: usize = 5;

/// A text of a `tkinfo` note: six words, the last five of which are offsets into the strings behind them.
fn tkinfo_text(desc: &[u8], word: usize) -> Option<&str> {
    let at = usize::try_from(u32_at(desc, word * 4)?).ok()?;
    std::str::from_utf8(c_str(desc.get(24..)?, at)?).ok()
}

/// What the tools that made a cubin say of themselves (FORMAT.md §7.3): the toolkit of the assembler, and
/// the target that it was called for. A finalizer of another toolkit may have written a note before it.
fn tool<'a>(notes: impl Iterator<Item = Note<'a>>) -> Option<(ToolkitVersion, Option<SmTarget>)> {
    let mut best = None;
    for note in notes {
        let found = match note.kind {
            NOTE_TKINFO => tkinfo(note.desc),
            NOTE_CUINFO => cuinfo(note.desc).map(|toolkit| (toolkit, None)),
            _ => None,
        };
        match found {
            Some((_, Some(_))) => return found,
            Some(_) if best.is_none() => best = found,
            _ => {}
        }
    }
    best
}

fn tkinfo(desc: &[u8]) -> Option<(ToolkitVersion, Option<SmTarget>)> {
    // "Cuda compilation tools, release 12.9, V12.9.86"
    let (_, release) = tkinfo_text(desc, TKINFO_VERSION)?.split_once("release ")?;
    let toolkit = release.split(',').next()?.trim().parse().ok()?;
    // "-arch sm_100f "
    let target = tkinfo_text(desc, TKINFO_COMMAND)
        .and_then(|command| command.split_once("-arch"))
        .and_then(|(_, target)| {
            target
                .trim_start_matches([' ', '='])
                .split_whitespace()
                .next()
        })
        .and_then(|target| target.parse().ok());
    Some((toolkit, target))
}

fn cuinfo(desc: &[u8]) -> Option<ToolkitVersion> {
    (u16_at(desc, 0)? == 2).then_some(ToolkitVersion::from_tenfold(u32_at(desc, 4)?))
}

/// The same from the beginning of a cubin, where the notes are found by their name, as the section table
/// is at the end.
pub(super) fn tool_at_beginning(bytes: &[u8]) -> Option<(ToolkitVersion, Option<SmTarget>)> {
    let name = memchr::memmem::find(bytes, NOTE_NAME)?;
    tool(notes(bytes.get(name.checked_sub(12)?..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(osabi: u8, abi: u8, version: u32, flags: u32) -> CubinHead {
        let mut elf = vec![0; HEAD_LEN];
        elf[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, osabi, abi]);
        elf[16] = 2;
        elf[18] = 190;
        elf[0x14..0x18].copy_from_slice(&version.to_le_bytes());
        elf[0x30..0x34].copy_from_slice(&flags.to_le_bytes());
        CubinHead::parse(&elf).unwrap()
    }

    // The flag words are the examples of FORMAT.md §7.1, read off real cubins with nvdisasm.
    #[test]
    fn reads_target_and_toolkit_of_both_abis() {
        for (osabi, abi, version, flags, target, toolkit) in [
            (0x33, 7, 0x78, 0x005a_055a, "sm_90", Some("12.0")),
            (0x33, 7, 0x81, 0x005a_0d5a, "sm_90a", Some("12.9")),
            (0x33, 7, 0x76, 0x0032_0132, "sm_50", Some("11.8")),
            (0x41, 8, 1, 0x0600_640a, "sm_100a", None),
            (0x41, 8, 1, 0x0600_6402, "sm_100", None),
            (0x41, 8, 1, 0x0600_5a04, "sm_90", None),
        ] {
            let head = head(osabi, abi, version, flags);
            assert_eq!(head.target.unwrap().to_string(), target);
            assert_eq!(head.abi, abi);
            assert_eq!(head.toolkit.map(|t| t.to_string()).as_deref(), toolkit);
        }
    }

    #[test]
    fn host_libraries_are_not_cubins() {
        let mut elf = vec![0; HEAD_LEN];
        elf[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0]);
        elf[18] = 62;
        assert_eq!(CubinHead::parse(&elf), None);
        elf[7] = 0x33;
        assert_eq!(CubinHead::parse(&elf), None);
        assert_eq!(CubinHead::parse(&elf[..20]), None);
    }

    #[test]
    fn the_suffix_attribute_is_found_among_others() {
        // formats 2, 3 and 4 as in FORMAT.md §7.3
        let stream = [2, 2, 1, 0, 3, 5, 7, 0, 4, 11, 3, 0, 9, 9, 9, 2, 9, 1, 0];
        assert_eq!(compat_is_arch_specific(&stream), Some(true));
        assert_eq!(compat_is_arch_specific(&[2, 9, 0, 0]), Some(false));
        assert_eq!(compat_is_arch_specific(&[]), Some(false));
        assert_eq!(compat_is_arch_specific(&[7, 9, 1, 0]), None);
        assert_eq!(compat_is_arch_specific(&[4, 1, 200, 0, 1]), None);
    }
}
