//! Driver branches, and which driver numbers belong to them.

use serde::Deserialize;

use super::rows::{BranchRow, NumberRow};
use super::yaml::{self, Sources};
use crate::cuda::{DriverBranch, DriverVersion};
use crate::error::Error;
use crate::platform::Os;

const FILE: &str = "drivers.yaml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    branches: Vec<BranchRow>,
    linux: Vec<NumberRow>,
    windows: Vec<NumberRow>,
}

/// The table of drivers.
#[derive(Debug)]
pub(super) struct DriverTable {
    pub(super) as_of: String,
    pub(super) branches: Vec<BranchRow>,
    /// Numbers that differ from their branch's.
    pub(super) linux: Vec<NumberRow>,
    pub(super) windows: Vec<NumberRow>,
}

impl DriverTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        let numbers = file.linux.iter_mut().chain(&mut file.windows);
        for source in file
            .branches
            .iter_mut()
            .map(|row| &mut row.sources)
            .chain(numbers.map(|row| &mut row.sources))
            .flatten()
        {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        Ok(Self {
            as_of: file.as_of,
            branches: file.branches,
            linux: file.linux,
            windows: file.windows,
        })
    }

    pub(super) fn numbers(&self, os: Os) -> &[NumberRow] {
        match os {
            Os::Linux => &self.linux,
            Os::Windows => &self.windows,
            Os::MacOs => &[],
        }
    }

    pub(super) fn branch(&self, branch: DriverBranch) -> Option<&BranchRow> {
        self.branches.iter().find(|row| row.branch == branch)
    }

    pub(super) fn branch_of(&self, version: &DriverVersion, os: Os) -> Option<&BranchRow> {
        let number = version.major();
        let listed = self.numbers(os).iter().find(|row| row.contains(number));
        match (listed, os) {
            (Some(row), _) => self.branch(row.branch),
            (None, Os::Linux) => self.branch(DriverBranch(number)),
            (None, Os::Windows | Os::MacOs) => None,
        }
    }

    /// The newest branch of which a number below `number` is known.
    pub(super) fn branch_before(&self, number: u32, os: Os) -> Option<DriverBranch> {
        let listed = self.numbers(os).iter().filter(|row| row.from < number);
        let listed = listed.map(|row| row.branch);
        let own = self.branches.iter().map(|row| row.branch);
        let own = own.filter(|branch| os == Os::Linux && branch.0 < number);
        listed.chain(own).max()
    }
}
