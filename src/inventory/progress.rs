//! How far a scan is, for whoever waits for it. Nothing here decides anything.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a running scan, which may be looked at from another thread at any time.
#[derive(Debug, Default)]
pub struct Progress {
    bytes: AtomicU64,
    bytes_total: AtomicU64,
    layers: AtomicU64,
    layers_total: AtomicU64,
    packages: AtomicU64,
    packages_total: AtomicU64,
}

/// What the counters said at one time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Bytes read: of layers and streams as they are stored, of members of wheels and of files as they are unpacked.
    pub bytes: u64,
    /// Bytes that are known to be there; streams of unknown length are not among them.
    pub bytes_total: u64,
    /// Layers that were read to their end.
    pub layers: u64,
    /// Layers that are known to be there.
    pub layers_total: u64,
    /// Files of lock files that were looked for.
    pub packages: u64,
    /// Files of lock files that are to be looked for.
    pub packages_total: u64,
}

impl Progress {
    /// What the counters say now.
    pub fn counts(&self) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            bytes: get(&self.bytes),
            bytes_total: get(&self.bytes_total),
            layers: get(&self.layers),
            layers_total: get(&self.layers_total),
            packages: get(&self.packages),
            packages_total: get(&self.packages_total),
        }
    }

    /// There are `bytes` more to read.
    pub(super) fn expect(&self, bytes: u64) {
        self.bytes_total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// There is one more layer to read.
    pub(super) fn expect_layer(&self) {
        self.layers_total.fetch_add(1, Ordering::Relaxed);
    }

    /// A layer was read.
    pub(super) fn layer_done(&self) {
        self.layers.fetch_add(1, Ordering::Relaxed);
    }

    /// There is one more file of a lock file to look for.
    pub(super) fn expect_package(&self) {
        self.packages_total.fetch_add(1, Ordering::Relaxed);
    }

    /// A file of a lock file was looked for.
    pub(super) fn package_done(&self) {
        self.packages.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// A reader whose bytes are counted.
pub(super) struct Counted<R> {
    inner: R,
    progress: Option<Arc<Progress>>,
}

impl<R> Counted<R> {
    pub(super) fn new(inner: R, progress: Option<&Arc<Progress>>) -> Self {
        Self {
            inner,
            progress: progress.cloned(),
        }
    }

    fn count(&self, bytes: usize) {
        if let Some(progress) = &self.progress {
            progress.read(bytes);
        }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buf)?;
        self.count(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.count(amount);
        self.inner.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_once_however_they_are_read() {
        let progress = Arc::new(Progress::default());
        let mut reader = Counted::new(&b"0123456789"[..], Some(&progress));
        reader.read_exact(&mut [0; 3]).unwrap();
        let there = reader.fill_buf().unwrap().len();
        assert_eq!((there, progress.counts().bytes), (7, 3));
        reader.consume(2);
        let (rest, _) = crate::limits::read_capped(reader, 100).unwrap();
        assert_eq!(
            (rest.as_slice(), progress.counts().bytes),
            (&b"56789"[..], 10)
        );
    }
}
