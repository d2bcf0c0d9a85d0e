//! Tar archives that are read forward, packed or not: every member passes once.

use std::io::{BufReader, Read};

use crate::archive::{
    Fault, Kind, SharedBytes, Sniffed, Tar, TarEnd, TarKind, TarMember, decoder, spool,
};
use crate::device::{HostFormat, KEPT_WHOLE};
use crate::limits::Metered;
use crate::locator::{Locator, MemberName};
use crate::problem::{Extent, Problem, ProblemKind};
use crate::source::conda::{CondaFilename, INDEX};

use super::super::layer::{PATH_MAX, clean};
use super::super::leaf::{self, CHUNK, Input};
use super::super::plan::{File, file_name};
use super::package::Watch;
use super::{Reading, require_depth};

/// A file that passes, an archive for one.
pub(in crate::inventory) struct Passing {
    /// Its path in what is around it.
    path: String,
    /// Whether it is called a tar archive, or said to be one.
    named: bool,
    /// Bytes as they are stored.
    size: u64,
    pub(in crate::inventory) at: Locator,
    /// Archives around it.
    depth: u32,
}

impl Passing {
    pub(in crate::inventory) fn new(path: String, size: u64, at: Locator, depth: u32) -> Self {
        Self {
            named: is_named_tar(&path),
            path,
            size,
            at,
            depth,
        }
    }

    /// One that is a tar archive, whatever it is called.
    pub(super) fn tar(path: String, size: u64, at: Locator, depth: u32) -> Self {
        Self {
            named: true,
            ..Self::new(path, size, at, depth)
        }
    }

    /// The same, with bytes that can be read as often as needed.
    fn held(&self, bytes: SharedBytes) -> File {
        File {
            input: Input::Bytes(bytes),
            path: self.path.clone(),
            size: self.size,
            at: self.at.clone(),
            depth: self.depth,
        }
    }
}

/// Whether what follows an archive is looked at, which is done where nothing else says that all of it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    /// By the marks of its end.
    Marked,
    /// By a checksum around it.
    Summed,
}

