//! Metadata of packages that a layer holds, kept packed until it is known which of it is left in an image.
//!
//! It is text that says much the same again and again: lists of paths, which pack to a tenth.

use std::collections::BTreeMap;
use std::io;

/// Packed bytes that are kept of a layer.
const PACKED_MAX: usize = 64 << 20;

/// Files by their entries.
#[derive(Debug, Default)]
pub(in crate::inventory) struct Kept {
    files: BTreeMap<usize, Packed>,
    packed: usize,
}

#[derive(Debug)]
struct Packed {
    bytes: Vec<u8>,
    len: usize,
}

impl Kept {
    /// Keeps a file; not where that would be too much.
    pub(super) fn add(&mut self, entry: usize, bytes: &[u8]) -> io::Result<bool> {
        let packed = zstd::bulk::compress(bytes, 1)?;
        self.packed += packed.len();
        if self.packed > PACKED_MAX {
            return Ok(false);
        }
        let file = Packed {
            bytes: packed,
            len: bytes.len(),
        };
        self.files.insert(entry, file);
        Ok(true)
    }

    /// The entries of the files, ascending.
    pub(in crate::inventory) fn entries(&self) -> impl Iterator<Item = usize> {
        self.files.keys().copied()
    }

    /// The bytes of a file.
    pub(in crate::inventory) fn read(&self, entry: usize) -> Option<Vec<u8>> {
        let file = self.files.get(&entry)?;
        zstd::bulk::decompress(&file.bytes, file.len).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_it_was_given() {
        let mut kept = Kept::default();
        let record = b"torch/lib/libtorch.so,sha256=x,1\n".repeat(10_000);
        assert!(kept.add(7, &record).unwrap());
        assert!(kept.add(3, b"").unwrap());
        assert_eq!(kept.read(7).unwrap(), record);
        assert_eq!(kept.read(3).unwrap(), b"");
        assert_eq!(kept.read(4), None);
        assert_eq!(kept.entries().collect::<Vec<_>>(), [3, 7]);
        assert!(kept.packed < record.len() / 10);
    }
}
