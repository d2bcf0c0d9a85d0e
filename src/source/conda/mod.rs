//! conda packages: an archive, its file name, and the metadata inside.
//!
//! Responsible for which members of a package are read and in which order, and for whether file name, archive and
//! metadata agree. Members are read by whoever scans them.
//!
//! Formats: CEP 34 (contents), CEP 35 (archives), CEP 26 (names). `NAME-VERSION-BUILD.tar.bz2` is one tar archive with
//! `info/` in it, anywhere. `NAME-VERSION-BUILD.conda` is a zip archive of two, `info-NAME-VERSION-BUILD.tar.zst` and
//! `pkg-NAME-VERSION-BUILD.tar.zst`, stored by the tools and deflated where somebody packed it again by hand, below a
//! directory then.

mod claim;
mod index;
mod name;
mod spec;
#[cfg(test)]
mod tests;

pub use claim::BuildClaim;
pub use index::Index;
pub use name::{CondaFilename, Subdir};
pub use spec::{DriverFloor, MatchSpec};

use serde::Deserialize;

use super::bounded::read_metadata;
use crate::archive::{Fault, SharedBytes, Zip, ZipMember};
use crate::limits::{Budget, Limits};
use crate::{Extent, Locator, Problem, ProblemKind};

/// The metadata that says what a package is, from the root of what it installs.
pub const INDEX: &[u8] = b"info/index.json";

/// A conda package, of which no more was read than where its parts are.
#[derive(Debug)]
#[non_exhaustive]
pub struct Conda {
    /// Where it is.
    pub at: Locator,
    /// The file.
    pub bytes: SharedBytes,
    /// What its file name says, where it is the name of a package.
    pub filename: Option<CondaFilename>,
    /// How it is packed.
    pub form: CondaForm,
    /// What is wrong with the archive.
    pub problems: Vec<Problem>,
}

/// How a package is packed.
#[derive(Debug)]
#[non_exhaustive]
pub enum CondaForm {
    /// `.conda`: the members of `zip` by index, the tar archives in the order in which they are to be read.
    Zip {
        /// The outer archive; without members where it is none.
        zip: Zip,
        /// The tar archives: all `info-`, then all `pkg-`.
        tars: Vec<usize>,
        /// Members that no installer unpacks.
        others: Vec<usize>,
    },
    /// `.tar.bz2`: one stream.
    Tar,
}

impl Conda {
    /// Finds the parts of a `.conda` called `file_name`: reads the end of the file alone, and `metadata.json`, which
    /// is a line.
    pub fn open(bytes: SharedBytes, at: Locator, file_name: &str, limits: &Limits) -> Self {
        match Zip::open(bytes.clone(), &at, limits) {
            Ok(opened) => Self::of_zip(opened.zip, opened.problems, bytes, at, file_name, limits),
            Err(problem) => {
                let zip = Zip::unreadable(bytes.clone());
                Self::of_zip(zip, vec![problem], bytes, at, file_name, limits)
            }
        }
    }

    /// A `.tar.bz2` called `file_name`. Nothing of it is read.
    pub fn of_tar(bytes: SharedBytes, at: Locator, file_name: &str) -> Self {
        Self {
            at,
            bytes,
            filename: CondaFilename::parse(file_name),
            form: CondaForm::Tar,
            problems: Vec::new(),
        }
    }

    /// A `.conda` of which the outer archive was opened.
    pub fn of_zip(
        zip: Zip,
        problems: Vec<Problem>,
        bytes: SharedBytes,
        at: Locator,
        file_name: &str,
        limits: &Limits,
    ) -> Self {
        let mut tars = Vec::new();
        let mut others = Vec::new();
        for (index, member) in zip.members().iter().enumerate() {
            if !member.is_readable() || member.name.as_bytes().ends_with(b"/") {
                continue;
            }
            match Part::of(member) {
                Some(part) => tars.push((part, index)),
                None => others.push(index),
            }
        }
        tars.sort_unstable();
        let mut conda = Self {
            at,
            bytes,
            filename: CondaFilename::parse(file_name),
            form: CondaForm::Zip {
                tars: tars.iter().map(|(_, index)| *index).collect(),
                others,
                zip,
            },
            problems,
        };
        conda.look_at_parts(&tars);
        conda.look_at_version(limits);
        conda.problems.sort();
        conda
    }

