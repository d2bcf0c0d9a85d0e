//! The end of a zip archive: where its central directory is, and whether every reader finds it.
//!
//! Programs find the central directory in two ways: by its stated offset, or, as Python's `zipfile`
//! does, by its stated size counted back from the end record. An archive for which these differ is
//! two archives in one.
//!
//! Format: APPNOTE 4.3.14 to 4.3.16.

use std::ops::Range;

use rawzip::{RECOMMENDED_BUFFER_SIZE, ZipArchive, ZipLocator};

use super::not_a_zip;
use super::report::Report;
use super::window::Window;
use crate::archive::Fault;
use crate::{Extent, ProblemKind};

/// Length of the end record without its comment.
const END_RECORD: usize = 22;
/// Length of the zip64 locator, which stands just before the end record.
const LOCATOR: usize = 20;
/// Length of the zip64 end record as every tool writes it.
const END_RECORD_64: usize = 56;
/// Where an end record can begin, counted from the end: its comment has a 16-bit length.
const SEARCH: u64 = END_RECORD as u64 + u16::MAX as u64;

/// Where the parts at the end of an archive are.
pub(super) struct End<'w> {
    pub(super) archive: ZipArchive<&'w Window<'w>>,
    /// The central directory.
    pub(super) directory: Range<u64>,
    /// Where the end record begins.
    pub(super) record: u64,
    /// Bytes that stand before the archive, which its offsets do not count.
    pub(super) base: u64,
}

/// What the end record, or the zip64 end record, states.
struct Stated {
    entries: u64,
    size: u64,
    offset: u64,
    one_volume: bool,
}

/// Finds the end of the archive and reports where readers would disagree about it.
pub(super) fn find<'w>(
    window: &'w Window<'w>,
    len: u64,
    report: &mut Report<'_>,
) -> Result<End<'w>, Fault> {
    let archive = locate(window, len, report)?;
    let record = archive.eocd_offset();
    if archive.end_offset() < len {
        let after = len - archive.end_offset();
        let detail = format!("{after} bytes stand after the end of the archive");
        report.archive(ProblemKind::MalformedArchive, Extent::Artifact, detail);
    }
    let bytes = window
        .up_to::<END_RECORD>(record)
        .map_err(|error| Fault::of(&error))?;
    let mut stated = Stated::classic(&bytes).ok_or_else(|| not_a_zip(window.bytes()))?;
    let mut directory_end = record;
    if let Some((at, stated_64)) =
        zip64(window, record, report).map_err(|error| Fault::of(&error))?
    {
        stated = stated_64;
        directory_end = at;
    }
    let counted_back = directory_end.checked_sub(stated.size);
    let directory = archive.directory_offset()..directory_end.max(archive.directory_offset());
    if counted_back != Some(directory.start)
        || stated.offset > directory.start
        || stated.entries != archive.entries_hint()
    {
        report.archive(
            ProblemKind::HeaderMismatch,
            Extent::Artifact,
            format!(
                "readers find different central directories: one of {} bytes before {directory_end}, one at {}",
                stated.size, stated.offset
            ),
        );
    }
    let base = directory.start.saturating_sub(stated.offset);
    if base > 0 {
        let detail =
            format!("{base} bytes stand before the archive, which its offsets do not count");
        report.archive(ProblemKind::MalformedArchive, Extent::Part, detail);
    }
    if !stated.one_volume {
        let detail = "the archive says that it is one volume of several";
        report.archive(ProblemKind::MalformedArchive, Extent::Artifact, detail);
    }
    Ok(End {
        archive,
        directory,
        record,
        base,
    })
}

/// The last end record of the file that can be one.
fn locate<'w>(
    window: &'w Window<'w>,
    len: u64,
    report: &mut Report<'_>,
) -> Result<ZipArchive<&'w Window<'w>>, Fault> {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let mut end = len;
    loop {
        let search = SEARCH.saturating_sub(len - end);
        let locator = ZipLocator::new().max_search_space(search);
        match locator.locate_in_reader(window, &mut buffer, end) {
            Ok(archive) => return Ok(archive),
            Err((_, error)) => match (error.eocd_offset(), error.into_kind()) {
                (_, rawzip::ErrorKind::IO(error)) if Fault::is_of_source(&error) => {
                    return Err(Fault::of(&error));
                }
                // A signature that no end record follows: a comment, or an archive cut short.
                (Some(offset), _) if offset < end => {
                    let detail = format!("a second end record at {offset} is no end record");
                    report.archive(ProblemKind::MalformedArchive, Extent::Artifact, detail);
                    end = offset;
                }
                _ => return Err(not_a_zip(window.bytes())),
            },
        }
    }
}

/// The zip64 end record and where it is, read where Python's `zipfile` reads it: just before its
/// locator.
fn zip64(
    window: &Window<'_>,
    record: u64,
    report: &mut Report<'_>,
) -> std::io::Result<Option<(u64, Stated)>> {
    let Some(locator_at) = record.checked_sub(LOCATOR as u64) else {
        return Ok(None);
    };
    let locator = window.up_to::<LOCATOR>(locator_at)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return Ok(None);
    }
    let at = locator_at.checked_sub(END_RECORD_64 as u64);
    let record_64 = match at {
        Some(at) => window.up_to::<END_RECORD_64>(at)?,
        None => Vec::new(),
    };
    let mut found = at.zip(Stated::zip64(&record_64));
    if let Some((_, stated)) = &mut found {
        stated.one_volume &= u32_at(&locator, 4) == Some(0) && u32_at(&locator, 16) <= Some(1);
    }
    if found.is_none() || u64_at(&locator, 8) != at {
        let detail = "the zip64 locator does not point at a zip64 end record just before it";
        report.archive(ProblemKind::HeaderMismatch, Extent::Artifact, detail);
    }
    Ok(found)
}

impl Stated {
    fn classic(record: &[u8]) -> Option<Self> {
        let entries = u16_at(record, 10)?;
        Some(Self {
            entries: entries.into(),
            size: u32_at(record, 12)?.into(),
            offset: u32_at(record, 16)?.into(),
            one_volume: u32_at(record, 4)? == 0 && u16_at(record, 8)? == entries,
        })
    }

    fn zip64(record: &[u8]) -> Option<Self> {
        if !record.starts_with(b"PK\x06\x06") {
            return None;
        }
        let entries = u64_at(record, 32)?;
        Some(Self {
            entries,
            size: u64_at(record, 40)?,
            offset: u64_at(record, 48)?,
            one_volume: u64_at(record, 16)? == 0 && u64_at(record, 24)? == entries,
        })
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}
