//! Compute capabilities and sm targets: what a GPU has, and what code was built for.
//!
//! Spellings follow the CUDA toolkit documentation (`sm_90a`, `compute_120f`); numbers in device-code
//! headers are decimal (`90`, `121`) with the minor version in the last digit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a GPU has: `9.0`, `12.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// Major version, 1 to 25 in the formats that carry it.
    pub major: u16,
    /// Minor version, 0 to 9.
    pub minor: u16,
}

impl ComputeCapability {
    /// A capability from its two parts.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }

    /// The capability that a decimal architecture number of a device-code header stands for.
    ///
    /// `90` is 9.0 and `121` is 12.1. `None` for numbers outside 10..=999, which no toolkit writes.
    pub fn from_number(number: u32) -> Option<Self> {
        if !(10..=999).contains(&number) {
            return None;
        }
        let number = u16::try_from(number).ok()?;
        Some(Self::new(number / 10, number % 10))
    }

    /// The decimal number used in `sm_` names: 9.0 is 90.
    pub const fn number(self) -> u16 {
        self.major * 10 + self.minor
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for ComputeCapability {
    type Err = ParseTargetError;

    /// Parses `9.0`; a bare number such as `90` is refused because it could mean either 9.0 or 90.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseTargetError(text.to_owned());
        let (major, minor) = text.split_once('.').ok_or_else(error)?;
        let digits = |part: &str, max: usize| {
            (!part.is_empty() && part.len() <= max && part.bytes().all(|b| b.is_ascii_digit()))
                .then(|| part.parse::<u16>().ok())
                .flatten()
                .ok_or_else(error)
        };
        let cc = Self::new(digits(major, 2)?, digits(minor, 1)?);
        if cc.major == 0 { Err(error()) } else { Ok(cc) }
    }
}

impl Serialize for ComputeCapability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ComputeCapability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// How far a target reaches beyond its own compute capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Suffix {
    /// Plain `sm_90`.
    #[default]
    None,
    /// Architecture-specific `sm_90a`: that capability only.
    Arch,
    /// Family-specific `sm_100f`: newer members of the same family too.
    Family,
}

impl Suffix {
    /// The letter after the number, empty for a plain target.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Arch => "a",
            Self::Family => "f",
        }
    }
}

/// What code was built for: `sm_90`, `sm_90a`, `sm_100f`.
///
/// The same type serves virtual architectures of PTX, printed `compute_90a` by [`SmTarget::compute`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmTarget {
    /// The compute capability in the name.
    pub cc: ComputeCapability,
    /// The letter after the number.
    pub suffix: Suffix,
}

impl SmTarget {
    /// A target from its parts.
    pub const fn new(cc: ComputeCapability, suffix: Suffix) -> Self {
        Self { cc, suffix }
    }

    /// The target as a virtual architecture: `compute_90a`.
    pub fn compute(self) -> impl fmt::Display {
        struct Compute(SmTarget);
        impl fmt::Display for Compute {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "compute_{}{}",
                    self.0.cc.number(),
                    self.0.suffix.letter()
                )
            }
        }
        Compute(self)
    }
}

impl fmt::Display for SmTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.cc.number(), self.suffix.letter())
    }
}

impl FromStr for SmTarget {
    type Err = ParseTargetError;

    /// Parses `sm_90a`, `compute_100f` and, without a prefix, `90a`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseTargetError(text.to_owned());
        let name = text
            .strip_prefix("sm_")
            .or_else(|| text.strip_prefix("compute_"))
            .unwrap_or(text);
        let (digits, suffix) = match name.as_bytes() {
            [.., b'a'] => (name.strip_suffix('a'), Suffix::Arch),
            [.., b'f'] => (name.strip_suffix('f'), Suffix::Family),
            _ => (Some(name), Suffix::None),
        };
        let digits = digits.ok_or_else(error)?;
        if !(2..=3).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(error());
        }
        let number = digits
            .parse()
            .map_err(|_source: std::num::ParseIntError| error())?;
        let cc = ComputeCapability::from_number(number).ok_or_else(error)?;
        Ok(Self::new(cc, suffix))
    }
}

impl Serialize for SmTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SmTarget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A text that is neither a compute capability nor an sm target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a compute capability such as `9.0` or an sm target such as `sm_90a`")]
pub struct ParseTargetError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_numbers_split_at_the_last_digit() {
        for (number, text) in [(35, "3.5"), (90, "9.0"), (103, "10.3"), (121, "12.1")] {
            let cc = ComputeCapability::from_number(number).unwrap();
            assert_eq!(cc.to_string(), text);
            assert_eq!(u32::from(cc.number()), number);
        }
        assert_eq!(ComputeCapability::from_number(0), None);
        assert_eq!(ComputeCapability::from_number(9), None);
        assert_eq!(ComputeCapability::from_number(u32::MAX), None);
    }

    #[test]
    fn targets_round_trip_in_every_spelling() {
        for text in ["sm_50", "sm_90a", "sm_100f", "sm_121"] {
            assert_eq!(text.parse::<SmTarget>().unwrap().to_string(), text);
        }
        let target: SmTarget = "compute_120f".parse().unwrap();
        assert_eq!(target.compute().to_string(), "compute_120f");
        assert_eq!("90a".parse::<SmTarget>().unwrap().to_string(), "sm_90a");
    }

    #[test]
    fn rejects_what_is_not_a_target() {
        for text in [
            "",
            "sm_",
            "sm_9",
            "sm_90x",
            "sm_90aa",
            "sm_1000",
            "9.0",
            "sm_ä",
            "compute_a",
        ] {
            assert!(text.parse::<SmTarget>().is_err(), "{text}");
        }
        for text in [
            "", "9", "90", "9.", ".0", "9.00", "0.5", "9.0.1", "+9.0", "9.x",
        ] {
            assert!(text.parse::<ComputeCapability>().is_err(), "{text}");
        }
    }

    #[test]
    fn capabilities_order_numerically() {
        let cc = |text: &str| text.parse::<ComputeCapability>().unwrap();
        assert!(cc("9.0") < cc("10.0"));
        assert!(cc("10.0") < cc("10.3"));
    }
}
