//! One layer of an image: its files as changes to a file system, the device code in them, and its two digests.
//!
//! A layer is read forward and never written to disk. What a layer holds does not depend on the image that it is in,
//! so that a layer of several images is read once; which of its files are left in an image is for `squash`.

mod claims;
mod entries;
mod kept;
mod pipe;
mod second;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use crate::archive::{Fault, SharedBytes, Tar, TarEnd, TarKind, TarMember, spool};
use crate::device::{DeviceReport, KEPT_WHOLE};
use crate::limits::read_capped;
use crate::locator::{Locator, MemberName};
use crate::problem::{Extent, Problem, ProblemKind};
use crate::source::packages;

use super::leaf::{self, CHUNK, Input, Leaf, Looked, Means};
use super::nested::{self, Nested};
use super::own;
use super::plan::File;
use super::problems::Problems;
use super::{Package, Seen};
use pipe::{Pipe, Sums};
use second::Pending;

pub(super) use claims::compare;
use kept::Kept;

pub(super) use entries::{Entry, EntryKind, PATH_MAX, clean, split_last};

/// Bytes of names, and of targets of links, that are kept of a layer.
const ENTRIES_MAX: usize = 96 << 20;
/// Members that are reported as not taken.
const REFUSED_MAX: usize = 1000;

/// Opens a layer's bytes as they are stored.
pub(super) type Open<'a> = dyn Fn() -> Result<Box<dyn BufRead + Send>, Fault> + Sync + 'a;

/// How a layer is to be had.
pub(super) enum Stored<'a> {
    /// As often as needed.
    Again(&'a Open<'a>),
    /// Once, as it passes.
    Once(Box<dyn BufRead + Send + 'a>),
}

/// What a layer holds.
#[derive(Debug)]
pub(super) struct LayerScan {
    /// The changes that it makes.
    pub(super) entries: Vec<Entry>,
    /// Files that matter to a gate, in no order.
    pub(super) files: Vec<LayerFile>,
    /// Metadata of packages, by entry.
    pub(super) kept: Kept,
    /// What could not be read, by entry, below a locator without a name.
    pub(super) problems: BTreeMap<usize, Vec<Problem>>,
    /// What concerns the layer as a whole.
    pub(super) layer_problems: Vec<Problem>,
    /// Packages of archives in it, by entry.
    pub(super) packages: Vec<(usize, Arc<Package>)>,
    pub(super) seen: Seen,
    /// The digests, where all of it could be read.
    pub(super) sums: Option<Sums>,
    /// Whether its archive ends without saying so.
    pub(super) unmarked: bool,
}

/// A file of a layer that matters to a gate, or one in an archive of it.
#[derive(Debug)]
pub(super) struct LayerFile {
    pub(super) entry: usize,
    /// What stands behind the path of the entry: ` › a.so` in an archive.
    pub(super) inner: String,
    pub(super) size: u64,
    /// The package of the archive.
    pub(super) package: Option<Arc<Package>>,
    pub(super) report: DeviceReport,
}

/// Reads a layer of which `size` bytes are stored, as far as it is known.
pub(super) fn scan(stored: Stored<'_>, size: Option<u64>, means: &Means<'_>) -> LayerScan {
    let mut scanning = Scanning::new(means);
    let size = size.unwrap_or(u64::MAX);
    let (again, opened) = match stored {
        Stored::Again(open) => (Some(open), open()),
        Stored::Once(reader) => (None, Ok(reader)),
    };
    let passed = opened.and_then(|reader| {
        std::thread::scope(|scope| {
            let mut pipe = Pipe::start(scope, reader, size, &means.budget);
            let walked = scanning.walk(&mut pipe, again.is_some());
            let sums = pipe.finish()?;
            Ok((walked, sums))
        })
    });
    match passed {
        Ok((end, sums)) => {
            scanning.scan.unmarked = end == Some(TarEnd::Unmarked);
            scanning.scan.sums = Some(sums);
        }
        Err(fault) => scanning.whole(fault),
    }
    if let Some(open) = again {
        scanning.look_again(open);
    }
    scanning.finish()
}

/// A layer of which nothing can be read.
pub(super) fn absent(fault: Fault, means: &Means<'_>) -> LayerScan {
    let mut scanning = Scanning::new(means);
    scanning.whole(fault);
    scanning.finish()
}

/// A layer on the way.
struct Scanning<'a> {
    means: &'a Means<'a>,
    /// The address that every address of the layer begins with.
    root: Locator,
    problems: Problems,
    pending: Vec<Pending>,
    /// Bytes of the names in `scan.entries`.
    entry_bytes: usize,
    buffer: Vec<u8>,
    scan: LayerScan,
}

