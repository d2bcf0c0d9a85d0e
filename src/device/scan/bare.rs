//! Device code outside any fatbin: bare cubins, zstd frames that hold one, PTX text.

use std::collections::BTreeSet;

use crate::device::cubin::Cubin;
use crate::device::hunt::BlockHead;
use crate::device::image::{ImageKey, ImageKind};
use crate::device::inspect::{Notes, resolve_bare_cubin, resolve_framed_cubin};
use crate::device::kernels::NamedImage;
use crate::device::owner::Owner;
use crate::device::payload::Peek;
use crate::device::ptx;
use crate::problem::ProblemKind;

use super::skip::{Skip, guarded};
use super::{Flow, Scanner, State};

#[derive(Debug)]
pub(super) struct BareCubin {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) damaged: bool,
    /// Whether its sections were looked at, some of which may lie behind the tables.
    pub(super) sectioned: bool,
    pub(super) peek: Peek,
}

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) start: u64,
    /// Bytes of the current block that are left.
    pub(super) left: u64,
    pub(super) last: bool,
    pub(super) checksum: bool,
    pub(super) key: ImageKey,
    pub(super) peek: Peek,
}

#[derive(Debug)]
pub(super) struct BarePtx {
    pub(super) start: u64,
    pub(super) key: ImageKey,
    /// Whose the kernels at its beginning are.
    pub(super) owner: Owner,
}

