//! The header of an RPM package, as its database keeps it.
//!
//! Format: <https://rpm-software-management.github.io/rpm/manual/format_header.html> without the magic before it: two
//! counts, index entries of 16 bytes (tag, type, offset, count), then the data that these lie in. All big-endian.

use crate::ProblemKind;
use crate::archive::Fault;
use crate::limits::{LimitHit, Limits};

const NAME: u32 = 1000;
const VERSION: u32 = 1001;
const RELEASE: u32 = 1002;
const OLD_FILENAMES: u32 = 1027;
const DIRINDEXES: u32 = 1116;
const BASENAMES: u32 = 1117;
const DIRNAMES: u32 = 1118;

const INT32: u32 = 4;
const STRING: u32 = 6;
const STRING_ARRAY: u32 = 8;

/// A package of an RPM database.
pub(super) struct Header<'b> {
    index: &'b [u8],
    data: &'b [u8],
    pub(super) name: &'b [u8],
    version: Option<&'b [u8]>,
    release: Option<&'b [u8]>,
}

/// An index entry: where its values begin, and how many there are.
struct Entry<'b> {
    kind: u32,
    data: &'b [u8],
    count: usize,
}

impl<'b> Header<'b> {
    /// Reads name and version. What the index says of other tags is not looked at.
    pub(super) fn parse(blob: &'b [u8]) -> Result<Self, Fault> {
        let short = || malformed("a package's header is shorter than it says");
        let entries = usize::try_from(be32(blob, 0).ok_or_else(short)?).ok();
        let data_len = usize::try_from(be32(blob, 4).ok_or_else(short)?).ok();
        let index_len = entries.and_then(|entries| entries.checked_mul(16));
        let rest = blob.get(8..).ok_or_else(short)?;
        let (index, data) = index_len
            .and_then(|len| rest.split_at_checked(len))
            .ok_or_else(short)?;
        let data = data_len.and_then(|len| data.get(..len)).ok_or_else(short)?;
        let mut header = Self {
            index,
            data,
            name: b"",
            version: None,
            release: None,
        };
        let name = header.string(NAME)?;
        header.name = name
            .filter(|name| !name.is_empty())
            .ok_or_else(|| malformed("a package has no name"))?;
        header.version = header.string(VERSION)?;
        header.release = header.string(RELEASE)?;
        Ok(header)
    }

    /// `VERSION-RELEASE`.
    pub(super) fn version(&self) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let version = text(self.version?);
        Some(match self.release {
            Some(release) => format!("{version}-{}", text(release)),
            None => version,
        })
    }

    /// Calls `visit` with the directory and the name of each of its files.
    pub(super) fn files(
        &self,
        limits: &Limits,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Fault> {
        let (Some(names), Some(dirs), Some(indexes)) = (
            self.entry(BASENAMES)?,
            self.entry(DIRNAMES)?,
            self.entry(DIRINDEXES)?,
        ) else {
            // packages of before 1999 have whole paths
            return match self.entry(OLD_FILENAMES)? {
                Some(paths) => paths.strings(limits)?.try_for_each(|path| {
                    visit(b"", path?);
                    Ok(())
                }),
                None => Ok(()),
            };
        };
        let dirs: Vec<&[u8]> = dirs.strings(limits)?.collect::<Result<_, _>>()?;
        if indexes.kind != INT32 || indexes.count != names.count {
            return Err(malformed("files and their directories are not as many"));
        }
        let mut indexes = indexes.data.chunks_exact(4);
        for name in names.strings(limits)? {
            let dir = indexes
                .next()
                .and_then(|index| be32(index, 0))
                .and_then(|index| dirs.get(usize::try_from(index).ok()?))
                .ok_or_else(|| malformed("a file is in no directory of its package"))?;
            visit(dir, name?);
        }
        Ok(())
    }

    fn string(&self, tag: u32) -> Result<Option<&'b [u8]>, Fault> {
        match self.entry(tag)? {
            Some(entry) if entry.kind == STRING => Ok(Some(until_nul(entry.data)?.0)),
            _ => Ok(None),
        }
    }

    /// The first entry of a tag.
    fn entry(&self, tag: u32) -> Result<Option<Entry<'b>>, Fault> {
        let mut entries = self.index.chunks_exact(16);
        let Some(entry) = entries.find(|entry| be32(entry, 0) == Some(tag)) else {
            return Ok(None);
        };
        let field = |at| be32(entry, at).and_then(|value| usize::try_from(value).ok());
        let data = field(8).and_then(|offset| self.data.get(offset..));
        match (be32(entry, 4), data, field(12)) {
            (Some(kind), Some(data), Some(count)) => Ok(Some(Entry { kind, data, count })),
            _ => Err(malformed("a value lies behind its header")),
        }
    }
}

impl<'b> Entry<'b> {
    /// The values of a list of texts.
    fn strings(
        &self,
        limits: &Limits,
    ) -> Result<impl Iterator<Item = Result<&'b [u8], Fault>> + use<'b>, Fault> {
        if self.count as u64 > limits.members {
            return Err(LimitHit::Members(limits.members).into());
        }
        if self.kind != STRING_ARRAY {
            return Err(malformed("a list of files is none of texts"));
        }
        let mut rest = self.data;
        Ok((0..self.count).map(move |_| {
            let (text, behind) = until_nul(rest)?;
            rest = behind;
            Ok(text)
        }))
    }
}

/// A text and what is behind its NUL.
fn until_nul(bytes: &[u8]) -> Result<(&[u8], &[u8]), Fault> {
    let end = memchr::memchr(0, bytes).ok_or_else(|| malformed("a text does not end"))?;
    let (text, rest) = bytes.split_at(end);
    Ok((text, rest.get(1..).unwrap_or_default()))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..)?.get(..4)?;
    field.try_into().ok().map(u32::from_be_bytes)
}

fn malformed(detail: &str) -> Fault {
    Fault::new(ProblemKind::MalformedMetadata, detail)
}
