//! The members of an archive by their paths, with its links.

use std::collections::BTreeMap;

use super::files::{inside, link_target};
use crate::ProblemKind;
use crate::archive::{Fault, TarKind};

/// Links that are followed in a row.
const LINKS_MAX: usize = 8;

/// Members by path, `T` being what is known of a file.
#[derive(Debug)]
pub(super) struct Members<T> {
    entries: BTreeMap<String, Entry<T>>,
}

#[derive(Debug)]
enum Entry<T> {
    File(T),
    /// The path of the member that it is a link to; nothing where that is outside of the archive.
    Link(Option<String>),
    /// Several different members have this path.
    Doubled,
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
        }
    }
}

impl<T> Members<T> {
    /// Adds a file. A second one of its name makes the name useless, unless `same` finds no difference.
    pub(super) fn add_file(&mut self, name: &[u8], file: T, same: impl Fn(&T, &T) -> bool) {
        let Some(path) = inside(name) else {
            return;
        };
        self.add(path, Entry::File(file), |before, new| match (before, new) {
            (Entry::File(before), Entry::File(new)) => same(before, new),
            _ => false,
        });
    }

    /// Adds a member that is a link; one that is none is passed over.
    pub(super) fn add_link(&mut self, name: &[u8], kind: &TarKind) {
        let Some(path) = inside(name) else {
            return;
        };
        let target = match kind {
            TarKind::Symlink(target) => link_target(&path, target),
            TarKind::HardLink(target) => inside(target),
            _ => return,
        };
        self.add(path, Entry::Link(target), |before, new| {
            match (before, new) {
                (Entry::Link(before), Entry::Link(new)) => before == new,
                _ => false,
            }
        });
    }

    fn add(&mut self, path: String, new: Entry<T>, same: impl Fn(&Entry<T>, &Entry<T>) -> bool) {
        let before = self.entries.get(&path);
        let entry = match before {
            Some(before) if !same(before, &new) => Entry::Doubled,
            _ => new,
        };
        self.entries.insert(path, entry);
    }

    /// The file at a path, behind links too.
    ///
    /// # Errors
    ///
    /// A path that several members have, a link that leads nowhere.
    pub(super) fn get(&self, path: &str) -> Result<Option<&T>, Fault> {
        let Some(mut path) = inside(path.as_bytes()) else {
            return Ok(None);
        };
        for _ in 0..=LINKS_MAX {
            match self.entries.get(&path) {
                None => return Ok(None),
                Some(Entry::File(file)) => return Ok(Some(file)),
                Some(Entry::Link(Some(target))) => path.clone_from(target),
                Some(Entry::Link(None)) => {
                    let detail = format!("`{path}` is a link out of the archive");
                    return Err(Fault::new(ProblemKind::NotFollowed, detail));
                }
                Some(Entry::Doubled) => {
                    let detail = format!("several members are called `{path}`, and they differ");
                    return Err(Fault::new(ProblemKind::DuplicateMember, detail));
                }
            }
        }
        let detail = format!("more than {LINKS_MAX} links in a row");
        Err(Fault::new(ProblemKind::NotFollowed, detail))
    }

    /// The paths, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}
