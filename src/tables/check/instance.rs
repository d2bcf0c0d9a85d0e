//! Invariants of cloud instance types.

use super::super::{GpuLookup, InstanceLookup, Tables};
use super::Broken;

/// Types are sorted; their GPUs are known by name and of that capability; a name is of one row only.
pub(super) fn instances(tables: &Tables, broken: &mut Broken) {
    let rows = tables.instances();
    broken.rising(
        "instances",
        rows.iter().map(|row| (&row.provider, row.patterns.first())),
    );
    broken.sourced(
        rows.iter()
            .map(|row| (row.key(), row.sources.as_slice(), row.note.as_ref())),
    );
    for row in rows {
        let key = row.key();
        broken.unless(row.gpu.is_some() != row.vendor.is_some(), || {
            format!("`{key}` has no GPU, or one of two vendors")
        });
        let agrees = |gpu: &String| match tables.gpu(gpu) {
            GpuLookup::Found(gpu) => gpu.cc.as_slice() == row.cc.as_slice(),
            GpuLookup::Ambiguous { .. } | GpuLookup::Unknown { .. } => false,
        };
        broken.unless(row.gpu.as_ref().is_none_or(agrees), || {
            format!("`{key}`: its GPU is unknown or of another capability")
        });
        broken.unless(row.vendor.is_none() || row.cc.is_none(), || {
            format!("`{key}`: a GPU of another vendor with a compute capability")
        });
        broken.unless(row.counts.is_sorted_by(|a, b| a < b), || {
            format!("`{key}`: numbers of GPUs do not rise")
        });
        for pattern in &row.patterns {
            // a name of this glob, though no type may be called so
            let name = format!("{}:{}", row.provider, pattern.replace('*', "0"));
            let found = tables.instance(&name);
            broken.unless(found == InstanceLookup::Found(row), || {
                format!("`{key}`: `{pattern}` is of another row too, or of none")
            });
        }
    }
}
