//! The scanner: a push parser that finds device code in the bytes of one file as they pass.
//!
//! An explicit state machine in a loop, never recursion: one library holds 23,531 fatbins. Bytes are
//! processed where they lie; only what a state needs contiguously and does not have yet is carried over.
//! Every size in the input is a claim. Where one does not hold, that is a problem, and hunting resumes at
//! the place of failure, so that a bogus size cannot hide what follows.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::cuda::ToolkitVersion;
use crate::problem::ProblemKind;

use super::cubin::{Cubin, CubinHead, HEAD_LEN};
use super::fatbin::{Entry, EntryError, FatbinHeader, HEADER_LEN, MAGIC, OLD_MAGIC, looks_like_entry};
use super::host::HostImage;
use super::hunt::{FRAME_HEAD_MAX, FrameHead, Hits, OVERLAP, Signature, block_head};
use super::image::{ImageKey, ImageKind};
use super::inspect::{FRAME_MAX, Inspection, Notes, Resolved, resolve_bare_cubin, wants_sections};
use super::le::u64_at;
use super::payload::{Coding, Peek, Piece};
use super::ptx;
use super::report::{Problems, Scanned};
use super::tally::{Images, NAME_LEN_MAX, NAMES_MAX, Tally, Unit};

/// What a fatbin begins with, wherever one may have been hidden behind a bogus size.
static NESTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(&MAGIC));
/// Bytes that tell a fatbin from eight bytes that look like one.
const FATBIN_PROBE: usize = HEADER_LEN + 4;
/// Beginning of a bare cubin that is kept: names, symbols, debug information and attributes come before the
/// code (the toolkit's note 3.2 MB into one of 2,422 real cubins, FORMAT.md §7.3).
const BARE_CUBIN_HEAD: u64 = 4 << 20;
/// Largest section table of a bare cubin that is read.
const SECTION_TABLE_MAX: u64 = 4 << 20;
/// Candidates that were no fatbins, remembered until the sections are known.
const SUSPECTS_MAX: usize = 64;
/// Bytes of payloads that are unpacked of any file.
const UNPACK_FREE: u64 = 1 << 30;
/// Bytes more for every byte of the file.
const UNPACK_RATIO: u64 = 64;
/// Device-link records remembered.
const LINKS_MAX: usize = 4096;
const LTO_IR_MAGIC: [u8; 4] = [0xed, 0x43, 0x4e, 0x7f];
const PTX_ENTRY: &[u8] = b".entry";

/// Finds device code in one file, fed in order.
#[derive(Debug)]
pub struct Scanner {
    /// Length of the file, where the caller knows it.
    len: Option<u64>,
    /// Offset of the first byte that was not consumed.
    position: u64,
    carry: Vec<u8>,
    /// Bytes that must be at hand before it is worth going on.
    need: usize,
    state: State,
    lto_ir: bool,
    found: Found,
}

/// What the scanner has found so far.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) tally: Tally,
    pub(super) host: HostImage,
    pub(super) toolkits: BTreeSet<ToolkitVersion>,
    pub(super) problems: Problems,
    /// Bytes that payloads were unpacked to.
    unpacked: u64,
    /// Addresses of device-linked fatbins.
    pub(super) links: Vec<u64>,
    /// Offsets of fatbin magics that no fatbin follows.
    pub(super) suspects: Vec<u64>,
}

#[derive(Debug)]
enum State {
    /// At the first byte.
    Start,
    /// Looking for device code.
    Hunt,
    /// At an entry of a fatbin, or at its end.
    Entry(Walk),
    /// In the payload of an entry.
    Payload(Box<Payload>),
    /// In a cubin outside any fatbin.
    Cubin(Box<BareCubin>),
    /// In a zstd frame that holds a cubin.
    Frame(Box<Frame>),
    /// In PTX text outside any fatbin.
    Ptx(BarePtx),
}

/// A fatbin on the way.
#[derive(Debug)]
struct Walk {
    start: u64,
    end: u64,
    damaged: bool,
    images: Images,
    names: Vec<String>,
}

