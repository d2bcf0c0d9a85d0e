//! `poetry.lock`, lock-version 1.0 to 2.x.
//!
//! Format: <https://python-poetry.org/docs/libraries/#lock-file>; fields as poetry's `packages/locker.py` writes them.
//!
//! * From 2.1 on, each package says its groups and its markers, and the file is a flat list.
//! * Before, markers stand at the dependencies alone, and the file is walked as a graph: from what the `pyproject.toml`
//!   beside it asks for, else from the packages that no other needs.
//! * All groups are installed, but for those that `pyproject.toml` calls optional; `main` is what the project needs.
//! * Files have names and hashes, and no addresses.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Spanned;

use super::super::wheel::{normal_name, same_version};
use super::Beside;
use super::address::file_name;
use super::constraint::python_marker;
use super::graph::{Edge, connect};
use super::model::{Dependency, Hash, Lock, LockKind, Locked, LockedFile, Origin, Under};
use super::pyproject::PyProject;
use super::reader::Reader;
use super::toml::{Document, Entry, OneOrMany};
use super::without_secrets;
use crate::{Error, Locator};

const REMEDY: &str = "write it again with `poetry lock`";
/// The group of what the project itself needs.
const MAIN_GROUP: &str = "main";
/// What the groups of developers were before there were others.
const DEV_GROUP: &str = "dev";

/// Versions of one package whose files are told apart where they are listed together.
const MOST_VERSIONS: usize = 100;

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Metadata {
    lock_version: Option<String>,
    python_versions: Option<String>,
    /// Before 2.0 files were listed apart, by the name of the package.
    files: BTreeMap<String, Vec<Spanned<File>>>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    #[serde(default)]
    optional: bool,
    /// `main` or `dev`, before 2.0.
    category: Option<String>,
    #[serde(default)]
    groups: Vec<String>,
    markers: Option<Markers>,
    #[serde(default)]
    files: Vec<Spanned<File>>,
    #[serde(default)]
    dependencies: Needs,
    #[serde(default)]
    extras: BTreeMap<String, Vec<String>>,
    source: Option<Source>,
}

/// One marker, or one for each group.
#[derive(Deserialize)]
#[serde(untagged)]
enum Markers {
    One(String),
    ByGroup(BTreeMap<String, String>),
}

#[derive(Deserialize)]
struct File {
    file: String,
    hash: Option<String>,
}

#[derive(Deserialize)]
struct Source {
    r#type: String,
    url: String,
}

