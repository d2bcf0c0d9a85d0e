//! The rows of the matrix as tables: a line for each package, a column for each target.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{Artifact, Content, Library, LockedByName};
use crate::policy::FleetTarget;
use crate::report::beside::Beside;
use crate::report::checked::Checked;
use crate::verdict::{Evaluation, Judged, PackageName, Row, Runs, Verdict};

/// What is judged, arranged.
pub(super) struct Grids<'c> {
    pub(super) checked: Checked<'c>,
    pub(super) all: Vec<Grid<'c>>,
    beside: Vec<Beside<'c>>,
    locked: Vec<Option<LockedByName<'c>>>,
    /// The inputs that a package is in.
    within: BTreeMap<&'c PackageName, BTreeSet<usize>>,
}

/// A table: the inputs that are a package each, or one that holds packages.
#[derive(Debug, Default)]
pub(super) struct Grid<'c> {
    /// What it is of; nothing where its lines name their inputs.
    pub(super) title: Option<&'c str>,
    pub(super) lines: Vec<Line<'c>>,
}

/// A package, on every target.
#[derive(Debug)]
pub(super) struct Line<'c> {
    /// Its number in the report.
    pub(super) number: usize,
    pub(super) artifact: usize,
    pub(super) package: Option<&'c PackageName>,
    /// By the targets of the policy: its row of the matrix, and the number of that.
    pub(super) cells: Vec<Option<(usize, &'c Row)>>,
}

/// What a cell of the heat map says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gets {
    Runs(Runs),
    NoCode,
    NotRead,
}