impl Walk {
    fn add_name(&mut self, identifier: &[u8]) {
        if self.names.len() < NAMES_MAX && !identifier.is_empty() {
            let shown = String::from_utf8_lossy(identifier.get(..NAME_LEN_MAX).unwrap_or(identifier));
            if !self.names.iter().any(|name| *name == shown) {
                self.names.push(shown.into_owned());
            }
        }
    }
}

#[derive(Debug)]
struct Payload {
    walk: Walk,
    entry_at: u64,
    left: u64,
    inspection: Inspection,
}

#[derive(Debug)]
struct BareCubin {
    start: u64,
    end: u64,
    damaged: bool,
    /// Whether its sections were looked at, some of which may lie behind the tables.
    sectioned: bool,
    peek: Peek,
}

#[derive(Debug)]
struct Frame {
    start: u64,
    /// Bytes of the current block that are left.
    left: u64,
    last: bool,
    checksum: bool,
    key: ImageKey,
    peek: Peek,
}

#[derive(Debug)]
struct BarePtx {
    start: u64,
    key: ImageKey,
}

/// Whether a state can go on with the bytes at hand.
enum Flow {
    Go,
    /// Not before this many bytes from the cursor on are at hand.
    Need(usize),
}

/// How far a region may be skipped.
enum Skip {
    Take(usize),
    /// Another fatbin begins after this many bytes.
    Nested(usize),
    Need(usize),
    Truncated,
}

/// What became of a hit.
enum Candidate {
    Reject,
    Need(usize),
    /// Go on in this state after so many bytes.
    Accept(State, usize),
}

impl Scanner {
    /// A scanner for a file of `len` bytes, where that is known. The length is not trusted.
    pub fn new(len: Option<u64>) -> Self {
        Self {
            len,
            position: 0,
            carry: Vec::new(),
            need: HEAD_LEN,
            state: State::Start,
            lto_ir: false,
            found: Found {
                tally: Tally::default(),
                host: HostImage::new(len),
                toolkits: BTreeSet::new(),
                problems: Problems::default(),
                unpacked: 0,
                links: Vec::new(),
                suspects: Vec::new(),
            },
        }
    }

