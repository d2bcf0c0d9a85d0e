//! Lock files: what an installer would put on a machine, without installing it.
//!
//! Responsible for telling the kinds of lock files apart by their content, for reading each into one model
//! ([`Lock`]), and for choosing of it what one [`Environment`] gets ([`Pick`]). It opens no package and asks no
//! index; what only an index can tell is said ([`PickStatus::AskIndex`]).
//!
//! Formats: one file of this folder each, with the document that it follows.

mod choose;
mod environment;
mod model;

pub use choose::{Candidate, Chosen, ChosenPython, PythonFrom, choose, choose_of_index};
pub use environment::{Environment, Libc, PythonVersion};
pub use model::{
    Condition, Dependency, Hash, Lock, LockKind, Locked, LockedFile, Origin, Pick, PickStatus,
    PickedFile, Under, Unlocked,
};
