//! GPUs, by name and by PCI id.

use super::arch::{capability, toolkits};
use super::{Candidate, Fact, Found, Ground};
use crate::cuda::{ComputeCapability, SmTarget, Suffix};
use crate::tables::{
    Confidence, Evidence, GpuLookup, GpuRow, PciId, PciRow, Table, Tables, nearest,
};

/// Looks a GPU up by name.
pub(super) fn by_name(name: &str, tables: &Tables) -> Found {
    match tables.gpu(name) {
        GpuLookup::Found(row) => Found::one(&row.name, facts(row, tables)),
        GpuLookup::Ambiguous { name: called, .. } => Found::Several {
            name: called,
            candidates: tables
                .gpu_candidates(name)
                .into_iter()
                .flat_map(|row| candidates(row, tables))
                .collect(),
        },
        // `lspci` and `nvidia-smi` print ids beside names: take them here too
        GpuLookup::Unknown { .. } if name.contains(':') && tables.pci(name).is_some() => {
            by_id(name, tables)
        }
        GpuLookup::Unknown { nearest } => Found::None { nearest },
    }
}

/// A row by its PCI ids, each of which decides, and by the capabilities for which none is known.
fn candidates(row: &GpuRow, tables: &Tables) -> Vec<Candidate> {
    let candidate = |cc: Option<ComputeCapability>, device: Option<&PciRow>| Candidate {
        name: row.name.clone(),
        cc: cc.map(|cc| cc.to_string()),
        chip: device.map(|device| device.chip.clone()),
        pci: device.map(|device| device.id.to_string()),
    };
    let devices: Vec<&PciRow> = row.pci.iter().filter_map(|id| tables.pci(id)).collect();
    let covered = |cc: &&ComputeCapability| devices.iter().any(|device| device.cc == Some(**cc));
    let others = row.cc.iter().filter(|cc| !covered(cc));
    let others = others.map(|cc| candidate(Some(*cc), None));
    let by_id = devices
        .iter()
        .map(|device| candidate(device.cc, Some(device)));
    by_id.chain(others).collect()
}

fn facts(row: &GpuRow, tables: &Tables) -> Vec<Fact> {
    let evidence = match row.confidence {
        None => Evidence::Docs,
        Some(Confidence::Medium) => Evidence::Secondary,
        Some(Confidence::Low) => Evidence::Inferred,
    };
    let ground = Ground::new(evidence, &row.sources, row.note.as_ref())
        .overlaid(tables.is_overlaid(Table::Gpus, &row.name));
    let known = |list: &[String]| Some(list.to_vec()).filter(|list| !list.is_empty());
    let cc: Vec<String> = row.cc.iter().map(ToString::to_string).collect();
    let mut facts = vec![
        ground.noted(ground.fact("compute-capability", known(&cc))),
        ground.one("class", row.class.id()),
        ground.fact("chips", known(&row.chips)),
        ground.fact("pci", known(&row.pci)),
    ];
    facts.extend(row.cc.first().into_iter().flat_map(|cc| of_cc(*cc, tables)));
    facts
}

/// What follows from the capability of a GPU.
pub(super) fn of_cc(cc: ComputeCapability, tables: &Tables) -> Vec<Fact> {
    let mut facts = toolkits(SmTarget::new(cc, Suffix::None), tables);
    if let Some(row) = tables.capability(cc) {
        facts.extend(capability(row, tables));
    }
    facts
}

/// Looks a PCI device up by its id.
pub(super) fn by_id(text: &str, tables: &Tables) -> Found {
    let Some(row) = tables.pci(text) else {
        // ids that differ in a digit are other GPUs: only a slip of the form is helped
        let known = text.parse::<PciId>().is_err();
        let digits = text.to_lowercase();
        let ids = tables.pci_ids().map(|id| (id.to_string(), id.to_string()));
        return Found::None {
            nearest: if known {
                nearest(&digits, ids)
            } else {
                Vec::new()
            },
        };
    };
    let overlay = tables.is_overlaid(Table::Devices, &row.id);
    let ground = Ground::new(Evidence::Docs, &row.sources, row.note.as_ref()).overlaid(overlay);
    let mut names = row.names.clone();
    names.extend(row.pci_name.clone().filter(|name| !names.contains(name)));
    let mut facts = vec![
        ground.noted(ground.many("names", names)),
        ground.one("chip", &row.chip),
        ground.one("gpu", if row.gpu { "yes" } else { "no" }),
    ];
    if let Some(chip) = tables.chip(&row.chip) {
        let overlay = tables.is_overlaid(Table::Chips, &chip.chip);
        let ground =
            Ground::new(chip.evidence, &chip.sources, chip.note.as_ref()).overlaid(overlay);
        facts.push(ground.noted(ground.maybe("compute-capability", row.cc)));
    }
    facts.push(ground.maybe("first-open-kernel-module", row.open_first.as_ref()));
    let listed: Vec<String> = row.listed.iter().map(ToString::to_string).collect();
    facts.push(ground.fact(
        "listed-by-drivers",
        Some(listed).filter(|listed| !listed.is_empty()),
    ));
    facts.extend(row.cc.into_iter().flat_map(|cc| of_cc(cc, tables)));
    Found::one(row.id.to_string(), facts)
}
