//! Overlays: rows of a user's file over the embedded tables, for hardware and drivers that are not out yet.
//!
//! The file has the form of the embedded ones: any of their lists, and `sources`. A row with the key of an
//! embedded row replaces it. The invariants must hold over the whole afterwards, so that a forgotten row is
//! an error here and never an unknown in a verdict.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::errors::ErrorTable;
use super::gpu::GpuTable;
use super::instance::InstanceTable;
use super::pci::PciTable;
use super::toolkit::RuntimeRow;
use super::yaml::{self, Location, Sources, Spanned};
use super::{
    ArchTable, BranchRow, CapabilityRow, ChipRow, CompatRow, CompatTable, DriverTable, GpuRow,
    InstanceRow, NumberRow, PciRow, PtxRow, SmRow, Tables, Texts, ToolkitRow, ToolkitTable, parsed,
};
use crate::error::{Error, ErrorKind};

/// A list of the tables that an overlay can add to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Table {
    /// GPUs by name.
    Gpus,
    /// Sm targets.
    Sm,
    /// Compute capabilities.
    Capabilities,
    /// Driver branches.
    Branches,
    /// Numbers of Linux drivers.
    Linux,
    /// Numbers of Windows drivers.
    Windows,
    /// Toolkits.
    Toolkits,
    /// PTX ISA versions.
    Ptx,
    /// Floors of CUDA major versions.
    RuntimeFloors,
    /// Chips.
    Chips,
    /// PCI devices.
    Devices,
    /// Cloud instance types.
    Instances,
    /// Forward compatibility packages.
    Packages,
}

impl Table {
    /// The key of the list in the files.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Gpus => "gpus",
            Self::Sm => "sm",
            Self::Capabilities => "capabilities",
            Self::Branches => "branches",
            Self::Linux => "linux",
            Self::Windows => "windows",
            Self::Toolkits => "toolkits",
            Self::Ptx => "ptx",
            Self::RuntimeFloors => "runtime_floors",
            Self::Chips => "chips",
            Self::Devices => "devices",
            Self::Instances => "instances",
            Self::Packages => "packages",
        }
    }
}

/// What an overlay adds or replaces.
#[derive(Debug)]
#[non_exhaustive]
pub struct Overlay {
    /// The name of the file.
    pub origin: String,
    pub(super) text: String,
    rows: BTreeMap<(Table, String), Location>,
}

