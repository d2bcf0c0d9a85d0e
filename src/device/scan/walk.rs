//! Inside a fatbin: its entries and their payloads.

use std::collections::BTreeSet;

use crate::device::fatbin::{Entry, EntryError};
use crate::device::inspect::Inspection;
use crate::device::owner::Owner;
use crate::device::tally::{Images, NAME_LEN_MAX, NAMES_MAX};
use crate::problem::ProblemKind;

use super::skip::{NESTED, Skip, begins_fatbin, guarded};
use super::{Flow, Scanner, State};

/// A fatbin on the way.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) damaged: bool,
    /// Whose its kernels are.
    pub(super) owner: Owner,
    pub(super) images: Images,
    pub(super) names: Vec<String>,
    /// The numbers of its kernels' names, where they are asked for.
    pub(super) kernels: BTreeSet<u32>,
}

impl Walk {
    fn add_name(&mut self, identifier: &[u8]) {
        if self.names.len() < NAMES_MAX && !identifier.is_empty() {
            let shown =
                String::from_utf8_lossy(identifier.get(..NAME_LEN_MAX).unwrap_or(identifier));
            if !self.names.iter().any(|name| *name == shown) {
                self.names.push(shown.into_owned());
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Payload {
    pub(super) walk: Walk,
    pub(super) entry_at: u64,
    pub(super) left: u64,
    pub(super) inspection: Inspection,
}

impl Scanner<'_> {
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
        let limit = self.unpack_limit(u64::MAX);
        let rest = data.get(*cursor..).unwrap_or_default();
        let entry = Entry::parse(rest, walk.end - at).and_then(|entry| {
            let header = rest.get(..entry.header_len).unwrap_or_default();
            for nested in NESTED.find_iter(header) {
                match begins_fatbin(rest.get(nested..).unwrap_or_default()) {
                    Ok(false) => {}
                    Ok(true) => {
                        return Err(EntryError::Malformed(
                            "another fatbin begins inside the header of an entry",
                        ));
                    }
                    // at the end of the file there is no more to come
                    Err(_) if eof => {}
                    Err(need) => return Err(EntryError::Needs(nested + need)),
                }
            }
            Ok(entry)
        });
        match entry {
            Ok(entry) => {
                *cursor += entry.header_len;
                for (_, part) in &entry.parts {
                    walk.add_name(&part.identifier);
                }
                walk.add_name(&entry.identifier);
                let payload = Payload {
                    walk,
                    entry_at: at,
                    left: entry.payload_len,
                    inspection: Inspection::new(
                        entry,
                        !self.found.toolkits.is_empty(),
                        self.found.kernels.are_asked(),
                        limit,
                    ),
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
        let (take, end) = match guarded(rest, payload.left, eof) {
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
        let mut notes = self.notes();
        self.found.unpacked += inspection.unpacked();
        for image in inspection.finish(truncated, &mut notes) {
            if !walk.images.add(&image) {
                let detail = "a fatbin holds images of more kinds than are counted";
                walk.damaged = true;
                self.found
                    .problems
                    .push_once(walk.start, ProblemKind::LimitExceeded, detail);
            }
        }
        walk.damaged |= !notes.problems.is_empty();
        walk.owner = walk.owner.and(notes.owner);
        self.take_notes(entry_at, notes, &mut walk.kernels);
        walk
    }
}
