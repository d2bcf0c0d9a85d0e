//! Fatbins built in code, after FORMAT.md §3 to §6.
//!
//! `fatbin(&[Entry::cubin("sm_90a", &cubin), Entry::ptx("compute_90", "8.4").zstd()])` is the usual call.
//! Damage is done by the tests themselves, on the bytes: an entry begins at 16 and its fields are at the
//! offsets of FORMAT.md §4.

use smgate::cuda::{SmTarget, Suffix};

use super::cubin::Cubin;

/// Bytes of a fatbin header.
pub(crate) const HEADER: usize = 16;
/// Bytes of the fixed part of an entry header.
pub(crate) const ENTRY: usize = 64;

const FLAG_LINUX_64: u64 = 0x11;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
const FLAG_COMPAT: u64 = 0x100_0000;
const KIND_CONCAT: u16 = 0x100;

/// One entry.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) kind: u16,
    pub(crate) arch: u32,
    pub(crate) flags: u64,
    /// Major and minor, as cuobjdump prints them.
    pub(crate) version: (u16, u16),
    /// As stored, without padding.
    pub(crate) payload: Vec<u8>,
    /// Bytes of the unpacked payload; 0 where it is stored as it is.
    pub(crate) unpacked: u64,
    pub(crate) identifier: Vec<u8>,
    pub(crate) options: Vec<u8>,
    /// The copy of `.nv.compat`, in the place of options.
    pub(crate) compat: Option<Vec<u8>>,
    /// The table of a concatenated entry, in the place of identifier and options.
    table: Option<Vec<u8>>,
}

impl Entry {
    fn new(kind: u16, target: &str, version: (u16, u16), payload: Vec<u8>) -> Self {
        let target: SmTarget = target.parse().unwrap();
        let suffix = match target.suffix {
            Suffix::None => 0,
            Suffix::Arch => 0x10_0000,
            Suffix::Family => 0x20_0000,
        };
        Self {
            kind,
            arch: target.cc.number().into(),
            flags: FLAG_LINUX_64 | suffix,
            version,
            payload,
            unpacked: 0,
            identifier: Vec::new(),
            options: Vec::new(),
            compat: None,
            table: None,
        }
    }

    /// A cubin, filed under `target`.
    pub(crate) fn cubin(target: &str, cubin: &Cubin) -> Self {
        let mut entry = Self::new(2, target, cubin.entry_version(), cubin.build());
        if entry.arch >= 100 {
            entry.compat = cubin.compat();
        }
        entry
    }

    /// A cubin of `toolkit` for `target`, filed under the same.
    pub(crate) fn plain_cubin(target: &str, toolkit: (u32, u32)) -> Self {
        Self::cubin(target, &Cubin::new(target, toolkit))
    }

    /// PTX for `target` (`compute_90a`) of version `isa` (`8.4`), filed under the same.
    pub(crate) fn ptx(target: &str, isa: &str) -> Self {
        let (major, minor) = isa.split_once('.').unwrap();
        let version = (major.parse().unwrap(), minor.parse().unwrap());
        let mut text = ptx_text(target, isa).into_bytes();
        text.push(0);
        Self::new(1, target, version, text)
    }

    /// LTO-IR for `target`.
    pub(crate) fn lto_ir(target: &str) -> Self {
        let payload = [0xed, 0x43, 0x4e, 0x7f, 1, 67, 0, 0];
        Self::new(8, target, (1, 67), payload.to_vec())
    }

    /// One compressed entry of several images, after FORMAT.md §5.
    pub(crate) fn concat(parts: &[Entry]) -> Self {
        let mut blob = Vec::new();
        let mut table = Vec::new();
        for part in parts {
            let offset = u32::try_from(blob.len()).unwrap();
            let mut image = part.payload.clone();
            image.resize(image.len().next_multiple_of(8), 0);
            table.extend(part.sub_header(offset, image.len() as u64));
            blob.extend(image);
        }
        Self::concat_of(parts.len(), &table, &blob)
    }

    /// The same from the sub-headers and the blob, which need not fit each other.
    pub(crate) fn concat_of(count: usize, sub_headers: &[u8], blob: &[u8]) -> Self {
        let mut table = Vec::new();
        for word in [count, 8 + sub_headers.len()] {
            table.extend(u32::try_from(word).unwrap().to_le_bytes());
        }
        table.extend(sub_headers);
        let mut entry = Self::new(KIND_CONCAT, "sm_10", (0, 1), blob.to_vec());
        entry.arch = 0;
        entry.table = Some(table);
        entry.zstd()
    }

