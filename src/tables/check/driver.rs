//! Invariants of driver branches and driver numbers.
//!
//! What other tables say about drivers is checked where those tables are.

use std::fmt::Display;

use super::super::Tables;
use super::super::rows::NumberRow;
use super::Broken;
use crate::cuda::{DriverBranch, DriverVersion};
use crate::platform::Os;

/// A driver belongs to the branch that its row names.
pub(super) fn agrees(
    tables: &Tables,
    broken: &mut Broken,
    key: &impl Display,
    branch: Option<DriverBranch>,
    driver: Option<&DriverVersion>,
    os: Os,
) {
    if let Some(driver) = driver {
        let found = tables.branch_of(driver, os).map(|row| row.branch);
        broken.unless(found.is_some() && found == branch, || {
            format!("`{key}`: driver {driver} on {os} is not of its branch")
        });
    }
}

/// Branches have known capabilities, without gaps in time, and newer ones no older CUDA version.
pub(super) fn branches(tables: &Tables, broken: &mut Broken) {
    let rows = tables.branches();
    broken.unless(rows.is_sorted_by_key(|row| row.cuda), || {
        "a newer branch reports an older CUDA version".to_owned()
    });
    for row in rows {
        let branch = row.branch;
        broken.unless(row.capabilities.is_sorted_by(|a, b| a < b), || {
            format!("`{branch}`: capabilities do not rise")
        });
        for cc in &row.capabilities {
            broken.unless(tables.capability(*cc).is_some(), || {
                format!("`{branch}` lists an unknown capability `{cc}`")
            });
            let dropped = tables.capability(*cc).and_then(|row| row.last_branch);
            broken.unless(dropped.is_none_or(|last| branch <= last), || {
                format!("`{branch}` lists `{cc}`, which an older branch dropped")
            });
        }
        let first = row.first_linux.as_ref();
        agrees(tables, broken, &branch, Some(branch), first, Os::Linux);
        broken.unless(row.eol.as_deref().is_none_or(is_end), || {
            format!("`{branch}`: the end is neither `ended` nor a month")
        });
    }
}

fn is_end(text: &str) -> bool {
    let month = |(year, month): (&str, &str)| {
        let number = |digits: &str, len| {
            (digits.len() == len && digits.bytes().all(|b| b.is_ascii_digit()))
                .then(|| digits.parse::<u32>().ok())
                .flatten()
        };
        number(year, 4).is_some() && number(month, 2).is_some_and(|m| (1..=12).contains(&m))
    };
    text == "ended" || text.split_once('-').is_some_and(month)
}

/// Number ranges do not overlap, rise with their branches, and name known branches.
pub(super) fn numbers(tables: &Tables, broken: &mut Broken) {
    for os in [Os::Linux, Os::Windows] {
        let rows: &[NumberRow] = tables.driver_numbers(os);
        for row in rows {
            let branch = row.branch;
            broken.unless(tables.branch(branch).is_some(), || {
                format!("numbers of the unknown branch `{branch}` on {os}")
            });
            broken.unless(row.to.is_none_or(|to| row.from <= to), || {
                format!("numbers of `{branch}` on {os} end before they begin")
            });
        }
        let apart =
            rows.is_sorted_by(|a, b| a.branch < b.branch && a.to.is_some_and(|to| to < b.from));
        broken.unless(apart, || format!("number ranges on {os} overlap or fall"));
    }
}
