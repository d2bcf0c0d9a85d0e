//! One file: opened, sniffed, scanned, and looked at again where its headers need it.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::archive::{Fault, Kind, SharedBytes, Zip, spool};
use crate::device::{DeviceReport, SNIFF_LEN, Scanned, Scanner, is_loaded, worth_scanning};
use crate::limits::{Budget, Limits};
use crate::locator::Locator;
use crate::problem::{Extent, Problem, ProblemKind};
use crate::source::conda::CondaFilename;
use crate::source::is_named_wheel;
use crate::tables::Tables;

use super::nested::{self, Nested, Passing};
use super::plan::File;
use super::progress::{Counted, Progress};

/// Bytes moved at a time.
pub(super) const CHUNK: usize = 256 << 10;
/// How often a file is streamed again for what its headers name.
const LOOKS_MAX: u32 = 4;

/// A file that can be read as often as needed.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// A member of a zip archive.
    Member(Arc<Zip>, usize),
    /// A file of its own, or one that is held.
    Bytes(SharedBytes),
    /// A file that is opened only when it is its turn.
    Path(std::path::PathBuf),
}

impl Input {
    fn open<'b>(&self, budget: &'b Budget) -> Result<Box<dyn Read + Send + 'b>, Fault> {
        Ok(match self {
            Self::Member(zip, index) => Box::new(zip.reader(*index, budget)?),
            Self::Bytes(bytes) => Box::new(bytes.cursor()),
            Self::Path(path) => {
                let bytes = SharedBytes::open(path).map_err(|error| Fault::of(&error))?;
                Box::new(bytes.cursor())
            }
        })
    }
}

/// What every file of a run is read with.
pub(super) struct Means<'t> {
    pub(super) budget: Budget,
    pub(super) tables: &'t Tables,
    /// Whether to read the names of kernels.
    pub(super) kernels: bool,
    /// Bytes that the names of kernels take in all files so far.
    pub(super) names: AtomicU64,
    /// Who waits for this run.
    pub(super) progress: Option<Arc<Progress>>,
}

impl<'t> Means<'t> {
    pub(super) fn new(limits: Limits, tables: &'t Tables, kernels: bool) -> Self {
        Self {
            budget: Budget::new(limits),
            tables,
            kernels,
            names: AtomicU64::new(0),
            progress: None,
        }
    }

    /// Counts `more` bytes of names of kernels, and says whether the run has more than it may.
    pub(super) fn are_too_many_names(&self, more: u64) -> bool {
        let before = self.names.fetch_add(more, Ordering::Relaxed);
        before.saturating_add(more) > self.budget.limits().kernel_name_bytes
    }
}

/// What a file turned out to be.
#[derive(Debug)]
pub(super) enum Leaf {
    /// Nothing that can hold device code.
    Other,
    /// A compressed file or an archive of a kind that is not opened.
    Unopened,
    /// A zip archive.
    Zip(SharedBytes),
    /// A tar archive, all of which was read.
    Nested(Box<Nested>),
    /// Anything that was scanned.
    Scanned(Box<DeviceReport>),
}

/// Reads a file of which nobody counts the bytes, since they were counted on the way. `buffer` is scratch space.
pub(super) fn read(file: &File, means: &Means<'_>, buffer: &mut [u8]) -> (Leaf, Vec<Problem>) {
    read_counted(file, means, None, buffer)
}

/// Reads a file, and counts its bytes as they are read.
pub(super) fn read_counted(
    file: &File,
    means: &Means<'_>,
    progress: Option<&Arc<Progress>>,
    buffer: &mut [u8],
) -> (Leaf, Vec<Problem>) {
    let budget = &means.budget;
    let File {
        input,
        path: name,
        size,
        at,
        ..
    } = file;
    let Some(named) = NamedZip::of(name) else {
        return read_data(file, input, means, progress, buffer);
    };
    // pip and Python find a zip archive by its end, whatever stands before it
    match hold(input, *size, budget) {
        Ok(bytes) if named == NamedZip::Package || Zip::has_end(&bytes, at) => {
            (Leaf::Zip(bytes), Vec::new())
        }
        Ok(bytes) => {
            let input = Input::Bytes(bytes);
            read_data(file, &input, means, progress, buffer)
        }
        Err(fault) => (Leaf::Unopened, vec![fault.at(at.clone(), Extent::Member)]),
    }
}

/// A file whose name says that it is a zip archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedZip {
    /// A wheel or a conda package, which is one or is broken.
    Package,
    /// Another, where its end says so too.
    Other,
}

