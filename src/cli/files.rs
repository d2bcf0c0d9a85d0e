//! Files that a run writes: told before a long scan where they cannot be written, and written in one piece after it.

use std::path::Path;

use super::args::OutputFile;
use crate::{Error, ErrorKind};

/// That each report has a file of its own, in a directory that is there.
pub(super) fn require_places(outputs: &[OutputFile]) -> Result<(), Error> {
    for (index, output) in outputs.iter().enumerate() {
        let path = &output.path;
        if outputs.iter().take(index).any(|other| other.path == *path) {
            let message = format!("two reports are to go to `{}`", path.display());
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("give each `--output` a file of its own"));
        }
        let parent = path.parent().filter(|parent| parent != &Path::new(""));
        if path.is_dir() || parent.is_some_and(|parent| !parent.is_dir()) {
            let message = format!(
                "a report cannot go to `{}`: {}",
                path.display(),
                if path.is_dir() {
                    "that is a directory"
                } else {
                    "its directory is not there"
                }
            );
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("name a file in a directory that exists"));
        }
    }
    Ok(())
}

/// Writes a file, also over an older one. `what` is what errors call it.
pub(super) fn write(path: &Path, what: &str, bytes: &[u8]) -> Result<(), Error> {
    std::fs::write(path, bytes).map_err(|error| {
        let message = format!("the {what} `{}` could not be written", path.display());
        Error::new(ErrorKind::Output, message)
            .with_hint("name a place where you may write")
            .with_source(error)
    })
}
