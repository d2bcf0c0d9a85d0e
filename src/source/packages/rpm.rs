//! RPM packages.
//!
//! Format: a database of headers, in `var/lib/rpm` or `usr/lib/sysimage/rpm`. Which form it has depends on the release
//! of RPM: `rpmdb.sqlite` (Fedora 33, RHEL 9 and later) is read; `Packages` (Berkeley DB: RHEL 8 and before) and
//! `Packages.db` (ndb: SUSE) are not, and a problem says so.

use super::header::Header;
use super::paths::{base_of, join, split_last};
use super::sqlite::Database;
use super::{Manager, Owners, Package};
use crate::Extent;
use crate::archive::Fault;

const DIRS: [&[u8]; 2] = [b"var/lib/rpm", b"usr/lib/sysimage/rpm"];
const SQLITE: &[u8] = b"rpmdb.sqlite";
/// What was written after `SQLITE` and is not in it yet.
const LOG: &[u8] = b"rpmdb.sqlite-wal";
/// The forms that are not read.
const OTHERS: [(&[u8], &str); 2] = [(b"Packages", "Berkeley DB"), (b"Packages.db", "ndb")];

/// The root of the system that a file is the database of, the file's directory, and its last part.
fn find(name: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (dir, last) = split_last(name);
    let base = DIRS.iter().find_map(|known| base_of(dir, known))?;
    Some((base, dir, last))
}

pub(super) fn is_metadata(name: &[u8]) -> bool {
    find(name).is_some_and(|(_, _, last)| last == SQLITE || last == LOG)
}

/// Adds the RPM packages of the tree.
pub(super) fn assign(owners: &mut Owners<'_>) {
    for (file, name) in owners.names() {
        let Some((base, dir, last)) = find(name) else {
            continue;
        };
        if last == SQLITE {
            if let Err(fault) = read(owners, file, base) {
                owners.problem(file, fault, Extent::Part);
            }
        } else if last == LOG {
            // left behind where a layer was made while the database was open
            if !matches!(owners.read(file), Ok(log) if log.is_empty()) {
                owners.unread(
                    file,
                    "the last changes of the RPM database, which are only in this log, are not read",
                );
            }
        } else if let Some((_, form)) = OTHERS.iter().find(|(known, _)| *known == last)
            && owners.file(&join(dir, SQLITE)).is_none()
        {
            owners.unread(
                file,
                format!("an RPM database in the form {form}, which is not read: which package owns what is not known"),
            );
        }
    }
}

/// Adds the packages of one database. What comes before a damaged part of it stays.
fn read(owners: &mut Owners<'_>, file: usize, base: &[u8]) -> Result<(), Fault> {
    let bytes = owners.read(file)?;
    let metadata = owners.member_name(file);
    let limits = owners.limits;
    let mut full = false;
    let mut files = 0;
    let mut damaged = None;
    Database::open(&bytes)?.column("Packages", 1, |blob| {
        if full {
            return Ok(());
        }
        let header = match Header::parse(blob) {
            Ok(header) => header,
            Err(fault) => {
                damaged.get_or_insert(fault);
                return Ok(());
            }
        };
        full = !owners.may_add(file);
        if full {
            return Ok(());
        }
        let package = owners.add(Package {
            name: String::from_utf8_lossy(header.name).into_owned(),
            version: header.version(),
            manager: Manager::Rpm,
            requires: Vec::new(),
            metadata: metadata.clone(),
        });
        let mut path = Vec::new();
        let listed = header.files(limits, |dir, name| {
            // a long directory of many files would be copied for each
            if dir.len() <= LONGEST_DIR && owners.may_list(file, &mut files) {
                path.clear();
                path.extend_from_slice(dir.strip_prefix(b"/").unwrap_or(dir));
                path.extend_from_slice(name.strip_prefix(b"/").unwrap_or(name));
                owners.claim_path(base, &path, package);
            }
        });
        if let Err(fault) = listed {
            damaged.get_or_insert(fault);
        }
        Ok(())
    })?;
    damaged.map_or(Ok(()), Err)
}

/// No longer directory is a path on Linux.
const LONGEST_DIR: usize = 4096;
