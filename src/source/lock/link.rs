//! Addresses of requirements and of conda channels: their parts.
//!
//! They are texts of others and need not be valid: nothing here fails.

use super::address::file_name;
use super::without_secrets;

/// Whether [`without_secrets`] leaves something out.
pub(super) fn has_secret(url: &str) -> bool {
    without_secrets(url) != url
}

/// An address, and what stands behind its `#`.
pub(super) fn split_fragment(url: &str) -> (&str, Option<&str>) {
    match url.split_once('#') {
        Some((url, fragment)) => (url, Some(fragment)),
        None => (url, None),
    }
}

/// The value of a key in a fragment: `egg` of `#egg=name&subdirectory=x`.
pub(super) fn in_fragment<'u>(fragment: Option<&'u str>, key: &str) -> Option<&'u str> {
    let fields = fragment?.split('&').filter_map(|part| part.split_once('='));
    let mut values = fields.filter(|(name, _)| *name == key);
    values.next().map(|(_, value)| value)
}

/// The path that a `file:` address names, decoded; nothing where it is another address or on another machine.
pub(super) fn local_path(url: &str) -> Option<String> {
    let scheme = url.get(..5)?;
    let path = url
        .get(5..)
        .filter(|_| scheme.eq_ignore_ascii_case("file:"))?;
    let path = match path.strip_prefix("//") {
        None => path,
        Some(rest) => {
            let root = rest.find('/')?;
            let (host, path) = rest.split_at(root);
            if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
                return None;
            }
            path
        }
    };
    Some(path.split('/').map(file_name).collect::<Vec<_>>().join("/"))
}

/// Whether a text begins with the scheme of an address: `https:`, `git+ssh:`, `file:`; a drive of Windows is none.
pub(super) fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(word)
}

/// Whether an address is that of a repository of source code: `git+https:`.
pub(super) fn is_vcs(url: &str) -> bool {
    let scheme = url
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    ["git", "hg", "svn", "bzr"].iter().any(|vcs| {
        scheme
            .strip_prefix(vcs)
            .is_some_and(|rest| rest.starts_with('+'))
    })
}

/// Whether a file is called as an archive that Python installers take.
pub(super) fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        ".whl",
        ".zip",
        ".tar",
        ".tar.gz",
        ".tgz",
        ".tar.bz2",
        ".tbz",
        ".tar.xz",
        ".txz",
        ".tlz",
        ".tar.lz",
        ".tar.lzma",
    ]
    .iter()
    .any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_tokens_hold_secrets() {
        assert!(has_secret("https://c.example/t/tk/x"));
        assert!(!has_secret("https://c.example/x#sha256=0"));
    }

    #[test]
    fn addresses_of_files_are_paths() {
        for (url, path) in [
            ("file:///srv/a%2Bb.whl", Some("/srv/a+b.whl")),
            ("file:./x.whl", Some("./x.whl")),
            ("FILE://localhost/x", Some("/x")),
            ("file://server/x", None),
            ("file://", None),
            ("https://a.example", None),
            ("é", None),
        ] {
            assert_eq!(local_path(url).as_deref(), path, "{url}");
        }
    }

    #[test]
    fn schemes_are_told_from_drives_and_names() {
        assert!(has_scheme("https://a") && has_scheme("git+ssh://a") && has_scheme("file:x"));
        assert!(!has_scheme("c:\\x") && !has_scheme("a @ https://b") && !has_scheme("./a:b"));
        assert!(is_vcs("git+https://a") && !is_vcs("git://a") && !is_vcs("gitx+y:"));
        assert!(is_archive("a-1.WHL") && is_archive("a-1.tar.gz") && !is_archive("a.gz"));
    }
}
