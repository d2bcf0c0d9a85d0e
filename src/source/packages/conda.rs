//! conda packages.
//!
//! Format: `PREFIX/conda-meta/NAME-VERSION-BUILD.json` lists the files of a package below any prefix (`opt/conda`,
//! `opt/conda/envs/x`, `.pixi/envs/default`). `PREFIX/pkgs/NAME-VERSION-BUILD/` is the unpacked package, whose files
//! are the same ones as hard links; they are its own too.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::paths::{base_of, split_last};
use super::{Manager, Owners, Package};
use crate::archive::Fault;
use crate::{Extent, ProblemKind};

enum Found<'n> {
    /// A package in this prefix.
    Installed { prefix: &'n [u8] },
    /// An unpacked package in this directory.
    Unpacked { dir: &'n [u8] },
}

pub(super) fn is_metadata(name: &[u8]) -> bool {
    find(name).is_some()
}

fn find(name: &[u8]) -> Option<Found<'_>> {
    if let Some(dir) = base_of(name, b"info/index.json") {
        let (parent, _) = split_last(dir);
        let in_cache = base_of(parent, b"pkgs").is_some();
        return in_cache.then_some(Found::Unpacked { dir });
    }
    let (parent, last) = split_last(name);
    let prefix = base_of(parent, b"conda-meta")?;
    last.ends_with(b".json")
        .then_some(Found::Installed { prefix })
}

/// The fields of a package's metadata that matter here.
#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: Option<String>,
    #[serde(default)]
    files: Paths,
}

/// Paths, each behind a NUL, which no path holds: a list of millions takes no more memory than its text.
#[derive(Default)]
struct Paths(Vec<u8>);

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Paths;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of paths")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut paths: A) -> Result<Paths, A::Error> {
                let mut text = Vec::new();
                while let Some(path) = paths.next_element::<String>()? {
                    text.push(0);
                    text.extend_from_slice(path.as_bytes());
                }
                Ok(Paths(text))
            }
        }
        deserializer.deserialize_seq(Collect)
    }
}

/// Adds the conda packages of the tree.
pub(super) fn assign(owners: &mut Owners<'_>) {
    for (file, name) in owners.names() {
        let Some(found) = find(name) else {
            continue;
        };
        let metadata = match read(owners, file) {
            Ok(metadata) => metadata,
            Err(fault) => {
                owners.problem(file, fault, Extent::Member);
                continue;
            }
        };
        if let Found::Unpacked { dir } = found {
            let (_, stem) = split_last(dir);
            // other tools have directories of this name, too
            let name = format!("{}-", metadata.name);
            if !stem.starts_with(name.as_bytes()) {
                continue;
            }
        }
        if !owners.may_add(file) {
            return;
        }
        let package = owners.add(Package {
            name: metadata.name,
            version: metadata.version,
            manager: Manager::Conda,
            requires: Vec::new(),
            metadata: owners.member_name(file),
        });
        owners.claim(file, package);
        match found {
            Found::Installed { prefix } => {
                claim_listed(owners, file, prefix, &metadata.files, package);
            }
            Found::Unpacked { dir } => claim_below(owners, dir, package),
        }
    }
}

fn read(owners: &Owners<'_>, file: usize) -> Result<Metadata, Fault> {
    let bytes = owners.read(file)?;
    let malformed = |detail| Fault::new(ProblemKind::MalformedMetadata, detail);
    let metadata: Metadata =
        serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
    if metadata.name.is_empty() {
        return Err(malformed("a package has no name".to_owned()));
    }
    Ok(metadata)
}

fn claim_listed(
    owners: &mut Owners<'_>,
    metadata: usize,
    prefix: &[u8],
    paths: &Paths,
    package: usize,
) {
    let mut listed = 0;
    let paths = paths.0.split(|byte| *byte == 0);
    for path in paths.filter(|path| !path.is_empty()) {
        if !owners.may_list(metadata, &mut listed) {
            return;
        }
        owners.claim_path(prefix, path, package);
    }
}

/// Gives a package everything below a directory.
fn claim_below(owners: &mut Owners<'_>, dir: &[u8], package: usize) {
    let prefix = [dir, b"/"].concat();
    for file in owners.first_from(&prefix)..owners.tree.len() {
        if !owners.tree.name(file).starts_with(&prefix) {
            return;
        }
        owners.claim(file, package);
    }
}
