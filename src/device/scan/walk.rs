//! Inside a fatbin: its entries and their payloads.

use crate::device::fatbin::{Entry, EntryError};
use crate::device::inspect::{Inspection, Notes, Resolved};
use crate::device::payload::Coding;
use crate::problem::ProblemKind;

use super::skip::{Skip, guarded, unguarded};
use super::{Flow, Scanner, State};

/// A fatbin on the way.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) damaged: bool,
    pub(super) images: Vec<Resolved>,
    pub(super) names: Vec<Vec<u8>>,
}

#[derive(Debug)]
pub(super) struct Payload {
    pub(super) walk: Walk,
    pub(super) entry_at: u64,
    pub(super) left: u64,
    /// Whether stored bytes could hide the header of another fatbin.
    pub(super) plain: bool,
    pub(super) inspection: Inspection,
}

impl Scanner {
    pub(super) fn entry(
        &mut self,
        walk: Walk,
        data: &[u8],
        cursor: &mut usize,
        eof: bool,
    ) -> (State, Flow) {
        let at = self.position + *cursor as u64;
        let mut walk = walk;
        if at >= walk.end {
            self.add(walk, at);
            return (State::Hunt, Flow::Go);
        }
        let rest = data.get(*cursor..).unwrap_or_default();
        match Entry::parse(rest, walk.end - at) {
            Ok(entry) => {
                *cursor += entry.header_len;
                walk.names
                    .extend(entry.parts.iter().map(|(_, part)| part.identifier.clone()));
                walk.names.push(entry.identifier.clone());
                let payload = Payload {
                    walk,
                    entry_at: at,
                    left: entry.payload_len,
                    plain: entry.coding == Coding::None,
                    inspection: Inspection::new(entry, !self.found.toolkits.is_empty()),
                };
                (State::Payload(Box::new(payload)), Flow::Go)
            }
            Err(EntryError::Needs(n)) if !eof => (State::Entry(walk), Flow::Need(n)),
            Err(error) => {
                let (kind, detail) = match error {
                    EntryError::Needs(_) => {
                        (ProblemKind::Truncated, "the file ends inside a fatbin")
                    }
                    EntryError::Malformed(detail) => (ProblemKind::MalformedFatbin, detail),
                };
                self.spoil(&mut walk, at, kind, detail.to_owned());
                self.add(walk, at);
                (State::Hunt, Flow::Go)
            }
        }
    }

    pub(super) fn payload(
        &mut self,
        mut payload: Box<Payload>,
        data: &[u8],
        cursor: &mut usize,
        eof: bool,
    ) -> (State, Flow) {
        if payload.left == 0 {
            let walk = self.close_entry(*payload, false);
            return (State::Entry(walk), Flow::Go);
        }
        let rest = data.get(*cursor..).unwrap_or_default();
        let skip = if payload.plain {
            guarded(rest, payload.left, eof)
        } else {
            unguarded(rest, payload.left, eof)
        };
        let (take, end) = match skip {
            Skip::Need(n) => return (State::Payload(payload), Flow::Need(n)),
            Skip::Take(take) => (take, None),
            Skip::Nested(take) => {
                let detail = "another fatbin begins inside the payload of an entry";
                (take, Some((ProblemKind::MalformedFatbin, detail)))
            }
            Skip::Truncated => (
                0,
                Some((
                    ProblemKind::Truncated,
                    "the file ends inside the payload of an entry",
                )),
            ),
        };
        payload
            .inspection
            .push(rest.get(..take).unwrap_or_default());
        payload.left -= take as u64;
        *cursor += take;
        let Some((kind, detail)) = end else {
            return (State::Payload(payload), Flow::Go);
        };
        let at = payload.entry_at;
        let mut walk = self.close_entry(*payload, true);
        self.spoil(&mut walk, at, kind, detail.to_owned());
        self.add(walk, self.position + *cursor as u64);
        (State::Hunt, Flow::Go)
    }

    pub(super) fn close_entry(&mut self, payload: Payload, truncated: bool) -> Walk {
        let Payload {
            mut walk,
            entry_at,
            inspection,
            ..
        } = payload;
        let mut notes = Notes::default();
        walk.images.extend(inspection.finish(truncated, &mut notes));
        walk.damaged |= !notes.problems.is_empty();
        self.take_notes(entry_at, notes);
        walk
    }
}
