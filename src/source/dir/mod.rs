//! Directories: every regular file below one, and the package that it belongs to.
//!
//! Responsible for the walk: sorted, portable, within the tree. Links are not followed, since what
//! they lead to inside the tree is walked anyway; one that leads out is a problem where it could
//! hide device code. It opens no file but metadata.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::bounded::read_metadata;
use super::packages::{self, Package, Tree, join};
use crate::archive::{Fault, SharedBytes};
use crate::limits::{LimitHit, Limits};
use crate::{Extent, Locator, MemberName, Problem, ProblemKind};

/// A directory, walked.
#[derive(Debug)]
#[non_exhaustive]
pub struct Dir {
    /// Where it is.
    pub at: Locator,
    /// Its regular files, sorted by the bytes of their names.
    pub files: Vec<DirFile>,
    /// The packages that are installed in it, sorted by where their metadata is.
    pub packages: Vec<Package>,
    /// What could not be read or was not followed, sorted.
    pub problems: Vec<Problem>,
    /// Links that were not followed without loss: to something inside, to nothing, to no library.
    pub links_skipped: u64,
    /// Links that lead to a file, inside or outside of the tree, sorted by the bytes of their names.
    pub file_links: Vec<MemberName>,
    /// Sockets, devices and the like.
    pub special_skipped: u64,
    /// Links of directories inside the tree, with the name of what each leads to.
    links: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// A regular file below a directory.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DirFile {
    /// The name below the directory, with `/` on every system.
    pub name: MemberName,
    /// The path to open.
    pub path: PathBuf,
    /// Bytes, when the directory was walked.
    pub size: u64,
    /// The package it belongs to, as an index of [`Dir::packages`].
    pub package: Option<usize>,
}

/// A directory as package databases see it.
struct Files<'d> {
    dir: &'d Dir,
    limits: &'d Limits,
}

impl Tree for Files<'_> {
    fn len(&self) -> usize {
        self.dir.files.len()
    }

    fn name(&self, index: usize) -> &[u8] {
        let file = self.dir.files.get(index);
        file.map_or(b"", |file| file.name.as_bytes())
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, Fault> {
        let file = self.dir.files.get(index);
        let file = file.ok_or_else(|| Fault::new(ProblemKind::Io, "there is no such file"))?;
        let bytes = SharedBytes::open(&file.path).map_err(|error| Fault::of(&error))?;
        read_metadata(bytes.cursor(), self.limits)
    }

    fn canonical(&self, path: &[u8]) -> Option<Vec<u8>> {
        Some(follow(&self.dir.links, path))
    }
}

/// A path with the links of directories in it followed, of which each leads to a name without any.
fn follow(links: &BTreeMap<Vec<u8>, Vec<u8>>, path: &[u8]) -> Vec<u8> {
    /// As many as Linux follows.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        if links.is_empty() {
            break;
        }
        let ends = memchr::memchr_iter(b'/', &path);
        let mut followed = ends.filter_map(|end| {
            let (dir, rest) = path.split_at_checked(end)?;
            let rest = rest.strip_prefix(b"/")?;
            Some(join(links.get(dir)?, rest))
        });
        // the first link on the way: what is behind it lies elsewhere
        let Some(next) = followed.next() else {
            break;
        };
        path = next;
    }
    path
}

impl Dir {
    /// Walks `root`. What cannot be read is among its problems.
    pub fn open(root: &Path, at: Locator, limits: &Limits) -> Self {
        let mut dir = Self {
            at,
            files: Vec::new(),
            packages: Vec::new(),
            problems: Vec::new(),
            links_skipped: 0,
            file_links: Vec::new(),
            special_skipped: 0,
            links: BTreeMap::new(),
        };
        dir.walk(root, limits);
        dir.files
            .sort_by(|one, other| one.name.as_bytes().cmp(other.name.as_bytes()));
        dir.file_links
            .sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
        let found = packages::assign(&Files { dir: &dir, limits }, &dir.at, limits);
        for (file, owner) in dir.files.iter_mut().zip(found.owner) {
            file.package = owner;
        }
        dir.packages = found.packages;
        dir.problems.extend(found.problems);
        dir.problems.sort();
        dir
    }

