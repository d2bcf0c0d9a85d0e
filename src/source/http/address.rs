//! Absolute addresses: taken apart, joined, and shown without what may be secret.

use std::fmt;
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::request::{origin, shown};
use crate::source::secret::Secret;

/// A user of an address, with a password where it has one.
pub(crate) type Login = (String, Option<Secret>);

/// An address with `https:`, `http:` or `file:`. It holds no user and no password, but its query may be a signature.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address(Url);

impl Address {
    /// Reads an absolute address, and takes the login out of it. The error says why, and repeats nothing of it.
    pub(crate) fn parse(text: &str) -> Result<(Self, Option<Login>), String> {
        let url = Url::parse(text.trim()).map_err(|error| error.to_string())?;
        let mut address =
            Self::checked(url).ok_or("it begins with none of `https:`, `http:` and `file:`")?;
        let login = address.take_login();
        Ok((address, login))
    }

    /// The address of a file or a directory of this machine; `path` is absolute.
    pub(crate) fn of_path(path: &Path, is_directory: bool) -> Option<Self> {
        let url = if is_directory {
            Url::from_directory_path(path)
        } else {
            Url::from_file_path(path)
        };
        url.ok().map(Self)
    }

    /// What `reference` means on a page at this address, without a login. A page of another machine names no file of
    /// this one.
    pub(crate) fn join(&self, reference: &str) -> Option<Self> {
        let mut joined = Self::checked(self.0.join(reference).ok()?)?;
        if joined.is_file() && !self.is_file() {
            return None;
        }
        joined.take_login();
        Some(joined)
    }

    fn checked(url: Url) -> Option<Self> {
        let known = match url.scheme() {
            "https" | "http" => url.has_host(),
            "file" => true,
            _ => false,
        };
        known.then_some(Self(url))
    }

    fn take_login(&mut self) -> Option<Login> {
        if self.0.username().is_empty() && self.0.password().is_none() {
            return None;
        }
        let user = decoded(self.0.username());
        let password = self.0.password().map(decoded).map(Secret::new);
        // only an address without a host can hold neither, and it came with one
        let _held = self
            .0
            .set_username("")
            .and_then(|()| self.0.set_password(None));
        Some((user, password))
    }

    /// Takes the part behind `#` out of it.
    pub(crate) fn take_fragment(&mut self) -> Option<String> {
        let fragment = self.0.fragment().map(str::to_owned);
        self.0.set_fragment(None);
        fragment
    }

    /// This one with a slash at the end of its path, so that what is joined to it lies below.
    pub(crate) fn as_directory(&self) -> Self {
        let mut url = self.0.clone();
        if !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Self(url)
    }

    /// The whole, for sending.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The whole without the query and the fragment, which may be secret.
    pub(crate) fn shown(&self) -> String {
        shown(&self.0)
    }

    /// Whether it names something on this machine's disk.
    pub(crate) fn is_file(&self) -> bool {
        self.0.scheme() == "file"
    }

    /// The path of a `file:` address.
    pub(crate) fn to_path(&self) -> Option<PathBuf> {
        self.is_file().then(|| self.0.to_file_path().ok())?
    }

    /// The host, an IPv6 address in its brackets.
    pub(crate) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The path, as sent.
    pub(crate) fn path(&self) -> &str {
        self.0.path()
    }

    /// Scheme, host and port: who answers.
    pub(crate) fn origin(&self) -> String {
        let (scheme, host, port) = origin(&self.0);
        format!(
            "{scheme}://{}:{}",
            host.unwrap_or_default(),
            port.unwrap_or_default()
        )
    }

    /// The last part of the path, decoded.
    pub(crate) fn file_name(&self) -> String {
        let path = self.0.path();
        decoded(path.rsplit('/').next().unwrap_or(path))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown()).finish()
    }
}

/// Text with `%2B` read as `+`; what is no such sequence stays.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        let (byte, taken) = digits.map_or((first, 1), |(high, low)| (high << 4 | low, 3));
        bytes.push(byte);
        rest = rest.get(taken..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap().0
    }

    #[test]
    fn a_login_is_taken_out_and_decoded() {
        let (found, login) =
            Address::parse("https://us%40er:p%3Aw@index.example:8443/simple?t=1").unwrap();
        assert_eq!(found.as_str(), "https://index.example:8443/simple?t=1");
        assert_eq!(found.shown(), "https://index.example:8443/simple");
        assert_eq!(found.origin(), "https://index.example:8443");
        assert_eq!(login, Some(("us@er".to_owned(), Some(Secret::new("p:w")))));
        assert_eq!(
            Address::parse("https://token@index.example/").unwrap().1,
            Some(("token".to_owned(), None))
        );
        assert_eq!(Address::parse("https://index.example/").unwrap().1, None);
    }

    #[test]
    fn an_address_of_another_kind_is_none() {
        for text in [
            "ftp://index.example/",
            "simple",
            "mailto:a@index.example",
            "",
            "https://",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn references_are_those_of_a_page() {
        let page = address("https://index.example/simple/torch/");
        let joined = |reference| page.join(reference).map(|found| found.as_str().to_owned());
        assert_eq!(
            joined("../../f/a%2Bb.whl"),
            Some("https://index.example/f/a%2Bb.whl".to_owned())
        );
        assert_eq!(
            joined("/f/a.whl"),
            Some("https://index.example/f/a.whl".to_owned())
        );
        assert_eq!(
            joined("//cdn.example/a.whl"),
            Some("https://cdn.example/a.whl".to_owned())
        );
        assert_eq!(
            joined("https://u:p@cdn.example/a.whl"),
            Some("https://cdn.example/a.whl".to_owned())
        );
        assert_eq!(joined("file:///etc/passwd"), None);
        assert_eq!(joined("javascript:0"), None);
        assert_eq!(
            address("https://index.example/f/a%2Bb.whl").file_name(),
            "a+b.whl"
        );
    }

    #[test]
    fn only_sequences_of_two_digits_are_decoded() {
        assert_eq!(decoded("a%2bb%2"), "a+b%2");
        assert_eq!(decoded("%zz%C3%BC%"), "%zz\u{fc}%");
    }
}
