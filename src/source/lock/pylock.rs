//! `pylock.toml` and `pylock.NAME.toml`.
//!
//! Format: PEP 751, <https://packaging.python.org/en/latest/specifications/pylock-toml/>, version 1. It is a flat list:
//! each package says by its marker where it is installed.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::address::file_name;
use super::model::{Hash, Lock, LockKind, Locked, LockedFile, Origin};
use super::reader::Reader;
use super::toml::{Document, Entry};
use super::without_secrets;
use crate::{Error, Locator};

const REMEDY: &str = "write it again with the tool that made it, such as `uv export --format pylock.toml` or `pip lock`";

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Package {
    name: String,
    version: Option<String>,
    marker: Option<String>,
    requires_python: Option<String>,
    index: Option<String>,
    #[serde(default)]
    wheels: Vec<Spanned<File>>,
    sdist: Option<Spanned<File>>,
    archive: Option<Spanned<File>>,
    vcs: Option<Vcs>,
    directory: Option<Directory>,
}

#[derive(Deserialize)]
struct File {
    name: Option<String>,
    url: Option<String>,
    path: Option<String>,
    size: Option<u64>,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Vcs {
    url: Option<String>,
    path: Option<String>,
}

#[derive(Deserialize)]
struct Directory {
    path: String,
}

pub(super) fn read(text: &str, at: &Locator) -> Result<Lock, Error> {
    let mut reader = Reader::new(text, at, LockKind::Pylock);
    let mut document = Document::parse(&reader, REMEDY)?;
    let version: Option<String> = document.take(&reader, "lock-version")?;
    let Some(version) = version else {
        return Err(reader.error(None, "it has no `lock-version`", REMEDY));
    };
    if version != "1" && !version.starts_with("1.") {
        let message = format!("its lock-version is {version}, and version 1 is read");
        return Err(reader.error(None, &message, REMEDY));
    }
    reader.lock.format = Some(version);
    reader.lock.requires_python = document.take(&reader, "requires-python")?;
    reader.lock.supported_markers = document.take(&reader, "environments")?.unwrap_or_default();
    reader.lock.extras = document.take(&reader, "extras")?.unwrap_or_default();
    reader.lock.groups = document
        .take(&reader, "dependency-groups")?
        .unwrap_or_default();
    reader.lock.default_groups = document
        .take(&reader, "default-groups")?
        .unwrap_or_default();
    let packages: Vec<Entry<Package>> = document.entries(&mut reader, "packages")?;
    for Entry { line, it } in packages {
        add(&mut reader, line, it);
    }
    reader.lock.has_main_index = reader.lock.packages.iter().any(|p| p.index.is_some());
    Ok(reader.finish())
}

fn add(reader: &mut Reader<'_>, line: u32, package: Package) {
    let Package {
        name,
        archive,
        vcs,
        directory,
        ..
    } = package;
    let mut locked = Locked::new(&name, package.version, line);
    locked.condition.marker = package.marker;
    locked.condition.requires_python = package.requires_python;
    locked.index = package.index.as_deref().map(without_secrets);
    locked.origin = match (vcs, directory, &archive) {
        (Some(vcs), ..) => {
            let from = vcs.url.or(vcs.path).unwrap_or_default();
            Origin::Vcs(without_secrets(&from))
        }
        (_, Some(directory), _) => Origin::Directory(directory.path),
        (.., Some(archive)) => match (&archive.get_ref().url, &archive.get_ref().path) {
            (None, Some(path)) => Origin::File(path.clone()),
            _ => Origin::Url,
        },
        _ => Origin::Index,
    };
    let files = package.wheels.into_iter().chain(package.sdist);
    for file in files.chain(archive) {
        let line = reader.line(file.span().start);
        match self::file(file.into_inner(), line) {
            Ok(file) => locked.files.push(file),
            Err(why) => reader.problem(line, &format!("a file of `{name}` {why}")),
        }
    }
    reader.lock.packages.push(locked);
}

fn file(file: File, line: u32) -> Result<LockedFile, &'static str> {
    let url = file.url.or(file.path);
    let name = file.name.or_else(|| url.as_deref().map(file_name));
    let name = name.ok_or("has neither a name nor an address")?;
    let mut locked = LockedFile::new(name, line);
    locked.url = url;
    locked.size = file.size;
    let hashes = file.hashes.iter();
    let hashes = hashes.map(|(algorithm, hex)| Hash::parse(&format!("{algorithm}:{hex}")));
    let hashes: Option<Vec<_>> = hashes.collect();
    locked.hash = Hash::strongest(hashes.ok_or("has a hash that is none")?);
    Ok(locked)
}

#[cfg(test)]
mod tests;
