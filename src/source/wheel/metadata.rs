//! Headers of `METADATA`, `PKG-INFO` and `WHEEL`.
//!
//! Format: the core metadata specification and PEP 427; both are headers as in mail (RFC 822), read
//! as Python's `email` reads them: names in any case, long lines folded, the first of several
//! counts.

/// The headers of a metadata file, without its body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers {
    fields: Vec<(String, String)>,
}

impl Headers {
    /// Reads headers up to the first empty line. What is no text is replaced, what is no header
    /// ends them.
    pub fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in text.trim_start_matches('\u{feff}').lines() {
            if line.is_empty() {
                break;
            }
            if line.starts_with([' ', '\t']) {
                let Some((_, value)) = fields.last_mut() else {
                    break;
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
            fields.push((
                name.trim_end().to_ascii_lowercase(),
                value.trim().to_owned(),
            ));
        }
        Self { fields }
    }

    /// All values of a header, whose name is given in lower case.
    pub fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let wanted = self.fields.iter().filter(move |(field, _)| field == name);
        wanted.map(|(_, value)| value.as_str())
    }

    /// The first value of a header, whose name is given in lower case, unless it is empty.
    pub fn first(&self, name: &str) -> Option<&str> {
        let (_, value) = self.fields.iter().find(|(field, _)| field == name)?;
        (!value.is_empty()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_headers_as_mail_does() {
        let headers = Headers::parse(
            b"Metadata-Version: 2.1\r\nNAME:  torch \r\nname: other\r\n\
              Requires-Dist: a>=1;\r\n  python_version < '3'\r\n\
              Requires-Dist: b\r\nLicense: \r\nKeywords: a: b\r\n\r\nVersion: 9\r\n",
        );
        assert_eq!(headers.first("name"), Some("torch"));
        assert_eq!(headers.first("version"), None, "the body holds no headers");
        assert_eq!(headers.first("license"), None);
        assert_eq!(headers.first("keywords"), Some("a: b"));
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
            assert_eq!(Headers::parse(bytes).first("name"), None, "{bytes:?}");
        }
        assert_eq!(
            Headers::parse("\u{feff}Name: x".as_bytes()).first("name"),
            Some("x")
        );
        assert_eq!(
            Headers::parse(b"Name: \xe9").first("name"),
            Some("\u{fffd}")
        );
    }
}
