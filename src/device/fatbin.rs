//! The headers of a fatbin: the 16-byte fatbin header, entry headers and the sub-headers of a
//! concatenated entry.
//!
//! Pure decoding of bytes that the scanner hands over; knows nothing of positions in a file. Format:
//! FORMAT.md §3 to §5, measured on CUDA 11.8 to 13.5.

use crate::cuda::{ComputeCapability, PtxIsa, SmTarget, Suffix};

use super::image::ImageKind;
use super::le::{align8, bytes, c_str, u16_at, u32_at, u64_at};
use super::payload::Coding;

/// First four bytes of a fatbin, `0xBA55ED50`.
pub(super) const MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
/// First four bytes of the fatbins that toolkits before CUDA 4 wrote, `0x1EE55A01`.
pub(super) const OLD_MAGIC: [u8; 4] = [0x01, 0x5a, 0xe5, 0x1e];
/// Bytes of a fatbin header.
pub(super) const HEADER_LEN: usize = 16;
/// Fixed part of an entry header.
pub(super) const ENTRY_LEN: usize = 64;
/// Bytes of an entry that [`looks_like_entry`] looks at, at most.
pub(super) const ENTRY_PROBE: usize = 16;
/// Largest entry header that is read: options texts and concat tables are kilobytes in real files.
pub(super) const ENTRY_HEADER_MAX: usize = 4 << 20;

/// Zeros behind a compressed payload: up to seven, or eight where PTX of CUDA 10 is aligned already.
const MAX_PADDING: u64 = 8;

const FLAG_DEBUG: u64 = 0x2;
const FLAG_COMPRESSED_LEGACY: u64 = 0x1000;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_COMPRESSED_UNKNOWN: u64 = 0x4000;
const FLAG_ZSTD: u64 = 0x8000;
const FLAG_SCRAMBLED: u64 = 0x1_0000;
const FLAG_ARCH: u64 = 0x10_0000;
const FLAG_FAMILY: u64 = 0x20_0000;
const FLAG_COMPAT: u64 = 0x100_0000;

const KIND_CONCAT: u16 = 0x100;
const ENTRY_VERSION: u16 = 0x0101;

/// The 16 bytes before the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FatbinHeader {
    pub(super) version: u16,
    pub(super) header_len: u16,
    /// Bytes after the header, as claimed.
    pub(super) claimed_len: u64,
}

impl FatbinHeader {
    /// The header at the start of `data`, where it can be one. The magic was compared by the caller.
    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        let header = Self {
            version: u16_at(data, 4)?,
            header_len: u16_at(data, 6)?,
            claimed_len: u64_at(data, 8)?,
        };
        let plausible = (16..=4096).contains(&header.header_len)
            && header.header_len.is_multiple_of(8)
            && header.claimed_len >= ENTRY_LEN as u64
            && header.claimed_len.is_multiple_of(8);
        plausible.then_some(header)
    }
}

/// Whether the bytes after a fatbin header, which claims `len` bytes behind itself, begin like an entry;
/// `None` where more bytes are needed to say so, up to [`ENTRY_PROBE`].
///
/// Of the version that every toolkit writes, that is enough. cuobjdump reads any other too, so such an entry
/// is one where its sizes fit.
pub(super) fn looks_like_entry(data: &[u8], len: u64) -> Option<bool> {
    let (kind, version) = (u16_at(data, 0)?, u16_at(data, 2)?);
    if kind == 0 || version == ENTRY_VERSION {
        return Some(kind != 0);
    }
    let (header_len, payload_len) = (u64::from(u32_at(data, 4)?), u64_at(data, 8)?);
    let header_fits = (ENTRY_LEN as u64..=ENTRY_HEADER_MAX as u64).contains(&header_len);
    let end = payload_len.checked_add(header_len);
    Some(
        header_fits
            && header_len.is_multiple_of(8)
            && payload_len.is_multiple_of(8)
            && end.is_some_and(|end| end <= len),
    )
}

