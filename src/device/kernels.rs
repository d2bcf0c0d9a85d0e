//! The names of the kernels of one file: each held once, within a bound.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Bytes that a name takes beside its text, about.
const NAME_COST: u64 = 64;
/// Bytes that it takes to say that a fatbin holds it.
const ID_COST: u64 = 4;

/// The names of the kernels of one file, where somebody asked for them.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    /// Bytes that they may take; none where nobody asked.
    most: Option<u64>,
    taken: u64,
    ids: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

/// The names take more than they may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full(pub(super) u64);

impl Kernels {
    /// Names that may take `most` bytes.
    pub(super) fn asked(most: u64) -> Self {
        Self {
            most: Some(most),
            ..Self::default()
        }
    }

    /// Whether anybody asked for them.
    pub(super) fn are_asked(&self) -> bool {
        self.most.is_some()
    }

    /// Bytes that they take; more than they may where not all are held.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Adds the `names` of an image to those of its fatbin.
    pub(super) fn add(
        &mut self,
        names: Vec<String>,
        of_fatbin: &mut BTreeSet<u32>,
    ) -> Result<(), Full> {
        let most = self.most.unwrap_or_default();
        for name in names {
            let known = self.ids.get(name.as_str()).copied();
            if known.is_some_and(|id| of_fatbin.contains(&id)) {
                continue;
            }
            let new = if known.is_some() {
                0
            } else {
                NAME_COST + name.len() as u64
            };
            self.taken = self.taken.saturating_add(new + ID_COST);
            if self.taken > most {
                return Err(Full(most));
            }
            let id = known.unwrap_or_else(|| {
                let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
                let name: Arc<str> = name.into();
                self.names.push(Arc::clone(&name));
                self.ids.insert(name, id);
                id
            });
            of_fatbin.insert(id);
        }
        Ok(())
    }

    /// The names with these numbers, ascending.
    pub(super) fn named(&self, ids: &BTreeSet<u32>) -> Vec<Arc<str>> {
        let names = ids.iter().filter_map(|id| {
            let index = usize::try_from(*id).ok()?;
            self.names.get(index).cloned()
        });
        let mut names: Vec<Arc<str>> = names.collect();
        names.sort_unstable();
        names
    }
}

/// A name as text; what is no UTF-8 in it stays visible.
pub(super) fn text(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => name.escape_ascii().to_string(),
    }
}
