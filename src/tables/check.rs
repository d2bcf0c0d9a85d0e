//! Invariants of the tables: what must hold between rows and files beyond that they parse.
//!
//! Checks facts against each other, never against rules. Run by a unit test over the embedded tables and
//! by the `facts` command.

mod container;
mod driver;
mod errors;
mod forward_compat;
mod instance;
mod pci;

use std::collections::BTreeSet;
use std::fmt::{Debug, Display};

use super::Tables;
use super::library::normalised;
use super::rows::{CapabilityRow, SmRow, ToolkitRow};
use crate::cuda::{ComputeCapability, DriverBranch, DriverSpec, PtxIsa, SmTarget, Suffix};
use crate::platform::Os;

use driver::{agrees, branches, numbers};

/// What is broken, in words.
#[derive(Default)]
struct Broken(Vec<String>);

impl Broken {
    fn unless(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.0.push(message());
        }
    }

    /// Keys must rise strictly: sorted, and none twice.
    fn rising<K: PartialOrd + Debug>(&mut self, what: &str, keys: impl IntoIterator<Item = K>) {
        let mut keys = keys.into_iter();
        let Some(mut before) = keys.next() else {
            self.0.push(format!("{what}: no rows"));
            return;
        };
        for key in keys {
            self.unless(before < key, || {
                format!("{what}: {key:?} stands after {before:?}")
            });
            before = key;
        }
    }

    fn sourced<'a, K: Display>(
        &mut self,
        rows: impl IntoIterator<Item = (K, &'a [String], Option<&'a String>)>,
    ) {
        for (key, sources, note) in rows {
            let named = !sources.is_empty() && sources.iter().all(|text| !text.trim().is_empty());
            self.unless(named, || format!("`{key}` has no source"));
            self.unless(note.is_none_or(|text| !text.trim().is_empty()), || {
                format!("`{key}` has an empty note")
            });
        }
    }
}

impl Tables {
    /// What is wrong with the tables, in words; empty where every invariant holds.
    pub fn check(&self) -> Vec<String> {
        let mut broken = Broken::default();
        order(self, &mut broken);
        sources(self, &mut broken);
        gpus(self, &mut broken);
        targets(self, &mut broken);
        capabilities(self, &mut broken);
        branches(self, &mut broken);
        numbers(self, &mut broken);
        toolkits(self, &mut broken);
        ptx(self, &mut broken);
        floors(self, &mut broken);
        libraries(self, &mut broken);
        errors::errors(self, &mut broken);
        forward_compat::packages(self, &mut broken);
        container::words(self, &mut broken);
        instance::instances(self, &mut broken);
        pci::chips(self, &mut broken);
        pci::devices(self, &mut broken);
        pci::gpus(self, &mut broken);
        broken.0
    }
}

/// Rows are sorted and unique, and all files are of one day.
fn order(tables: &Tables, broken: &mut Broken) {
    let gpus = tables
        .gpus()
        .iter()
        .map(|row| (row.cc.first(), row.name.to_lowercase(), &row.name));
    broken.rising("gpus", gpus);
    let ambiguous = &tables.gpu_table().ambiguous;
    broken.rising("ambiguous names", ambiguous.iter().map(|row| &row.name));
    let sm = tables.arch_table().sm.iter();
    broken.rising("sm", sm.map(|row| row.target));
    broken.rising("capabilities", tables.capabilities().iter().map(|r| r.cc));
    broken.rising("branches", tables.branches().iter().map(|row| row.branch));
    let toolkits = tables.toolkit_table();
    broken.rising("toolkits", toolkits.toolkits.iter().map(|row| row.cuda));
    broken.rising("ptx", toolkits.ptx.iter().map(|row| row.isa));
    let floors = toolkits.runtime.iter();
    broken.rising("runtime floors", floors.map(|(key, _)| key));
    let floors = toolkits.compression.iter();
    broken.rising("compression floors", floors.map(|(key, _)| key));
    let libraries = tables.library_table();
    broken.rising("vendor", libraries.vendor.iter().map(|row| &row.component));
    let sonames = libraries.sonames.iter();
    let sonames = sonames.map(|row| (&row.component, row.cuda.first(), &row.names));
    broken.rising("sonames", sonames.map(|key| format!("{key:?}")));
    broken.rising("roles", libraries.roles.iter().map(|row| &row.library));
    broken.rising(
        "families",
        libraries.families.iter().map(|row| &row.library),
    );
    let days: BTreeSet<&str> = [
        tables.as_of(),
        &tables.gpu_table().as_of,
        &toolkits.as_of,
        &tables.driver_table().as_of,
        &libraries.as_of,
        &tables.pci_table().as_of,
        &tables.instance_table().as_of,
        &tables.compat_table().as_of,
        &tables.error_table().as_of,
        &tables.container_table().as_of,
    ]
    .into();
    broken.unless(days.len() == 1, || {
        format!("tables of several days: {days:?}")
    });
}

