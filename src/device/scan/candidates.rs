//! Hits of the search, validated: each either begins device code or is nothing.

use std::collections::BTreeSet;

use crate::device::compiler::{self, NVRTC_LEN, RELEASES_MAX, TEXT_MAX};
use crate::device::cubin::{CubinHead, HEAD_LEN};
use crate::device::fatbin::{FatbinHeader, HEADER_LEN};
use crate::device::hunt::{BlockCoding, BlockHead, FRAME_HEAD_MAX, FrameHead};
use crate::device::image::{ImageKey, ImageKind};
use crate::device::inspect::{FRAME_MAX, Notes, frame_pieces, resolve_bare_cubin};
use crate::device::kernels::{NAMED_MAX, SECTION_TABLE_MAX};
use crate::device::le::u64_at;
use crate::device::owner::Owner;
use crate::device::payload::{Coding, Peek, Piece};
use crate::device::ptx::{self, NoHead};
use crate::device::tally::Images;
use crate::problem::ProblemKind;

use super::bare::{BareCubin, BarePtx, Frame};
use super::skip::begins_fatbin;
use super::walk::Walk;
use super::{Scanner, State};

/// Beginning of a bare cubin that is kept: names, symbols, debug information and attributes come before the
/// code (the toolkit's note 3.2 MB into one of 2,422 real cubins, FORMAT.md §7.3).
const BARE_CUBIN_HEAD: u64 = 4 << 20;
/// Candidates that were no fatbins, remembered until the sections are known.
const SUSPECTS_MAX: usize = 1 << 16;
/// Device-link records remembered.
const LINKS_MAX: usize = 4096;

/// Bytes of one file that are looked at for the directives of PTX behind long comments.
const COMMENTS_FREE: u64 = 64 << 20;
/// What it takes to look into a zstd frame, in bytes, beside those of its first block.
const FRAME_COST: u64 = 4 << 10;
/// Bytes of zstd frames that are looked into in any file.
const FRAMES_FREE: u64 = 64 << 20;
/// Bytes more for every byte of the file.
const FRAMES_RATIO: u64 = 4;

/// What became of a hit.
pub(super) enum Candidate {
    Reject,
    Need(usize),
    /// Go on in this state after so many bytes.
    Accept(State, usize),
}

