//! Drivers and their branches.

use super::{Fact, Found, Ground, beside};
use crate::compat::{Driver, Meets};
use crate::cuda::{ComputeCapability, DriverBranch, DriverSpec, ToolkitVersion};
use crate::platform::Os;
use crate::tables::{BranchRow, CapabilityRow, Table, Tables, ToolkitRow};

/// Looks up `R550`, `550`, a Linux version `550.54.15` or a Windows version `551.61`.
pub(super) fn driver(name: &str, tables: &Tables) -> Found {
    let name = name.trim();
    let found = name.parse::<DriverSpec>().ok().and_then(|spec| {
        let os = numbers_of(&spec, tables);
        let row = match &spec {
            DriverSpec::Branch(branch) => tables.branch(*branch)?,
            DriverSpec::Exact(version) => tables.branch_of(version, os)?,
        };
        Some((spec, os, row))
    });
    let Some((spec, os, row)) = found else {
        let asked = name
            .split('.')
            .next()
            .and_then(|number| number.parse().ok());
        return Found::None {
            nearest: beside(name, asked, tables.branches().iter().map(|row| row.branch)),
        };
    };
    let title = match &spec {
        DriverSpec::Branch(branch) => branch.to_string(),
        DriverSpec::Exact(version) => format!("{version} ({os})"),
    };
    let driver = Driver::new(Some(spec), os, tables);
    Found::one(title, facts(&driver, row, tables))
}

/// Linux versions have three parts since R390, Windows versions two.
fn numbers_of(spec: &DriverSpec, tables: &Tables) -> Os {
    match spec {
        DriverSpec::Exact(version) if version.to_string().matches('.').count() == 1 => {
            let windows = tables.branch_of(version, Os::Windows).is_some();
            if windows { Os::Windows } else { Os::Linux }
        }
        _ => Os::Linux,
    }
}

fn facts(driver: &Driver<'_>, row: &BranchRow, tables: &Tables) -> Vec<Fact> {
    let branch = row.branch;
    let ground = Ground::new(row.evidence, &row.sources, row.note.as_ref())
        .overlaid(tables.is_overlaid(Table::Branches, &branch));
    let isa = tables.ptx_rows().iter().rfind(|ptx| ptx.cuda <= row.cuda);
    let mut facts = vec![
        ground.noted(ground.one("branch", branch)),
        ground.one("cuda", row.cuda),
        Ground::rule("the PTX ISA version of that CUDA version")
            .maybe("newest-ptx-isa", isa.map(|ptx| ptx.isa)),
        ground.maybe("type", row.kind.map(crate::tables::BranchKind::id)),
        ground.maybe("end-of-life", row.eol.as_ref()),
        ground.maybe("first-linux-version", row.first_linux.as_ref()),
        windows_numbers(branch, tables),
        ground.many(
            "gpus",
            row.capabilities.iter().map(|cc| called(*cc, tables)),
        ),
    ];
    let rule = Ground::rule("the capabilities of all branches");
    let desktop = || tables.capabilities().iter().filter(|row| !row.tegra);
    let which = |wanted: &dyn Fn(&CapabilityRow) -> bool| -> Vec<String> {
        let rows = desktop().filter(|row| wanted(row));
        rows.map(|row| called(row.cc, tables)).collect()
    };
    let first = |row: &CapabilityRow| row.first_driver.as_ref().and_then(|first| first.branch);
    facts.push(rule.many("first-branch-for", which(&|row| first(row) == Some(branch))));
    facts.push(rule.many(
        "last-branch-for",
        which(&|row| row.last_branch == Some(branch)),
    ));
    facts.push(rule.many(
        "dropped-before",
        which(&|row| row.last_branch.is_some_and(|last| last < branch)),
    ));
    facts.extend(toolkits(driver, row.cuda, tables));
    facts
}

/// A capability with examples.
fn called(cc: ComputeCapability, tables: &Tables) -> String {
    let examples = tables.capability(cc).map(|row| row.examples.as_str());
    format!("{cc} {}", examples.unwrap_or("unknown"))
}

fn windows_numbers(branch: DriverBranch, tables: &Tables) -> Fact {
    let rows = tables.driver_numbers(Os::Windows).iter();
    let rows: Vec<_> = rows.filter(|row| row.branch == branch).collect();
    let numbers: Vec<String> = rows
        .iter()
        .map(|row| match row.to {
            Some(to) if to == row.from => row.from.to_string(),
            Some(to) => format!("{} to {to}", row.from),
            None => format!("{} and newer", row.from),
        })
        .collect();
    match rows.first() {
        Some(row) => Ground::new(row.evidence, &row.sources, row.note.as_ref())
            .overlaid(tables.is_overlaid(Table::Windows, &row.key()))
            .many("windows-numbers", numbers),
        None => Ground::rule("no row of Windows numbers").fact("windows-numbers", None),
    }
}

/// The toolkits whose code starts on the driver: with everything, or by minor version compatibility.
fn toolkits(driver: &Driver<'_>, cuda: ToolkitVersion, tables: &Tables) -> Vec<Fact> {
    let released = || tables.toolkits().iter().filter(|row| row.released);
    let full = released()
        .filter(|row| row.cuda <= cuda)
        .map(|row| row.cuda);
    let floor = |row: &ToolkitRow| tables.runtime_floor(row.cuda.major, driver.os());
    let meets = |row: &&ToolkitRow| {
        floor(row).is_some_and(|floor| driver.meets(&floor.driver) != Meets::No)
    };
    let minor: Vec<&ToolkitRow> = released()
        .filter(|row| row.cuda > cuda)
        .filter(meets)
        .collect();
    let from: Vec<String> = minor
        .iter()
        .filter_map(|row| floor(row))
        .filter(|floor| driver.meets(&floor.driver) == Meets::FromVersion)
        .map(|floor| format!("from {} on", floor.driver))
        .collect();
    let rule = Ground::rule("CUDA compatibility guide, minor version compatibility");
    let mut by_minor = rule.many(
        "toolkits-by-minor-version",
        minor.iter().map(|row| row.cuda),
    );
    if !minor.is_empty() {
        let limits = "their cubins start; their own newer PTX is not compiled";
        by_minor.note = Some(match from.first() {
            Some(from) => format!("{limits}; {from}"),
            None => limits.to_owned(),
        });
    }
    let zstd = tables.compression_floor("zstd", driver.os()).map(|floor| {
        let ground = Ground::new(floor.evidence, std::slice::from_ref(&floor.source), None);
        let mut fact = ground.one(
            "unpacks-zstd",
            match driver.meets(&floor.driver) {
                Meets::Yes => "yes".to_owned(),
                Meets::FromVersion => format!("from {} on", floor.driver),
                Meets::No => "no".to_owned(),
            },
        );
        fact.note = Some("compressed device code of CUDA 13 and of `--compress-mode`".to_owned());
        fact
    });
    let mut facts = vec![rule.many("toolkits-complete", full), by_minor];
    facts.extend(zstd);
    facts
}
