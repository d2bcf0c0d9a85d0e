//! Cloud instance types.

use super::gpu::of_cc;
use super::{Candidate, Fact, Found, Ground};
use crate::tables::{InstanceLookup, InstanceRow, Table, Tables};

/// Looks up `aws:p5.48xlarge` or `p5.48xlarge`.
pub(super) fn instance(name: &str, tables: &Tables) -> Found {
    match tables.instance(name) {
        InstanceLookup::Found(row) => Found::one(name.trim(), facts(row, tables)),
        InstanceLookup::Ambiguous(rows) => Found::Several {
            name: name.trim().to_owned(),
            candidates: rows
                .into_iter()
                .map(|row| Candidate {
                    name: row.key(),
                    cc: row.cc.map(|cc| cc.to_string()),
                    chip: row.gpu.clone().or_else(|| row.vendor.clone()),
                    pci: None,
                })
                .collect(),
        },
        InstanceLookup::Unknown { nearest } => Found::None { nearest },
    }
}

fn facts(row: &InstanceRow, tables: &Tables) -> Vec<Fact> {
    let ground = Ground::new(row.evidence, &row.sources, row.note.as_ref())
        .overlaid(tables.is_overlaid(Table::Instances, &row.key()));
    let counts: Vec<String> = row.counts.iter().map(ToString::to_string).collect();
    let mut facts = vec![
        ground.noted(ground.one("provider", &row.provider)),
        ground.many("types", &row.patterns),
        ground.maybe("gpu", row.gpu.as_ref().or(row.vendor.as_ref())),
        ground.fact("gpus-per-instance", Some(counts).filter(|c| !c.is_empty())),
        ground.one("platform", row.platform),
    ];
    // an instance without a GPU of NVIDIA's has no capability: that is no gap in the table
    facts.push(ground.many("compute-capability", row.cc));
    facts.extend(row.cc.into_iter().flat_map(|cc| of_cc(cc, tables)));
    facts
}
