//! Counting: fatbins and bare images as they are found, collapsed into classes at the end.
//!
//! Sections are known only when the whole file has passed, so every fatbin leaves a small row until then:
//! 23,531 fatbins of one library cost less than a megabyte.

use std::collections::{BTreeMap, BTreeSet};

use super::image::{FatbinClass, ImageKey, ImageTally, Place};
use super::inspect::Resolved;
use super::kernels::Kernels;

/// Fatbins and bare images of one file that are counted at most.
const UNITS_MAX: usize = 1 << 20;
/// Images of one file that are counted at most.
const IMAGES_MAX: usize = 4 << 20;
/// Different sets of images in one file that are told apart: a few dozen in the largest libraries.
const SIGNATURES_MAX: usize = 1 << 15;
/// Different images of one fatbin: a dozen in real ones.
const KEYS_MAX: usize = 1 << 12;
/// Different images over all sets of one file.
const ALL_KEYS_MAX: usize = 1 << 18;
/// Identifiers kept for a class.
pub(super) const NAMES_MAX: usize = 4;
/// Bytes kept of an identifier.
pub(super) const NAME_LEN_MAX: usize = 200;

/// The images of a unit: keys ascending, with how many there are of each.
type Signature = (Flags, Vec<(ImageKey, u64)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Flags {
    bare: bool,
    damaged: bool,
    owner: Option<u16>,
}

/// A fatbin or a bare image, complete.
#[derive(Debug, Default)]
pub(super) struct Unit {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) bare: bool,
    pub(super) damaged: bool,
    /// Whose code it is, where the caller's recogniser knows.
    pub(super) owner: Option<u16>,
    pub(super) images: Images,
    pub(super) names: Vec<String>,
    /// The numbers of its kernels' names, where they were read.
    pub(super) kernels: Option<BTreeSet<u32>>,
}

/// The images of a unit: how many there are of each, and their bytes.
#[derive(Debug, Default)]
pub(super) struct Images(BTreeMap<ImageKey, (u64, u64)>);

impl Images {
    pub(super) fn one(image: &Resolved) -> Self {
        Self(BTreeMap::from([(image.key, (1, image.bytes))]))
    }

    /// Counts an image; refuses where there are too many different ones.
    #[must_use]
    pub(super) fn add(&mut self, image: &Resolved) -> bool {
        if self.0.len() >= KEYS_MAX && !self.0.contains_key(&image.key) {
            return false;
        }
        let (count, bytes) = self.0.entry(image.key).or_default();
        *count += 1;
        *bytes = bytes.saturating_add(image.bytes);
        true
    }
}

/// The number of a signature, the place, whether a device link made it.
type ClassKey = (usize, Place, bool);

#[derive(Debug)]
struct Row {
    start: u64,
    end: u64,
    signature: usize,
    /// Where the bytes of its images begin in `Tally::bytes`, in the order of the signature.
    bytes_at: usize,
    kernels: Option<BTreeSet<u32>>,
}

/// Everything found in one file.
#[derive(Debug, Default)]
pub(super) struct Tally {
    signatures: BTreeMap<Signature, usize>,
    names: Vec<Vec<String>>,
    rows: Vec<Row>,
    bytes: Vec<u64>,
    all_keys: usize,
}

/// There are more fatbins or images than are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

impl Tally {
    pub(super) fn add(&mut self, unit: Unit) -> Result<(), Full> {
        let by_key = unit.images.0;
        if self.rows.len() >= UNITS_MAX || self.bytes.len() + by_key.len() > IMAGES_MAX {
            return Err(Full);
        }
        let flags = Flags {
            bare: unit.bare,
            damaged: unit.damaged,
            owner: unit.owner,
        };
        let signature: Signature = (
            flags,
            by_key
                .iter()
                .map(|(key, (count, _))| (*key, *count))
                .collect(),
        );
        if !self.signatures.contains_key(&signature) {
            if self.signatures.len() >= SIGNATURES_MAX
                || self.all_keys + by_key.len() > ALL_KEYS_MAX
            {
                return Err(Full);
            }
            self.all_keys += by_key.len();
        }
        let bytes_at = self.bytes.len();
        self.bytes.extend(by_key.values().map(|(_, bytes)| *bytes));
        let next = self.signatures.len();
        let signature = *self.signatures.entry(signature).or_insert(next);
        if signature == self.names.len() {
            self.names.push(Vec::new());
        }
        if let Some(names) = self.names.get_mut(signature) {
            for name in unit.names {
                if names.len() < NAMES_MAX && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        self.rows.push(Row {
            start: unit.start,
            end: unit.end,
            signature,
            bytes_at,
            kernels: unit.kernels,
        });
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Start and end of everything found, in file order.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.rows.iter().map(|row| (row.start, row.end))
    }

    /// The classes, by first offset. `place` tells where an offset lies, `linked` whether a device link
    /// made the fatbin at that offset; `kernels` has the names of their kernels.
    pub(super) fn classes(
        &self,
        kernels: &Kernels,
        place: impl Fn(u64) -> Place,
        linked: impl Fn(u64) -> bool,
    ) -> Vec<FatbinClass> {
        let mut signatures: Vec<&Signature> = self.signatures.keys().collect();
        for (signature, index) in &self.signatures {
            if let Some(slot) = signatures.get_mut(*index) {
                *slot = signature;
            }
        }
        let mut classes: BTreeMap<ClassKey, FatbinClass> = BTreeMap::new();
        let mut named: BTreeMap<ClassKey, Option<BTreeSet<u32>>> = BTreeMap::new();
        for row in &self.rows {
            let Some((flags, keys)) = signatures.get(row.signature) else {
                continue;
            };
            let (place, linked) = (place(row.start), linked(row.start));
            let key = (row.signature, place.clone(), linked);
            if kernels.are_asked() {
                let of_class = named
                    .entry(key.clone())
                    .or_insert_with(|| Some(BTreeSet::new()));
                // those of a part would be taken for all of them
                match (of_class.as_mut(), &row.kernels) {
                    (Some(of_class), Some(more)) => of_class.extend(more),
                    _ => *of_class = None,
                }
            }
            let class = classes.entry(key).or_insert_with(|| FatbinClass {
                bare: flags.bare,
                relocatable: place.is_relocatable() || keys.iter().any(|(key, _)| key.relocatable),
                place,
                device_linked: linked,
                damaged: flags.damaged,
                owner: flags.owner,
                images: keys
                    .iter()
                    .map(|&(key, per_fatbin)| ImageTally {
                        key,
                        per_fatbin,
                        bytes: 0,
                    })
                    .collect(),
                count: 0,
                bytes: 0,
                first: row.start,
                names: self.names.get(row.signature).cloned().unwrap_or_default(),
                kernels: None,
            });
            class.count += 1;
            class.bytes = class
                .bytes
                .saturating_add(row.end.saturating_sub(row.start));
            let bytes = self.bytes.get(row.bytes_at..).unwrap_or_default();
            for (image, bytes) in class.images.iter_mut().zip(bytes) {
                image.bytes = image.bytes.saturating_add(*bytes);
            }
        }
        for (key, ids) in named {
            if let (Some(class), Some(ids)) = (classes.get_mut(&key), ids) {
                class.kernels = Some(kernels.named(&ids));
            }
        }
        let mut classes: Vec<FatbinClass> = classes.into_values().collect();
        classes.sort_by_key(|class| class.first);
        classes
    }
}