impl<'a> Scanning<'a> {
    fn new(means: &'a Means<'a>) -> Self {
        Self {
            means,
            root: Locator::root(0, ""),
            problems: Problems::new(),
            pending: Vec::new(),
            entry_bytes: 0,
            buffer: vec![0; CHUNK],
            scan: LayerScan {
                entries: Vec::new(),
                files: Vec::new(),
                kept: Kept::default(),
                problems: BTreeMap::new(),
                layer_problems: Vec::new(),
                packages: Vec::new(),
                seen: Seen::default(),
                sums: None,
                unmarked: false,
            },
        }
    }

    /// Reads every member. Says how the archive ended; a fault has been reported then.
    fn walk(&mut self, pipe: &mut Pipe, again: bool) -> Option<TarEnd> {
        let mut tar = Tar::new(pipe, self.means.budget.limits().members);
        loop {
            match tar.next_member() {
                Ok(Some(member)) => self.member(&member, &mut tar, again),
                Ok(None) => return tar.end(),
                Err(fault) => {
                    let at = self.root.clone();
                    self.scan
                        .layer_problems
                        .push(fault.at(at, Extent::RestOfArchive));
                    return None;
                }
            }
        }
    }

    fn member(&mut self, member: &TarMember, tar: &mut Tar<&mut Pipe>, again: bool) {
        let at = self.root.member(&MemberName::from_bytes(&member.name));
        let entry = match Entry::of(member) {
            Ok(entry) => entry,
            Err(why) => return self.refused(at, ProblemKind::MalformedArchive, why),
        };
        let takes_away = !matches!(
            entry.as_ref().map(|entry| &entry.kind),
            Some(kind) if !matches!(kind, EntryKind::Whiteout | EntryKind::Opaque)
        );
        // what another reader would take for a file is not read here
        let hides =
            (takes_away && member.size > 0).then_some("a whiteout that has bytes of its own");
        if let Some(doubt) = hides.or(member.doubt.filter(|_| takes_away)) {
            self.refused(at.clone(), ProblemKind::HeaderMismatch, doubt);
        }
        let Some(entry) = entry else { return };
        self.entry_bytes += entry.held_bytes();
        if self.entry_bytes > ENTRIES_MAX {
            let detail = "the layer has more bytes of names than are kept";
            return self.refused(at, ProblemKind::LimitExceeded, detail);
        }
        let index = self.scan.entries.len();
        let path = MemberName::from_bytes(&entry.path);
        let at = self.root.member(&path);
        let is_file = entry.kind == EntryKind::File;
        self.scan.entries.push(entry);
        if let Some(doubt) = member.doubt {
            let kind = ProblemKind::HeaderMismatch;
            let problem = Problem::new(kind, at.clone(), Extent::Member, doubt);
            self.problems.add(index, vec![problem]);
        }
        if !is_file {
            return;
        }
        self.scan.seen.files += 1;
        if member.kind == TarKind::Unsupported {
            let detail = "a sparse file, or one of several volumes, is not read";
            let kind = ProblemKind::UnsupportedCompression;
            let problem = Problem::new(kind, at, Extent::Member, detail);
            self.problems.add(index, vec![problem]);
            return;
        }
        if packages::is_metadata(path.as_bytes()) {
            self.keep(index, at, tar);
            return;
        }
        let file = Place {
            entry: index,
            path: path.to_string(),
            size: member.size,
            offset: member.offset,
            at,
        };
        self.file(file, tar, again);
    }

    /// Reports a member that is not taken as it stands.
    fn refused(&mut self, at: Locator, kind: ProblemKind, why: &str) {
        // one more says no more, and there may be a million
        if self.scan.layer_problems.len() < REFUSED_MAX {
            let problem = Problem::new(kind, at, Extent::Member, why);
            self.scan.layer_problems.push(problem);
        }
    }

    /// Keeps the metadata of a package.
    fn keep(&mut self, entry: usize, at: Locator, tar: &mut Tar<&mut Pipe>) {
        let most = self.means.budget.limits().metadata_bytes;
        let read = match read_capped(tar.body(), most) {
            Ok((bytes, false)) => Ok(bytes),
            Ok((_, true)) => Err(crate::limits::LimitHit::Metadata(most).into()),
            Err(error) => Err(Fault::of(&error)),
        };
        match read {
            Ok(bytes) => match self.scan.kept.add(entry, &bytes) {
                Ok(true) => {}
                Ok(false) => {
                    let detail = "the layer has more metadata of packages than is kept";
                    let fault = Fault::new(ProblemKind::LimitExceeded, detail);
                    self.problems.add(entry, vec![fault.at(at, Extent::Member)]);
                }
                Err(error) => {
                    let problem = Fault::of(&error).at(at, Extent::Member);
                    self.problems.add(entry, vec![problem]);
                }
            },
            Err(fault) => self.problems.add(entry, vec![fault.at(at, Extent::Member)]),
        }
    }

