//! Addresses: the file that one names, shown without secrets.

use std::fmt;

use super::model::LockedFile;
use super::pick::PickedFile;
use crate::source::hide::without_secrets;

fn split_before(text: &str, c: char) -> (&str, &str) {
    let at = text.find(c).unwrap_or(text.len());
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// The name of the file that an address or a path names, decoded: `torch-2.9.1+cu130-….whl`. What decodes to no
/// plain name stays as it is.
pub(crate) fn file_name(address: &str) -> String {
    // a password with a slash would be taken for a name
    let bare = address.contains("://").then(|| without_secrets(address));
    let bare = bare.as_deref().and_then(|bare| bare.split_once("://"));
    let address = match bare {
        Some((_, behind)) => split_before(split_before(behind, '#').0, '?').0,
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
    fn a_file_shows_its_address_without_secrets() {
        let mut file = LockedFile::new("a-1.whl", 3);
        file.url = Some("https://me:s3cret@w.example/a-1.whl".to_owned());
        let shown = format!("{file:?}");
        assert!(shown.contains("https://w.example/a-1.whl"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
