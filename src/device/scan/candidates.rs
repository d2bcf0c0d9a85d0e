//! Hits of the search, validated: each either begins device code or is nothing.

use crate::device::cubin::{CubinHead, HEAD_LEN};
use crate::device::fatbin::{FatbinHeader, HEADER_LEN, looks_like_entry};
use crate::device::hunt::{FRAME_HEAD_MAX, FrameHead, block_head};
use crate::device::image::{ImageKey, ImageKind};
use crate::device::inspect::{FRAME_MAX, Notes, frame_pieces, resolve_bare_cubin};
use crate::device::le::u64_at;
use crate::device::owner::Owner;
use crate::device::payload::{Coding, Peek, Piece};
use crate::device::ptx;
use crate::device::tally::Images;
use crate::problem::ProblemKind;

use super::bare::{BareCubin, BarePtx, Frame};
use super::skip::FATBIN_PROBE;
use super::walk::Walk;
use super::{Scanner, State};

/// Beginning of a bare cubin that is kept: names, symbols, debug information and attributes come before the
/// code (the toolkit's note 3.2 MB into one of 2,422 real cubins, FORMAT.md §7.3).
const BARE_CUBIN_HEAD: u64 = 4 << 20;
/// Largest section table of a bare cubin that is read.
const SECTION_TABLE_MAX: u64 = 4 << 20;
/// Candidates that were no fatbins, remembered until the sections are known.
const SUSPECTS_MAX: usize = 64;
/// Device-link records remembered.
const LINKS_MAX: usize = 4096;

/// What became of a hit.
pub(super) enum Candidate {
    Reject,
    Need(usize),
    /// Go on in this state after so many bytes.
    Accept(State, usize),
}

