//! A buffered reader from one byte on.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use super::SharedBytes;
use super::ranges::Stream;
use super::shared::shorter;

/// A buffered reader of [`SharedBytes`]. Reads as large as its buffer go straight to the caller's,
/// and bytes in memory are not copied at all.
#[derive(Debug)]
pub struct Cursor {
    bytes: SharedBytes,
    position: u64,
    /// The last bytes that were read and are not in memory, and where they began.
    window: Vec<u8>,
    window_start: u64,
    /// What is being fetched.
    stream: Stream,
}

impl Cursor {
    /// Bytes read from a file at a time: beyond 128 KiB inflate gets no faster.
    const WINDOW: usize = 128 << 10;

    pub(super) fn new(bytes: SharedBytes) -> Self {
        Self {
            bytes,
            position: 0,
            window: Vec::new(),
            window_start: 0,
            stream: Stream::default(),
        }
    }

    /// The position, counted from the first byte.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Ends the bytes at `len`, or where they end; what is fetched goes on as it was asked for, so that the end can
    /// be moved back out.
    pub(super) fn end_at(&mut self, whole: &SharedBytes, len: u64) {
        self.bytes = whole.slice(0..len);
        let seen = self.bytes.len().saturating_sub(self.window_start);
        self.window.truncate(shorter(self.window.len(), seen));
    }

    /// What is left of the window at the position.
    fn buffered(&self) -> &[u8] {
        self.position
            .checked_sub(self.window_start)
            .and_then(|skip| usize::try_from(skip).ok())
            .and_then(|skip| self.window.get(skip..))
            .unwrap_or_default()
    }
}

impl BufRead for Cursor {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes.in_memory(0).is_some() {
            return Ok(self.bytes.in_memory(self.position).unwrap_or_default());
        }
        if self.buffered().is_empty() {
            let left = self.bytes.len().saturating_sub(self.position);
            self.window.resize(shorter(Self::WINDOW, left), 0);
            self.window_start = self.position;
            let read = match self.bytes.fetched_from() {
                None => self.bytes.read_at(&mut self.window, self.position),
                Some((fetched, start)) => {
                    let range = start + self.position..start + self.bytes.len();
                    self.stream.read(fetched, range, &mut self.window)
                }
            };
            self.window.truncate(*read.as_ref().unwrap_or(&0));
            read?;
        }
        Ok(self.buffered())
    }

    fn consume(&mut self, amount: usize) {
        self.position = self.position.saturating_add(amount as u64);
    }
}

impl Read for Cursor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = if !self.bytes.is_fetched()
            && self.buffered().is_empty()
            && buf.len() >= Self::WINDOW
        {
            self.bytes.read_at(buf, self.position)?
        } else {
            self.fill_buf()?.read(buf)?
        };
        self.consume(n);
        Ok(n)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(delta) => self.position.checked_add_signed(delta),
            SeekFrom::End(delta) => self.bytes.len().checked_add_signed(delta),
        };
        self.position = target.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "seek to before the first byte")
        })?;
        Ok(self.position)
    }
}
