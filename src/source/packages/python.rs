//! Python distributions.
//!
//! Format: PEP 376 (`.dist-info` and `RECORD`), the `.egg-info` of setuptools before it.

use super::paths::{Style, depth, join, resolve, split_last};
use super::{Manager, Owners, Package};
use crate::Extent;
use crate::archive::Fault;
use crate::limits::{LimitHit, Limits};
use crate::source::wheel::metadata::Headers;
use crate::source::wheel::record::Record;
use crate::source::wheel::split_dist_info;

/// The metadata of one distribution.
struct Found {
    /// Index of the metadata file.
    file: usize,
    /// The directory that the listed paths begin in.
    base: Vec<u8>,
    /// The name of the list of its files, where it has one.
    list: Option<Vec<u8>>,
    /// `NAME-VERSION`, where the metadata is silent.
    stem: String,
    egg: bool,
}

pub(super) fn is_metadata(name: &[u8]) -> bool {
    let (parent, last) = split_last(name);
    match last {
        b"RECORD" => parent.ends_with(b".dist-info"),
        b"installed-files.txt" => parent.ends_with(b".egg-info"),
        _ => find(0, name).is_some(),
    }
}

/// Adds the distributions of the tree.
pub(super) fn assign(owners: &mut Owners<'_>) {
    let mut found: Vec<_> = owners
        .names()
        .filter_map(|(index, name)| find(index, name))
        .collect();
    // The outer package first: what it lists of vendored packages is its own.
    found.sort_by_key(|found| depth(&found.base));
    let mut depths = Vec::new();
    for found in found {
        let depth = depth(&found.base);
        let owner = owners.owner.get(found.file).copied().flatten();
        let outer = owner.and_then(|owner| depths.get(owner));
        if outer.is_some_and(|outer| *outer < depth) {
            continue;
        }
        let package = read_package(owners, &found);
        let index = owners.add(package);
        depths.push(depth);
        claim_files(owners, &found, index);
    }
}

/// Whether a file is the metadata of a distribution.
fn find(file: usize, name: &[u8]) -> Option<Found> {
    let (parent, last) = split_last(name);
    let (base, dir) = split_last(parent);
    let stem = |dir: &[u8], suffix: &str| {
        let stem = dir.strip_suffix(suffix.as_bytes())?;
        Some(String::from_utf8_lossy(stem).into_owned())
    };
    if last == b"METADATA" {
        let stem = stem(dir, ".dist-info")?;
        return Some(Found {
            file,
            base: base.to_owned(),
            list: Some(join(parent, b"RECORD")),
            stem,
            egg: false,
        });
    }
    // A directory of setuptools, or the single file of distutils.
    let (stem, list) = match last {
        b"PKG-INFO" => {
            let list = join(parent, b"installed-files.txt");
            (stem(dir, ".egg-info")?, Some(list))
        }
        _ => (stem(last, ".egg-info")?, None),
    };
    Some(Found {
        file,
        base: parent.to_owned(),
        list,
        stem,
        egg: true,
    })
}

fn read_package(owners: &mut Owners<'_>, found: &Found) -> Package {
    let headers = owners
        .read(found.file)
        .and_then(|bytes| Headers::parse(&bytes));
    let headers = headers.unwrap_or_else(|fault| {
        owners.problem(found.file, fault, Extent::Member);
        Headers::default()
    });
    let (name, version) = split_dist_info(&found.stem);
    // Eggs append the Python version: `NAME-VERSION-py3.12`.
    let version = version
        .split('-')
        .next()
        .filter(|version| !version.is_empty());
    Package {
        name: headers.first("name").unwrap_or(name).to_owned(),
        version: headers.first("version").or(version).map(str::to_owned),
        manager: Manager::Pip,
        requires: headers.all("requires-dist").map(str::to_owned).collect(),
        metadata: owners.member_name(found.file),
    }
}

/// Gives a distribution the files that it lists, its metadata among them.
fn claim_files(owners: &mut Owners<'_>, found: &Found, package: usize) {
    owners.claim(found.file, package);
    let list = found.list.as_deref().and_then(|list| owners.file(list));
    let Some(list) = list else {
        if let Some(draft) = owners.packages.get_mut(package) {
            draft.listless = Some(found.file);
        }
        return;
    };
    let paths = owners
        .read(list)
        .and_then(|bytes| listed(&bytes, found.egg, owners.limits));
    match paths {
        Ok(paths) => {
            for path in paths {
                let name = resolve(&found.base, &path, Style::Python);
                if let Some(file) = name.and_then(|name| owners.lookup(&name)) {
                    owners.claim(file, package);
                }
            }
        }
        Err(fault) => owners.problem(list, fault, Extent::Part),
    }
}

/// The paths of a `RECORD`, or of an `installed-files.txt`, which has one a line.
fn listed(bytes: &[u8], egg: bool, limits: &Limits) -> Result<Vec<Vec<u8>>, Fault> {
    if egg {
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .map(|line| line.trim_ascii().to_owned())
            .filter(|line| !line.is_empty());
        let most = usize::try_from(limits.members).unwrap_or(usize::MAX);
        let paths: Vec<_> = lines.take(most.saturating_add(1)).collect();
        if paths.len() > most {
            return Err(LimitHit::Members(limits.members).into());
        }
        return Ok(paths);
    }
    Ok(Record::parse(bytes, limits)?
        .paths()
        .map(<[u8]>::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_metadata_by_its_name() {
        let base =
            |name: &str| find(0, name.as_bytes()).map(|found| (found.base, found.list, found.stem));
        let text = |base: &str, list: &str, stem: &str| {
            let list = (!list.is_empty()).then(|| list.as_bytes().to_owned());
            Some((base.as_bytes().to_owned(), list, stem.to_owned()))
        };
        assert_eq!(
            base("s/a-1.dist-info/METADATA"),
            text("s", "s/a-1.dist-info/RECORD", "a-1")
        );
        assert_eq!(
            base("a-1.dist-info/METADATA"),
            text("", "a-1.dist-info/RECORD", "a-1")
        );
        assert_eq!(
            base("s/a.egg-info/PKG-INFO"),
            text("s/a.egg-info", "s/a.egg-info/installed-files.txt", "a")
        );
        assert_eq!(base("s/a-1.egg-info"), text("s", "", "a-1"));
        for name in [
            "METADATA",
            "a/METADATA",
            "a-1.dist-info/RECORD",
            "s/PKG-INFO",
            "PKG-INFO",
        ] {
            assert_eq!(base(name), None, "{name}");
        }
    }
}
