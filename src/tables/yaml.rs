//! Reading table files: the only place of this layer that names the YAML crate.
//!
//! Knows no table. Every file is strict: an unknown or repeated key is an error, so that a misspelt
//! optional field cannot turn a fact into an unknown.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

pub(super) use serde_saphyr::{Location, Spanned};

use crate::error::{Error, ErrorKind};

/// Parses the table file `name`.
pub(super) fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Error> {
    serde_saphyr::from_str(text).map_err(|source| invalid(name, source))
}

/// Parses a file of the user's; the error is one line that says where it is.
pub(super) fn parse_placed<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_saphyr::from_str(text).map_err(|error| error.without_snippet().to_string())
}

/// An error about the table file `name`.
pub(super) fn invalid(name: &str, detail: impl Display) -> Error {
    Error::new(ErrorKind::Data, format!("table `{name}`: {detail}"))
}

/// Reads a list whose items hold no blanks, written with blanks between them.
///
/// A sequence costs the parser several events an item: with sequences, `gpus.yaml` took twice the time.
pub(super) fn words<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = String::deserialize(deserializer)?;
    let items = text.split_whitespace().map(str::parse);
    items
        .collect::<Result<_, T::Err>>()
        .map_err(D::Error::custom)
}

/// The `sources` of a file: short keys that rows use, and what they stand for.
pub(super) type Sources = BTreeMap<String, String>;

/// Replaces the key in `source` by what it stands for; a text with blanks stands for itself.
pub(super) fn resolve(name: &str, sources: &Sources, source: &mut String) -> Result<(), Error> {
    if let Some(text) = sources.get(source.as_str()) {
        source.clone_from(text);
    } else if !source.contains(' ') {
        return Err(invalid(name, format_args!("no source named `{source}`")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[expect(dead_code, reason = "only parsed")]
        cuda: String,
    }

    #[derive(Debug, serde::Deserialize)]
    struct List {
        #[serde(deserialize_with = "words")]
        isa: Vec<crate::cuda::PtxIsa>,
    }

    #[test]
    fn lists_of_words_have_blanks_between_their_items() {
        let list = parse::<List>("t", "isa: '8.7  9.0'").unwrap();
        assert_eq!(list.isa.len(), 2);
        assert_eq!(parse::<List>("t", "isa: ''").unwrap().isa, []);
        assert!(parse::<List>("t", "isa: 8.7 x").is_err());
        assert!(parse::<List>("t", "isa: ['8.7']").is_err());
    }

    #[test]
    fn unknown_and_repeated_keys_are_errors() {
        assert!(parse::<File>("t", "cuda: '12.8'").is_ok());
        for text in ["cuda: '12.8'\nptx: x", "cuda: '1'\ncuda: '2'", "[]"] {
            let error = parse::<File>("t", text).unwrap_err();
            assert!(error.to_string().starts_with("table `t`: "), "{error}");
        }
    }

    #[test]
    fn source_keys_resolve_and_texts_stay() {
        let sources = Sources::from([("a".to_owned(), "https://a".to_owned())]);
        let mut source = "a".to_owned();
        resolve("t", &sources, &mut source).unwrap();
        assert_eq!(source, "https://a");
        let mut text = "wheel x 1.0".to_owned();
        resolve("t", &sources, &mut text).unwrap();
        assert_eq!(text, "wheel x 1.0");
        assert!(resolve("t", &sources, &mut "b".to_owned()).is_err());
    }
}
