//! What stands before a header and replaces a part of it: PAX records, and GNU's long names.
//!
//! Where several stand before one member, readers differ in which they take. Here it is what Go's `archive/tar`
//! takes: of PAX headers the last, GNU's names before those of PAX, and nothing of what is said for all members.

use crate::ProblemKind;
use crate::archive::fault::Fault;

/// Bytes of one extended header; Go refuses larger ones too.
pub(super) const BYTES_MAX: u64 = 1 << 20;

const TWO_NAMES: &str = "two extended headers give it different names";
const TWO_HEADERS: &str =
    "two extended headers of one kind stand before it, and readers differ in which they take";
const FOR_ALL: &str =
    "a header for all members renames or resizes it, which readers take differently";

/// What extended headers say of the member that follows.
#[derive(Debug, Clone, Default)]
pub(super) struct Extended {
    pax: Option<Records>,
    gnu_name: Option<Vec<u8>>,
    gnu_link: Option<Vec<u8>>,
    doubt: Option<&'static str>,
}

/// What a PAX header says, as far as it matters here.
#[derive(Debug, Clone, Default)]
pub(super) struct Records {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    /// Whether the bytes are those of a sparse file, with a map of their places.
    sparse: bool,
}

/// What replaces parts of a header.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    pub(super) name: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) sparse: bool,
    /// Where readers disagree.
    pub(super) doubt: Option<&'static str>,
}

impl Extended {
    /// Takes a PAX header of the member.
    pub(super) fn take_records(&mut self, bytes: &[u8], offset: u64) -> Result<(), Fault> {
        let records = Records::parse(bytes, offset)?;
        self.once_more(self.pax.is_some());
        self.pax = Some(records);
        Ok(())
    }

    /// Takes the body of a GNU long-name member.
    pub(super) fn take_long_name(&mut self, bytes: &[u8]) {
        self.once_more(self.gnu_name.is_some());
        self.gnu_name = Some(until_nul(bytes));
    }

    /// Takes the body of a GNU long-link member.
    pub(super) fn take_long_link(&mut self, bytes: &[u8]) {
        self.once_more(self.gnu_link.is_some());
        self.gnu_link = Some(until_nul(bytes));
    }

    fn once_more(&mut self, before: bool) {
        if before {
            self.doubt = Some(TWO_HEADERS);
        }
    }

    /// What is replaced, where `for_all` stands before all members.
    pub(super) fn replaced(self, for_all: &Records) -> Replaced {
        let pax = self.pax.unwrap_or_default();
        let mut doubt = self.doubt;
        for (gnu, pax) in [(&self.gnu_name, &pax.name), (&self.gnu_link, &pax.link)] {
            if gnu.is_some() && pax.is_some() && gnu != pax {
                doubt = Some(TWO_NAMES);
            }
        }
        if for_all.name.is_some() || for_all.link.is_some() || for_all.size.is_some() {
            doubt = Some(FOR_ALL);
        }
        Replaced {
            name: self.gnu_name.or(pax.name),
            link: self.gnu_link.or(pax.link),
            size: pax.size,
            sparse: pax.sparse || for_all.sparse,
            doubt,
        }
    }
}

impl Records {
    /// Reads the records of a PAX header: `LENGTH KEY=VALUE` and a line feed, of which the length counts all. A value
    /// may hold line feeds: capabilities of files are bytes.
    pub(super) fn parse(bytes: &[u8], offset: u64) -> Result<Self, Fault> {
        let malformed = |what: &str| {
            let detail = format!("at {offset:#x}: {what}");
            Fault::new(ProblemKind::MalformedArchive, detail)
        };
        let mut records = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (key, value, behind) = first_record(rest)
                .ok_or_else(|| malformed("an extended header that is not one"))?;
            rest = behind;
            match key {
                b"path" => records.name = Some(value.to_vec()),
                b"linkpath" => records.link = Some(value.to_vec()),
                // an empty value takes back what was said before
                b"size" if value.is_empty() => records.size = None,
                b"size" => {
                    let size = std::str::from_utf8(value).ok();
                    let size = size.and_then(|text| text.parse().ok());
                    records.size =
                        Some(size.ok_or_else(|| malformed("an extended size that is no number"))?);
                }
                key if key.starts_with(b"GNU.sparse.") => records.sparse = true,
                _ => {}
            }
        }
        Ok(records)
    }
}

/// Key and value of the first record, and what is behind it.
fn first_record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let blank = memchr::memchr(b' ', bytes)?;
    let digits = bytes
        .get(..blank)
        .filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let len: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let record = bytes.get(blank + 1..len)?.strip_suffix(b"\n")?;
    let equals = memchr::memchr(b'=', record)?;
    Some((
        record.get(..equals)?,
        record.get(equals + 1..)?,
        bytes.get(len..)?,
    ))
}

fn until_nul(bytes: &[u8]) -> Vec<u8> {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or_default().to_vec()
}