/// Every row names a source; empty texts name none.
fn sources(tables: &Tables, broken: &mut Broken) {
    let rows = tables.gpus().iter();
    broken.sourced(rows.map(|row| (&row.name, row.sources.as_slice(), row.note.as_ref())));
    let rows = tables.gpu_table().ambiguous.iter();
    broken.sourced(rows.map(|row| (&row.name, row.sources.as_slice(), None)));
    let rows = tables.arch_table().sm.iter();
    broken.sourced(rows.map(|row| (row.target, row.sources.as_slice(), row.note.as_ref())));
    let rows = tables.capabilities().iter();
    broken.sourced(rows.map(|row| (row.cc, row.sources.as_slice(), row.note.as_ref())));
    let rows = tables.branches().iter();
    broken.sourced(rows.map(|row| (row.branch, row.sources.as_slice(), row.note.as_ref())));
    let drivers = tables.driver_table();
    let rows = drivers.linux.iter().chain(&drivers.windows);
    broken.sourced(rows.map(|row| (row.branch, row.sources.as_slice(), row.note.as_ref())));
    let toolkits = tables.toolkit_table();
    let rows = toolkits.toolkits.iter();
    broken.sourced(rows.map(|row| (row.cuda, row.sources.as_slice(), row.note.as_ref())));
    let rows = toolkits.ptx.iter();
    broken.sourced(rows.map(|row| (row.isa, row.sources.as_slice(), row.note.as_ref())));
    let libraries = tables.library_table();
    let rows = libraries.vendor.iter();
    broken.sourced(rows.map(|row| (&row.component, row.sources.as_slice(), row.note.as_ref())));
    let rows = libraries.sonames.iter();
    broken.sourced(rows.map(|row| (row.names.join(" "), row.sources.as_slice(), None)));
    let rows = libraries.roles.iter();
    broken.sourced(rows.map(|row| (&row.library, row.sources.as_slice(), None)));
    let rows = libraries.families.iter();
    broken.sourced(rows.map(|row| (&row.library, row.sources.as_slice(), None)));
    let rows = libraries.run_time.iter();
    broken.sourced(rows.map(|row| (row.packages.join(" "), row.sources.as_slice(), None)));
    let rows = libraries.gpu_builds.iter();
    broken.sourced(rows.map(|row| (&row.package, row.sources.as_slice(), None)));
}

/// GPUs have known capabilities; a doubtful or unknown one says why; PCI ids look like PCI ids.
fn gpus(tables: &Tables, broken: &mut Broken) {
    let known = |cc: &ComputeCapability| tables.capability(*cc).is_some();
    for row in tables.gpus() {
        let name = &row.name;
        broken.unless(row.cc.iter().all(known), || {
            format!("GPU `{name}` has an unknown capability")
        });
        broken.unless(row.cc.is_sorted_by(|a, b| a < b), || {
            format!("GPU `{name}`: capabilities do not rise")
        });
        let doubtful = row.confidence.is_some() || row.cc.is_empty();
        broken.unless(!doubtful || row.note.is_some(), || {
            format!("GPU `{name}` is doubtful and has no note")
        });
        let pci = |id: &String| {
            id.strip_prefix("10de:").is_some_and(|device| {
                device.len() == 4
                    && device.bytes().all(|b| b.is_ascii_hexdigit())
                    && device == device.to_lowercase()
            })
        };
        broken.unless(row.pci.iter().all(pci), || {
            format!("GPU `{name}` has a malformed PCI id")
        });
    }
    for row in &tables.gpu_table().ambiguous {
        let name = &row.name;
        broken.unless(row.cc.len() > 1 && row.cc.iter().all(known), || {
            format!("`{name}` is not ambiguous over known capabilities")
        });
    }
}

