//! CUDA toolkits and PTX ISA versions.

use super::{Fact, Found, Ground, beside};
use crate::cuda::{PtxIsa, SmTarget, ToolkitVersion};
use crate::platform::Os;
use crate::tables::{Floor, PairedDriver, Table, Tables, ToolkitRow, nearest};

/// The first CUDA major version with minor version compatibility (`RULES.md` 4.2 and 4.3).
const MINOR_VERSIONS_FROM: u32 = 11;

/// Looks up `12.4`, or one of its updates: `12.4.1`.
pub(super) fn toolkit(name: &str, tables: &Tables) -> Found {
    let name = name.trim();
    let (version, update) = match name.match_indices('.').nth(1) {
        Some((at, _)) => (name.get(..at).unwrap_or(name), Some(name)),
        None => (name, None),
    };
    let row = version
        .parse()
        .ok()
        .and_then(|version| tables.toolkit(version));
    let of_update = |row: &ToolkitRow| match update {
        None => row.drivers.clone(),
        Some(update) => {
            let drivers = row.drivers.iter().filter(|paired| is_of(paired, update));
            drivers.cloned().collect()
        }
    };
    match row {
        Some(row) if update.is_none() || !of_update(row).is_empty() => {
            Found::one(name, facts(row, &of_update(row), tables))
        }
        row => {
            // an update is misspelt as an update
            let updates = row.into_iter().flat_map(|row| &row.drivers);
            let updates = updates.filter_map(|paired| paired.release.split(' ').next());
            let updates: Vec<String> = updates.map(str::to_owned).collect();
            let versions = tables.toolkits().iter().map(|row| row.cuda);
            Found::None {
                nearest: if updates.is_empty() {
                    beside(name, version.parse().ok(), versions)
                } else {
                    nearest(name, updates.into_iter().map(|name| (name.clone(), name)))
                },
            }
        }
    }
}

/// Whether the pair is of the update `12.4.1`.
fn is_of(paired: &PairedDriver, update: &str) -> bool {
    let first = paired.release.split(' ').next();
    first == Some(update)
}

fn facts(row: &ToolkitRow, paired: &[PairedDriver], tables: &Tables) -> Vec<Fact> {
    let cuda = row.cuda;
    let ground = Ground::new(row.evidence, &row.sources, row.note.as_ref())
        .overlaid(tables.is_overlaid(Table::Toolkits, &cuda));
    let mut facts = vec![
        ground.noted(ground.one("released", if row.released { "yes" } else { "no" })),
        ground.one("ptx-isa", row.ptx_isa),
    ];
    for (name, os) in [
        ("minimum-driver-linux", Os::Linux),
        ("minimum-driver-windows", Os::Windows),
    ] {
        facts.push(minimum(
            name,
            tables.runtime_floor(cuda.major, os),
            row,
            &ground,
        ));
    }
    let pairs = paired.iter().map(pair).collect::<Vec<_>>();
    let mut fact = ground.fact(
        "paired-drivers",
        Some(pairs).filter(|pairs| !pairs.is_empty()),
    );
    fact.note =
        Some("the driver with everything of that release, the compiler for its PTX too".to_owned());
    facts.push(fact);
    facts.push(ground.one("first-driver-branch", row.branch));
    facts.push(ground.one("runtime-library", &row.cudart));
    facts.push(ground.maybe("default-target", row.default_target));
    let known = |targets: Vec<String>| Some(targets).filter(|targets| !targets.is_empty());
    let all = row.targets.iter().map(ToString::to_string).collect();
    facts.push(ground.fact("targets", known(all)));
    let sm = tables.sm_rows().iter();
    let new = sm.filter(|sm| sm.first_toolkit == Some(cuda));
    facts.push(ground.many("new-targets", new.map(|sm| sm.target)));
    facts.push(ground.many("dropped-targets", dropped(cuda, tables)));
    let packages = tables.compat_packages();
    if let Some(package) = packages.iter().find(|package| package.package == cuda) {
        let ground = Ground::new(package.evidence, &package.sources, package.note.as_ref())
            .overlaid(tables.is_overlaid(Table::Packages, &cuda));
        let hosts = package.hosts.as_ref();
        let hosts = hosts.map(|hosts| hosts.iter().map(ToString::to_string).collect());
        facts.push(ground.noted(ground.fact("forward-compatibility-on", hosts)));
    }
    facts
}

