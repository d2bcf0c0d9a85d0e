//! Members of archives that are fetched: each local header is compared when its member is read, and not before.
//!
//! What the central directory says is enough to know where a member can be: its bytes reach from its local header to
//! the next one. All of that is asked for at once, header and descriptor too, so that a member is one request.
//!
//! Format: APPNOTE 4.3.7 (local header), 4.5.3 (zip64 field).

use std::io::Read as _;
use std::ops::Range;

use rawzip::CompressionMethod;
use rawzip::extra_fields::{ExtraFieldId, ExtraFields};

use super::ZipMember;
use super::directory::{Listed, other_names};
use super::end::{End, u16_at, u32_at, u64_at};
use super::layout::{report_before_first, signature_in, unlisted};
use super::local::{
    DESCRIPTOR, HAS_DESCRIPTOR, Local, NO_DESCRIPTOR, descriptor_len, disagreement,
};
use super::report::Report;
use crate::archive::{Cursor, Fault, SharedBytes};
use crate::limits::read_capped;
use crate::{Extent, ProblemKind};

/// Length of a local header without name and extra field.
const HEADER: usize = 30;
/// Longer than extra fields are.
const LIKELY_EXTRA: usize = 1 << 10;
/// The longest extra field and the longest descriptor: what may lie between two members and belong to the first.
const SLACK: u64 = u16::MAX as u64 + DESCRIPTOR as u64;

/// What a local header is compared with, beside the member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unseen {
    flags: u16,
    method: CompressionMethod,
}

/// Finds where every member can be, out of the central directory alone.
pub(super) fn compare(end: &End<'_>, len: u64, listed: &mut [Listed], report: &mut Report<'_>) {
    let mut order: Vec<_> = listed.iter_mut().collect();
    order.sort_by_key(|listed| listed.local_offset);
    let mut next = end.directory.start;
    let mut offset = u64::MAX;
    for listed in order.into_iter().rev() {
        let start = listed.local_offset;
        if start < offset {
            next = if offset == u64::MAX { next } else { offset };
            offset = start;
        }
        let name = listed.member.name.as_bytes().len();
        let least = start
            .saturating_add((HEADER + name) as u64)
            .saturating_add(listed.member.packed);
        if least > len {
            let detail = format!("its data ends at {least}, beyond the archive's {len} bytes");
            let fault = Fault::new(ProblemKind::Truncated, detail);
            report.member(
                fault.kind,
                Extent::Member,
                &listed.member.name,
                fault.detail.as_str(),
            );
            listed.member.data = Err(Box::new(fault));
            continue;
        }
        listed.end = Some(least);
        if let Ok(data) = &mut listed.member.data {
            let most = least.saturating_add(SLACK);
            *data = start..next.clamp(least, most);
            listed.member.unseen = Some(Unseen {
                flags: listed.flags,
                method: listed.method,
            });
        }
    }
}

/// Reports bytes between members that can belong to none of them; they are not fetched.
pub(super) fn check_gaps(end: &End<'_>, gaps: &[Range<u64>], report: &mut Report<'_>) {
    for gap in gaps {
        report_before_first(end, gap, report);
        let len = gap.end - gap.start;
        if len > SLACK {
            let detail = format!(
                "{len} bytes at {} belong to no listed member, and were not fetched",
                gap.start
            );
            report.archive(ProblemKind::MalformedArchive, Extent::Part, detail);
        }
    }
}

/// What is compared when the data of a member was read.
#[derive(Debug)]
pub(super) struct Rest {
    member: ZipMember,
    span: SharedBytes,
    has_descriptor: bool,
    /// Where the member begins in the archive.
    start: u64,
    /// What the local header says otherwise. The member is scanned all the same.
    fault: Option<Fault>,
}

/// Reads the local header of a member, and leaves a cursor at its packed bytes, which ends with them.
pub(super) fn open(
    member: &ZipMember,
    unseen: Unseen,
    span: SharedBytes,
) -> Result<(Cursor, Rest), Fault> {
    let mut cursor = span.cursor();
    let fault = header(member, unseen, &mut cursor, span.len())?;
    let data_end = cursor.position().saturating_add(member.packed);
    let rest = Rest {
        member: member.clone(),
        start: member.range().map_or(0, |range| range.start),
        has_descriptor: unseen.flags & HAS_DESCRIPTOR != 0,
        fault,
        span,
    };
    cursor.end_at(&rest.span, data_end);
    Ok((cursor, rest))
}

