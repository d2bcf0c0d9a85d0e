//! `pdm.lock`, versions 4.0 to 4.x.
//!
//! Format: <https://pdm-project.org/latest/usage/lockfile/>; fields as pdm's `formats/pdmlock` writes them. With the
//! strategy `inherit_metadata` (the default since 4.4) each package says its groups and its marker, and the file is a
//! flat list. Without it, the file is walked as a graph from the `pyproject.toml` beside it, else from the packages
//! that no other needs.
//!
//! `pdm install` without options installs every group that was locked and that the project has, optional ones too
//! (`is_unset` in pdm's `cli/filters.py`).
//!
//! A package that is needed with extras has a second entry; what that one needs is added to the first one.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Spanned;

use super::super::wheel::normal_name;
use super::Beside;
use super::address::{file_name, is_archive};
use super::graph::{Edge, connect};
use super::model::{Hash, Lock, LockKind, Locked, LockedFile, Origin, Under};
use super::pyproject::PyProject;
use super::reader::Reader;
use super::toml::{Document, Entry};
use super::without_secrets;
use crate::{Error, Locator};

const REMEDY: &str = "write it again with `pdm lock`";
/// The group of what the project itself needs.
const MAIN_GROUP: &str = "default";

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    lock_version: Option<String>,
    groups: Vec<String>,
    strategy: Vec<String>,
    targets: Vec<Target>,
    requires_python: Option<String>,
    /// Before 4.3 files were listed apart, by `NAME VERSION`.
    files: BTreeMap<String, Vec<Spanned<File>>>,
}

/// An environment that the file is for.
#[derive(Deserialize)]
struct Target {
    requires_python: Option<String>,
    platform: Option<String>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: Option<String>,
    #[serde(default)]
    extras: Vec<String>,
    requires_python: Option<String>,
    groups: Option<Vec<String>>,
    marker: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(default)]
    files: Vec<Spanned<File>>,
    git: Option<String>,
    hg: Option<String>,
    svn: Option<String>,
    bzr: Option<String>,
    url: Option<String>,
    path: Option<String>,
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "file")]
    name: Option<String>,
    url: Option<String>,
    hash: Option<String>,
}

pub(super) fn read(text: &str, at: &Locator, beside: &Beside<'_>) -> Result<Lock, Error> {
    let mut reader = Reader::new(text, at, LockKind::Pdm);
    let mut document = Document::parse(&reader, REMEDY)?;
    let mut metadata: Metadata = document.take(&reader, "metadata")?.unwrap_or_default();
    let version = metadata.lock_version.take().unwrap_or_default();
    if version != "4" && !version.starts_with("4.") {
        let message = format!("its lock_version is `{version}`, and version 4 is read");
        return Err(reader.error(None, &message, REMEDY));
    }
    reader.lock.format = Some(version);
    reader.lock.groups = std::mem::take(&mut metadata.groups);
    add_targets(&mut reader.lock, &metadata);

    let packages: Vec<Entry<Package>> = document.entries(&mut reader, "package")?;
    let is_flat = metadata.strategy.iter().any(|it| it == "inherit_metadata")
        || packages.iter().any(|package| package.it.groups.is_some());
    let project = PyProject::beside(&mut reader, beside);
    let groups = &reader.lock.groups;
    let of_project = project.as_ref().map(PyProject::pdm_groups);
    let default_groups = groups.iter().filter(|group| {
        let is_there = |groups: &Vec<String>| groups.contains(group);
        *group == MAIN_GROUP || of_project.as_ref().is_none_or(is_there)
    });
    reader.lock.default_groups = default_groups.cloned().collect();

    let (plain, with_extras): (Vec<_>, Vec<_>) = packages
        .into_iter()
        .partition(|package| package.it.extras.is_empty());
    let mut first: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    for Entry { line, it } in plain.into_iter().chain(with_extras) {
        let needs = needs(&it);
        let key = (normal_name(&it.name), it.version.clone());
        let base = first.get(&key).copied().filter(|_| !it.extras.is_empty());
        if let Some(base) = base.and_then(|at| edges.get_mut(at)) {
            base.extend(needs);
            continue;
        }
        first.entry(key).or_insert(edges.len());
        edges.push(needs);
        add(&mut reader, line, it, &mut metadata, is_flat);
    }
    if !is_flat {
        let roots = project.map(|project| project.pdm_roots());
        connect(&mut reader.lock, edges, roots);
    }
    reader.lock.packages.sort_by_key(|package| package.line);
    Ok(reader.finish())
}