/// An entry, or one image of a concatenated entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: ImageKind,
    /// Bytes of this header with its tail.
    pub(super) header_len: usize,
    /// Bytes of the payload as stored, with padding.
    pub(super) payload_len: u64,
    /// Bytes of the payload as stored, without padding where that is known.
    pub(super) stored_len: u64,
    /// Bytes of the unpacked payload, as claimed.
    pub(super) unpacked_len: u64,
    pub(super) coding: Coding,
    pub(super) scrambled: bool,
    pub(super) debug: bool,
    /// What the header says the code was built for.
    pub(super) claimed_target: Option<SmTarget>,
    /// The version fields: PTX ISA, cubin ABI or LTO-IR version, by kind.
    pub(super) version: (u16, u16),
    /// The copy of the cubin's `.nv.compat` section, where the header has one.
    pub(super) compat: Option<Vec<u8>>,
    pub(super) identifier: Vec<u8>,
    /// The images of a concatenated entry, with the offset of each in the unpacked payload.
    pub(super) parts: Vec<(u64, Entry)>,
}

/// What is wrong with an entry header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryError {
    /// It is longer than what was given; the number is the length needed.
    Needs(usize),
    /// It contradicts itself.
    Malformed(&'static str),
}

impl Entry {
    /// Decodes the entry header at the start of `data`, of a fatbin with `remaining` bytes left.
    pub(super) fn parse(data: &[u8], remaining: u64) -> Result<Self, EntryError> {
        let needs = |len: usize| {
            if data.len() < len {
                Err(EntryError::Needs(len))
            } else {
                Ok(())
            }
        };
        let malformed = EntryError::Malformed;
        if remaining < ENTRY_LEN as u64 {
            return Err(malformed(
                "bytes are left over that are too few for an entry",
            ));
        }
        needs(ENTRY_LEN)?;
        let claimed_header = u32_at(data, 4).ok_or(EntryError::Needs(ENTRY_LEN))?;
        let header_len = usize::try_from(claimed_header).unwrap_or(usize::MAX);
        let payload_len = u64_at(data, 8).ok_or(EntryError::Needs(ENTRY_LEN))?;
        if header_len < ENTRY_LEN || header_len % 8 != 0 {
            return Err(malformed(
                "the entry's header size is not a multiple of 8 from 64 up",
            ));
        }
        if header_len > ENTRY_HEADER_MAX {
            return Err(malformed(
                "the entry's header is larger than any toolkit writes",
            ));
        }
        if payload_len
            .checked_add(u64::from(claimed_header))
            .is_none_or(|len| len > remaining)
        {
            return Err(malformed(
                "the entry is larger than what its fatbin has left",
            ));
        }
        needs(header_len)?;
        let header = data
            .get(..header_len)
            .ok_or(EntryError::Needs(header_len))?;
        let mut entry =
            Self::decode(header, header_len).ok_or(malformed("the entry's header is cut short"))?;
        entry.payload_len = payload_len;
        let compressed = u64::from(u32_at(header, 0x10).unwrap_or_default());
        (entry.stored_len, entry.unpacked_len) = match entry.coding {
            Coding::None => (payload_len, payload_len),
            // nothing is known of these, so nothing is asked of their sizes
            Coding::Unknown => (payload_len, u64_at(header, 0x38).unwrap_or_default()),
            Coding::Lz4 | Coding::Zstd => {
                let padding = payload_len.checked_sub(compressed);
                if padding.is_none_or(|padding| padding > MAX_PADDING) {
                    return Err(malformed(
                        "the entry's compressed size does not fill its payload",
                    ));
                }
                (compressed, u64_at(header, 0x38).unwrap_or_default())
            }
        };
        if u16_at(header, 0) == Some(KIND_CONCAT) {
            entry.parts = parse_parts(header, entry.unpacked_len).ok_or(malformed(
                "the table of a concatenated entry does not add up",
            ))?;
            for (_, part) in &mut entry.parts {
                part.coding = entry.coding;
                part.scrambled = entry.scrambled;
            }
        }
        Ok(entry)
    }

