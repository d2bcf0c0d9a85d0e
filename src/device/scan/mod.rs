//! The scanner: a push parser that finds device code in the bytes of one file as they pass.
//!
//! An explicit state machine in a loop, never recursion: one library holds 23,531 fatbins. Bytes are
//! processed where they lie; only what a state needs contiguously and does not have yet is carried over.
//! Every size in the input is a claim. Where one does not hold, that is a problem, and hunting resumes at
//! the place of failure, so that a bogus size cannot hide what follows.

mod bare;
mod candidates;
mod skip;
mod walk;

use std::collections::BTreeSet;

use crate::cuda::ToolkitVersion;
use crate::problem::ProblemKind;

use super::cubin::HEAD_LEN;
use super::fatbin::OLD_MAGIC;
use super::host::HostImage;
use super::hunt::{Hits, OVERLAP, Signature};
use super::image::{ImageKey, ImageKind};
use super::inspect::{Notes, Resolved};
use super::kernels::{Full, Kernels};
use super::owner::{Owner, Recognise, Recogniser};
use super::payload::Coding;
use super::report::{Problems, Scanned};
use super::sniff::is_named_ptx;
use super::tally::{Images, Tally, Unit};

use bare::{BareCubin, BarePtx, Frame};
use candidates::Candidate;
use walk::{Payload, Walk};

/// Bytes of payloads that are unpacked of any file.
const UNPACK_FREE: u64 = 1 << 30;
/// Bytes more for every byte of the file.
const UNPACK_RATIO: u64 = 64;
const LTO_IR_MAGIC: [u8; 4] = [0xed, 0x43, 0x4e, 0x7f];

/// Finds device code in one file, fed in order.
#[derive(Debug)]
pub struct Scanner<'r> {
    recogniser: Recogniser<'r>,
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
pub(in crate::device) struct Found {
    pub(in crate::device) tally: Tally,
    pub(in crate::device) kernels: Kernels,
    pub(in crate::device) host: HostImage,
    pub(in crate::device) toolkits: BTreeSet<ToolkitVersion>,
    /// Releases that compilers among the host bytes name.
    pub(in crate::device) compilers: BTreeSet<ToolkitVersion>,
    /// Whether messages of NVRTC's are among the host bytes.
    pub(in crate::device) nvrtc: bool,
    pub(in crate::device) problems: Problems,
    /// Bytes that payloads were unpacked to.
    unpacked: u64,
    /// Bytes of zstd frames that were looked into, to see whether they hold a cubin.
    frames_tried: u64,
    /// Bytes that were looked at for the directives of PTX behind long comments.
    comments_read: u64,
    /// Whether the file is named as PTX.
    pub(in crate::device) named_ptx: bool,
    /// Addresses of device-linked fatbins.
    pub(in crate::device) links: Vec<u64>,
    /// Offsets of fatbin magics that no fatbin follows.
    pub(in crate::device) suspects: Vec<u64>,
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

/// Whether a state can go on with the bytes at hand.
enum Flow {
    Go,
    /// Not before this many bytes from the cursor on are at hand.
    Need(usize),
}

impl<'r> Scanner<'r> {
    /// A scanner for a file of `len` bytes, where that is known. The length is not trusted.
    pub fn new(len: Option<u64>) -> Self {
        Self {
            recogniser: Recogniser::default(),
            len,
            position: 0,
            carry: Vec::new(),
            need: HEAD_LEN,
            state: State::Start,
            lto_ir: false,
            found: Found {
                tally: Tally::default(),
                kernels: Kernels::default(),
                host: HostImage::new(len),
                toolkits: BTreeSet::new(),
                compilers: BTreeSet::new(),
                nvrtc: false,
                problems: Problems::default(),
                unpacked: 0,
                frames_tried: 0,
                comments_read: 0,
                named_ptx: false,
                links: Vec::new(),
                suspects: Vec::new(),
            },
        }
    }

    /// Asks `recognise` whose each kernel is; the answers are in [`super::FatbinClass::owner`].
    #[must_use]
    pub fn with_recogniser(mut self, recognise: Recognise<'r>) -> Self {
        self.recogniser = Recogniser(Some(recognise));
        self
    }

    /// Reads the names of kernels too, for [`super::FatbinClass::kernels`]: `most` bytes of them. Every image is
    /// unpacked for that.
    #[must_use]
    pub fn with_kernels(mut self, most: u64) -> Self {
        self.found.kernels = Kernels::asked(most);
        self
    }

