//! Which rows of the matrix a finding is about, found without asking every row.

use std::collections::BTreeMap;

use super::{Finding, PackageName, Row};

/// The rows of a matrix, by artifact and by target.
#[derive(Debug)]
pub(crate) struct RowIndex<'r> {
    rows: &'r [Row],
    of_artifact: BTreeMap<usize, Vec<usize>>,
    of_target: BTreeMap<(usize, &'r str), Vec<usize>>,
    of_package: BTreeMap<(usize, &'r PackageName), Vec<usize>>,
    of_none: BTreeMap<usize, Vec<usize>>,
}

impl<'r> RowIndex<'r> {
    pub(crate) fn new(rows: &'r [Row]) -> Self {
        let mut of_artifact: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut of_target: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
        let mut of_package: BTreeMap<(usize, &PackageName), Vec<usize>> = BTreeMap::new();
        let mut of_none: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            of_artifact.entry(row.artifact).or_default().push(index);
            let key = (row.artifact, row.target.as_str());
            of_target.entry(key).or_default().push(index);
            if let Some(package) = &row.package {
                let key = (row.artifact, package);
                of_package.entry(key).or_default().push(index);
            } else {
                of_none.entry(row.artifact).or_default().push(index);
            }
        }
        Self {
            rows,
            of_artifact,
            of_target,
            of_package,
            of_none,
        }
    }

    /// The rows, by their index, that are about what `finding` is about, or about a part of it.
    pub(crate) fn concerned<'a>(
        &'a self,
        finding: &'a Finding,
    ) -> impl Iterator<Item = usize> + 'a {
        let target = finding.target.as_deref();
        let candidates = finding.artifact.and_then(|artifact| {
            // few rows are of one package, however many packages there are
            match (&finding.package, target) {
                // one that has no row of its own is among what the row without a package is of
                (Some(package), _) => self
                    .of_package
                    .get(&(artifact, package))
                    .or_else(|| self.of_none.get(&artifact)),
                (None, Some(target)) => self.of_target.get(&(artifact, target)),
                (None, None) => self.of_artifact.get(&artifact),
            }
        });
        let candidates = candidates.into_iter().flatten().copied();
        candidates.filter(move |index| {
            let row = self.rows.get(*index);
            row.is_some_and(|row| target.is_none_or(|target| target == row.target))
        })
    }
}