    /// The fields that an entry header and a sub-header of a concatenated entry share.
    fn decode(header: &[u8], header_len: usize) -> Option<Self> {
        let kind = u16_at(header, 0)?;
        let flags = u64_at(header, 0x28)?;
        let suffix = if flags & FLAG_ARCH != 0 {
            Suffix::Arch
        } else if flags & FLAG_FAMILY != 0 {
            Suffix::Family
        } else {
            Suffix::None
        };
        let kind = ImageKind::from_entry(kind);
        let claimed_target = if matches!(kind, ImageKind::TileIr | ImageKind::Index) {
            None // the arch field is a dummy there
        } else {
            ComputeCapability::from_number(u32_at(header, 0x1c)?)
                .map(|cc| SmTarget::new(cc, suffix))
        };
        let coding = if flags & FLAG_ZSTD != 0 {
            Coding::Zstd
        } else if flags & FLAG_LZ4 != 0 {
            Coding::Lz4
        } else if flags & (FLAG_COMPRESSED_LEGACY | FLAG_COMPRESSED_UNKNOWN) != 0 {
            Coding::Unknown
        } else {
            Coding::None
        };
        let (id_at, id_len) = (u32_at(header, 0x20)?, u32_at(header, 0x24)?);
        let identifier = if id_at == 0 {
            Vec::new()
        } else {
            // cuobjdump prints up to the NUL, whatever the length says
            let id = bytes(header, id_at.try_into().ok()?, id_len.try_into().ok()?)?;
            c_str(id, 0)?.to_vec()
        };
        let (_, options_len, extension) = extension(header)?;
        let compat = (flags & FLAG_COMPAT != 0)
            .then(|| bytes(header, extension.checked_add(1)?, options_len).map(<[u8]>::to_vec))
            .flatten();
        Some(Self {
            kind,
            header_len,
            payload_len: 0,
            stored_len: 0,
            unpacked_len: 0,
            coding,
            scrambled: flags & FLAG_SCRAMBLED != 0,
            debug: flags & FLAG_DEBUG != 0,
            claimed_target,
            version: (u16_at(header, 0x1a)?, u16_at(header, 0x18)?),
            compat,
            identifier,
            parts: Vec::new(),
        })
    }

    /// The PTX ISA that the header states.
    pub(super) fn claimed_isa(&self) -> Option<PtxIsa> {
        let (major, minor) = self.version;
        self.kind
            .is_ptx()
            .then(|| PtxIsa::new(u32::from(major), u32::from(minor)))
    }
}

/// The extension of a header: whether it has one, the length stated in its descriptor and its offset.
fn extension(header: &[u8]) -> Option<(bool, usize, usize)> {
    let at = usize::try_from(u32_at(header, 0x14)?).ok()?;
    // In a concatenated entry the descriptor's place holds the table.
    if at == 0 || u16_at(header, 0) == Some(KIND_CONCAT) {
        return Some((false, 0, 0));
    }
    let offset = usize::try_from(u32_at(header, at)?).ok()?;
    let len = usize::try_from(u32_at(header, at.checked_add(4)?)?).ok()?;
    Some((true, len, offset))
}

/// The images of a concatenated entry: FORMAT.md §5. `None` where the table does not add up.
fn parse_parts(header: &[u8], unpacked_len: u64) -> Option<Vec<(u64, Entry)>> {
    let count = usize::try_from(u32_at(header, 0x40)?).ok()?;
    let table_len = usize::try_from(u32_at(header, 0x44)?).ok()?;
    let table = bytes(header, 0x40, table_len)?;
    let mut parts = Vec::new();
    let mut at = 8;
    let mut end = 0;
    for _ in 0..count {
        let sub = table.get(at..)?;
        let len = sub_header_len(sub)?;
        let mut part = Entry::decode(bytes(sub, 0, len)?, len)?;
        if matches!(part.kind, ImageKind::Unknown(KIND_CONCAT)) {
            return None;
        }
        let offset = u64::from(u32_at(sub, 4)?);
        part.unpacked_len = u64_at(sub, 8)?;
        part.payload_len = part.unpacked_len;
        part.stored_len = part.unpacked_len;
        // One behind the other: one pass collects every image's head, and no byte is held twice.
        if offset < end {
            return None;
        }
        end = offset.checked_add(part.unpacked_len)?;
        if end > align8(unpacked_len)? {
            return None;
        }
        parts.push((offset, part));
        at += len;
    }
    (at == table_len && !parts.is_empty()).then_some(parts)
}

