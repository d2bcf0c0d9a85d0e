//! Payloads as they pass: undoes their compression as far as somebody needs the bytes.
//!
//! A payload is never held whole. [`Peek`] is fed the stored bytes in order and collects ranges of the
//! unpacked ones; when it has them all it stops decoding. Format: FORMAT.md §4.2 (LZ4 raw block, one
//! zstd frame).

use std::ops::ControlFlow;

use zstd::stream::raw::{Decoder as Zstd, InBuffer, Operation as _, OutBuffer};

use super::cubin::HEAD_LEN;
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

/// What else is wanted of a payload that begins with these bytes, of which the first piece has more.
pub(super) type Follow = fn(&[u8; HEAD_LEN]) -> Option<Piece>;

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
    /// Tells from its first bytes what else is wanted of the payload.
    follow: Option<Follow>,
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
            let marked = complete && piece.has_marker;
            if index == 0
                && let Some(beginning) = piece.got.first_chunk()
                && let Some(follow) = self.follow.take()
            {
                let more = follow(beginning);
                self.pieces.extend(more);
            }
            index += 1;
            if marked {
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
                follow: None,
                next: 0,
                position: 0,
                limit,
            },
            error,
        }
    }

    /// Wants what `follow` says too, which lies behind its argument and all that is wanted already.
    pub(super) fn followed_by(mut self, follow: Follow) -> Self {
        self.collector.follow = Some(follow);
        self
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
mod tests;
