//! The walk over the dependencies of a lock that is a graph, as uv does it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::model::{Dependency, Locked, Origin, Under};
use super::markers::Asked;
use super::scope::Scope;
use crate::source::wheel::{normal_name, version::same_version};

/// A package, alone or for one of its extras.
type Node = (usize, Option<String>);

/// Packages of one name that are told apart: every edge looks at all of them. Real locks have a handful.
const MOST_OF_A_NAME: usize = 100;

/// A walk from the roots.
struct Walk<'w, 'l> {
    scope: &'w Scope<'l>,
    by_name: BTreeMap<String, Vec<usize>>,
    asked: Asked,
    /// Whether the names that uv encodes in conflict markers are collected on the way.
    collects: bool,
    seen: BTreeSet<Node>,
    left: VecDeque<Node>,
}

/// The packages that are reached, by their place in the lock.
pub(super) fn reached(scope: &Scope<'_>, roots: &[Dependency]) -> BTreeSet<usize> {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, package) in scope.lock.packages.iter().enumerate() {
        let places = by_name.entry(normal_name(&package.name)).or_default();
        if places.len() < MOST_OF_A_NAME {
            places.push(at);
        } else {
            let name = &package.name;
            let detail = format!("more than {MOST_OF_A_NAME} packages are called `{name}`");
            scope.problem(package.line, &detail);
        }
    }
    let mut walk = Walk {
        scope,
        by_name,
        asked: scope.asked.clone(),
        collects: false,
        seen: BTreeSet::new(),
        left: VecDeque::new(),
    };
    // Conflict markers may ask for an extra that is switched on elsewhere, so uv walks once to collect these.
    if scope.has_conflicts() {
        walk.collects = true;
        walk.run(roots);
        walk.collects = false;
        walk.seen.clear();
    }
    walk.run(roots);
    walk.seen.into_iter().map(|(at, _)| at).collect()
}

impl Walk<'_, '_> {
    fn run(&mut self, roots: &[Dependency]) {
        for root in roots {
            let wanted = match &root.under {
                None => true,
                Some(Under::Extra(extra)) => self.asked.extras.contains(&normal_name(extra)),
                Some(Under::Group(group)) => self.asked.groups.contains(&normal_name(group)),
            };
            if wanted {
                self.follow(root, None);
            }
        }
        self.switch_on_roots();
        while let Some((at, extra)) = self.left.pop_front() {
            let Some(package) = self.scope.lock.packages.get(at) else {
                continue;
            };
            let is_root = extra.is_none() && is_ours(package);
            for dependency in &package.dependencies {
                let wanted = match &dependency.under {
                    None => extra.is_none(),
                    Some(Under::Extra(of)) => extra.as_deref() == Some(&*normal_name(of)),
                    // groups are the business of those whose project it is
                    Some(Under::Group(of)) => {
                        is_root && self.scope.asked.groups.contains(&normal_name(of))
                    }
                };
                if wanted {
                    self.follow(dependency, Some(package));
                }
            }
        }
    }

    /// Extras and groups that the user asks for are those of the projects at the roots.
    fn switch_on_roots(&mut self) {
        let roots: Vec<usize> = self.left.iter().map(|(at, _)| *at).collect();
        for at in roots {
            let Some(package) = self.scope.lock.packages.get(at).filter(|p| is_ours(p)) else {
                continue;
            };
            let name = normal_name(&package.name);
            let under = |of: &Under| {
                package
                    .dependencies
                    .iter()
                    .any(|d| d.under.as_ref() == Some(of))
            };
            self.asked
                .extras
                .insert(format!("project-{}-{name}", name.len()));
            for extra in &self.scope.environment.extras {
                self.asked
                    .extras
                    .insert(Under::Extra(extra.clone()).in_uv_markers(&name));
                self.push((at, Some(normal_name(extra))));
            }
            for group in &self.scope.asked.groups {
                if under(&Under::Group(group.clone()))
                    || self.scope.environment.groups.contains(group)
                {
                    self.asked
                        .extras
                        .insert(Under::Group(group.clone()).in_uv_markers(&name));
                }
            }
        }
    }

    fn push(&mut self, node: Node) {
        if self.seen.insert(node.clone()) {
            self.left.push_back(node);
        }
    }

    fn follow(&mut self, dependency: &Dependency, of: Option<&Locked>) {
        let name = normal_name(&dependency.name);
        // The extras that an edge switches on count for its own marker
        let extras = dependency.extras.iter().cloned();
        let switched_on = extras.map(|extra| Under::Extra(extra).in_uv_markers(&name));
        let switched_on: Vec<String> = switched_on
            .filter(|extra| self.scope.has_conflicts() && !self.asked.extras.contains(extra))
            .collect();
        self.asked.extras.extend(switched_on.iter().cloned());
        let line = of.map_or(1, |package| package.line);
        let marker = dependency.marker.as_deref();
        let holds = self
            .scope
            .holds(marker, &self.asked, line, &dependency.name);
        if !(holds && self.collects) {
            for extra in &switched_on {
                self.asked.extras.remove(extra);
            }
        }
        if !holds {
            return;
        }
        let found = self.find(dependency, &name);
        if found.is_empty() {
            self.scope.problem(
                line,
                &format!("`{}` is needed and is not in the lock", dependency.name),
            );
        }
        for at in found {
            self.push((at, None));
            for extra in &dependency.extras {
                self.push((at, Some(normal_name(extra))));
            }
        }
    }

    /// The packages that a dependency means: one, or several where the lock does not tell them apart.
    fn find(&self, dependency: &Dependency, name: &str) -> Vec<usize> {
        let packages = &self.scope.lock.packages;
        let named = self.by_name.get(name).into_iter().flatten().copied();
        let fits = |at: &usize| {
            packages.get(*at).is_some_and(|package| {
                is_version(package, dependency.version.as_deref())
                    && is_from(package, dependency.source.as_deref())
            })
        };
        let fitting: Vec<_> = named.filter(fits).collect();
        if fitting.len() < 2 {
            return fitting;
        }
        let applies = |at: &usize| {
            packages
                .get(*at)
                .is_some_and(|p| self.scope.applies(p, &self.asked))
        };
        fitting.into_iter().filter(applies).collect()
    }
}

/// Whether it is a project of the user, of which extras and groups can be asked.
fn is_ours(package: &Locked) -> bool {
    matches!(package.origin, Origin::Project | Origin::Directory(_))
}

fn is_version(package: &Locked, version: Option<&str>) -> bool {
    match (version, package.version.as_deref()) {
        (Some(wanted), Some(version)) => same_version(wanted, version),
        _ => true,
    }
}

fn is_from(package: &Locked, source: Option<&str>) -> bool {
    let Some(source) = source else {
        return true;
    };
    package.source().is_none_or(|place| place == source)
}