/// Reads and compares the local header of a member whose data is not read.
pub(super) fn compare_header(
    member: &ZipMember,
    unseen: Unseen,
    span: &SharedBytes,
) -> Result<(), Fault> {
    let likely = (HEADER + member.name.as_bytes().len() + LIKELY_EXTRA) as u64;
    let read = |len: u64| {
        let read = read_capped(span.slice(0..len).cursor(), len);
        read.map_err(|error| Fault::of(&error))
    };
    // one request, but for an extra field as no tool writes it
    let (mut part, _) = read(likely)?;
    let length = |at| u64::from(u16_at(&part, at).unwrap_or_default());
    let needed = HEADER as u64 + length(26) + length(28);
    if needed > likely {
        (part, _) = read(needed)?;
    }
    let part = SharedBytes::from(part);
    match header(member, unseen, &mut part.cursor(), span.len())? {
        Some(fault) => Err(fault),
        None => Ok(()),
    }
}

/// Reads a local header of a member that has `len` bytes, header included, and says what it says otherwise.
fn header(
    member: &ZipMember,
    unseen: Unseen,
    cursor: &mut Cursor,
    len: u64,
) -> Result<Option<Fault>, Fault> {
    let mut fixed = [0; HEADER];
    cursor
        .read_exact(&mut fixed)
        .map_err(|error| Fault::of(&error))?;
    if !fixed.starts_with(b"PK\x03\x04") {
        return Err(Fault::new(
            ProblemKind::MalformedArchive,
            "the central directory points at no local header",
        ));
    }
    let length = |at| usize::from(u16_at(&fixed, at).unwrap_or_default());
    let (name, extra) = (length(26), length(28));
    let mut variable = vec![0; name + extra];
    cursor
        .read_exact(&mut variable)
        .map_err(|error| Fault::of(&error))?;
    let (name, extra) = variable.split_at(name);
    let data_end = cursor.position().saturating_add(member.packed);
    if data_end > len {
        return Err(Fault::new(
            ProblemKind::OverlappingMembers,
            "it shares bytes with another part of the archive",
        ));
    }
    let (packed, size) = sizes(&fixed, extra);
    let local = Local {
        name,
        method: u16_at(&fixed, 8).unwrap_or_default().into(),
        flags: u16_at(&fixed, 6).unwrap_or_default(),
        crc: u32_at(&fixed, 14).unwrap_or_default(),
        packed,
        size,
    };
    let detail = disagreement(member, unseen.flags, unseen.method, &local)
        .or_else(|| other_names(ExtraFields::new(extra), &member.name).next());
    Ok(detail.map(|detail| Fault::new(ProblemKind::HeaderMismatch, detail)))
}

/// Packed and unpacked size, out of the zip64 field where the header has no room for them.
fn sizes(fixed: &[u8], extra: &[u8]) -> (u64, u64) {
    let stated = |at| u32_at(fixed, at).unwrap_or_default();
    let (packed, size) = (stated(18), stated(22));
    let mut zip64 = ExtraFields::new(extra).filter(|(id, _)| *id == ExtraFieldId::ZIP64);
    let field = zip64.next().map(|(_, field)| field).unwrap_or_default();
    let mut at = 0;
    let mut wide = |narrow: u32| {
        if narrow != u32::MAX {
            return u64::from(narrow);
        }
        let wide = u64_at(field, at).unwrap_or(u64::from(narrow));
        at += 8;
        wide
    };
    let size = wide(size);
    (wide(packed), size)
}

impl Rest {
    /// Compares what follows the data, at which `cursor` stands.
    pub(super) fn compare(self, cursor: &mut Cursor) -> Result<(), Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        cursor.end_at(&self.span, self.span.len());
        let at = self.start + cursor.position();
        let (after, _) = read_capped(cursor, SLACK).map_err(|error| Fault::of(&error))?;
        let mut after = after.as_slice();
        let mut passed = 0;
        if self.has_descriptor {
            let Some(len) = descriptor_len(&self.member, after) else {
                return Err(Fault::new(ProblemKind::HeaderMismatch, NO_DESCRIPTOR));
            };
            passed = len;
            let len = usize::try_from(len).unwrap_or(after.len());
            after = after.get(len..).unwrap_or_default();
        }
        match signature_in(after) {
            Some(found) => Err(Fault::new(
                ProblemKind::HeaderMismatch,
                unlisted(at + passed + found as u64),
            )),
            None => Ok(()),
        }
    }
}
