//! Files that an option names: a policy, an inventory. Read whole, up to a size.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

use crate::archive::SharedBytes;
use crate::error::{Error, ErrorKind};
use crate::limits::read_capped;

use super::shown;

/// What stands in the way of reading something to its end: a pipe or a device may have none, and opening it may
/// wait for ever.
pub(super) fn what_it_is_instead(metadata: &Metadata) -> Option<&'static str> {
    if metadata.is_dir() {
        Some("a directory")
    } else if metadata.is_file() {
        None
    } else {
        Some("neither a regular file nor a directory")
    }
}

/// Opens a file that a file of others names, as lock files do: only a regular file, so that opening it never waits.
///
/// # Errors
///
/// What cannot be opened, and what is no regular file.
pub(crate) fn open_regular(path: &Path) -> io::Result<SharedBytes> {
    if let Some(what) = what_it_is_instead(&fs::metadata(path)?) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("it is {what}"),
        ));
    }
    SharedBytes::open(path)
}

/// Reads the file that an option names. A stream that this process was started with (`/dev/stdin`, or what a
/// shell makes of `<(command)`) is read too: it has a writer.
///
/// # Errors
///
/// An error of `kind` for what cannot be read, is no file, or is larger than `most` bytes.
pub(crate) fn read_named(path: &Path, most: u64, kind: ErrorKind) -> Result<Vec<u8>, Error> {
    let cannot = |error: io::Error| {
        Error::new(kind, format!("`{}` could not be read", shown(path)))
            .with_hint("check the name, and that you may read it")
            .with_source(error)
    };
    let is_what = |what: &str| {
        Error::new(kind, format!("`{}` is {what}", shown(path)))
            .with_hint("name a file, or give its content as `/dev/stdin`")
    };
    let metadata = fs::metadata(path).map_err(cannot)?;
    if let Some(what) = what_it_is_instead(&metadata)
        && !is_own_stream(path, &metadata)
    {
        return Err(is_what(what));
    }
    let file = File::open(path).map_err(cannot)?;
    let (bytes, more) = read_capped(file, most).map_err(cannot)?;
    if more {
        let message = format!("`{}` is larger than {most} bytes", shown(path));
        return Err(Error::new(kind, message).with_hint("check that it is the file that you mean"));
    }
    Ok(bytes)
}

/// Whether it is the name that Unix systems have for an open stream of this process.
fn is_own_stream(path: &Path, metadata: &Metadata) -> bool {
    let named = path == Path::new("/dev/stdin")
        || path.parent().is_some_and(|directory| {
            directory == Path::new("/dev/fd") || directory == Path::new("/proc/self/fd")
        });
    named && !metadata.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_is_opened_and_nothing_else_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "abc").unwrap();
        assert_eq!(open_regular(&file).unwrap().len(), 3);
        let refused = |path: &Path| open_regular(path).unwrap_err().to_string();
        assert_eq!(refused(dir.path()), "it is a directory");
        #[cfg(unix)]
        {
            let fifo = dir.path().join("fifo");
            let made = std::process::Command::new("mkfifo").arg(&fifo).status();
            assert!(made.unwrap().success());
            let what = "it is neither a regular file nor a directory";
            assert_eq!(refused(&fifo), what);
            assert_eq!(refused(Path::new("/dev/zero")), what);
        }
    }
}
