//! Numbers of bytes as people type them: `500M`, `4G`.

use std::fmt;
use std::str::FromStr;

/// Suffixes and the binary digits that each stands for, the largest first.
const SUFFIXES: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

/// A number of bytes: digits, and perhaps `K`, `M`, `G` or `T` for powers of 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |&(_, bits): &(char, u32)| self.0.trailing_zeros() >= bits && self.0 > 0;
        match SUFFIXES.into_iter().find(whole) {
            Some((suffix, bits)) => write!(f, "{}{suffix}", self.0 >> bits),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A text that is no number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write a number of bytes, such as `500M` or `4G`, below 16777216T")]
pub(super) struct ParseBytesError;

impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let suffix = |&(suffix, bits): &(char, u32)| {
            let lower = suffix.to_ascii_lowercase();
            Some((text.strip_suffix([suffix, lower])?, bits))
        };
        let (digits, bits) = SUFFIXES.iter().find_map(suffix).unwrap_or((text, 0));
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseBytesError);
        }
        let number: u64 = digits.parse().map_err(|_error| ParseBytesError)?;
        let bytes = number.checked_mul(1 << bits).ok_or(ParseBytesError)?;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("100", 100),
            ("1K", 1024),
            ("500M", 524_288_000),
            ("4g", 4_294_967_296),
            ("1T", 1_099_511_627_776),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "G",
            "-1",
            "+1",
            "1.5G",
            "4 G",
            "4GB",
            "4Gi",
            "0x10",
            "16777216T",
            "18446744073709551616",
        ] {
            assert_eq!(text.parse::<Bytes>(), Err(ParseBytesError), "{text}");
        }
    }

    #[test]
    fn they_are_shown_with_the_largest_suffix_that_is_exact() {
        for (bytes, text) in [
            (0, "0"),
            (1023, "1023"),
            (1025, "1025"),
            (8 << 30, "8G"),
            (1 << 40, "1T"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