impl Overlay {
    /// The rows, by list and key.
    pub fn rows(&self) -> impl Iterator<Item = (Table, &str)> {
        self.rows.keys().map(|(table, key)| (*table, key.as_str()))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct File {
    sources: Sources,
    gpus: Vec<Spanned<GpuRow>>,
    sm: Vec<Spanned<SmRow>>,
    capabilities: Vec<Spanned<CapabilityRow>>,
    branches: Vec<Spanned<BranchRow>>,
    linux: Vec<Spanned<NumberRow>>,
    windows: Vec<Spanned<NumberRow>>,
    toolkits: Vec<Spanned<ToolkitRow>>,
    ptx: Vec<Spanned<PtxRow>>,
    runtime_floors: Vec<Spanned<RuntimeRow>>,
    chips: Vec<Spanned<ChipRow>>,
    devices: Vec<Spanned<PciRow>>,
    instances: Vec<Spanned<InstanceRow>>,
    packages: Vec<Spanned<CompatRow>>,
}

/// A row that can be replaced.
trait Row {
    /// What it is the row of; unique in its list.
    fn key(&self) -> String;
    /// Its source keys.
    fn sources(&mut self) -> Vec<&mut String>;
}

macro_rules! rows {
    ($($row:ty: $key:expr;)*) => {
        $(impl Row for $row {
            fn key(&self) -> String {
                let key: fn(&Self) -> String = $key;
                key(self)
            }

            fn sources(&mut self) -> Vec<&mut String> {
                self.sources.iter_mut().collect()
            }
        })*
    };
}

rows! {
    GpuRow: |row| row.name.clone();
    SmRow: |row| row.target.to_string();
    BranchRow: |row| row.branch.to_string();
    NumberRow: Self::key;
    ToolkitRow: |row| row.cuda.to_string();
    PtxRow: |row| row.isa.to_string();
    ChipRow: |row| row.chip.clone();
    PciRow: |row| row.id.to_string();
    InstanceRow: Self::key;
    CompatRow: |row| row.package.to_string();
}

impl Row for CapabilityRow {
    fn key(&self) -> String {
        self.cc.to_string()
    }

    fn sources(&mut self) -> Vec<&mut String> {
        let first = self.first_driver.iter_mut().map(|first| &mut first.source);
        self.sources.iter_mut().chain(first).collect()
    }
}

impl Row for RuntimeRow {
    fn key(&self) -> String {
        format!("{} on {}", self.major, self.os)
    }

    fn sources(&mut self) -> Vec<&mut String> {
        vec![&mut self.source]
    }
}

/// Takes rows over, and notes what is wrong with them.
struct Reader<'f> {
    sources: &'f Sources,
    rows: BTreeMap<(Table, String), Location>,
    mistakes: Vec<String>,
}

impl Reader<'_> {
    /// The rows of a list with their sources, each key once.
    fn take<R: Row>(&mut self, table: Table, rows: Vec<Spanned<R>>) -> Vec<R> {
        let mut taken = Vec::new();
        for Spanned {
            value: mut row,
            defined,
            ..
        } in rows
        {
            let key = row.key();
            for source in row.sources() {
                if let Some(text) = self.sources.get(source.as_str()) {
                    source.clone_from(text);
                } else if !source.contains([' ', ':']) {
                    let what =
                        format!("`{key}` names a source `{source}` that is not in `sources`");
                    self.mistakes.push(placed(defined, &what));
                }
            }
            let list = table.id();
            match self.rows.insert((table, key.clone()), defined) {
                Some(_) => self.mistakes.push(placed(
                    defined,
                    &format!("`{key}` stands twice in `{list}`"),
                )),
                None => taken.push(row),
            }
        }
        taken
    }

    /// Merges the rows of a list into those of a table, in the order of `order`.
    fn merge<R: Row, K: Ord>(
        &mut self,
        table: Table,
        rows: Vec<Spanned<R>>,
        into: &mut Vec<R>,
        order: impl Fn(&R) -> K,
    ) {
        for row in self.take(table, rows) {
            let key = row.key();
            into.retain(|old| old.key() != key);
            into.push(row);
        }
        into.sort_by_key(order);
    }
}

fn placed(at: Location, what: &str) -> String {
    format!("line {}, column {}: {what}", at.line(), at.column())
}

