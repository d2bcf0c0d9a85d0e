//! The bytes of a host file that are worth keeping while it passes.
//!
//! The beginning is kept, and the ranges that its headers name. Where a parser wants more than that,
//! [`HostImage::missing`] says which ranges, and the caller may stream the file again.

use std::cell::RefCell;
use std::ops::Range;

use object::ReadRef;

use super::{HostFacts, HostFormat, elf, pe};

/// Bytes kept from the beginning of a host file.
const HEAD: u64 = 1 << 20;
/// Bytes kept at the end of the file, where patchelf puts what it moves.
const TAIL: u64 = 64 << 10;
/// Largest single range that a header may ask for.
const RANGE_MAX: u64 = 8 << 20;

/// The bytes of a host file that are worth keeping.
#[derive(Debug)]
pub(in crate::device) struct HostImage {
    format: Option<HostFormat>,
    len: Option<u64>,
    extents: Vec<Extent>,
    /// Ranges to keep beyond the head, ascending.
    wanted: Vec<Range<u64>>,
    planned: bool,
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
}

impl HostImage {
    pub(in crate::device) fn new(len: Option<u64>) -> Self {
        Self {
            format: None,
            len,
            extents: Vec::new(),
            wanted: Vec::new(),
            planned: false,
            missing: RefCell::new(Vec::new()),
        }
    }

    pub(in crate::device) fn format(&self) -> HostFormat {
        self.format.unwrap_or(HostFormat::Raw)
    }

    /// Takes bytes of the file in order; device payloads are left out by the caller.
    pub(in crate::device) fn push(&mut self, offset: u64, bytes: &[u8]) {
        if offset == 0 {
            self.format = Some(HostFormat::of(bytes));
        }
        if !matches!(
            self.format,
            Some(HostFormat::Elf | HostFormat::Pe | HostFormat::Coff)
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

    /// Adds bytes, dropping what is there already.
    fn insert(&mut self, mut start: u64, mut bytes: &[u8]) {
        // the usual case, bytes in file order
        if let Some(last) = self.extents.last_mut().filter(|last| last.end() == start) {
            last.bytes.extend_from_slice(bytes);
            return;
        }
        if let Some(before) = self
            .extents
            .iter()
            .find(|extent| (extent.start..extent.end()).contains(&start))
        {
            let known = usize::try_from(before.end() - start)
                .unwrap_or(usize::MAX)
                .min(bytes.len());
            bytes = bytes.get(known..).unwrap_or_default();
            start += known as u64;
        }
        if bytes.is_empty() {
            return;
        }
        match self.extents.iter_mut().find(|extent| extent.end() == start) {
            Some(extent) => extent.bytes.extend_from_slice(bytes),
            None => self.extents.push(Extent {
                start,
                bytes: bytes.to_vec(),
            }),
        }
    }

    /// What the headers at the beginning say is needed later.
    fn plan(&self) -> Vec<Range<u64>> {
        let head = self.extents.first().filter(|extent| extent.start == 0);
        let head = head
            .map(|extent| extent.bytes.as_slice())
            .unwrap_or_default();
        let ranges = match self.format() {
            HostFormat::Elf => elf::plan(head),
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
        merged
    }

    /// Ranges that the last reading wanted and that were not kept, to be streamed again.
    pub(in crate::device) fn missing(&self) -> Vec<Range<u64>> {
        let mut missing = self.missing.borrow().clone();
        missing.retain(|range| {
            range.end - range.start <= RANGE_MAX && self.len.is_none_or(|len| range.end <= len)
        });
        missing
    }

    /// Takes bytes of a second look.
    pub(in crate::device) fn fill(&mut self, offset: u64, bytes: &[u8]) {
        let missing = self.missing.take();
        for range in &missing {
            self.keep(offset, bytes, range.clone());
        }
        self.missing.replace(missing);
    }

    /// Reads the facts. What could not be reached is in [`HostImage::missing`] afterwards; an error
    /// says that the headers contradict themselves.
    pub(in crate::device) fn facts(&self) -> Result<HostFacts, &'static str> {
        self.missing.borrow_mut().clear();
        let mut facts = HostFacts::new(self.format());
        let read = match self.format() {
            HostFormat::Elf => elf::read(self, &mut facts),
            HostFormat::Pe => pe::read(self, &mut facts),
            // two bytes are a weak sign: a file that goes on otherwise is no object file
            HostFormat::Coff => pe::read_coff(self, &mut facts).or_else(|_error| {
                facts = HostFacts::new(HostFormat::Raw);
                Ok(())
            }),
            HostFormat::Ar | HostFormat::Raw => Ok(()),
        };
        facts.sections.sort_by_key(|section| section.range.start);
        match read {
            Ok(()) => Ok(facts),
            // Not an error of the file: the bytes were not kept.
            Err(_) if !self.missing().is_empty() => Ok(facts),
            Err(error) => Err(error),
        }
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
        let found = self
            .extents
            .iter()
            .find(|extent| extent.start <= offset && end <= extent.end());
        let found = found.and_then(|extent| {
            crate::device::le::range(&extent.bytes, offset - extent.start, size)
        });
        if found.is_none() {
            self.missing.borrow_mut().push(offset..end);
        }
        found.ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let found = self
            .extents
            .iter()
            .find(|extent| (extent.start..extent.end()).contains(&range.start));
        let found = found.and_then(|extent| {
            let from = usize::try_from(range.start - extent.start).ok()?;
            let rest = extent.bytes.get(from..)?;
            let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
            let rest = rest.get(..len).unwrap_or(rest);
            rest.get(..memchr::memchr(delimiter, rest)?)
        });
        if found.is_none() {
            // names in dynamic sections are short
            self.missing
                .borrow_mut()
                .push(range.start..range.end.min(range.start.saturating_add(1024)));
        }
        found.ok_or(())
    }
}
