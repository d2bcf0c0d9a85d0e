//! Limits of a run, and the shared budget that enforces them.
//!
//! Sizes in archives are claims of whoever made the archive. Every reader of untrusted bytes goes
//! through [`Metered`] or [`read_capped`]; reaching a limit is reported by whoever asked, never silent.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

/// Upper bounds of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Unpacked bytes over all inputs of a run.
    pub unpacked_bytes: u64,
    /// Members of one archive, or files of one directory tree.
    pub members: u64,
    /// Unpacked to packed bytes of one member, judged beyond [`Limits::RATIO_FREE_BYTES`].
    pub ratio: u64,
    /// Archives inside archives.
    pub depth: u32,
    /// Bytes of one metadata file (`METADATA`, `RECORD`, `WHEEL`).
    pub metadata_bytes: u64,
    /// Bytes of one archive inside an archive, which must be spooled to be read.
    pub spool_bytes: u64,
    /// Bytes that the names of kernels take over all inputs of a run, where they are asked for.
    pub kernel_name_bytes: u64,
}

impl Limits {
    /// Unpacked bytes of a member up to which its compression ratio is nobody's business.
    pub const RATIO_FREE_BYTES: u64 = 64 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            unpacked_bytes: 1 << 40,
            members: 1_000_000,
            ratio: 300,
            depth: 6,
            metadata_bytes: 64 << 20,
            spool_bytes: 8 << 30,
            kernel_name_bytes: 256 << 20,
        }
    }
}

/// Counters of a run, shared by its threads.
#[derive(Debug, Default)]
pub struct Budget {
    limits: Limits,
    unpacked: AtomicU64,
}

impl Budget {
    /// A fresh budget within `limits`.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            unpacked: AtomicU64::new(0),
        }
    }

    /// The limits it enforces.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    fn spend(&self, bytes: u64) -> Result<(), LimitHit> {
        let before = self.unpacked.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.limits.unpacked_bytes {
            return Err(LimitHit::Unpacked(self.limits.unpacked_bytes));
        }
        Ok(())
    }
}

/// A limit that was reached. Travels inside [`io::Error`]; see [`LimitHit::of`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitHit {
    /// The run unpacked too much.
    #[error("more than {0} bytes unpacked in this run (`--max-unpacked`)")]
    Unpacked(u64),
    /// A member unpacks to suspiciously much.
    #[error("unpacks to more than {0} times its packed size (`--max-ratio`)")]
    Ratio(u64),
    /// An archive has too many members, or a directory tree too many files.
    #[error("more than {0} members (`--max-members`)")]
    Members(u64),
    /// A metadata file is too long.
    #[error("more than {0} bytes of metadata in one file (`--max-metadata`)")]
    Metadata(u64),
    /// An archive inside an archive is too large.
    #[error("an archive inside an archive has more than {0} bytes (`--max-spool`)")]
    Spool(u64),
    /// Archives lie in archives too deep.
    #[error("more than {0} archives inside each other (`--max-depth`)")]
    Depth(u32),
    /// The names of kernels take too much.
    #[error("the names of kernels take more than {0} bytes (`--max-kernel-names`)")]
    KernelNames(u64),
}

impl LimitHit {
    /// The limit behind an I/O error, where it is one.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }
}

/// A reader of unpacked bytes that spends the budget and watches the compression ratio.
#[derive(Debug)]
pub struct Metered<'a, R> {
    inner: R,
    budget: &'a Budget,
    packed: u64,
    unpacked: u64,
}

impl<'a, R> Metered<'a, R> {
    /// Meters `inner`, which unpacks `packed` bytes.
    pub fn new(inner: R, budget: &'a Budget, packed: u64) -> Self {
        Self {
            inner,
            budget,
            packed,
            unpacked: 0,
        }
    }

    /// Bytes unpacked so far.
    pub fn unpacked(&self) -> u64 {
        self.unpacked
    }

    /// The reader that is metered.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.unpacked += n as u64;
        self.budget.spend(n as u64).map_err(io::Error::other)?;
        let ratio = self.budget.limits.ratio;
        if self.unpacked > Limits::RATIO_FREE_BYTES && self.unpacked / ratio.max(1) > self.packed {
            return Err(io::Error::other(LimitHit::Ratio(ratio)));
        }
        Ok(n)
    }
}

/// Reads at most `cap` bytes; the flag says whether there was more.
pub fn read_capped(reader: impl Read, cap: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "this is the one bounded place")]
    reader.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    let more = bytes.len() > cap;
    bytes.truncate(cap);
    Ok((bytes, more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_capped_says_when_there_was_more() {
        assert_eq!(
            read_capped(&b"abc"[..], 3).unwrap(),
            (b"abc".to_vec(), false)
        );
        assert_eq!(
            read_capped(&b"abcd"[..], 3).unwrap(),
            (b"abc".to_vec(), true)
        );
        assert_eq!(read_capped(&b""[..], 0).unwrap(), (Vec::new(), false));
    }

    #[test]
    fn stops_at_the_budget_of_the_run() {
        let budget = Budget::new(Limits {
            unpacked_bytes: 10,
            ..Limits::default()
        });
        assert!(io::copy(&mut Metered::new(&[0; 8][..], &budget, 8), &mut io::sink()).is_ok());
        let error =
            io::copy(&mut Metered::new(&[0; 8][..], &budget, 8), &mut io::sink()).unwrap_err();
        assert_eq!(LimitHit::of(&error), Some(LimitHit::Unpacked(10)));
    }

    #[test]
    fn judges_the_ratio_only_of_large_members() {
        let budget = Budget::default();
        let small = io::repeat(0).take(Limits::RATIO_FREE_BYTES);
        assert!(io::copy(&mut Metered::new(small, &budget, 1), &mut io::sink()).is_ok());
        let bomb = io::repeat(0).take(1 << 40);
        let error = io::copy(&mut Metered::new(bomb, &budget, 1000), &mut io::sink()).unwrap_err();
        assert!(matches!(LimitHit::of(&error), Some(LimitHit::Ratio(_))));
    }
}