impl Tables {
    /// The embedded tables with the rows of `text`, the content of the file `origin`, over them.
    ///
    /// ```
    /// use smgate::tables::{GpuLookup, Tables};
    ///
    /// let text = "
    /// sources: {lab: a card of our lab}
    /// gpus:
    /// - {name: Lab Card, cc: '9.0', class: datacenter, sources: lab}
    /// ";
    /// let tables = Tables::with_overlay("own.yaml", text)?;
    /// assert!(matches!(tables.gpu("lab card"), GpuLookup::Found(_)));
    /// # Ok::<(), smgate::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Every mistake with line and column: of YAML, of keys, of sources, and of invariants that the tables
    /// no longer fulfil.
    pub fn with_overlay(origin: &str, text: &str) -> Result<Self, Error> {
        let invalid = |detail: String| {
            Error::new(ErrorKind::Data, format!("tables `{origin}`: {detail}")).with_hint(
                "rows have the form of the embedded tables; one with the key of an embedded row replaces it",
            )
        };
        let file: File = yaml::parse_placed(text).map_err(invalid)?;
        let mut reader = Reader {
            sources: &file.sources,
            rows: BTreeMap::new(),
            mistakes: Vec::new(),
        };
        let read = &mut reader;
        let embedded = Texts::BUILTIN;

        let mut gpus = parsed(GpuTable::parse(embedded.gpus));
        read.merge(Table::Gpus, file.gpus, &mut gpus.rows, |row| {
            (
                row.cc.first().copied(),
                row.name.to_lowercase(),
                row.name.clone(),
            )
        });
        let mut archs = parsed(ArchTable::parse(embedded.archs));
        read.merge(Table::Sm, file.sm, &mut archs.sm, |row| row.target);
        let capabilities = &mut archs.capabilities;
        read.merge(
            Table::Capabilities,
            file.capabilities,
            capabilities,
            |row| row.cc,
        );
        let mut drivers = parsed(DriverTable::parse(embedded.drivers));
        let branches = &mut drivers.branches;
        read.merge(Table::Branches, file.branches, branches, |row| row.branch);
        read.merge(Table::Linux, file.linux, &mut drivers.linux, |row| row.from);
        read.merge(Table::Windows, file.windows, &mut drivers.windows, |row| {
            row.from
        });
        let mut toolkits = parsed(ToolkitTable::parse(embedded.toolkits));
        let rows = &mut toolkits.toolkits;
        read.merge(Table::Toolkits, file.toolkits, rows, |row| row.cuda);
        read.merge(Table::Ptx, file.ptx, &mut toolkits.ptx, |row| row.isa);
        for row in read.take(Table::RuntimeFloors, file.runtime_floors) {
            toolkits.set_floor(row);
        }
        let mut pci = parsed(PciTable::parse(embedded.pci));
        read.merge(Table::Chips, file.chips, &mut pci.chips, |row| {
            row.chip.clone()
        });
        for row in read.take(Table::Devices, file.devices) {
            pci.set(row);
        }
        let mut instances = parsed(InstanceTable::parse(embedded.instances));
        let rows = &mut instances.rows;
        read.merge(Table::Instances, file.instances, rows, InstanceRow::key);
        let mut compat = parsed(CompatTable::parse(embedded.compat));
        let rows = &mut compat.rows;
        read.merge(Table::Packages, file.packages, rows, |row| row.package);

        let Reader { rows, mistakes, .. } = reader;
        if !mistakes.is_empty() {
            return Err(invalid(mistakes.join("; ")));
        }
        if rows.is_empty() {
            return Err(invalid("there is no row in it".to_owned()));
        }
        let tables = Self {
            gpus: GpuTable::new(gpus.as_of, gpus.ambiguous, gpus.rows).into(),
            archs: archs.into(),
            toolkits: toolkits.into(),
            drivers: drivers.into(),
            pci: pci.into(),
            instances: instances.into(),
            compat: compat.into(),
            errors: parsed(ErrorTable::parse(embedded.errors)).into(),
            overlay: Some(Overlay {
                origin: origin.to_owned(),
                text: text.to_owned(),
                rows,
            }),
            ..Self::new(embedded)
        };
        let broken: Vec<String> = tables
            .check()
            .into_iter()
            .map(|what| tables.place(what))
            .collect();
        if broken.is_empty() {
            Ok(tables)
        } else {
            Err(invalid(broken.join("; ")))
        }
    }

    /// A broken invariant with the place of the row that it names, where that is of the overlay.
    fn place(&self, what: String) -> String {
        let rows = self.overlay.iter().flat_map(|overlay| &overlay.rows);
        let named =
            |key: &str| what.contains(&format!("`{key}`")) || what.contains(&format!("\"{key}\""));
        let mut rows = rows.filter(|((_, key), _)| named(key));
        match rows.next() {
            Some((_, at)) => placed(*at, &what),
            None => what,
        }
    }

    /// What the user's file adds or replaces, where one was given.
    pub fn overlay(&self) -> Option<&Overlay> {
        self.overlay.as_ref()
    }

    /// Whether the row of a list with this key is of the user's file.
    pub fn is_overlaid(&self, table: Table, key: &impl ToString) -> bool {
        let has = |overlay: &Overlay| overlay.rows.contains_key(&(table, key.to_string()));
        self.overlay.as_ref().is_some_and(has)
    }
}

#[cfg(test)]
mod tests;
