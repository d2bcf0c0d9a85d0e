//! Sm targets and compute capabilities.
//!
//! Which code runs on which capability is a rule (`verdict`), not a fact of this table.

use serde::Deserialize;

use super::rows::{CapabilityRow, SmRow};
use super::yaml::{self, Sources};
use crate::error::Error;

const FILE: &str = "archs.yaml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    sm: Vec<SmRow>,
    capabilities: Vec<CapabilityRow>,
}

/// The table of architectures.
#[derive(Debug)]
pub(super) struct ArchTable {
    pub(super) as_of: String,
    pub(super) sm: Vec<SmRow>,
    pub(super) capabilities: Vec<CapabilityRow>,
}

impl ArchTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        let sm = file.sm.iter_mut().flat_map(|row| &mut row.sources);
        let capabilities = file.capabilities.iter_mut().flat_map(|row| {
            let first = row.first_driver.iter_mut().map(|first| &mut first.source);
            row.sources.iter_mut().chain(first)
        });
        for source in sm.chain(capabilities) {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        Ok(Self {
            as_of: file.as_of,
            sm: file.sm,
            capabilities: file.capabilities,
        })
    }
}
