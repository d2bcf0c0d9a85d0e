//! ELF host files: dynamic section, sections and segments.

use std::ops::Range;

use object::endian::Endianness;
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _, SectionHeader as _};
use object::{ReadRef, StringTable, elf};

use super::image::HostImage;
use super::{BrokenNote, HostFacts, HostSection, NEEDED_MAX, Segment, TOO_MANY_NEEDED, note};
use crate::device::le::{u16_at, u32_at, u64_at};

/// Bytes kept before the section table, where linkers put the section names.
const BEFORE_SECTIONS: u64 = 128 << 10;

/// What the headers at the beginning say is needed later.
pub(super) fn plan(head: &[u8]) -> Option<Vec<Range<u64>>> {
    let wide = head.get(4) == Some(&2);
    let word = |wide_at: usize, narrow_at: usize| {
        if wide {
            u64_at(head, wide_at)
        } else {
            u32_at(head, narrow_at).map(u64::from)
        }
    };
    let half = |wide_at, narrow_at| u16_at(head, if wide { wide_at } else { narrow_at });
    let mut ranges = Vec::new();
    let sections = word(0x28, 0x20)?;
    let sections_len = u64::from(half(0x3a, 0x2e)?) * u64::from(half(0x3c, 0x30)?);
    ranges.push(sections.saturating_sub(BEFORE_SECTIONS)..sections.saturating_add(sections_len));
    let programs = usize::try_from(word(0x20, 0x1c)?).ok()?;
    for index in 0..usize::from(half(0x38, 0x2c)?) {
        let Some(at) = programs.checked_add(index * if wide { 56 } else { 32 }) else {
            break;
        };
        if u32_at(head, at) == Some(elf::PT_DYNAMIC.0) {
            let (offset, len) = if wide {
                (u64_at(head, at + 8)?, u64_at(head, at + 32)?)
            } else {
                (u32_at(head, at + 4)?.into(), u32_at(head, at + 16)?.into())
            };
            ranges.push(offset..offset.saturating_add(len));
            break; // loaders follow one
        }
    }
    Some(ranges)
}

const BROKEN_ELF: &str = "the ELF headers contradict themselves";

/// Reads the facts of an ELF file.
pub(super) fn read(
    data: &HostImage,
    names: bool,
    facts: &mut HostFacts,
) -> Result<(), &'static str> {
    match data.read_bytes_at(4, 1) {
        Ok([1]) => read_as::<elf::FileHeader32<Endianness>>(data, names, facts),
        _ => read_as::<elf::FileHeader64<Endianness>>(data, names, facts),
    }
}

fn read_as<Elf: FileHeader<Endian = Endianness>>(
    data: &HostImage,
    names: bool,
    facts: &mut HostFacts,
) -> Result<(), &'static str> {
    let header = Elf::parse(data).map_err(|_source| BROKEN_ELF)?;
    let endian = header.endian().map_err(|_source| BROKEN_ELF)?;
    facts.machine = match header.e_machine(endian) {
        elf::EM_X86_64 => Some("x86_64"),
        elf::EM_AARCH64 => Some("aarch64"),
        elf::EM_386 => Some("i386"),
        elf::EM_PPC64 => Some("ppc64le"),
        _ => None,
    };
    let sections = header.sections(endian, data);
    let programs = header.program_headers(endian, data);
    if let Ok(sections) = &sections {
        for section in sections.iter() {
            let Some((offset, len)) = section.file_range(endian) else {
                continue;
            };
            let name = || sections.section_name(endian, section).unwrap_or_default();
            let name = data.reading(names, name);
            if name == note::SECTION && section.sh_type(endian) == elf::SHT_NOTE {
                let align = section.sh_addralign(endian).into();
                read_note(data, offset..offset.saturating_add(len), align, facts);
            }
            let range = offset..offset.saturating_add(len);
            facts.sections.push(HostSection::new(name, range));
        }
    }
    let programs = programs.map_err(|_source| BROKEN_ELF)?;
    for program in programs {
        if program.p_type(endian) == elf::PT_LOAD {
            let (offset, len) = program.file_range(endian);
            facts.segments.push(Segment {
                address: program.p_vaddr(endian).into(),
                file: offset..offset.saturating_add(len),
            });
        }
    }
    for program in programs {
        if let Some(dynamic) = program
            .dynamic(endian, data)
            .map_err(|_source| BROKEN_ELF)?
        {
            read_dynamic::<Elf>(data, endian, dynamic, facts)?;
            break;
        }
    }
    sections.map(|_| ()).map_err(|_source| BROKEN_ELF)
}

/// The first note of forward compatibility counts, as for the tool that reads it.
fn read_note(data: &HostImage, range: Range<u64>, align: u64, facts: &mut HostFacts) {
    if facts.forward_compatibility.is_some() {
        return;
    }
    let len = range.end - range.start;
    facts.forward_compatibility = if len > note::MAX {
        Some(Err(BrokenNote("is longer than any")))
    } else {
        // what was not kept is looked at again
        match data.read_bytes_at(range.start, len) {
            Ok(bytes) => note::read(bytes, align),
            Err(()) => Some(Err(BrokenNote("is not within the file"))),
        }
    };
}

fn read_dynamic<Elf: FileHeader<Endian = Endianness>>(
    data: &HostImage,
    endian: Endianness,
    dynamic: &[Elf::Dyn],
    facts: &mut HostFacts,
) -> Result<(), &'static str> {
    let value = |tag: elf::DynamicTag| {
        dynamic
            .iter()
            .find(|entry| entry.tag(endian) == tag)
            .map(|entry| entry.val(endian))
    };
    let Some(address) = value(elf::DT_STRTAB) else {
        return Ok(());
    };
    let start = facts.offset_of(address).ok_or(BROKEN_ELF)?;
    let len: u64 = value(elf::DT_STRSZ).unwrap_or(u64::from(u32::MAX));
    let strings = StringTable::new(data, start, start.saturating_add(len));
    for entry in dynamic {
        let tag = entry.tag(endian);
        if !matches!(
            tag,
            elf::DT_NEEDED | elf::DT_SONAME | elf::DT_RPATH | elf::DT_RUNPATH
        ) {
            continue;
        }
        let at = u32::try_from(entry.val(endian)).map_err(|_source| BROKEN_ELF)?;
        if tag == elf::DT_NEEDED && facts.needed.len() >= NEEDED_MAX {
            return Err(TOO_MANY_NEEDED);
        }
        let Ok(text) = strings.get(at) else { continue };
        let text = String::from_utf8_lossy(text).into_owned();
        match tag {
            elf::DT_NEEDED => facts.needed.push(text),
            elf::DT_SONAME => facts.soname = Some(text),
            elf::DT_RPATH => facts.rpath = Some(text),
            elf::DT_RUNPATH => facts.runpath = Some(text),
            _ => {}
        }
    }
    Ok(())
}
