//! Which tables a result is from, as reports say it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Tables;

/// Which tables a result is from: two results with one digest used the same facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// The day of the facts.
    pub as_of: String,
    /// SHA-256 of the tables, the overlay included.
    pub sha256: String,
    /// The file of the overlay.
    pub overlay: Option<String>,
}

impl fmt::Display for Origin {
    /// `Tables of 2026-11-29, with rows of own.yaml; sha256 …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tables of {}", self.as_of)?;
        if let Some(file) = &self.overlay {
            write!(f, ", with rows of {file}")?;
        }
        write!(f, "; sha256 {}", self.sha256)
    }
}

impl Tables {
    /// Which tables these are, for reports.
    pub fn origin(&self) -> Origin {
        Origin {
            as_of: self.as_of().to_owned(),
            sha256: self.digest().to_owned(),
            overlay: self.overlay.as_ref().map(|overlay| overlay.origin.clone()),
        }
    }
}
