//! `uv.lock`, version 1 with any revision.
//!
//! Format: <https://docs.astral.sh/uv/concepts/projects/layout/#the-lockfile>; fields as uv's `crates/uv-resolver/src/lock`
//! writes them. The file is walked from the project: from the package of the lock's own directory, else from the
//! members of the workspace, and from the `requirements` of a script.
//!
//! * `uv sync` installs the group `dev` where `[tool.uv] default-groups` of `pyproject.toml` says nothing else.
//! * Markers hold `extra == 'extra-3-app-gpu'` where extras exclude each other: [`Under::in_uv_markers`].
//! * `required-markers` say for which platforms wheels had to exist, and nothing of what is installed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Spanned;

use super::Beside;
use super::address::file_name;
use super::graph::orphans;
use super::model::{Dependency, Hash, Lock, LockKind, Locked, LockedFile, Origin, Under};
use super::pyproject::{DefaultGroups, PyProject};
use super::reader::Reader;
use super::toml::{Document, Entry};
use super::without_secrets;
use crate::{Error, Locator};

const REMEDY: &str = "write it again with `uv lock`";
/// The group that uv installs where nothing says otherwise.
const DEFAULT_GROUP: &str = "dev";

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Manifest {
    members: Vec<String>,
    requirements: Vec<Requirement>,
    dependency_groups: BTreeMap<String, Vec<Requirement>>,
}

/// A requirement as it was asked for; its version is not chosen here.
#[derive(Deserialize)]
struct Requirement {
    name: String,
    #[serde(default)]
    extras: Vec<String>,
    marker: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Package {
    name: String,
    version: Option<String>,
    source: Source,
    #[serde(default)]
    resolution_markers: Vec<String>,
    #[serde(default)]
    dependencies: Vec<Edge>,
    #[serde(default)]
    optional_dependencies: BTreeMap<String, Vec<Edge>>,
    #[serde(default)]
    dev_dependencies: BTreeMap<String, Vec<Edge>>,
    #[serde(default)]
    wheels: Vec<Spanned<File>>,
    sdist: Option<Spanned<File>>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Metadata {
    provides_extras: Vec<String>,
}

#[derive(Deserialize)]
struct Source {
    registry: Option<String>,
    url: Option<String>,
    git: Option<String>,
    path: Option<String>,
    directory: Option<String>,
    editable: Option<String>,
    r#virtual: Option<String>,
}

#[derive(Deserialize)]
struct Edge {
    name: String,
    version: Option<String>,
    source: Option<Source>,
    #[serde(default)]
    extra: Vec<String>,
    marker: Option<String>,
}

#[derive(Deserialize)]
struct File {
    url: Option<String>,
    path: Option<String>,
    filename: Option<String>,
    hash: Option<String>,
    size: Option<u64>,
}

impl Source {
    /// Where it is from; nothing where the file says it in a way that is not known.
    fn origin(&self, is_member: bool) -> Option<Origin> {
        let directory = self.directory.as_ref().or(self.editable.as_ref());
        Some(if self.registry.is_some() {
            Origin::Index
        } else if self.url.is_some() {
            Origin::Url
        } else if let Some(git) = &self.git {
            Origin::Vcs(without_secrets(git))
        } else if let Some(path) = &self.path {
            Origin::File(path.clone())
        } else if self.r#virtual.is_some() || (directory.is_some() && is_member) {
            Origin::Project
        } else {
            Origin::Directory(directory?.clone())
        })
    }

    /// As [`Locked::source`] says it.
    fn said(&self, is_member: bool) -> Option<String> {
        if self.r#virtual.is_some() || (is_member && self.is_local()) {
            return None;
        }
        let addresses = [&self.registry, &self.url, &self.git];
        let address = addresses.into_iter().flatten().next();
        let paths = [&self.path, &self.directory, &self.editable];
        let path = paths.into_iter().flatten().next();
        address
            .map(|address| without_secrets(address))
            .or(path.cloned())
    }