/// Sm targets have a capability; their toolkits and PTX ISA versions exist.
fn targets(tables: &Tables, broken: &mut Broken) {
    for row in &tables.arch_table().sm {
        let SmRow { target, .. } = row;
        broken.unless(tables.capability(target.cc).is_some(), || {
            format!("`{target}` has an unknown capability")
        });
        broken.unless(
            row.min_ptx_isa.is_none_or(|isa| tables.ptx(isa).is_some()),
            || format!("`{target}` has an unknown PTX ISA version"),
        );
        broken.unless(
            row.last_toolkit.is_none_or(|t| tables.toolkit(t).is_some()),
            || format!("`{target}` has an unknown last toolkit"),
        );
        let spans = match (row.first_toolkit, row.last_toolkit) {
            (Some(first), Some(last)) => first <= last,
            _ => true,
        };
        broken.unless(spans, || format!("`{target}` ends before it begins"));
    }
    for ToolkitRow { cuda, targets, .. } in tables.toolkits() {
        broken.unless(targets.is_sorted_by(|a, b| a < b), || {
            format!("toolkit `{cuda}`: targets do not rise")
        });
        if targets.is_empty() {
            continue;
        }
        for row in &tables.arch_table().sm {
            let begun = row.first_toolkit.is_none_or(|first| first <= *cuda);
            let spans = begun && row.last_toolkit.is_none_or(|last| *cuda <= last);
            let target = row.target;
            broken.unless(spans == targets.contains(&target), || {
                format!("toolkit `{cuda}` and `{target}` contradict each other")
            });
        }
        for target in targets {
            broken.unless(tables.sm(*target).is_some(), || {
                format!("toolkit `{cuda}` has an unknown target `{target}`")
            });
        }
    }
}

/// Families, new names and drivers of capabilities agree with the other tables.
fn capabilities(tables: &Tables, broken: &mut Broken) {
    for row in tables.capabilities() {
        let CapabilityRow { cc, family, .. } = row;
        let family_target = tables.sm(SmTarget::new(*cc, Suffix::Family)).is_some();
        broken.unless(family_target != family.is_empty(), || {
            format!("`{cc}`: a family without family target, or the reverse")
        });
        let member = |other: &ComputeCapability| other >= cc && tables.capability(*other).is_some();
        broken.unless(family.iter().all(member), || {
            format!("`{cc}`: a family member is unknown or older")
        });
        broken.unless(family.is_empty() || family.contains(cc), || {
            format!("`{cc}` is not of its own family")
        });
        let back = |to: ComputeCapability| {
            let other = tables.capability(to);
            other.is_some_and(|other| other.renamed_from == Some(*cc))
        };
        broken.unless(row.renamed_to.is_none_or(back), || {
            format!("`{cc}` is renamed to a row that does not say so")
        });
        let listing: Vec<DriverBranch> = tables
            .branches()
            .iter()
            .filter(|branch| branch.supports(*cc))
            .map(|branch| branch.branch)
            .collect();
        broken.unless(!row.tegra || listing.is_empty(), || {
            format!("a desktop branch lists the Tegra capability `{cc}`")
        });
        if let Some(first) = &row.first_driver {
            let branch = first.branch;
            broken.unless(row.tegra || branch == listing.first().copied(), || {
                format!("`{cc}`: the first branch is not the first that lists it")
            });
            broken.unless(branch.is_none_or(|b| tables.branch(b).is_some()), || {
                format!("`{cc}`: the first branch is unknown")
            });
            agrees(tables, broken, cc, branch, first.linux.as_ref(), Os::Linux);
            broken.unless(!first.source.trim().is_empty(), || {
                format!("`{cc}`: the first driver has no source")
            });
        }
        let newest = tables.branches().last().map(|row| row.branch);
        let last = listing.last().copied();
        let expected = last.filter(|last| Some(*last) != newest);
        broken.unless(row.tegra || row.last_branch == expected, || {
            format!("`{cc}`: the last branch is not the last that lists it")
        });
        broken.unless(
            row.last_branch.is_none_or(|b| tables.branch(b).is_some()),
            || format!("`{cc}`: the last branch is unknown"),
        );
    }
}

/// Toolkits agree with their PTX ISA, branch and paired drivers.
fn toolkits(tables: &Tables, broken: &mut Broken) {
    let rows = tables.toolkits();
    broken.unless(rows.is_sorted_by_key(|row| row.ptx_isa), || {
        "a newer toolkit writes an older PTX ISA version".to_owned()
    });
    for row in rows {
        let cuda = row.cuda;
        let isa = tables.ptx(row.ptx_isa);
        broken.unless(isa.is_some_and(|isa| isa.cuda <= cuda), || {
            format!("toolkit `{cuda}` and its PTX ISA version do not agree")
        });
        let reports = |branch| tables.branch(branch).map(|row| row.cuda);
        broken.unless(reports(row.branch) == Some(cuda), || {
            format!("toolkit `{cuda}`: its branch reports another CUDA version")
        });
        broken.unless(row.released != row.drivers.is_empty(), || {
            format!("toolkit `{cuda}`: released without a driver row, or the reverse")
        });
        let known = |target: SmTarget| row.targets.contains(&target);
        broken.unless(row.default_target.is_none_or(known), || {
            format!("toolkit `{cuda}` does not build for its default target")
        });
        for paired in &row.drivers {
            for (driver, os) in [(&paired.linux, Os::Linux), (&paired.windows, Os::Windows)] {
                let Some(driver) = driver else { continue };
                let found = tables.branch_of(driver, os);
                broken.unless(found.is_some_and(|branch| branch.cuda == cuda), || {
                    format!(
                        "toolkit `{cuda}`: driver {driver} on {os} reports another CUDA version"
                    )
                });
            }
        }
    }
}

