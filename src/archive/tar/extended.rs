//! What stands before a header and replaces a part of it: PAX records, and GNU's long names.

use tar::PaxExtensions;

use crate::ProblemKind;
use crate::archive::fault::Fault;

/// Bytes of one extended header; Go refuses larger ones too.
pub(super) const BYTES_MAX: u64 = 1 << 20;

const TWO_NAMES: &str = "two extended headers give it different names";

/// What extended headers say of the member that follows.
#[derive(Debug, Clone, Default)]
pub(super) struct Extended {
    pub(super) name: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    /// Whether the bytes are those of a sparse file, with a map of their places.
    pub(super) sparse: bool,
    /// Where readers disagree.
    pub(super) doubt: Option<&'static str>,
}

impl Extended {
    /// Takes the records of a PAX header.
    pub(super) fn take_records(&mut self, bytes: &[u8], offset: u64) -> Result<(), Fault> {
        let malformed = |what: &str| {
            let detail = format!("at {offset:#x}: {what}");
            Fault::new(ProblemKind::MalformedArchive, detail)
        };
        for record in PaxExtensions::new(bytes) {
            let record =
                record.map_err(|_source| malformed("an extended header that is not one"))?;
            let value = record.value_bytes();
            match record.key_bytes() {
                b"path" => self.set_name(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                // an empty value takes back what was said before
                b"size" if value.is_empty() => self.size = None,
                b"size" => {
                    let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                    self.size =
                        Some(size.ok_or_else(|| malformed("an extended size that is no number"))?);
                }
                key if key.starts_with(b"GNU.sparse.") => self.sparse = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes the body of a GNU long-name member.
    pub(super) fn take_long_name(&mut self, bytes: &[u8]) {
        self.set_name(until_nul(bytes));
    }

    /// Takes the body of a GNU long-link member.
    pub(super) fn take_long_link(&mut self, bytes: &[u8]) {
        self.link = Some(until_nul(bytes));
    }

    fn set_name(&mut self, name: Vec<u8>) {
        if self.name.as_ref().is_some_and(|before| *before != name) {
            self.doubt = Some(TWO_NAMES);
        }
        self.name = Some(name);
    }

    /// These over those of the whole archive.
    pub(super) fn over(self, global: &Self) -> Self {
        Self {
            name: self.name.or_else(|| global.name.clone()),
            link: self.link.or_else(|| global.link.clone()),
            size: self.size.or(global.size),
            sparse: self.sparse || global.sparse,
            doubt: self.doubt,
        }
    }
}

fn until_nul(bytes: &[u8]) -> Vec<u8> {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or_default().to_vec()
}
