//! Lock files: what each environment gets, and what was read of it.

mod assemble;
mod facts;
mod files;
mod read;

pub(super) use assemble::{FileRead, assemble};
pub use facts::{Content, LockFacts, LockedByName, LockedPackage, NotRead};
pub(super) use files::{Files, PlannedLock, Wanted};
pub(super) use read::{Outcome, Reach, open};