/// The length of a sub-header, which is not stored: the end of its identifier or options, rounded up.
fn sub_header_len(sub: &[u8]) -> Option<usize> {
    let mut end = ENTRY_LEN;
    let (id_at, id_len) = (u32_at(sub, 0x20)?, u32_at(sub, 0x24)?);
    if id_at != 0 {
        end = end.max(usize::try_from(id_at.checked_add(id_len)?.checked_add(1)?).ok()?);
    }
    let (has_extension, len, offset) = extension(sub)?;
    if has_extension {
        let compat = u64_at(sub, 0x28)? & FLAG_COMPAT != 0;
        end = end.max(
            offset
                .checked_add(len)?
                .checked_add(1 + usize::from(compat))?,
        );
    }
    usize::try_from(align8(end as u64)?)
        .ok()
        .filter(|len| *len <= sub.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry header by hand from FORMAT.md §4.
    fn entry(kind: u16, payload: u64, arch: u32, flags: u64) -> Vec<u8> {
        let mut header = vec![0; ENTRY_LEN];
        header[0..2].copy_from_slice(&kind.to_le_bytes());
        header[2..4].copy_from_slice(&[1, 1]);
        header[4..8].copy_from_slice(&64_u32.to_le_bytes());
        header[8..16].copy_from_slice(&payload.to_le_bytes());
        header[0x1c..0x20].copy_from_slice(&arch.to_le_bytes());
        header[0x28..0x30].copy_from_slice(&flags.to_le_bytes());
        header
    }

    #[test]
    fn reads_the_suffix_from_the_flags_and_a_wins_over_f() {
        for (flags, name) in [
            (0x11, "sm_100"),
            (0x10_0011, "sm_100a"),
            (0x20_0011, "sm_100f"),
            (0x30_0011, "sm_100a"),
        ] {
            let entry = Entry::parse(&entry(2, 64, 100, flags), 128).unwrap();
            assert_eq!(entry.claimed_target.unwrap().to_string(), name);
        }
    }

    #[test]
    fn refuses_sizes_that_leave_the_fatbin() {
        assert!(matches!(
            Entry::parse(&entry(2, 72, 90, 0), 128),
            Err(EntryError::Malformed(_))
        ));
        assert!(matches!(
            Entry::parse(&entry(2, u64::MAX - 7, 90, 0), 128),
            Err(EntryError::Malformed(_))
        ));
        assert!(matches!(
            Entry::parse(&entry(2, 64, 90, 0), 56),
            Err(EntryError::Malformed(_))
        ));
        let mut zero = entry(2, 64, 90, 0);
        zero[4..8].copy_from_slice(&0_u32.to_le_bytes());
        assert!(matches!(
            Entry::parse(&zero, 128),
            Err(EntryError::Malformed(_))
        ));
    }

    #[test]
    fn asks_for_the_rest_of_a_header_that_is_cut() {
        let header = entry(1, 64, 90, 0);
        assert_eq!(Entry::parse(&header[..10], 128), Err(EntryError::Needs(64)));
        let mut long = header.clone();
        long[4..8].copy_from_slice(&72_u32.to_le_bytes());
        assert_eq!(Entry::parse(&long, 136), Err(EntryError::Needs(72)));
    }

    #[test]
    fn a_compressed_payload_must_have_its_stated_size() {
        let mut header = entry(1, 64, 90, 0x2011);
        header[0x10..0x14].copy_from_slice(&57_u32.to_le_bytes());
        assert_eq!(Entry::parse(&header, 128).unwrap().stored_len, 57);
        // PTX of 10.0 is padded by eight bytes where it is aligned already
        header[0x10..0x14].copy_from_slice(&56_u32.to_le_bytes());
        assert_eq!(Entry::parse(&header, 128).unwrap().stored_len, 56);
        for wrong in [55_u32, 65, 0] {
            header[0x10..0x14].copy_from_slice(&wrong.to_le_bytes());
            assert!(
                matches!(Entry::parse(&header, 128), Err(EntryError::Malformed(_))),
                "{wrong}"
            );
        }
    }

    #[test]
    fn keeps_unknown_kinds() {
        let entry = Entry::parse(&entry(0x200, 64, 90, 0), 128).unwrap();
        assert_eq!(entry.kind, ImageKind::Unknown(0x200));
        assert_eq!(entry.kind.to_string(), "unknown-0x200");
    }
}