impl Scanner<'_> {
    pub(super) fn bare_cubin(
        &mut self,
        mut cubin: Box<BareCubin>,
        data: &[u8],
        cursor: &mut usize,
        eof: bool,
    ) -> (State, Flow) {
        let at = self.position + *cursor as u64;
        if at >= cubin.end {
            if !std::mem::replace(&mut cubin.sectioned, true) {
                self.find_sections(&mut cubin);
                return (State::Cubin(cubin), Flow::Go);
            }
            self.close_cubin(*cubin, at);
            return (State::Hunt, Flow::Go);
        }
        let rest = data.get(*cursor..).unwrap_or_default();
        let (take, end) = match guarded(rest, cubin.end - at, eof) {
            Skip::Need(n) => return (State::Cubin(cubin), Flow::Need(n)),
            Skip::Take(take) => (take, None),
            Skip::Nested(take) => (take, Some("a fatbin begins inside a cubin")),
            Skip::Truncated => (0, Some("the file ends inside a cubin")),
        };
        cubin.peek.push(rest.get(..take).unwrap_or_default());
        *cursor += take;
        if let Some(detail) = end {
            self.found
                .problems
                .push(cubin.start, ProblemKind::MalformedCubin, detail);
            cubin.damaged = true;
            self.close_cubin(*cubin, self.position + *cursor as u64);
            return (State::Hunt, Flow::Go);
        }
        (State::Cubin(cubin), Flow::Go)
    }

    /// Finds where the sections of a bare cubin end, whose tables have passed: ptxas writes them before its
    /// tables, NVIDIA's internal assembler (hand-written kernels in CUPTI 13) behind them.
    fn find_sections(&mut self, cubin: &mut BareCubin) {
        if cubin.damaged {
            return;
        }
        let pieces = cubin.peek.so_far();
        let file_len = match pieces.as_slice() {
            [head, .., table] => Cubin::split(head, table).and_then(|cubin| cubin.file_len()),
            _ => None,
        };
        let end = file_len.map(|len| cubin.start.checked_add(len));
        let detail = match end {
            Some(Some(end)) if self.len.is_none_or(|len| end <= len) => {
                cubin.end = cubin.end.max(end);
                return;
            }
            Some(_) => "the sections of the cubin end after the file does",
            None => "the section table of the cubin cannot be read",
        };
        self.found
            .problems
            .push(cubin.start, ProblemKind::MalformedCubin, detail);
        cubin.damaged = true;
    }

    fn close_cubin(&mut self, cubin: BareCubin, end: u64) {
        let (pieces, _) = cubin.peek.finish();
        let mut notes = self.notes();
        let key = match pieces.as_slice() {
            [head, .., table] => resolve_bare_cubin(head, Some(table), &mut notes),
            _ => None,
        };
        let damaged = cubin.damaged || !notes.problems.is_empty();
        let len = end.saturating_sub(cubin.start);
        if let [_, whole, table] = pieces.as_slice()
            && !damaged
        {
            notes.name_kernels(&NamedImage {
                kind: ImageKind::Cubin,
                beginning: whole,
                table: Some(table),
                len,
            });
        }
        if cubin.damaged {
            notes.problems.clear(); // what follows from the damage is no news
        }
        let owner = notes.owner;
        let mut kernels = BTreeSet::new();
        self.take_notes(cubin.start, notes, &mut kernels);
        if let Some(key) = key {
            let kernels = self.found.kernels.are_asked().then_some(kernels);
            self.add_bare(cubin.start, end, key, owner, damaged, kernels);
        }
    }

    pub(super) fn frame(
        &mut self,
        mut frame: Box<Frame>,
        data: &[u8],
        cursor: &mut usize,
        eof: bool,
    ) -> (State, Flow) {
        let rest = data.get(*cursor..).unwrap_or_default();
        if frame.left == 0 && !frame.last {
            match BlockHead::parse(rest) {
                None if rest.len() < BlockHead::LEN && !eof => {
                    return (State::Frame(frame), Flow::Need(BlockHead::LEN));
                }
                None => {
                    let detail = "the blocks of a zstd frame that holds a cubin break off";
                    self.close_frame(*frame, self.position + *cursor as u64, Some(detail));
                    return (State::Hunt, Flow::Go);
                }
                Some(block) => {
                    let head = rest.get(..BlockHead::LEN).unwrap_or_default();
                    frame.peek.push(head);
                    *cursor += head.len();
                    frame.last = block.last;
                    let checksum = if block.last && frame.checksum { 4 } else { 0 };
                    frame.left = block.stored as u64 + checksum;
                    return (State::Frame(frame), Flow::Go);
                }
            }
        }
        if frame.left == 0 {
            self.close_frame(*frame, self.position + *cursor as u64, None);
            return (State::Hunt, Flow::Go);
        }
        let (take, end) = match guarded(rest, frame.left, eof) {
            Skip::Need(n) => return (State::Frame(frame), Flow::Need(n)),
            Skip::Take(take) => (take, None),
            Skip::Nested(take) => (
                take,
                Some("a fatbin begins inside a zstd frame that holds a cubin"),
            ),
            Skip::Truncated => (
                0,
                Some("the file ends inside a zstd frame that holds a cubin"),
            ),
        };
        frame.peek.push(rest.get(..take).unwrap_or_default());
        *cursor += take;
        frame.left -= take as u64;
        if end.is_some() {
            self.close_frame(*frame, self.position + *cursor as u64, end);
            return (State::Hunt, Flow::Go);
        }
        (State::Frame(frame), Flow::Go)
    }

    pub(super) fn close_frame(&mut self, frame: Frame, end: u64, broken: Option<&'static str>) {
        let Frame {
            start,
            mut key,
            peek,
            ..
        } = frame;
        self.found.unpacked += peek.unpacked();
        let (pieces, error) = peek.finish();
        let mut notes = Notes::new(self.recogniser);
        if let Some(detail) = broken {
            notes
                .problems
                .push((ProblemKind::MalformedCubin, detail.to_owned()));
        } else if let Some(error) = error {
            notes
                .problems
                .push((ProblemKind::UnreadablePayload, error.detail().to_owned()));
        }
        key = resolve_framed_cubin(&pieces, &mut notes).unwrap_or(key);
        let damaged = !notes.problems.is_empty();
        let owner = notes.owner;
        self.take_notes(start, notes, &mut BTreeSet::new());
        self.add_bare(start, end, key, owner, damaged, None);
    }

    pub(super) fn bare_ptx(
        &mut self,
        mut text: BarePtx,
        data: &[u8],
        cursor: &mut usize,
        eof: bool,
    ) -> (State, Flow) {
        let rest = data.get(*cursor..).unwrap_or_default();
        let end = rest.iter().position(|byte| !ptx::is_text(*byte));
        let upto = end.unwrap_or(rest.len());
        let piece = rest.get(..upto).unwrap_or_default();
        if memchr::memmem::find(piece, ptx::ENTRY).is_some() {
            text.key.empty = false;
        }
        if end.is_none() && !eof {
            // so that a word that is cut is found next time
            let take = upto.saturating_sub(ptx::ENTRY.len() - 1);
            *cursor += take;
            return (
                State::Ptx(text),
                Flow::Need(ptx::ENTRY.len().max(upto - take + 1)),
            );
        }
        // A signature may begin with a byte that is text. What ends otherwise than text does may go on.
        let terminated = end.is_none_or(|end| rest.get(end) == Some(&0));
        text.key.empty &= terminated;
        *cursor += if terminated {
            upto
        } else {
            upto.saturating_sub(1)
        };
        let end = self.position + *cursor as u64;
        self.add_bare(text.start, end, text.key, text.owner, false, None);
        (State::Hunt, Flow::Go)
    }
}