impl<'c> Grids<'c> {
    pub(super) fn new(checked: Checked<'c>) -> Self {
        let evaluation = checked.evaluation;
        let targets = &checked.policy.targets;
        let mut packages = Grid::default();
        let mut rest: Vec<Grid<'c>> = Vec::new();
        let mut number = 0;
        for (index, judged) in evaluation.artifacts.iter().enumerate() {
            let mut lines: Vec<Line<'c>> = Vec::new();
            let rows = evaluation.matrix.iter().enumerate();
            for (at, row) in rows.filter(|(_, row)| row.artifact == index) {
                let Some(column) = targets.iter().position(|one| one.name == row.target) else {
                    continue;
                };
                let is_free = |line: &Line<'c>| {
                    line.package == row.package.as_ref()
                        && line.cells.get(column).is_some_and(Option::is_none)
                };
                if !lines.last().is_some_and(is_free) {
                    number += 1;
                    lines.push(Line {
                        number,
                        artifact: index,
                        package: row.package.as_ref(),
                        cells: vec![None; targets.len()],
                    });
                }
                let line = lines.last_mut();
                if let Some(cell) = line.and_then(|line| line.cells.get_mut(column)) {
                    *cell = Some((at, row));
                }
            }
            if judged.package.is_some() {
                packages.lines.append(&mut lines);
            } else {
                rest.push(Grid {
                    title: Some(&judged.input),
                    lines,
                });
            }
        }
        let own = (!packages.lines.is_empty()).then_some(packages);
        let locked = evaluation.artifacts.iter();
        let locked = locked.map(|judged| judged.lock.as_ref().map(|lock| lock.by_name()));
        Self {
            checked,
            all: own.into_iter().chain(rest).collect(),
            beside: Beside::of_rows(evaluation),
            locked: locked.collect(),
            within: within(evaluation),
        }
    }

    /// What tells a package of an input from one of equal name and version in another: the name of its file, or all of
    /// the input where these are equal too.
    pub(super) fn told_apart(&self, package: &PackageName, artifact: usize) -> Option<&'c str> {
        let within = self.within.get(package)?;
        let input = |artifact: usize| {
            let judged = self.checked.evaluation.artifacts.get(artifact);
            judged.map(|judged| judged.input.as_str())
        };
        let own = input(artifact)?;
        let mut others = within.iter().filter(|other| **other != artifact).peekable();
        others.peek()?;
        let same = others.any(|other| input(*other).map(file_name) == Some(file_name(own)));
        Some(if same { own } else { file_name(own) })
    }

    /// Every line, in the order of the report.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line<'c>> {
        self.all.iter().flat_map(|grid| &grid.lines)
    }

    pub(super) fn targets(&self) -> &'c [FleetTarget] {
        &self.checked.policy.targets
    }

    pub(super) fn judged(&self, line: &Line<'_>) -> Option<&'c Judged> {
        self.checked.evaluation.artifacts.get(line.artifact)
    }

    pub(super) fn artifact(&self, line: &Line<'_>) -> Option<&'c Artifact> {
        self.checked.inventory.artifacts.get(line.artifact)
    }

    /// What is said beside the verdict of a row.
    pub(super) fn remarks(&self, at: usize, row: &Row) -> String {
        let judged = self.checked.evaluation.artifacts.get(row.artifact);
        let locked = self.locked.get(row.artifact).and_then(Option::as_ref);
        let beside = self.beside.get(at);
        let remarks = judged.zip(beside);
        remarks.map_or_else(String::new, |(judged, beside)| {
            beside.remarks(row, judged, locked)
        })
    }

    /// What a package gets on a target.
    pub(super) fn gets(&self, row: &Row) -> Gets {
        match row.runs() {
            Some(runs) => Gets::Runs(runs),
            None if self.is_unread(row) => Gets::NotRead,
            None => Gets::NoCode,
        }
    }

    fn is_unread(&self, row: &Row) -> bool {
        let locked = self.locked.get(row.artifact).and_then(Option::as_ref);
        if let (Some(locked), Some(package)) = (locked, &row.package) {
            let locked = locked.get(&package.name, package.version.as_deref());
            return locked.is_some_and(|locked| matches!(locked.content, Content::NotRead(_)));
        }
        let artifact = self.checked.inventory.artifacts.get(row.artifact);
        artifact.is_some_and(Artifact::is_unread)
    }

    /// How a package is folded away that no target minds: one without device code, or one that was not read. A verdict
    /// that code or a finding made is never folded.
    pub(super) fn folded(&self, line: &Line<'_>) -> Option<Gets> {
        let mut rows = line.rows();
        let (_, first) = rows.next()?;
        let gets = self.gets(first);
        let expected = match gets {
            Gets::NoCode => Verdict::Pass,
            // a lock file may have hundreds
            Gets::NotRead if self.judged(line)?.lock.is_some() => Verdict::Incomplete,
            Gets::NotRead | Gets::Runs(_) => return None,
        };
        let plain = |row: &Row| row.verdict <= expected && !row.has_device_code && !row.compiles;
        let all = plain(first) && rows.all(|(_, row)| plain(row) && self.gets(row) == gets);
        // alone, it is what the report is about
        let several = self.lines().nth(1).is_some();
        (all && several).then_some(gets)
    }
}

/// The inputs that each package is in.
fn within(evaluation: &Evaluation) -> BTreeMap<&PackageName, BTreeSet<usize>> {
    let mut within: BTreeMap<&PackageName, BTreeSet<usize>> = BTreeMap::new();
    for row in &evaluation.matrix {
        if let Some(package) = &row.package {
            within.entry(package).or_default().insert(row.artifact);
        }
    }
    within
}

/// The end of a path or an address.
pub(super) fn file_name(input: &str) -> &str {
    let trimmed = input.trim_end_matches(['/', '\\']);
    trimmed.rsplit(['/', '\\']).next().unwrap_or(input)
}

impl<'c> Line<'c> {
    /// Its rows of the matrix, with their numbers.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &'c Row)> + '_ {
        self.cells.iter().flatten().copied()
    }

    /// The worst that is said of it.
    pub(super) fn verdict(&self) -> Verdict {
        let verdicts = self.rows().map(|(_, row)| row.verdict);
        verdicts.max().unwrap_or(Verdict::Pass)
    }

    /// What reports call it.
    pub(super) fn name(&self) -> String {
        match self.package {
            Some(package) => package.to_string(),
            None => "files of no package".to_owned(),
        }
    }

    /// The library at a path.
    pub(super) fn library<'a>(artifact: &'a Artifact, path: &str) -> Option<&'a Library> {
        // sorted by path
        let libraries = &artifact.libraries;
        let at = libraries.binary_search_by(|library| library.path.as_str().cmp(path));
        at.ok().and_then(|at| libraries.get(at)).or_else(|| {
            let mut all = libraries.iter();
            all.find(|library| library.path == path)
        })
    }
}