    /// The header of this image inside a concatenated entry.
    pub(crate) fn sub_header(&self, offset: u32, len: u64) -> Vec<u8> {
        let mut header = self.header();
        let end = match (&self.compat, self.options.len(), self.identifier.len()) {
            (Some(compat), ..) => self.extension_at() + 8 + compat.len() + 2,
            (None, 0, 0) => ENTRY,
            (None, 0, id) => ENTRY + id + 1,
            (None, options, _) => self.extension_at() + 8 + options + 1,
        };
        header.truncate(end.next_multiple_of(8));
        header[4..8].copy_from_slice(&offset.to_le_bytes());
        header[8..16].copy_from_slice(&len.to_le_bytes());
        header
    }

    /// Stores the payload as one zstd frame.
    pub(crate) fn zstd(mut self) -> Self {
        self.unpacked = self.payload.len() as u64;
        self.payload = zstd::bulk::compress(&self.payload, 3).unwrap();
        self.flags |= FLAG_ZSTD;
        self
    }

    /// Stores the payload as one LZ4 block, all of it literals.
    pub(crate) fn lz4(mut self) -> Self {
        self.unpacked = self.payload.len() as u64;
        let (len, mut block) = (self.payload.len(), Vec::new());
        block.push(u8::try_from(len.min(15) << 4).unwrap());
        if let Some(mut more) = len.checked_sub(15) {
            while more >= 255 {
                block.push(255);
                more -= 255;
            }
            block.push(u8::try_from(more).unwrap());
        }
        block.extend(&self.payload);
        self.payload = block;
        self.flags |= FLAG_LZ4;
        self
    }

    /// Names it.
    pub(crate) fn identifier(mut self, identifier: impl Into<Vec<u8>>) -> Self {
        self.identifier = identifier.into();
        self
    }

    /// Gives it a text of options.
    pub(crate) fn options(mut self, options: impl Into<Vec<u8>>) -> Self {
        self.options = options.into();
        self
    }

    /// Files it under another target than its payload says.
    pub(crate) fn filed_under(mut self, target: &str) -> Self {
        let other = Self::new(self.kind, target, self.version, Vec::new());
        let suffixes = 0x30_0000;
        self.flags = self.flags & !suffixes | other.flags & suffixes;
        self.arch = other.arch;
        self
    }

    fn extension_at(&self) -> usize {
        match self.identifier.len() {
            0 => ENTRY,
            id => ENTRY + (id + 1).next_multiple_of(8),
        }
    }

    fn header(&self) -> Vec<u8> {
        let mut tail = Vec::new();
        let (mut extension, mut id_at, mut flags) = (0, 0, self.flags);
        if let Some(table) = &self.table {
            extension = ENTRY;
            tail.extend(table);
        } else {
            if !self.identifier.is_empty() {
                id_at = ENTRY;
                tail.extend(&self.identifier);
                tail.push(0);
                tail.resize(tail.len().next_multiple_of(8), 0);
            }
            let text = self.compat.as_deref().map(|compat| (compat, 1));
            if let Some((bytes, before)) = text
                .or(Some((&self.options[..], 0)))
                .filter(|(b, _)| !b.is_empty())
            {
                extension = self.extension_at();
                for word in [extension + 8, bytes.len()] {
                    tail.extend(u32::try_from(word).unwrap().to_le_bytes());
                }
                tail.resize(tail.len() + before, 0);
                tail.extend(bytes);
                tail.push(0);
                flags |= if before > 0 { FLAG_COMPAT } else { 0 };
            }
        }
        tail.resize(tail.len().next_multiple_of(8), 0);
        let word = |n: usize| u32::try_from(n).unwrap().to_le_bytes();
        let compressed = if self.unpacked > 0 {
            self.payload.len()
        } else {
            0
        };
        let mut header = Vec::new();
        header.extend(self.kind.to_le_bytes());
        header.extend([1, 1]);
        header.extend(word(ENTRY + tail.len()));
        header.extend((self.payload.len().next_multiple_of(8) as u64).to_le_bytes());
        header.extend(word(compressed));
        header.extend(word(extension));
        header.extend(self.version.1.to_le_bytes());
        header.extend(self.version.0.to_le_bytes());
        header.extend(self.arch.to_le_bytes());
        header.extend(word(id_at));
        header.extend(word(self.identifier.len()));
        header.extend(flags.to_le_bytes());
        header.extend([0; 8]);
        header.extend(self.unpacked.to_le_bytes());
        header.extend(tail);
        header
    }

    /// Header and padded payload.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut bytes = self.header();
        bytes.extend(&self.payload);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }
}

/// One fatbin with these entries.
pub(crate) fn fatbin(entries: &[Entry]) -> Vec<u8> {
    let body: Vec<u8> = entries.iter().flat_map(Entry::build).collect();
    fatbin_of(&body)
}

/// A fatbin header before `body`.
pub(crate) fn fatbin_of(body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// The text of a PTX module with one kernel.
pub(crate) fn ptx_text(target: &str, isa: &str) -> String {
    let target = target.replace("compute_", "sm_");
    format!(
        ".version {isa}\n.target {target}\n.address_size 64\n\n.visible .entry k()\n{{\nret;\n}}\n"
    )
}
