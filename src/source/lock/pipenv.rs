//! `Pipfile.lock`, `pipfile-spec` 6.
//!
//! Format: JSON; <https://pipenv.pypa.io/en/latest/pipfile.html>, fields as pipenv's `utils/locking.py` writes them. Each
//! section but `_meta` is a group: `default` is what `pipenv install` takes, `develop` is added by `--dev`. An entry has
//! hashes of files without their names. Markers are those of the machine that locked: a package that is for Linux alone
//! may not say so. `requires` is only a warning to pipenv; here it chooses the Python where nobody names one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::address::{file_name, is_archive};
use super::model::{Hash, Lock, LockKind, Locked, LockedFile, Origin, Unlocked};
use super::reader::Reader;
use super::without_secrets;
use crate::{Error, Locator};

const REMEDY: &str = "write it again with `pipenv lock`";
const META: &str = "_meta";
const DEFAULT_GROUP: &str = "default";

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct Meta {
    pipfile_spec: Option<u64>,
    requires: Requires,
    sources: Vec<Index>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Requires {
    python_version: Option<String>,
    python_full_version: Option<String>,
}

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    name: String,
    url: String,
}

#[derive(Deserialize)]
struct Package {
    version: Option<String>,
    #[serde(default)]
    hashes: Vec<String>,
    markers: Option<String>,
    index: Option<String>,
    file: Option<String>,
    path: Option<String>,
    git: Option<String>,
    hg: Option<String>,
    svn: Option<String>,
    bzr: Option<String>,
}

/// Keys with the text of their values.
type Raw<'t> = BTreeMap<String, &'t RawValue>;

/// The line where a value stands.
fn line_of(reader: &Reader<'_>, value: &RawValue) -> u32 {
    let start = value.get().as_ptr().addr();
    reader.line(start.saturating_sub(reader.text.as_ptr().addr()))
}

/// Reads a value, or says at which line of the file it goes wrong, and why.
fn parse<'t, T: Deserialize<'t>>(text: &'t str, line: u32) -> Result<T, (u32, String)> {
    serde_json::from_str(text).map_err(|error| {
        let inside = u32::try_from(error.line().saturating_sub(1)).unwrap_or(u32::MAX);
        let message = error.to_string();
        let why = message
            .rsplit_once(" at line ")
            .map_or(message.as_str(), |(why, _)| why);
        (line.saturating_add(inside), why.to_owned())
    })
}

pub(super) fn read(text: &str, at: &Locator) -> Result<Lock, Error> {
    let mut reader = Reader::new(text, at, LockKind::Pipenv);
    let parsed = parse::<Raw<'_>>(text, 1);
    let mut sections = parsed.map_err(|(line, why)| {
        reader.error(Some(line), &format!("no valid JSON: {why}"), REMEDY)
    })?;
    let meta = match sections.remove(META) {
        Some(meta) => {
            parse::<Meta>(meta.get(), line_of(&reader, meta)).map_err(|(line, why)| {
                reader.error(
                    Some(line),
                    &format!("`{META}` can't be read: {why}"),
                    REMEDY,
                )
            })?
        }
        None => Meta::default(),
    };
    if meta.pipfile_spec != Some(6) {
        let said = meta
            .pipfile_spec
            .map_or("missing".to_owned(), |spec| spec.to_string());
        let message = format!("its pipfile-spec is {said}, and 6 is read");
        return Err(reader.error(None, &message, REMEDY));
    }
    reader.lock.format = Some("6".to_owned());
    reader.lock.requires_python = match meta.requires {
        Requires {
            python_full_version: Some(version),
            ..
        } => Some(format!("=={version}")),
        Requires {
            python_version: Some(version),
            ..
        } => Some(format!("=={version}.*")),
        _ => None,
    };
    let urls = meta.sources.iter().map(|index| without_secrets(&index.url));
    reader.lock.indexes = urls.collect();
    reader.lock.has_main_index = !reader.lock.indexes.is_empty();
    let indexes: BTreeMap<&str, &str> = meta
        .sources
        .iter()
        .map(|index| (index.name.as_str(), index.url.as_str()))
        .collect();

    let mut sections: Vec<_> = sections.into_iter().collect();
    sections.sort_by_key(|(_, value)| value.get().as_ptr().addr());
    for (group, section) in sections {
        match parse::<Raw<'_>>(section.get(), line_of(&reader, section)) {
            Ok(packages) => {
                let mut packages: Vec<_> = packages.into_iter().collect();
                packages.sort_by_key(|(_, value)| value.get().as_ptr().addr());
                for (name, package) in packages {
                    add(&mut reader, &group, &name, package, &indexes);
                }
                reader.lock.groups.push(group);
            }
            Err((line, why)) => reader.problem(line, &format!("`{group}` can't be read: {why}")),
        }
    }
    let groups = reader.lock.groups.iter();
    let default_groups = groups.filter(|group| *group == DEFAULT_GROUP);
    reader.lock.default_groups = default_groups.cloned().collect();
    Ok(reader.finish())
}

