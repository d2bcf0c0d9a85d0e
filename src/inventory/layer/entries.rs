//! The members of a layer as changes to a file system: files, links, and what they take away.
//!
//! Format: the OCI image specification, "Image Layer Filesystem Changeset" (`layer.md`): whiteouts and opaque
//! whiteouts. Names of members are cleaned as runtimes do: they stay below the root, whatever they say.

use crate::archive::{TarKind, TarMember};

/// Bytes of the longest path that Linux takes.
pub(in crate::inventory) const PATH_MAX: usize = 4096;

/// A change that a layer makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::inventory) struct Entry {
    /// The path below the root, cleaned: no slash in front, no `.` and no `..`.
    pub(in crate::inventory) path: Box<[u8]>,
    pub(in crate::inventory) kind: EntryKind,
}

/// What stands, or no longer stands, at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::inventory) enum EntryKind {
    File,
    Dir,
    /// To this target, as written.
    Symlink(Box<[u8]>),
    /// Another name of the file at this path, cleaned.
    HardLink(Box<[u8]>),
    /// Nothing any more.
    Whiteout,
    /// A directory that begins empty.
    Opaque,
    /// A device or a pipe.
    Special,
}

impl Entry {
    /// Bytes that it holds.
    pub(super) fn held_bytes(&self) -> usize {
        let target = match &self.kind {
            EntryKind::Symlink(target) | EntryKind::HardLink(target) => target.len(),
            _ => 0,
        };
        size_of::<Self>() + self.path.len() + target
    }

    /// The change that a member of a layer's archive makes; nothing for what AUFS keeps for itself.
    ///
    /// # Errors
    ///
    /// A path that no file system takes.
    pub(in crate::inventory) fn of(member: &TarMember) -> Result<Option<Self>, &'static str> {
        let path = clean(&member.name).ok_or(NUL)?;
        if path.len() > PATH_MAX {
            return Err("its path is longer than a file system takes");
        }
        let (parent, name) = split_last(&path);
        if name == b".wh..wh..opq" {
            return Ok(Some(Self {
                path: parent.into(),
                kind: EntryKind::Opaque,
            }));
        }
        if name.starts_with(b".wh..wh.") {
            return Ok(None);
        }
        if let Some(gone) = name.strip_prefix(b".wh.").filter(|gone| !gone.is_empty()) {
            if matches!(gone, b"." | b"..") {
                return Err("a whiteout of no name, which runtimes refuse");
            }
            let path = [parent, gone].join(&b'/');
            return Ok(Some(Self {
                path: clean(&path).ok_or(NUL)?.into(),
                kind: EntryKind::Whiteout,
            }));
        }
        let kind = match &member.kind {
            TarKind::File | TarKind::Unsupported => EntryKind::File,
            TarKind::Dir => EntryKind::Dir,
            TarKind::Symlink(target) => EntryKind::Symlink(without_dots(target).into()),
            TarKind::HardLink(target) => EntryKind::HardLink(clean(target).ok_or(NUL)?.into()),
            TarKind::Special => EntryKind::Special,
        };
        Ok(Some(Self {
            path: path.into(),
            kind,
        }))
    }
}

/// The target of a link without what says nothing.
fn without_dots(target: &[u8]) -> Vec<u8> {
    let parts = target.split(|byte| *byte == b'/');
    let parts: Vec<&[u8]> = parts.filter(|part| !matches!(*part, b"" | b".")).collect();
    let path = parts.join(&b'/');
    if target.starts_with(b"/") {
        [b"/", path.as_slice()].concat()
    } else {
        path
    }
}

const NUL: &str = "its path has a zero byte";

/// The directory of a path, and the name in it.
pub(in crate::inventory) fn split_last(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (
            path.get(..at).unwrap_or_default(),
            path.get(at + 1..).unwrap_or_default(),
        ),
        None => (b"", path),
    }
}

/// A path without what says nothing, from the root: `..` goes up, but not above it.
pub(in crate::inventory) fn clean(path: &[u8]) -> Option<Vec<u8>> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part if part.contains(&0) => return None,
            part => parts.push(part),
        }
    }
    Some(parts.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, kind: TarKind) -> Result<Option<Entry>, &'static str> {
        let member = TarMember {
            name: name.into(),
            kind,
            size: 0,
            offset: 0,
            doubt: None,
        };
        Entry::of(&member)
    }

    fn entry(name: &str, kind: TarKind) -> Option<(String, EntryKind)> {
        let Entry { path, kind } = of(name, kind).unwrap()?;
        Some((String::from_utf8(path.into()).unwrap(), kind))
    }

    #[test]
    fn names_stay_below_the_root() {
        for (name, path) in [
            ("./a/b", "a/b"),
            ("/a//b/", "a/b"),
            ("../../a", "a"),
            ("a/./b/../c", "a/c"),
            ("./", ""),
        ] {
            let entry = entry(name, TarKind::File);
            assert_eq!(entry, Some((path.to_owned(), EntryKind::File)), "{name}");
        }
        assert!(of(&"a/".repeat(3000), TarKind::Dir).is_err());
        assert!(of("a\0b", TarKind::File).is_err());
        assert!(of("a/.wh..", TarKind::File).is_err());
        assert!(of("a/.wh...", TarKind::File).is_err());
    }

    #[test]
    fn whiteouts_are_told_from_files() {
        for (name, expected) in [
            ("a/.wh.b", Some(("a/b", EntryKind::Whiteout))),
            (".wh.b", Some(("b", EntryKind::Whiteout))),
            ("a/.wh..wh..opq", Some(("a", EntryKind::Opaque))),
            (".wh..wh..opq", Some(("", EntryKind::Opaque))),
            ("a/.wh..wh.plnk", None),
            ("a/.wh.", Some(("a/.wh.", EntryKind::File))),
            ("a/x.wh.b", Some(("a/x.wh.b", EntryKind::File))),
        ] {
            let expected = expected.map(|(path, kind)| (path.to_owned(), kind));
            assert_eq!(entry(name, TarKind::File), expected, "{name}");
        }
        let link = entry("c", TarKind::HardLink(b"/x/../lib/a.so".to_vec()));
        assert_eq!(
            link,
            Some(("c".to_owned(), EntryKind::HardLink(b"lib/a.so"[..].into())))
        );
    }
}
