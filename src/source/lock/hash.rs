//! Hashes of files.

/// Algorithms by their strength; none of those that are not listed is stronger.
const STRONGEST: &[&str] = &["sha512", "sha384", "sha256", "sha224", "sha1", "md5"];

/// A hash as lock files write it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash {
    /// `sha256`, `md5`, in lower case.
    pub algorithm: String,
    /// Hexadecimal digits in lower case.
    pub hex: String,
}

impl Hash {
    /// Reads `sha256:…` (or `sha256=…`); nothing where it is no hash.
    pub fn parse(text: &str) -> Option<Self> {
        let (algorithm, hex) = text.split_once([':', '='])?;
        let is_hex = !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit());
        let is_name = !algorithm.is_empty() && algorithm.bytes().all(|b| b.is_ascii_alphanumeric());
        (is_hex && is_name).then(|| Self {
            algorithm: algorithm.to_ascii_lowercase(),
            hex: hex.to_ascii_lowercase(),
        })
    }

    /// The strongest of some hashes of one file; of those that are not known, the first.
    pub fn strongest(hashes: impl IntoIterator<Item = Self>) -> Option<Self> {
        let rank = |hash: &Self| {
            let place = STRONGEST.iter().position(|name| *name == hash.algorithm);
            place.unwrap_or(STRONGEST.len())
        };
        hashes.into_iter().min_by_key(rank)
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.algorithm, self.hex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_hash_of_a_file_is_kept() {
        let hashes =
            ["md5:00", "sha256:AB", "sha1:cc", "crc9:0"].map(|text| Hash::parse(text).unwrap());
        assert_eq!(Hash::strongest(hashes).unwrap().to_string(), "sha256:ab");
        assert_eq!(Hash::strongest([]), None);
    }

    #[test]
    fn what_is_no_hash_is_none() {
        for text in [
            "sha256",
            "sha256:",
            ":ab",
            "sha256:xy",
            "sha 256:ab",
            "https://w.example",
        ] {
            assert_eq!(Hash::parse(text), None, "{text}");
        }
    }
}