/// Whether a file is called a tar archive.
fn is_named_tar(name: &str) -> bool {
    const SUFFIXES: &[&str] = &[
        ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.zst", ".tzst",
    ];
    SUFFIXES.iter().any(|suffix| {
        let start = name.len().checked_sub(suffix.len());
        let end = start.and_then(|start| name.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    })
}

impl Reading<'_, '_> {
    /// Reads a tar archive, or a stream of `kind` that may hold one. Says whether it does, or is called so.
    pub(super) fn forward(
        &mut self,
        place: &Passing,
        kind: Kind,
        packed: &mut (dyn Read + Send),
    ) -> bool {
        let plain: Box<dyn Read + Send + '_> = if kind == Kind::Tar {
            Box::new(packed)
        } else {
            match decoder(kind, BufReader::with_capacity(CHUNK, packed)) {
                Ok(plain) => plain,
                // of a kind that is not unpacked
                Err(_) => return false,
            }
        };
        let plain = Metered::new(plain, &self.means.budget, place.size);
        let plain = match Sniffed::new(plain) {
            Ok(plain) => plain,
            Err(error) => {
                if place.named {
                    let fault = Fault::of(&error);
                    let problem = fault.at(place.at.clone(), Extent::Member);
                    self.found.problems.push(problem);
                }
                return place.named;
            }
        };
        if !place.named && plain.kind() != Some(Kind::Tar) {
            return false;
        }
        // other archives may hold such a file for their own purposes
        let mut watch = (kind == Kind::Bzip2).then(|| Watch::new(Vec::new()));
        let first = self.found.files.len();
        if let Err(problem) = require_depth(place.depth + 1, &place.at, self.means.budget.limits())
        {
            self.found.problems.push(problem);
            return true;
        }
        self.tar(plain, place, Whole::Marked, watch.as_mut());
        if let Some(watch) = watch {
            let filename = CondaFilename::parse(&file_name(&place.path));
            self.described(watch, filename.as_ref(), &place.at, first, false);
        }
        true
    }

    /// Reads the members of a tar archive to its end, and what packs it to its own.
    pub(super) fn tar(
        &mut self,
        plain: impl Read + Send,
        place: &Passing,
        whole: Whole,
        mut watch: Option<&mut Watch>,
    ) {
        let mut tar = Tar::new(plain, self.means.budget.limits().members);
        let read = loop {
            match tar.next_member() {
                Ok(Some(member)) => self.member(&member, &mut tar, place, watch.as_deref_mut()),
                Ok(None) => break Ok(tar.end()),
                Err(fault) => break Err(fault),
            }
        };
        let ended = read.and_then(|end| {
            if behind(tar.into_inner())? {
                let detail = "there is something behind the end of the archive, which another reader may take for more of it";
                return Err(Fault::new(ProblemKind::MalformedArchive, detail));
            }
            if end == Some(TarEnd::Unmarked) && whole == Whole::Marked {
                let detail = "the archive ends without its two blocks of zeros";
                return Err(Fault::new(ProblemKind::Truncated, detail));
            }
            Ok(())
        });
        if let Err(fault) = ended {
            let problem = fault.at(place.at.clone(), Extent::RestOfArchive);
            self.found.problems.push(problem);
        }
    }

    fn member<R: Read + Send>(
        &mut self,
        member: &TarMember,
        tar: &mut Tar<R>,
        place: &Passing,
        watch: Option<&mut Watch>,
    ) {
        let path = clean(&member.name).filter(|path| path.len() <= PATH_MAX);
        let at = place.at.member(&MemberName::from_bytes(
            path.as_deref().unwrap_or(&member.name),
        ));
        let Some(path) = path else {
            let detail = "a path that no file system takes";
            return self.refuse(at, ProblemKind::MalformedArchive, detail);
        };
        if let Some(doubt) = member.doubt {
            self.refuse(at.clone(), ProblemKind::HeaderMismatch, doubt);
        }
        match member.kind {
            TarKind::File => {}
            TarKind::Unsupported => {
                self.found.seen.files += 1;
                let detail = "a sparse file, or one of several volumes, is not read";
                return self.refuse(at, ProblemKind::UnsupportedCompression, detail);
            }
            TarKind::Dir | TarKind::Symlink(_) | TarKind::HardLink(_) | TarKind::Special => return,
        }
        if let Some(watch) = watch {
            if !watch.is_new(&path) {
                let detail = "there is another member of this name, and the last one is installed";
                self.refuse(at.clone(), ProblemKind::DuplicateMember, detail);
            }
            if path == INDEX {
                self.found.seen.files += 1;
                let read = watch.read(tar.body(), self.means.budget.limits());
                if let Err(fault) = read {
                    self.found.problems.push(fault.at(at, Extent::Member));
                }
                return;
            }
        }
        self.found.seen.files += 1;
        let path = MemberName::from_bytes(&path).to_string();
        let file = Passing::new(path, member.size, at, place.depth + 1);
        self.passing(&file, &mut tar.body());
    }

    /// Reads a file that passes.
    fn passing(&mut self, file: &Passing, body: &mut (dyn Read + Send)) {
        let at = file.at.clone();
        let failed = |fault: Fault| fault.at(at, Extent::Member);
        let mut body = match Sniffed::new(body) {
            Ok(body) => body,
            Err(error) => return self.found.problems.push(failed(Fault::of(&error))),
        };
        // The headers of a library may name what has passed: what is larger than is kept anyway is held for that.
        let is_library = HostFormat::of(body.head()) != HostFormat::Raw;
        if leaf::is_named_zip(&file.path) || (is_library && file.size > KEPT_WHOLE) {
            match spool(&mut body, self.means.budget.limits(), Some(file.size)) {
                Ok(bytes) => {
                    let held = file.held(bytes);
                    let (leaf, problems) = leaf::read(&held, self.means, self.buffer);
                    self.found.problems.extend(problems);
                    self.leaf(held, leaf);
                }
                Err(fault) => self.found.problems.push(failed(fault)),
            }
            return;
        }
        let looked = leaf::look(
            &mut body,
            None::<fn() -> Result<SharedBytes, Fault>>,
            &file.path,
            file.size,
            self.means,
            self.buffer,
        );
        let (leaf, problems) = match looked {
            Ok(looked) => leaf::of_look(looked, &mut body, file, self.means, self.buffer),
            Err(unread) => unread.told(&file.at),
        };
        self.found.problems.extend(problems);
        // an archive that is read from its end was held
        self.leaf(file.held(Vec::new().into()), leaf);
    }

    fn refuse(&mut self, at: Locator, kind: ProblemKind, detail: &str) {
        let problem = Problem::new(kind, at, Extent::Member, detail);
        self.found.problems.push(problem);
    }
}

/// Reads to the very end, so that checksums are compared. Says whether there is anything but zeros.
fn behind(mut reader: impl Read) -> Result<bool, Fault> {
    let mut buffer = vec![0; 64 << 10];
    let mut anything = false;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(anything),
            Ok(n) => {
                let bytes = buffer.get(..n).unwrap_or_default();
                anything |= bytes.iter().any(|byte| *byte != 0);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Fault::of(&error)),
        }
    }
}
