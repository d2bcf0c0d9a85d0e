//! Checked little-endian reads: the one place where `device` slices input.

/// `len` bytes at `at`, or nothing where the input ends before.
pub(super) fn bytes(data: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    data.get(at..at.checked_add(len)?)
}

fn array<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    bytes(data, at, N)?.try_into().ok()
}

pub(super) fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    array(data, at).map(u16::from_le_bytes)
}

pub(super) fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    array(data, at).map(u32::from_le_bytes)
}

pub(super) fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    array(data, at).map(u64::from_le_bytes)
}

/// `at..at+len` of `data` for a 64-bit range that the input claims.
pub(super) fn range(data: &[u8], at: u64, len: u64) -> Option<&[u8]> {
    bytes(data, usize::try_from(at).ok()?, usize::try_from(len).ok()?)
}

/// The bytes from `at` up to the first NUL, or to the end where there is none.
pub(super) fn c_str(data: &[u8], at: usize) -> Option<&[u8]> {
    let rest = data.get(at..)?;
    Some(
        memchr::memchr(0, rest)
            .and_then(|end| rest.get(..end))
            .unwrap_or(rest),
    )
}

/// `n` rounded up to a multiple of eight, the alignment of everything in a fatbin.
pub(super) fn align8(n: u64) -> Option<u64> {
    Some(n.checked_add(7)? & !7)
}
