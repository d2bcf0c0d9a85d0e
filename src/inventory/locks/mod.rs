//! Lock files: what each environment gets, and what was read of it.

mod facts;

pub use facts::{Content, LockFacts, LockedPackage, NotRead};