/// The oldest driver on which code of the toolkit starts.
fn minimum(name: &'static str, floor: Option<&Floor>, row: &ToolkitRow, own: &Ground) -> Fact {
    match floor {
        Some(floor) => {
            let mut fact = Ground::new(floor.evidence, std::slice::from_ref(&floor.source), None)
                .one(name, &floor.driver);
            let limits =
                "by minor version compatibility, without compiling PTX of newer minor versions";
            fact.note = Some(match &floor.note {
                Some(note) => format!("{limits}; {note}"),
                None => limits.to_owned(),
            });
            fact
        }
        None if row.cuda.major < MINOR_VERSIONS_FROM => {
            let mut fact = own.one(name, row.branch);
            fact.note = Some(
                "before CUDA 11 a runtime needed a driver that reports its own version or newer"
                    .to_owned(),
            );
            fact
        }
        None => own.fact(name, None),
    }
}

fn pair(paired: &PairedDriver) -> String {
    let part = |os: &str, driver: Option<&crate::cuda::DriverVersion>| match driver {
        Some(driver) => format!("{os} {driver}"),
        None => format!("{os} unknown"),
    };
    let linux = part("Linux", paired.linux.as_ref());
    let windows = part("Windows", paired.windows.as_ref());
    format!("{}: {linux} / {windows}", paired.release)
}

/// The targets that the toolkit before still built for.
fn dropped(cuda: ToolkitVersion, tables: &Tables) -> Vec<SmTarget> {
    let released = |row: &&ToolkitRow| row.released && row.cuda < cuda;
    let before = tables.toolkits().iter().rfind(released);
    let Some(before) = before.map(|row| row.cuda) else {
        return Vec::new();
    };
    let sm = tables.sm_rows().iter();
    sm.filter(|sm| sm.last_toolkit == Some(before))
        .map(|sm| sm.target)
        .collect()
}

/// Looks up `8.7`.
pub(super) fn ptx(name: &str, tables: &Tables) -> Found {
    let lower = name.trim().to_lowercase();
    let number = lower.strip_prefix("ptx").unwrap_or(&lower).trim();
    let number = number.strip_prefix("isa").unwrap_or(number).trim();
    let isa: Option<PtxIsa> = number.parse().ok();
    let Some(row) = isa.and_then(|isa| tables.ptx(isa)) else {
        return Found::None {
            nearest: beside(number, isa, tables.ptx_rows().iter().map(|row| row.isa)),
        };
    };
    let isa = row.isa;
    let ground = Ground::new(row.evidence, &row.sources, row.note.as_ref())
        .overlaid(tables.is_overlaid(Table::Ptx, &isa));
    let writing = tables
        .toolkits()
        .iter()
        .filter(|toolkit| toolkit.ptx_isa == isa);
    let writing = writing
        .filter(|toolkit| toolkit.released)
        .map(|toolkit| toolkit.cuda);
    let mut facts = vec![
        ground.noted(ground.one("first-cuda", row.cuda)),
        ground.maybe("first-driver-branch", row.branch),
        ground.maybe("first-driver-linux", row.linux.as_ref()),
        ground.maybe("first-driver-windows", row.windows.as_ref()),
    ];
    facts.push(Ground::rule("the rows of these toolkits").many("written-by-toolkits", writing));
    let sm = tables.sm_rows().iter();
    let new = sm
        .filter(|sm| sm.min_ptx_isa == Some(isa))
        .map(|sm| sm.target);
    facts.push(Ground::rule("the rows of these targets").many("new-targets", new));
    Found::one(format!("PTX {isa}"), facts)
}
