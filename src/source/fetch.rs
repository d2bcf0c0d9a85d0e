//! What does not lie on this machine, as those who need it ask for it.
//!
//! Knows nothing of HTTP, so that lock files can be read without it.

use std::fmt;
use std::sync::Arc;

use super::lock::{Candidate, PickedFile};
use crate::archive::SharedBytes;
use crate::limits::Limits;
use crate::{Error, Locator, Problem};

/// Files at addresses, and lists of files of package indexes.
pub trait Fetch: fmt::Debug + Send + Sync {
    /// The file at the address of `file`.
    ///
    /// # Errors
    ///
    /// Why it cannot be had.
    fn open(&self, file: &PickedFile, limits: &Limits) -> Result<Arc<dyn Fetched>, Error>;

    /// What there is of the package called `name`: at the index whose address the lock file names, else at those
    /// that are configured.
    ///
    /// # Errors
    ///
    /// No index, or one that does not answer.
    fn candidates(&self, name: &str, index: Option<&str>) -> Result<Vec<Candidate>, Error>;
}

/// A file at an address.
pub trait Fetched: fmt::Debug + Send + Sync {
    /// Its bytes, which may be fetched as they are read.
    fn bytes(&self) -> SharedBytes;

    /// Bytes of it that were received so far.
    fn received(&self) -> u64;

    /// Whether all of it was read by now, and has the hash that was expected.
    fn is_verified(&self) -> bool;

    /// What is wrong with it as a whole, as far as it was read by now.
    fn problem(&self, at: &Locator) -> Option<Problem>;
}