fn add(
    reader: &mut Reader<'_>,
    group: &str,
    name: &str,
    package: &RawValue,
    indexes: &BTreeMap<&str, &str>,
) {
    let line = line_of(reader, package);
    let package: Package = match parse(package.get(), line) {
        Ok(package) => package,
        Err((line, why)) => {
            reader.problem(line, &format!("the entry of `{name}` can't be read: {why}"));
            return;
        }
    };
    let version = match package.version.as_deref() {
        Some(version) => {
            let Some(exact) = version.strip_prefix("==") else {
                let text = without_secrets(&format!("{name}{version}"));
                reader.lock.unlocked.push(Unlocked::new(text, line));
                return;
            };
            Some(exact.trim_start_matches('=').to_owned())
        }
        None => None,
    };
    let mut locked = Locked::new(name, version, line);
    locked.condition.groups = vec![group.to_owned()];
    locked.condition.marker = package.markers.filter(|marker| !marker.is_empty());
    let repositories = [package.git, package.hg, package.svn, package.bzr];
    let repository = repositories.into_iter().flatten().next();
    let own = package.file.or(package.path);
    locked.origin = match (repository, &own) {
        (Some(address), _) => Origin::Vcs(without_secrets(&address)),
        (_, Some(path)) if path.trim_end_matches('/') == "." => Origin::Project,
        (_, Some(address)) if address.contains("://") => Origin::Url,
        (_, Some(path)) if is_archive(path) => Origin::File(path.clone()),
        (_, Some(path)) => Origin::Directory(path.clone()),
        _ if locked.version.is_none() => {
            let text = name.to_owned();
            reader.lock.unlocked.push(Unlocked::new(text, line));
            return;
        }
        _ => Origin::Index,
    };
    if let (Origin::Url | Origin::File(_), Some(address)) = (&locked.origin, own) {
        let mut file = LockedFile::new(file_name(&address), line);
        file.url = Some(address);
        locked.files.push(file);
    }
    if let Some(index) = package.index {
        if let Some(url) = indexes.get(index.as_str()) {
            locked.index = Some(without_secrets(url));
        } else {
            let message =
                format!("`{name}` is from `{index}`, an index that `{META}` does not list");
            reader.problem(line, &message);
        }
    }
    for hash in &package.hashes {
        match Hash::parse(hash) {
            Some(hash) => locked.hashes.push(hash),
            None => reader.problem(line, &format!("a hash of `{name}` is none")),
        }
    }
    if let [file] = locked.files.as_mut_slice() {
        file.hash =
            Hash::strongest(locked.hashes.iter().cloned()).filter(|_| locked.hashes.len() == 1);
    }
    reader.lock.packages.push(locked);
}

#[cfg(test)]
mod tests;
