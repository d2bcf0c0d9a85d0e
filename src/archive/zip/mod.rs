//! Zip archives, wheels among them.
//!
//! Responsible for naming every member that the central directory lists, for reading it, and for
//! reporting where an archive would be read differently by another program. The central directory
//! is the truth, as it is for installers; each local header is compared with it. It knows nothing
//! of what members mean.
//!
//! Format: PKWARE APPNOTE.TXT 6.3.10, sections 4.3 and 4.4; what pip sees is what Python's
//! `zipfile` does with it.

mod directory;
mod end;
#[cfg(test)]
pub(crate) mod fixture;
mod later;
mod layout;
mod local;
mod name;
mod reader;
mod report;
#[cfg(test)]
mod tests;
mod window;

use std::ops::Range;

use self::later::Unseen;
pub use self::reader::MemberReader;
use self::report::Report;
use self::window::Window;
use super::{Fault, Hold, Kind, SharedBytes, describe};
use crate::limits::{Budget, Limits};
use crate::{Extent, Locator, MemberName, Problem, ProblemKind};

/// A zip archive whose central directory was read.
#[derive(Debug, Clone)]
pub struct Zip {
    bytes: SharedBytes,
    members: Vec<ZipMember>,
}

/// A zip archive, and what is wrong with it.
#[derive(Debug)]
pub struct Opened {
    /// The archive.
    pub zip: Zip,
    /// What is wrong with its structure, sorted; the data of members was not read yet.
    pub problems: Vec<Problem>,
}

/// What a member is, by its name and its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemberKind {
    /// A file.
    File,
    /// A directory: its name ends in a slash.
    Dir,
    /// A symbolic link, whose data is the target; pip writes a file that holds the target.
    Symlink,
}

/// A member as the central directory describes it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ZipMember {
    /// The name, byte for byte.
    pub name: MemberName,
    /// Bytes unpacked, as claimed; [`MemberReader`] verifies it.
    pub size: u64,
    /// Bytes packed, as claimed.
    pub packed: u64,
    /// CRC-32 of the unpacked bytes, as claimed; [`MemberReader`] verifies it.
    pub crc: u32,
    /// What it is.
    pub kind: MemberKind,
    /// Whether a later member of the same name is what an installer leaves on disk.
    pub shadowed: bool,
    method: Method,
    /// Where the packed bytes are, or why they cannot be read.
    data: Result<Range<u64>, Box<Fault>>,
    /// What its local header is compared with when it is read; `data` then begins at that header.
    unseen: Option<Unseen>,
}

impl ZipMember {
    /// Whether [`Zip::reader`] can be asked for it. Where not, the reason is among
    /// [`Opened::problems`] already.
    pub fn is_readable(&self) -> bool {
        self.data.is_ok()
    }

    /// Where the bytes of the archive are that are read for it; nothing where it cannot be read.
    pub fn range(&self) -> Option<Range<u64>> {
        self.data.as_ref().ok().cloned()
    }
}

/// How a member is packed; other methods make it unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Stored,
    Deflated,
}

/// Bytes of a central directory that are held at once where they are fetched; torch has 1.2 MB of them.
const DIRECTORY_HELD: u64 = 64 << 20;

impl Zip {
    /// Reads the central directory and compares it with every local header.
    ///
    /// Of an archive that is fetched, that would be a request for each member: there only the directory is read, and
    /// each local header is compared when its member is. Bytes that no member claims are not looked at.
    ///
    /// # Errors
    ///
    /// The problem of an archive without a central directory.
    pub fn open(bytes: SharedBytes, at: &Locator, limits: &Limits) -> Result<Opened, Problem> {
        let whole = |fault: Fault| fault.at(at.clone(), Extent::Artifact);
        let mut report = Report::new(at);
        let window = Window::new(&bytes);
        let end = end::find(&window, bytes.len(), &mut report).map_err(whole)?;
        let directory = end.directory.start..bytes.len();
        // for as long as it is read, so that it comes in one piece; a larger one comes in several
        let _held = match directory.end - directory.start {
            0..=DIRECTORY_HELD => bytes
                .hold(directory)
                .map_err(|error| whole(Fault::of(&error)))?,
            _ => None,
        };
        let mut listing = directory::read(&end, limits, &mut report);
        if bytes.is_fetched() {
            later::compare(&end, bytes.len(), &mut listing.members, &mut report);
        } else {
            local::compare(&end, &window, &mut listing.members, &mut report);
        }
        layout::check(&end, &bytes, &mut listing, &mut report);
        let mut members: Vec<_> = listing
            .members
            .into_iter()
            .map(|listed| listed.member)
            .collect();
        name::check(&mut members, &mut report);
        Ok(Opened {
            zip: Self { bytes, members },
            problems: report.finish(),
        })
    }

