//! How far a region of known length may be skipped.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::device::fatbin::{ENTRY_PROBE, FatbinHeader, HEADER_LEN, MAGIC, looks_like_entry};

/// What a fatbin begins with, wherever one may have been hidden behind a bogus size.
pub(super) static NESTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(&MAGIC));
/// Bytes that tell a fatbin from eight bytes that look like one.
pub(super) const FATBIN_PROBE: usize = HEADER_LEN + 4;

/// How far a region may be skipped.
pub(super) enum Skip {
    Take(usize),
    /// Another fatbin begins after this many bytes.
    Nested(usize),
    Need(usize),
    Truncated,
}

/// How much of a region with `left` bytes to skip, in which another fatbin may have been hidden behind a
/// bogus size: in compressed payloads too, whose decoder stops where the data does.
pub(super) fn guarded(rest: &[u8], left: u64, eof: bool) -> Skip {
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let region = rest.get(..left).unwrap_or(rest);
    let whole = rest.len() >= left || eof;
    let mut from = 0;
    while let Some(found) = region.get(from..).and_then(|region| NESTED.find(region)) {
        let at = from + found;
        let nested = rest.get(at..).unwrap_or_default();
        match begins_fatbin(nested) {
            Err(need) if !eof => {
                return if at == 0 {
                    Skip::Need(need)
                } else {
                    Skip::Take(at)
                };
            }
            Ok(true) => return Skip::Nested(at),
            _ => from = at + 1,
        }
    }
    let take = if whole {
        region.len()
    } else {
        region.len().saturating_sub(MAGIC.len() - 1)
    };
    match take {
        0 if eof => Skip::Truncated,
        0 => Skip::Need(left.min(FATBIN_PROBE)),
        take => Skip::Take(take),
    }
}

/// Whether a fatbin with its first entry begins here, or how many bytes it takes to say so.
pub(super) fn begins_fatbin(data: &[u8]) -> Result<bool, usize> {
    if data.len() < FATBIN_PROBE {
        return Err(FATBIN_PROBE);
    }
    let Some(header) = FatbinHeader::parse(data) else {
        return Ok(false);
    };
    let header_len = usize::from(header.header_len);
    data.get(header_len..)
        .and_then(|entry| looks_like_entry(entry, header.claimed_len))
        .ok_or(header_len + ENTRY_PROBE)
}
