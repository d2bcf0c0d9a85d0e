//! Names of images: `host[:port]/name[:tag][@digest]`.
//!
//! The grammar is that of the OCI distribution specification and of `docker pull`: the first part is a registry only
//! if it holds a dot or a colon or is `localhost`.

use std::fmt;
use std::str::FromStr;

use oci_spec::image::Digest;

use crate::escape::visible;
use crate::source::oci::docker_hub;
use crate::{Error, ErrorKind};

/// The tag where none is named.
const DEFAULT_TAG: &str = "latest";
/// The longest name of a repository, its registry aside.
const NAME_MAX: usize = 255;
/// The longest tag.
const TAG_MAX: usize = 128;

/// The full name of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl Reference {
    /// The registry: a host in lower case, with its port where one is named.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The repository: `library/ubuntu`.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag; `latest` where neither a tag nor a digest is named.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest of the manifest, which decides where there is a tag too.
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// Another manifest of the same repository, by its digest.
    #[must_use]
    pub fn with_digest(&self, digest: Digest) -> Self {
        Self {
            registry: self.registry.clone(),
            repository: self.repository.clone(),
            tag: None,
            digest: Some(digest),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (named, digest) = match text.split_once('@') {
            None => (text, None),
            Some((named, digest)) => (named, Some(parse_digest(digest)?)),
        };
        let (registry, rest) = match named.split_once('/') {
            Some((first, rest)) if is_registry(first) => (parse_registry(first)?, rest),
            _ => (docker_hub::NAME.to_owned(), named),
        };
        let (path, tag) = match rest.rsplit_once(':') {
            Some((path, tag)) => (path, Some(parse_tag(tag)?)),
            None => (rest, None),
        };
        let mut repository = parse_repository(path)?;
        if registry == docker_hub::NAME && !repository.contains('/') {
            repository = format!("{}/{repository}", docker_hub::OFFICIAL);
        }
        let tag = match (tag, &digest) {
            (None, None) => Some(DEFAULT_TAG.to_owned()),
            (tag, _) => tag,
        };
        Ok(Self {
            registry,
            repository,
            tag,
            digest,
        })
    }
}

fn is_registry(first: &str) -> bool {
    first.contains(['.', ':']) || first.eq_ignore_ascii_case("localhost")
}

fn parse_registry(text: &str) -> Result<String, Error> {
    let wrong = || {
        wrong(
            "registry",
            text,
            "name it as `HOST` or `HOST:PORT`, without `https://`",
        )
    };
    let (host, port) = match text.rsplit_once(':') {
        // the last colon of an IPv6 address is its own
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let good = match host.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')
            .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok()),
        None => host.split('.').all(is_label),
    };
    // as it is written, so that it is printed as it is read: no sign, no leading zero
    let good_port = port.is_none_or(|port| {
        port.parse::<u16>()
            .is_ok_and(|number| number > 0 && number.to_string() == port)
    });
    if !good || !good_port || host.len() > NAME_MAX {
        return Err(wrong());
    }
    let name = text.to_ascii_lowercase();
    if docker_hub::is(&name) {
        return Ok(docker_hub::NAME.to_owned());
    }
    Ok(name)
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn parse_repository(text: &str) -> Result<String, Error> {
    if text.is_empty() {
        return Err(wrong(
            "name",
            text,
            "name the image as `HOST/NAME:TAG` or `HOST/NAME@sha256:…`",
        ));
    }
    let good = text.len() <= NAME_MAX && text.split('/').all(is_component);
    if good {
        return Ok(text.to_owned());
    }
    let hint = if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        format!(
            "names are in lower case: `{}`",
            visible(text).to_lowercase()
        )
    } else {
        "names are lower-case letters and digits, with `.`, `_`, `__` or `-` between them, in parts with `/` between"
            .to_owned()
    };
    Err(wrong("name", text, &hint))
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
fn is_component(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_between = |between: &str| {
        matches!(between, "" | "." | "_" | "__") || between.bytes().all(|byte| byte == b'-')
    };
    let ends_with_words =
        text.bytes().next().is_some_and(is_word) && text.bytes().next_back().is_some_and(is_word);
    ends_with_words
        && text
            .split(|c: char| u8::try_from(c).is_ok_and(is_word))
            .all(is_between)
}

fn parse_tag(text: &str) -> Result<String, Error> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let good = text.len() <= TAG_MAX
        && text.bytes().next().is_some_and(is_word)
        && text
            .bytes()
            .all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'));
    if good {
        return Ok(text.to_owned());
    }
    Err(wrong(
        "tag",
        text,
        "a tag is at most 128 letters, digits, `_`, `.` and `-`, and begins with none of the last two",
    ))
}

