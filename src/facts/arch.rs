//! Architectures: sm targets, compute capabilities, and what runs on them.

use super::{Candidate, Fact, Found, Ground};
use crate::compat::{CUBIN_RULE, Fit, PTX_RULE, cubin_fit, ptx_fit};
use crate::cuda::{ComputeCapability, SmTarget, Suffix};
use crate::tables::{CapabilityRow, Evidence, GpuClass, SmRow, Table, Tables, nearest};

/// Looks up `sm_90a`, `compute_90`, `9.0`, `90` or `Hopper`.
pub(super) fn find(name: &str, tables: &Tables) -> Found {
    let lower = name.trim().to_lowercase();
    let target: Option<SmTarget> = match lower.parse::<ComputeCapability>() {
        Ok(cc) => Some(SmTarget::new(cc, Suffix::None)),
        Err(_) => lower.parse().ok(),
    };
    if let Some(target) = target
        && let Some(row) = tables.capability(target.cc)
        && (target.suffix == Suffix::None || tables.sm(target).is_some())
    {
        let mut facts = built(target, tables);
        facts.extend(capability(row, tables));
        facts.push(gpus(row, tables));
        return Found::one(target.to_string(), facts);
    }
    let called = |row: &&CapabilityRow| {
        let generation = row.examples.split([' ', ',']).next().unwrap_or_default();
        generation.to_lowercase() == lower
    };
    let named: Vec<&CapabilityRow> = tables.capabilities().iter().filter(called).collect();
    match named.as_slice() {
        [] => {
            let sm = tables.sm_rows().iter().map(|row| row.target.to_string());
            let cc = tables.capabilities().iter().map(|row| row.cc.to_string());
            Found::None {
                nearest: nearest(&lower, sm.chain(cc).map(|name| (name.clone(), name))),
            }
        }
        [row] => find(&row.cc.to_string(), tables),
        rows => Found::Several {
            name: name.trim().to_owned(),
            candidates: rows
                .iter()
                .map(|row| Candidate {
                    name: format!("sm_{}", row.cc.number()),
                    cc: Some(row.cc.to_string()),
                    chip: Some(row.examples.clone()),
                    pci: None,
                })
                .collect(),
        },
    }
}

/// Which toolkits build for a target, and where its code runs.
fn built(target: SmTarget, tables: &Tables) -> Vec<Fact> {
    let mut facts = toolkits(target, tables);
    let reach = |fits: &dyn Fn(ComputeCapability) -> bool| -> Vec<String> {
        let rows = tables.capabilities().iter().map(|row| row.cc);
        rows.filter(|cc| fits(*cc))
            .map(|cc| cc.to_string())
            .collect()
    };
    let cubin = |fit| reach(&|cc| cubin_fit(target, cc, tables) == fit);
    let ground = Ground::rule(CUBIN_RULE);
    facts.push(ground.many("its-cubins-run-on", cubin(Fit::Yes)));
    let unsure = cubin(Fit::Unsure);
    if !unsure.is_empty() {
        facts.push(ground.many("its-cubins-unsure-on", unsure));
    }
    let ptx = reach(&|cc| ptx_fit(target, cc, tables));
    facts.push(Ground::rule(PTX_RULE).many("its-ptx-compiles-for", ptx));
    facts
}

/// The toolkits and PTX ISA versions of a target.
pub(super) fn toolkits(target: SmTarget, tables: &Tables) -> Vec<Fact> {
    let Some(row) = tables.sm(target) else {
        let nothing = Ground::new(Evidence::Unverified, &[], None);
        return ["first-toolkit", "last-toolkit", "first-ptx-isa"]
            .map(|name| nothing.fact(name, None))
            .into();
    };
    let ground = Ground::new(row.evidence, &row.sources, row.note.as_ref())
        .overlaid(tables.is_overlaid(Table::Sm, &target));
    vec![
        ground.noted(ground.maybe("first-toolkit", row.first_toolkit)),
        ground.many("last-toolkit", row.last_toolkit),
        ground.maybe("first-ptx-isa", row.min_ptx_isa),
    ]
}

/// What holds for every GPU of a capability: drivers, and what code runs on it.
pub(super) fn capability(row: &CapabilityRow, tables: &Tables) -> Vec<Fact> {
    let cc = row.cc;
    let overlay = tables.is_overlaid(Table::Capabilities, &cc);
    let ground = Ground::new(Evidence::Docs, &row.sources, row.note.as_ref()).overlaid(overlay);
    let architecture = format!("{cc} {}", row.examples);
    let mut facts = vec![ground.noted(ground.one("architecture", architecture))];
    if row.tegra {
        facts.push(ground.one("tegra", "yes"));
    }
    if let Some(new) = row.renamed_to {
        facts.push(ground.one("renamed-to", new));
    }
    if let Some(old) = row.renamed_from {
        facts.push(ground.one("renamed-from", old));
    }
    facts.push(first_driver(row, &ground));
    // desktop branches do not list Tegra chips: nothing follows from that
    let last = match (row.tegra, row.last_branch) {
        (true, None) => None,
        (_, last) => Some(last.iter().map(ToString::to_string).collect()),
    };
    facts.push(ground.fact("last-driver-branch", last));
    let branches = tables
        .branches()
        .iter()
        .filter(|branch| branch.supports(cc));
    let branches: Vec<String> = branches.map(|row| row.branch.to_string()).collect();
    let listed = (!row.tegra).then_some(branches);
    facts.push(Ground::rule("the rows of these branches").fact("driver-branches", listed));
    let targets = || tables.sm_rows().iter().map(|row: &SmRow| row.target);
    let cubins = |fit| targets().filter(move |target| cubin_fit(*target, cc, tables) == fit);
    let rule = Ground::rule(CUBIN_RULE);
    facts.push(rule.many("runs-cubins-of", cubins(Fit::Yes)));
    if cubins(Fit::Unsure).next().is_some() {
        facts.push(rule.many("unsure-cubins", cubins(Fit::Unsure)));
    }
    let ptx = targets().filter(|target| {
        let written = tables
            .sm(*target)
            .is_some_and(|row| row.min_ptx_isa.is_some());
        written && ptx_fit(*target, cc, tables)
    });
    let ptx = ptx.map(|target| target.compute().to_string());
    facts.push(Ground::rule(PTX_RULE).many("compiles-ptx-of", ptx));
    facts
}

fn first_driver(row: &CapabilityRow, ground: &Ground) -> Fact {
    let Some(first) = &row.first_driver else {
        return ground.fact("first-driver", None);
    };
    let sources = [first.source.clone()];
    let own = Ground::new(first.evidence, &sources, first.note.as_ref()).overlaid(ground.overlay);
    let mut value: Vec<String> = first.branch.iter().map(ToString::to_string).collect();
    value.extend(first.linux.iter().map(|linux| format!("Linux {linux}")));
    own.noted(own.fact(
        "first-driver",
        Some(value).filter(|value| !value.is_empty()),
    ))
}

/// The GPUs of a capability by name, without those of notebooks and of names that several chips share.
fn gpus(row: &CapabilityRow, tables: &Tables) -> Fact {
    let rows = tables.gpus().iter();
    let of_it = rows.filter(|gpu| gpu.cc == [row.cc] && gpu.class != GpuClass::Mobile);
    Ground::rule("the rows of these GPUs").many("gpus", of_it.map(|gpu| &gpu.name))
}
