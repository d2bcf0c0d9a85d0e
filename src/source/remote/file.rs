//! A file that is being read: what is stated for it, and what reading it has shown.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::refusal::Refusal;
use crate::archive::{Fault, SharedBytes};
use crate::source::lock::Hash;
use crate::source::sum::Sum;
use crate::{Extent, Locator, Problem, ProblemKind};

/// Whether the hash of a file is the one that is stated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verified {
    /// None is stated.
    NotStated,
    /// Not all of the file was read.
    NotRead,
    /// It is of an algorithm that is not taken here.
    NotTaken,
    /// It is.
    Yes,
    /// It is another one, this.
    Differs(Hash),
}

impl Verified {
    fn at_first(hash: Option<&Hash>) -> Self {
        match hash {
            None => Self::NotStated,
            Some(hash) if Sum::of(&hash.algorithm).is_none() => Self::NotTaken,
            Some(_) => Self::NotRead,
        }
    }

    pub(super) fn of(found: Hash, state: &State) -> Self {
        if state.hash.as_ref() == Some(&found) {
            Self::Yes
        } else {
            Self::Differs(found)
        }
    }
}

/// A file at an address, of which the end or all was read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RemoteFile {
    /// Its bytes: fetched by ranges as they are read, or all of them.
    pub bytes: SharedBytes,
    /// Its name: the last part of the path, decoded.
    pub name: String,
    /// Its address, without what may be secret.
    pub shown: String,
    /// Why all of it was fetched, where the server gave no ranges.
    pub whole: Option<String>,
    pub(super) state: Arc<State>,
}

/// What is known of a file, and what reading it has shown.
#[derive(Debug)]
pub(super) struct State {
    pub(super) hash: Option<Hash>,
    verified: Mutex<Verified>,
    /// What ended a transfer for good: other transfers would wait for the same.
    failed: OnceLock<Fault>,
}

impl State {
    pub(super) fn new(hash: Option<Hash>) -> Self {
        Self {
            verified: Mutex::new(Verified::at_first(hash.as_ref())),
            hash,
            failed: OnceLock::new(),
        }
    }

    /// What ended all transfers of the file.
    pub(super) fn failed(&self) -> Option<Fault> {
        self.failed.get().cloned()
    }

    pub(super) fn set(&self, verified: Verified) {
        *self.verified.lock().unwrap_or_else(PoisonError::into_inner) = verified;
    }

    /// Ends all transfers of the file.
    pub(super) fn fail(&self, refusal: Refusal) -> Fault {
        self.failed.get_or_init(|| refusal.into()).clone()
    }
}

impl RemoteFile {
    /// Bytes of it that were received so far, as far as they were of use.
    pub fn received(&self) -> u64 {
        if self.bytes.is_fetched() {
            self.bytes.received()
        } else {
            self.bytes.len()
        }
    }

    /// The hash that is stated for it.
    pub fn hash(&self) -> Option<&Hash> {
        self.state.hash.as_ref()
    }

    /// Whether that is its hash, as far as it was read by now. All of it was read where its bytes went through one
    /// cursor from the first to the last.
    pub fn verified(&self) -> Verified {
        let verified = self.state.verified.lock();
        verified.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The problem of a file whose hash is another one: nothing in it is what was meant.
    pub fn problem(&self, at: &Locator) -> Option<Problem> {
        let Verified::Differs(found) = self.verified() else {
            return None;
        };
        let stated = self.hash()?;
        let detail = format!("its hash is `{found}`, and `{stated}` is stated for it");
        Some(Problem::new(
            ProblemKind::ChecksumMismatch,
            at.clone(),
            Extent::Artifact,
            detail,
        ))
    }
}