    /// Says what the file is called: one that is named as PTX and shows none is a problem.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.found.named_ptx = is_named_ptx(name);
        self
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
            let consumed = if carry.len() >= self.need {
                self.process(&carry, false)
            } else {
                0
            };
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
            self.add_bare(0, self.position, key, Owner::Unseen, false, None);
        }
        if let Some(len) = self.len.filter(|len| *len != self.position) {
            let detail = format!("{} bytes were expected and {} came", len, self.position);
            self.found
                .problems
                .push(self.position, ProblemKind::SizeMismatch, detail);
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
            self.found
                .problems
                .push(0, ProblemKind::MalformedFatbin, detail);
        }
        self.lto_ir = data.starts_with(&LTO_IR_MAGIC);
        State::Hunt
    }

    fn hunt(
        &mut self,
        data: &[u8],
        cursor: &mut usize,
        hits: &mut Hits<'_>,
        eof: bool,
    ) -> (State, Flow) {
        let mut from = *cursor;
        while let Some((hit, signature)) = hits.next_from(from) {
            let rest = data.get(hit..).unwrap_or_default();
            let at = self.position + hit as u64;
            let candidate = match signature {
                Signature::Fatbin => self.fatbin_candidate(rest, at, eof),
                Signature::Elf => self.cubin_candidate(rest, at, eof),
                Signature::ZstdFrame => self.frame_candidate(rest, at, eof),
                Signature::Ptx => self.ptx_candidate(rest, at, eof),
                Signature::DeviceLink => self.device_link(rest, at, eof),
                Signature::Compiler => self.compiler(rest, eof),
                Signature::Nvrtc => self.nvrtc(rest, eof),
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
        let upto = if eof {
            data.len()
        } else {
            data.len().saturating_sub(OVERLAP).max(*cursor)
        };
        self.leave_to_host(data, cursor, upto);
        (State::Hunt, Flow::Need(data.len() - upto + 1))
    }

    fn leave_to_host(&mut self, data: &[u8], cursor: &mut usize, upto: usize) {
        if let Some(bytes) = data.get(*cursor..upto).filter(|bytes| !bytes.is_empty()) {
            self.found.host.push(self.position + *cursor as u64, bytes);
        }
        *cursor = upto;
    }

    fn notes(&self) -> Notes<'r> {
        Notes::new(self.recogniser).naming_kernels(self.found.kernels.are_asked())
    }

    /// Takes what was seen of an image, and the names of its kernels among those of its fatbin.
    fn take_notes(&mut self, at: u64, notes: Notes<'_>, kernels: &mut BTreeSet<u32>) {
        self.found.toolkits.extend(notes.toolkits);
        for (kind, detail) in notes.problems {
            self.found.problems.push(at, kind, detail);
        }
        let names = notes.kernels.unwrap_or_default();
        if let Err(Full(most)) = self.found.kernels.add(names, kernels) {
            let detail = format!(
                "the names of the kernels in this file take more than {most} bytes (`--max-kernel-names`)"
            );
            self.found
                .problems
                .push_once(at, ProblemKind::LimitExceeded, &detail);
        }
    }

    fn spoil(&mut self, walk: &mut Walk, at: u64, kind: ProblemKind, detail: String) {
        // one problem a fatbin: what follows from it is no news
        if !std::mem::replace(&mut walk.damaged, true) {
            self.found.problems.push(at, kind, detail);
        }
    }

    /// Bytes that the next payload may unpack to, `most` at most: honest files unpack to a few times their
    /// size, so one that asks for more and more gets no more than that.
    fn unpack_limit(&self, most: u64) -> u64 {
        let earned = self
            .position
            .saturating_mul(UNPACK_RATIO)
            .saturating_add(UNPACK_FREE);
        most.min(earned.saturating_sub(self.found.unpacked))
    }

    fn add(&mut self, walk: Walk, end: u64) {
        let Walk {
            start,
            damaged,
            owner,
            images,
            names,
            kernels,
            ..
        } = walk;
        self.add_unit(Unit {
            start,
            end,
            bare: false,
            damaged,
            owner: owner.known(),
            images,
            names,
            kernels: self.found.kernels.are_asked().then_some(kernels),
        });
    }

    fn add_bare(
        &mut self,
        start: u64,
        end: u64,
        key: ImageKey,
        owner: Owner,
        damaged: bool,
        kernels: Option<BTreeSet<u32>>,
    ) {
        let images = Images::one(&Resolved {
            key,
            bytes: end.saturating_sub(start),
        });
        self.add_unit(Unit {
            start,
            end,
            bare: true,
            damaged,
            owner: owner.known(),
            images,
            names: Vec::new(),
            kernels,
        });
    }

    fn add_unit(&mut self, unit: Unit) {
        let at = unit.start;
        if self.found.tally.add(unit).is_err() {
            let detail = "more fatbins in one file than are counted";
            self.found
                .problems
                .push_once(at, ProblemKind::LimitExceeded, detail);
        }
    }
}
