//! Tar archives, read forward: every member with its name, its kind and its bytes.
//!
//! Responsible for the walk over headers, for long names and extended headers, and for saying where two readers
//! would see different members. Links are told, never followed, and nothing is unpacked to disk.
//!
//! Formats: POSIX.1 `pax` interchange format and `ustar`; the GNU and the older v7 headers of the tar manual. Where
//! these leave room, what Go's `archive/tar` does is what Docker, containerd and podman do.

mod extended;
mod listed;
#[cfg(test)]
mod tests;

use std::io::{self, Read};

use tar::{EntryType, Header};

use self::extended::{Extended, Records};
pub use self::listed::{Listed, list};
use super::fault::Fault;
use crate::ProblemKind;
use crate::limits::LimitHit;

/// Bytes of a header, and what sizes are rounded up to.
const BLOCK: usize = 512;

/// What a member of a tar archive is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TarKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link to this path, which is taken from the directory that holds the link.
    Symlink(Vec<u8>),
    /// Another name of the member that has this name.
    HardLink(Vec<u8>),
    /// A device or a pipe, which holds no bytes.
    Special,
    /// A file whose bytes are not stored as they are read: sparse, or of several volumes.
    Unsupported,
}

/// A member of a tar archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TarMember {
    /// The name, byte for byte as stored; whatever it says, it is below the root of the archive.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: TarKind,
    /// Bytes of its content.
    pub size: u64,
    /// Where its own header begins in the archive.
    pub offset: u64,
    /// Where readers of tar archives disagree about it.
    pub doubt: Option<&'static str>,
}

/// How an archive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TarEnd {
    /// With its two blocks of zeros.
    Marked,
    /// Between two members, without them: as it does where it was cut there.
    Unmarked,
}

/// A tar archive that is read forward.
#[derive(Debug)]
pub struct Tar<R> {
    reader: R,
    /// Bytes read so far.
    offset: u64,
    /// Bytes of the present member that were not read yet.
    left: u64,
    /// Bytes behind them up to the next block.
    padding: u64,
    members: u64,
    members_max: u64,
    global: Records,
    end: Option<TarEnd>,
}

impl<R: Read> Tar<R> {
    /// An archive of at most `members_max` members.
    pub fn new(reader: R, members_max: u64) -> Self {
        Self {
            reader,
            offset: 0,
            left: 0,
            padding: 0,
            members: 0,
            members_max,
            global: Records::default(),
            end: None,
        }
    }

    /// The next member; nothing at the end. What was not read of the member before is skipped.
    ///
    /// # Errors
    ///
    /// A header that is none, an archive that ends in the middle of something, a limit: what follows is lost.
    pub fn next_member(&mut self) -> Result<Option<TarMember>, Fault> {
        let mut extended = Extended::default();
        while self.end.is_none() {
            self.skip()?;
            let offset = self.offset;
            let Some(header) = self.header()? else {
                break;
            };
            self.members += 1;
            if self.members > self.members_max {
                return Err(LimitHit::Members(self.members_max).into());
            }
            let kind = header.entry_type();
            let size = size_of(&header, offset)?;
            if matches!(
                kind,
                EntryType::XHeader
                    | EntryType::XGlobalHeader
                    | EntryType::GNULongName
                    | EntryType::GNULongLink
            ) {
                self.begin_body(size, offset)?;
                let bytes = self.small_body(offset)?;
                match kind {
                    EntryType::XGlobalHeader => self.global = Records::parse(&bytes, offset)?,
                    EntryType::XHeader => extended.take_records(&bytes, offset)?,
                    EntryType::GNULongName => extended.take_long_name(&bytes),
                    _ => extended.take_long_link(&bytes),
                }
                continue;
            }
            // a label of the archive, no member
            if header.as_bytes().get(156) == Some(&b'V') && size == 0 {
                self.begin_body(size, offset)?;
                continue;
            }
            let (member, stored) = self.member(&header, extended, size, offset)?;
            self.begin_body(stored, offset)?;
            return Ok(Some(member));
        }
        Ok(None)
    }

    /// How the archive ended, once it has.
    pub fn end(&self) -> Option<TarEnd> {
        self.end
    }

