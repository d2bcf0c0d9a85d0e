//! The second look at a layer: for libraries whose headers name bytes that had passed.
//!
//! The layer is unpacked again, up to the last of these libraries. Nothing is kept but what their headers name.

use crate::archive::{Fault, Tar};
use crate::limits::Metered;

use super::super::leaf::{self, Passed};
use super::pipe::unpacked;
use super::{Open, Place, Scanning};

/// How often a layer is unpacked again.
const LOOKS_MAX: u32 = 4;
/// Bytes of libraries that wait for a second look at the same time.
const WAITING_MAX: u64 = 48 << 20;

/// A library that waits for a second look.
pub(super) struct Pending {
    place: Place,
    passed: Box<Passed>,
}

impl Scanning<'_> {
    /// Takes a file that was scanned: at once, or when its headers have what they name.
    pub(super) fn passed(&mut self, place: Place, passed: Box<Passed>) {
        if passed.fault.is_some() || leaf::wanted_end(&passed.scanned).is_none() {
            self.settle(&place, *passed);
            return;
        }
        self.pending.push(Pending { place, passed });
        let waiting: u64 = self
            .pending
            .iter()
            .map(|one| one.passed.scanned.held_bytes())
            .sum();
        if waiting > WAITING_MAX {
            // it says of itself what is missing
            if let Some(Pending { place, passed }) = self.pending.pop() {
                self.settle(&place, *passed);
            }
        }
    }

    fn settle(&mut self, place: &Place, passed: Passed) {
        let (leaf, problems) = passed.finish(&place.at, self.means);
        self.problems.add(place.entry, problems);
        self.leaf(place, leaf);
    }

    /// Unpacks the layer again for those that wait.
    pub(super) fn look_again(&mut self, open: &Open<'_>) {
        for _ in 0..LOOKS_MAX {
            if self.pending.is_empty() {
                return;
            }
            let fault = self.refill(open).err();
            let mut waiting = Vec::new();
            for Pending { place, mut passed } in std::mem::take(&mut self.pending) {
                if fault.is_some() {
                    passed.fault.clone_from(&fault);
                }
                if passed.fault.is_some() || leaf::wanted_end(&passed.scanned).is_none() {
                    self.settle(&place, *passed);
                } else {
                    waiting.push(Pending { place, passed });
                }
            }
            self.pending = waiting;
        }
        for Pending { place, passed } in std::mem::take(&mut self.pending) {
            self.settle(&place, *passed);
        }
    }

    fn refill(&mut self, open: &Open<'_>) -> Result<(), Fault> {
        let reader = Metered::new(unpacked(open()?)?, &self.means.budget, u64::MAX);
        let mut tar = Tar::new(reader, self.means.budget.limits().members);
        let mut waiting = self.pending.iter_mut();
        // they wait in the order of the archive
        for Pending { place, passed } in waiting.by_ref() {
            loop {
                let Some(member) = tar.next_member()? else {
                    return Ok(());
                };
                if member.offset == place.offset {
                    break;
                }
            }
            if let Some(end) = leaf::wanted_end(&passed.scanned) {
                leaf::refill(&mut passed.scanned, end, &mut tar.body(), &mut self.buffer)?;
            }
        }
        Ok(())
    }
}
