//! CUDA toolkits, PTX ISA versions and driver floors.

use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::rows::{Evidence, Floor, PtxRow, ToolkitRow};
use super::yaml::{self, Sources};
use crate::cuda::DriverSpec;
use crate::error::Error;
use crate::platform::Os;

const FILE: &str = "toolkits.yaml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimeRow {
    pub(super) major: u32,
    #[serde(deserialize_with = "os")]
    pub(super) os: Os,
    #[serde(deserialize_with = "driver")]
    driver: DriverSpec,
    evidence: Evidence,
    pub(super) source: String,
    note: Option<String>,
}

impl RuntimeRow {
    fn into_floor(self) -> ((u32, Os), Floor) {
        let floor = Floor {
            driver: self.driver,
            evidence: self.evidence,
            source: self.source,
            note: self.note,
        };
        ((self.major, self.os), floor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompressionRow {
    coding: String,
    #[serde(deserialize_with = "os")]
    os: Os,
    #[serde(deserialize_with = "driver")]
    driver: DriverSpec,
    evidence: Evidence,
    source: String,
    note: Option<String>,
}

fn driver<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DriverSpec, D::Error> {
    DriverSpec::from_str(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

fn os<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Os, D::Error> {
    let name = String::deserialize(deserializer)?;
    [Os::Linux, Os::Windows]
        .into_iter()
        .find(|os| os.id() == name)
        .ok_or_else(|| serde::de::Error::custom(format_args!("no drivers for `{name}`")))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    runtime_floors: Vec<RuntimeRow>,
    compression_floors: Vec<CompressionRow>,
    ptx: Vec<PtxRow>,
    toolkits: Vec<ToolkitRow>,
}

/// The table of toolkits.
#[derive(Debug)]
pub(super) struct ToolkitTable {
    pub(super) as_of: String,
    /// Floors by CUDA major version.
    pub(super) runtime: Vec<((u32, Os), Floor)>,
    /// Floors by coding of fatbin entries.
    pub(super) compression: Vec<((String, Os), Floor)>,
    pub(super) ptx: Vec<PtxRow>,
    pub(super) toolkits: Vec<ToolkitRow>,
}

impl ToolkitTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        let runtime = file.runtime_floors.iter_mut().map(|row| &mut row.source);
        let compression = file.compression_floors.iter_mut();
        let rows = file.ptx.iter_mut().map(|row| &mut row.sources);
        let rows = rows.chain(file.toolkits.iter_mut().map(|row| &mut row.sources));
        for source in runtime
            .chain(compression.map(|row| &mut row.source))
            .chain(rows.flatten())
        {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        let runtime = file.runtime_floors.into_iter().map(RuntimeRow::into_floor);
        let compression = file.compression_floors.into_iter().map(|row| {
            let floor = Floor {
                driver: row.driver,
                evidence: row.evidence,
                source: row.source,
                note: row.note,
            };
            ((row.coding, row.os), floor)
        });
        Ok(Self {
            as_of: file.as_of,
            runtime: runtime.collect(),
            compression: compression.collect(),
            ptx: file.ptx,
            toolkits: file.toolkits,
        })
    }

    /// Adds a floor, or replaces that of the same major version and system.
    pub(super) fn set_floor(&mut self, row: RuntimeRow) {
        let (key, floor) = row.into_floor();
        self.runtime.retain(|(old, _)| *old != key);
        self.runtime.push((key, floor));
        self.runtime.sort_by_key(|(key, _)| *key);
    }
}
