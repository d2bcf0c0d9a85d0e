//! Which package of a directory owns which file.
//!
//! Format: PEP 376 (`.dist-info` and `RECORD`), the `.egg-info` of setuptools before it.

use std::path::Path;

use super::{Dir, DirFile, Package};
use crate::Extent;
use crate::archive::{Fault, SharedBytes};
use crate::limits::{LimitHit, Limits};
use crate::source::bounded::read_metadata;
use crate::source::wheel::metadata::Headers;
use crate::source::wheel::record::Record;
use crate::source::wheel::split_dist_info;

/// The metadata of one package.
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

/// Finds the packages and gives each file to the one that lists it.
pub(super) fn assign(dir: &mut Dir, limits: &Limits) {
    let mut found: Vec<_> = dir
        .files
        .iter()
        .enumerate()
        .filter_map(|(index, file)| find(index, file.name.as_bytes()))
        .collect();
    // The outer package first: what it lists of vendored packages is its own.
    found.sort_by_key(|found| depth(&found.base));
    let mut packages = Vec::new();
    let mut depths = Vec::new();
    for found in found {
        let depth = depth(&found.base);
        let owner = dir.files.get(found.file).and_then(|file| file.package);
        let outer = owner.and_then(|owner| depths.get(owner));
        if outer.is_some_and(|outer| *outer < depth) {
            continue;
        }
        let index = packages.len();
        let Some(package) = read_package(dir, &found, limits) else {
            continue;
        };
        packages.push(package);
        depths.push(depth);
        let owned = owned_files(dir, &found, limits);
        for file in owned {
            if let Some(file) = dir.files.get_mut(file) {
                file.package.get_or_insert(index);
            }
        }
    }
    sort(dir, packages);
}

/// Puts the packages into the order of their metadata's names.
fn sort(dir: &mut Dir, packages: Vec<Package>) {
    let mut order: Vec<_> = packages.into_iter().enumerate().collect();
    order.sort_by(|(_, one), (_, other)| one.metadata.cmp(&other.metadata));
    let mut places = vec![0; order.len()];
    for (place, (index, _)) in order.iter().enumerate() {
        if let Some(slot) = places.get_mut(*index) {
            *slot = place;
        }
    }
    for file in &mut dir.files {
        file.package = file.package.and_then(|index| places.get(index).copied());
    }
    dir.packages = order.into_iter().map(|(_, package)| package).collect();
}

/// Whether a file is the metadata of a package.
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
            list: Some(super::join(parent, b"RECORD")),
            stem,
            egg: false,
        });
    }
    // A directory of setuptools, or the single file of distutils.
    let (stem, list) = match last {
        b"PKG-INFO" => {
            let list = super::join(parent, b"installed-files.txt");
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

fn read_package(dir: &mut Dir, found: &Found, limits: &Limits) -> Option<Package> {
    let file = dir.files.get(found.file)?;
    let metadata = file.name.clone();
    let headers = match read_file(file, limits).and_then(|bytes| Headers::parse(&bytes)) {
        Ok(headers) => headers,
        Err(fault) => {
            dir.problems
                .push(fault.at(dir.at.member(&metadata), Extent::Member));
            Headers::default()
        }
    };
    let (name, version) = split_dist_info(&found.stem);
    // Eggs append the Python version: `NAME-VERSION-py3.12`.
    let version = version
        .split('-')
        .next()
        .filter(|version| !version.is_empty());
    Some(Package {
        name: headers.first("name").unwrap_or(name).to_owned(),
        version: headers.first("version").or(version).map(str::to_owned),
        requires: headers.all("requires-dist").map(str::to_owned).collect(),
        metadata,
    })
}

/// The files that a package lists, itself among them.
fn owned_files(dir: &mut Dir, found: &Found, limits: &Limits) -> Vec<usize> {
    let mut owned = vec![found.file];
    let list = found.list.as_deref();
    let list = list.and_then(|list| index_of(&dir.files, list));
    let Some(list) = list.and_then(|list| dir.files.get(list)) else {
        return owned;
    };
    let paths = read_file(list, limits).and_then(|bytes| listed(&bytes, found.egg, limits));
    match paths {
        Ok(paths) => owned.extend(paths.iter().filter_map(|path| {
            let name = resolve(&found.base, path)?;
            index_of(&dir.files, &name)
        })),
        Err(fault) => {
            let at = dir.at.member(&list.name);
            dir.problems.push(fault.at(at, Extent::Part));
        }
    }
    owned
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

fn read_file(file: &DirFile, limits: &Limits) -> Result<Vec<u8>, Fault> {
    let bytes = open(&file.path)?;
    read_metadata(bytes.cursor(), limits)
}

fn open(path: &Path) -> Result<SharedBytes, Fault> {
    SharedBytes::open(path).map_err(|error| Fault::of(&error))
}

fn index_of(files: &[DirFile], name: &[u8]) -> Option<usize> {
    files
        .binary_search_by(|file| file.name.as_bytes().cmp(name))
        .ok()
}

/// A listed path as the name of a file in the tree; nothing for one that leads out of it.
fn resolve(base: &[u8], path: &[u8]) -> Option<Vec<u8>> {
    let absolute = path.starts_with(b"/") || matches!(path, [_, b':', ..]);
    let mut parts: Vec<_> = base
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .collect();
    // Old tools on Windows wrote backslashes.
    for part in path.split(|byte| matches!(byte, b'/' | b'\\')) {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!absolute).then(|| parts.join(&b'/'))
}

fn split_last(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().rposition(|byte| *byte == b'/') {
        Some(at) => {
            let (parent, rest) = name.split_at(at);
            (parent, rest.strip_prefix(b"/").unwrap_or(rest))
        }
        None => (b"", name),
    }
}

fn depth(base: &[u8]) -> usize {
    base.split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_listed_paths_inside_the_tree() {
        let base: &[u8] = b"lib/python3.12/site-packages";
        for (path, expected) in [
            (
                &b"a/b.so"[..],
                Some(&b"lib/python3.12/site-packages/a/b.so"[..]),
            ),
            (b"../../../bin/tool", Some(b"bin/tool")),
            (b"./a//b.so", Some(b"lib/python3.12/site-packages/a/b.so")),
            (b"a\\b.dll", Some(b"lib/python3.12/site-packages/a/b.dll")),
            (b"../../../../etc/passwd", None),
            (b"/etc/passwd", None),
            (b"C:\\x.dll", None),
        ] {
            assert_eq!(resolve(base, path).as_deref(), expected);
        }
        assert_eq!(resolve(b"", b"a.so").unwrap(), b"a.so");
    }

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