/// The edges of an entry: for its extras alone, where it has some.
fn needs(package: &Package) -> Vec<Edge> {
    let edges = package
        .dependencies
        .iter()
        .filter_map(|text| Edge::parse(text));
    if package.extras.is_empty() {
        return edges.collect();
    }
    let own = normal_name(&package.name);
    let edges = edges.filter(|edge| normal_name(&edge.to.name) != own);
    let under = |edge: Edge| {
        package
            .extras
            .iter()
            .map(move |extra| edge.under(Under::Extra(extra.clone())))
    };
    edges.flat_map(under).collect()
}

fn add_targets(lock: &mut Lock, metadata: &Metadata) {
    let pythons = metadata.targets.iter().map(|it| &it.requires_python);
    let pythons: BTreeSet<_> = pythons.collect();
    lock.requires_python = match pythons.into_iter().collect::<Vec<_>>().as_slice() {
        [Some(one)] => Some(one.clone()),
        _ => metadata.requires_python.clone(),
    };
    let markers: Option<Vec<_>> = metadata
        .targets
        .iter()
        .map(|target| platform_marker(target.platform.as_deref()?))
        .collect();
    // a target without a platform, or one that is not understood, allows all
    lock.supported_markers = markers.unwrap_or_default();
}

/// The marker of a platform as pdm names it: `linux`, `manylinux_2_17_x86_64`, `macos_14_0_arm64`, `windows_amd64`.
///
/// Source: <https://pdm-project.org/latest/usage/lock-targets/>.
fn platform_marker(platform: &str) -> Option<String> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| platform.starts_with(prefix));
    let system = if starts(&["linux", "manylinux", "musllinux", "alpine"]) {
        "linux"
    } else if starts(&["windows", "win"]) {
        "win32"
    } else if starts(&["macos"]) {
        "darwin"
    } else {
        return None;
    };
    let machines = ["x86_64", "aarch64", "arm64", "amd64"];
    let machine = machines.iter().find(|name| platform.ends_with(*name));
    Some(match (system, machine) {
        (_, None) => format!("sys_platform == '{system}'"),
        ("win32", Some(&"amd64")) => {
            format!("sys_platform == '{system}' and platform_machine == 'AMD64'")
        }
        ("win32", Some(&"arm64")) => {
            format!("sys_platform == '{system}' and platform_machine == 'ARM64'")
        }
        (_, Some(machine)) => {
            format!("sys_platform == '{system}' and platform_machine == '{machine}'")
        }
    })
}

fn add(
    reader: &mut Reader<'_>,
    line: u32,
    package: Package,
    metadata: &mut Metadata,
    is_flat: bool,
) {
    let mut locked = Locked::new(&package.name, package.version.clone(), line);
    let repositories = [&package.git, &package.hg, &package.svn, &package.bzr];
    locked.origin = if let Some(address) = repositories.into_iter().flatten().next() {
        Origin::Vcs(without_secrets(address))
    } else if package.url.is_some() {
        Origin::Url
    } else if let Some(path) = &package.path {
        if is_archive(path) {
            Origin::File(path.clone())
        } else {
            Origin::Directory(path.clone())
        }
    } else {
        Origin::Index
    };
    locked
        .condition
        .requires_python
        .clone_from(&package.requires_python);
    if is_flat {
        locked.condition.marker.clone_from(&package.marker);
        locked.condition.groups = package.groups.clone().unwrap_or_default();
    }
    let version = package.version.as_deref().unwrap_or_default();
    let apart = metadata
        .files
        .remove(&format!("{} {version}", package.name));
    for file in package.files.into_iter().chain(apart.into_iter().flatten()) {
        let line = reader.line(file.span().start);
        match self::file(file.into_inner(), line) {
            Ok(mut file) => {
                if file.url.is_none() {
                    let own = package.url.as_ref().or(package.path.as_ref());
                    file.url = own.filter(|own| file_name(own) == file.name).cloned();
                }
                locked.files.push(file);
            }
            Err(why) => reader.problem(line, &format!("a file of `{}` {why}", package.name)),
        }
    }
    let address = package.url.or(package.path);
    if let (Origin::Url | Origin::File(_), true, Some(address)) =
        (&locked.origin, locked.files.is_empty(), address)
    {
        let mut file = LockedFile::new(file_name(&address), line);
        file.url = Some(address);
        locked.files.push(file);
    }
    reader.lock.packages.push(locked);
}

fn file(file: File, line: u32) -> Result<LockedFile, &'static str> {
    let name = file.name.or_else(|| file.url.as_deref().map(file_name));
    let mut locked = LockedFile::new(name.ok_or("has neither a name nor an address")?, line);
    locked.url = file.url;
    if let Some(hash) = &file.hash {
        locked.hash = Some(Hash::parse(hash).ok_or("has a hash that is none")?);
    }
    Ok(locked)
}

#[cfg(test)]
mod tests;
