//! Addresses: the file that one names, and what of it may be shown.

use std::fmt;

use super::model::LockedFile;
use super::pick::PickedFile;

/// Fields of a query that name code and no user.
const HARMLESS: &[&str] = &[
    "branch",
    "egg",
    "lfs",
    "ref",
    "reference",
    "rev",
    "subdirectory",
    "tag",
];

/// A text with what its addresses hold of users, passwords and tokens left out: what stands before the `@` of a
/// host, and the values of fields behind `?`.
pub fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let end = behind
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>'))
            .unwrap_or(behind.len());
        let (address, after) = behind.split_at_checked(end).unwrap_or((behind, ""));
        push_address(&mut shown, address);
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Adds what stands behind `://`.
fn push_address(shown: &mut String, address: &str) {
    let end = address.find(['/', '?', '#']).unwrap_or(address.len());
    let host = address.get(..end).unwrap_or(address);
    // a password with a slash is no valid address, and a password all the same
    let port = host
        .strip_prefix('[')
        .map_or(host, |v6| v6.rsplit(']').next().unwrap_or_default())
        .rsplit_once(':');
    let is_port = port.is_none_or(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let users = if is_port || host.contains('@') {
        host
    } else {
        address
    };
    let from = users.rfind('@').map_or(0, |at| at + 1);
    let address = address.get(from..).unwrap_or_default();

    let (address, fragment) = split_before(address, '#');
    let (path, query) = split_before(address, '?');
    shown.push_str(path);
    for (i, field) in query.split(['?', '&']).enumerate() {
        match (i, field.split_once('=')) {
            (0, _) => {}
            (_, Some((key, _))) if !HARMLESS.contains(&key) => {
                shown.push(if i == 1 { '?' } else { '&' });
                shown.push_str(key);
                shown.push_str("=…");
            }
            _ => {
                shown.push(if i == 1 { '?' } else { '&' });
                shown.push_str(field);
            }
        }
    }
    shown.push_str(fragment);
}

fn split_before(text: &str, c: char) -> (&str, &str) {
    let at = text.find(c).unwrap_or(text.len());
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// The name of the file that an address or a path names, decoded: `torch-2.9.1+cu130-….whl`. What decodes to no
/// plain name stays as it is.
pub(crate) fn file_name(address: &str) -> String {
    let address = match address.split_once("://") {
        Some((_, behind)) => {
            let (address, _) = split_before(behind, '#');
            split_before(address, '?').0
        }
        None => address,
    };
    let trimmed = address.trim_end_matches(['/', '\\']);
    let last = trimmed.rsplit(['/', '\\']).next().unwrap_or(trimmed);
    decoded(last).unwrap_or_else(|| last.to_owned())
}

/// Whether a path names a package and no directory.
pub(super) fn is_archive(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let ends = [".whl", ".zip", ".tar.gz", ".tar.bz2", ".tgz"];
    ends.iter().any(|end| path.ends_with(end))
}

/// A text without `%XX`; as it is where it would be no text.
pub(crate) fn percent_decoded(text: &str) -> String {
    undone(text).unwrap_or_else(|| text.to_owned())
}

/// A part of a path without `%XX`; nothing where it would be no plain name.
fn decoded(text: &str) -> Option<String> {
    let text = undone(text)?;
    let is_plain = !text.contains(['/', '\\']) && !text.chars().any(char::is_control);
    is_plain.then_some(text)
}

fn undone(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = (*first == b'%').then(|| behind.get(..2)).flatten();
        let byte = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = match byte {
            Some(_) => behind.get(2..).unwrap_or_default(),
            None => behind,
        };
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Debug for LockedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockedFile")
            .field("name", &self.name)
            .field("url", &self.url.as_deref().map(without_secrets))
            .field("hash", &self.hash)
            .field("size", &self.size)
            .field("line", &self.line)
            .finish()
    }
}

impl fmt::Debug for PickedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PickedFile")
            .field("name", &self.name)
            .field("url", &self.url.as_deref().map(without_secrets))
            .field("hash", &self.hash)
            .field("size", &self.size)
            .field("line", &self.line)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_decoded_to_plain_names_only() {
        for (address, name) in [
            (
                "https://w.example/cu130/torch-2.9.1%2Bcu130-cp312-cp312-linux_x86_64.whl#sha256=aa",
                "torch-2.9.1+cu130-cp312-cp312-linux_x86_64.whl",
            ),
            ("https://w.example/a-1.tar.gz?token=b/c.whl", "a-1.tar.gz"),
            ("wheels/a%2B-1.whl", "a+-1.whl"),
            ("C:\\wheels\\a-1.whl", "a-1.whl"),
            ("https://w.example/x/..%2F..%2Fetc", "..%2F..%2Fetc"),
            ("https://w.example/a%00b.whl", "a%00b.whl"),
            ("https://w.example/a%ff%2", "a%ff%2"),
            ("https://w.example/100%", "100%"),
            ("https://w.example/%%2Bé", "%+é"),
        ] {
            assert_eq!(file_name(address), name, "{address}");
        }
    }

    #[test]
    fn secrets_of_addresses_are_left_out() {
        for (text, shown) in [
            (
                "https://me:s3cret@w.example/a@b.whl",
                "https://w.example/a@b.whl",
            ),
            ("https://s3cret@w.example", "https://w.example"),
            (
                "git+ssh://git:s3@w.example:22/a?rev=1&token=s3cret#c0ffee",
                "git+ssh://w.example:22/a?rev=1&token=…#c0ffee",
            ),
            (
                "two: https://a:s3@x.example and `https://b:s3@y.example`",
                "two: https://x.example and `https://y.example`",
            ),
            ("https://me:s3/cret@w.example/a", "https://w.example/a"),
            ("https://a@b:s3@w.example/a", "https://w.example/a"),
            ("http://[::1]:8080/a@b", "http://[::1]:8080/a@b"),
            (
                "https://w.example:443/simple",
                "https://w.example:443/simple",
            ),
            ("a >= 1 @ nothing", "a >= 1 @ nothing"),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }

    #[test]
    fn a_file_shows_its_address_without_secrets() {
        let mut file = LockedFile::new("a-1.whl", 3);
        file.url = Some("https://me:s3cret@w.example/a-1.whl".to_owned());
        let shown = format!("{file:?}");
        assert!(shown.contains("https://w.example/a-1.whl"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
