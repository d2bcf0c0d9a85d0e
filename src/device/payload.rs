//! Payloads as they pass: undoes their compression as far as somebody needs the bytes.
//!
//! A payload is never held whole. [`Peek`] is fed the stored bytes in order and collects ranges of the
//! unpacked ones; when it has them all it stops decoding. Format: FORMAT.md §4.2 (LZ4 raw block, one
//! zstd frame).

use std::ops::ControlFlow;

use zstd::stream::raw::{Decoder as Zstd, InBuffer, Operation as _, OutBuffer};

use super::lz4::Lz4;

/// How the bytes of a payload are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// As they are.
    None,
    /// One raw LZ4 block (default of CUDA 11.8 to 12.9).
    Lz4,
    /// One zstd frame (default of CUDA 13; needs driver 550.54.14 or newer).
    Zstd,
    /// One of the two older algorithms whose flags cuobjdump knows and no file was seen with.
    Unknown,
}

impl Coding {
    /// Every coding.
    pub const ALL: &[Self] = &[Self::None, Self::Lz4, Self::Zstd, Self::Unknown];

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Unknown => "unknown",
        }
    }
}

/// Largest zstd window that is opened, as a power of two; zstd's own default limit.
const WINDOW_LOG_MAX: u32 = 27;

/// Why a payload could not be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeekError {
    /// The stored bytes are not of the coding that the header names.
    Corrupt,
    /// Nobody knows this coding.
    UnknownCoding,
}

impl PeekError {
    pub(super) const fn detail(self) -> &'static str {
        match self {
            Self::Corrupt => "the payload is not of the compression that its header names",
            Self::UnknownCoding => "the payload is compressed with an algorithm that is not known",
        }
    }
}

/// A wanted range of the unpacked payload, and what was collected of it.
#[derive(Debug)]
pub(super) struct Piece {
    start: u64,
    want: usize,
    got: Vec<u8>,
    /// Bytes with which, and a little more, the piece is complete before it has all it wants.
    marker: Option<&'static [u8]>,
}

/// Bytes kept behind a marker.
const AFTER_MARKER: usize = 4096;

impl Piece {
    pub(super) fn new(start: u64, want: usize) -> Self {
        Self {
            start,
            want,
            got: Vec::new(),
            marker: None,
        }
    }

    /// The same, but no more than a little behind the first `marker`.
    pub(super) fn until(mut self, marker: &'static [u8]) -> Self {
        self.marker = Some(marker);
        self
    }

    fn extend(&mut self, bytes: &[u8]) {
        let before = self.got.len();
        self.got.extend_from_slice(bytes);
        let Some(marker) = self.marker else { return };
        let from = before.saturating_sub(marker.len() - 1);
        let found = self
            .got
            .get(from..)
            .and_then(|fresh| memchr::memmem::find(fresh, marker));
        if let Some(at) = found {
            self.marker = None;
            self.want = self.want.min(from + at + AFTER_MARKER);
            self.got.truncate(self.want);
        }
    }

    fn is_complete(&self) -> bool {
        self.got.len() >= self.want
    }
}

/// Collects ranges of an unpacked payload while the stored bytes pass.
#[derive(Debug)]
pub(super) struct Peek {
    decoder: Option<Decoder>,
    collector: Collector,
    error: Option<PeekError>,
}

enum Decoder {
    None,
    Lz4(Lz4),
    Zstd(Box<Zstd<'static>>),
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Lz4(_) => "Lz4",
            Self::Zstd(_) => "Zstd",
        })
    }
}

#[derive(Debug)]
struct Collector {
    /// Ascending by `start`.
    pieces: Vec<Piece>,
    /// First piece that is not complete.
    next: usize,
    position: u64,
    limit: u64,
}