    fn file(&mut self, place: Place, tar: &mut Tar<&mut Pipe>, again: bool) {
        let mut body = tar.body();
        // The headers of a library may name what has passed, and what passes once must be held for that.
        let held = if leaf::is_named_zip(&place.path) || (!again && place.size > KEPT_WHOLE) {
            Some(spool(
                &mut body,
                self.means.budget.limits(),
                Some(place.size),
            ))
        } else {
            None
        };
        match held {
            Some(Ok(bytes)) => self.held(&place, bytes),
            Some(Err(fault)) => self.fault(&place, fault),
            None => {
                let looked = leaf::look(
                    &mut body,
                    None::<fn() -> Result<SharedBytes, Fault>>,
                    &place.path,
                    place.size,
                    self.means,
                    &mut self.buffer,
                );
                let (leaf, problems) = match looked {
                    Ok(Looked::Scanned(passed)) => return self.passed(place, passed),
                    Ok(looked) => {
                        let (path, at) = (place.path.clone(), place.at.clone());
                        let passing = nested::Passing::new(path, place.size, at, 0);
                        let buffer = &mut self.buffer;
                        leaf::of_look(looked, &mut body, &passing, self.means, buffer)
                    }
                    Err(unread) => unread.told(&place.at),
                };
                self.problems.add(place.entry, problems);
                self.leaf(&place, leaf);
            }
        }
    }

    fn fault(&mut self, place: &Place, fault: Fault) {
        let problem = fault.at(place.at.clone(), Extent::Member);
        self.problems.add(place.entry, vec![problem]);
    }

    /// Reads a file that is held.
    fn held(&mut self, place: &Place, bytes: SharedBytes) {
        let file = File {
            input: Input::Bytes(bytes),
            path: place.path.clone(),
            size: place.size,
            at: place.at.clone(),
            depth: 0,
        };
        let (leaf, problems) = leaf::read(&file, self.means, &mut self.buffer);
        self.problems.add(place.entry, problems);
        self.leaf(place, leaf);
    }

    fn leaf(&mut self, place: &Place, leaf: Leaf) {
        match leaf {
            Leaf::Other => {}
            Leaf::Unopened => self.scan.seen.unopened += 1,
            Leaf::Scanned(report) => {
                self.report(place.entry, &place.path, "", place.size, None, *report);
            }
            Leaf::Zip(bytes) => {
                let (path, buffer) = (&place.path, &mut self.buffer);
                let found = nested::read_all(bytes, path, &place.at, 1, self.means, buffer);
                self.nested(place, found);
            }
            Leaf::Nested(found) => self.nested(place, *found),
        }
    }

    /// Keeps what an archive holds.
    fn nested(&mut self, place: &Place, found: Nested) {
        self.problems.add(place.entry, found.problems);
        // which files of it have device code is counted where they are reported
        let seen = Seen {
            with_device_code: 0,
            ..found.seen
        };
        self.scan.seen.add(seen);
        let packages = found.packages.into_iter();
        let packages = packages.map(|package| (place.entry, package));
        self.scan.packages.extend(packages);
        for file in found.files {
            let inner = format!(" › {}", file.path);
            self.report(
                place.entry,
                &file.path,
                &inner,
                file.size,
                file.package,
                file.report,
            );
        }
    }

    /// Keeps the report of a file, where it matters to a gate.
    fn report(
        &mut self,
        entry: usize,
        path: &str,
        inner: &str,
        size: u64,
        package: Option<Arc<Package>>,
        report: DeviceReport,
    ) {
        self.scan.seen.with_device_code += u64::from(report.has_device_code());
        if own::matters(path, &report, self.means.tables) {
            self.scan.files.push(LayerFile {
                entry,
                inner: inner.to_owned(),
                size,
                package,
                report,
            });
        }
    }

    /// Reports why nothing more of the layer could be read.
    fn whole(&mut self, fault: Fault) {
        // who walked the archive met the same
        let same = |known: &Problem| known.kind == fault.kind && known.detail == fault.detail;
        self.scan.layer_problems.retain(|known| !same(known));
        let problem = fault.at(self.root.clone(), Extent::Artifact);
        self.scan.layer_problems.push(problem);
    }

    fn finish(mut self) -> LayerScan {
        let (problems, more) = self.problems.finish_parts(&self.root);
        self.scan.problems = problems;
        self.scan.layer_problems.extend(more);
        self.scan
    }
}

/// A file of the layer that is being read.
struct Place {
    entry: usize,
    path: String,
    size: u64,
    /// Where its header is in the archive.
    offset: u64,
    at: Locator,
}
