//! Lock files: what an installer would put on a machine, without installing it.
//!
//! Responsible for telling the kinds of lock files apart by their content, for reading each into one model
//! ([`Lock`]), and for choosing of it what one [`Environment`] gets ([`Pick`]). It opens no package and asks no
//! index; what only an index can tell is said ([`PickStatus::AskIndex`]).
//!
//! Formats: one file of this folder each, with the document that it follows.

mod address;
mod choose;
mod constraint;
mod detect;
mod environment;
mod graph;
mod hash;
mod model;
mod pdm;
mod pipenv;
mod poetry;
mod pylock;
mod pyproject;
mod reader;
mod requirement;
mod toml;
mod uv;

pub use address::without_secrets;
pub use choose::{Candidate, Chosen, ChosenPython, PythonFrom, choose, choose_of_index};
pub use detect::{detect, may_be_lock};
pub use environment::{Environment, Libc, PythonVersion};
pub use model::{
    Condition, Dependency, Hash, Lock, LockKind, Locked, LockedFile, Origin, Pick, PickStatus,
    PickedFile, Under, Unlocked,
};

use crate::{Error, ErrorKind, Locator};

/// The largest lock file that is read, in bytes. The largest that is known has less than a tenth of it.
pub const MOST_BYTES: usize = 64 << 20;

/// Opens a file beside a lock file, by a relative path as the lock writes it; nothing where there is none.
pub type Beside<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// Reads a lock file called `file_name`. It may name files beside itself, and those that belong to it are looked for
/// (`pyproject.toml`): `beside` opens them.
///
/// ```
/// use smgate::Locator;
/// use smgate::source::lock::{LockKind, read};
///
/// let text = br#"
/// version = 1
/// requires-python = ">=3.12"
///
/// [[package]]
/// name = "app"
/// version = "0.1.0"
/// source = { virtual = "." }
/// "#;
/// let lock = read(text, "uv.lock", &Locator::root(0, "uv.lock"), &|_| None)?;
/// assert_eq!(lock.kind, LockKind::Uv);
/// assert_eq!(lock.packages[0].name, "app");
/// # Ok::<(), smgate::Error>(())
/// ```
///
/// # Errors
///
/// What is no lock file, or none of the kind that its name says; what breaks its format, with the line; what has
/// more than [`MOST_BYTES`]. Entries that can't be read are [`Lock::problems`].
pub fn read(
    bytes: &[u8],
    file_name: &str,
    at: &Locator,
    beside: &Beside<'_>,
) -> Result<Lock, Error> {
    if bytes.len() > MOST_BYTES {
        let message = format!("`{at}` has more than {} MiB", MOST_BYTES >> 20);
        let hint = "lock files that tools write are smaller: check that this is one";
        return Err(Error::new(ErrorKind::Input, message).with_hint(hint));
    }
    let Some(kind) = detect(bytes, file_name)? else {
        let message = format!("`{at}` is no lock file of a kind that is read");
        let titles: Vec<_> = LockKind::ALL.iter().map(|kind| kind.title()).collect();
        let hint = format!("these are read: {}", titles.join(", "));
        return Err(Error::new(ErrorKind::Input, message).with_hint(hint));
    };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| detect::not_text(bytes, &at.to_string(), error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match kind {
        LockKind::Uv => uv::read(text, at, beside),
        LockKind::Pylock => pylock::read(text, at),
        LockKind::Poetry => poetry::read(text, at, beside),
        LockKind::Pdm => pdm::read(text, at, beside),
        LockKind::Pipenv => pipenv::read(text, at),
        // MERGE: one line for each of these
        LockKind::Requirements
        | LockKind::CondaLock
        | LockKind::Explicit
        | LockKind::Pixi
        | LockKind::CondaEnvironment => {
            let message = format!("`{at}`: {} files are not read yet", kind.title());
            Err(Error::new(ErrorKind::Input, message))
        }
    }
}

#[cfg(test)]
mod tests;
