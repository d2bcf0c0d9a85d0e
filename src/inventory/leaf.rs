//! One file: opened, sniffed, scanned, and looked at again where its headers need it.

use std::io::Read;
use std::sync::Arc;

use crate::archive::{Fault, Kind, SharedBytes, Zip, spool};
use crate::device::{DeviceReport, HostFormat, SNIFF_LEN, Scanned, Scanner, worth_scanning};
use crate::limits::Budget;
use crate::locator::Locator;
use crate::problem::{Extent, Problem};
use crate::source::is_named_wheel;
use crate::tables::Tables;

use super::plan::File;

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

/// What every file of a run is read with.
pub(super) struct Means<'t> {
    pub(super) budget: Budget,
    pub(super) tables: &'t Tables,
    /// Whether to read the names of kernels.
    pub(super) kernels: bool,
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

/// Reads a file. `buffer` is scratch space.
pub(super) fn read(file: &File, means: &Means<'_>, buffer: &mut [u8]) -> (Leaf, Vec<Problem>) {
    let budget = &means.budget;
    let File {
        input,
        path: name,
        size,
        at,
        ..
    } = file;
    let size = *size;
    let Some(named) = NamedZip::of(name) else {
        return read_data(input, name, size, at, means, buffer);
    };
    // pip and Python find a zip archive by its end, whatever stands before it
    match hold(input, size, budget) {
        Ok(bytes) if named == NamedZip::Wheel || Zip::has_end(&bytes, at) => {
            (Leaf::Zip(bytes), Vec::new())
        }
        Ok(bytes) => {
            let input = Input::Bytes(bytes);
            read_data(&input, name, size, at, means, buffer)
        }
        Err(fault) => (Leaf::Unopened, vec![fault.at(at.clone(), Extent::Member)]),
    }
}

/// A file whose name says that it is a zip archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedZip {
    /// A wheel, which is one or is broken.
    Wheel,
    /// Another, where its end says so too.
    Other,
}

impl NamedZip {
    fn of(name: &str) -> Option<Self> {
        if is_named_wheel(name) {
            return Some(Self::Wheel);
        }
        let (_, suffix) = name.rsplit_once('.')?;
        ["zip", "egg"]
            .into_iter()
            .any(|known| suffix.eq_ignore_ascii_case(known))
            .then_some(Self::Other)
    }
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
    input: &Input,
    name: &str,
    size: u64,
    at: &Locator,
    means: &Means<'_>,
    buffer: &mut [u8],
) -> (Leaf, Vec<Problem>) {
    let Means {
        budget,
        tables,
        kernels,
    } = means;
    let fault = |fault: Fault| vec![fault.at(at.clone(), Extent::Member)];
    let (mut reader, mut head_len, mut ended) = match begin(input, budget, buffer) {
        Ok(begun) => begun,
        Err(error) => return (Leaf::Other, fault(error)),
    };
    let head = buffer.get(..head_len).unwrap_or_default();
    let kind = Kind::sniff(head);
    match kind {
        Some(Kind::Zip) => {
            let held = match input {
                Input::Member(..) => spool(head.chain(reader), budget.limits(), Some(size)),
                Input::Bytes(_) | Input::Path(_) => hold(input, size, budget),
            };
            return match held {
                Ok(bytes) => (Leaf::Zip(bytes), Vec::new()),
                Err(error) => (Leaf::Unopened, fault(error)),
            };
        }
        // Its members lie in it as they are. A loader of programs looks elsewhere than at the checksum of a tar
        // header, so that a library can have one.
        Some(Kind::Tar) => {}
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
    if *kernels {
        scanner = scanner.with_kernels(budget.limits().kernel_name_bytes);
    }
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
    if kind == Some(Kind::Tar) && report.host.format == HostFormat::Raw && !report.has_device_code()
    {
        return (Leaf::Unopened, problems);
    }
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