    fn walk(&mut self, root: &Path, limits: &Limits) {
        let canonical = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let mut pending = vec![(root.to_owned(), Vec::new())];
        while let Some((path, prefix)) = pending.pop() {
            let entries = match fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error) => {
                    self.unreadable(&prefix, &error);
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.unreadable(&prefix, &error);
                        break;
                    }
                };
                let name = join(&prefix, entry.file_name().as_encoded_bytes());
                // Of the entry itself, not of what a link leads to.
                let metadata = match entry.metadata() {
                    Ok(metadata) => metadata,
                    Err(error) => {
                        self.unreadable(&name, &error);
                        continue;
                    }
                };
                if metadata.is_symlink() {
                    self.judge_link(&entry.path(), &name, &canonical, limits);
                } else if metadata.is_dir() {
                    pending.push((entry.path(), name));
                } else if !metadata.is_file() {
                    self.special_skipped += 1;
                } else if self.files.len() as u64 >= limits.members {
                    let fault = Fault::from(LimitHit::Members(limits.members));
                    self.problems
                        .push(fault.at(self.at.clone(), Extent::RestOfArchive));
                    return;
                } else {
                    self.files.push(DirFile {
                        name: MemberName::from_bytes(&name),
                        path: entry.path(),
                        size: metadata.len(),
                        package: None,
                    });
                }
            }
        }
    }

    /// What a link inside the tree leads to is walked under its own name. A link out of the tree
    /// is reported where it leads to a library, or to a directory that holds one.
    fn judge_link(&mut self, link: &Path, name: &[u8], root: &Path, limits: &Limits) {
        let target = match fs::canonicalize(link) {
            Ok(target) => Some(target),
            Err(error) if leads_nowhere(&error) => None,
            // what it leads to may be there for whoever runs the program
            Err(error) => {
                let detail = format!("a link that cannot be followed: {error}");
                let at = self.at.member(&MemberName::from_bytes(name));
                let fault = Fault::new(ProblemKind::NotFollowed, detail);
                self.problems.push(fault.at(at, Extent::Member));
                return;
            }
        };
        if target.as_deref().is_some_and(Path::is_file)
            && (self.file_links.len() as u64) < limits.members
        {
            self.file_links.push(MemberName::from_bytes(name));
        }
        if let Some(inside) = target
            .as_deref()
            .and_then(|target| target.strip_prefix(root).ok())
            && (self.links.len() as u64) < limits.members
            && root.join(inside).is_dir()
        {
            self.links.insert(name.to_owned(), name_of(inside));
        }
        let outside = target.filter(|target| !target.starts_with(root));
        let what = outside.and_then(|target| {
            if target.is_dir() {
                holds_library(target).then_some("a directory with libraries")
            } else {
                (is_library(link) || is_library(&target)).then_some("a library")
            }
        });
        let Some(what) = what else {
            self.links_skipped += 1;
            return;
        };
        let detail = format!("a link to {what} outside of the tree");
        let fault = Fault::new(ProblemKind::NotFollowed, detail);
        let at = self.at.member(&MemberName::from_bytes(name));
        self.problems.push(fault.at(at, Extent::Member));
    }

    fn unreadable(&mut self, name: &[u8], error: &io::Error) {
        let (at, extent) = if name.is_empty() {
            (self.at.clone(), Extent::Artifact)
        } else {
            (
                self.at.member(&MemberName::from_bytes(name)),
                Extent::Member,
            )
        };
        let fault = Fault::new(ProblemKind::Io, error.to_string());
        self.problems.push(fault.at(at, extent));
    }
}

/// A path below the root as a name, with `/` on every system.
fn name_of(path: &Path) -> Vec<u8> {
    path.iter().fold(Vec::new(), |name, part| {
        join(&name, part.as_encoded_bytes())
    })
}

/// Whether nothing is where a link leads.
fn leads_nowhere(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether a directory outside of the tree holds a library, by name. One that is too large to tell
/// or that may not be read is taken for one that does.
fn holds_library(dir: PathBuf) -> bool {
    const LOOKED_AT: usize = 10_000;
    let mut looked_at = 0;
    let mut pending = vec![dir];
    while let Some(dir) = pending.pop() {
        let Ok(entries) = fs::read_dir(dir) else {
            return true;
        };
        for entry in entries {
            let Ok(entry) = entry else {
                return true;
            };
            looked_at += 1;
            if looked_at > LOOKED_AT || is_library(&entry.path()) {
                return true;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(entry.path());
            }
        }
    }
    false
}

/// Whether a file is called as those that hold device code are.
fn is_library(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    let suffixes = [
        ".so", ".dll", ".pyd", ".dylib", ".a", ".lib", ".cubin", ".fatbin", ".ptx", ".whl",
    ];
    suffixes.into_iter().any(|suffix| name.ends_with(suffix)) || name.contains(".so.")
}