    /// The bytes of the present member.
    pub fn body(&mut self) -> TarBody<'_, R> {
        TarBody { tar: self }
    }

    /// What is behind the archive's end, or behind the failure.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// The member that a header and what stood before it say, and how many bytes it has in the archive.
    fn member(
        &self,
        header: &Header,
        extended: Extended,
        size: u64,
        offset: u64,
    ) -> Result<(TarMember, u64), Fault> {
        let extended = extended.replaced(&self.global);
        let mut doubt = extended.doubt;
        let size = extended.size.unwrap_or(size);
        let name = extended
            .name
            .unwrap_or_else(|| header.path_bytes().into_owned());
        let target = || {
            let stored = header.link_name_bytes().map(std::borrow::Cow::into_owned);
            extended.link.clone().or(stored).unwrap_or_default()
        };
        let kind = match header.entry_type() {
            EntryType::Directory => TarKind::Dir,
            // how v7 archives write directories
            EntryType::Regular if name.ends_with(b"/") => TarKind::Dir,
            EntryType::Regular | EntryType::Continuous if extended.sparse => TarKind::Unsupported,
            EntryType::Regular | EntryType::Continuous => TarKind::File,
            EntryType::Symlink => TarKind::Symlink(target()),
            EntryType::Link => TarKind::HardLink(target()),
            EntryType::Char | EntryType::Block | EntryType::Fifo => TarKind::Special,
            // the sparse map of old GNU archives may go on behind the header
            EntryType::GNUSparse => {
                if header
                    .as_gnu()
                    .is_some_and(|gnu| gnu.isextended.first() == Some(&1))
                {
                    return Err(Fault::new(
                        ProblemKind::UnsupportedCompression,
                        format!(
                            "at {offset:#x}: a sparse file with a long map, behind which nothing can be found"
                        ),
                    ));
                }
                TarKind::Unsupported
            }
            _ => TarKind::Unsupported,
        };
        let mut stored = size;
        let has_bytes = matches!(kind, TarKind::File | TarKind::Unsupported);
        if !has_bytes && size > 0 {
            // Go reads what follows as the next header, others skip it
            stored = 0;
            doubt = doubt.or(Some(
                "a directory or a link that claims to have bytes of its own",
            ));
        }
        let member = TarMember {
            name,
            kind,
            size: if has_bytes { size } else { 0 },
            offset,
            doubt,
        };
        Ok((member, stored))
    }

    /// The next header; nothing at the end of the archive.
    fn header(&mut self) -> Result<Option<Header>, Fault> {
        let offset = self.offset;
        let mut header = Header::new_old();
        match self.block(header.as_mut_bytes())? {
            BLOCK => {}
            0 => {
                self.end = Some(TarEnd::Unmarked);
                return Ok(None);
            }
            _ => return Err(truncated(self.offset)),
        }
        if header.as_bytes().iter().all(|byte| *byte == 0) {
            let mut second = [0; BLOCK];
            let n = self.block(&mut second)?;
            self.end = Some(if n == BLOCK {
                TarEnd::Marked
            } else {
                TarEnd::Unmarked
            });
            if second.iter().any(|byte| *byte != 0) {
                let detail =
                    format!("at {offset:#x}: one block of zeros, where two end the archive");
                return Err(Fault::new(ProblemKind::MalformedArchive, detail));
            }
            return Ok(None);
        }
        if super::Kind::sniff(header.as_bytes()) != Some(super::Kind::Tar) {
            let detail = format!("at {offset:#x}: the checksum of the header is wrong");
            return Err(Fault::new(ProblemKind::MalformedArchive, detail));
        }
        Ok(Some(header))
    }

    /// Reads a block; says how many bytes there were.
    fn block(&mut self, block: &mut [u8; BLOCK]) -> Result<usize, Fault> {
        let mut filled = 0;
        while let Some(free) = block.get_mut(filled..).filter(|free| !free.is_empty()) {
            match self.read_some(free)? {
                0 => break,
                n => filled += n,
            }
        }
        Ok(filled)
    }

    fn begin_body(&mut self, size: u64, offset: u64) -> Result<(), Fault> {
        let padded = size.checked_next_multiple_of(BLOCK as u64);
        let Some(padded) = padded else {
            return Err(bad_size(offset));
        };
        self.left = size;
        self.padding = padded - size;
        Ok(())
    }

    /// The whole body of an extended header.
    fn small_body(&mut self, offset: u64) -> Result<Vec<u8>, Fault> {
        if self.left > extended::BYTES_MAX {
            let detail = format!(
                "at {offset:#x}: an extended header of {} bytes, where {} are read",
                self.left,
                extended::BYTES_MAX
            );
            return Err(Fault::new(ProblemKind::LimitExceeded, detail));
        }
        let size = self.left;
        let (bytes, _) =
            crate::limits::read_capped(self.body(), size).map_err(|error| Fault::of(&error))?;
        Ok(bytes)
    }

    /// Moves behind the present member.
    fn skip(&mut self) -> Result<(), Fault> {
        let mut scratch = vec![0; 64 << 10];
        loop {
            let rest = self.left + self.padding;
            if rest == 0 {
                return Ok(());
            }
            let most = usize::try_from(rest)
                .unwrap_or(usize::MAX)
                .min(scratch.len());
            let n = self.read_some(scratch.get_mut(..most).unwrap_or_default())?;
            if n == 0 {
                return Err(truncated(self.offset));
            }
            let of_body = self.left.min(n as u64);
            self.left -= of_body;
            self.padding -= n as u64 - of_body;
        }
    }

    fn read_some(&mut self, buf: &mut [u8]) -> Result<usize, Fault> {
        loop {
            match self.reader.read(buf) {
                Ok(n) => {
                    self.offset += n as u64;
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::of(&error)),
            }
        }
    }
}

/// The bytes of a member. Ending early is an error, never a shorter member.
#[derive(Debug)]
pub struct TarBody<'t, R> {
    tar: &'t mut Tar<R>,
}

impl<R: Read> Read for TarBody<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.tar.left)
            .unwrap_or(usize::MAX)
            .min(buf.len());
        let Some(buf) = buf.get_mut(..most).filter(|buf| !buf.is_empty()) else {
            return Ok(0);
        };
        let n = self.tar.read_some(buf)?;
        if n == 0 {
            return Err(truncated(self.tar.offset).into());
        }
        self.tar.left -= n as u64;
        Ok(n)
    }
}

fn size_of(header: &Header, offset: u64) -> Result<u64, Fault> {
    header.entry_size().map_err(|_source| bad_size(offset))
}

fn bad_size(offset: u64) -> Fault {
    Fault::new(
        ProblemKind::MalformedArchive,
        format!("at {offset:#x}: a header whose size is no number"),
    )
}

fn truncated(offset: u64) -> Fault {
    Fault::new(
        ProblemKind::Truncated,
        format!("the tar archive ends at {offset:#x}, in the middle of a member"),
    )
}
