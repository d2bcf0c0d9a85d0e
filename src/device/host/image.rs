//! The bytes of a host file that are worth keeping while it passes.
//!
//! The beginning is kept, and the ranges that its headers name. Where a parser wants more than that,
//! [`HostImage::missing`] says which ranges, and the caller may stream the file again.

use std::cell::RefCell;
use std::ops::Range;

use object::ReadRef;

use super::{HostFacts, HostFormat, elf, pe};

/// Bytes kept from the beginning of a host file.
pub(in crate::device) const HEAD: u64 = 1 << 20;
/// Bytes kept at the end of the file, where patchelf puts what it moves.
const TAIL: u64 = 64 << 10;
/// Longest name that a dynamic section may point to.
const NAME_MAX: u64 = 64 << 10;
/// Largest single range that a header may ask for.
const RANGE_MAX: u64 = 8 << 20;
/// Bytes kept beyond the beginning, and as many again of a second look.
const KEPT_MAX: u64 = 24 << 20;

/// The bytes of a host file that are worth keeping.
#[derive(Debug)]
pub(in crate::device) struct HostImage {
    format: Option<HostFormat>,
    len: Option<u64>,
    extents: Vec<Extent>,
    /// Ranges to keep beyond the head, ascending.
    wanted: Vec<Range<u64>>,
    planned: bool,
    /// What the last reading wanted and did not get, as it came.
    unread: RefCell<Vec<Range<u64>>>,
    /// The part of it that can be had by a second look: ascending, apart from each other, bounded.
    missing: RefCell<Vec<Range<u64>>>,
}

#[derive(Debug)]
struct Extent {
    start: u64,
    bytes: Vec<u8>,
}

impl Extent {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Both, which touch or overlap; where they do, they hold the same bytes of the file.
    fn joined(self, other: Self) -> Self {
        let (mut first, second) = if self.start <= other.start {
            (self, other)
        } else {
            (other, self)
        };
        let known = usize::try_from(first.end() - second.start).unwrap_or(usize::MAX);
        first
            .bytes
            .extend_from_slice(second.bytes.get(known..).unwrap_or_default());
        first
    }
}

impl HostImage {
    pub(in crate::device) fn new(len: Option<u64>) -> Self {
        Self {
            format: None,
            len,
            extents: Vec::new(),
            wanted: Vec::new(),
            planned: false,
            unread: RefCell::new(Vec::new()),
            missing: RefCell::new(Vec::new()),
        }
    }

    pub(in crate::device) fn format(&self) -> HostFormat {
        self.format.unwrap_or(HostFormat::Raw)
    }

    /// Takes the first bytes of the file, which tell its format, whoever they belong to.
    pub(in crate::device) fn begin(&mut self, head: &[u8]) {
        self.format = Some(HostFormat::of(head));
    }

    /// Takes bytes of the file in order; device payloads are left out by the caller.
    pub(in crate::device) fn push(&mut self, offset: u64, bytes: &[u8]) {
        if !matches!(
            self.format,
            Some(HostFormat::Elf | HostFormat::ElfObject | HostFormat::Pe | HostFormat::Coff)
        ) {
            return;
        }
        self.keep(offset, bytes, 0..HEAD);
        if !self.planned
            && (offset + bytes.len() as u64 >= 64 << 10
                || self.len.is_some_and(|len| len < 64 << 10))
        {
            self.planned = true;
            self.wanted = self.plan();
        }
        if offset + bytes.len() as u64 > HEAD {
            let wanted = std::mem::take(&mut self.wanted);
            for range in &wanted {
                self.keep(offset, bytes, range.start.max(HEAD)..range.end);
            }
            self.wanted = wanted;
        }
    }

