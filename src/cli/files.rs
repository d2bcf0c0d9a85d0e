//! Files that a run writes: told before a long scan where they cannot be written, and written in one piece after it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::args::OutputFile;
use crate::{Error, ErrorKind};

/// That each report has a file of its own, in a directory that is there, and that it is none of the files that the run
/// `uses`: by whatever name.
pub(super) fn require_places(outputs: &[OutputFile], uses: &[&Path]) -> Result<(), Error> {
    let uses: Vec<PathBuf> = uses.iter().filter_map(|path| identity(path)).collect();
    for (index, output) in outputs.iter().enumerate() {
        let path = &output.path;
        let here = identity(path);
        let mut before = outputs.iter().take(index);
        if before
            .any(|other| other.path == *path || (here.is_some() && identity(&other.path) == here))
        {
            let message = format!("two reports are to go to `{}`", path.display());
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("give each `--output` a file of its own"));
        }
        if here.is_some_and(|here| uses.contains(&here)) {
            let message = format!(
                "a report cannot go to `{}`: this run reads or writes it for something else",
                path.display()
            );
            return Err(Error::new(ErrorKind::Usage, message).with_hint("name another file"));
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

/// A regular file, or one to be made, by the one name that it has whatever leads to it.
fn identity(path: &Path) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(real) => real.is_file().then_some(real),
        Err(_absent) => {
            let parent = path.parent().filter(|parent| parent != &Path::new(""));
            let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(parent.join(path.file_name()?))
        }
    }
}

/// Writes a file, also over an older one: all of it or nothing, also where the program is ended meanwhile. `what` is
/// what errors call it.
pub(super) fn write(path: &Path, what: &str, bytes: &[u8]) -> Result<(), Error> {
    replace(path, bytes).map_err(|error| {
        let message = format!("the {what} `{}` could not be written", path.display());
        Error::new(ErrorKind::Output, message)
            .with_hint("name a place where you may write")
            .with_source(error)
    })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // a link stays one, and what is behind it is written
    let real = path
        .canonicalize()
        .unwrap_or_else(|_absent| path.to_path_buf());
    let is_other = fs::metadata(&real).is_ok_and(|found| !found.is_file());
    let folder = real.parent().filter(|parent| parent != &Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    if is_other || fs::metadata(&real).is_ok_and(|found| found.permissions().readonly()) {
        // a device or a pipe cannot be replaced, and what may not be written must not be
        return fs::write(&real, bytes);
    }
    let Ok(mut file) = temporary(&real, folder) else {
        // the file may be written where its folder may not
        return fs::write(&real, bytes);
    };
    file.write_all(bytes)?;
    file.persist(&real).map_err(|error| error.error)?;
    Ok(())
}

/// A file beside `path`, with the permissions of that one, or those of any new file.
#[cfg(unix)]
fn temporary(path: &Path, folder: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;

    let any = fs::Permissions::from_mode(0o666);
    let mut builder = tempfile::Builder::new();
    let file = builder.permissions(any).tempfile_in(folder)?;
    if let Ok(old) = fs::metadata(path) {
        fs::set_permissions(file.path(), old.permissions())?;
    }
    Ok(file)
}

/// A file beside the one to be written.
#[cfg(not(unix))]
fn temporary(_: &Path, folder: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::new_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> String {
        let file = fs::File::open(path).unwrap();
        let (bytes, more) = crate::limits::read_capped(file, 1 << 20).unwrap();
        assert!(!more);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_file_is_written_in_place_of_an_older_one_and_nothing_stays_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.json");
        for content in ["a longer text", "new"] {
            write(&path, "report", content.as_bytes()).unwrap();
            assert_eq!(text(&path), content);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay_as_they_are() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, "report", b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(text(&real), "new");
        let mode = fs::metadata(&real).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        write(Path::new("/dev/null"), "report", b"new").unwrap();
    }
}