impl Scanner<'_> {
    pub(super) fn fatbin_candidate(&mut self, data: &[u8], at: u64, eof: bool) -> Candidate {
        if data.len() < FATBIN_PROBE && !eof {
            return Candidate::Need(FATBIN_PROBE);
        }
        let header = FatbinHeader::parse(data);
        let header_len = header.map_or(HEADER_LEN, |header| usize::from(header.header_len));
        if data.len() < header_len + 4 && !eof {
            return Candidate::Need(header_len + 4);
        }
        let entry = data.get(header_len..).unwrap_or_default();
        // A file that begins with a fatbin is one, whatever its entries are like.
        let plausible = looks_like_entry(entry) || at == 0 && data.len() >= header_len;
        let Some(header) = header.filter(|_| plausible) else {
            if at == 0 {
                let detail = "the file begins like a fatbin and does not go on like one";
                self.found
                    .problems
                    .push(at, ProblemKind::MalformedFatbin, detail);
            } else if self.found.suspects.len() < SUSPECTS_MAX {
                self.found.suspects.push(at);
            }
            return Candidate::Reject;
        };
        let claimed_end = at
            .checked_add(header_len as u64)
            .and_then(|end| end.checked_add(header.claimed_len));
        let mut walk = Walk {
            start: at,
            end: claimed_end.unwrap_or(u64::MAX),
            damaged: false,
            owner: Owner::Unseen,
            images: Images::default(),
            names: Vec::new(),
        };
        if header.version != 1 {
            let detail = format!(
                "version {} of the fatbin format is not known",
                header.version
            );
            self.spoil(&mut walk, at, ProblemKind::MalformedFatbin, detail);
        }
        if let Some(len) = self.len.filter(|len| walk.end > *len) {
            let detail = match claimed_end {
                Some(end) => format!(
                    "the fatbin claims to end {} bytes after the file does",
                    end - len
                ),
                None => "the fatbin claims to end beyond any file".to_owned(),
            };
            self.spoil(&mut walk, at, ProblemKind::MalformedFatbin, detail);
            walk.end = len;
        }
        Candidate::Accept(State::Entry(walk), header_len)
    }

    pub(super) fn cubin_candidate(&mut self, data: &[u8], at: u64, eof: bool) -> Candidate {
        if data.len() < HEAD_LEN && !eof {
            return Candidate::Need(HEAD_LEN);
        }
        let problems = &mut self.found.problems;
        let Some(head) = CubinHead::parse(data) else {
            if CubinHead::is_cut(data) {
                problems.push(
                    at,
                    ProblemKind::Truncated,
                    "the file ends inside the header of a cubin",
                );
            }
            return Candidate::Reject;
        };
        let tables = head
            .tables_end()
            .and_then(|len| Some((len, head.section_table()?)));
        let end = tables.and_then(|(len, _)| at.checked_add(len));
        let (Some((_, (table, table_len))), Some(mut end)) = (tables, end) else {
            let detail = "the tables of the cubin cannot lie where its header says";
            problems.push(at, ProblemKind::MalformedCubin, detail);
            return Candidate::Reject;
        };
        let mut damaged = false;
        if let Some(file_len) = self.len.filter(|file_len| end > *file_len) {
            let detail = format!(
                "the cubin claims to end {} bytes after the file does",
                end - file_len
            );
            problems.push(at, ProblemKind::MalformedCubin, detail);
            end = file_len;
            damaged = true;
        }
        let pieces = cubin_pieces(table, table_len);
        let peek = Peek::new(Coding::None, pieces, u64::MAX);
        let cubin = BareCubin {
            start: at,
            end,
            damaged,
            sectioned: false,
            peek,
        };
        Candidate::Accept(State::Cubin(Box::new(cubin)), 0)
    }

    pub(super) fn frame_candidate(&self, data: &[u8], at: u64, eof: bool) -> Candidate {
        if data.len() < FRAME_HEAD_MAX + 3 && !eof {
            return Candidate::Need(FRAME_HEAD_MAX + 3);
        }
        let Some(head) = FrameHead::parse(data) else {
            return Candidate::Reject;
        };
        let Some((_, stored)) = data.get(head.len..).and_then(block_head) else {
            return Candidate::Reject;
        };
        // zstd gives nothing out before it has a whole block
        let first_block = head.len + 3 + stored;
        if data.len() < first_block && !eof {
            return Candidate::Need(first_block);
        }
        let mut peek = Peek::new(Coding::Zstd, vec![Piece::new(0, HEAD_LEN)], HEAD_LEN as u64);
        peek.push(data.get(..first_block).unwrap_or(data));
        let (pieces, _) = peek.finish();
        let unpacked = pieces.first().map(Vec::as_slice).unwrap_or_default();
        let Some(cubin) = CubinHead::parse(unpacked) else {
            return Candidate::Reject;
        };
        let Some(key) = resolve_bare_cubin(unpacked, None, &mut Notes::new(self.recogniser)) else {
            return Candidate::Reject;
        };
        let pieces = frame_pieces(
            &cubin,
            head.claimed_content,
            !self.found.toolkits.is_empty(),
        );
        let mut peek = Peek::new(Coding::Zstd, pieces, self.unpack_limit(FRAME_MAX));
        peek.push(data.get(..head.len).unwrap_or(data));
        let frame = Frame {
            start: at,
            left: 0,
            last: false,
            checksum: head.checksum,
            key,
            peek,
        };
        Candidate::Accept(State::Frame(Box::new(frame)), head.len)
    }

    pub(super) fn ptx_candidate(&self, data: &[u8], at: u64, eof: bool) -> Candidate {
        let follows = data.get(8).copied();
        if follows.is_some_and(|byte| !byte.is_ascii_whitespace()) {
            return Candidate::Reject;
        }
        if data.len() < ptx::HEAD_MAX && !eof {
            return Candidate::Need(ptx::HEAD_MAX);
        }
        let head = data.get(..ptx::HEAD_MAX).unwrap_or(data);
        // most hits are no directives, and that is cheap to see; a comment may be in any alphabet
        let text = ptx::parse_head(head).and_then(|_| {
            let end = head
                .iter()
                .position(|byte| !ptx::is_text(*byte) && byte.is_ascii());
            head.get(..end.unwrap_or(head.len()))
        });
        let text = text.unwrap_or_default();
        let whole = text.len() < head.len();
        let Some(head) = ptx::parse_head(text) else {
            return Candidate::Reject;
        };
        let key = ImageKey {
            kind: ImageKind::Ptx,
            target: Some(head.target),
            isa: Some(head.isa),
            coding: Coding::None,
            header: None,
            relocatable: false,
            empty: true,
        };
        let more = if whole { Owner::Unseen } else { Owner::Other };
        let owner = ptx::kernels(text)
            .map(|name| self.recogniser.owner(name))
            .fold(more, Owner::and);
        Candidate::Accept(
            State::Ptx(BarePtx {
                start: at,
                key,
                owner,
            }),
            0,
        )
    }

    pub(super) fn device_link(&mut self, data: &[u8], eof: bool) -> Candidate {
        if data.len() < 16 && !eof {
            return Candidate::Need(16);
        }
        if let Some(address) = u64_at(data, 8).filter(|_| self.found.links.len() < LINKS_MAX) {
            self.found.links.push(address);
        }
        Candidate::Reject
    }
}

/// What is looked at of a cubin outside fatbins: its beginning and its section table.
fn cubin_pieces(table: u64, table_len: u64) -> Vec<Piece> {
    let want = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
    vec![
        Piece::new(0, want(BARE_CUBIN_HEAD)),
        Piece::new(table, want(table_len.min(SECTION_TABLE_MAX))),
    ]
}
