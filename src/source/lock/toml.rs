//! TOML of lock files: entries that are read one by one, with their lines.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::reader::Reader;
use super::within;
use crate::Error;

/// An entry, and the line where it begins.
pub(super) struct Entry<T> {
    pub(super) line: u32,
    pub(super) it: T,
}

/// The top of a TOML file, of which keys are taken.
pub(super) struct Document<'t> {
    table: DeTable<'t>,
    /// The command that writes the file anew.
    remedy: &'static str,
}

impl<'t> Document<'t> {
    /// Reads the text of `reader`; `remedy` is what to do where it can't be read.
    pub(super) fn parse(reader: &Reader<'t>, remedy: &'static str) -> Result<Self, Error> {
        match DeTable::parse(reader.text) {
            Ok(table) => Ok(Self {
                table: table.into_inner(),
                remedy,
            }),
            Err(error) => Err(located(reader, &error, "no valid TOML: ", remedy)),
        }
    }

    /// The value of a key at the top.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        reader: &Reader<'t>,
        key: &str,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let within = format!("`{key}` can't be read: ");
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(located(reader, &error, &within, self.remedy)),
        }
    }

    /// The entries of a list at the top. Those that can't be read are problems of the file.
    pub(super) fn entries<T: DeserializeOwned>(
        &mut self,
        reader: &mut Reader<'t>,
        key: &str,
    ) -> Result<Vec<Entry<T>>, Error> {
        let Some(value) = self.table.remove(key) else {
            return Ok(Vec::new());
        };
        let line = reader.line(value.span().start);
        let DeValue::Array(list) = value.into_inner() else {
            let message = format!("`{key}` is no list of tables");
            return Err(reader.error(Some(line), &message, self.remedy));
        };
        within(list.len(), &reader.lock.at)?;
        let mut entries = Vec::with_capacity(list.len());
        for value in list {
            let line = reader.line(value.span().start);
            match read_entry(value) {
                Ok(it) => entries.push(Entry { line, it }),
                Err(error) => {
                    let line = error.span().map_or(line, |span| reader.line(span.start));
                    let message = format!(
                        "this entry of `{key}` can't be read: {}",
                        error.message().trim_end()
                    );
                    reader.problem(line, &message);
                }
            }
        }
        Ok(entries)
    }
}

fn read_entry<T: DeserializeOwned>(value: Spanned<DeValue<'_>>) -> Result<T, toml::de::Error> {
    T::deserialize(ValueDeserializer::from(value))
}

fn located(reader: &Reader<'_>, error: &toml::de::Error, what: &str, remedy: &str) -> Error {
    let line = error.span().map(|span| reader.line(span.start));
    reader.error(
        line,
        &format!("{what}{}", error.message().trim_end()),
        remedy,
    )
}

/// One value or a list of them, as some formats allow.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}
