//! Packages of one environment that need libraries of different major versions of CUDA.
//!
//! Copies under names of their own and libraries that are linked statically are private to who brings them, and are
//! not counted; neither are siblings of which another is loaded. What the system's own packages and files of no
//! package need runs in processes of its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{Library, Manager};
use crate::tables::SonameRow;

use super::super::finding::Finding;
use super::place::{environment, innermost};
use super::{Closure, key, words};

/// What the packages of an environment need, by major version of CUDA and package.
pub(super) type Majors<'a> = BTreeMap<u32, BTreeMap<usize, Need<'a>>>;

/// What a package needs of one major version.
#[derive(Debug, Default)]
pub(super) struct Need<'a> {
    /// The names, sorted.
    pub(super) names: BTreeSet<&'a str>,
    /// The first library that needs one.
    pub(super) library: Option<&'a Library>,
}

/// One finding for each package of a major version that is not the one of most packages.
pub(super) fn mixed(closure: &Closure<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for majors in by_environment(closure).into_values() {
        // of equals the newer one is what the others are to follow
        let leading = majors.iter().max_by_key(|(_, packages)| packages.len());
        let Some((leading, _)) = leading else {
            continue;
        };
        for (major, packages) in majors.iter().filter(|(major, _)| *major != leading) {
            let one = packages.iter().map(|(package, need)| {
                words::mixed(closure, *package, need, (*major, *leading), &majors)
            });
            findings.extend(one);
        }
    }
    findings
}

fn by_environment<'a>(closure: &Closure<'a>) -> BTreeMap<String, Majors<'a>> {
    let paths = || {
        closure
            .libraries
            .iter()
            .map(|library| library.path.as_str())
    };
    let environments: BTreeSet<String> = paths().filter_map(environment).collect();
    let mut found: BTreeMap<String, Majors<'a>> = BTreeMap::new();
    for library in closure.libraries.iter().copied() {
        let Some(index) = library.package else {
            continue;
        };
        let Some(package) = closure.artifact.packages.get(index) else {
            continue;
        };
        let of_system = matches!(package.manager, Some(Manager::Dpkg | Manager::Rpm));
        let tables = closure.tables;
        let is_sibling = tables
            .sibling_family(&package.name, &library.path)
            .is_some();
        if of_system || is_sibling || tables.is_vendor_package(&package.name) {
            continue;
        }
        if library.component.is_some() {
            continue;
        }
        let Some(environment) = innermost(&library.path, &environments) else {
            continue;
        };
        for name in &library.needed_cuda {
            let major = tables.soname(name).and_then(SonameRow::only_cuda);
            let there = closure.provided.contains_key(&key(name));
            let Some(major) = major.filter(|_| there) else {
                continue;
            };
            let majors = found.entry(environment.to_owned()).or_default();
            let need = majors.entry(major).or_default().entry(index).or_default();
            need.names.insert(name);
            need.library.get_or_insert(library);
        }
    }
    found
}