impl NamedZip {
    fn of(name: &str) -> Option<Self> {
        if is_named_wheel(name) || CondaFilename::is_suffixed(name) {
            return Some(Self::Package);
        }
        let (_, suffix) = name.rsplit_once('.')?;
        ["zip", "egg"]
            .into_iter()
            .any(|known| suffix.eq_ignore_ascii_case(known))
            .then_some(Self::Other)
    }
}

/// Whether a file's name says that it is read from its end.
pub(super) fn is_named_zip(name: &str) -> bool {
    NamedZip::of(name).is_some()
}

/// The whole of a file, for reading it from its end.
fn hold(input: &Input, size: u64, budget: &Budget) -> Result<SharedBytes, Fault> {
    match input {
        Input::Bytes(bytes) => Ok(bytes.clone()),
        Input::Path(path) => SharedBytes::open(path).map_err(|error| Fault::of(&error)),
        Input::Member(..) => spool(input.open(budget)?, budget.limits(), Some(size)),
    }
}

/// Reads a file by its first bytes.
fn read_data(
    file: &File,
    input: &Input,
    means: &Means<'_>,
    progress: Option<&Arc<Progress>>,
    buffer: &mut [u8],
) -> (Leaf, Vec<Problem>) {
    let size = file.size;
    // what can be read from its end is not copied for that
    let held = match input {
        Input::Member(..) => None,
        Input::Bytes(_) | Input::Path(_) => Some(|| hold(input, size, &means.budget)),
    };
    let mut reader = match input.open(&means.budget) {
        Ok(reader) => Counted::new(reader, progress),
        Err(fault) => return Unread::from(fault).told(&file.at),
    };
    match look(&mut reader, held, &file.path, size, means, buffer) {
        Ok(Looked::Scanned(mut passed)) => {
            if passed.fault.is_none() {
                passed.fault = look_again(&mut passed.scanned, input, &means.budget, buffer).err();
            }
            passed.finish(&file.at, means)
        }
        Ok(looked) => {
            let passing = Passing::new(file.path.clone(), size, file.at.clone(), file.depth);
            of_look(looked, &mut reader, &passing, means, buffer)
        }
        Err(unread) => unread.told(&file.at),
    }
}

/// What a file is of which one pass has found this. `rest` is what of it was not read, of an archive that is read
/// forward.
pub(super) fn of_look(
    looked: Looked,
    rest: &mut (dyn Read + Send),
    file: &Passing,
    means: &Means<'_>,
    buffer: &mut [u8],
) -> (Leaf, Vec<Problem>) {
    let leaf = match looked {
        Looked::Scanned(passed) => return passed.finish(&file.at, means),
        Looked::Zip(bytes) => Leaf::Zip(bytes),
        Looked::Packed(kind, head) => {
            let mut packed = head.chain(rest);
            match nested::read_forward(file, kind, &mut packed, means, buffer) {
                Some(nested) => Leaf::Nested(Box::new(nested)),
                None => Leaf::Unopened,
            }
        }
        Looked::Other => Leaf::Other,
    };
    (leaf, Vec::new())
}

/// What one pass over a file has found.
pub(super) enum Looked {
    /// Nothing that can hold device code.
    Other,
    /// A tar archive or a compressed stream of this kind, of which these are the first bytes.
    Packed(Kind, std::io::Cursor<Vec<u8>>),
    /// A zip archive, all of it.
    Zip(SharedBytes),
    /// Anything that was scanned.
    Scanned(Box<Passed>),
}

/// A file that was scanned in one pass.
pub(super) struct Passed {
    pub(super) scanned: Scanned,
    /// Why it was not read to its end, or why a second look at it failed.
    pub(super) fault: Option<Fault>,
}

impl Passed {
    /// The report, and what could not be read.
    pub(super) fn finish(self, at: &Locator, means: &Means<'_>) -> (Leaf, Vec<Problem>) {
        let mut report = self.scanned.report();
        if means.are_too_many_names(report.kernel_name_bytes) {
            report.forget_kernels();
        }
        // a file that could not be read on is short of itself
        let follows = |kind| self.fault.is_some() && kind == ProblemKind::SizeMismatch;
        let mut problems: Vec<Problem> = report
            .problems
            .iter()
            .filter(|problem| !follows(problem.kind))
            .map(|problem| {
                let at = at.offset(problem.offset);
                Problem::new(problem.kind, at, Extent::Part, problem.detail.clone())
            })
            .collect();
        // What was seen counts; that not all was seen is the problem.
        let fault = self.fault.into_iter();
        problems.extend(fault.map(|fault| fault.at(at.clone(), Extent::Member)));
        (Leaf::Scanned(Box::new(report)), problems)
    }
}

/// Why nothing is known of a file.
pub(super) struct Unread {
    /// Whether it is at least known to be an archive.
    opened: bool,
    fault: Fault,
}

