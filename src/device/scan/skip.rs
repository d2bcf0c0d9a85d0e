//! How far a region of known length may be skipped.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::device::fatbin::{FatbinHeader, HEADER_LEN, looks_like_entry};
use crate::device::hunt::OVERLAP;

/// A fatbin header with the fields that every toolkit writes alike.
static NESTED: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(&[0x50, 0xed, 0x55, 0xba, 1, 0, 0x10, 0]));
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

/// How much of a region with `left` bytes to skip, where its bytes cannot be mistaken for anything.
pub(super) fn unguarded(rest: &[u8], left: u64, eof: bool) -> Skip {
    let take = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
    match take {
        0 if eof => Skip::Truncated,
        0 => Skip::Need(1),
        take => Skip::Take(take),
    }
}

/// The same for bytes in which another fatbin may have been hidden behind a bogus size.
pub(super) fn guarded(rest: &[u8], left: u64, eof: bool) -> Skip {
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let region = rest.get(..left).unwrap_or(rest);
    let whole = rest.len() >= left || eof;
    let mut from = 0;
    while let Some(found) = region.get(from..).and_then(|region| NESTED.find(region)) {
        let at = from + found;
        let nested = rest.get(at..).unwrap_or_default();
        if nested.len() < FATBIN_PROBE && !eof {
            return if at == 0 {
                Skip::Need(FATBIN_PROBE)
            } else {
                Skip::Take(at)
            };
        }
        if FatbinHeader::parse(nested).is_some()
            && looks_like_entry(nested.get(HEADER_LEN..).unwrap_or_default())
        {
            return Skip::Nested(at);
        }
        from = at + 1;
    }
    let take = if whole {
        region.len()
    } else {
        region.len().saturating_sub(OVERLAP)
    };
    match take {
        0 if eof => Skip::Truncated,
        0 => Skip::Need(left.min(FATBIN_PROBE)),
        take => Skip::Take(take),
    }
}
