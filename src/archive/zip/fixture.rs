//! Zip archives for tests, built field by field so that any field can be wrong.

#![expect(
    clippy::cast_possible_truncation,
    reason = "archives of tests are small"
)]

use std::io::Write as _;

use crate::archive::SharedBytes;

/// The fields that a local header and a record of the central directory share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Header {
    pub(crate) name: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed: u32,
    pub(crate) size: u32,
    pub(crate) extra: Vec<u8>,
}

/// One member, local and central.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) local: Header,
    pub(crate) central: Header,
    pub(crate) data: Vec<u8>,
    /// What stands between the data and the next member.
    pub(crate) descriptor: Vec<u8>,
    pub(crate) external: u32,
    /// The offset in the central directory, where it is not the true one.
    pub(crate) offset: Option<u32>,
    /// Whether the central directory leaves it out.
    pub(crate) unlisted: bool,
}

impl Entry {
    /// Changes both headers.
    pub(crate) fn both(&mut self, change: impl Fn(&mut Header)) {
        change(&mut self.local);
        change(&mut self.central);
    }

    /// Puts CRC and sizes behind the data and zeros into the local header.
    pub(crate) fn defer(&mut self, signature: bool, long: bool) {
        self.both(|header| header.flags |= 8);
        let header = &mut self.local;
        let mut bytes = if signature {
            b"PK\x07\x08".to_vec()
        } else {
            Vec::new()
        };
        bytes.extend(header.crc.to_le_bytes());
        for size in [header.packed, header.size] {
            bytes.extend(size.to_le_bytes());
            bytes.extend(vec![0; if long { 4 } else { 0 }]);
        }
        self.descriptor = bytes;
        (header.crc, header.packed, header.size) = (0, 0, 0);
    }
}

/// The end record.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndRecord {
    pub(crate) disks: [u16; 2],
    pub(crate) entries: [u16; 2],
    pub(crate) size: u32,
    pub(crate) offset: u32,
    pub(crate) comment: Vec<u8>,
    pub(crate) comment_len: u16,
}

/// An archive.
#[derive(Debug, Clone, Default)]
pub(crate) struct Builder {
    /// What stands before the archive and is not counted by its offsets.
    pub(crate) prefix: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    /// What stands between the last member and the central directory.
    pub(crate) gap: Vec<u8>,
    /// What stands between the central directory and the end record.
    pub(crate) before_end: Vec<u8>,
    /// What follows the archive.
    pub(crate) after: Vec<u8>,
}

impl Builder {
    /// An archive without members.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a stored member.
    pub(crate) fn stored(self, name: &str, data: &[u8]) -> Self {
        self.member(name, data, 0, data.to_vec(), |_| {})
    }

    /// Adds a deflated member.
    pub(crate) fn deflated(self, name: &str, data: &[u8]) -> Self {
        self.member(name, data, 8, deflate(data), |_| {})
    }

    /// Adds a stored member, changed by `change`.
    pub(crate) fn odd(self, name: &str, data: &[u8], change: impl FnOnce(&mut Entry)) -> Self {
        self.member(name, data, 0, data.to_vec(), change)
    }

    /// Adds a member whose packed bytes are `packed`.
    pub(crate) fn member(
        mut self,
        name: &str,
        data: &[u8],
        method: u16,
        packed: Vec<u8>,
        change: impl FnOnce(&mut Entry),
    ) -> Self {
        let header = Header {
            name: name.into(),
            flags: 0,
            method,
            crc: crc32fast::hash(data),
            packed: packed.len() as u32,
            size: data.len() as u32,
            extra: Vec::new(),
        };
        let mut entry = Entry {
            local: header.clone(),
            central: header,
            data: packed,
            ..Entry::default()
        };
        change(&mut entry);
        self.entries.push(entry);
        self
    }

    /// The archive.
    pub(crate) fn build(&self) -> Vec<u8> {
        self.build_with(|_| {})
    }

    /// The archive, ready to open.
    pub(crate) fn shared(&self) -> SharedBytes {
        self.build().into()
    }

    /// The archive with the end record changed by `change`.
    pub(crate) fn build_with(&self, change: impl FnOnce(&mut EndRecord)) -> Vec<u8> {
        let mut out = self.prefix.clone();
        let base = out.len();
        let mut central = Vec::new();
        for entry in &self.entries {
            let offset = entry.offset.unwrap_or((out.len() - base) as u32);
            out.extend(b"PK\x03\x04\x14\0");
            put_fields(&mut out, &entry.local);
            out.extend(&entry.local.name);
            out.extend(&entry.local.extra);
            out.extend(&entry.data);
            out.extend(&entry.descriptor);
            if !entry.unlisted {
                central.extend(b"PK\x01\x02\x14\x03\x14\0");
                put_fields(&mut central, &entry.central);
                central.extend([0; 6]);
                central.extend(entry.external.to_le_bytes());
                central.extend(offset.to_le_bytes());
                central.extend(&entry.central.name);
                central.extend(&entry.central.extra);
            }
        }
        out.extend(&self.gap);
        let listed = self.entries.iter().filter(|entry| !entry.unlisted).count() as u16;
        let mut end = EndRecord {
            entries: [listed; 2],
            size: central.len() as u32,
            offset: (out.len() - base) as u32,
            ..EndRecord::default()
        };
        change(&mut end);
        out.extend(central);
        out.extend(&self.before_end);
        out.extend(b"PK\x05\x06");
        out.extend(
            end.disks
                .iter()
                .chain(&end.entries)
                .flat_map(|field| field.to_le_bytes()),
        );
        out.extend(end.size.to_le_bytes());
        out.extend(end.offset.to_le_bytes());
        out.extend((end.comment.len() as u16 + end.comment_len).to_le_bytes());
        out.extend(&end.comment);
        out.extend(&self.after);
        out
    }
}

/// Flags to extra length, which both kinds of header share; no time, 1 January 1980.
fn put_fields(out: &mut Vec<u8>, header: &Header) {
    for field in [header.flags, header.method, 0, 0x21] {
        out.extend(field.to_le_bytes());
    }
    for field in [header.crc, header.packed, header.size] {
        out.extend(field.to_le_bytes());
    }
    out.extend((header.name.len() as u16).to_le_bytes());
    out.extend((header.extra.len() as u16).to_le_bytes());
}

/// `data` as a raw DEFLATE stream.
pub(crate) fn deflate(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}