    fn keep(&mut self, offset: u64, bytes: &[u8], range: Range<u64>) {
        let from = range.start.saturating_sub(offset).min(bytes.len() as u64);
        let upto = range.end.saturating_sub(offset).min(bytes.len() as u64);
        let (Ok(from), Ok(upto)) = (usize::try_from(from), usize::try_from(upto)) else {
            return;
        };
        let Some(fresh) = bytes.get(from..upto).filter(|fresh| !fresh.is_empty()) else {
            return;
        };
        self.insert(offset + from as u64, fresh);
    }

    /// Says how long the file turned out to be.
    pub(in crate::device) fn end(&mut self, len: u64) {
        self.len = Some(len);
    }

    /// Adds bytes; extents stay ascending and apart from each other.
    fn insert(&mut self, start: u64, bytes: &[u8]) {
        // the usual case, bytes in file order
        if let Some(last) = self.extents.last_mut().filter(|last| last.end() == start) {
            last.bytes.extend_from_slice(bytes);
            return;
        }
        let end = start + bytes.len() as u64;
        let first = self.extents.partition_point(|extent| extent.end() < start);
        let after = self.extents.partition_point(|extent| extent.start <= end);
        let touched: Vec<Extent> = self.extents.splice(first..after.max(first), []).collect();
        let mut merged = Extent {
            start,
            bytes: bytes.to_vec(),
        };
        for extent in touched {
            merged = merged.joined(extent);
        }
        self.extents.insert(first, merged);
    }

    /// What the headers at the beginning say is needed later.
    fn plan(&self) -> Vec<Range<u64>> {
        let head = self.extents.first().filter(|extent| extent.start == 0);
        let head = head
            .map(|extent| extent.bytes.as_slice())
            .unwrap_or_default();
        let ranges = match self.format() {
            HostFormat::Elf | HostFormat::ElfObject => elf::plan(head),
            HostFormat::Pe => pe::plan(head),
            _ => None,
        };
        let tail = self.len.map(|len| len.saturating_sub(TAIL)..len);
        let mut ranges: Vec<_> = ranges.unwrap_or_default().into_iter().chain(tail).collect();
        for range in &mut ranges {
            range.end = range.end.min(range.start.saturating_add(RANGE_MAX));
        }
        ranges.sort_by_key(|range| range.start);
        // merged, so that no byte is kept twice
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        // a file that names everything does not get everything
        let mut left = KEPT_MAX;
        for range in &mut merged {
            range.end = range.end.min(range.start.saturating_add(left));
            left -= range.end.saturating_sub(range.start);
        }
        merged.retain(|range| !range.is_empty());
        merged
    }

    /// Ranges that the last reading wanted and that were not kept, to be streamed again.
    pub(in crate::device) fn missing(&self) -> Vec<Range<u64>> {
        self.missing.borrow().clone()
    }

    /// What of the unread ranges a second look can bring.
    fn second_look(&self) -> Vec<Range<u64>> {
        let mut wanted = self.unread.borrow().clone();
        wanted.retain(|range| {
            !range.is_empty()
                && range.end - range.start <= RANGE_MAX
                && self.len.is_none_or(|len| range.end <= len)
                // a name without an end does not get one by another look
                && self.extent_at(range.start).is_none_or(|extent| extent.end() < range.end)
        });
        wanted.sort_by_key(|range| range.start);
        let mut left = (2 * KEPT_MAX).saturating_sub(self.held_bytes());
        let mut missing: Vec<Range<u64>> = Vec::new();
        for range in wanted {
            let last = missing
                .last_mut()
                .filter(|last| range.start <= last.end && range.end - last.start <= RANGE_MAX);
            let more = last.as_ref().map_or(range.end - range.start, |last| {
                range.end.saturating_sub(last.end)
            });
            let Some(rest) = left.checked_sub(more) else {
                break;
            };
            left = rest;
            match last {
                Some(last) => last.end = last.end.max(range.end),
                None => missing.push(range),
            }
        }
        missing
    }

    /// Bytes that are held.
    pub(in crate::device) fn held_bytes(&self) -> u64 {
        self.extents
            .iter()
            .map(|extent| extent.bytes.len() as u64)
            .sum()
    }

