//! Requirements files, as pip reads them.
//!
//! Format: the requirements file format of pip's documentation, and `req_file.py` where that is silent. What
//! `uv pip compile`, `uv export`, `pip-compile` and `pip freeze` write is such a file. Variables of the environment
//! are not put in.

mod encoding;
mod entry;
mod lines;
mod options;
mod pins;
mod walk;

pub(super) use encoding::decode;
pub(super) use entry::Entry;

use self::options::Opt;
use self::walk::Walk;
use super::located::refused;
use super::{Beside, Hash, Lock};
use crate::{Error, Locator};

/// Reads a requirements file. `beside` gives the file of a path relative to the directory of this one, for `-r` and
/// `-c`; packages of such files have the line of the option.
///
/// # Errors
///
/// A text of which no line is a requirement or an option.
pub(super) fn read(text: &str, at: &Locator, beside: &Beside<'_>) -> Result<Lock, Error> {
    let mut walk = Walk::new(at, beside);
    walk.top(text);
    walk.is_within()?;
    if let (0, Some((line, what))) = (walk.understood, walk.mistakes.first()) {
        let hint = "name a requirements file, or say what the file is (`file:PATH`)";
        return Err(refused(at, line, what, hint));
    }
    Ok(walk.finish())
}

/// Reads one requirement with its `--hash` options, as it stands in a line.
pub(super) fn one(text: &str, line: u32) -> Result<Entry, String> {
    let parts = options::parse(text)?;
    entry::parse(&parts.requirement, hashes(&parts)?, line)
}

/// Whether every line of a text is a requirement or an option, and at least one pins or is an option.
pub(super) fn is_plausible(text: &str) -> bool {
    let mut says_something = false;
    for line in lines::logical(text) {
        let Ok(parts) = options::parse(&line.text) else {
            return false;
        };
        if parts.requirement.is_empty() {
            says_something |= !parts.options.is_empty();
            continue;
        }
        match entry::parse(&parts.requirement, Vec::new(), line.number) {
            Ok(entry) => says_something |= entry.pinned.is_some_and(|p| p.version.is_some()),
            Err(_) => return false,
        }
    }
    says_something
}

fn hashes(parts: &options::Parts) -> Result<Vec<Hash>, String> {
    let strong = |hash: &Hash| matches!(hash.algorithm.as_str(), "sha256" | "sha384" | "sha512");
    let read = |text: &str| {
        let hash = text.contains(':').then(|| Hash::parse(text)).flatten();
        hash.filter(strong)
            .ok_or_else(|| "a `--hash` that is not `sha256:` and hexadecimal digits".to_owned())
    };
    parts.all(Opt::Hash).map(read).collect()
}

#[cfg(test)]
mod tests;
