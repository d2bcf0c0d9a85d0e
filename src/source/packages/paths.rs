//! Names of files in a tree: bytes with `/` between their parts, below the root.

/// Linux opens no longer path, and no list needs one. Joining long directories to many names would take hours.
const LONGEST: usize = 4096;

/// How a list writes paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Below the base.
    Plain,
    /// Also beside and above it (`../../bin/x`); old tools on Windows wrote backslashes.
    Python,
}

/// A name below a directory; the root has no name.
pub(in crate::source) fn join(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    if prefix.is_empty() {
        return name.to_owned();
    }
    [prefix, name].join(&b'/')
}

/// The directory and the last part of a name.
pub(super) fn split_last(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().rposition(|byte| *byte == b'/') {
        Some(at) => {
            let (parent, rest) = name.split_at(at);
            (parent, rest.strip_prefix(b"/").unwrap_or(rest))
        }
        None => (b"", name),
    }
}

/// The directory that `name` is `suffix` in: `chroot` of `chroot/var/lib/dpkg/status`.
pub(super) fn base_of<'n>(name: &'n [u8], suffix: &[u8]) -> Option<&'n [u8]> {
    let base = name.strip_suffix(suffix)?;
    if base.is_empty() {
        return Some(base);
    }
    base.strip_suffix(b"/")
}

pub(super) fn depth(base: &[u8]) -> usize {
    base.split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .count()
}

/// A listed path as the name of a file in the tree; nothing for one that leads out of it.
pub(super) fn resolve(base: &[u8], path: &[u8], style: Style) -> Option<Vec<u8>> {
    if path.len().saturating_add(base.len()) > LONGEST {
        return None;
    }
    let python = style == Style::Python;
    let absolute = path.starts_with(b"/") || (python && matches!(path, [_, b':', ..]));
    let mut parts: Vec<_> = base
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in path.split(|byte| *byte == b'/' || (python && *byte == b'\\')) {
        match part {
            b"" | b"." => {}
            b".." if !python => return None,
            b".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!absolute).then(|| parts.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_listed_paths_inside_the_tree() {
        let base: &[u8] = b"lib/python3.12/site-packages";
        for (path, expected) in [
            (
                &b"a/b.so"[..],
                Some(&b"lib/python3.12/site-packages/a/b.so"[..]),
            ),
            (b"../../../bin/tool", Some(b"bin/tool")),
            (b"./a//b.so", Some(b"lib/python3.12/site-packages/a/b.so")),
            (b"a\\b.dll", Some(b"lib/python3.12/site-packages/a/b.dll")),
            (b"../../../../etc/passwd", None),
            (b"/etc/passwd", None),
            (b"C:\\x.dll", None),
        ] {
            assert_eq!(resolve(base, path, Style::Python).as_deref(), expected);
        }
        assert_eq!(resolve(b"", b"a.so", Style::Python).unwrap(), b"a.so");
        let kept = resolve(b"", b"system-\\x2d.so", Style::Plain);
        assert_eq!(kept.unwrap(), b"system-\\x2d.so");
        assert_eq!(resolve(base, b"../x.so", Style::Plain), None);
        assert_eq!(resolve(base, &[b'a'; 5000], Style::Plain), None);
    }

    #[test]
    fn the_base_of_a_name_is_a_whole_directory() {
        let suffix = b"var/lib/dpkg/status";
        assert_eq!(base_of(b"var/lib/dpkg/status", suffix), Some(&b""[..]));
        assert_eq!(
            base_of(b"a/b/var/lib/dpkg/status", suffix),
            Some(&b"a/b"[..])
        );
        assert_eq!(base_of(b"xvar/lib/dpkg/status", suffix), None);
    }
}