/// Packages that are needed, by name, as poetry writes them: a version, a table, or several of them.
#[derive(Deserialize, Default)]
#[serde(transparent)]
pub(super) struct Needs(BTreeMap<String, OneOrMany<Need>>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Need {
    Version(String),
    Table(Box<NeedTable>),
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NeedTable {
    version: Option<String>,
    markers: Option<String>,
    python: Option<String>,
    platform: Option<String>,
    extras: Vec<String>,
    optional: bool,
}

impl Needs {
    /// The edges; those that are optional stand under the extras that list them.
    pub(super) fn edges(&self, extras: &BTreeMap<String, Vec<String>>) -> Vec<Edge> {
        let listed = listed(extras);
        let mut edges = Vec::new();
        for (name, needs) in &self.0 {
            // the version of Python is written as a package
            if name.eq_ignore_ascii_case("python") {
                continue;
            }
            for need in needs.as_slice() {
                let (edge, is_optional) = need.edge(name);
                if !is_optional {
                    edges.push(edge);
                    continue;
                }
                let extras = listed.get(&normal_name(name)).into_iter().flatten();
                edges.extend(extras.map(|extra| edge.under(Under::Extra((*extra).to_owned()))));
            }
        }
        edges
    }
}

impl Need {
    fn edge(&self, name: &str) -> (Edge, bool) {
        let mut to = Dependency::new(name);
        let (versions, is_optional) = match self {
            Self::Version(version) => (version.clone(), false),
            Self::Table(table) => {
                to.extras.clone_from(&table.extras);
                to.marker = table.marker();
                (table.version.clone().unwrap_or_default(), table.optional)
            }
        };
        (Edge { to, versions }, is_optional)
    }
}

impl NeedTable {
    fn marker(&self) -> Option<String> {
        let platform = self.platform.as_ref();
        let parts = [
            self.markers.clone(),
            self.python.as_deref().and_then(python_marker),
            platform.map(|platform| format!("sys_platform == '{platform}'")),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        match parts.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            many => Some(format!("({})", many.join(") and ("))),
        }
    }
}

impl Markers {
    /// One marker for all `groups`: in a group without one it holds always.
    fn of(&self, groups: &[String]) -> Option<String> {
        match self {
            Self::One(marker) => Some(marker.clone()).filter(|marker| !marker.is_empty()),
            Self::ByGroup(markers) => {
                let parts = groups.iter().map(|group| match markers.get(group) {
                    Some(marker) => format!("('{group}' in dependency_groups and ({marker}))"),
                    None => format!("'{group}' in dependency_groups"),
                });
                Some(parts.collect::<Vec<_>>().join(" or ")).filter(|marker| !marker.is_empty())
            }
        }
    }
}

pub(super) fn read(text: &str, at: &Locator, beside: &Beside<'_>) -> Result<Lock, Error> {
    let mut reader = Reader::new(text, at, LockKind::Poetry);
    let mut document = Document::parse(&reader, REMEDY)?;
    let mut metadata: Metadata = document.take(&reader, "metadata")?.unwrap_or_default();
    let version = metadata.lock_version.take().unwrap_or_default();
    let Some((major @ (1 | 2), minor)) = major_minor(&version) else {
        let message = format!("its lock-version is `{version}`, and versions 1 and 2 are read");
        return Err(reader.error(None, &message, REMEDY));
    };
    let is_flat = (major, minor) >= (2, 1);
    reader.lock.format = Some(version);
    reader.lock.requires_python = metadata.python_versions.take().filter(|it| it != "*");
    let extras: BTreeMap<String, Vec<String>> =
        document.take(&reader, "extras")?.unwrap_or_default();
    reader.lock.extras = extras.keys().cloned().collect();
    let packages: Vec<Entry<Package>> = document.entries(&mut reader, "package")?;
    let project = PyProject::beside(&mut reader, beside);

    let mut several: BTreeMap<String, usize> = BTreeMap::new();
    for package in &packages {
        *several.entry(normal_name(&package.it.name)).or_default() += 1;
    }
    let files = std::mem::take(&mut metadata.files);
    let apart: BTreeMap<_, _> = files
        .iter()
        .map(|(name, files)| (normal_name(name), files.as_slice()))
        .collect();
    let mut edges = Vec::new();
    let mut facts = BTreeMap::new();
    let mut groups = BTreeSet::new();
    for Entry { line, it } in packages {
        let name = normal_name(&it.name);
        groups.extend(it.groups.iter().cloned());
        if !is_flat {
            edges.push(it.dependencies.edges(&it.extras));
            let is_dev = it.category.as_deref() == Some(DEV_GROUP);
            facts.insert((name.clone(), it.version.clone()), (is_dev, it.optional));
        }
        let apart = apart.get(&name).copied().unwrap_or_default();
        let versions = several.get(&name).copied().unwrap_or_default();
        let own: Vec<_> = match versions {
            1 => apart.iter().collect(),
            2..=MOST_VERSIONS => {
                let is_own = |file: &&Spanned<File>| is_of(&file.get_ref().file, &it.version);
                apart.iter().filter(is_own).collect()
            }
            _ if apart.is_empty() => Vec::new(),
            _ => {
                let message = format!(
                    "`{}` has {versions} versions: their files are not told apart",
                    it.name
                );
                reader.problem(line, &message);
                Vec::new()
            }
        };
        add(&mut reader, line, it, own, is_flat);
    }
    if !is_flat {
        let from_project = project.as_ref().map(PyProject::poetry_roots);
        let has_project = from_project.is_some();
        connect(&mut reader.lock, edges, from_project);
        let roots = reader.lock.roots.take().unwrap_or_default();
        let roots: Vec<_> = if has_project {
            roots
        } else {
            let listed = listed(&extras);
            let sort = |root: Dependency| place(root, &facts, &listed);
            roots.into_iter().flat_map(sort).collect()
        };
        groups.insert(MAIN_GROUP.to_owned());
        groups.extend(roots.iter().filter_map(|root| match &root.under {
            Some(Under::Group(group)) => Some(group.clone()),
            _ => None,
        }));
        reader.lock.roots = Some(roots);
    }
    let is_default = |group: &&String| {
        let optional = |project: &PyProject| project.is_optional_in_poetry(group);
        !project.as_ref().is_some_and(optional)
    };
    reader.lock.default_groups = groups.iter().filter(is_default).cloned().collect();
    reader.lock.groups = groups.into_iter().collect();
    Ok(reader.finish())
}

fn major_minor(version: &str) -> Option<(u64, u64)> {
    let (major, rest) = version.split_once('.').unwrap_or((version, "0"));
    let minor = rest.split('.').next().unwrap_or_default();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Puts a package that no other needs where the file says that it belongs: under the group of developers, or under the
/// extras that list it. An optional one that no extra lists is never installed.
fn place(
    root: Dependency,
    facts: &BTreeMap<(String, String), (bool, bool)>,
    listed: &Listed<'_>,
) -> Vec<Dependency> {
    let name = normal_name(&root.name);
    let key = (name.clone(), root.version.clone().unwrap_or_default());
    let (is_dev, is_optional) = facts.get(&key).copied().unwrap_or_default();
    let under = |under: Under| Dependency {
        under: Some(under),
        ..root.clone()
    };
    if is_dev {
        return vec![under(Under::Group(DEV_GROUP.to_owned()))];
    }
    if !is_optional {
        return vec![root];
    }
    let extras = listed.get(&name).into_iter().flatten();
    extras
        .map(|extra| under(Under::Extra((*extra).to_owned())))
        .collect()
}

/// The extras that list a package, by its name.
type Listed<'e> = BTreeMap<String, Vec<&'e str>>;

fn listed(extras: &BTreeMap<String, Vec<String>>) -> Listed<'_> {
    let mut listed = Listed::new();
    for (extra, requirements) in extras {
        for edge in requirements.iter().filter_map(|text| Edge::parse(text)) {
            let name = normal_name(&edge.to.name);
            listed.entry(name).or_default().push(extra);
        }
    }
    listed
}

/// Whether a file, by its name, is of a version; what does not say is.
fn is_of(file: &str, version: &str) -> bool {
    let said = match file.strip_suffix(".whl") {
        Some(stem) => stem.split('-').nth(1),
        None => [".tar.gz", ".zip", ".tar.bz2", ".tgz"]
            .iter()
            .find_map(|end| file.strip_suffix(end))
            .and_then(|stem| Some(stem.rsplit_once('-')?.1)),
    };
    said.is_none_or(|said| same_version(said, version))
}

fn add(
    reader: &mut Reader<'_>,
    line: u32,
    package: Package,
    apart: Vec<&Spanned<File>>,
    is_flat: bool,
) {
    let mut locked = Locked::new(&package.name, Some(package.version), line);
    if is_flat {
        let markers = package.markers.as_ref();
        locked.condition.marker = markers.and_then(|markers| markers.of(&package.groups));
        locked.condition.groups = package.groups;
        // an optional package says for which extras in its marker
        let is_said = locked
            .condition
            .marker
            .as_deref()
            .is_some_and(|marker| marker.contains("extra"));
        locked.condition.optional = package.optional && !is_said;
    }
    let mut address = None;
    if let Some(source) = package.source {
        let url = without_secrets(&source.url);
        match source.r#type.as_str() {
            "legacy" => locked.index = Some(url),
            "git" => locked.origin = Origin::Vcs(url),
            "url" => locked.origin = Origin::Url,
            "file" => locked.origin = Origin::File(source.url.clone()),
            "directory" => locked.origin = Origin::Directory(source.url.clone()),
            kind => {
                let message = format!(
                    "the source of `{}` is of no kind that is known: {kind}",
                    package.name
                );
                reader.problem(line, &message);
                return;
            }
        }
        if matches!(locked.origin, Origin::Url | Origin::File(_)) {
            address = Some(source.url);
        }
    }
    for file in package.files.iter().chain(apart) {
        let line = reader.line(file.span().start);
        let File { file, hash } = file.get_ref();
        let mut it = LockedFile::new(file, line);
        match hash.as_deref().map(Hash::parse) {
            Some(None) => {
                let message = format!("a file of `{}` has a hash that is none", package.name);
                reader.problem(line, &message);
                continue;
            }
            hash => it.hash = hash.flatten(),
        }
        it.url = address
            .clone()
            .filter(|address| file_name(address) == *file);
        locked.files.push(it);
    }
    if let (true, Some(address)) = (locked.files.is_empty(), address) {
        let mut file = LockedFile::new(file_name(&address), line);
        file.url = Some(address);
        locked.files.push(file);
    }
    reader.lock.packages.push(locked);
}

#[cfg(test)]
mod tests;