/// PTX ISA versions rise with CUDA versions; drivers are of their branches.
fn ptx(tables: &Tables, broken: &mut Broken) {
    let rows = &tables.toolkit_table().ptx;
    broken.unless(rows.is_sorted_by_key(|row| row.cuda), || {
        "a newer PTX ISA version needs an older CUDA version".to_owned()
    });
    let oldest: Option<PtxIsa> = tables.toolkits().first().map(|row| row.ptx_isa);
    for row in rows {
        let isa = row.isa;
        // Older branches than the tables hold are named all the same
        if oldest.is_some_and(|oldest| isa >= oldest) {
            let branch = row.branch.and_then(|branch| tables.branch(branch));
            broken.unless(branch.is_some_and(|branch| branch.cuda == row.cuda), || {
                format!("PTX ISA `{isa}`: its branch reports another CUDA version")
            });
        }
        agrees(
            tables,
            broken,
            &isa,
            row.branch,
            row.linux.as_ref(),
            Os::Linux,
        );
        agrees(
            tables,
            broken,
            &isa,
            row.branch,
            row.windows.as_ref(),
            Os::Windows,
        );
    }
}

/// Floors rise with the CUDA major version and name known drivers.
fn floors(tables: &Tables, broken: &mut Broken) {
    let branch = |driver: &DriverSpec, os| match driver {
        DriverSpec::Branch(branch) => tables.branch(*branch),
        DriverSpec::Exact(version) => tables.branch_of(version, os),
    };
    let toolkits = tables.toolkit_table();
    for ((major, os), floor) in &toolkits.runtime {
        let found = branch(&floor.driver, *os);
        broken.unless(found.is_some_and(|row| row.cuda.major == *major), || {
            format!("the runtime floor of CUDA {major} on {os} is of another major version")
        });
        broken.unless(!floor.source.trim().is_empty(), || {
            format!("the runtime floor of CUDA {major} on {os} has no source")
        });
    }
    for ((coding, os), floor) in &toolkits.compression {
        broken.unless(branch(&floor.driver, *os).is_some(), || {
            format!("the floor of `{coding}` on {os} is an unknown driver")
        });
        broken.unless(!floor.source.trim().is_empty(), || {
            format!("the floor of `{coding}` on {os} has no source")
        });
    }
}

/// Packages are named in the form in which they are compared; a name that libraries need is of the component that its
/// file is, and stands in one row.
fn libraries(tables: &Tables, broken: &mut Broken) {
    let table = tables.library_table();
    let mut named = BTreeSet::new();
    for row in &table.sonames {
        for name in &row.names {
            let vendor = tables.vendor(name).map(|vendor| &vendor.component);
            broken.unless(vendor == Some(&row.component), || {
                format!("`{name}` is of component {vendor:?}")
            });
            broken.unless(named.insert(name), || {
                format!("`{name}` stands in two rows")
            });
        }
        let names = row.names.join(" ");
        broken.unless(row.packages.len() <= row.cuda.len(), || {
            format!("`{names}`: more packages than major versions")
        });
        broken.unless(row.cuda.is_sorted_by(|a, b| a < b), || {
            format!("`{names}`: major versions do not rise")
        });
    }
    let vendor = table.vendor.iter().flat_map(|row| &row.packages);
    let roles = table.roles.iter().flat_map(|row| &row.packages);
    let families = table.families.iter().flat_map(|row| &row.packages);
    let run_time = table.run_time.iter().flat_map(|row| &row.packages);
    let deciders = table.families.iter().map(|row| &row.decider.package);
    let builds = table.gpu_builds.iter().map(|row| &row.package);
    let sonames = table.sonames.iter().flat_map(|row| &row.packages);
    let others = run_time.chain(deciders).chain(builds).chain(sonames);
    for package in vendor.chain(roles).chain(families).chain(others) {
        broken.unless(*package == normalised(package), || {
            format!("the package name `{package}` is not normalised")
        });
    }
}

#[cfg(test)]
mod tests;
