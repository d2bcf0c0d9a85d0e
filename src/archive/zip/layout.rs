//! The layout of a zip archive: whether members share bytes, and whether something that a reader
//! could take for a member lies where the central directory names nothing.

use std::io;
use std::ops::Range;

use memchr::memmem;

use super::directory::Listing;
use super::end::End;
use super::later;
use super::report::Report;
use crate::archive::{Fault, SharedBytes};
use crate::{Extent, ProblemKind};

/// A local header, a record of the central directory, and an end record begin with these.
const SIGNATURES: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"];

/// Length of each of them.
const SIGNATURE: usize = 4;

/// Checks that every byte belongs to one member at most and that no member is left out. A member that shares
/// bytes is not read: thousands of them could lie on one stream, and each would be unpacked.
pub(super) fn check(
    end: &End<'_>,
    bytes: &SharedBytes,
    listing: &mut Listing,
    report: &mut Report<'_>,
) {
    let mut spans: Vec<_> = listing
        .members
        .iter()
        .enumerate()
        .filter_map(|(index, listed)| {
            let span = listed.local_offset..listed.end?;
            Some((span, index, &listed.member.name))
        })
        .collect();
    spans.sort_by_key(|(span, ..)| (span.start, span.end));
    let mut taken = end.base;
    let mut owner = None;
    let mut gaps = Vec::new();
    let mut sharing = Vec::new();
    for (span, index, name) in &spans {
        if span.start < taken || span.end > end.directory.start {
            sharing.push(*index);
        }
        if span.start < taken {
            let detail = match owner {
                Some(owner) => format!("it shares bytes with `{owner}`"),
                None => "it begins before the archive".to_owned(),
            };
            report.member(
                ProblemKind::OverlappingMembers,
                Extent::Member,
                name,
                detail,
            );
        } else if span.start > taken {
            gaps.push(taken..span.start);
        }
        if span.end > end.directory.start {
            let detail = "it shares bytes with the central directory";
            report.member(
                ProblemKind::OverlappingMembers,
                Extent::Member,
                name,
                detail,
            );
        }
        if span.end > taken {
            taken = span.end;
            owner = Some(name);
        }
    }
    if taken < end.directory.start {
        gaps.push(taken..end.directory.start);
    }
    let whole = listing.complete && spans.len() == listing.members.len();
    for index in sharing {
        if let Some(listed) = listing.members.get_mut(index) {
            let detail = "it shares bytes with another part of the archive";
            let fault = Fault::new(ProblemKind::OverlappingMembers, detail);
            listed.member.data = Err(Box::new(fault));
        }
    }
    if whole && bytes.is_fetched() {
        later::check_gaps(end, &gaps, report);
    } else if whole {
        check_gaps(end, bytes, &gaps, report);
    }
    check_tail(end, bytes, report);
}

fn check_gaps(end: &End<'_>, bytes: &SharedBytes, gaps: &[Range<u64>], report: &mut Report<'_>) {
    for gap in gaps {
        report_before_first(end, gap, report);
        report_signature(bytes, gap.clone(), &SIGNATURES, u64::MAX, report);
    }
}

/// Reports bytes before the first member.
pub(super) fn report_before_first(end: &End<'_>, gap: &Range<u64>, report: &mut Report<'_>) {
    if gap.start == end.base {
        let detail = format!(
            "{} bytes stand before the first member",
            gap.end - gap.start
        );
        report.archive(ProblemKind::MalformedArchive, Extent::Part, detail);
    }
}

/// Where in `bytes` something begins that could be taken for a part of an archive.
pub(super) fn signature_in(bytes: &[u8]) -> Option<usize> {
    let mut hits = memmem::find_iter(bytes, b"PK");
    hits.find(|hit| {
        let found = bytes.get(*hit..hit + SIGNATURE).unwrap_or_default();
        SIGNATURES.contains(&found)
    })
}

/// What is said of a part of an archive that the central directory does not name.
pub(super) fn unlisted(at: u64) -> String {
    format!("a header of the archive at {at} that belongs to no listed member")
}

/// Looks for a second end record in the central directory, in the comment and after it. One in a
/// gap is found there, and one in a member is the member's own affair.
fn check_tail(end: &End<'_>, bytes: &SharedBytes, report: &mut Report<'_>) {
    let [.., end_record] = SIGNATURES;
    let tail = end.directory.start..bytes.len();
    report_signature(bytes, tail, &[end_record], end.record, report);
}

fn report_signature(
    bytes: &SharedBytes,
    range: Range<u64>,
    signatures: &[&[u8]],
    expected: u64,
    report: &mut Report<'_>,
) {
    match find_signature(bytes, range, signatures, expected) {
        Ok(None) => {}
        Ok(Some(at)) => {
            report.archive(ProblemKind::HeaderMismatch, Extent::Artifact, unlisted(at));
        }
        Err(error) => {
            let Fault { kind, detail } = Fault::of(&error);
            report.archive(kind, Extent::Artifact, detail);
        }
    }
}

/// The first of `signatures` in `range` that is not at `expected`.
fn find_signature(
    bytes: &SharedBytes,
    range: Range<u64>,
    signatures: &[&[u8]],
    expected: u64,
) -> io::Result<Option<u64>> {
    const CHUNK: usize = 64 << 10;
    let mut chunk = vec![0; CHUNK.min(usize::try_from(range.end - range.start).unwrap_or(CHUNK))];
    let mut at = range.start;
    while at < range.end {
        let wanted = usize::try_from(range.end - at).map_or(CHUNK, |left| left.min(CHUNK));
        let mut filled = 0;
        while let Some(rest) = chunk
            .get_mut(filled..wanted)
            .filter(|rest| !rest.is_empty())
        {
            match bytes.read_at(rest, at + filled as u64)? {
                0 => break,
                n => filled += n,
            }
        }
        let held = chunk.get(..filled).unwrap_or_default();
        for hit in memmem::find_iter(held, b"PK") {
            let found = held.get(hit..hit + SIGNATURE).unwrap_or_default();
            let place = at + hit as u64;
            if place != expected && signatures.contains(&found) {
                return Ok(Some(place));
            }
        }
        if filled < SIGNATURE || filled < wanted {
            break;
        }
        // A signature may lie across two chunks.
        let step = if at + filled as u64 == range.end {
            filled
        } else {
            filled - (SIGNATURE - 1)
        };
        at += step as u64;
    }
    Ok(None)
}
