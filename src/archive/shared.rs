//! Bytes that many readers share: a range of an open file, a block of memory, or what is fetched by ranges.
//!
//! Responsible for positioned reads through `&self`, so that members of one archive decode on many
//! threads. Files are read with `pread` and its Windows twin, never mapped: a mapped file that
//! another process cuts short kills the reader.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rawzip::ReaderAt;

use super::Cursor;
use super::ranges::{Fetched, Hold, Ranges};

/// Bytes of a file, of memory, or of somewhere else. Cloning is cheap, and clones share the bytes.
#[derive(Debug, Clone)]
pub struct SharedBytes {
    store: Store,
    /// Which store of this process it is.
    serial: u64,
    start: u64,
    len: u64,
}

#[derive(Debug, Clone)]
enum Store {
    Memory(Arc<[u8]>),
    File(Arc<File>),
    Fetched(Arc<Fetched>),
}

impl SharedBytes {
    /// Opens a file for reading; its length is what the file system says now.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(File::open(path)?)
    }

    /// The bytes of an open file.
    pub fn from_file(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self {
            store: Store::File(Arc::new(file)),
            serial: next_serial(),
            start: 0,
            len,
        })
    }

    /// Bytes that are fetched by ranges, of which the last, `tail`, are there already.
    pub fn from_ranges(ranges: Box<dyn Ranges>, tail: Vec<u8>) -> Self {
        Self {
            serial: next_serial(),
            start: 0,
            len: ranges.len(),
            store: Store::Fetched(Arc::new(Fetched::new(ranges, tail))),
        }
    }

    /// Whether they are fetched by ranges: what is not needed is then better not read.
    pub fn is_fetched(&self) -> bool {
        matches!(self.store, Store::Fetched(_))
    }

    /// Bytes that readers were given so far out of what is fetched, the tail counted; the same for every run that
    /// reads the same.
    pub fn received(&self) -> u64 {
        self.fetched().map_or(0, Fetched::received)
    }

    /// Fetches a part of these bytes in one piece, and holds it in memory for as long as the answer lives. Bytes that
    /// are not fetched are where they are.
    ///
    /// # Errors
    ///
    /// What the source of the bytes says.
    pub fn hold(&self, range: Range<u64>) -> io::Result<Option<Hold>> {
        let Store::Fetched(fetched) = &self.store else {
            return Ok(None);
        };
        let part = self.slice(range);
        Fetched::hold(fetched, part.start..part.start + part.len).map(Some)
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads into `buf` from `offset`; 0 only at the end or for an empty `buf`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::UnexpectedEof`] when the file became shorter since it was opened.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let wanted = shorter(buf.len(), self.len.saturating_sub(offset));
        let Some(buf) = buf.get_mut(..wanted).filter(|buf| !buf.is_empty()) else {
            return Ok(0);
        };
        let at = self.start.saturating_add(offset);
        match &self.store {
            Store::Memory(bytes) => {
                let held = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
                let mut held = held.unwrap_or_default();
                held.read(buf)
            }
            Store::File(file) => loop {
                match positioned::read_at(file, buf, at) {
                    Ok(0) => return Err(cut_short()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => return result,
                }
            },
            Store::Fetched(fetched) => fetched.read_at(buf, at),
        }
    }

    /// A part of these bytes; what lies beyond their end is left out.
    #[must_use]
    pub fn slice(&self, range: Range<u64>) -> Self {
        let start = range.start.min(self.len);
        let end = range.end.clamp(start, self.len);
        Self {
            store: self.store.clone(),
            serial: self.serial,
            start: self.start + start,
            len: end - start,
        }
    }

    /// What tells these bytes from others of this process: equal for clones, and for equal parts of clones.
    pub fn id(&self) -> (u64, Range<u64>) {
        (self.serial, self.start..self.start + self.len)
    }

    /// A buffered reader from the first byte.
    pub fn cursor(&self) -> Cursor {
        Cursor::new(self.clone())
    }

    /// What is fetched, and where these bytes begin in it.
    pub(super) fn fetched_from(&self) -> Option<(&Fetched, u64)> {
        self.fetched().map(|fetched| (fetched, self.start))
    }

    fn fetched(&self) -> Option<&Fetched> {
        match &self.store {
            Store::Fetched(fetched) => Some(fetched),
            Store::Memory(_) | Store::File(_) => None,
        }
    }

    /// What a block of memory holds from `offset`; nothing where these bytes are not in one.
    pub(super) fn in_memory(&self, offset: u64) -> Option<&[u8]> {
        let Store::Memory(bytes) = &self.store else {
            return None;
        };
        let start = usize::try_from(self.start + offset.min(self.len)).ok()?;
        let end = usize::try_from(self.start + self.len).ok()?;
        bytes.get(start..end)
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            serial: next_serial(),
            start: 0,
            len: bytes.len() as u64,
            store: Store::Memory(bytes.into()),
        }
    }
}

impl ReaderAt for SharedBytes {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        Self::read_at(self, buf, offset)
    }
}

/// A number that no store of this process had before.
fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The shorter of a buffer's and a range's length.
pub(super) fn shorter(buffer: usize, range: u64) -> usize {
    usize::try_from(range).map_or(buffer, |range| range.min(buffer))
}

fn cut_short() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the file became shorter while it was read",
    )
}

/// Positioned reads of the two families of operating systems.
mod positioned {
    use std::fs::File;
    use std::io;

    #[cfg(unix)]
    pub(super) fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(file, buf, offset)
    }

    /// Moves the file's own position too, which nobody here looks at.
    #[cfg(windows)]
    pub(super) fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(file, buf, offset)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use super::*;
    use crate::archive::ranges::fixture::fetched;
    use crate::limits::read_capped;

    const LEN: usize = 300_000;

    fn pattern() -> Vec<u8> {
        (0..=250).cycle().take(LEN).collect()
    }

    fn all() -> [SharedBytes; 4] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&pattern()).unwrap();
        [
            SharedBytes::from(pattern()),
            SharedBytes::from_file(file).unwrap(),
            fetched(pattern(), 1000).0,
            fetched(pattern(), 0).0,
        ]
    }

    #[test]
    fn an_id_is_of_the_same_bytes_only() {
        let bytes = SharedBytes::from(vec![7; 10]);
        assert_eq!(bytes.clone().slice(2..5).id(), bytes.slice(2..5).id());
        assert_eq!(bytes.slice(1..9).slice(1..4).id(), bytes.slice(2..5).id());
        assert_ne!(bytes.slice(2..5).id(), bytes.slice(2..6).id());
        assert_ne!(bytes.id(), SharedBytes::from(vec![7; 10]).id());
    }

    #[test]
    fn all_stores_read_alike() {
        for bytes in all() {
            assert_eq!(bytes.len(), LEN as u64);
            let mut buf = [0; 4];
            assert_eq!(bytes.read_at(&mut buf, 1000).unwrap(), 4);
            assert_eq!(buf, pattern()[1000..1004]);
            assert_eq!(bytes.read_at(&mut buf, LEN as u64 - 2).unwrap(), 2);
            assert_eq!(bytes.read_at(&mut buf, LEN as u64).unwrap(), 0);
            assert_eq!(bytes.read_at(&mut buf, u64::MAX).unwrap(), 0);
            assert_eq!(
                read_capped(bytes.cursor(), u64::MAX - 1).unwrap(),
                (pattern(), false)
            );
        }
    }

    #[test]
    fn a_slice_ends_where_it_should() {
        for bytes in all() {
            let slice = bytes.slice(10..200_000).slice(5..20);
            assert_eq!(slice.len(), 15);
            let mut buf = [0; 64];
            assert_eq!(slice.read_at(&mut buf, 0).unwrap(), 15);
            assert_eq!(buf[..15], pattern()[15..30]);
            assert_eq!(
                read_capped(slice.cursor(), 100).unwrap().0,
                &pattern()[15..30]
            );
            assert_eq!(bytes.slice(u64::MAX - 1..u64::MAX).len(), 0);
            assert_eq!(bytes.slice(5..u64::MAX).len(), LEN as u64 - 5);
        }
    }

    #[test]
    fn seeks_within_and_without_the_window() {
        for bytes in all() {
            let mut cursor = bytes.cursor();
            let mut buf = [0; 3];
            for at in [0, 7, 299_990, 5, 131_070, 131_072] {
                assert_eq!(cursor.seek(SeekFrom::Start(at)).unwrap(), at);
                cursor.read_exact(&mut buf).unwrap();
                let at = usize::try_from(at).unwrap();
                assert_eq!(buf, pattern()[at..at + 3], "{at}");
            }
            assert_eq!(cursor.seek(SeekFrom::End(1)).unwrap(), LEN as u64 + 1);
            assert_eq!(cursor.read(&mut buf).unwrap(), 0);
            assert!(cursor.seek(SeekFrom::Current(-300_002)).is_err());
            assert_eq!(cursor.seek(SeekFrom::Current(-3)).unwrap(), LEN as u64 - 2);
        }
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error_not_an_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&pattern()).unwrap();
        let bytes = SharedBytes::open(file.path()).unwrap();
        file.as_file().set_len(100).unwrap();
        let error = read_capped(bytes.cursor(), u64::MAX - 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
