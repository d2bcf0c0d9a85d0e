//! What `pyproject.toml` beside a lock file tells that the lock does not: what the project itself needs, and which
//! groups are installed where nobody asks for some.
//!
//! Formats: PEP 621 (`[project]`), PEP 735 (`[dependency-groups]`), and the tables `[tool.poetry]`, `[tool.pdm]` and
//! `[tool.uv]` as the manuals of these tools describe them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Beside;
use super::graph::Edge;
use super::model::Under;
use super::poetry::Needs;
use super::reader::Reader;

const NAME: &str = "pyproject.toml";
/// How deep groups may include others.
const DEPTH: usize = 32;

/// The parts of the file that matter.
#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct PyProject {
    project: Project,
    dependency_groups: BTreeMap<String, Vec<InGroup>>,
    tool: Tool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Project {
    dependencies: Vec<String>,
    optional_dependencies: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum InGroup {
    Requirement(String),
    Include(Include),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Include {
    include_group: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tool {
    poetry: Poetry,
    pdm: Pdm,
    uv: Uv,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Poetry {
    dependencies: Needs,
    dev_dependencies: Needs,
    group: BTreeMap<String, PoetryGroup>,
    extras: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PoetryGroup {
    optional: bool,
    dependencies: Needs,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Pdm {
    dev_dependencies: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Uv {
    default_groups: Option<UvGroups>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum UvGroups {
    These(Vec<String>),
    Word(String),
}

/// The groups that uv installs where nobody asks for some.
pub(super) enum DefaultGroups {
    All,
    These(Vec<String>),
}

impl PyProject {
    /// Reads the file; where it is there and can't be read, that is a problem of the lock.
    pub(super) fn beside(reader: &mut Reader<'_>, beside: &Beside<'_>) -> Option<Self> {
        let bytes = beside(NAME)?.bytes;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            reader.note(&format!("`{NAME}` beside it is no UTF-8 text"));
            return None;
        };
        let text = text.trim_start_matches('\u{feff}');
        match toml::from_str(text) {
            Ok(project) => Some(project),
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                let before = text.get(..start).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                let message = error.message().trim_end();
                reader.note(&format!(
                    "`{NAME}` beside it can't be read, line {line}: {message}"
                ));
                None
            }
        }
    }

    /// `[tool.uv] default-groups`, where it is there.
    pub(super) fn uv_default_groups(self) -> Option<DefaultGroups> {
        match self.tool.uv.default_groups? {
            UvGroups::These(groups) => Some(DefaultGroups::These(groups)),
            UvGroups::Word(word) => (word == "all").then_some(DefaultGroups::All),
        }
    }

    /// What poetry begins with.
    pub(super) fn poetry_roots(&self) -> Vec<Edge> {
        let poetry = &self.tool.poetry;
        let mut roots = poetry.dependencies.edges(&poetry.extras);
        roots.extend(self.project_edges());
        for (extra, requirements) in &self.project.optional_dependencies {
            roots.extend(edges(requirements, || Under::Extra(extra.clone())));
        }
        let old = [("dev", &poetry.dev_dependencies)].into_iter();
        let new = poetry.group.iter();
        let new = new.map(|(name, group)| (name.as_str(), &group.dependencies));
        for (name, needs) in old.chain(new) {
            let edges = needs.edges(&BTreeMap::new());
            roots.extend(
                edges
                    .iter()
                    .map(|edge| edge.under(Under::Group(name.to_owned()))),
            );
        }
        roots.extend(self.group_edges());
        roots
    }

    /// Whether poetry installs a group only where somebody asks for it.
    pub(super) fn is_optional_in_poetry(&self, group: &str) -> bool {
        self.tool
            .poetry
            .group
            .get(group)
            .is_some_and(|group| group.optional)
    }

    /// What pdm begins with. Its groups are what others call extras, too.
    pub(super) fn pdm_roots(&self) -> Vec<Edge> {
        let mut roots: Vec<_> = self.project_edges().collect();
        let optional = self.project.optional_dependencies.iter();
        for (group, requirements) in optional.chain(&self.tool.pdm.dev_dependencies) {
            roots.extend(edges(requirements, || Under::Group(group.clone())));
        }
        roots.extend(self.group_edges());
        roots
    }

    fn pdm_dev_groups(&self) -> Vec<String> {
        let old = self.tool.pdm.dev_dependencies.keys();
        old.chain(self.dependency_groups.keys()).cloned().collect()
    }

    /// All groups as pdm counts them, without what the project itself needs.
    pub(super) fn pdm_groups(&self) -> Vec<String> {
        let optional = self.project.optional_dependencies.keys().cloned();
        optional.chain(self.pdm_dev_groups()).collect()
    }

    fn project_edges(&self) -> impl Iterator<Item = Edge> {
        let dependencies = self.project.dependencies.iter();
        dependencies.filter_map(|text| Edge::parse(text))
    }

    fn group_edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for group in self.dependency_groups.keys() {
            let mut seen = BTreeSet::new();
            self.include(group, &mut seen, DEPTH, &mut |text| {
                let edge = Edge::parse(text);
                edges.extend(edge.map(|edge| edge.under(Under::Group(group.clone()))));
            });
        }
        edges
    }

    /// Gives the requirements of a group and of those that it includes, each group once.
    fn include<'p>(
        &'p self,
        group: &'p str,
        seen: &mut BTreeSet<&'p str>,
        depth: usize,
        give: &mut dyn FnMut(&'p str),
    ) {
        if depth == 0 || !seen.insert(group) {
            return;
        }
        for entry in self.dependency_groups.get(group).into_iter().flatten() {
            match entry {
                InGroup::Requirement(text) => give(text),
                InGroup::Include(include) => {
                    self.include(&include.include_group, seen, depth - 1, give);
                }
            }
        }
    }
}

fn edges<'r>(
    requirements: &'r [String],
    under: impl Fn() -> Under + 'r,
) -> impl Iterator<Item = Edge> + 'r {
    let edges = requirements.iter().filter_map(|text| Edge::parse(text));
    edges.map(move |edge| edge.under(under()))
}