    /// Takes the next bytes of the file.
    pub fn feed(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            if self.carry.is_empty() {
                if chunk.len() >= self.need {
                    let consumed = self.process(chunk, false);
                    chunk = chunk.get(consumed..).unwrap_or_default();
                }
                self.carry.extend_from_slice(chunk);
                return;
            }
            // Enough to go on, and a little more so that the rest can be processed where it lies.
            let before = self.carry.len();
            let more = (self.need.saturating_sub(before) + HEAD_LEN).min(chunk.len());
            let mut carry = std::mem::take(&mut self.carry);
            carry.extend_from_slice(chunk.get(..more).unwrap_or_default());
            let consumed = if carry.len() >= self.need { self.process(&carry, false) } else { 0 };
            if consumed >= before {
                chunk = chunk.get(consumed - before..).unwrap_or_default();
                carry.clear();
            } else {
                chunk = chunk.get(more..).unwrap_or_default();
                carry.drain(..consumed);
            }
            self.carry = carry;
        }
    }

    /// Says that the file has ended.
    pub fn finish(mut self) -> Scanned {
        let carry = std::mem::take(&mut self.carry);
        self.process(&carry, true);
        if self.lto_ir {
            let key = ImageKey {
                kind: ImageKind::LtoIr,
                target: None,
                isa: None,
                coding: Coding::None,
                header: None,
                relocatable: false,
                empty: false,
            };
            self.add_bare(0, self.position, key, false);
        }
        if let Some(len) = self.len.filter(|len| *len != self.position) {
            let detail = format!("{} bytes were expected and {} came", len, self.position);
            self.found.problems.push(self.position, ProblemKind::SizeMismatch, detail);
        }
        self.found.host.end(self.position);
        Scanned::new(self.found, self.position)
    }

    /// Processes what can be of `data`, which begins at `self.position`; returns the bytes consumed.
    fn process(&mut self, data: &[u8], eof: bool) -> usize {
        let mut hits = Hits::new(data);
        let mut cursor = 0;
        loop {
            let state = std::mem::replace(&mut self.state, State::Hunt);
            let (state, flow) = match state {
                State::Start => (self.start(data), Flow::Go),
                State::Hunt => self.hunt(data, &mut cursor, &mut hits, eof),
                State::Entry(walk) => self.entry(walk, data, &mut cursor, eof),
                State::Payload(payload) => self.payload(payload, data, &mut cursor, eof),
                State::Cubin(cubin) => self.bare_cubin(cubin, data, &mut cursor, eof),
                State::Frame(frame) => self.frame(frame, data, &mut cursor, eof),
                State::Ptx(text) => self.bare_ptx(text, data, &mut cursor, eof),
            };
            self.state = state;
            match flow {
                Flow::Go => {}
                Flow::Need(n) => {
                    self.need = n;
                    break;
                }
            }
        }
        self.position += cursor as u64;
        cursor
    }

    fn start(&mut self, data: &[u8]) -> State {
        self.found.host.begin(data);
        if data.starts_with(&OLD_MAGIC) {
            let detail = "a fatbin of a toolkit before CUDA 4, which is not read";
            self.found.problems.push(0, ProblemKind::MalformedFatbin, detail);
        }
        self.lto_ir = data.starts_with(&LTO_IR_MAGIC);
        State::Hunt
    }

    fn hunt(&mut self, data: &[u8], cursor: &mut usize, hits: &mut Hits<'_>, eof: bool) -> (State, Flow) {
        let mut from = *cursor;
        while let Some((hit, signature)) = hits.next_from(from) {
            let rest = data.get(hit..).unwrap_or_default();
            let at = self.position + hit as u64;
            let candidate = match signature {
                Signature::Fatbin => self.fatbin_candidate(rest, at, eof),
                Signature::Elf => self.cubin_candidate(rest, at, eof),
                Signature::ZstdFrame => self.frame_candidate(rest, at, eof),
                Signature::Ptx => Self::ptx_candidate(rest, at, eof),
                Signature::DeviceLink => self.device_link(rest, eof),
            };
            match candidate {
                Candidate::Reject => from = hit + 1,
                Candidate::Need(n) => {
                    self.leave_to_host(data, cursor, hit);
                    return (State::Hunt, Flow::Need(n));
                }
                Candidate::Accept(state, skip) => {
                    self.leave_to_host(data, cursor, hit);
                    *cursor = hit + skip;
                    return (state, Flow::Go);
                }
            }
        }
        let upto = if eof { data.len() } else { data.len().saturating_sub(OVERLAP).max(*cursor) };
        self.leave_to_host(data, cursor, upto);
        (State::Hunt, Flow::Need(data.len() - upto + 1))
    }

    fn leave_to_host(&mut self, data: &[u8], cursor: &mut usize, upto: usize) {
        if let Some(bytes) = data.get(*cursor..upto).filter(|bytes| !bytes.is_empty()) {
            self.found.host.push(self.position + *cursor as u64, bytes);
        }
        *cursor = upto;
    }

    // Candidates

    fn fatbin_candidate(&mut self, data: &[u8], at: u64, eof: bool) -> Candidate {
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
                self.found.problems.push(at, ProblemKind::MalformedFatbin, detail);
            } else if self.found.suspects.len() < SUSPECTS_MAX {
                self.found.suspects.push(at);
            }
            return Candidate::Reject;
        };
        let claimed_end = at.checked_add(header_len as u64).and_then(|end| end.checked_add(header.claimed_len));
        let mut walk = Walk {
            start: at,
            end: claimed_end.unwrap_or(u64::MAX),
            damaged: false,
            images: Images::default(),
            names: Vec::new(),
        };
        if header.version != 1 {
            let detail = format!("version {} of the fatbin format is not known", header.version);
            self.spoil(&mut walk, at, ProblemKind::MalformedFatbin, detail);
        }
        if let Some(len) = self.len.filter(|len| walk.end > *len) {
            let detail = match claimed_end {
                Some(end) => format!("the fatbin claims to end {} bytes after the file does", end - len),
                None => "the fatbin claims to end beyond any file".to_owned(),
            };
            self.spoil(&mut walk, at, ProblemKind::MalformedFatbin, detail);
            walk.end = len;
        }
        Candidate::Accept(State::Entry(walk), header_len)
    }

    fn cubin_candidate(&mut self, data: &[u8], at: u64, eof: bool) -> Candidate {
        if data.len() < HEAD_LEN && !eof {
            return Candidate::Need(HEAD_LEN);
        }
        let problems = &mut self.found.problems;
        let Some(head) = CubinHead::parse(data) else {
            if CubinHead::is_cut(data) {
                problems.push(at, ProblemKind::Truncated, "the file ends inside the header of a cubin");
            }
            return Candidate::Reject;
        };
        let tables = head.tables_end().and_then(|len| Some((len, head.section_table()?)));
        let end = tables.and_then(|(len, _)| at.checked_add(len));
        let (Some((_, (table, table_len))), Some(mut end)) = (tables, end) else {
            let detail = "the tables of the cubin cannot lie where its header says";
            problems.push(at, ProblemKind::MalformedCubin, detail);
            return Candidate::Reject;
        };
        let mut damaged = false;
        if let Some(file_len) = self.len.filter(|file_len| end > *file_len) {
            let detail = format!("the cubin claims to end {} bytes after the file does", end - file_len);
            problems.push(at, ProblemKind::MalformedCubin, detail);
            end = file_len;
            damaged = true;
        }
        let peek = Peek::new(Coding::None, cubin_pieces(u64::MAX, table, table_len), u64::MAX);
        let cubin = BareCubin { start: at, end, damaged, sectioned: false, peek };
        Candidate::Accept(State::Cubin(Box::new(cubin)), 0)
    }

    fn frame_candidate(&self, data: &[u8], at: u64, eof: bool) -> Candidate {
        if data.len() < FRAME_HEAD_MAX + 3 && !eof {
            return Candidate::Need(FRAME_HEAD_MAX + 3);
        }
        let Some(head) = FrameHead::parse(data) else { return Candidate::Reject };
        let Some((_, stored)) = data.get(head.len..).and_then(block_head) else { return Candidate::Reject };
        // zstd gives nothing out before it has a whole block
        let first_block = head.len + 3 + stored;
        if data.len() < first_block && !eof {
            return Candidate::Need(first_block);
        }
        let mut peek = Peek::new(Coding::Zstd, vec![Piece::new(0, HEAD_LEN)], HEAD_LEN as u64);
        peek.push(data.get(..first_block).unwrap_or(data));
        let (pieces, _) = peek.finish();
        let unpacked = pieces.first().map(Vec::as_slice).unwrap_or_default();
        let Some(cubin) = CubinHead::parse(unpacked) else { return Candidate::Reject };
        let Some(key) = resolve_bare_cubin(unpacked, None, &mut Notes::default()) else { return Candidate::Reject };
        let content = head.claimed_content;
        let pieces = match (cubin.tables_end(), cubin.section_table()) {
            (Some(_), Some((table, len))) if wants_sections(&cubin, content, !self.found.toolkits.is_empty()) => {
                cubin_pieces(content, table, len)
            }
            _ => vec![Piece::new(0, HEAD_LEN)],
        };
        let mut peek = Peek::new(Coding::Zstd, pieces, self.unpack_limit(FRAME_MAX));
        peek.push(data.get(..head.len).unwrap_or(data));
        let frame = Frame { start: at, left: 0, last: false, checksum: head.checksum, key, peek };
        Candidate::Accept(State::Frame(Box::new(frame)), head.len)
    }

    fn ptx_candidate(data: &[u8], at: u64, eof: bool) -> Candidate {
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
            let end = head.iter().position(|byte| !ptx::is_text(*byte) && byte.is_ascii());
            head.get(..end.unwrap_or(head.len()))
        });
        let Some(head) = text.and_then(ptx::parse_head) else { return Candidate::Reject };
        let key = ImageKey {
            kind: ImageKind::Ptx,
            target: Some(head.target),
            isa: Some(head.isa),
            coding: Coding::None,
            header: None,
            relocatable: false,
            empty: true,
        };
        Candidate::Accept(State::Ptx(BarePtx { start: at, key }), 0)
    }

    fn device_link(&mut self, data: &[u8], eof: bool) -> Candidate {
        if data.len() < 16 && !eof {
            return Candidate::Need(16);
        }
        if let Some(address) = u64_at(data, 8).filter(|_| self.found.links.len() < LINKS_MAX) {
            self.found.links.push(address);
        }
        Candidate::Reject
    }

    // States inside device code

    fn entry(&mut self, walk: Walk, data: &[u8], cursor: &mut usize, eof: bool) -> (State, Flow) {
        let at = self.position + *cursor as u64;
        let mut walk = walk;
        if at >= walk.end {
            self.add(walk, at);
            return (State::Hunt, Flow::Go);
        }
        let limit = self.unpack_limit(u64::MAX);
        let rest = data.get(*cursor..).unwrap_or_default();
        let entry = Entry::parse(rest, walk.end - at).and_then(|entry| {
            let header = rest.get(..entry.header_len).unwrap_or_default();
            let mut magics = NESTED.find_iter(header).map(|at| rest.get(at..).unwrap_or_default());
            match magics.find_map(|nested| begins_fatbin(nested).map_or_else(|_| None, |yes| yes.then_some(()))) {
                Some(()) => Err(EntryError::Malformed("another fatbin begins inside the header of an entry")),
                None => Ok(entry),
            }
        });
        match entry {
            Ok(entry) => {
                *cursor += entry.header_len;
                for (_, part) in &entry.parts {
                    walk.add_name(&part.identifier);
                }
                walk.add_name(&entry.identifier);
                let payload = Payload {
                    walk,
                    entry_at: at,
                    left: entry.payload_len,
                    inspection: Inspection::new(entry, !self.found.toolkits.is_empty(), limit),
                };
                (State::Payload(Box::new(payload)), Flow::Go)
            }
            Err(EntryError::Needs(n)) if !eof => (State::Entry(walk), Flow::Need(n)),
            Err(error) => {
                let (kind, detail) = match error {
                    EntryError::Needs(_) => (ProblemKind::Truncated, "the file ends inside a fatbin"),
                    EntryError::Malformed(detail) => (ProblemKind::MalformedFatbin, detail),
                };
                self.spoil(&mut walk, at, kind, detail.to_owned());
                self.add(walk, at);
                (State::Hunt, Flow::Go)
            }
        }
    }

    fn payload(&mut self, mut payload: Box<Payload>, data: &[u8], cursor: &mut usize, eof: bool) -> (State, Flow) {
        if payload.left == 0 {
            let walk = self.close_entry(*payload, false);
            return (State::Entry(walk), Flow::Go);
        }
        let rest = data.get(*cursor..).unwrap_or_default();
        let (take, end) = match guarded(rest, payload.left, eof) {
            Skip::Need(n) => return (State::Payload(payload), Flow::Need(n)),
            Skip::Take(take) => (take, None),
            Skip::Nested(take) => {
                let detail = "another fatbin begins inside the payload of an entry";
                (take, Some((ProblemKind::MalformedFatbin, detail)))
            }
            Skip::Truncated => (0, Some((ProblemKind::Truncated, "the file ends inside the payload of an entry"))),
        };
        payload.inspection.push(rest.get(..take).unwrap_or_default());
        payload.left -= take as u64;
        *cursor += take;
        let Some((kind, detail)) = end else { return (State::Payload(payload), Flow::Go) };
        let at = payload.entry_at;
        let mut walk = self.close_entry(*payload, true);
        self.spoil(&mut walk, at, kind, detail.to_owned());
        self.add(walk, self.position + *cursor as u64);
        (State::Hunt, Flow::Go)
    }

    fn close_entry(&mut self, payload: Payload, truncated: bool) -> Walk {
        let Payload { mut walk, entry_at, inspection, .. } = payload;
        let mut notes = Notes::default();
        self.found.unpacked += inspection.unpacked();
        for image in inspection.finish(truncated, &mut notes) {
            if !walk.images.add(&image) {
                let detail = "a fatbin holds images of more kinds than are counted";
                walk.damaged = true;
                self.found.problems.push_once(walk.start, ProblemKind::LimitExceeded, detail);
            }
        }
        walk.damaged |= !notes.problems.is_empty();
        self.take_notes(entry_at, notes);
        walk
    }

    fn take_notes(&mut self, at: u64, notes: Notes) {
        self.found.toolkits.extend(notes.toolkits);
        for (kind, detail) in notes.problems {
            self.found.problems.push(at, kind, detail);
        }
    }

    fn bare_cubin(&mut self, mut cubin: Box<BareCubin>, data: &[u8], cursor: &mut usize, eof: bool) -> (State, Flow) {
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
            self.found.problems.push(cubin.start, ProblemKind::MalformedCubin, detail);
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
        let file_len = pieces.and_then(|[head, table]| Cubin::split(head, table)?.file_len());
        let end = file_len.map(|len| cubin.start.checked_add(len));
        let detail = match end {
            Some(Some(end)) if self.len.is_none_or(|len| end <= len) => {
                cubin.end = cubin.end.max(end);
                return;
            }
            Some(_) => "the sections of the cubin end after the file does",
            None => "the section table of the cubin cannot be read",
        };
        self.found.problems.push(cubin.start, ProblemKind::MalformedCubin, detail);
        cubin.damaged = true;
    }

    fn close_cubin(&mut self, cubin: BareCubin, end: u64) {
        let (pieces, _) = cubin.peek.finish();
        let mut notes = Notes::default();
        let key = match pieces.as_slice() {
            [head, table] => resolve_bare_cubin(head, Some(table), &mut notes),
            _ => None,
        };
        if cubin.damaged {
            notes.problems.clear(); // what follows from the damage is no news
        }
        let damaged = cubin.damaged || !notes.problems.is_empty();
        self.take_notes(cubin.start, notes);
        if let Some(key) = key {
            self.add_bare(cubin.start, end, key, damaged);
        }
    }

    fn frame(&mut self, mut frame: Box<Frame>, data: &[u8], cursor: &mut usize, eof: bool) -> (State, Flow) {
        let rest = data.get(*cursor..).unwrap_or_default();
        if frame.left == 0 && !frame.last {
            match block_head(rest) {
                None if rest.len() < 3 && !eof => return (State::Frame(frame), Flow::Need(3)),
                None => {
                    let detail = "the blocks of a zstd frame that holds a cubin break off";
                    self.close_frame(*frame, self.position + *cursor as u64, Some(detail));
                    return (State::Hunt, Flow::Go);
                }
                Some((last, stored)) => {
                    frame.peek.push(rest.get(..3).unwrap_or_default());
                    *cursor += 3;
                    frame.last = last;
                    frame.left = stored as u64 + if last && frame.checksum { 4 } else { 0 };
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
            Skip::Nested(take) => (take, Some("a fatbin begins inside a zstd frame that holds a cubin")),
            Skip::Truncated => (0, Some("the file ends inside a zstd frame that holds a cubin")),
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

    fn close_frame(&mut self, frame: Frame, end: u64, broken: Option<&'static str>) {
        let Frame { start, mut key, peek, .. } = frame;
        self.found.unpacked += peek.unpacked();
        let (pieces, error) = peek.finish();
        let mut notes = Notes::default();
        if let Some(detail) = broken {
            notes.problems.push((ProblemKind::MalformedCubin, detail.to_owned()));
        } else if let Some(error) = error {
            notes.problems.push((ProblemKind::UnreadablePayload, error.detail().to_owned()));
        }
        if let [head, table] = pieces.as_slice() {
            key = resolve_bare_cubin(head, Some(table), &mut notes).unwrap_or(key);
        }
        let damaged = !notes.problems.is_empty();
        self.take_notes(start, notes);
        self.add_bare(start, end, key, damaged);
    }

    fn bare_ptx(&mut self, mut text: BarePtx, data: &[u8], cursor: &mut usize, eof: bool) -> (State, Flow) {
        let rest = data.get(*cursor..).unwrap_or_default();
        let end = rest.iter().position(|byte| !ptx::is_text(*byte));
        let upto = end.unwrap_or(rest.len());
        let piece = rest.get(..upto).unwrap_or_default();
        if memchr::memmem::find(piece, PTX_ENTRY).is_some() {
            text.key.empty = false;
        }
        if end.is_none() && !eof {
            // so that a word that is cut is found next time
            let take = upto.saturating_sub(PTX_ENTRY.len() - 1);
            *cursor += take;
            return (State::Ptx(text), Flow::Need(PTX_ENTRY.len().max(upto - take + 1)));
        }
        // A signature may begin with a byte that is text. What ends otherwise than text does may go on.
        let terminated = end.is_none_or(|end| rest.get(end) == Some(&0));
        text.key.empty &= terminated;
        *cursor += if terminated { upto } else { upto.saturating_sub(1) };
        self.add_bare(text.start, self.position + *cursor as u64, text.key, false);
        (State::Hunt, Flow::Go)
    }

    // Results

    fn spoil(&mut self, walk: &mut Walk, at: u64, kind: ProblemKind, detail: String) {
        // one problem a fatbin: what follows from it is no news
        if !std::mem::replace(&mut walk.damaged, true) {
            self.found.problems.push(at, kind, detail);
        }
    }

    /// Bytes that the next payload may unpack to, `most` at most: honest files unpack to a few times their
    /// size, so one that asks for more and more gets no more than that.
    fn unpack_limit(&self, most: u64) -> u64 {
        let earned = self.position.saturating_mul(UNPACK_RATIO).saturating_add(UNPACK_FREE);
        most.min(earned.saturating_sub(self.found.unpacked))
    }

    fn add(&mut self, walk: Walk, end: u64) {
        let Walk { start, damaged, images, names, .. } = walk;
        self.add_unit(Unit { start, end, bare: false, damaged, images, names });
    }

    fn add_bare(&mut self, start: u64, end: u64, key: ImageKey, damaged: bool) {
        let images = Images::one(&Resolved { key, bytes: end.saturating_sub(start) });
        self.add_unit(Unit { start, end, bare: true, damaged, images, names: Vec::new() });
    }

    fn add_unit(&mut self, unit: Unit) {
        let at = unit.start;
        if self.found.tally.add(unit).is_err() {
            let detail = "more fatbins in one file than are counted";
            self.found.problems.push_once(at, ProblemKind::LimitExceeded, detail);
        }
    }
}

/// What is looked at of a cubin outside fatbins: its beginning and its section table.
fn cubin_pieces(len: u64, table: u64, table_len: u64) -> Vec<Piece> {
    let want = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
    vec![
        Piece::new(0, want(len.min(BARE_CUBIN_HEAD))),
        Piece::new(table, want(table_len.min(SECTION_TABLE_MAX))),
    ]
}

/// How much of a region with `left` bytes to skip, in which another fatbin may have been hidden behind a
/// bogus size: in compressed payloads too, whose decoder stops where the data does.
fn guarded(rest: &[u8], left: u64, eof: bool) -> Skip {
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let region = rest.get(..left).unwrap_or(rest);
    let whole = rest.len() >= left || eof;
    let mut from = 0;
    while let Some(found) = region.get(from..).and_then(|region| NESTED.find(region)) {
        let at = from + found;
        let nested = rest.get(at..).unwrap_or_default();
        match begins_fatbin(nested) {
            Err(need) if !eof => return if at == 0 { Skip::Need(need) } else { Skip::Take(at) },
            Ok(true) => return Skip::Nested(at),
            _ => from = at + 1,
        }
    }
    let take = if whole { region.len() } else { region.len().saturating_sub(MAGIC.len() - 1) };
    match take {
        0 if eof => Skip::Truncated,
        0 => Skip::Need(left.min(FATBIN_PROBE)),
        take => Skip::Take(take),
    }
}

/// Whether a fatbin with its first entry begins here, or how many bytes it takes to say so.
fn begins_fatbin(data: &[u8]) -> Result<bool, usize> {
    if data.len() < FATBIN_PROBE {
        return Err(FATBIN_PROBE);
    }
    let Some(header) = FatbinHeader::parse(data) else { return Ok(false) };
    let header_len = usize::from(header.header_len);
    let need = header_len + FATBIN_PROBE - HEADER_LEN;
    data.get(header_len..need).map(looks_like_entry).ok_or(need)
}
