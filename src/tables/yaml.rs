//! Reading table files: the only place of this layer that names the YAML crate.
//!
//! Knows no table. Every file is strict: an unknown or repeated key is an error, so that a misspelt
//! optional field cannot turn a fact into an unknown.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorKind};

/// Parses the table file `name`.
pub(super) fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Error> {
    serde_saphyr::from_str(text).map_err(|source| invalid(name, source))
}

/// An error about the table file `name`.
pub(super) fn invalid(name: &str, detail: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Data, format!("table `{name}`: {detail}"))
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
