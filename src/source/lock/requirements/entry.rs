//! One requirement: what it pins, or that it pins nothing.
//!
//! Format: PEP 508 as pip takes it (`parse_req_from_line`): `name[extra]==1.2 ; marker`, `name @ URL`, a bare address
//! or a path; PEP 440 for versions.

use std::str::FromStr;

use pep440_rs::{Version, VersionSpecifier};

use super::super::address::file_name;
use super::super::link::{has_scheme, in_fragment, is_archive, is_vcs, split_fragment};
use super::super::located::quoted;
use super::super::{Hash, Locked, Origin, pypi, without_secrets};
use crate::source::file::is_named_wheel;
use crate::source::wheel::{WheelFilename, normal_name};

/// Schemes of addresses that may stand without a name.
const SCHEMES: &[&str] = &[
    "http", "https", "file", "ftp", "ssh", "git", "hg", "bzr", "sftp", "svn",
];

/// A requirement.
#[derive(Debug, Clone)]
pub(in super::super) struct Entry {
    /// The name in the spelling of PEP 503.
    pub(in super::super) name: String,
    /// The package, where one version or one place is said.
    pub(in super::super) pinned: Option<Locked>,
    /// As written, without secrets.
    pub(in super::super) text: String,
    /// When it is installed.
    pub(in super::super) marker: Option<String>,
}

/// Reads a requirement with the hashes that files of it may have; what is wrong with it otherwise.
pub(in super::super) fn parse(text: &str, hashes: Vec<Hash>, line: u32) -> Result<Entry, String> {
    let text = text.trim();
    let (head, marker) = match text.split_once(if is_address(text) { "; " } else { ";" }) {
        Some((head, marker)) => (head.trim(), Some(marker.trim().to_owned())),
        None => (text, None),
    };
    let marker = marker.filter(|marker| !marker.is_empty());
    let (name, pinned) = match pinned(head, line)? {
        Pinned::Not(name) => (normal_name(&name), None),
        Pinned::To(mut package) => {
            package.condition.marker.clone_from(&marker);
            add_hashes(&mut package, hashes);
            (normal_name(&package.name), Some(*package))
        }
    };
    Ok(Entry {
        name,
        pinned,
        text: without_secrets(text),
        marker,
    })
}

enum Pinned {
    To(Box<Locked>),
    /// A package by name alone.
    Not(String),
}

fn pinned(head: &str, line: u32) -> Result<Pinned, String> {
    let place = |place: Result<Locked, String>| place.map(|package| Pinned::To(Box::new(package)));
    if is_address(head) {
        return place(at_address(None, head, line));
    }
    if let Some((name, address)) = head.split_once('@')
        && let Some((name, "")) = split_name(name.trim())
    {
        return place(at_address(Some(name), address.trim(), line));
    }
    if is_path(head) {
        let bare = without_extras(head);
        return place(at_address(None, bare, line));
    }
    let not = || format!("{} is no requirement", quoted(head));
    let (name, specifiers) = split_name(head).ok_or_else(not)?;
    let specifiers = specifiers.strip_prefix('(').map_or(specifiers, |inner| {
        inner.strip_suffix(')').unwrap_or(specifiers)
    });
    let whole = |what| format!("{} is no requirement: {what}", quoted(head));
    match exact(specifiers).map_err(whole)? {
        Some(version) => Ok(Pinned::To(Box::new(Locked::new(name, Some(version), line)))),
        None => Ok(Pinned::Not(name.to_owned())),
    }
}

