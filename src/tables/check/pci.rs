//! Invariants of PCI devices and their chips, also against the GPUs that are known by name.

use super::super::{GpuLookup, PciRow, Tables};
use super::Broken;
use crate::cuda::{ComputeCapability, DriverBranch};

/// Chips are sorted, have a known capability or say why not, and a source.
pub(super) fn chips(tables: &Tables, broken: &mut Broken) {
    let rows = &tables.pci_table().chips;
    broken.rising("chips", rows.iter().map(|row| &row.chip));
    broken.sourced(
        rows.iter()
            .map(|row| (&row.chip, row.sources.as_slice(), row.note.as_ref())),
    );
    for row in rows {
        let known = |cc: ComputeCapability| tables.capability(cc).is_some();
        broken.unless(row.cc.is_none_or(known), || {
            format!("chip `{}` has an unknown capability", row.chip)
        });
        broken.unless(row.cc.is_some() || row.note.is_some(), || {
            format!("chip `{}` has no capability and no note", row.chip)
        });
    }
}

/// Devices are sorted; their chips are known, and the drivers that list them support their capability.
pub(super) fn devices(tables: &Tables, broken: &mut Broken) {
    broken.rising("PCI devices", tables.pci_ids());
    broken.sourced(
        tables
            .pci_rows()
            .map(|row| (row.id, row.sources.as_slice(), row.note.as_ref())),
    );
    let oldest = tables.branches().first().map(|row| row.branch);
    for row in tables.pci_rows() {
        let id = row.id;
        broken.unless(tables.chip(&row.chip).is_some(), || {
            format!("`{id}` has an unknown chip `{}`", row.chip)
        });
        broken.unless(row.listed.is_sorted_by(|a, b| a < b), || {
            format!("`{id}`: driver branches do not rise")
        });
        let first = row.open_first.iter().map(|v| DriverBranch(v.major()));
        for branch in row.listed.iter().copied().chain(first) {
            // older branches than the tables hold are named all the same
            let older = oldest.is_some_and(|oldest| branch < oldest);
            let drives = |cc| tables.branch(branch).is_some_and(|b| b.supports(cc));
            broken.unless(older || row.cc.is_none_or(drives), || {
                format!("`{id}`: `{branch}` lists it and does not support its capability")
            });
        }
    }
}

/// GPUs by name and devices by id say the same of each other.
pub(super) fn gpus(tables: &Tables, broken: &mut Broken) {
    for gpu in tables.gpus() {
        let name = &gpu.name;
        for id in &gpu.pci {
            let row = tables.pci(id);
            broken.unless(row.is_some_and(|row| gpu.chips.contains(&row.chip)), || {
                format!("GPU `{name}`: `{id}` is unknown or of another chip")
            });
            let agrees = |row: &PciRow| row.cc.is_none_or(|cc| gpu.cc.contains(&cc));
            broken.unless(row.is_none_or(agrees), || {
                format!("GPU `{name}`: `{id}` has another capability")
            });
        }
    }
    for row in tables.pci_rows() {
        let Some(cc) = row.cc else { continue };
        for name in &row.names {
            let same = match tables.gpu(name) {
                GpuLookup::Found(gpu) => gpu.cc.contains(&cc),
                GpuLookup::Ambiguous { capabilities, .. } => capabilities.contains(&cc),
                GpuLookup::Unknown { .. } => false,
            };
            broken.unless(same, || {
                format!("`{}`: `{name}` is no GPU of capability {cc}", row.id)
            });
        }
    }
}
