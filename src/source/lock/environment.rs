//! The machine that a lock file is installed on, as far as installers ask for it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::platform::Platform;

/// Where something is installed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Environment {
    /// Operating system and CPU.
    pub platform: Platform,
    /// The Python version; none takes what the lock file says at least, else the newest that has files.
    pub python: Option<PythonVersion>,
    /// The C library of Linux.
    pub libc: Libc,
    /// Extras that the user asks for.
    pub extras: Vec<String>,
    /// Groups that the user asks for, beside the default ones.
    pub groups: Vec<String>,
    /// Which environment of `pixi.lock`; none takes `default`.
    pub named: Option<String>,
}

impl Environment {
    /// `CPython` on `platform`, with any glibc and nothing optional.
    pub fn new(platform: Platform) -> Self {
        Self {
            platform,
            python: None,
            libc: Libc::Glibc(None),
            extras: Vec::new(),
            groups: Vec::new(),
            named: None,
        }
    }
}

/// The C library of a Linux machine: its version, where that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Libc {
    /// The GNU C library; without a version every one will do.
    Glibc(Option<(u16, u16)>),
    /// musl.
    Musl(Option<(u16, u16)>),
}

impl Libc {
    /// Its name and version, where the version matters.
    pub fn named(self) -> Option<String> {
        match self {
            Self::Glibc(None) => None,
            Self::Glibc(Some((major, minor))) => Some(format!("glibc {major}.{minor}")),
            Self::Musl(None) => Some("musl".to_owned()),
            Self::Musl(Some((major, minor))) => Some(format!("musl {major}.{minor}")),
        }
    }
}

impl fmt::Display for Libc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.named().as_deref().unwrap_or("glibc"))
    }
}

/// That a text is no C library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no C library: write `glibc 2.28` or `musl 1.2`")]
pub struct ParseLibcError(String);

impl FromStr for Libc {
    type Err = ParseLibcError;

    /// Reads what `Display` writes: `glibc`, `glibc 2.28`, `musl 1.2`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseLibcError(text.to_owned());
        let (name, version) = match text.split_once(' ') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let version = version.map(|version| {
            let (major, minor) = version.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        let version = match version {
            Some(None) => return Err(wrong()),
            Some(known) => known,
            None => None,
        };
        match name {
            "glibc" => Ok(Self::Glibc(version)),
            "musl" => Ok(Self::Musl(version)),
            _ => Err(wrong()),
        }
    }
}

/// A version of `CPython`: `3.12`, `3.13t` for the free-threaded build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PythonVersion {
    /// 3
    pub major: u8,
    /// 12
    pub minor: u8,
    /// Whether it is the free-threaded build.
    pub free_threaded: bool,
}

/// That a text is no version of Python.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no Python version: write `3.12`, or `3.13t` for the free-threaded build")]
pub struct ParsePythonError(String);

impl FromStr for PythonVersion {
    type Err = ParsePythonError;

    /// Reads `3.12`, `3.12.4` (of which the last number says nothing here) and `3.13t`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParsePythonError(text.to_owned());
        let bare = text.strip_suffix('t');
        let mut parts = bare.unwrap_or(text).split('.');
        let mut number = || -> Option<u8> {
            let part = parts.next()?;
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse().ok()).flatten()
        };
        let (major, minor) = number().zip(number()).ok_or_else(wrong)?;
        let patch_is_fine = parts
            .next()
            .is_none_or(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        if !patch_is_fine || parts.next().is_some() {
            return Err(wrong());
        }
        Ok(Self {
            major,
            minor,
            free_threaded: bare.is_some(),
        })
    }
}

impl Serialize for PythonVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PythonVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for PythonVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = if self.free_threaded { "t" } else { "" };
        write!(f, "{}.{}{t}", self.major, self.minor)
    }
}
