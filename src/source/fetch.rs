//! What does not lie on this machine, as those who need it ask for it.
//!
//! Knows nothing of HTTP, so that lock files can be read without it.

use std::fmt;

use super::lock::{Candidate, Lock, PickedFile};
use super::{Said, Source};
use crate::limits::Limits;
use crate::{Error, Locator};

/// Files at addresses, and lists of files of package indexes.
pub trait Fetch: fmt::Debug + Send + Sync {
    /// The file at the address of `file`, opened as what it is said to be; problems call it `at`.
    ///
    /// # Errors
    ///
    /// Why it cannot be had.
    fn open(
        &self,
        file: &PickedFile,
        said: Said,
        at: Locator,
        limits: &Limits,
    ) -> Result<Source, Error>;

    /// What there is of the package called `name`: at `index`, where `lock` names one for it, else at those that it
    /// names for all and those that are configured.
    ///
    /// # Errors
    ///
    /// No index, or one that does not answer.
    fn candidates(
        &self,
        name: &str,
        index: Option<&str>,
        lock: &Lock,
    ) -> Result<Vec<Candidate>, Error>;
}
