//! The packages of a lock file, for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::inventory::{Artifact, Content, LockFacts, LockedPackage, NotRead, PickStatus};
use crate::problem::{Extent, Problem, ProblemKind};
use crate::verdict::megabytes;

use super::style::Styles;
use super::text::plural;
use super::{HumanOptions, visible};

/// Writes what would be installed: all packages under `--verbose`, else those of which something is to be said.
pub(super) fn write(
    artifact: &Artifact,
    lock: &LockFacts,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let owners = artifact.libraries.iter().filter_map(|library| {
        let owner = artifact.packages.get(library.package?)?;
        Some(owner.name.as_str())
    });
    let with_libraries: BTreeSet<&str> = owners.collect();
    let unread = lock
        .packages
        .iter()
        .all(|package| !package.content.is_known());
    let shown = |package: &&LockedPackage| {
        options.verbose
            || unread
            || remark(package).is_some()
            || with_libraries.contains(package.name.as_str())
    };
    let width = lock
        .packages
        .iter()
        .filter(shown)
        .map(|package| title(package).chars().count());
    let width = width.max().unwrap_or_default().min(40);
    let mut hidden = 0_u64;
    for package in &lock.packages {
        if !shown(&package) {
            hidden += 1;
            continue;
        }
        let file = package.file.as_ref().map(|file| file.name.as_str());
        let said: Vec<&str> = file.into_iter().chain(remark(package)).collect();
        let title = title(package);
        writeln!(
            out,
            "  {:width$}  {}",
            visible(&title),
            styles.dim(visible(&format!(
                "line {}  {}",
                package.line,
                said.join("  ")
            )))
        )?;
    }
    if hidden > 0 {
        let more = plural(hidden, "package");
        writeln!(
            out,
            "  {}",
            styles.dim(format!(
                "{more} without device code (`--verbose` lists all)"
            ))
        )?;
    }
    for unlocked in &lock.unlocked {
        let text = format!(
            "line {}  `{}` has no exact version",
            unlocked.line, unlocked.text
        );
        writeln!(out, "  {}", styles.dim(visible(&text)))?;
    }
    Ok(())
}

fn title(package: &LockedPackage) -> String {
    match &package.version {
        Some(version) => format!("{} {version}", package.name),
        None => package.name.clone(),
    }
}

/// What is to be said of a package beside its file.
fn remark(package: &LockedPackage) -> Option<&'static str> {
    match package.status {
        PickStatus::NoFile => Some("no file for this environment"),
        PickStatus::Sdist => Some("built at install"),
        PickStatus::Vcs => Some("built at install, from a repository"),
        PickStatus::Directory => Some("built at install, from a directory"),
        PickStatus::AskIndex => Some("only an index says which file"),
        _ => match package.content {
            Content::NotRead(NotRead::Failed) => Some("could not be read"),
            _ => None,
        },
    }
}

/// What was asked of servers, what was not read, and what was not compared: `Read 12 of 40 locked packages, 31.2 MB
/// fetched; the hash of 3 files was not
/// verified: only parts were read`.
pub(super) fn summary<'l>(
    locks: impl Iterator<Item = (&'l LockFacts, &'l [Problem])>,
) -> Option<String> {
    let (mut all, mut read, mut fetched) = (0_u64, 0_u64, 0_u64);
    let mut unverified = BTreeSet::new();
    let mut some = false;
    for (lock, problems) in locks {
        some = true;
        all += lock.packages.len() as u64;
        let known = lock
            .packages
            .iter()
            .filter(|package| package.content.is_known());
        read += known.count() as u64;
        fetched = fetched.max(lock.fetched);
        let wrong = |name: &str| {
            problems.iter().any(|problem| {
                let at = problem.at.to_string();
                problem.kind == ProblemKind::ChecksumMismatch
                    && problem.extent == Extent::Artifact
                    && at.ends_with(name)
            })
        };
        let parts = lock
            .packages
            .iter()
            .filter(|package| package.content == Content::Read);
        let parts = parts.filter_map(|package| package.file.as_ref());
        unverified.extend(
            parts
                .filter(|file| file.hash.is_some() && !wrong(&file.name))
                .map(|file| (&file.name, &file.url, &file.hash)),
        );
    }
    some.then(|| {
        let bytes = match fetched {
            0 => "nothing fetched".to_owned(),
            bytes => format!("{} fetched", megabytes(bytes)),
        };
        let hashes = match unverified.len() as u64 {
            0 => String::new(),
            files => format!(
                "; the hash of {} was not verified: only parts were read",
                plural(files, "file")
            ),
        };
        format!(
            "Read {read} of {}, {bytes}{hashes}",
            plural(all, "locked package")
        )
    })
}
