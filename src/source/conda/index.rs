//! `info/index.json`: what a package is, and what it asks for.
//!
//! Format: CEP 34.

use std::io::Read;

use serde::Deserialize;

use super::name::CondaFilename;
use super::{malformed, read_metadata};
use crate::archive::Fault;
use crate::limits::Limits;

/// What a package is, by its own metadata.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Index {
    /// The package.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The build string.
    pub build: Option<String>,
    /// Which build it is of equal ones.
    pub build_number: Option<u64>,
    /// The platform, `linux-64` or `noarch`.
    pub subdir: Option<String>,
    /// What kind of package for any platform it is, `python` or `generic`; nothing for one platform.
    pub noarch: Option<String>,
    /// What it needs, as written.
    pub depends: Vec<String>,
    /// What must hold for other packages where they are there, as written.
    pub constrains: Vec<String>,
}

#[derive(Deserialize)]
struct Raw {
    name: String,
    version: String,
    build: Option<String>,
    build_number: Option<u64>,
    subdir: Option<String>,
    #[serde(default)]
    noarch: serde_json::Value,
    platform: Option<String>,
    arch: Option<String>,
    #[serde(default)]
    depends: Vec<String>,
    #[serde(default)]
    constrains: Vec<String>,
}

impl Index {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// What is no such file, and one that is longer than the limits allow.
    pub fn read(reader: impl Read, limits: &Limits) -> Result<Self, Fault> {
        Self::parse(&read_metadata(reader, limits)?)
    }

    /// Understands the file.
    ///
    /// # Errors
    ///
    /// What is no JSON of this form, or names no package.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let raw: Raw =
            serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
        if raw.name.is_empty() {
            return Err(malformed("the package has no name".to_owned()));
        }
        let noarch = match raw.noarch {
            serde_json::Value::String(kind) => Some(kind),
            // how old packages say it
            serde_json::Value::Bool(true) => Some("generic".to_owned()),
            _ => None,
        };
        let of_old = || {
            let (platform, arch) = (raw.platform?, raw.arch?);
            let bits = match &*arch {
                "x86_64" => "64",
                "x86" => "32",
                other => other,
            };
            Some(format!("{platform}-{bits}"))
        };
        let any = noarch.is_some().then(|| "noarch".to_owned());
        Ok(Self {
            subdir: raw.subdir.or(any).or_else(of_old),
            name: raw.name,
            version: raw.version,
            build: raw.build,
            build_number: raw.build_number,
            noarch,
            depends: raw.depends,
            constrains: raw.constrains,
        })
    }

    /// `NAME-VERSION-BUILD`.
    pub fn stem(&self) -> String {
        let build = self.build.as_deref().unwrap_or_default();
        format!("{}-{}-{build}", self.name, self.version)
    }

    /// What contradicts it: the name of the file, and those of the parts in it.
    pub fn contradictions(
        &self,
        filename: Option<&CondaFilename>,
        parts: &[String],
    ) -> Vec<String> {
        let stem = self.stem();
        let of_file = filename
            .map(|file| format!("{}-{}-{}", file.name, file.version, file.build))
            .filter(|other| *other != stem)
            .map(|other| format!("`info/index.json` is of `{stem}`, the file name of `{other}`"));
        let parts = parts.iter().filter(|other| **other != stem);
        // there are two, and of more is told already
        let of_parts = parts.take(2).map(|other| {
            format!("`info/index.json` is of `{stem}`, a part of the archive of `{other}`")
        });
        of_file.into_iter().chain(of_parts).collect()
    }
}