fn parse_digest(text: &str) -> Result<Digest, Error> {
    let wrong = || {
        wrong(
            "digest",
            text,
            "a digest is `sha256:` and 64 digits of 0-9 and a-f, as `docker images --digests` shows it",
        )
    };
    let digest: Digest = text.parse().map_err(|_wrong| wrong())?;
    if !super::manifest::can_compute(&digest) {
        return Err(wrong());
    }
    Ok(digest)
}

fn wrong(part: &str, text: &str, hint: &str) -> Error {
    let message = if text.is_empty() {
        format!("the {part} of the image is missing")
    } else {
        format!("`{}` is no {part} of an image", visible(text))
    };
    Error::new(ErrorKind::Usage, message).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn reads_and_prints_full_names() {
        let names = [
            "registry.example/a:1".to_owned(),
            "registry.example:5000/lab/cuda/run__time:12.4-x_Y".to_owned(),
            "127.0.0.1:5000/a:1".to_owned(),
            "localhost/a:1".to_owned(),
            "[::1]:5000/a:1".to_owned(),
            "[::1]/a:1".to_owned(),
            format!("registry.example/a@{DIGEST}"),
            format!("registry.example:5000/a/b--c.d:1@{DIGEST}"),
        ];
        for name in names {
            let reference: Reference = name.parse().unwrap();
            assert_eq!(reference.to_string(), name);
        }
    }

    #[test]
    fn takes_names_apart() {
        let reference: Reference = format!("Registry.Example:5000/a/b:c@{DIGEST}")
            .parse()
            .unwrap();
        assert_eq!(reference.registry(), "registry.example:5000");
        assert_eq!(reference.repository(), "a/b");
        assert_eq!(reference.tag(), Some("c"));
        assert_eq!(reference.digest().map(AsRef::as_ref), Some(DIGEST));
        let untagged: Reference = "registry.example/a/b".parse().unwrap();
        assert_eq!(untagged.tag(), Some("latest"));
        let by_digest: Reference = format!("registry.example/a@{DIGEST}").parse().unwrap();
        assert_eq!(by_digest.tag(), None);
        assert_eq!(
            untagged.with_digest(DIGEST.parse().unwrap()).to_string(),
            format!("registry.example/a/b@{DIGEST}")
        );
    }

    #[test]
    fn says_which_part_is_wrong() {
        let wrongs = [
            ("", "the name of the image is missing"),
            ("registry.example/", "the name of the image is missing"),
            ("registry.example/:1", "the name of the image is missing"),
            (
                "https://registry.example/a",
                "`https:` is no registry of an image",
            ),
            (
                "registry.example:/a",
                "`registry.example:` is no registry of an image",
            ),
            (
                "registry.example:0/a",
                "`registry.example:0` is no registry of an image",
            ),
            (
                "registry.example:99999/a",
                "`registry.example:99999` is no registry of an image",
            ),
            (
                "registry.example:+80/a",
                "`registry.example:+80` is no registry of an image",
            ),
            ("-a.example/a", "`-a.example` is no registry of an image"),
            ("a..example/a", "`a..example` is no registry of an image"),
            (
                "user@registry.example/a",
                "`registry.example/a` is no digest of an image",
            ),
            ("[::1/a", "`[::1` is no registry of an image"),
            ("registry.example/A", "`A` is no name of an image"),
            ("registry.example/a//b", "`a//b` is no name of an image"),
            ("registry.example/../b", "`../b` is no name of an image"),
            ("registry.example/a_-b", "`a_-b` is no name of an image"),
            ("registry.example/a...b", "`a...b` is no name of an image"),
            ("registry.example/a?x", "`a?x` is no name of an image"),
            (
                "registry.example/a\u{1b}[1m",
                "`a\\u{1b}[1m` is no name of an image",
            ),
            ("registry.example/a:", "the tag of the image is missing"),
            ("registry.example/a:-b", "`-b` is no tag of an image"),
            ("registry.example/a:b c", "`b c` is no tag of an image"),
            ("registry.example/a@", "the digest of the image is missing"),
            (
                "registry.example/a@sha256:abc",
                "`sha256:abc` is no digest of an image",
            ),
            (
                "registry.example/a@md5:d41d8cd98f00b204e9800998ecf8427e",
                "`md5:d41d8cd98f00b204e9800998ecf8427e` is no digest of an image",
            ),
        ];
        for (text, message) in wrongs {
            let error = text.parse::<Reference>().unwrap_err();
            assert_eq!(error.to_string(), message, "{text}");
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.hint().is_some(), "{text}");
        }
        let long = format!("registry.example/{}", "a".repeat(256));
        assert!(long.parse::<Reference>().is_err());
        let long = format!("registry.example/a:{}", "a".repeat(129));
        assert!(long.parse::<Reference>().is_err());
    }

    #[test]
    fn names_the_spelling_where_only_the_case_is_wrong() {
        let error = "registry.example/Lab/CUDA"
            .parse::<Reference>()
            .unwrap_err();
        assert_eq!(error.hint(), Some("names are in lower case: `lab/cuda`"));
    }
}
