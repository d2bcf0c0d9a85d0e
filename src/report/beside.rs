//! What is said beside a verdict: which driver it needs, what is not judged, what is waived.

use crate::inventory::{ArtifactKind, Content, LockedByName};
use crate::rule::{Code, Level};
use crate::verdict::{Evaluation, Finding, Judged, Mechanism, Row, RowIndex};

use super::human::look;
use super::text::listed;

/// What the findings about a row say of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Beside<'e> {
    /// How many of them are waived.
    waived: usize,
    /// The GPUs for which it fails because code is missing, which no driver changes.
    lacking: Vec<&'e str>,
}

impl<'e> Beside<'e> {
    /// Of each row of the matrix.
    pub(super) fn of_rows(evaluation: &'e Evaluation) -> Vec<Self> {
        let rows = RowIndex::new(&evaluation.matrix);
        let mut all = vec![Self::default(); evaluation.matrix.len()];
        for finding in &evaluation.findings {
            for index in rows.concerned(finding) {
                if let Some(beside) = all.get_mut(index) {
                    beside.add(finding);
                }
            }
        }
        all
    }

    fn add(&mut self, finding: &'e Finding) {
        if finding.waived.is_some() {
            self.waived += 1;
        }
        // the codes that are raised only where no driver would do
        let lacks = matches!(
            finding.code,
            Code::NoKernelImage | Code::ArchSpecificOnly | Code::LibraryForNewerGpus
        );
        if let Some(gpu) = finding.gpu.as_deref()
            && lacks
            && finding.level == Level::Deny
            && finding.counts()
            && !self.lacking.contains(&gpu)
        {
            self.lacking.push(gpu);
        }
    }

    /// The remarks, or nothing.
    pub(super) fn remarks(
        &self,
        row: &Row,
        artifact: &Judged,
        locked: Option<&LockedByName<'_>>,
    ) -> String {
        let mut remarks = Vec::new();
        if !row.has_device_code {
            remarks.push(no_device_code(row, artifact, locked).to_owned());
        }
        if !self.lacking.is_empty() {
            let gpus: Vec<String> = self.lacking.iter().map(|gpu| (*gpu).to_owned()).collect();
            remarks.push(format!(
                "lacks code for {}, whatever the driver",
                listed(&gpus)
            ));
        }
        remarks.extend(self.driver(row));
        remarks.extend(row.notes.iter().cloned());
        let said = remarks.join("; ");
        match self.waived {
            0 => said,
            n if said.is_empty() => format!("({n} waived)"),
            n => format!("{said} ({n} waived)"),
        }
    }

    /// The driver that the row needs. Where code is missing, only a driver that is too old beside that is worth a word.
    fn driver(&self, row: &Row) -> Option<String> {
        let floor = row.minimum_driver.as_ref()?;
        let (needed, why) = (&floor.driver, &floor.mechanism);
        match (&row.driver_below, self.lacking.is_empty()) {
            (Some(have), true) => Some(format!(
                "needs driver {needed} or newer, has {have} ({why})"
            )),
            (Some(have), false) => Some(format!(
                "needs driver {needed} or newer as well, has {have} ({why})"
            )),
            (None, true) => Some(format!("driver {needed} or newer ({why})")),
            (None, false) => None,
        }
    }
}

/// What a package without device code of its own is, as far as can be said.
fn no_device_code(row: &Row, artifact: &Judged, locked: Option<&LockedByName<'_>>) -> &'static str {
    let locked = locked.zip(row.package.as_ref());
    let locked =
        locked.and_then(|(locked, package)| locked.get(&package.name, package.version.as_deref()));
    if let Some(package) = locked.filter(|package| !package.content.is_known()) {
        return match package.content {
            Content::NotRead(_) => "its file was not read",
            _ => "there is no file of it to read",
        };
    }
    if let Some(lock) = artifact.lock.as_ref().filter(|_| row.package.is_none()) {
        let any = lock.packages.iter().any(|one| one.content.is_known());
        return match (any, lock.packages.is_empty()) {
            (true, _) | (_, true) => "no device code in what was read",
            _ => "no file was read",
        };
    }
    // what is wrong with other packages of a lock file says nothing of this one
    if let Some(why) = look(artifact).why_none().filter(|_| locked.is_none()) {
        why
    } else if row.has_unloadable_code {
        "device code that no GPU loads by itself, as it must be linked first: nothing to judge"
    } else if row.has_foreign_code {
        "no device code but that of NVIDIA's own libraries, which is not judged"
    } else if matches!(
        row.minimum_driver.as_ref().map(|floor| &floor.mechanism),
        Some(Mechanism::DeclaredByPackage(_))
    ) {
        "no device code of its own, but it declares a driver"
    } else if row.minimum_driver.is_some() {
        "no device code of its own, but it links CUDA"
    } else if row.compiles {
        "no device code"
    } else if artifact.kind == ArtifactKind::Wheel {
        "no device code: nothing to judge (pure Python or a CPU build)"
    } else {
        "no device code: nothing to judge"
    }
}
