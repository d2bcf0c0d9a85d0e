//! The search for device code in bytes of unknown meaning.
//!
//! One pass looks for all signatures at once and hands out the hits in order; each hit is only a
//! candidate, which the scanner validates. Recipe: FORMAT.md §9.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::compiler::{MARK, NVRTC_MARK};
use super::fatbin::MAGIC;
use super::le::{u32_at, u64_at};

/// What a signature may be the beginning of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signature {
    /// A fatbin header.
    Fatbin,
    /// An ELF file, perhaps a cubin.
    Elf,
    /// A zstd frame, perhaps of a cubin.
    ZstdFrame,
    /// PTX text.
    Ptx,
    /// The control record of a device-linked fatbin (FORMAT.md §2.2).
    DeviceLink,
    /// The text by which a compiler names its release.
    Compiler,
    /// A message of NVRTC's.
    Nvrtc,
}

const COUNT: usize = 7;

const SIGNATURES: [(Signature, &[u8]); COUNT] = [
    (Signature::Fatbin, &MAGIC),
    (Signature::Elf, b"\x7fELF"),
    (Signature::ZstdFrame, &[0x28, 0xb5, 0x2f, 0xfd]),
    (Signature::Ptx, b".version"),
    (Signature::DeviceLink, &[0xb1, 0x43, 0x62, 0x46, 2, 0, 0, 0]),
    (Signature::Compiler, MARK),
    (Signature::Nvrtc, NVRTC_MARK),
];

/// Bytes that must be kept for the next piece of input, so that no signature is cut.
pub(super) const OVERLAP: usize = 7;

static FINDERS: LazyLock<[(Signature, Finder<'static>); COUNT]> =
    LazyLock::new(|| SIGNATURES.map(|(signature, needle)| (signature, Finder::new(needle))));

/// Hits in one piece of input, each signature searched at most once over every byte.
#[derive(Debug)]
pub(super) struct Hits<'d> {
    data: &'d [u8],
    /// For each signature, the first hit that was not passed yet; `data.len()` where there is none.
    next: [usize; COUNT],
    searched: bool,
}

impl<'d> Hits<'d> {
    pub(super) fn new(data: &'d [u8]) -> Self {
        Self {
            data,
            next: [0; COUNT],
            searched: false,
        }
    }

    /// The first hit at or after `from`. Calls must not go backwards.
    pub(super) fn next_from(&mut self, from: usize) -> Option<(usize, Signature)> {
        for (next, (_, finder)) in self.next.iter_mut().zip(FINDERS.iter()) {
            if !self.searched || *next < from {
                let found = self.data.get(from..).and_then(|rest| finder.find(rest));
                *next = found.map_or(self.data.len(), |at| from + at);
            }
        }
        self.searched = true;
        let (at, signature) = self
            .next
            .iter()
            .zip(SIGNATURES)
            .map(|(at, (s, _))| (*at, s))
            .min_by_key(|(at, _)| *at)?;
        (at < self.data.len()).then_some((at, signature))
    }
}

/// The header of a zstd frame that may hold a cubin, and its first block.
///
/// Held to what libcublasLt stores: a stated content size of at least an ELF header, no dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHead {
    /// Bytes of the frame header.
    pub(super) len: usize,
    /// Bytes of the unpacked frame, as claimed.
    pub(super) claimed_content: u64,
    pub(super) checksum: bool,
}

/// Bytes that [`FrameHead::parse`] looks at, at most.
pub(super) const FRAME_HEAD_MAX: usize = 18;

impl FrameHead {
    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        // RFC 8878, section 3.1.1
        let descriptor = *data.get(4)?;
        let single_segment = descriptor & 0x20 != 0;
        let (reserved, dictionary) = (descriptor & 0x08, descriptor & 0x03);
        if reserved != 0 || dictionary != 0 {
            return None;
        }
        let at = 5 + usize::from(!single_segment);
        let (size_len, content) = match descriptor >> 6 {
            0 if single_segment => (1, u64::from(*data.get(at)?)),
            0 => return None,
            1 => (2, u64::from(super::le::u16_at(data, at)?) + 256),
            2 => (4, u64::from(u32_at(data, at)?)),
            _ => (8, u64_at(data, at)?),
        };
        let plausible = (64..1 << 32).contains(&content);
        plausible.then_some(Self {
            len: at + size_len,
            claimed_content: content,
            checksum: descriptor & 0x04 != 0,
        })
    }
}

/// How a zstd block is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockCoding {
    /// As it is.
    Raw,
    /// One byte, again and again.
    Repeated,
    /// Compressed.
    Compressed,
}

/// The header of a zstd block (RFC 8878, section 3.1.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockHead {
    /// Whether it is the last.
    pub(super) last: bool,
    /// Bytes that follow.
    pub(super) stored: usize,
    pub(super) coding: BlockCoding,
}

impl BlockHead {
    /// Bytes of the header.
    pub(super) const LEN: usize = 3;

    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        let [a, b, c, ..] = *data else { return None };
        let word = u32::from_le_bytes([a, b, c, 0]);
        let size = usize::try_from(word >> 3).ok()?;
        let (coding, stored) = match (word >> 1) & 3 {
            0 => (BlockCoding::Raw, size),
            1 => (BlockCoding::Repeated, 1),
            2 => (BlockCoding::Compressed, size),
            _ => return None,
        };
        (size <= 128 << 10).then_some(Self {
            last: word & 1 == 1,
            stored,
            coding,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_come_in_order_whatever_they_are() {
        use Signature::{Elf, Fatbin, Ptx, ZstdFrame};
        let data = b"..\x7fELF.version\x50\xed\x55\xba\x28\xb5\x2f\xfd\x7fELF";
        let mut hits = Hits::new(data);
        let mut from = 0;
        let mut seen = Vec::new();
        while let Some((at, signature)) = hits.next_from(from) {
            seen.push((at, signature));
            from = at + 1;
        }
        assert_eq!(
            seen,
            [(2, Elf), (6, Ptx), (14, Fatbin), (18, ZstdFrame), (22, Elf)]
        );
    }

    #[test]
    fn reads_the_frame_header_that_zstd_writes() {
        for size in [64, 255, 256, 5000, 70_000] {
            let frame = zstd::bulk::compress(&vec![7; size], 19).unwrap();
            let head = FrameHead::parse(&frame).unwrap();
            assert_eq!(head.claimed_content, size as u64);
            let block = BlockHead::parse(&frame[head.len..]).unwrap();
            assert!(block.last);
            assert_eq!(head.len + BlockHead::LEN + block.stored, frame.len());
        }
        assert_eq!(
            FrameHead::parse(&zstd::bulk::compress(&[0; 8], 3).unwrap()),
            None
        );
    }
}
