//! The files of an image by name, whatever holds them: a directory, an archive, or a stream that went by.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use oci_spec::image::Descriptor;

use super::blob::Blob;
use crate::ProblemKind;
use crate::archive::Fault;
use crate::limits::read_capped;

/// The files of an image layout or a saved image. Paths are those that [`inside`] gives.
pub(super) trait Files {
    /// The bytes of a small file, nothing where there is none.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, has more than `cap` bytes, or is there twice with different bytes.
    fn read_small(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>, Fault>;

    /// Where the bytes of a large file are, nothing where there is none.
    fn blob(&self, path: &str) -> Option<Blob>;

    /// As [`Files::read_small`], of a file that a descriptor names.
    fn read_stated(
        &self,
        path: &str,
        _descriptor: &Descriptor,
        cap: u64,
    ) -> Result<Option<Vec<u8>>, Fault> {
        self.read_small(path, cap)
    }

    /// As [`Files::blob`], of a layer that a descriptor names.
    fn layer(&self, path: &str, _descriptor: &Descriptor) -> Option<Blob> {
        self.blob(path)
    }

    /// How many bytes a large file has, where that is known.
    fn size(&self, path: &str) -> Option<u64> {
        self.blob(path)?.len()
    }
}

/// A path of an archive as its parts from the root, `a/b`; nothing where it leads out of the archive or nowhere.
pub(super) fn inside(path: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(path).ok()?;
    walk(Vec::new(), path)
}

/// Where a link in the directory of `from` leads, as a path from the root of the archive.
pub(super) fn link_target(from: &str, target: &[u8]) -> Option<String> {
    let target = std::str::from_utf8(target).ok()?;
    let mut start: Vec<&str> = from.split('/').collect();
    start.pop();
    // what an absolute link means depends on where the archive is unpacked
    (!target.starts_with('/')).then(|| walk(start, target))?
}

fn walk<'t>(mut parts: Vec<&'t str>, path: &'t str) -> Option<String> {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            // a name of Windows that could leave the directory
            _ if part.contains(['\\', '\0']) => return None,
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// A fault about a JSON file that is larger than such files are.
pub(super) fn too_large(cap: u64) -> Fault {
    let detail = format!("more than {cap} bytes, the most that such a file of an image may have");
    Fault::new(ProblemKind::LimitExceeded, detail)
}

/// The files of a directory.
#[derive(Debug)]
pub(super) struct DirFiles {
    /// The directory, without links in its path.
    root: PathBuf,
}

impl DirFiles {
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(root)?;
        Ok(Self { root })
    }

    /// The regular file at `path`. Blobs may be links, as build tools make them, but only to files of the directory.
    fn find(&self, path: &str) -> Result<Option<PathBuf>, Fault> {
        let Some(path) = inside(path.as_bytes()) else {
            return Ok(None);
        };
        let mut found = self.root.clone();
        found.extend(path.split('/'));
        let found = match fs::canonicalize(&found) {
            Ok(found) => found,
            Err(error) if is_nothing(&error) => return Ok(None),
            Err(error) => return Err(Fault::of(&error)),
        };
        if !found.starts_with(&self.root) {
            let detail = "a link out of the image layout, which is not followed";
            return Err(Fault::new(ProblemKind::NotFollowed, detail));
        }
        let metadata = fs::metadata(&found).map_err(|error| Fault::of(&error))?;
        if !metadata.is_file() {
            return Err(Fault::new(ProblemKind::NotFollowed, "no regular file"));
        }
        Ok(Some(found))
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl Files for DirFiles {
    fn read_small(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>, Fault> {
        let Some(path) = self.find(path)? else {
            return Ok(None);
        };
        let read = fs::File::open(path).and_then(|file| read_capped(file, cap));
        match read.map_err(|error| Fault::of(&error))? {
            (_, true) => Err(too_large(cap)),
            (bytes, false) => Ok(Some(bytes)),
        }
    }

    fn blob(&self, path: &str) -> Option<Blob> {
        match self.find(path) {
            Ok(found) => found.map(Blob::File),
            Err(fault) => Some(Blob::Absent(fault)),
        }
    }
}