    /// Whether it is the directory of the lock file.
    fn is_here(&self) -> bool {
        let paths = [&self.r#virtual, &self.editable, &self.directory];
        paths.into_iter().flatten().any(|path| path == ".")
    }

    /// Whether it is code of this machine.
    fn is_local(&self) -> bool {
        self.r#virtual.is_some() || self.editable.is_some() || self.directory.is_some()
    }
}

pub(super) fn read(text: &str, at: &Locator, beside: &Beside<'_>) -> Result<Lock, Error> {
    let mut reader = Reader::new(text, at, LockKind::Uv);
    let mut document = Document::parse(&reader, REMEDY)?;
    let version: Option<u64> = document.take(&reader, "version")?;
    if version != Some(1) {
        let said = version.map_or("no version".to_owned(), |v| format!("version {v}"));
        let message = format!("this uv.lock has {said} of its format, and version 1 is read");
        return Err(reader.error(None, &message, "write it with a uv that writes version 1"));
    }
    let revision: Option<u64> = document.take(&reader, "revision")?;
    reader.lock.format = Some(match revision {
        Some(revision) => format!("1.{revision}"),
        None => "1".to_owned(),
    });
    reader.lock.requires_python = document.take(&reader, "requires-python")?;
    reader.lock.supported_markers = document
        .take(&reader, "supported-markers")?
        .unwrap_or_default();
    let manifest: Manifest = document.take(&reader, "manifest")?.unwrap_or_default();
    let packages: Vec<Entry<Package>> = document.entries(&mut reader, "package")?;
    assemble(&mut reader, &manifest, packages, beside);
    reader.lock.has_main_index = reader.lock.packages.iter().any(|p| p.index.is_some());
    Ok(reader.finish())
}

fn assemble(
    reader: &mut Reader<'_>,
    manifest: &Manifest,
    packages: Vec<Entry<Package>>,
    beside: &Beside<'_>,
) {
    let members: BTreeSet<&str> = manifest.members.iter().map(String::as_str).collect();
    let is_member = |name: &str, source: &Source| source.is_here() || members.contains(name);
    let here = packages.iter().any(|package| package.it.source.is_here());

    let mut roots = Vec::new();
    let mut extras = BTreeSet::new();
    let mut groups: BTreeSet<String> = manifest.dependency_groups.keys().cloned().collect();
    for Entry { it: package, .. } in &packages {
        let is_root = if here {
            package.source.is_here()
        } else {
            is_member(&package.name, &package.source) && package.source.is_local()
        };
        if is_root {
            roots.push(Dependency::new(&package.name));
            extras.extend(package.optional_dependencies.keys().cloned());
            extras.extend(package.metadata.provides_extras.iter().cloned());
            groups.extend(package.dev_dependencies.keys().cloned());
        }
    }
    roots.extend(manifest.requirements.iter().map(|it| asked(it, None)));
    for (group, requirements) in &manifest.dependency_groups {
        let under = || Some(Under::Group(group.clone()));
        roots.extend(requirements.iter().map(|it| asked(it, under())));
    }

    for Entry { line, it: package } in packages {
        add(reader, line, package, &is_member);
    }
    let lock = &mut reader.lock;
    if roots.is_empty() {
        roots = orphans(&lock.packages);
    }
    lock.roots = Some(roots);
    lock.extras = extras.into_iter().collect();
    lock.groups = groups.into_iter().collect();
    let project = PyProject::beside(reader, beside);
    let default_groups = project.and_then(PyProject::uv_default_groups);
    let is_default = |group: &&String| match &default_groups {
        Some(DefaultGroups::All) => true,
        Some(DefaultGroups::These(groups)) => groups.contains(group),
        None => *group == DEFAULT_GROUP,
    };
    let lock = &mut reader.lock;
    lock.default_groups = lock.groups.iter().filter(is_default).cloned().collect();
}

fn asked(requirement: &Requirement, under: Option<Under>) -> Dependency {
    let mut dependency = Dependency::new(&requirement.name);
    dependency.extras.clone_from(&requirement.extras);
    dependency.marker.clone_from(&requirement.marker);
    dependency.under = under;
    dependency
}

fn add(
    reader: &mut Reader<'_>,
    line: u32,
    package: Package,
    is_member: &dyn Fn(&str, &Source) -> bool,
) {
    let mut locked = Locked::new(&package.name, package.version, line);
    let source = &package.source;
    let Some(origin) = source.origin(is_member(&package.name, source)) else {
        let message = format!(
            "the source of `{}` is of no kind that is known",
            package.name
        );
        reader.problem(line, &message);
        return;
    };
    locked.origin = origin;
    locked.index = source.registry.as_deref().map(without_secrets);
    locked.condition.marker = any_of(&package.resolution_markers);

    let plain = package.dependencies.into_iter().map(|edge| (edge, None));
    let optional = package.optional_dependencies.into_iter();
    let optional = optional.flat_map(|(extra, edges)| under_all(edges, Under::Extra(extra)));
    let dev = package.dev_dependencies.into_iter();
    let dev = dev.flat_map(|(group, edges)| under_all(edges, Under::Group(group)));
    locked.dependencies = plain
        .chain(optional)
        .chain(dev)
        .map(|(to, under)| edge(to, under, is_member))
        .collect();

    let files = package.wheels.into_iter().chain(package.sdist);
    for file in files {
        let line = reader.line(file.span().start);
        match self::file(source, file.into_inner(), line) {
            Ok(file) => locked.files.push(file),
            Err(why) => reader.problem(line, &format!("a file of `{}` {why}", package.name)),
        }
    }
    // a file of its own address may be listed without one, and then its hash is not known
    if let (Origin::Url | Origin::File(_), true) = (&locked.origin, locked.files.is_empty()) {
        let address = source.url.as_ref().or(source.path.as_ref());
        let address = address.cloned().unwrap_or_default();
        let mut file = LockedFile::new(file_name(&address), line);
        file.url = Some(address);
        locked.files.push(file);
    }
    reader.lock.packages.push(locked);
}

/// One marker that holds where one of these does; they are the forks of the resolution that the package is for.
fn any_of(markers: &[String]) -> Option<String> {
    match markers {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("({})", many.join(") or ("))),
    }
}

