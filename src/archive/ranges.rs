//! Bytes that lie elsewhere and are fetched by ranges: what is held of them, and how many were received.
//!
//! Where they lie and how they come is the business of whoever implements [`Ranges`]. Here is only decided how much is
//! asked for at a time: the whole of what a reader is going to read forward, and a window around a single read.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::shared::shorter;
use crate::limits::read_capped;

/// Bytes that can be asked for by ranges.
pub trait Ranges: fmt::Debug + Send + Sync {
    /// How many there are.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A reader of exactly `range`: fewer bytes are an error of the reader, which best carries a [`super::Fault`].
    ///
    /// # Errors
    ///
    /// Why the range is not to be had.
    fn open(&self, range: Range<u64>) -> io::Result<Box<dyn Read + Send>>;
}

/// What is fetched around a single read.
const WINDOW: u64 = 64 << 10;
/// How far before what is held a single read fetches all that lies between: there is the directory of an archive, of
/// which the end is held.
const UP_TO_HELD: u64 = 4 << 20;
/// Bytes that are read and passed over before another range is asked for.
const PASSED_OVER: u64 = 64 << 10;

/// Bytes that are fetched by ranges, and what is held of them.
#[derive(Debug)]
pub(super) struct Fetched {
    ranges: Box<dyn Ranges>,
    held: Mutex<Held>,
    received: AtomicU64,
}

#[derive(Debug, Default)]
struct Held {
    /// The end of the bytes, and what readers asked to hold.
    blocks: Vec<Arc<Block>>,
    /// What the last single read fetched.
    window: Option<Arc<Block>>,
}

#[derive(Debug)]
struct Block {
    start: u64,
    bytes: Vec<u8>,
}

impl Block {
    /// What it has from `at`.
    fn from(&self, at: u64) -> Option<&[u8]> {
        let skip = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(skip..).filter(|bytes| !bytes.is_empty())
    }
}

/// A part of [`super::SharedBytes`] that is held in memory until this is dropped.
#[derive(Debug)]
pub struct Hold {
    fetched: Arc<Fetched>,
    block: Arc<Block>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut held = self.fetched.lock();
        held.window = None;
        held.blocks.retain(|block| !Arc::ptr_eq(block, &self.block));
    }
}

impl Fetched {
    pub(super) fn new(ranges: Box<dyn Ranges>, tail: Vec<u8>) -> Self {
        let received = tail.len() as u64;
        let block = Block {
            start: ranges.len().saturating_sub(received),
            bytes: tail,
        };
        Self {
            ranges,
            held: Mutex::new(Held {
                blocks: vec![Arc::new(block)],
                window: None,
            }),
            received: AtomicU64::new(received),
        }
    }

    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads once, from `at`.
    pub(super) fn read_at(&self, buf: &mut [u8], at: u64) -> io::Result<usize> {
        let n = self.copy_held(buf, at);
        if n > 0 || buf.is_empty() {
            return Ok(n);
        }
        let next = self.held_after(at);
        let end = if next.saturating_sub(at) <= UP_TO_HELD {
            next
        } else {
            at.saturating_add((buf.len() as u64).max(WINDOW)).min(next)
        };
        let block = Arc::new(self.fetch(at..end)?);
        let n = block.from(at).unwrap_or_default().read(buf)?;
        self.lock().window = Some(block);
        Ok(n)
    }

    /// Fetches what of `range` is not held, and holds it.
    pub(super) fn hold(fetched: &Arc<Self>, range: Range<u64>) -> io::Result<Hold> {
        let mut block = fetched.begin_block(range.start);
        if let Some(block) = &mut block {
            let at = block.start + block.bytes.len() as u64;
            let end = range.end.min(fetched.held_after(at));
            if at < end {
                block.bytes.append(&mut fetched.fetch(at..end)?.bytes);
            }
        }
        let block = Arc::new(block.unwrap_or_else(|| Block {
            start: range.start,
            bytes: Vec::new(),
        }));
        fetched.lock().blocks.push(Arc::clone(&block));
        Ok(Hold {
            fetched: Arc::clone(fetched),
            block,
        })
    }

    /// A block at `start` with what the last single read has of it; nothing where a block holds that byte already.
    fn begin_block(&self, start: u64) -> Option<Block> {
        let held = self.lock();
        if held.blocks.iter().any(|block| block.from(start).is_some()) {
            return None;
        }
        let window = held.window.as_ref().and_then(|block| block.from(start));
        Some(Block {
            start,
            bytes: window.unwrap_or_default().to_vec(),
        })
    }

