//! Headers of `METADATA`, `PKG-INFO` and `WHEEL`.
//!
//! Format: the core metadata specification and PEP 427; both are headers as in mail (RFC 822), read
//! as Python's `email` reads them: names in any case, long lines folded, the first of several
//! counts.

use crate::ProblemKind;
use crate::archive::Fault;

/// The headers that are looked at; all others are left aside.
const KEPT: [&str; 6] = [
    "name",
    "version",
    "requires-dist",
    "wheel-version",
    "root-is-purelib",
    "tag",
];

/// Headers that are kept of one file. The longest known lists have some hundreds.
const MOST: usize = 10_000;

/// The headers of a metadata file that matter to a gate: name and version, requirements, and those of `WHEEL`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers {
    fields: Vec<(&'static str, String)>,
}

impl Headers {
    /// Reads headers up to the first empty line. What is no text is replaced, what is no header
    /// ends them.
    ///
    /// # Errors
    ///
    /// More headers than any package has.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let mut fields: Vec<(&'static str, String)> = Vec::new();
        // Whether there was a header, and whether the last one is kept.
        let mut last = None;
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                break;
            }
            let line = String::from_utf8_lossy(line);
            if line.starts_with([' ', '\t']) {
                let Some(kept) = last else {
                    break;
                };
                let Some((_, value)) = fields.last_mut().filter(|_| kept) else {
                    continue;
                };
                let folded = line.trim();
                if !folded.is_empty() {
                    value.push(' ');
                    value.push_str(folded);
                }
                continue;
            }
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            let name = name.trim_end();
            let known = KEPT
                .into_iter()
                .find(|known| name.eq_ignore_ascii_case(known));
            last = Some(known.is_some());
            let Some(known) = known else {
                continue;
            };
            if fields.len() >= MOST {
                return Err(too_many("headers"));
            }
            fields.push((known, value.trim().to_owned()));
        }
        Ok(Self { fields })
    }

    /// All values of a header, whose name is given in lower case.
    pub fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let wanted = self.fields.iter().filter(move |(field, _)| *field == name);
        wanted.map(|(_, value)| value.as_str())
    }

    /// The first value of a header, whose name is given in lower case, unless it is empty.
    pub fn first(&self, name: &str) -> Option<&str> {
        let (_, value) = self.fields.iter().find(|(field, _)| *field == name)?;
        (!value.is_empty()).then_some(value)
    }

    /// The single platform tags of `WHEEL`, in the order that they are stated.
    ///
    /// # Errors
    ///
    /// More tags than any package has.
    pub fn platform_tags(&self) -> Result<impl Iterator<Item = &str>, Fault> {
        let tags = || {
            let sets = self.all("tag").filter_map(|tag| tag.rsplit('-').next());
            sets.flat_map(|set| set.split('.'))
        };
        if tags().nth(MOST).is_some() {
            return Err(too_many("platform tags"));
        }
        Ok(tags())
    }
}

fn too_many(what: &str) -> Fault {
    let detail = format!("more than {MOST} {what}, which no package has");
    Fault::new(ProblemKind::MalformedMetadata, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_headers_as_mail_does() {
        let headers = Headers::parse(
            b"Metadata-Version: 2.1\r\nNAME:  torch \r\nname: other\r\n\
              Requires-Dist: a>=1;\r\n  python_version < '3'\r\n\
              Requires-Dist: b\r\nLicense: x\r\n y\r\nWheel-Version: \r\nTag: a: b\r\n\r\nVersion: 9\r\n",
        )
        .unwrap();
        assert_eq!(headers.first("name"), Some("torch"));
        assert_eq!(headers.first("version"), None, "the body holds no headers");
        assert_eq!(headers.first("wheel-version"), None);
        assert_eq!(headers.first("tag"), Some("a: b"));
        let requires: Vec<_> = headers.all("requires-dist").collect();
        assert_eq!(requires, ["a>=1; python_version < '3'", "b"]);
    }

    #[test]
    fn survives_what_is_no_metadata() {
        for bytes in [
            &b""[..],
            b"\n",
            b" folded\nName: x",
            b"\xff\xfe",
            b"no header\nName: x",
        ] {
            let headers = Headers::parse(bytes).unwrap();
            assert_eq!(headers.first("name"), None, "{bytes:?}");
        }
        for (bytes, name) in [
            ("\u{feff}Name: x".as_bytes(), "x"),
            (b"Name: \xe9", "\u{fffd}"),
        ] {
            assert_eq!(Headers::parse(bytes).unwrap().first("name"), Some(name));
        }
    }

    #[test]
    fn more_headers_or_tags_than_any_package_has_are_a_fault() {
        let others = format!("{}Name: x\n", "a:b\n".repeat(100_000));
        let headers = Headers::parse(others.as_bytes()).unwrap();
        assert_eq!(headers.fields, [("name", "x".to_owned())]);
        let requires = |count| "Requires-Dist: a\n".repeat(count);
        assert!(Headers::parse(requires(10_000).as_bytes()).is_ok());
        let fault = Headers::parse(requires(10_001).as_bytes()).unwrap_err();
        assert_eq!(fault.kind, ProblemKind::MalformedMetadata);
        let tags = |count| {
            let text = format!(
                "Tag: py3-none-{}\nTag: py3-none-any\n",
                vec!["a"; count].join(".")
            );
            Headers::parse(text.as_bytes()).unwrap()
        };
        assert_eq!(tags(9_999).platform_tags().unwrap().count(), 10_000);
        assert!(tags(10_000).platform_tags().is_err());
    }
}
