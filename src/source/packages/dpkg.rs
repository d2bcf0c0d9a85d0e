//! Debian packages.
//!
//! Format: `dpkg(1)` and `deb-control(5)`: `var/lib/dpkg/status` has a stanza a package, and
//! `info/NAME.list` (`info/NAME:ARCH.list` of packages that are installed for several CPUs) its files, one a line.
//! Images without dpkg ("distroless") have a stanza a file in `status.d`, with a list in `NAME.md5sums`.

use std::collections::BTreeSet;

use super::paths::{base_of, join, split_last};
use super::{Manager, Owners, Package};
use crate::Extent;

const STATUS: &[u8] = b"var/lib/dpkg/status";
const STATUS_DIR: &[u8] = b"var/lib/dpkg/status.d";
const INFO: &[u8] = b"var/lib/dpkg/info";
const SUMS: &[u8] = b".md5sums";

/// A database, or one package of a database without dpkg.
enum Found<'n> {
    Status { base: &'n [u8] },
    Single { base: &'n [u8] },
}

pub(super) fn is_metadata(name: &[u8]) -> bool {
    let (parent, last) = split_last(name);
    find(name).is_some()
        || (last.ends_with(b".list") && base_of(parent, INFO).is_some())
        || (last.ends_with(SUMS) && base_of(parent, STATUS_DIR).is_some())
}

fn find(name: &[u8]) -> Option<Found<'_>> {
    if let Some(base) = base_of(name, STATUS) {
        return Some(Found::Status { base });
    }
    let (parent, last) = split_last(name);
    let base = base_of(parent, STATUS_DIR)?;
    (!last.ends_with(SUMS)).then_some(Found::Single { base })
}

/// Adds the Debian packages of the tree.
pub(super) fn assign(owners: &mut Owners<'_>) {
    let mut lists = BTreeSet::new();
    for (file, name) in owners.names() {
        let Some(found) = find(name) else {
            continue;
        };
        let bytes = match owners.read(file) {
            Ok(bytes) => bytes,
            Err(fault) => {
                owners.problem(file, fault, Extent::Member);
                continue;
            }
        };
        let (mut installed, mut without_list) = (0_u64, 0_u64);
        for stanza in stanzas(&bytes) {
            let Some(package) = stanza.package(&found) else {
                continue;
            };
            if !owners.may_add(file) {
                break;
            }
            installed += 1;
            let index = owners.add(Package {
                name: String::from_utf8_lossy(package).into_owned(),
                version: stanza.version.map(text),
                manager: Manager::Dpkg,
                requires: Vec::new(),
                metadata: owners.member_name(file),
            });
            let (base, list) = match found {
                Found::Status { base } => (base, stanza.list(owners, base, package)),
                Found::Single { base } => {
                    owners.claim(file, index);
                    (base, owners.file(&[name, SUMS].concat()))
                }
            };
            match list {
                // a second stanza of the same name would have it read again and again
                Some(list) if lists.insert(list) => {
                    let sums = matches!(found, Found::Single { .. });
                    claim_listed(owners, list, base, index, sums);
                }
                Some(_) => {}
                None => without_list += 1,
            }
        }
        if without_list > 0 {
            owners.unread(
                file,
                format!("{without_list} of {installed} packages have no list of their files here"),
            );
        }
    }
}

/// Gives a package the files of its list.
fn claim_listed(owners: &mut Owners<'_>, list: usize, base: &[u8], package: usize, sums: bool) {
    owners.claim(list, package);
    let bytes = match owners.read(list) {
        Ok(bytes) => bytes,
        Err(fault) => {
            owners.problem(list, fault, Extent::Part);
            return;
        }
    };
    let mut listed = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let path = if sums { behind_sum(line) } else { line };
        let path = path.strip_suffix(b"\r").unwrap_or(path);
        let path = path.strip_prefix(b"/").unwrap_or(path);
        if path.is_empty() {
            continue;
        }
        if !owners.may_list(list, &mut listed) {
            return;
        }
        owners.claim_path(base, path, package);
    }
}

/// The path of a line `SUM  PATH`.
fn behind_sum(line: &[u8]) -> &[u8] {
    let at = line.iter().position(|byte| *byte == b' ');
    at.and_then(|at| line.get(at..))
        .unwrap_or_default()
        .trim_ascii_start()
}

/// The fields of a stanza that matter here.
#[derive(Debug, Default, Clone, Copy)]
struct Stanza<'b> {
    package: Option<&'b [u8]>,
    status: Option<&'b [u8]>,
    version: Option<&'b [u8]>,
    architecture: Option<&'b [u8]>,
}

impl<'b> Stanza<'b> {
    fn set(&mut self, line: &'b [u8]) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return;
        };
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii();
        let field = match name.to_ascii_lowercase().as_slice() {
            b"package" => &mut self.package,
            b"status" => &mut self.status,
            b"version" => &mut self.version,
            b"architecture" => &mut self.architecture,
            _ => return,
        };
        field.get_or_insert(value);
    }

    /// The name of the package, where it is installed. Of a package that was removed, the configuration is left.
    fn package(&self, found: &Found<'_>) -> Option<&'b [u8]> {
        let installed = match (self.status, found) {
            (None, Found::Single { .. }) => true,
            (None, Found::Status { .. }) => false,
            (Some(status), _) => {
                let mut words = status.split(u8::is_ascii_whitespace);
                // what is wanted (`install`, `hold`) may be anything
                let _wanted = words.next();
                words.next() == Some(b"ok") && words.next() == Some(b"installed")
            }
        };
        self.package.filter(|name| installed && !name.is_empty())
    }

    /// The list of its files.
    fn list(&self, owners: &Owners<'_>, base: &[u8], package: &[u8]) -> Option<usize> {
        let info = join(base, INFO);
        let with_architecture = self.architecture.and_then(|architecture| {
            let name = [package, b":", architecture, b".list"].concat();
            owners.file(&join(&info, &name))
        });
        with_architecture.or_else(|| owners.file(&join(&info, &[package, b".list"].concat())))
    }
}

/// The stanzas of a status file. Lines of longer fields begin with a blank.
fn stanzas(bytes: &[u8]) -> impl Iterator<Item = Stanza<'_>> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    std::iter::from_fn(move || {
        let mut stanza = Stanza::default();
        let mut any = false;
        for line in lines.by_ref() {
            let blank = line.trim_ascii().is_empty();
            if blank && any {
                return Some(stanza);
            }
            if !blank {
                any = true;
                if !line.starts_with(b" ") && !line.starts_with(b"\t") {
                    stanza.set(line);
                }
            }
        }
        any.then_some(stanza)
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