fn under_all(edges: Vec<Edge>, under: Under) -> impl Iterator<Item = (Edge, Option<Under>)> {
    edges
        .into_iter()
        .map(move |edge| (edge, Some(under.clone())))
}

fn edge(edge: Edge, under: Option<Under>, is_member: &dyn Fn(&str, &Source) -> bool) -> Dependency {
    let source = edge.source.as_ref();
    let mut dependency = Dependency::new(&edge.name);
    dependency.source = source.and_then(|source| source.said(is_member(&edge.name, source)));
    dependency.version = edge.version;
    dependency.extras = edge.extra;
    dependency.marker = edge.marker;
    dependency.under = under;
    dependency
}

fn file(source: &Source, file: File, line: u32) -> Result<LockedFile, &'static str> {
    let File { url, path, .. } = file;
    let url = match (url, path, &source.registry) {
        (Some(url), ..) => Some(url),
        // an index that is a directory: its files are relative to it
        (None, Some(path), Some(directory)) => {
            Some(format!("{}/{path}", directory.trim_end_matches('/')))
        }
        (None, Some(path), None) => Some(path),
        (None, None, _) => source.url.clone().or_else(|| source.path.clone()),
    };
    let name = file.filename.or_else(|| url.as_deref().map(file_name));
    let name = name.ok_or("has neither a name nor an address")?;
    let mut locked = LockedFile::new(name, line);
    locked.url = url;
    locked.size = file.size;
    if let Some(hash) = &file.hash {
        locked.hash = Some(Hash::parse(hash).ok_or("has a hash that is none")?);
    }
    Ok(locked)
}

#[cfg(test)]
mod tests;