    /// The extent that holds an offset.
    fn extent_at(&self, offset: u64) -> Option<&Extent> {
        let after = self
            .extents
            .partition_point(|extent| extent.start <= offset);
        self.extents
            .get(after.checked_sub(1)?)
            .filter(|extent| offset < extent.end())
    }

    /// What `read` gives. Where it is not `wanted`, what it could not reach is not asked for.
    pub(super) fn reading<T>(&self, wanted: bool, read: impl FnOnce() -> T) -> T {
        let before = self.unread.borrow().len();
        let got = read();
        if !wanted {
            self.unread.borrow_mut().truncate(before);
        }
        got
    }

    /// Whether the last reading wanted what is not here, be it to be had or not.
    pub(in crate::device) fn is_incomplete(&self) -> bool {
        !self.unread.borrow().is_empty()
    }

    /// Takes bytes of a second look.
    pub(in crate::device) fn fill(&mut self, offset: u64, bytes: &[u8]) {
        let missing = self.missing.take();
        let first = missing.partition_point(|range| range.end <= offset);
        let end = offset.saturating_add(bytes.len() as u64);
        for range in missing
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(|range| range.start < end)
        {
            self.keep(offset, bytes, range.clone());
        }
        self.missing.replace(missing);
    }

    /// Reads the facts, as far as they are to be had. What could not be reached is in
    /// [`HostImage::missing`] afterwards; an error says that the headers contradict themselves.
    ///
    /// `names` of sections say where device code lies, and are not asked for where there is none: lld puts them
    /// far from the section table, behind which a library of LLVM has its symbols (libtriton.so: 32 MB).
    pub(in crate::device) fn facts(&self, names: bool) -> (HostFacts, Option<&'static str>) {
        self.unread.borrow_mut().clear();
        let mut facts = HostFacts::new(self.format());
        let read = match self.format() {
            HostFormat::Elf | HostFormat::ElfObject => elf::read(self, names, &mut facts),
            HostFormat::Pe => pe::read(self, &mut facts),
            // two bytes are a weak sign: a file that goes on otherwise is no object file
            HostFormat::Coff => pe::read_coff(self, &mut facts).or_else(|_error| {
                self.unread.borrow_mut().clear();
                facts = HostFacts::new(HostFormat::Raw);
                Ok(())
            }),
            HostFormat::Ar | HostFormat::Raw => Ok(()),
        };
        facts.sections.sort_by_key(|section| section.range.start);
        let missing = self.second_look();
        // Not an error of the file where the bytes were not kept.
        let error = read.err().filter(|_| missing.is_empty());
        self.missing.replace(missing);
        (facts, error)
    }
}

impl<'a> ReadRef<'a> for &'a HostImage {
    fn len(self) -> Result<u64, ()> {
        self.len
            .or_else(|| self.extents.iter().map(Extent::end).max())
            .ok_or(())
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        if size == 0 {
            return Ok(&[]);
        }
        let end = offset.checked_add(size).ok_or(())?;
        let found = self.extent_at(offset).filter(|extent| end <= extent.end());
        let found = found.and_then(|extent| {
            crate::device::le::range(&extent.bytes, offset - extent.start, size)
        });
        if found.is_none() {
            self.unread.borrow_mut().push(offset..end);
        }
        found.ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let found = self.extent_at(range.start).and_then(|extent| {
            let from = usize::try_from(range.start - extent.start).ok()?;
            let rest = extent.bytes.get(from..)?;
            let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
            let rest = rest.get(..len).unwrap_or(rest);
            rest.get(..memchr::memchr(delimiter, rest)?)
        });
        if found.is_none() {
            // the RUNPATH of libtensorflow_framework.so.2 (tensorflow 2.20.0) has 21,514 bytes
            let end = range
                .end
                .min(range.start.saturating_add(NAME_MAX))
                .min(self.len.unwrap_or(u64::MAX));
            self.unread.borrow_mut().push(range.start..end);
        }
        found.ok_or(())
    }
}
