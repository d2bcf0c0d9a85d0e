//! The names of the kernels of one file: each held once, within a bound.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::problem::ProblemKind;

use super::cubin::{Cubin, CubinHead, HEAD_LEN, NoNames};
use super::image::ImageKind;
use super::le::c_str;
use super::payload::Piece;
use super::ptx;

/// Bytes of an image that are held for the names of its kernels, where they are asked for. Of a larger cubin the
/// section table is held too: names and symbols come before the code (images of 134 MB in nccl 2.32.3).
pub(super) const NAMED_MAX: u64 = 32 << 20;
/// Largest section table of a cubin outside fatbins, or of a large one, that is read.
pub(super) const SECTION_TABLE_MAX: u64 = 4 << 20;
/// Bytes that a name takes beside its text, about.
const NAME_COST: u64 = 64;
/// Bytes that it takes to say that a fatbin holds it.
const ID_COST: u64 = 16;

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

/// An image of `len` bytes, as far as it is known.
#[derive(Debug)]
pub(super) struct NamedImage<'a> {
    pub(super) kind: ImageKind,
    pub(super) beginning: &'a [u8],
    /// The section table of a cubin, where it is not in the beginning.
    pub(super) table: Option<&'a [u8]>,
    pub(super) len: u64,
}

impl NamedImage<'_> {
    /// The names of its kernels, or why they cannot be read.
    pub(super) fn kernels(&self) -> Result<Vec<String>, (ProblemKind, String)> {
        let is_whole = self.beginning.len() as u64 >= self.len;
        if self.kind.is_ptx() && is_whole {
            let module = c_str(self.beginning, 0).unwrap_or_default();
            return Ok(ptx::kernels(module).map(text).collect());
        }
        let cubin = Cubin::whole(self.beginning)
            .or_else(|| Cubin::split(self.beginning, self.table?))
            .filter(|_| !self.kind.is_ptx());
        let kernels = cubin.map_or(
            Err(NoNames("the section table of the cubin cannot be read")),
            |cubin| cubin.kernels(),
        );
        match kernels {
            Ok(kernels) => Ok(kernels.into_iter().map(text).collect()),
            Err(NoNames(detail)) if is_whole => {
                Err((ProblemKind::MalformedCubin, detail.to_owned()))
            }
            Err(_) => {
                let detail = format!(
                    "the names of the kernels in an image of {} bytes lie beyond the {NAMED_MAX} that are looked at",
                    self.len
                );
                Err((ProblemKind::LimitExceeded, detail))
            }
        }
    }
}

/// The section table of a cubin that is too large to be held.
pub(super) fn table_of_large(beginning: &[u8; HEAD_LEN]) -> Option<Piece> {
    let (at, len) = CubinHead::parse(beginning)?.section_table()?;
    let len = usize::try_from(len.min(SECTION_TABLE_MAX)).ok()?;
    // a nearer one is in what is held
    (at >= NAMED_MAX).then(|| Piece::new(at, len))
}

/// A name as text; what is no UTF-8 in it stays visible.
fn text(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => name.escape_ascii().to_string(),
    }
}