/// A package at an address or a path; its name and version are those of the file, where it says them.
fn at_address(name: Option<&str>, url: &str, line: u32) -> Result<Locked, String> {
    if url.is_empty() || url.contains(char::is_whitespace) {
        return Err(format!("{} is no address", quoted(url)));
    }
    let (bare, fragment) = split_fragment(url);
    let file = file_name(bare);
    let mut package = pypi::package("", None, url, None, line);
    pypi::set_direct(&mut package);
    let egg = in_fragment(fragment, "egg").and_then(split_name);
    let said = name.or(egg.map(|(name, _)| name));
    if is_named_wheel(&file) {
        let wheel: WheelFilename = file
            .parse()
            .map_err(|error| format!("{} is no wheel: {error}", quoted(&file)))?;
        said.unwrap_or(&wheel.name).clone_into(&mut package.name);
        package.version = Some(wheel.version);
        return Ok(package);
    }
    let stem = || {
        let repository = file.split('@').next().unwrap_or_default();
        let repository = repository.trim_end_matches(".git");
        if repository.is_empty() {
            url.to_owned()
        } else {
            repository.to_owned()
        }
    };
    match source_archive(&file, said).filter(|_| !matches!(package.origin, Origin::Vcs(_))) {
        Some((name, version)) => {
            said.unwrap_or(name).clone_into(&mut package.name);
            package.version = Some(version.to_owned());
        }
        None => package.name = without_secrets(&said.map_or_else(stem, str::to_owned)),
    }
    Ok(package)
}

/// Name and version of `name-1.2.tar.gz`.
fn source_archive<'f>(file: &'f str, said: Option<&str>) -> Option<(&'f str, &'f str)> {
    let stem = [".tar.gz", ".tgz", ".zip", ".tar.bz2", ".tar.xz"]
        .iter()
        .find_map(|suffix| file.strip_suffix(suffix))?;
    let (name, version) = stem.rsplit_once('-')?;
    let is_version = Version::from_str(version).is_ok();
    let is_same = said.is_none_or(|said| normal_name(said) == normal_name(name));
    (is_version && is_same).then_some((name, version))
}

fn add_hashes(package: &mut Locked, hashes: Vec<Hash>) {
    if let Some(file) = package.files.first_mut() {
        match hashes.as_slice() {
            [only] if file.hash.is_none() => file.hash = Some(only.clone()),
            _ => {}
        }
    }
    package.hashes = hashes;
}

/// A name, and what stands behind it and its extras.
fn split_name(text: &str) -> Option<(&str, &str)> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = text.find(|c| !word(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let ends_well = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    if !(ends_well(name.chars().next()) && ends_well(name.chars().next_back())) {
        return None;
    }
    let rest = rest.trim_start();
    let Some(extras) = rest.strip_prefix('[') else {
        return Some((name, rest.trim()));
    };
    let (extras, rest) = extras.split_once(']')?;
    let are_names = extras
        .split(',')
        .all(|extra| extra.trim().chars().all(word));
    are_names.then(|| (name, rest.trim()))
}

/// The version that specifiers leave alone, where it is one; what is wrong with them otherwise.
fn exact(specifiers: &str) -> Result<Option<String>, String> {
    let mut exact: Option<String> = None;
    for specifier in specifiers.split(',') {
        let specifier = specifier.trim();
        if specifier.is_empty() {
            continue;
        }
        let wrong = || format!("{} is no range of versions", quoted(specifier));
        let version = if let Some(version) = specifier.strip_prefix("===") {
            let version = version.trim();
            if version.is_empty() || version.contains(char::is_whitespace) {
                return Err(wrong());
            }
            version
        } else {
            VersionSpecifier::from_str(specifier).map_err(|_error| wrong())?;
            match specifier.strip_prefix("==").map(str::trim) {
                Some(version) if !version.ends_with(".*") => version,
                _ => continue,
            }
        };
        match &exact {
            Some(other) if other != version => {
                return Err(format!(
                    "it asks for {other} and for {version}, which no version is"
                ));
            }
            _ => exact = Some(version.to_owned()),
        }
    }
    Ok(exact)
}

fn is_address(text: &str) -> bool {
    let scheme = text
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    has_scheme(text) && (SCHEMES.contains(&scheme.as_str()) || is_vcs(text))
}

/// Whether a text is a path: nothing here asks the file system.
fn is_path(text: &str) -> bool {
    let bare = without_extras(text);
    let has_operator = text.contains(['=', '<', '>', '!', '~']);
    text.starts_with(['.', '/', '\\'])
        || is_archive(bare)
        || (bare.contains(['/', '\\']) && !has_operator)
}

fn without_extras(path: &str) -> &str {
    let bare = path
        .strip_suffix(']')
        .and_then(|path| path.rsplit_once('['));
    bare.map_or(path, |(path, _)| path.trim_end())
}
