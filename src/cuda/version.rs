//! Versions: CUDA toolkits, PTX ISA, drivers and driver branches.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that is not the version it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct ParseVersionError {
    text: String,
    expected: &'static str,
}

fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.len() <= 6 && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

macro_rules! two_part_version {
    ($(#[$doc:meta])* $name:ident, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            /// Major version.
            pub major: u32,
            /// Minor version.
            pub minor: u32,
        }

        impl $name {
            /// A version from its two parts.
            pub const fn new(major: u32, minor: u32) -> Self {
                Self { major, minor }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}.{}", self.major, self.minor)
            }
        }

        impl FromStr for $name {
            type Err = ParseVersionError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.split_once('.')
                    .and_then(|(major, minor)| Some(Self::new(number(major)?, number(minor)?)))
                    .ok_or_else(|| ParseVersionError { text: text.to_owned(), expected: $expected })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

two_part_version!(
    /// A CUDA toolkit release, `12.8`; also the CUDA version that a driver reports.
    ToolkitVersion,
    "a CUDA version such as `12.8`"
);
two_part_version!(
    /// A PTX ISA version, `8.7`: the `.version` line of PTX text.
    PtxIsa,
    "a PTX ISA version such as `8.7`"
);

impl ToolkitVersion {
    /// The toolkit that a number ten times as large stands for: `128` is 12.8 (cubin `e_version`, `cuinfo` note).
    pub const fn from_tenfold(number: u32) -> Self {
        Self::new(number / 10, number % 10)
    }
}

/// An exact driver version with two to four numeric parts: `550.54.15`, `528.33`.
///
/// Versions compare by number: `580.65.6` equals `580.65.06`, and a missing part counts as zero.
#[derive(Debug, Clone)]
pub struct DriverVersion {
    parts: [u32; 4],
    /// As written, because drivers pad parts with zeros (`580.65.06`).
    text: String,
}

impl PartialEq for DriverVersion {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for DriverVersion {}

impl PartialOrd for DriverVersion {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DriverVersion {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parts.cmp(&other.parts)
    }
}

impl DriverVersion {
    /// The first part, which names the branch on Linux: 550 of `550.54.15`.
    pub fn major(&self) -> u32 {
        let [major, ..] = self.parts;
        major
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for DriverVersion {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseVersionError {
            text: text.to_owned(),
            expected: "a driver version such as `550.54.15`",
        };
        let written: Option<Vec<u32>> = text.split('.').map(number).collect();
        let written = written
            .filter(|w| (2..=4).contains(&w.len()))
            .ok_or_else(error)?;
        let mut parts = [0; 4];
        for (part, number) in parts.iter_mut().zip(&written) {
            *part = *number;
        }
        if parts.first() == Some(&0) {
            Err(error())
        } else {
            Ok(Self {
                parts,
                text: text.to_owned(),
            })
        }
    }
}

impl Serialize for DriverVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DriverVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A driver branch, `R550`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverBranch(pub u32);

impl fmt::Display for DriverBranch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{}", self.0)
    }
}

impl FromStr for DriverBranch {
    type Err = ParseVersionError;

    /// Parses `R550`, `r550` and the bare number `550`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(['R', 'r']).unwrap_or(text);
        number(digits)
            .filter(|n| (100..=9999).contains(n))
            .map(Self)
            .ok_or_else(|| ParseVersionError {
                text: text.to_owned(),
                expected: "a driver branch such as `R550`",
            })
    }
}

impl Serialize for DriverBranch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DriverBranch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// The driver of a fleet target: an exact version, or any version of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverSpec {
    /// `550.54.15`: the oldest driver in that pool.
    Exact(DriverVersion),
    /// `R550` or `550`: the branch, exact version unknown.
    Branch(DriverBranch),
}

impl fmt::Display for DriverSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(version) => version.fmt(f),
            Self::Branch(branch) => branch.fmt(f),
        }
    }
}

impl FromStr for DriverSpec {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('.') {
            text.parse().map(Self::Exact)
        } else {
            text.parse().map(Self::Branch)
        }
        .map_err(|_source| ParseVersionError {
            text: text.to_owned(),
            expected: "a driver version such as `550.54.15` or a branch such as `R550`",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_order_numerically_not_as_text() {
        let isa = |t: &str| t.parse::<PtxIsa>().unwrap();
        assert!(isa("8.10") > isa("8.9"));
        let driver = |t: &str| t.parse::<DriverVersion>().unwrap();
        assert!(driver("550.163.01") > driver("550.54.15"));
        assert!(driver("580.65.06") < driver("580.82.07"));
        assert!(driver("525.60.13") > driver("525.60"));
        assert_eq!(driver("580.65.06"), driver("580.65.6"));
    }

    #[test]
    fn driver_versions_keep_their_zeros() {
        assert_eq!(
            "580.65.06".parse::<DriverVersion>().unwrap().to_string(),
            "580.65.06"
        );
        assert_eq!("580.65.06".parse::<DriverVersion>().unwrap().major(), 580);
    }

    #[test]
    fn a_driver_is_a_version_or_a_branch() {
        let spec = |t: &str| t.parse::<DriverSpec>();
        assert_eq!(spec("R550").unwrap(), DriverSpec::Branch(DriverBranch(550)));
        assert_eq!(spec("550").unwrap(), DriverSpec::Branch(DriverBranch(550)));
        assert!(matches!(spec("550.54.15").unwrap(), DriverSpec::Exact(_)));
        for text in [
            "",
            "R",
            "R5",
            "550.",
            "550.x",
            "latest",
            "v550.54",
            "-550",
            "550.54.15.1.2",
        ] {
            assert!(spec(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tenfold_numbers_are_toolkits() {
        assert_eq!(ToolkitVersion::from_tenfold(0x80).to_string(), "12.8");
        assert_eq!(ToolkitVersion::from_tenfold(0x87).to_string(), "13.5");
    }
}
