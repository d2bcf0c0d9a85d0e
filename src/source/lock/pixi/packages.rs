//! The packages that a `pixi.lock` describes, and which environments and platforms use them.

use std::collections::{BTreeMap, HashMap};

use super::super::located::{Mistakes, quoted};
use super::super::without_secrets;
use super::super::yaml::Node;
use super::super::{Locked, Origin, conda, pypi};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Conda,
    Pypi,
}

/// How an environment names a package.
pub(super) struct Selector<'n> {
    kind: Kind,
    /// The address, or what stands in its place for a package that is built from source.
    location: &'n str,
    node: &'n Node<'n>,
}

impl<'n> Selector<'n> {
    /// What an entry of an environment names.
    pub(super) fn of(node: &'n Node<'n>) -> Option<Self> {
        let (kind, location) = named(node)?;
        Some(Self {
            kind,
            location,
            node,
        })
    }

    /// Whether what it says of a package beside the address is what the package says.
    fn fits(&self, described: &Node<'_>) -> bool {
        let of = |key| match (self.node.text_of(key), described.text_of(key)) {
            (Some(wanted), Some(has)) => wanted == has,
            _ => true,
        };
        ["name", "version", "build", "subdir"].into_iter().all(of)
    }
}

/// The kind and the address of a selector, or of a package of version 6 or 7.
fn named<'n>(node: &'n Node<'_>) -> Option<(Kind, &'n str)> {
    let keys = [
        ("conda", Kind::Conda),
        ("conda_source", Kind::Conda),
        ("pypi", Kind::Pypi),
    ];
    let mut named = keys
        .iter()
        .filter_map(|(key, kind)| Some((*kind, node.text_of(key)?)));
    named.next()
}

/// The kind and the address of a description of any version.
fn described<'n>(node: &'n Node<'_>) -> Option<(Kind, &'n str)> {
    let kind = match node.text_of("kind") {
        Some("conda") => Kind::Conda,
        Some("pypi") => Kind::Pypi,
        _ => return named(node),
    };
    let location = node.text_of("url").or_else(|| node.text_of("path"))?;
    Some((kind, location))
}

/// Platforms of each environment.
pub(super) type Places = BTreeMap<String, Vec<String>>;

/// All packages of the file.
pub(super) struct Packages<'n> {
    nodes: &'n [Node<'n>],
    by_location: HashMap<(Kind, &'n str), Vec<usize>>,
    /// Where each is used.
    used: Vec<Places>,
    /// What is used and not described, with where it is used first.
    undescribed: Vec<(Kind, String, u32, Places)>,
    undescribed_at: HashMap<(Kind, String), usize>,
}

impl<'n> Packages<'n> {
    pub(super) fn new(nodes: &'n [Node<'n>]) -> Self {
        let mut by_location: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            if let Some(key) = described(node) {
                by_location.entry(key).or_default().push(at);
            }
        }
        Self {
            nodes,
            by_location,
            used: vec![Places::new(); nodes.len()],
            undescribed: Vec::new(),
            undescribed_at: HashMap::new(),
        }
    }

    /// Notes that an environment uses a package on a platform.
    pub(super) fn use_in(
        &mut self,
        selector: &Selector<'_>,
        environment: &str,
        platform: &str,
        mistakes: &mut Mistakes,
    ) {
        let key = (selector.kind, selector.location);
        let mut found = false;
        for at in self.by_location.get(&key).into_iter().flatten() {
            let fits = self.nodes.get(*at).is_some_and(|node| selector.fits(node));
            if let Some(places) = self.used.get_mut(*at).filter(|_| fits) {
                found = true;
                add(places, environment, platform);
            }
        }
        if found {
            return;
        }
        let key = (selector.kind, selector.location.to_owned());
        let line = selector.node.line;
        let at = *self.undescribed_at.entry(key).or_insert_with(|| {
            let what = "is in an environment and is not described under `packages`";
            mistakes.add(line, format!("{} {what}", quoted(selector.location)));
            let location = selector.location.to_owned();
            self.undescribed
                .push((selector.kind, location, line, Places::new()));
            self.undescribed.len() - 1
        });
        if let Some((.., places)) = self.undescribed.get_mut(at) {
            add(places, environment, platform);
        }
    }

    /// The packages that some environment uses, in the order of the file.
    pub(super) fn into_used(self, mistakes: &mut Mistakes) -> Vec<(Locked, Places)> {
        let mut used = Vec::new();
        for (node, places) in self.nodes.iter().zip(self.used) {
            let Some((kind, location)) = described(node) else {
                mistakes.add(
                    node.line,
                    "a package without the address of its file, which is left out",
                );
                continue;
            };
            if places.is_empty() {
                continue;
            }
            match package(kind, location, node) {
                Some(package) => used.push((package, places)),
                None => mistakes.add(node.line, "a package without a name, which is left out"),
            }
        }
        for (kind, location, line, places) in self.undescribed {
            let bare = Node {
                line,
                value: super::yaml::Value::Null,
            };
            if let Some(package) = package(kind, &location, &bare) {
                used.push((package, places));
            }
        }
        used
    }
}

fn add(places: &mut Places, environment: &str, platform: &str) {
    if !places.contains_key(environment) {
        places.insert(environment.to_owned(), Vec::new());
    }
    if let Some(platforms) = places.get_mut(environment) {
        // a platform comes once in an environment, so its packages come one behind the other
        if platforms.last().is_none_or(|last| last != platform) {
            platforms.push(platform.to_owned());
        }
    }
}

/// A package by its address and what is said of it.
fn package(kind: Kind, location: &str, node: &Node<'_>) -> Option<Locked> {
    let hash = conda::strongest(node.text_of("sha256"), node.text_of("md5"));
    let version = node.text_of("version").map(str::to_owned);
    let name = node.text_of("name");
    let line = node.line;
    let mut package = match kind {
        Kind::Pypi => {
            let said = name.map(str::to_owned).or_else(|| wheel_name(location))?;
            let mut package = pypi::package(&said, version, location, hash, line);
            package.index = node.text_of("index").map(without_secrets);
            package
        }
        Kind::Conda => match conda::package(location, hash, line) {
            Some(package) => Locked {
                version: version.or(package.version.clone()),
                ..package
            },
            None => source(location, name, version, line)?,
        },
    };
    if let Some(name) = name {
        name.clone_into(&mut package.name);
    }
    if let (Some(file), Some(size)) = (package.files.first_mut(), node.text_of("size")) {
        file.size = size.parse().ok();
    }
    Some(package)
}

fn wheel_name(location: &str) -> Option<String> {
    let file = super::super::address::file_name(location);
    let (name, _) = file.split_once('-')?;
    Some(name.to_owned())
}

/// A package that is built from source: `path`, or `name[hash] @ path` of version 7.
fn source(
    location: &str,
    name: Option<&str>,
    version: Option<String>,
    line: u32,
) -> Option<Locked> {
    let (said, place) = match location.split_once(" @ ") {
        Some((said, place)) => (said.split('[').next(), place),
        None => (None, location),
    };
    let name = name.or(said).unwrap_or(place);
    let mut package = Locked::new(name, version, line);
    package.origin = if super::super::link::has_scheme(place) {
        Origin::Vcs(without_secrets(place))
    } else {
        Origin::Directory(place.to_owned())
    };
    (!name.is_empty()).then_some(package)
}