    /// Whether the outer archive of a file is that of a package.
    pub fn is_zip_of_one(zip: &Zip) -> bool {
        let mut members = zip.members().iter();
        members.any(|member| Part::of(member) == Some(Part::Info))
    }

    /// The names of the parts in the outer archive, `NAME-VERSION-BUILD` of each; without repetition.
    pub fn stems(&self) -> Vec<String> {
        let CondaForm::Zip { zip, tars, .. } = &self.form else {
            return Vec::new();
        };
        let members = tars.iter().filter_map(|index| zip.members().get(*index));
        let mut stems: Vec<String> = members
            .filter_map(|member| Some(split(member.name.file_name())?.1.to_owned()))
            .collect();
        stems.sort();
        stems.dedup();
        stems
    }

    fn look_at_parts(&mut self, tars: &[(Part, usize)]) {
        let CondaForm::Zip { zip, .. } = &self.form else {
            return;
        };
        // the archive is none, or not all of it is known
        if !self.problems.is_empty() {
            return;
        }
        let mut found = Vec::new();
        for part in [Part::Info, Part::Pkg] {
            let mut of_part = tars.iter().filter(|(other, _)| *other == part);
            match of_part.next() {
                // a package may be nothing but its metadata
                None if part == Part::Pkg => {}
                None => {
                    let detail = "the archive has no `info-*.tar.zst`, as every conda package has";
                    found.push((None, ProblemKind::MalformedArchive, detail.to_owned()));
                }
                Some(_) => found.extend(of_part.filter_map(|(_, index)| {
                    let name = zip.members().get(*index)?.name.clone();
                    let detail = format!("another `{}-*.tar.zst` stands before it, and which one is installed depends on the installer", part.id());
                    Some((Some(name), ProblemKind::DuplicateMember, detail))
                })),
            }
        }
        for (name, kind, detail) in found {
            let at = name.map_or_else(|| self.at.clone(), |name| self.at.member(&name));
            self.problems
                .push(Problem::new(kind, at, Extent::Part, detail));
        }
    }

    /// `metadata.json` may be missing; where it is there, it says the version of the format.
    fn look_at_version(&mut self, limits: &Limits) {
        #[derive(Deserialize)]
        struct Metadata {
            conda_pkg_format_version: u64,
        }
        let CondaForm::Zip { zip, others, .. } = &self.form else {
            return;
        };
        let found = others.iter().find_map(|index| {
            let member = zip.members().get(*index)?;
            (member.name.file_name() == "metadata.json").then_some((*index, &member.name))
        });
        let Some((index, name)) = found else {
            return;
        };
        let budget = Budget::new(limits.clone());
        let read = zip
            .reader(index, &budget)
            .and_then(|reader| read_metadata(reader, limits))
            .and_then(|bytes| {
                let parsed: Result<Metadata, _> = serde_json::from_slice(&bytes);
                parsed.map_err(|error| malformed(error.to_string()))
            });
        let fault = match read {
            Ok(metadata) if metadata.conda_pkg_format_version == 2 => return,
            Ok(Metadata {
                conda_pkg_format_version: other,
            }) => malformed(format!("the version of its format is not 2 but {other}")),
            Err(fault) => fault,
        };
        let at = self.at.member(name);
        self.problems.push(fault.at(at, Extent::Part));
    }
}

fn malformed(detail: String) -> Fault {
    Fault::new(ProblemKind::MalformedMetadata, detail)
}

/// Which part of a package a member of the outer archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Info,
    Pkg,
}

impl Part {
    fn of(member: &ZipMember) -> Option<Self> {
        Some(split(member.name.file_name())?.0)
    }

    const fn id(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Pkg => "pkg",
        }
    }
}

/// The part and the package that the name of a member says.
fn split(file_name: &str) -> Option<(Part, &str)> {
    let stem = file_name.strip_suffix(".tar.zst")?;
    let info = stem.strip_prefix("info-").map(|stem| (Part::Info, stem));
    info.or_else(|| Some((Part::Pkg, stem.strip_prefix("pkg-")?)))
}