impl Collector {
    fn push(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let begin = self.position;
        self.position += bytes.len() as u64;
        let mut index = self.next;
        while let Some(piece) = self.pieces.get_mut(index) {
            if piece.start >= self.position {
                break;
            }
            let have = piece.got.len();
            let from = (piece.start + have as u64).saturating_sub(begin);
            let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
            let upto = from
                .saturating_add(piece.want.saturating_sub(have))
                .min(bytes.len());
            piece.extend(bytes.get(from..upto).unwrap_or_default());
            let complete = piece.is_complete();
            index += 1;
            if complete && index == self.next + 1 {
                self.next = index;
            }
        }
        if self.next >= self.pieces.len() || self.position >= self.limit {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Peek {
    /// Wants `pieces`, ascending, of a payload stored as `coding`; unpacks at most `limit` bytes.
    pub(super) fn new(coding: Coding, pieces: Vec<Piece>, limit: u64) -> Self {
        let mut error = None;
        let decoder = match coding {
            _ if pieces.is_empty() => None,
            Coding::None => Some(Decoder::None),
            Coding::Lz4 => Some(Decoder::Lz4(Lz4::new())),
            Coding::Zstd => new_zstd().map(|zstd| Decoder::Zstd(Box::new(zstd))),
            Coding::Unknown => None,
        };
        if coding == Coding::Unknown {
            error = Some(PeekError::UnknownCoding);
        } else if decoder.is_none() && !pieces.is_empty() {
            error = Some(PeekError::Corrupt);
        }
        Self {
            decoder,
            collector: Collector {
                pieces,
                next: 0,
                position: 0,
                limit,
            },
            error,
        }
    }

    /// Takes the next stored bytes.
    pub(super) fn push(&mut self, stored: &[u8]) {
        let collector = &mut self.collector;
        let flow = match &mut self.decoder {
            None => return,
            Some(Decoder::None) => Ok(collector.push(stored)),
            Some(Decoder::Lz4(lz4)) => lz4
                .push(stored, &mut |bytes| collector.push(bytes))
                .map_err(|_corrupt| PeekError::Corrupt),
            Some(Decoder::Zstd(zstd)) => push_zstd(zstd, stored, collector),
        };
        match flow {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => self.decoder = None,
            Err(error) => {
                self.error = Some(error);
                self.decoder = None;
            }
        }
    }

    /// Whether more stored bytes can still make a difference.
    pub(super) fn is_hungry(&self) -> bool {
        self.decoder.is_some()
    }

    /// The collected pieces; a piece is short where the payload ends before it does.
    pub(super) fn finish(self) -> (Vec<Vec<u8>>, Option<PeekError>) {
        (
            self.collector
                .pieces
                .into_iter()
                .map(|piece| piece.got)
                .collect(),
            self.error,
        )
    }
}

fn new_zstd() -> Option<Zstd<'static>> {
    let mut zstd = Zstd::new().ok()?;
    zstd.set_parameter(zstd::stream::raw::DParameter::WindowLogMax(WINDOW_LOG_MAX))
        .ok()?;
    Some(zstd)
}

fn push_zstd(
    zstd: &mut Zstd<'_>,
    stored: &[u8],
    collector: &mut Collector,
) -> Result<ControlFlow<()>, PeekError> {
    let mut out = [0; 16 << 10];
    let mut input = InBuffer::around(stored);
    loop {
        let mut output = OutBuffer::around(&mut out[..]);
        let hint = zstd
            .run(&mut input, &mut output)
            .map_err(|_source| PeekError::Corrupt)?;
        let produced = output.as_slice();
        if !produced.is_empty() && collector.push(produced).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if hint == 0 {
            return Ok(ControlFlow::Break(()));
        }
        if input.pos == stored.len() && produced.len() < (16 << 10) {
            return Ok(ControlFlow::Continue(()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peek(coding: Coding, stored: &[u8], step: usize, pieces: &[(u64, usize)]) -> Vec<Vec<u8>> {
        let pieces = pieces
            .iter()
            .map(|&(start, want)| Piece::new(start, want))
            .collect();
        let mut peek = Peek::new(coding, pieces, u64::MAX);
        for chunk in stored.chunks(step) {
            peek.push(chunk);
        }
        let (got, error) = peek.finish();
        assert_eq!(error, None);
        got
    }

    #[test]
    fn collects_the_same_ranges_from_every_coding_and_chunk_size() {
        let plain: Vec<u8> = (0..200_000_u32).map(|n| (n / 7 % 251) as u8).collect();
        let zstd = zstd::bulk::compress(&plain, 3).unwrap();
        let pieces = [
            (0, 64),
            (1000, 10),
            (1005, 10),
            (150_000, 5),
            (199_990, 100),
        ];
        let expected: Vec<Vec<u8>> = pieces
            .iter()
            .map(|&(start, want)| {
                let start = start as usize;
                plain[start..(start + want).min(plain.len())].to_vec()
            })
            .collect();
        for step in [1, 7, 4096, 1 << 20] {
            assert_eq!(peek(Coding::None, &plain, step, &pieces), expected);
            assert_eq!(peek(Coding::Zstd, &zstd, step, &pieces), expected);
        }
    }

    #[test]
    fn stops_decoding_once_it_has_everything() {
        let mut peek = Peek::new(Coding::None, vec![Piece::new(0, 4)], u64::MAX);
        peek.push(b"abcdef");
        assert!(!peek.is_hungry());
        assert_eq!(peek.finish().0, [b"abcd".to_vec()]);
    }

    #[test]
    fn says_when_the_payload_is_not_what_the_header_says() {
        for (coding, error) in [
            (Coding::Zstd, PeekError::Corrupt),
            (Coding::Lz4, PeekError::Corrupt),
            (Coding::Unknown, PeekError::UnknownCoding),
        ] {
            let mut peek = Peek::new(coding, vec![Piece::new(0, 64)], u64::MAX);
            peek.push(&[0x10, 0x41, 0xff, 0xff, 0, 0, 0, 0]);
            assert_eq!(peek.finish().1, Some(error), "{coding:?}");
        }
    }
}
