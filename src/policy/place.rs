//! Where a value of a policy was written: a policy may consist of several files.

use std::fmt;

use serde::{Serialize, Serializer};

use super::yaml::Span;

/// A line of a policy file. Equal places are of one file and line.
#[derive(Debug, Clone, Eq)]
pub struct Place {
    /// The name of the file.
    pub origin: String,
    /// The line, counted from 1.
    pub line: usize,
    pub(super) file: usize,
    pub(super) span: Span,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        (&self.origin, self.line) == (&other.origin, other.line)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.origin, self.line)
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A value, and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed<T> {
    pub(super) value: T,
    pub(super) place: Place,
}
