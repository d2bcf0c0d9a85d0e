//! Pages of the simple API as JSON: PEP 691, with the fields of PEP 592, 700 and 714.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::error::IndexError;
use super::file::{IndexFile, best_hash};
use super::{FILES_MAX, Page};
use crate::source::http::{Address, bounded};

/// What the text of an error begins with where a list is too long.
const TOO_MANY: &str = "too many entries";

#[derive(Deserialize)]
struct Document<'p> {
    #[serde(borrow)]
    meta: Meta<'p>,
    files: Capped<File>,
    #[serde(default)]
    versions: Option<Capped<String>>,
}

#[derive(Deserialize)]
struct Meta<'p> {
    #[serde(rename = "api-version", borrow)]
    api_version: Cow<'p, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct File {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
    #[serde(default)]
    size: Option<u64>,
    #[serde(default)]
    requires_python: Option<String>,
    #[serde(default)]
    yanked: Yanked,
    #[serde(default)]
    upload_time: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Yanked {
    Flag(bool),
    Reason(String),
    Nothing(()),
}

impl Default for Yanked {
    fn default() -> Self {
        Self::Flag(false)
    }
}

/// A list of at most [`FILES_MAX`] entries.
struct Capped<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Capped<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Capped<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Capped<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(next) = seq.next_element()? {
                    if all.len() == FILES_MAX {
                        return Err(A::Error::custom(TOO_MANY));
                    }
                    all.push(next);
                }
                Ok(Capped(all))
            }
        }

        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

/// Reads the page `bytes`, which came from `at`.
///
/// # Errors
///
/// What is no such page, one of a version that is not known, and a file without a usable address.
pub(super) fn parse(bytes: &[u8], at: &Address) -> Result<Page, IndexError> {
    let wrong = |why: &str| IndexError::wrong_page(&at.shown(), why);
    let document: Document<'_> = serde_json::from_slice(bytes).map_err(|error| {
        if error.to_string().starts_with(TOO_MANY) {
            return IndexError::too_large(&at.shown(), &format!("{FILES_MAX} files"));
        }
        // the text of the error would repeat what the server says
        let (line, column) = (error.line(), error.column());
        wrong(&format!(
            "sent JSON that is no page of an index: line {line} column {column}"
        ))
    })?;
    let version = document.meta.api_version;
    if version.split('.').next() != Some("1") {
        let version = bounded(&version, 40);
        return Err(wrong(&format!(
            "has version `{version}` of the simple API, and 1 is known"
        )));
    }
    let read = |file: File| {
        let Some(mut url) = at.join(&file.url) else {
            let name = bounded(&file.filename, 100);
            return Err(wrong(&format!("gives no usable address for `{name}`")));
        };
        let _hash_or_nothing = url.take_fragment();
        let hashes = file.hashes.iter();
        Ok(IndexFile {
            hash: best_hash(hashes.map(|(name, hex)| (name.as_str(), hex.as_str()))),
            size: file.size,
            requires_python: file.requires_python,
            yanked: match file.yanked {
                Yanked::Flag(false) | Yanked::Nothing(()) => None,
                Yanked::Flag(true) => Some(String::new()),
                Yanked::Reason(reason) => Some(reason),
            },
            upload_time: file.upload_time,
            ..IndexFile::new(file.filename, &url)
        })
    };
    let files: Result<Vec<_>, _> = document.files.0.into_iter().map(read).collect();
    Ok(Page {
        files: files?,
        versions: document.versions.map(|versions| versions.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(json: &str) -> Result<Page, IndexError> {
        let at = Address::parse("https://index.example/simple/torch/")
            .unwrap()
            .0;
        parse(json.as_bytes(), &at)
    }

    #[test]
    fn every_field_is_read() {
        let page = page(r#"{"meta":{"api-version":"1.4","_last-serial":7},"name":"torch","versions":["2.9.1","2.8.0"],
            "files":[
              {"filename":"torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl","url":"https://files.example/a%2Bb.whl#x",
               "hashes":{"sha256":"AB01","md5":"00"},"size":899700000,"requires-python":">=3.10","yanked":false,
               "upload-time":"2025-11-12T15:20:41.000000Z","core-metadata":{"sha256":"00"},"provenance":null},
              {"filename":"torch-2.8.0.tar.gz","url":"../../t.tar.gz","hashes":{},"requires-python":null,"yanked":"broken"},
              {"filename":"torch-2.7.0.tar.gz","url":"/t7.tar.gz","hashes":{},"yanked":true}]}"#).unwrap();
        assert_eq!(
            page.versions,
            Some(vec!["2.9.1".to_owned(), "2.8.0".to_owned()])
        );
        let [first, second, third] = page.files.as_slice() else {
            panic!("{page:?}")
        };
        assert_eq!(
            first.name,
            "torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl"
        );
        assert_eq!(first.url, "https://files.example/a%2Bb.whl");
        assert_eq!(first.hash.as_ref().unwrap().to_string(), "sha256:ab01");
        assert_eq!(first.size, Some(899_700_000));
        assert_eq!(first.requires_python.as_deref(), Some(">=3.10"));
        assert_eq!(
            (first.yanked.as_deref(), first.upload_time.as_deref()),
            (None, Some("2025-11-12T15:20:41.000000Z"))
        );
        assert_eq!(second.url, "https://index.example/t.tar.gz");
        assert_eq!(
            (second.yanked.as_deref(), &second.hash, second.size),
            (Some("broken"), &None, None)
        );
        assert_eq!(
            (third.url.as_str(), third.yanked.as_deref()),
            ("https://index.example/t7.tar.gz", Some(""))
        );
    }

    #[test]
    fn what_is_no_page_is_told_without_its_text() {
        for (json, says) in [
            ("{", "line 1 column 1"),
            (r#"{"meta":{"api-version":"1.0"}}"#, "line 1 column 30"),
            (
                r#"{"meta":{"api-version":"2.0"},"files":[]}"#,
                "has version `2.0` of the simple API",
            ),
            (
                r#"{"meta":{"api-version":"1.0"},"files":[{"filename":"a.whl","url":"ftp://s3cret/"}]}"#,
                "no usable address for `a.whl`",
            ),
            (
                r#"{"meta":{"api-version":"1.0"},"files":[{"filename":"a.whl","url":"file:///etc/s3cret"}]}"#,
                "no usable address",
            ),
        ] {
            let error = page(json).unwrap_err();
            assert_eq!(error.kind, crate::source::index::IndexErrorKind::WrongPage);
            assert!(
                error.message.contains(says) && !error.message.contains("s3cret"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_list_without_end_is_refused() {
        let mut json = r#"{"meta":{"api-version":"1.0"},"files":["#.to_owned();
        for _ in 0..=FILES_MAX {
            json.push_str(r#"{"filename":"a","url":"b"},"#);
        }
        json.push_str(r#"{"filename":"a","url":"b"}]}"#);
        let error = page(&json).unwrap_err();
        assert_eq!(error.kind, crate::source::index::IndexErrorKind::TooLarge);
    }
}