    /// Where bytes begin that are held already, from `at` on.
    fn held_after(&self, at: u64) -> u64 {
        let held = self.lock();
        let starts = held.blocks.iter().map(|block| block.start);
        let after = starts.filter(|start| *start >= at).min();
        after.unwrap_or(u64::MAX).min(self.ranges.len())
    }

    fn fetch(&self, range: Range<u64>) -> io::Result<Block> {
        let len = range.end.saturating_sub(range.start);
        let (bytes, _) = read_capped(self.ranges.open(range.clone())?.take(len), len)?;
        self.received
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if bytes.len() as u64 != len {
            return Err(cut_short());
        }
        Ok(Block {
            start: range.start,
            bytes,
        })
    }

    /// Copies what is held from `at`.
    fn copy_held(&self, buf: &mut [u8], at: u64) -> usize {
        let held = self.lock();
        let mut blocks = held.blocks.iter().chain(&held.window);
        let found = blocks.find_map(|block| block.from(at));
        let mut found = found.unwrap_or_default();
        // memory is always there to be read
        found.read(buf).unwrap_or_default()
    }
}

/// A range that is being read forward.
#[derive(Default)]
pub(super) struct Stream {
    /// Behind a lock that is never taken: readers of archives may be looked at from several threads.
    open: Option<Mutex<Box<dyn Read + Send>>>,
    at: u64,
}

impl Stream {
    /// The next bytes of `range`. What is asked for is the whole of it, once; a little that was left out in between is
    /// passed over.
    pub(super) fn read(
        &mut self,
        fetched: &Fetched,
        range: Range<u64>,
        buf: &mut [u8],
    ) -> io::Result<usize> {
        let left = range.end.saturating_sub(range.start);
        let most = shorter(buf.len(), left);
        let Some(buf) = buf.get_mut(..most).filter(|buf| !buf.is_empty()) else {
            return Ok(0);
        };
        // who reads on reads all of what was asked for, of which the end may be held
        let reads_on = self.open.is_some() && self.at == range.start;
        if !reads_on {
            let n = fetched.copy_held(buf, range.start);
            if n > 0 {
                return Ok(n);
            }
        }
        let mut open = match self.at_hand(range.start)? {
            Some(open) => open,
            None => fetched.ranges.open(range.clone())?,
        };
        let n = open.read(buf)?;
        if n == 0 {
            return Err(cut_short());
        }
        fetched.received.fetch_add(n as u64, Ordering::Relaxed);
        self.at = range.start + n as u64;
        self.open = Some(Mutex::new(open));
        Ok(n)
    }

    /// What is open, where it gives `to` next.
    fn at_hand(&mut self, to: u64) -> io::Result<Option<Box<dyn Read + Send>>> {
        let skip = to.checked_sub(self.at).filter(|skip| *skip <= PASSED_OVER);
        let (Some(open), Some(skip)) = (self.open.take(), skip) else {
            return Ok(None);
        };
        let mut open = open.into_inner().unwrap_or_else(PoisonError::into_inner);
        let passed = io::copy(&mut open.by_ref().take(skip), &mut io::sink())?;
        Ok((passed == skip).then_some(open))
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("open", &self.open.is_some())
            .field("at", &self.at)
            .finish()
    }
}

