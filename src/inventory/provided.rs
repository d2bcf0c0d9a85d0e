//! Libraries of NVIDIA's that others need by name.

use super::own;

/// A library of NVIDIA's that others can need by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Provided {
    /// Its path in the artifact, as that of a [`Library`](super::Library); that of a link counts as its own.
    pub path: String,
    /// The name that it says it is needed by, where that is not the name of the file.
    pub soname: Option<String>,
    /// The package that owns it: an index into [`Artifact::packages`](super::Artifact::packages).
    pub package: Option<usize>,
}

impl Provided {
    /// A library or a link at `path`.
    pub fn new(path: impl Into<String>, soname: Option<String>, package: Option<usize>) -> Self {
        Self {
            path: path.into(),
            soname,
            package,
        }
    }

    /// The name of the file.
    pub fn file_name(&self) -> &str {
        own::file_name(&self.path)
    }
}
