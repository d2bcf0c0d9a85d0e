//! The rows of one table of an `SQLite` database in memory, as far as RPM's needs it.
//!
//! Format: <https://www.sqlite.org/fileformat2.html>, sections 1.3 (header), 1.6 (b-tree pages), 2.1 (records) and 2.6
//! (schema). Reads tables with a rowid, not indexes; nothing of a write-ahead log. Every page is read once at most, and
//! all payloads together hold no more bytes than the file, so that the work is bounded by its size.

use std::borrow::Cow;

use crate::ProblemKind;
use crate::archive::Fault;

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: usize = 100;
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;

/// A database, opened.
pub(super) struct Database<'b> {
    bytes: &'b [u8],
    page_size: usize,
    /// Bytes of a page without what extensions reserve.
    usable: usize,
}

/// Called with each row: its values, of which those that are text or blobs have bytes.
type Visit<'v> = dyn FnMut(&[Option<&[u8]>]) -> Result<(), Fault> + 'v;

impl<'b> Database<'b> {
    /// Opens a database by its header.
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, Fault> {
        if !bytes.starts_with(MAGIC) || bytes.len() < HEADER {
            return Err(malformed("it has no header of an SQLite database"));
        }
        let page_size = match be(bytes, 16, 2)? {
            1 => 65_536,
            size if size.is_power_of_two() && size >= 512 => size,
            size => return Err(malformed(format!("a page has {size} bytes"))),
        };
        let usable = page_size - be(bytes, 20, 1)?;
        if usable < 480 {
            return Err(malformed("its pages hold next to nothing"));
        }
        // 0 where it is empty
        if !matches!(be(bytes, 56, 4)?, 0 | 1) {
            return Err(malformed("its text is not UTF-8"));
        }
        Ok(Self {
            bytes,
            page_size,
            usable,
        })
    }

    /// The values of one column of a table, counted from 0, where they are text or blobs.
    pub(super) fn column(
        &self,
        table: &str,
        column: usize,
        mut visit: impl FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut root = None;
        self.rows(1, 5, &mut |values| {
            if let [Some(kind), Some(name), _, Some(page), ..] = values
                && *kind == b"table"
                && *name == table.as_bytes()
            {
                root.get_or_insert(number(page));
            }
            Ok(())
        })?;
        let Some(root) = root else {
            return Err(malformed(format!("it has no table `{table}`")));
        };
        self.rows(
            root,
            column + 1,
            &mut |values| match values.get(column).copied().flatten() {
                Some(value) => visit(value),
                None => Err(malformed(format!("a row of `{table}` lacks a value"))),
            },
        )
    }

    /// The first `columns` values of the rows of the table with this root page, in the order of their keys.
    fn rows(&self, root: usize, columns: usize, visit: &mut Visit<'_>) -> Result<(), Fault> {
        let mut walk = Walk {
            database: self,
            seen: vec![false; self.bytes.len() / self.page_size + 1],
            left: self.bytes.len(),
        };
        let mut pending = vec![root];
        while let Some(number) = pending.pop() {
            let page = walk.page(number)?;
            // the first page has the header of the file before its own
            let at = if number == 1 { HEADER } else { 0 };
            let cells = be(page, at + 3, 2)?;
            match be(page, at, 1)? {
                kind if kind == usize::from(INTERIOR) => {
                    let mut children = Vec::new();
                    for cell in 0..cells {
                        let cell = be(page, at + 12 + 2 * cell, 2)?;
                        children.push(be(page, cell, 4)?);
                    }
                    pending.push(be(page, at + 8, 4)?);
                    pending.extend(children.into_iter().rev());
                    if pending.len() > walk.seen.len() {
                        return Err(malformed("its pages are used more than once"));
                    }
                }
                kind if kind == usize::from(LEAF) => {
                    for cell in 0..cells {
                        let cell = be(page, at + 8 + 2 * cell, 2)?;
                        let payload = walk.payload(page, cell)?;
                        visit(&values(&payload, columns)?)?;
                    }
                }
                kind => {
                    return Err(malformed(format!("page {number} is of kind {kind}")));
                }
            }
        }
        Ok(())
    }
}

/// A walk over the pages of a table.
struct Walk<'d, 'b> {
    database: &'d Database<'b>,
    seen: Vec<bool>,
    /// Bytes of payload that may still come.
    left: usize,
}