    /// Whether the end of an archive is found, which is enough for an installer to take it for one.
    pub fn has_end(bytes: &SharedBytes, at: &Locator) -> bool {
        let (window, mut report) = (Window::new(bytes), Report::new(at));
        let found = end::find(&window, bytes.len(), &mut report);
        // where it cannot be told, opening it says why
        found.map_or_else(
            |fault| {
                !matches!(
                    fault.kind,
                    ProblemKind::NotAnArchive | ProblemKind::Truncated
                )
            },
            |_| true,
        )
    }

    /// An archive of which nothing can be read, so that what was named can still be reported on.
    pub fn unreadable(bytes: SharedBytes) -> Self {
        Self {
            bytes,
            members: Vec::new(),
        }
    }

    /// The members in the order of the central directory, shadowed ones too.
    pub fn members(&self) -> &[ZipMember] {
        &self.members
    }

    /// Reads a member from its first byte; it can be read again, and on several threads at once.
    ///
    /// # Errors
    ///
    /// Why the member cannot be read; [`Opened::problems`] holds the same.
    pub fn reader<'b>(&self, index: usize, budget: &'b Budget) -> Result<MemberReader<'b>, Fault> {
        let member = self.members.get(index).ok_or_else(|| {
            Fault::new(ProblemKind::MalformedArchive, format!("no member {index}"))
        })?;
        let data = self
            .bytes
            .slice(member.data.clone().map_err(|fault| *fault)?);
        match member.unseen {
            None => Ok(MemberReader::new(member, data.cursor(), budget)),
            Some(unseen) => {
                let (packed, rest) = later::open(member, unseen, data)?;
                Ok(MemberReader::new(member, packed, budget).and_then(rest))
            }
        }
    }

    /// Compares the local header of a member that is not read with the central directory. Of an archive that is not
    /// fetched that was done when it was opened.
    ///
    /// # Errors
    ///
    /// What they disagree on, or why the header cannot be read.
    pub fn compare_header(&self, index: usize) -> Result<(), Fault> {
        let member = self.members.get(index);
        let unseen = member.and_then(|member| Some((member, member.unseen?, member.range()?)));
        let Some((member, unseen, range)) = unseen else {
            return Ok(());
        };
        // in one piece, and no more of it
        later::compare_header(member, unseen, &self.bytes.slice(range))
    }

    /// [`SharedBytes::hold`], of the archive.
    ///
    /// # Errors
    ///
    /// What the source of the bytes says.
    pub fn hold(&self, range: Range<u64>) -> std::io::Result<Option<Hold>> {
        self.bytes.hold(range)
    }

    /// Whether its bytes are fetched by ranges.
    pub fn is_fetched(&self) -> bool {
        self.bytes.is_fetched()
    }
}

/// Why `bytes` are no zip archive.
fn not_a_zip(bytes: &SharedBytes) -> Fault {
    let mut head = [0; Kind::HEAD];
    match bytes.read_at(&mut head, 0) {
        Err(error) => Fault::of(&error),
        Ok(n) => {
            let head = head.get(..n).unwrap_or_default();
            if Kind::sniff(head) == Some(Kind::Zip) {
                let detail = "the archive has no central directory at its end";
                return Fault::new(ProblemKind::Truncated, detail);
            }
            let detail = format!("no zip archive: {}", describe(head));
            Fault::new(ProblemKind::NotAnArchive, detail)
        }
    }
}
