//! Addresses as lock files write them: without their secrets, and the file that they name.
//!
//! They are texts of others and need not be valid: nothing here fails. Format: RFC 3986; `/t/TOKEN/` in a path is
//! how conda writes a token.

use std::borrow::Cow;

/// An address without user, password, token, query and fragment, which may be or hold secrets.
pub(super) fn shown(url: &str) -> String {
    let (url, _) = split_fragment(url);
    let url = url.split('?').next().unwrap_or_default();
    let (scheme, rest) = match url.find("://") {
        Some(at) => url.split_at(at + 3),
        None => ("", url),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = match authority.rfind('@') {
        // `name@file:` without a scheme of its own is a requirement, `user:password@host` is none
        Some(at) if !scheme.is_empty() || authority.get(..at).is_some_and(|u| u.contains(':')) => {
            authority.get(at + 1..).unwrap_or_default()
        }
        _ => authority,
    };
    format!("{scheme}{host}{}", without_token(path))
}

/// Whether [`shown`] leaves out a user, a password, a token or a query.
pub(super) fn has_secret(url: &str) -> bool {
    let (bare, _) = split_fragment(url);
    shown(url) != bare
}

/// A text with every address in it as [`shown`].
pub(super) fn shown_in(text: &str) -> String {
    let is_address =
        |word: &str| word.contains("://") || (word.contains('@') && word.contains(':'));
    if !is_address(text) {
        return text.to_owned();
    }
    let words = text.split_inclusive(char::is_whitespace).map(|word| {
        let bare = word.trim_end();
        let space = word.get(bare.len()..).unwrap_or_default();
        // `--option=https://`, `name@https://`: the address begins behind what a scheme cannot hold
        let scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let start = bare.find("://").and_then(|colon| {
            let (before, _) = bare.split_at(colon);
            before.rfind(|c| !scheme(c))
        });
        let start = start.map_or(0, |at| at + bare.get(at..).map_or(1, first_len));
        let (before, address) = bare.split_at(start.min(bare.len()));
        if is_address(address) {
            format!("{before}{}{space}", shown(address))
        } else {
            word.to_owned()
        }
    });
    words.collect()
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
    fragment?
        .split('&')
        .filter_map(|part| part.split_once('='))
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value)
}

/// The last part of the path of an address, or of a path, decoded. Empty where it ends in a slash.
pub(super) fn file_name(url: &str) -> String {
    let (url, _) = split_fragment(url);
    let url = url.split('?').next().unwrap_or_default();
    let last = url.rsplit(['/', '\\']).next().unwrap_or_default();
    let decoded = decode(last);
    // what decodes to several parts is no name
    if decoded.contains(['/', '\\', '\0']) {
        last.to_owned()
    } else {
        decoded.into_owned()
    }
}

/// What is left of an address without its last part: `https://host/channel/linux-64`.
pub(super) fn parent(url: &str) -> Option<&str> {
    url.rsplit_once('/').map(|(parent, _)| parent)
}

/// A text without percent encoding. What does not decode to text stays as it is.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (byte == b'%').then(|| (ahead.next(), ahead.next()));
        let value = digits.and_then(|(high, low)| {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            u8::try_from(digit(high)? * 16 + digit(low)?).ok()
        });
        if value.is_some() {
            rest = ahead;
        }
        bytes.push(value.unwrap_or(byte));
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}

/// A path without the token of a conda channel.
fn without_token(path: &str) -> String {
    let mut shown = Vec::new();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        shown.push(part);
        if part == "t" && shown.len() == 2 && parts.next_if(|token| !token.is_empty()).is_some() {
            shown.push("…");
        }
    }
    shown.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        for (url, expected) in [
            ("https://a.example/simple", "https://a.example/simple"),
            ("https://u:p@a.example:8/s/", "https://a.example:8/s/"),
            ("https://u:p@x@a.example", "https://a.example"),
            ("https://tok@a.example/s?k=v#f", "https://a.example/s"),
            (
                "https://a.example/t/tk-1/main/noarch/",
                "https://a.example/t/…/main/noarch/",
            ),
            ("https://a.example/x/t/y", "https://a.example/x/t/y"),
            (
                "git+ssh://git@a.example/x@main",
                "git+ssh://a.example/x@main",
            ),
            ("u:p@a.example/simple", "a.example/simple"),
            ("./dir/x.whl", "./dir/x.whl"),
            ("https://u:p@", "https://"),
            ("://@@/t/", ":///t/"),
        ] {
            assert_eq!(shown(url), expected, "{url}");
        }
        assert!(has_secret("https://u:p@a.example/s") && has_secret("https://a.example/s?k"));
        assert!(!has_secret("https://a.example/s#x"));
    }

    #[test]
    fn secrets_inside_a_text_are_not_shown() {
        for (text, expected) in [
            ("torch>=2 ; os_name == 'nt'", "torch>=2 ; os_name == 'nt'"),
            (
                "a @ https://u:p@b.example/a.whl#sha256=0 ; x",
                "a @ https://b.example/a.whl ; x",
            ),
            ("a@https://u:p@b.example/a", "a@https://b.example/a"),
            (
                "--index-url=https://u:p@b.example/",
                "--index-url=https://b.example/",
            ),
            ("é\u{a0}https://u@b.example", "é\u{a0}https://b.example"),
            ("-i u:p@b.example", "-i b.example"),
        ] {
            assert_eq!(shown_in(text), expected, "{text}");
        }
    }

    #[test]
    fn the_file_is_the_last_part_decoded() {
        assert_eq!(
            file_name("https://a.example/w/t-2%2Bcu1-x.whl?q/r#h/i"),
            "t-2+cu1-x.whl"
        );
        assert_eq!(file_name(r"..\wheels\a.whl"), "a.whl");
        assert_eq!(file_name("https://a.example/..%2Fx"), "..%2Fx");
        assert_eq!(file_name("https://a.example/%zz%ff%"), "%zz%ff%");
        assert_eq!(file_name("https://a.example/"), "");
        assert_eq!(in_fragment(Some("egg=a&sha256=0"), "sha256"), Some("0"));
    }
}