fn cut_short() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "fewer bytes came than were asked for",
    )
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use crate::archive::SharedBytes;

    /// Ranges that were asked for, first byte and end.
    pub(crate) type Asked = Arc<Mutex<Vec<(u64, u64)>>>;

    /// Ranges of a block of memory, and which were asked for.
    #[derive(Debug, Default)]
    pub(crate) struct Logged {
        bytes: Vec<u8>,
        asked: Asked,
    }

    impl Ranges for Logged {
        fn len(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn open(&self, range: Range<u64>) -> io::Result<Box<dyn Read + Send>> {
            self.asked.lock().unwrap().push((range.start, range.end));
            let [start, end] = [range.start, range.end].map(|at| usize::try_from(at).unwrap());
            let part = self.bytes.get(start..end).unwrap().to_vec();
            Ok(Box::new(io::Cursor::new(part)))
        }
    }

    /// Bytes that are fetched, of which the last `tail` are there, and the log of what is asked for.
    pub(crate) fn fetched(bytes: Vec<u8>, tail: usize) -> (SharedBytes, Asked) {
        let tail = bytes[bytes.len().saturating_sub(tail)..].to_vec();
        let ranges = Logged {
            bytes,
            asked: Arc::default(),
        };
        let asked = Arc::clone(&ranges.asked);
        (SharedBytes::from_ranges(Box::new(ranges), tail), asked)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, Seek as _, SeekFrom};

    use super::fixture::fetched;
    use super::*;

    fn pattern(len: usize) -> Vec<u8> {
        (0..=250).cycle().take(len).collect()
    }

    #[test]
    fn a_forward_reader_asks_once_for_all_of_its_slice() {
        let (bytes, asked) = fetched(pattern(900_000), 0);
        let slice = bytes.slice(1000..700_000);
        let (read, _) = read_capped(slice.cursor(), u64::MAX - 1).unwrap();
        assert_eq!(read, pattern(900_000)[1000..700_000]);
        assert_eq!(*asked.lock().unwrap(), [(1000, 700_000)]);
        assert_eq!(bytes.received(), 699_000);
    }

    #[test]
    fn the_end_is_there_and_single_reads_share_a_window() {
        const LEN: usize = 5_000_000;
        let (bytes, asked) = fetched(pattern(LEN), 1000);
        let mut buf = [0; 10];
        for at in [LEN - 10, LEN - 1000, 100, 5000, 65_000, LEN - 500] {
            assert_eq!(bytes.read_at(&mut buf, at as u64).unwrap(), 10);
            assert_eq!(buf, pattern(LEN)[at..at + 10], "{at}");
        }
        assert_eq!(*asked.lock().unwrap(), [(100, 65_636)]);
        // a short way before the end, all that lies between comes, and nothing twice
        let near = LEN as u64 - 2_000_000;
        assert_eq!(bytes.read_at(&mut buf, near).unwrap(), 10);
        assert_eq!(bytes.read_at(&mut buf, LEN as u64 - 1005).unwrap(), 5);
        let held = bytes.hold(near..LEN as u64).unwrap();
        assert_eq!(bytes.read_at(&mut buf, near + 70_000).unwrap(), 10);
        assert_eq!(asked.lock().unwrap()[1..], [(near, LEN as u64 - 1000)]);
        assert_eq!(bytes.received(), 1000 + 65_536 + 1_999_000);
        // who held it has no more use for it
        drop(held);
        assert_eq!(bytes.read_at(&mut buf, near).unwrap(), 10);
        assert_eq!(asked.lock().unwrap().len(), 3);
    }

    #[test]
    fn what_is_held_is_not_asked_for_again_until_it_is_dropped() {
        let (bytes, asked) = fetched(pattern(300_000), 1000);
        let held = bytes.hold(1000..201_000).unwrap();
        let part = bytes.slice(1500..200_000);
        assert_eq!(
            read_capped(part.cursor(), u64::MAX - 1).unwrap().0,
            pattern(300_000)[1500..200_000]
        );
        assert_eq!(*asked.lock().unwrap(), [(1000, 201_000)]);
        drop(held);
        read_capped(part.cursor(), u64::MAX - 1).unwrap();
        assert_eq!(*asked.lock().unwrap(), [(1000, 201_000), (1500, 200_000)]);
    }

    #[test]
    fn a_short_way_on_is_read_over_and_a_long_one_is_asked_for() {
        let (bytes, asked) = fetched(pattern(900_000), 0);
        let mut cursor = bytes.cursor();
        for at in [0, 150_000, 800_000, 10] {
            cursor.seek(SeekFrom::Start(at)).unwrap();
            let at = usize::try_from(at).unwrap();
            assert_eq!(cursor.fill_buf().unwrap()[0], pattern(900_000)[at]);
        }
        let asked = asked.lock().unwrap().clone();
        assert_eq!(asked, [(0, 900_000), (800_000, 900_000), (10, 900_000)]);
    }

    #[test]
    fn fewer_bytes_than_asked_for_are_an_error() {
        #[derive(Debug)]
        struct Short;
        impl Ranges for Short {
            fn len(&self) -> u64 {
                10
            }
            fn open(&self, _: Range<u64>) -> io::Result<Box<dyn Read + Send>> {
                Ok(Box::new(&b"abc"[..]))
            }
        }
        let bytes = crate::archive::SharedBytes::from_ranges(Box::new(Short), Vec::new());
        let errors = [
            read_capped(bytes.cursor(), 100).unwrap_err(),
            bytes.read_at(&mut [0; 4], 0).unwrap_err(),
            bytes.hold(0..9).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
