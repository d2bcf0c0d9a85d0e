//! Zip archives built field by field, so that any field can be wrong; sizes beyond 4 GiB by zip64.
//!
//! Format: APPNOTE 4.3.7 (local header), 4.3.12 (central directory), 4.3.16 (end record), 4.5.3 (zip64).

// Several modules use a part each.
#![allow(dead_code, reason = "helpers of several modules")]

use std::io::Write as _;

/// What a local header and its record in the central directory say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed: u64,
    pub(crate) size: u64,
}

/// A member.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) local: Header,
    pub(crate) central: Header,
    /// The packed bytes.
    pub(crate) data: Vec<u8>,
    /// The upper half is the Unix mode.
    pub(crate) attributes: u32,
}

impl Member {
    /// Changes both headers.
    pub(crate) fn both(&mut self, change: impl Fn(&mut Header)) {
        change(&mut self.local);
        change(&mut self.central);
    }
}

/// An archive under construction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Zip {
    pub(crate) members: Vec<Member>,
}

impl Zip {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A member whose data is there as it is.
    pub(crate) fn stored(self, name: &str, content: &[u8]) -> Self {
        let size = content.len() as u64;
        self.packed(name, 0, content.to_vec(), size, crc32fast::hash(content))
    }

    /// A member packed with deflate.
    pub(crate) fn deflated(self, name: &str, content: &[u8]) -> Self {
        let size = content.len() as u64;
        self.packed(name, 8, deflate(content), size, crc32fast::hash(content))
    }

    /// A member by its packed bytes.
    pub(crate) fn packed(
        mut self,
        name: &str,
        method: u16,
        data: Vec<u8>,
        size: u64,
        crc: u32,
    ) -> Self {
        let header = Header {
            name: name.into(),
            flags: 0x800,
            method,
            crc,
            packed: data.len() as u64,
            size,
        };
        self.members.push(Member {
            local: header.clone(),
            central: header,
            data,
            attributes: 0o100_644 << 16,
        });
        self
    }

    /// Changes the member that was added last.
    pub(crate) fn last(mut self, change: impl FnOnce(&mut Member)) -> Self {
        change(self.members.last_mut().unwrap());
        self
    }

    /// The archive.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut central = Vec::new();
        for member in &self.members {
            let offset = u32::try_from(out.len()).unwrap();
            out.extend(b"PK\x03\x04\x2d\0");
            let extra = fields(&mut out, &member.local);
            out.extend(&member.local.name);
            out.extend(extra);
            out.extend(&member.data);
            central.extend(b"PK\x01\x02\x2d\x03\x2d\0");
            let extra = fields(&mut central, &member.central);
            // comment, disk, internal attributes
            central.extend([0; 6]);
            central.extend(member.attributes.to_le_bytes());
            central.extend(offset.to_le_bytes());
            central.extend(&member.central.name);
            central.extend(extra);
        }
        let start = out.len() as u64;
        let size = central.len() as u64;
        out.extend(central);
        end(&mut out, self.members.len() as u64, start, size);
        out
    }
}

/// From the flags to the lengths of name and extra field; returns the extra field.
fn fields(out: &mut Vec<u8>, header: &Header) -> Vec<u8> {
    const FULL: u32 = u32::MAX;
    let long = |value: u64| u32::try_from(value).ok().filter(|value| *value < FULL);
    let mut extra = Vec::new();
    if long(header.size).is_none() || long(header.packed).is_none() {
        let wide = [header.size, header.packed];
        let wide = wide.iter().filter(|value| long(**value).is_none());
        let wide: Vec<u8> = wide.flat_map(|value| value.to_le_bytes()).collect();
        extra.extend(1_u16.to_le_bytes());
        extra.extend(u16::try_from(wide.len()).unwrap().to_le_bytes());
        extra.extend(wide);
    }
    for field in [header.flags, header.method, 0, 0x21] {
        out.extend(field.to_le_bytes());
    }
    out.extend(header.crc.to_le_bytes());
    out.extend(long(header.packed).unwrap_or(FULL).to_le_bytes());
    out.extend(long(header.size).unwrap_or(FULL).to_le_bytes());
    for len in [header.name.len(), extra.len()] {
        out.extend(u16::try_from(len).unwrap().to_le_bytes());
    }
    extra
}

/// The end records, those of zip64 where there are too many members.
fn end(out: &mut Vec<u8>, members: u64, start: u64, size: u64) {
    let short = u16::try_from(members)
        .ok()
        .filter(|short| *short < u16::MAX);
    if short.is_none() {
        let at = out.len() as u64;
        out.extend(b"PK\x06\x06");
        out.extend(44_u64.to_le_bytes());
        out.extend([0x2d, 0, 0x2d, 0]);
        out.extend([0; 8]);
        for value in [members, members, size, start] {
            out.extend(value.to_le_bytes());
        }
        out.extend(b"PK\x06\x07\0\0\0\0");
        out.extend(at.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
    }
    let count = short.unwrap_or(u16::MAX);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(u32::try_from(size).unwrap().to_le_bytes());
    out.extend(u32::try_from(start).unwrap().to_le_bytes());
    out.extend([0; 2]);
}

/// `content` as a raw DEFLATE stream.
pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// `chunk` again and again as one raw DEFLATE stream, with its CRC-32. Packed once: every piece ends at a
/// byte and refers to nothing before it.
pub(crate) fn deflate_again(chunk: &[u8], times: u64) -> (Vec<u8>, u32) {
    let mut packer = flate2::Compress::new(flate2::Compression::best(), false);
    let mut piece = Vec::with_capacity(chunk.len() + 1024);
    packer
        .compress_vec(chunk, &mut piece, flate2::FlushCompress::Full)
        .unwrap();
    assert_eq!(packer.total_in(), chunk.len() as u64);
    let mut out = Vec::with_capacity(piece.len() * usize::try_from(times).unwrap() + 16);
    let mut crc = crc32fast::Hasher::new();
    let mut one = crc32fast::Hasher::new();
    one.update(chunk);
    for _ in 0..times {
        out.extend(&piece);
        crc.combine(&one);
    }
    // an empty last block
    out.extend([0x03, 0x00]);
    (out, crc.finalize())
}
