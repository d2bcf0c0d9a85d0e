//! Graphs of packages whose edges ask for ranges of versions: which package of the file answers, and where to begin.

use std::collections::BTreeMap;

use super::super::wheel::normal_name;
use super::constraint::allows;
use super::model::{Dependency, Lock, Locked, Under};
use super::requirement::Requirement;

/// Packages of one name among which an edge looks for its version; with more, it leads to the name alone.
const COMPARED: usize = 100;

/// An edge before it is known which package answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) to: Dependency,
    /// The versions that it allows, as PEP 440 or poetry write them.
    pub(super) versions: String,
}

impl Edge {
    /// The edge of a requirement as packages write it; nothing where it is none.
    pub(super) fn parse(requirement: &str) -> Option<Self> {
        let requirement = Requirement::parse(requirement)?;
        let mut to = Dependency::new(requirement.name);
        to.extras = requirement.extras;
        to.marker = requirement.marker.map(str::to_owned);
        Some(Self {
            to,
            versions: requirement.versions.to_owned(),
        })
    }

    /// The same edge for an extra or a group alone.
    pub(super) fn under(&self, under: Under) -> Self {
        let mut edge = self.clone();
        edge.to.under = Some(under);
        edge
    }
}

/// Makes a graph of a lock: `edges` are those of each package, in their order. Without `roots` it begins at the
/// packages that no other needs.
pub(super) fn connect(lock: &mut Lock, edges: Vec<Vec<Edge>>, roots: Option<Vec<Edge>>) {
    let mut versions: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for package in &lock.packages {
        let name = normal_name(&package.name);
        versions
            .entry(name)
            .or_default()
            .push(package.version.clone());
    }
    for (package, edges) in lock.packages.iter_mut().zip(edges) {
        package.dependencies = edges
            .into_iter()
            .flat_map(|edge| lead(edge, &versions))
            .collect();
    }
    lock.roots = Some(match roots {
        Some(roots) => roots
            .into_iter()
            .flat_map(|edge| lead(edge, &versions))
            .collect(),
        None => orphans(&lock.packages),
    });
}

/// The edges to the packages that answer: to the name, where there is one of it.
fn lead(edge: Edge, versions: &BTreeMap<String, Vec<Option<String>>>) -> Vec<Dependency> {
    let Edge {
        to,
        versions: range,
    } = edge;
    let there = versions
        .get(&normal_name(&to.name))
        .map_or(&[][..], Vec::as_slice);
    if there.len() < 2 || there.len() > COMPARED {
        return vec![to];
    }
    let fits = |version: &&String| allows(&range, version);
    let fitting: Vec<_> = there.iter().flatten().filter(fits).collect();
    if fitting.is_empty() {
        return vec![to];
    }
    let to_version = |version: &String| Dependency {
        version: Some(version.clone()),
        ..to.clone()
    };
    fitting.into_iter().map(to_version).collect()
}

/// Dependencies that lead to every package of a graph: on those that no other package needs, then on one of each
/// circle that is not reached so.
pub(super) fn orphans(packages: &[Locked]) -> Vec<Dependency> {
    reach_all(packages)
        .into_iter()
        .filter_map(|at| packages.get(at))
        .map(|package| {
            let mut dependency = Dependency::new(&package.name);
            dependency.version.clone_from(&package.version);
            dependency.source = package.source();
            dependency
        })
        .collect()
}

/// Places of the packages to begin with, in the order of the file.
fn reach_all(packages: &[Locked]) -> Vec<usize> {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, package) in packages.iter().enumerate() {
        let name = normal_name(&package.name);
        by_name.entry(name).or_default().push(at);
    }
    // packages of one name are reached together: an edge leads to the name
    let names: BTreeMap<&str, usize> = by_name.keys().map(String::as_str).zip(0..).collect();
    let members: Vec<&Vec<usize>> = by_name.values().collect();
    let needs: Vec<Vec<usize>> = members
        .iter()
        .map(|places| {
            let packages = places.iter().filter_map(|at| packages.get(*at));
            let edges = packages.flat_map(|package| &package.dependencies);
            edges
                .filter_map(|edge| names.get(normal_name(&edge.name).as_str()).copied())
                .collect()
        })
        .collect();
    let mut needed = vec![false; members.len()];
    for (at, needs) in needs.iter().enumerate() {
        for need in needs.iter().filter(|need| **need != at) {
            if let Some(needed) = needed.get_mut(*need) {
                *needed = true;
            }
        }
    }

    let mut seen = vec![false; members.len()];
    let mut reach = |from: usize| -> bool {
        let mut left = vec![from];
        let mut is_new = false;
        while let Some(at) = left.pop() {
            match seen.get_mut(at) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            is_new = true;
            left.extend(needs.get(at).into_iter().flatten().copied());
        }
        is_new
    };
    let free = (0..members.len()).filter(|at| needed.get(*at) == Some(&false));
    let circles = (0..members.len()).filter(|at| needed.get(*at) == Some(&true));
    let mut roots: Vec<usize> = free
        .chain(circles)
        .filter(|at| reach(*at))
        .filter_map(|at| members.get(at))
        .flat_map(|places| places.iter().copied())
        .collect();
    roots.sort_unstable();
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, needs: &[&str]) -> Locked {
        let mut package = Locked::new(name, None, 1);
        package.dependencies = needs.iter().map(|need| Dependency::new(*need)).collect();
        package
    }

    fn roots(packages: &[Locked]) -> Vec<String> {
        let roots = orphans(packages).into_iter();
        roots.map(|dependency| dependency.name).collect()
    }

    #[test]
    fn roots_are_what_no_other_package_needs() {
        let packages = [
            package("a", &["B.c"]),
            package("b-c", &["gone", "b-c"]),
            package("d", &[]),
        ];
        assert_eq!(roots(&packages), ["a", "d"]);
    }

    #[test]
    fn a_circle_that_nothing_needs_is_not_lost() {
        let packages = [
            package("x", &["y"]),
            package("y", &["z"]),
            package("z", &["x"]),
            package("a", &["b"]),
            package("b", &["a", "c"]),
            package("c", &[]),
        ];
        assert_eq!(roots(&packages), ["x", "a"]);
    }

    #[test]
    fn many_packages_take_time_in_proportion() {
        let count = 50_000;
        let packages: Vec<_> = (0..count)
            .map(|i| package(&format!("p{i}"), &[format!("p{}", i + 1).as_str()]))
            .collect();
        assert_eq!(roots(&packages), ["p0"]);
    }
}
