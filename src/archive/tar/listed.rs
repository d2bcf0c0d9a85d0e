//! The members of a tar archive whose bytes can be read at any place: only headers are read.

use std::io::{Seek as _, SeekFrom};

use super::{Tar, TarEnd, TarMember, truncated};
use crate::archive::{Cursor, Fault, SharedBytes};

/// What a tar archive holds.
#[derive(Debug)]
pub struct Listed {
    /// The members in the order of the archive, each with its bytes. One whose bytes are not all there is left out.
    pub members: Vec<(TarMember, SharedBytes)>,
    /// How the archive ended.
    pub end: Result<TarEnd, Fault>,
}

/// Lists at most `members_max` members of an archive, without reading their bytes.
pub fn list(bytes: &SharedBytes, members_max: u64) -> Listed {
    let mut tar = Tar::new(bytes.cursor(), members_max);
    let mut members = Vec::new();
    let end = loop {
        match tar.next_member() {
            Ok(Some(member)) => {
                let start = tar.offset;
                let end = start.saturating_add(member.size);
                if end > bytes.len() {
                    break Err(truncated(bytes.len()));
                }
                members.push((member, bytes.slice(start..end)));
                if let Err(fault) = tar.jump(bytes.len()) {
                    break Err(fault);
                }
            }
            Ok(None) => break Ok(tar.end().unwrap_or(TarEnd::Unmarked)),
            Err(fault) => break Err(fault),
        }
    };
    Listed { members, end }
}

impl Tar<Cursor> {
    /// Moves behind the present member of an archive of `len` bytes without reading it.
    fn jump(&mut self, len: u64) -> Result<(), Fault> {
        let next = self
            .offset
            .checked_add(self.left)
            .and_then(|end| end.checked_add(self.padding));
        let Some(next) = next.filter(|next| *next <= len) else {
            return Err(truncated(len));
        };
        let moved = self.reader.seek(SeekFrom::Start(next));
        moved.map_err(|error| Fault::of(&error))?;
        self.offset = next;
        self.left = 0;
        self.padding = 0;
        Ok(())
    }
}
