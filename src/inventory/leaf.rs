//! One file: opened, sniffed, scanned, and looked at again where its headers need it.

use std::io::Read;
use std::sync::Arc;

use crate::archive::{Fault, Kind, SharedBytes, Zip, spool};
use crate::device::{DeviceReport, SNIFF_LEN, Scanned, Scanner, worth_scanning};
use crate::limits::Budget;
use crate::locator::Locator;
use crate::problem::{Extent, Problem};
use crate::tables::Tables;

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
    fn open<'b>(&self, budget: &'b Budget) -> Result<Box<dyn Read + 'b>, Fault> {
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

/// What a file turned out to be.
#[derive(Debug)]
pub(super) enum Leaf {
    /// Nothing that can hold device code.
    Other,
    /// A compressed file or an archive of a kind that is not opened.
    Unopened,
    /// A zip archive.
    Zip(SharedBytes),
    /// Anything that was scanned.
    Scanned(Box<DeviceReport>),
}

/// Reads the file at `at`, called `name` and of `size` bytes. `buffer` is scratch space.
pub(super) fn read(
    input: &Input,
    name: &str,
    size: u64,
    at: &Locator,
    budget: &Budget,
    tables: &Tables,
    buffer: &mut [u8],
) -> (Leaf, Vec<Problem>) {
    let fault = |fault: Fault| vec![fault.at(at.clone(), Extent::Member)];
    let (mut reader, mut head_len, mut ended) = match begin(input, budget, buffer) {
        Ok(begun) => begun,
        Err(error) => return (Leaf::Other, fault(error)),
    };
    let head = buffer.get(..head_len).unwrap_or_default();
    match Kind::sniff(head) {
        Some(Kind::Zip) => {
            let held = match input {
                Input::Bytes(bytes) => Ok(bytes.clone()),
                Input::Path(path) => SharedBytes::open(path).map_err(|error| Fault::of(&error)),
                Input::Member(..) => spool(head.chain(reader), budget.limits(), Some(size)),
            };
            return match held {
                Ok(bytes) => (Leaf::Zip(bytes), Vec::new()),
                Err(error) => (Leaf::Unopened, fault(error)),
            };
        }
        Some(_) => return (Leaf::Unopened, Vec::new()),
        None if worth_scanning(name, head) => {}
        None => {
            match has_nul(&mut *reader, head_len, ended, buffer) {
                Ok(false) => return (Leaf::Other, Vec::new()),
                // a script in front of what it unpacks
                Ok(true) => {}
                Err(error) => return (Leaf::Other, fault(error)),
            }
            (reader, head_len, ended) = match begin(input, budget, buffer) {
                Ok(begun) => begun,
                Err(error) => return (Leaf::Other, fault(error)),
            };
        }
    }
    let head = buffer.get(..head_len).unwrap_or_default();
    let recognise = |kernel: &str| tables.kernel_owner(kernel);
    let mut scanner = Scanner::new(Some(size))
        .with_recogniser(&recognise)
        .named(name);
    scanner.feed(head);
    while !ended {
        match fill(&mut *reader, buffer, 1) {
            Ok((n, end)) => {
                scanner.feed(buffer.get(..n).unwrap_or_default());
                ended = end;
            }
            Err(error) => {
                // What was seen counts; that not all was seen is the problem.
                let report = scanner.finish().report();
                return (Leaf::Scanned(Box::new(report)), fault(error));
            }
        }
    }
    drop(reader);
    let mut scanned = scanner.finish();
    let looked = look_again(&mut scanned, input, budget, buffer);
    let report = scanned.report();
    let mut problems: Vec<Problem> = report
        .problems
        .iter()
        .map(|problem| {
            let at = at.offset(problem.offset);
            Problem::new(problem.kind, at, Extent::Part, problem.detail.clone())
        })
        .collect();
    problems.extend(looked.err().into_iter().flat_map(fault));
    (Leaf::Scanned(Box::new(report)), problems)
}

/// Opens a file and reads at least [`SNIFF_LEN`] bytes of it: how many there are, and whether it ended.
fn begin<'b>(
    input: &'b Input,
    budget: &'b Budget,
    buffer: &mut [u8],
) -> Result<(Box<dyn Read + 'b>, usize, bool), Fault> {
    let mut reader = input.open(budget)?;
    let (filled, ended) = fill(&mut *reader, buffer, SNIFF_LEN)?;
    Ok((reader, filled, ended))
}

/// Whether a file that begins as text holds a NUL byte, as every format of device code does. The first `filled`
/// bytes are in `buffer`.
fn has_nul(
    reader: &mut dyn Read,
    mut filled: usize,
    mut ended: bool,
    buffer: &mut [u8],
) -> Result<bool, Fault> {
    loop {
        if memchr::memchr(0, buffer.get(..filled).unwrap_or_default()).is_some() {
            return Ok(true);
        }
        if ended {
            return Ok(false);
        }
        (filled, ended) = fill(reader, buffer, 1)?;
    }
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
        let missing = scanned.missing();
        let Some(end) = missing.iter().map(|range| range.end).max() else {
            break;
        };
        let mut reader = input.open(budget)?;
        let mut offset = 0;
        while offset < end {
            let (n, ended) = fill(&mut *reader, buffer, 1)?;
            scanned.fill(offset, buffer.get(..n).unwrap_or_default());
            offset += n as u64;
            if ended {
                break;
            }
        }
    }
    Ok(())
}
