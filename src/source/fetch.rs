//! What does not lie on this machine, as those who need it ask for it.
//!
//! Knows nothing of HTTP, so that lock files can be read without it.

use std::fmt;

use super::lock::{Candidate, PickedFile};
use crate::archive::SharedBytes;
use crate::limits::Budget;
use crate::{Error, Locator, Problem};

/// Files at addresses, and lists of files of package indexes.
pub trait Fetch: fmt::Debug + Send + Sync {
    /// The file at the address of `file`, called `at` in problems.
    ///
    /// # Errors
    ///
    /// Why it cannot be had.
    fn open(&self, file: &PickedFile, at: &Locator, budget: &Budget) -> Result<Fetched, Problem>;

    /// What there is of the package called `name`: at the index whose address the lock file names, else at those
    /// that are configured.
    ///
    /// # Errors
    ///
    /// No index, or one that does not answer.
    fn candidates(&self, name: &str, index: Option<&str>) -> Result<Vec<Candidate>, Error>;
}

/// A file at an address.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fetched {
    /// Its bytes, which may be fetched as they are read.
    pub bytes: SharedBytes,
    /// Whether all of them were read, and have the hash that was expected.
    pub verified: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

impl Fetched {
    /// A file whose bytes are fetched as they are read.
    pub fn new(bytes: SharedBytes) -> Self {
        Self {
            bytes,
            verified: false,
            problems: Vec::new(),
        }
    }
}
