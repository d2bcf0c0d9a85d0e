//! `conda-lock.yml`, version 1.
//!
//! Format: `conda_lock/lockfile/v1/models.py` of the conda-lock repository: a list of packages, one entry for each
//! platform and category. `conda-lock install` takes `main` and `dev` where nothing else is asked for.

use std::collections::{HashMap, HashSet, hash_map};

use super::located::{Mistakes, not_yaml, quoted, refused};
use super::yaml::{self, Node};
use super::{Condition, Lock, LockKind, Locked, conda, pypi};
use crate::{Error, Locator};

/// What of a package says nothing about files, and is dropped while it is read.
const SKIP: &[&str] = &[
    "dependencies",
    "content_hash",
    "inputs_metadata",
    "custom_metadata",
];
const HINT: &str = "write the lock file again with a current conda-lock";

/// Reads `conda-lock.yml`.
///
/// # Errors
///
/// A text that is no YAML, another version, or no list of packages.
pub(super) fn read(text: &str, at: &Locator) -> Result<Lock, Error> {
    let root = yaml::parse(text, SKIP).map_err(|fault| not_yaml(at, &fault))?;
    let version = root.text_of("version");
    if version != Some("1") {
        let what = match version {
            Some(version) => format!("version {} of conda-lock.yml is not read", quoted(version)),
            None => "conda-lock.yml without a version".to_owned(),
        };
        return Err(refused(
            at,
            root.get("version").map_or(root.line, |v| v.line),
            what,
            HINT,
        ));
    }
    let packages = root
        .get("package")
        .ok_or_else(|| refused(at, root.line, "there is no list `package`", HINT))?;
    if packages.kind() != "a list" {
        let what = format!("`package` is {}, not a list", packages.kind());
        return Err(refused(at, packages.line, what, HINT));
    }
    let mut lock = Lock::new(at.clone(), LockKind::CondaLock);
    lock.format = version.map(str::to_owned);
    let mut mistakes = Mistakes::default();
    let mut known = HashMap::new();
    let mut groups_seen = HashSet::new();
    for entry in packages.items() {
        let Some(package) = package(entry, &mut mistakes) else {
            continue;
        };
        for group in &package.condition.groups {
            if groups_seen.insert(group.clone()) {
                lock.groups.push(group.clone());
            }
        }
        // one entry for each category: the same package of two categories is one
        let url = package.files.first().and_then(|file| file.url.clone());
        let key = (package.name.clone(), url, package.condition.subdirs.clone());
        match known.entry(key) {
            hash_map::Entry::Occupied(seen) => {
                let seen: usize = *seen.get();
                if let Some(first) = lock.packages.get_mut(seen) {
                    for group in package.condition.groups {
                        if !first.condition.groups.contains(&group) {
                            first.condition.groups.push(group);
                        }
                    }
                }
            }
            hash_map::Entry::Vacant(free) => {
                free.insert(lock.packages.len());
                lock.packages.push(package);
            }
        }
    }
    let default = |group: &&String| matches!(group.as_str(), "main" | "dev");
    lock.default_groups = lock.groups.iter().filter(default).cloned().collect();
    mistakes.into_lock(&mut lock);
    Ok(lock)
}

fn package(entry: &Node<'_>, mistakes: &mut Mistakes) -> Option<Locked> {
    let line = entry.line;
    let mut missing = |key: &str| {
        mistakes.add(line, format!("a package without {key}, which is left out"));
        None
    };
    let Some(name) = entry.text_of("name") else {
        return missing("`name`");
    };
    let Some(platform) = entry.text_of("platform") else {
        return missing("`platform`");
    };
    let Some(url) = entry.text_of("url") else {
        return missing("`url`");
    };
    let version = entry.text_of("version").map(str::to_owned);
    let hash = entry
        .get("hash")
        .and_then(|hash| conda::strongest(hash.text_of("sha256"), hash.text_of("md5")));
    let mut package = match entry.text_of("manager") {
        Some("conda") => match conda::package(url, hash, line) {
            Some(package) => package,
            None => return missing("the name of a conda package in its `url`"),
        },
        Some("pip") => {
            let mut package = pypi::package(name, version.clone(), url, hash, line);
            if entry.get("source").is_some() {
                pypi::set_direct(&mut package);
            }
            package
        }
        _ => return missing("a `manager` that is `conda` or `pip`"),
    };
    name.clone_into(&mut package.name);
    if version.is_some() {
        package.version = version;
    }
    package.condition = Condition {
        subdirs: vec![platform.to_owned()],
        groups: groups(entry),
        ..Condition::default()
    };
    Some(package)
}

