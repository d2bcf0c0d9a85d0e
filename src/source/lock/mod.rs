//! Lock files: what an installer would put on a machine, without installing it.
//!
//! Responsible for telling the kinds of lock files apart by their content, for reading each into one model
//! ([`Lock`]), and for choosing of it what one [`Environment`] gets ([`Pick`]). It opens no package and asks no
//! index; what only an index can tell is said ([`PickStatus::AskIndex`]).
//!
//! Formats: one file of this folder each, with the document that it follows.

mod address;
mod choose;
mod conda;
mod conda_environment;
mod conda_lock;
mod constraint;
mod detect;
mod detect_text;
mod environment;
mod explicit;
mod graph;
mod hash;
mod link;
mod located;
mod model;
mod open;
mod options;
mod pdm;
mod pick;
mod pipenv;
mod pixi;
mod poetry;
mod pylock;
mod pypi;
mod pyproject;
mod reader;
mod requirement;
mod requirements;
mod toml;
mod uv;
mod yaml;

#[cfg(feature = "registry")]
pub(crate) use address::file_name;
pub(crate) use address::percent_decoded;
pub use choose::{Candidate, Chosen, ChosenPython, PythonFrom, choose, choose_of_index};
pub(crate) use detect::is_named;
pub use detect::{detect, may_be_lock};
pub use environment::{Environment, Libc, ParseLibcError, ParsePythonError, PythonVersion};
pub use model::{
    Condition, Dependency, Hash, Lock, LockKind, Locked, LockedFile, Origin, Under, Unlocked,
};
pub use open::LockFile;
pub(super) use open::is_requirement;
pub use pick::{Pick, PickStatus, PickedFile};

pub use crate::source::hide::without_secrets;
use crate::{Error, ErrorKind, Locator};

/// The largest lock file that is read, in bytes. The largest that is known has less than a tenth of it.
pub const MOST_BYTES: usize = 64 << 20;

/// The most packages and requirements of one lock file, with the files that it names. The largest that are known have
/// some thousands.
pub const MOST_PACKAGES: usize = 100_000;

/// The most values in the text of one lock file, about: signs that begin one are counted, wherever they stand. A
/// megabyte of what tools write has some 70,000.
const MOST_VALUES: usize = 3_000_000;

/// Opens a file beside a lock file, by a relative path as the lock writes it; nothing where there is none.
pub type Beside<'a> = dyn Fn(&str) -> Option<Neighbor> + 'a;

/// A file that a lock file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbor {
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Whether it lies outside the directory of the lock file, behind a link for one: no text of it is shown.
    pub is_outside: bool,
}

impl From<Vec<u8>> for Neighbor {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            is_outside: false,
        }
    }
}

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
    let text = detect::text_of(bytes, kind)
        .map_err(|valid| detect::not_text(bytes, &at.to_string(), valid))?;
    let text = text.as_ref();
    if values(text) > MOST_VALUES {
        return Err(too_many(at, MOST_VALUES, "values"));
    }
    let lock = match kind {
        LockKind::Uv => uv::read(text, at, beside),
        LockKind::Pylock => pylock::read(text, at),
        LockKind::Poetry => poetry::read(text, at, beside),
        LockKind::Pdm => pdm::read(text, at, beside),
        LockKind::Pipenv => pipenv::read(text, at),
        LockKind::Requirements => requirements::read(text, at, beside),
        LockKind::CondaLock => conda_lock::read(text, at),
        LockKind::Explicit => explicit::read(text, at),
        LockKind::Pixi => pixi::read(text, at),
        LockKind::CondaEnvironment => conda_environment::read(text, at),
    }?;
    within(lock.packages.len() + lock.unlocked.len(), at)?;
    Ok(lock)
}

/// That `count` packages and requirements of the lock file at `at` are not too many: asked while they are collected.
fn within(count: usize, at: &Locator) -> Result<(), Error> {
    if count > MOST_PACKAGES {
        return Err(too_many(at, MOST_PACKAGES, "packages"));
    }
    Ok(())
}

fn too_many(at: &Locator, most: usize, what: &str) -> Error {
    let message = format!("`{at}` has more than {most} {what}");
    let hint = "lock files that tools write have fewer: check that this is one";
    Error::new(ErrorKind::Input, message).with_hint(hint)
}

/// About how many values a text has, before a parser makes each of them many times larger.
fn values(text: &str) -> usize {
    let begins = |byte: &&u8| matches!(byte, b'\n' | b',' | b':' | b'=' | b'[' | b'{');
    text.as_bytes().iter().filter(begins).count()
}

#[cfg(test)]
mod tests;
pub use options::{InstallOptions, LockPlatform, Login};
