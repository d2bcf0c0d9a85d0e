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
/// Bytes of a frame that the decoder wants first.
const ZSTD_START: usize = 5;

/// Why a payload could not be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeekError {
    /// The stored bytes are not of the coding that the header names.
    Corrupt,
    /// Nobody knows this coding.
    UnknownCoding,
    /// What is wanted lies behind more unpacked bytes than are allowed.
    TooLarge,
}

impl PeekError {
    pub(super) const fn detail(self) -> &'static str {
        match self {
            Self::Corrupt => "the payload is not of the compression that its header names",
            Self::UnknownCoding => "the payload is compressed with an algorithm that is not known",
            Self::TooLarge => "the payload unpacks to more than is looked at",
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
    has_marker: bool,
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
            has_marker: false,
        }
    }

    /// The same, but once it has the first `marker` and a little more, nothing else is wanted either.
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
            self.has_marker = true;
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
    /// With the bytes that it can take before it must give something out.
    Zstd(Box<Zstd<'static>>, usize),
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Lz4(_) => "Lz4",
            Self::Zstd(..) => "Zstd",
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
            if complete && piece.has_marker {
                self.next = self.pieces.len();
                break;
            }
            if complete && index == self.next + 1 {
                self.next = index;
            }
        }
        if self.is_complete() || self.position >= self.limit {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn is_complete(&self) -> bool {
        self.next >= self.pieces.len()
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
            Coding::Zstd => new_zstd().map(|zstd| Decoder::Zstd(Box::new(zstd), ZSTD_START)),
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
            Some(Decoder::Zstd(zstd, hint)) => push_zstd(zstd, hint, stored, collector),
        };
        match flow {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => {
                if !collector.is_complete() && collector.position >= collector.limit {
                    self.error = Some(PeekError::TooLarge);
                }
                self.decoder = None;
            }
            Err(error) => {
                self.error = Some(error);
                self.decoder = None;
            }
        }
    }

    /// What was collected of each piece so far.
    pub(super) fn so_far(&self) -> Vec<&[u8]> {
        let pieces = self.collector.pieces.iter();
        pieces.map(|piece| piece.got.as_slice()).collect()
    }

    /// Bytes that were unpacked so far.
    pub(super) fn unpacked(&self) -> u64 {
        self.collector.position
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

/// One block is given to the decoder at a time, as it asks for it: what comes before an error is then the
/// same however the input was cut.
fn push_zstd(
    zstd: &mut Zstd<'_>,
    hint: &mut usize,
    stored: &[u8],
    collector: &mut Collector,
) -> Result<ControlFlow<()>, PeekError> {
    let mut out = [0; 16 << 10];
    let mut rest = stored;
    loop {
        let now = rest.get(..*hint).unwrap_or(rest);
        let mut input = InBuffer::around(now);
        let mut output = OutBuffer::around(&mut out[..]);
        let wants = zstd
            .run(&mut input, &mut output)
            .map_err(|_source| PeekError::Corrupt)?;
        rest = rest.get(input.pos..).unwrap_or_default();
        let produced = output.as_slice();
        let full = produced.len() == 16 << 10;
        if !produced.is_empty() && collector.push(produced).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if wants == 0 {
            return Ok(ControlFlow::Break(()));
        }
        *hint = wants;
        if rest.is_empty() && !full {
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
                let start = usize::try_from(start).unwrap();
                plain[start..(start + want).min(plain.len())].to_vec()
            })
            .collect();
        for step in [1, 7, 4096, 1 << 20] {
            assert_eq!(peek(Coding::None, &plain, step, &pieces), expected);
            assert_eq!(peek(Coding::Zstd, &zstd, step, &pieces), expected);
        }
    }

    #[test]
    fn a_marker_is_enough_however_the_input_is_cut() {
        let mut plain = vec![b'.'; 70_000];
        plain.splice(60_000..60_000, *b"marker");
        for step in [1, 5, 100_000] {
            let pieces = vec![
                Piece::new(0, 70_000).until(b"marker"),
                Piece::new(69_000, 10),
            ];
            let mut peek = Peek::new(Coding::None, pieces, u64::MAX);
            plain.chunks(step).for_each(|chunk| peek.push(chunk));
            assert!(!peek.is_hungry());
            let (pieces, _) = peek.finish();
            assert_eq!(
                pieces[0],
                plain[..60_000 + AFTER_MARKER],
                "in chunks of {step}"
            );
            assert!(pieces[1].is_empty());
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
    fn keeps_what_came_before_an_error_whatever_the_chunk_size() {
        let mut random = 1_u32;
        let noise = std::iter::repeat_with(|| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        });
        let plain: Vec<u8> = noise.take(400_000).collect();
        let mut zstd = zstd::bulk::compress(&plain, 3).unwrap();
        let middle = zstd.len() / 2;
        zstd.drain(middle..middle + 1000);
        let got = |step: usize| {
            let mut peek = Peek::new(
                Coding::Zstd,
                vec![Piece::new(0, 64), Piece::new(150_000, 250_000)],
                u64::MAX,
            );
            zstd.chunks(step).for_each(|chunk| peek.push(chunk));
            peek.finish()
        };
        let (pieces, error) = got(usize::MAX);
        assert_eq!(error, Some(PeekError::Corrupt));
        assert_eq!(pieces[0], plain[..64]);
        for step in [1, 1000, 70_000] {
            assert_eq!(got(step), (pieces.clone(), error), "in chunks of {step}");
        }
    }

    #[test]
    fn says_when_a_piece_lies_behind_the_limit() {
        let zstd = zstd::bulk::compress(&vec![7; 100_000], 3).unwrap();
        for (limit, error) in [(50_000, Some(PeekError::TooLarge)), (100_000, None)] {
            let mut peek = Peek::new(Coding::Zstd, vec![Piece::new(99_000, 10)], limit);
            peek.push(&zstd);
            assert_eq!(peek.finish().1, error);
        }
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