impl<'b> Walk<'_, 'b> {
    /// The usable bytes of a page, which was not read before. Pages are counted from 1.
    fn page(&mut self, number: usize) -> Result<&'b [u8], Fault> {
        let outside = || malformed(format!("page {number} is not in the file"));
        let size = self.database.page_size;
        let index = number.checked_sub(1).ok_or_else(outside)?;
        let start = index.checked_mul(size).ok_or_else(outside)?;
        let page = self
            .database
            .bytes
            .get(start..)
            .and_then(|rest| rest.get(..size));
        let page = page.and_then(|page| page.get(..self.database.usable));
        let page = page.ok_or_else(outside)?;
        match self.seen.get_mut(index) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(malformed(format!("page {number} is used twice"))),
        }
        Ok(page)
    }

    /// The record of a cell, with what of it lies on further pages.
    fn payload(&mut self, page: &'b [u8], cell: usize) -> Result<Cow<'b, [u8]>, Fault> {
        let mut at = cell;
        let len = varint(page, &mut at)?;
        let _rowid = varint(page, &mut at)?;
        let len = usize::try_from(len).ok().filter(|len| *len <= self.left);
        let len = len.ok_or_else(|| malformed("its records are longer than the file"))?;
        self.left -= len;
        let usable = self.database.usable;
        let most = usable - 35;
        let local = if len <= most {
            len
        } else {
            let least = (usable - 12) * 32 / 255 - 23;
            let fitting = least + (len - least) % (usable - 4);
            if fitting <= most { fitting } else { least }
        };
        let beyond = || malformed("a record ends behind its page");
        let rest = page.get(at..).ok_or_else(beyond)?;
        let first = rest.get(..local).ok_or_else(beyond)?;
        if local == len {
            return Ok(Cow::Borrowed(first));
        }
        let mut next = be(page, at + local, 4)?;
        let mut record = first.to_vec();
        while record.len() < len {
            let page = self.page(next)?;
            next = be(page, 0, 4)?;
            let content = page.get(4..).unwrap_or_default();
            let wanted = content.len().min(len - record.len());
            record.extend_from_slice(content.get(..wanted).unwrap_or_default());
        }
        Ok(Cow::Owned(record))
    }
}

/// The first `columns` values of a record: bytes of texts, blobs and integers, none of what has no bytes.
fn values(record: &[u8], columns: usize) -> Result<Vec<Option<&[u8]>>, Fault> {
    let short = || malformed("a record is shorter than its header says");
    let mut at = 0;
    let header = usize::try_from(varint(record, &mut at)?).ok();
    let header = header
        .filter(|len| *len <= record.len())
        .ok_or_else(short)?;
    let mut rest = record.get(header..).ok_or_else(short)?;
    let mut values = Vec::new();
    while at < header && values.len() < columns {
        let kind = varint(record, &mut at)?;
        let len = match kind {
            0 | 8 | 9 => None,
            1..=4 => Some(kind),
            5 => Some(6),
            6 | 7 => Some(8),
            10 | 11 => return Err(malformed("a value is of a kind that is not in use")),
            kind => Some((kind - 12) / 2),
        };
        let value = match len {
            None => None,
            Some(len) => {
                let len = usize::try_from(len).ok().filter(|len| *len <= rest.len());
                let (value, behind) = rest.split_at(len.ok_or_else(short)?);
                rest = behind;
                Some(value)
            }
        };
        values.push(value);
    }
    Ok(values)
}

/// The number of a page in the schema.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |value: usize, byte| {
        value.wrapping_shl(8) | usize::from(*byte)
    })
}

/// Seven bits a byte, the highest first; of a ninth byte all eight.
fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, Fault> {
    let mut value = 0;
    for index in 0..9 {
        let byte = bytes.get(*at).copied();
        let byte = byte.ok_or_else(|| malformed("a number ends behind its page"))?;
        *at += 1;
        if index == 8 {
            return Ok((value << 8) | u64::from(byte));
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Ok(value)
}

/// An unsigned number of `len` bytes, at most four, the highest first.
fn be(bytes: &[u8], at: usize, len: usize) -> Result<usize, Fault> {
    let field = bytes.get(at..).and_then(|rest| rest.get(..len));
    let field = field.ok_or_else(|| malformed("a field lies behind its page"))?;
    Ok(number(field))
}

fn malformed(detail: impl Into<String>) -> Fault {
    Fault::new(ProblemKind::MalformedMetadata, detail)
}
