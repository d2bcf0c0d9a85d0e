//! `pixi.lock`, versions 4 to 7.
//!
//! Format: the crate `rattler_lock` of the rattler repository. `environments` list the packages of each platform by
//! address, `packages` describe them. Versions 4 and 5 describe them by `kind`, `name` and `url` (or `path`), later
//! ones by `conda` or `pypi` with the address. Version 7 gives platforms a subdir and virtual packages of their own,
//! and packages that are built from source the key `conda_source`.

mod packages;

use std::collections::BTreeSet;

use self::packages::{Packages, Places, Selector};
use super::located::{Mistakes, not_yaml, quoted, refused};
use super::without_secrets;
use super::yaml::{self, Node};
use super::{Lock, LockKind, LockPlatform, Locked, conda};
use crate::{Error, Locator};

/// What of a package says nothing about files, and is dropped while it is read.
const SKIP: &[&str] = &[
    "depends",
    "constrains",
    "requires_dist",
    "license",
    "license_family",
    "license_url",
    "purls",
    "timestamp",
    "build_packages",
    "host_packages",
    "run_exports",
    "experimental_extra_depends",
    "extra_depends",
    "input",
    "sources",
    "track_features",
    "features",
    "python_site_packages_path",
    "legacy_bz2_md5",
    "legacy_bz2_size",
    "arch",
    "build_number",
    "requires_python",
    "timestamps",
    "flags",
];
const HINT: &str = "write the lock file again with a current pixi (`pixi lock`)";
/// Platforms that are read; files have a handful.
const MOST_PLATFORMS: usize = 256;
/// Versions that are read.
const VERSIONS: &[&str] = &["4", "5", "6", "7"];

/// Reads `pixi.lock`.
///
/// # Errors
///
/// A text that is no YAML, another version, or no environments.
pub(super) fn read(text: &str, at: &Locator) -> Result<Lock, Error> {
    let root = yaml::parse(text, SKIP).map_err(|fault| not_yaml(at, &fault))?;
    let version = root.text_of("version").unwrap_or_default();
    if !VERSIONS.contains(&version) {
        let line = root
            .get("version")
            .map_or(root.line, |version| version.line);
        let what = format!(
            "version {} of pixi.lock is not read, 4 to 7 are",
            quoted(version)
        );
        return Err(refused(at, line, what, HINT));
    }
    let Some(environments) = root.get("environments") else {
        return Err(refused(
            at,
            root.line,
            "there is no map `environments`",
            HINT,
        ));
    };
    let mut lock = Lock::new(at.clone(), LockKind::Pixi);
    lock.format = Some(version.to_owned());
    let mut mistakes = Mistakes::default();
    lock.platforms = platforms(&root, &mut mistakes);
    let mut packages = Packages::new(root.get("packages").map(Node::items).unwrap_or_default());
    let mut seen = BTreeSet::new();
    for (name, environment) in environments.entries() {
        let name = name.text().unwrap_or_default();
        lock.environments.push(name.to_owned());
        indexes(environment, &mut lock, &mut seen);
        let by_platform = environment
            .get("packages")
            .map(Node::entries)
            .unwrap_or_default();
        for (platform, list) in by_platform {
            let platform = platform.text().unwrap_or_default();
            for entry in list.items() {
                match Selector::of(entry) {
                    Some(selector) => packages.use_in(&selector, name, platform, &mut mistakes),
                    None => {
                        mistakes.add(entry.line, "a package that is neither `conda` nor `pypi`");
                    }
                }
            }
        }
    }
    let used = packages.into_used(&mut mistakes);
    for (package, places) in used {
        place(&mut lock, &package, &places);
    }
    mistakes.into_lock(&mut lock);
    Ok(lock)
}

/// Adds a package for each set of platforms: what is for one platform in one environment may be for others in another.
fn place(lock: &mut Lock, package: &Locked, places: &Places) {
    let mut by_platforms: Vec<(&Vec<String>, Vec<String>)> = Vec::new();
    for (name, platforms) in places {
        match by_platforms
            .iter_mut()
            .find(|(known, _)| *known == platforms)
        {
            Some((_, environments)) => environments.push(name.clone()),
            None => by_platforms.push((platforms, vec![name.clone()])),
        }
    }
    for (platforms, environments) in by_platforms {
        let mut package = package.clone();
        package.condition.environments = environments;
        let mut subdirs = BTreeSet::new();
        let mut named = false;
        for platform in platforms {
            let declared = lock.platforms.iter().find(|known| known.name == *platform);
            let subdir = declared.map_or(platform.as_str(), |known| &known.subdir);
            // where two platforms have one subdir, the subdir does not say which is meant
            let of_subdir = lock.platforms.iter().filter(|known| known.subdir == subdir);
            named |= subdir != platform || of_subdir.count() > 1;
            subdirs.insert(subdir.to_owned());
        }
        package.condition.subdirs = subdirs.into_iter().collect();
        if named {
            package.condition.platforms.clone_from(platforms);
        }
        lock.packages.push(package);
    }
}

fn platforms(root: &Node<'_>, mistakes: &mut Mistakes) -> Vec<LockPlatform> {
    let mut platforms = Vec::new();
    for entry in root.get("platforms").map(Node::items).unwrap_or_default() {
        if platforms.len() == MOST_PLATFORMS {
            mistakes.add(
                entry.line,
                format!("more than {MOST_PLATFORMS} platforms: these are not read"),
            );
            break;
        }
        let Some(name) = entry.text_of("name").or_else(|| entry.text()) else {
            mistakes.add(entry.line, "a platform without `name`");
            continue;
        };
        let subdir = entry.text_of("subdir").unwrap_or(name);
        if !conda::is_subdir(subdir) {
            mistakes.add(
                entry.line,
                format!("{} is no subdir of conda", quoted(subdir)),
            );
        }
        let packages = entry
            .get("virtual-packages")
            .map(Node::items)
            .unwrap_or_default();
        platforms.push(LockPlatform {
            name: name.to_owned(),
            subdir: subdir.to_owned(),
            virtual_packages: packages
                .iter()
                .filter_map(Node::text)
                .map(str::to_owned)
                .collect(),
            line: entry.line,
        });
    }
    platforms
}

fn indexes(environment: &Node<'_>, lock: &mut Lock, seen: &mut BTreeSet<String>) {
    let list = |key| environment.get(key).map(Node::items).unwrap_or_default();
    for url in list("indexes").iter().filter_map(Node::text) {
        lock.has_main_index = true;
        let shown = without_secrets(url);
        if seen.insert(shown.clone()) {
            lock.indexes.push(shown);
            lock.options.keep_login(url);
        }
    }
    for links in list("find-links") {
        let place = links.text_of("path").or_else(|| links.text_of("url"));
        let Some(place) = place.or_else(|| links.text()) else {
            continue;
        };
        let shown = without_secrets(place);
        if seen.insert(shown.clone()) {
            lock.options.find_links.push(shown);
            lock.options.keep_login(place);
        }
    }
}

#[cfg(test)]
mod tests;
