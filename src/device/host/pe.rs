//! PE host files and COFF objects: machine, imports and sections.

use std::ops::Range;

use object::read::pe::{ImageNtHeaders, ImageOptionalHeader as _};
use object::{LittleEndian as LE, ReadRef, pe};

use super::image::HostImage;
use super::{HostFacts, HostSection, NEEDED_MAX, Segment, TOO_MANY_NEEDED};
use crate::device::le::{c_str, u16_at, u32_at};

/// Bytes kept around the import directory of a PE file.
const AROUND_IMPORTS: u64 = 64 << 10;
const BROKEN_PE: &str = "the PE headers contradict themselves";

/// What the headers at the beginning say is needed later.
pub(super) fn plan(head: &[u8]) -> Option<Vec<Range<u64>>> {
    let nt = usize::try_from(u32_at(head, 0x3c)?).ok()?;
    let optional = nt.checked_add(24)?;
    let directories = optional.checked_add(if u16_at(head, optional)? == 0x20b {
        112
    } else {
        96
    })?;
    let sections = optional.checked_add(u16_at(head, nt.checked_add(20)?)?.into())?;
    let file_offset = |address: u32| {
        (0..usize::from(u16_at(head, nt + 6)?)).find_map(|index| {
            let at = sections.checked_add(index * 40)?;
            let start = u32_at(head, at + 12)?;
            let len = u32_at(head, at + 16)?;
            let within = address.checked_sub(start).filter(|within| *within < len)?;
            Some(u64::from(u32_at(head, at + 20)?) + u64::from(within))
        })
    };
    // imports and delay-loaded imports
    let ranges = [8, 104].into_iter().filter_map(|directory| {
        let offset = file_offset(u32_at(head, directories + directory)?)?;
        let len = u64::from(u32_at(head, directories + directory + 4)?);
        Some(offset.saturating_sub(AROUND_IMPORTS)..offset + len + AROUND_IMPORTS)
    });
    Some(ranges.collect())
}

/// Reads the facts of a PE file.
pub(super) fn read(data: &HostImage, facts: &mut HostFacts) -> Result<(), &'static str> {
    let magic = {
        let dos = pe::ImageDosHeader::parse(data).map_err(|_source| BROKEN_PE)?;
        let at = u64::from(dos.nt_headers_offset()) + 24;
        data.read_bytes_at(at, 2).map_err(|()| BROKEN_PE)?
    };
    if magic == [0x0b, 0x02] {
        read_as::<pe::ImageNtHeaders64>(data, facts)
    } else {
        read_as::<pe::ImageNtHeaders32>(data, facts)
    }
}

fn read_as<Pe: ImageNtHeaders>(
    data: &HostImage,
    facts: &mut HostFacts,
) -> Result<(), &'static str> {
    let dos = pe::ImageDosHeader::parse(data).map_err(|_source| BROKEN_PE)?;
    let mut offset = u64::from(dos.nt_headers_offset());
    let (headers, directories) = Pe::parse(data, &mut offset).map_err(|_source| BROKEN_PE)?;
    facts.machine = match headers.file_header().machine.get(LE) {
        pe::IMAGE_FILE_MACHINE_AMD64 => Some("x86_64"),
        pe::IMAGE_FILE_MACHINE_ARM64 => Some("aarch64"),
        pe::IMAGE_FILE_MACHINE_I386 => Some("i386"),
        _ => None,
    };
    let sections = headers
        .sections(data, offset)
        .map_err(|_source| BROKEN_PE)?;
    for section in sections.iter() {
        let (start, len) = section.pe_file_range();
        let start = u64::from(start);
        let name = c_str(&section.name, 0).unwrap_or_default();
        facts
            .sections
            .push(HostSection::new(name, start..start + u64::from(len)));
        facts.segments.push(Segment {
            address: headers
                .optional_header()
                .image_base()
                .saturating_add(section.virtual_address.get(LE).into()),
            file: start..start + u64::from(len),
        });
    }
    let name_at = |address: u32| {
        let (at, len) = sections.pe_file_range_at(address)?;
        let at = u64::from(at);
        let name = data.read_bytes_at_until(at..at + u64::from(len), 0).ok()?;
        Some(String::from_utf8_lossy(name).into_owned())
    };
    for (directory, row_len, name_field) in [
        (pe::IMAGE_DIRECTORY_ENTRY_IMPORT, 20, 12),
        (pe::IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, 32, 4),
    ] {
        let Some(directory) = directories.get(directory) else {
            continue;
        };
        let Some((at, _)) = sections.pe_file_range_at(directory.virtual_address.get(LE)) else {
            continue;
        };
        let size = u64::from(directory.size.get(LE));
        let len = size.min(row_len * NEEDED_MAX as u64);
        let mut ended = len == size;
        let rows = data.read_bytes_at(at.into(), len).map_err(|()| BROKEN_PE)?;
        for row in rows.chunks_exact(usize::try_from(row_len).map_err(|_source| BROKEN_PE)?) {
            match u32_at(row, name_field) {
                None | Some(0) => {
                    ended = true;
                    break;
                }
                Some(address) => facts.needed.extend(name_at(address)),
            }
        }
        if !ended {
            return Err(TOO_MANY_NEEDED);
        }
    }
    Ok(())
}

/// Reads the facts of a COFF object.
pub(super) fn read_coff(data: &HostImage, facts: &mut HostFacts) -> Result<(), &'static str> {
    let header: &pe::ImageFileHeader = data.read_at(0).map_err(|()| BROKEN_PE)?;
    facts.machine = match header.machine.get(LE) {
        pe::IMAGE_FILE_MACHINE_AMD64 => Some("x86_64"),
        pe::IMAGE_FILE_MACHINE_ARM64 => Some("aarch64"),
        _ => None,
    };
    let offset = 20 + u64::from(header.size_of_optional_header.get(LE));
    let sections: &[pe::ImageSectionHeader] = data
        .read_slice_at(offset, header.number_of_sections.get(LE).into())
        .map_err(|()| BROKEN_PE)?;
    for section in sections {
        let start = u64::from(section.pointer_to_raw_data.get(LE));
        let name = c_str(&section.name, 0).unwrap_or_default();
        let range = start..start + u64::from(section.size_of_raw_data.get(LE));
        facts.sections.push(HostSection::new(name, range));
    }
    Ok(())
}