impl Unread {
    /// What is known of the file at `at`, and the problem.
    pub(super) fn told(self, at: &Locator) -> (Leaf, Vec<Problem>) {
        let leaf = if self.opened {
            Leaf::Unopened
        } else {
            Leaf::Other
        };
        (leaf, vec![self.fault.at(at.clone(), Extent::Member)])
    }
}

impl From<Fault> for Unread {
    fn from(fault: Fault) -> Self {
        Self {
            opened: false,
            fault,
        }
    }
}

/// Reads a file forward, once. `held` gives all of its bytes, where they are to be had; else a zip archive is
/// spooled, since it is read from its end.
pub(super) fn look(
    reader: &mut dyn Read,
    held: Option<impl FnOnce() -> Result<SharedBytes, Fault>>,
    name: &str,
    size: u64,
    means: &Means<'_>,
    buffer: &mut [u8],
) -> Result<Looked, Unread> {
    let Means {
        budget,
        tables,
        kernels,
        ..
    } = means;
    let (filled, mut ended) = fill(reader, buffer, SNIFF_LEN)?;
    let head = buffer.get(..filled).unwrap_or_default();
    let kind = Kind::sniff(head);
    match kind {
        Some(Kind::Zip) => {
            let held = match held {
                Some(held) => held(),
                None => spool(head.chain(reader), budget.limits(), Some(size)),
            };
            return held.map(Looked::Zip).map_err(|fault| Unread {
                opened: true,
                fault,
            });
        }
        // A loader of programs looks elsewhere than at the checksum of a tar header, so that a library can have one.
        Some(Kind::Tar) if is_loaded(head) => {}
        Some(kind) => return Ok(Looked::Packed(kind, std::io::Cursor::new(head.to_vec()))),
        None => {}
    }
    // What begins as text and goes on so is text; every format of device code has a NUL byte. A script may stand
    // in front of what it unpacks.
    let has_nul = |bytes: &[u8]| memchr::memchr(0, bytes).is_some();
    let mut text = kind.is_none() && !worth_scanning(name, head) && !has_nul(head);
    let recognise = |kernel: &str| tables.kernel_owner(kernel);
    let mut scanner = Scanner::new(Some(size))
        .with_recogniser(&recognise)
        .named(name);
    if *kernels {
        scanner = scanner.with_kernels(budget.limits().kernel_name_bytes);
    }
    scanner.feed(head);
    let mut fault = None;
    while !ended {
        match fill(reader, buffer, 1) {
            Ok((n, end)) => {
                let bytes = buffer.get(..n).unwrap_or_default();
                text = text && !has_nul(bytes);
                scanner.feed(bytes);
                ended = end;
            }
            Err(error) if text => return Err(error.into()),
            Err(error) => {
                fault = Some(error);
                break;
            }
        }
    }
    if text {
        return Ok(Looked::Other);
    }
    Ok(Looked::Scanned(Box::new(Passed {
        scanned: scanner.finish(),
        fault,
    })))
}

/// Reads until `least` bytes are there or the file ends; says how many and whether it ended.
fn fill(reader: &mut dyn Read, buffer: &mut [u8], least: usize) -> Result<(usize, bool), Fault> {
    let mut filled = 0;
    while filled < least {
        let free = buffer.get_mut(filled..).unwrap_or_default();
        match reader.read(free) {
            Ok(0) => return Ok((filled, true)),
            Ok(n) => filled += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Fault::of(&error)),
        }
    }
    Ok((filled, false))
}

/// Streams the beginning of a file again for ranges that its headers name and that had passed.
fn look_again(
    scanned: &mut Scanned,
    input: &Input,
    budget: &Budget,
    buffer: &mut [u8],
) -> Result<(), Fault> {
    for _ in 0..LOOKS_MAX {
        let Some(end) = wanted_end(scanned) else {
            break;
        };
        refill(scanned, end, &mut *input.open(budget)?, buffer)?;
    }
    Ok(())
}

/// Up to where a file is to be streamed again for what its headers name; nothing where all is known.
pub(super) fn wanted_end(scanned: &Scanned) -> Option<u64> {
    scanned.missing().iter().map(|range| range.end).max()
}

/// Streams the first `end` bytes of a file into what its headers name.
pub(super) fn refill(
    scanned: &mut Scanned,
    end: u64,
    reader: &mut dyn Read,
    buffer: &mut [u8],
) -> Result<(), Fault> {
    let mut offset = 0;
    let mut ended = false;
    while offset < end && !ended {
        let n;
        (n, ended) = fill(reader, buffer, 1)?;
        scanned.fill(offset, buffer.get(..n).unwrap_or_default());
        offset += n as u64;
    }
    Ok(())
}
