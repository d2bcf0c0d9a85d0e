//! The few bytes around the place of an archive that is looked at.
//!
//! Local headers and data descriptors are read in the order of the file, one small piece after the
//! other: keeping the last piece saves two of three system calls.

use std::cell::RefCell;
use std::io;

use rawzip::ReaderAt;

use crate::archive::SharedBytes;

/// Positioned reads that remember the last piece.
#[derive(Debug)]
pub(super) struct Window<'a> {
    bytes: &'a SharedBytes,
    held: RefCell<Held>,
}

#[derive(Debug, Default)]
struct Held {
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> Window<'a> {
    /// A local header with an ordinary name and the descriptor before it.
    const PIECE: usize = 512;

    pub(super) fn new(bytes: &'a SharedBytes) -> Self {
        Self {
            bytes,
            held: RefCell::default(),
        }
    }

    /// The bytes that are looked at.
    pub(super) fn bytes(&self) -> &'a SharedBytes {
        self.bytes
    }

    /// `N` bytes at `offset`, or fewer where the archive ends.
    pub(super) fn up_to<const N: usize>(&self, offset: u64) -> io::Result<Vec<u8>> {
        let mut buf = vec![0; N];
        let mut filled = 0;
        while let Some(rest) = buf.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read_at(rest, offset.saturating_add(filled as u64))? {
                0 => break,
                n => filled += n,
            }
        }
        buf.truncate(filled);
        Ok(buf)
    }
}

impl ReaderAt for Window<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if buf.len() >= Self::PIECE {
            return self.bytes.read_at(buf, offset);
        }
        let mut held = self.held.borrow_mut();
        let skip = offset
            .checked_sub(held.start)
            .and_then(|skip| usize::try_from(skip).ok())
            .filter(|skip| skip.saturating_add(buf.len()) <= held.bytes.len());
        let skip = if let Some(skip) = skip {
            skip
        } else {
            held.start = offset;
            held.bytes.resize(Self::PIECE, 0);
            let read = self.bytes.read_at(&mut held.bytes, offset);
            held.bytes.truncate(*read.as_ref().unwrap_or(&0));
            read?;
            0
        };
        io::Read::read(&mut held.bytes.get(skip..).unwrap_or_default(), buf)
    }
}