fn groups(entry: &Node<'_>) -> Vec<String> {
    let several = entry.get("categories").map(Node::items).unwrap_or_default();
    let mut groups: Vec<String> = several
        .iter()
        .filter_map(Node::text)
        .map(str::to_owned)
        .collect();
    if groups.is_empty() {
        groups.push(entry.text_of("category").unwrap_or("main").to_owned());
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::*;

    fn at() -> Locator {
        Locator::root(0, "conda-lock.yml")
    }

    const LOCK: &str = "\
version: 1
metadata:
  content_hash: {linux-64: aa}
  platforms: [linux-64, win-64]
package:
- name: libtorch
  version: 2.10.0
  manager: conda
  platform: linux-64
  dependencies: {cuda-version: '>=12.9'}
  url: https://u:p@c.example/forge/linux-64/libtorch-2.10.0-cuda129_h1_0.conda
  hash: {md5: 0a, sha256: 0B}
  category: main
  optional: false
- name: tzdata
  version: 2024a
  manager: conda
  platform: win-64
  url: https://c.example/forge/noarch/tzdata-2024a-0.tar.bz2
  hash:
    md5: 0c
  category: dev
  optional: true
- name: tzdata
  version: 2024a
  manager: conda
  platform: win-64
  url: https://c.example/forge/noarch/tzdata-2024a-0.tar.bz2
  hash: {md5: 0c}
  category: docs
  optional: true
- name: flash-attn
  version: '2.3'
  manager: pip
  platform: linux-64
  url: https://f.example/flash_attn-2.3.tar.gz
  hash: {sha256: 0d}
  optional: false
- name: six
  version: '1.0'
  manager: pip
  platform: linux-64
  url: https://f.example/six-1.0-py3-none-any.whl
  hash: {sha256: 0e}
  source: {type: url, url: 'https://f.example/six-1.0-py3-none-any.whl'}
  category: main
  optional: false
";

    #[test]
    fn packages_have_files_platforms_and_categories() {
        let lock = read(LOCK, &at()).unwrap();
        assert_eq!(lock.problems, []);
        let seen: Vec<_> = lock
            .packages
            .iter()
            .map(|p| {
                let file = &p.files[0];
                let hash = file.hash.as_ref().unwrap().to_string();
                (
                    &*p.name,
                    p.line,
                    &*file.name,
                    hash,
                    p.condition.subdirs.join(","),
                    p.condition.groups.join(","),
                )
            })
            .collect();
        let row = |name, line, file, hash: &str, on: &str, groups: &str| {
            (
                name,
                line,
                file,
                hash.to_owned(),
                on.to_owned(),
                groups.to_owned(),
            )
        };
        assert_eq!(
            seen,
            [
                row(
                    "libtorch",
                    6,
                    "libtorch-2.10.0-cuda129_h1_0.conda",
                    "sha256:0b",
                    "linux-64",
                    "main"
                ),
                row(
                    "tzdata",
                    15,
                    "tzdata-2024a-0.tar.bz2",
                    "md5:0c",
                    "win-64",
                    "dev,docs"
                ),
                row(
                    "flash-attn",
                    32,
                    "flash_attn-2.3.tar.gz",
                    "sha256:0d",
                    "linux-64",
                    "main"
                ),
                row(
                    "six",
                    39,
                    "six-1.0-py3-none-any.whl",
                    "sha256:0e",
                    "linux-64",
                    "main"
                ),
            ]
        );
        assert_eq!(
            lock.packages[0].index.as_deref(),
            Some("https://c.example/forge")
        );
        assert_eq!(lock.packages[2].origin, Origin::Index);
        assert_eq!(lock.packages[3].origin, Origin::Url);
        assert_eq!(lock.groups, ["main", "dev", "docs"]);
        assert_eq!(lock.default_groups, ["main", "dev"]);
    }

    #[test]
    fn entries_that_say_too_little_are_located() {
        let text = "version: 1\npackage:\n- name: a\n- 3\n- name: b\n  platform: linux-64\n  url: x\n  manager: conda\n- name: c\n  platform: linux-64\n  url: https://c.example/linux-64/c-1-0.conda\n";
        let lock = read(text, &at()).unwrap();
        let details: Vec<_> = lock.problems.iter().map(|p| p.detail.as_str()).collect();
        assert_eq!(
            details,
            [
                "line 3: a package without `platform`, which is left out",
                "line 4: a package without `name`, which is left out",
                "line 5: a package without the name of a conda package in its `url`, which is left out",
                "line 9: a package without a `manager` that is `conda` or `pip`, which is left out",
            ]
        );
    }

    #[test]
    fn other_versions_and_shapes_are_refused_with_their_line() {
        for (text, message) in [
            (
                "\nversion: 2\npackage: []\n",
                "conda-lock.yml: line 2: version `2` of conda-lock.yml is not read",
            ),
            (
                "package: []\n",
                "conda-lock.yml: line 1: conda-lock.yml without a version",
            ),
            (
                "version: 1\n",
                "conda-lock.yml: line 1: there is no list `package`",
            ),
            (
                "version: 1\npackage: {}\n",
                "conda-lock.yml: line 2: `package` is a map of keys, not a list",
            ),
            (
                "version: 1\nversion: 1\n",
                "conda-lock.yml: line 2: the key `version` is here a second time",
            ),
        ] {
            assert_eq!(read(text, &at()).unwrap_err().to_string(), message);
        }
    }
}