impl Scanner<'_> {
    pub(super) fn fatbin_candidate(&mut self, data: &[u8], at: u64, eof: bool) -> Candidate {
        let begins = match begins_fatbin(data) {
            Err(need) if !eof => return Candidate::Need(need),
            begins => begins.unwrap_or(false),
        };
        let header = FatbinHeader::parse(data);
        let header_len = header.map_or(HEADER_LEN, |header| usize::from(header.header_len));
        // A file that begins with a fatbin is one, whatever its entries are like.
        let plausible = begins || at == 0 && data.len() >= header_len;
        let Some(header) = header.filter(|_| plausible) else {
            if at == 0 {
                let detail = "the file begins like a fatbin and does not go on like one";
                self.found
                    .problems
                    .push(at, ProblemKind::MalformedFatbin, detail);
            } else if self.found.suspects.len() < SUSPECTS_MAX {
                self.found.suspects.push(at);
            } else {
                let detail = "more places look like damaged fatbins than are remembered";
                self.found
                    .problems
                    .push_once(at, ProblemKind::LimitExceeded, detail);
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
            kernels: BTreeSet::new(),
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
        let pieces = cubin_pieces(table, table_len, self.found.kernels.are_asked());
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

    pub(super) fn frame_candidate(&mut self, data: &[u8], at: u64, eof: bool) -> Candidate {
        if data.len() < FRAME_HEAD_MAX + BlockHead::LEN && !eof {
            return Candidate::Need(FRAME_HEAD_MAX + BlockHead::LEN);
        }
        let Some(head) = FrameHead::parse(data) else {
            return Candidate::Reject;
        };
        let Some(block) = data.get(head.len..).and_then(BlockHead::parse) else {
            return Candidate::Reject;
        };
        let begin = head.len + BlockHead::LEN;
        let (enough, cost) = match block.coding {
            BlockCoding::Raw => (begin + block.stored.min(HEAD_LEN), FRAME_COST),
            // zstd gives nothing out before it has a whole block
            BlockCoding::Compressed => (begin + block.stored, FRAME_COST + block.stored as u64),
            // no cubin begins with one byte again and again
            BlockCoding::Repeated => return Candidate::Reject,
        };
        let raw = block.coding == BlockCoding::Raw;
        if !raw && !self.affords_frame(at, cost) {
            return Candidate::Reject;
        }
        if data.len() < enough && !eof {
            return Candidate::Need(enough);
        }
        let stored = data.get(..enough).unwrap_or(data);
        let unpacked = if raw {
            stored.get(begin..).unwrap_or_default().to_vec()
        } else {
            self.found.frames_tried += cost;
            let pieces = vec![Piece::new(0, HEAD_LEN)];
            let mut peek = Peek::new(Coding::Zstd, pieces, HEAD_LEN as u64);
            peek.push(stored);
            peek.finish().0.pop().unwrap_or_default()
        };
        let Some(cubin) = CubinHead::parse(&unpacked) else {
            return Candidate::Reject;
        };
        if raw {
            if !self.affords_frame(at, cost) {
                return Candidate::Reject;
            }
            self.found.frames_tried += cost;
        }
        let notes = &mut Notes::new(self.recogniser);
        let Some(key) = resolve_bare_cubin(&unpacked, None, notes) else {
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

    /// Whether a frame may be looked into that takes so many bytes to. Honest files hold frames that lie
    /// behind each other, so one in which each hides more and more gets no more than that.
    fn affords_frame(&mut self, at: u64, cost: u64) -> bool {
        let earned = at.saturating_mul(FRAMES_RATIO).saturating_add(FRAMES_FREE);
        let affords = self.found.frames_tried.saturating_add(cost) <= earned;
        if !affords {
            let detail = "more places look like zstd frames than are looked into";
            self.found
                .problems
                .push_once(at, ProblemKind::LimitExceeded, detail);
        }
        affords
    }

    pub(super) fn ptx_candidate(&mut self, data: &[u8], at: u64, eof: bool) -> Candidate {
        let follows = data.get(8).copied();
        if follows.is_some_and(|byte| !byte.is_ascii_whitespace()) {
            return Candidate::Reject;
        }
        let mut len = ptx::HEAD_MAX;
        let (text, head) = loop {
            if data.len() < len && !eof {
                return Candidate::Need(len);
            }
            let window = data.get(..len).unwrap_or(data);
            // most hits are no directives, and that is cheap to see
            let head = ptx::parse_head(window);
            let cut = head == Err(NoHead::Cut) && window.len() == len;
            if head == Err(NoHead::Other) || cut && !self.affords_comment(at, len) {
                break (window, head);
            }
            let text = ptx::text_of(window);
            let head = ptx::parse_head(text);
            let cut = head == Err(NoHead::Cut) && text.len() == len;
            if !cut || !self.affords_comment(at, 2 * len) {
                break (text, head);
            }
            len *= 2;
        };
        if len > ptx::HEAD_MAX || head == Err(NoHead::Cut) {
            self.found.comments_read += len as u64;
        }
        let Ok(head) = head else {
            return Candidate::Reject;
        };
        let whole = text.len() < data.len().min(len);
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

    /// Whether so many bytes may be looked at for directives behind comments.
    fn affords_comment(&mut self, at: u64, len: usize) -> bool {
        let most = COMMENTS_FREE.saturating_sub(self.found.comments_read);
        let affords = len <= ptx::COMMENTS_MAX && len as u64 <= most;
        if !affords {
            let detail = "comments behind `.version` are longer than is looked at for a `.target`";
            self.found
                .problems
                .push_once(at, ProblemKind::LimitExceeded, detail);
        }
        affords
    }

    pub(super) fn device_link(&mut self, data: &[u8], at: u64, eof: bool) -> Candidate {
        if data.len() < 16 && !eof {
            return Candidate::Need(16);
        }
        match u64_at(data, 8) {
            Some(address) if self.found.links.len() < LINKS_MAX => self.found.links.push(address),
            Some(_) => {
                let detail = "more records of device links than are remembered";
                self.found
                    .problems
                    .push_once(at, ProblemKind::LimitExceeded, detail);
            }
            None => {}
        }
        Candidate::Reject
    }

    pub(super) fn compiler(&mut self, data: &[u8], eof: bool) -> Candidate {
        if data.len() < TEXT_MAX && !eof {
            return Candidate::Need(TEXT_MAX);
        }
        let found = compiler::release(data).filter(|_| self.found.compilers.len() < RELEASES_MAX);
        self.found.compilers.extend(found);
        Candidate::Reject
    }

    pub(super) fn nvrtc(&mut self, data: &[u8], eof: bool) -> Candidate {
        if data.len() < NVRTC_LEN && !eof {
            return Candidate::Need(NVRTC_LEN);
        }
        self.found.nvrtc |= compiler::is_nvrtc(data);
        Candidate::Reject
    }
}

/// What is looked at of a cubin outside fatbins: its beginning and its section table, and between these all of
/// it where the names of its kernels are asked for.
fn cubin_pieces(table: u64, table_len: u64, names: bool) -> Vec<Piece> {
    let want = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
    let mut pieces = vec![Piece::new(0, want(BARE_CUBIN_HEAD))];
    if names {
        pieces.push(Piece::new(0, want(NAMED_MAX)));
    }
    pieces.push(Piece::new(table, want(table_len.min(SECTION_TABLE_MAX))));
    pieces
}
