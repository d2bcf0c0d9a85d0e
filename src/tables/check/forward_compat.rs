//! Invariants of forward compatibility packages.

use super::super::Tables;
use super::Broken;

/// Packages rise and are of the branch that reports their version; hosts are older and known.
pub(super) fn packages(tables: &Tables, broken: &mut Broken) {
    let table = tables.compat_table();
    broken.rising("packages", table.rows.iter().map(|row| row.package));
    broken.sourced(
        table
            .rows
            .iter()
            .map(|row| (row.package, row.sources.as_slice(), row.note.as_ref())),
    );
    broken.unless(table.columns.is_sorted_by(|a, b| a < b), || {
        "forward compatibility: columns do not rise".to_owned()
    });
    broken.unless(!table.conditions.is_empty(), || {
        "forward compatibility has no conditions".to_owned()
    });
    for row in &table.rows {
        let package = row.package;
        let branch = tables.branch(row.branch);
        broken.unless(branch.is_some_and(|branch| branch.cuda == package), || {
            format!("package `{package}`: its branch reports another CUDA version")
        });
        let documented = row.hosts.as_deref().unwrap_or_default();
        for hosts in [documented, &row.images] {
            broken.unless(hosts.is_sorted_by(|a, b| a < b), || {
                format!("package `{package}`: hosts do not rise")
            });
            for host in hosts {
                broken.unless(tables.branch(*host).is_some() && *host < row.branch, || {
                    format!("package `{package}`: host `{host}` is unknown or not older")
                });
            }
        }
        let listed = documented.iter().all(|host| table.columns.contains(host));
        broken.unless(listed, || {
            format!("package `{package}`: a host is in no column of the document")
        });
    }
}
