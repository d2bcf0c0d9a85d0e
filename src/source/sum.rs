//! Hashes of files, taken while they pass.

use std::fmt::Write as _;
use std::io::{self, Read};

use md5::Md5;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::lock::Hash;

/// A hash on the way.
pub(crate) enum Sum {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
    Md5(Md5),
}

impl Sum {
    /// Begins the hash that lock files call `algorithm`; nothing for one that is not taken here.
    pub(crate) fn of(algorithm: &str) -> Option<Self> {
        Some(match algorithm {
            "sha256" => Self::Sha256(Sha256::new()),
            "sha384" => Self::Sha384(Sha384::new()),
            "sha512" => Self::Sha512(Sha512::new()),
            "md5" => Self::Md5(Md5::new()),
            _ => return None,
        })
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(sum) => sum.update(bytes),
            Self::Sha384(sum) => sum.update(bytes),
            Self::Sha512(sum) => sum.update(bytes),
            Self::Md5(sum) => sum.update(bytes),
        }
    }

    /// The hash of all that `reader` gives.
    pub(crate) fn of_all(mut self, mut reader: impl Read) -> io::Result<Hash> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(self.finish()),
                Ok(n) => self.update(buffer.get(..n).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn finish(self) -> Hash {
        fn of<D: Digest>(algorithm: &str, sum: D) -> Hash {
            let mut digits = String::new();
            for byte in &sum.finalize() {
                let _infallible = write!(digits, "{byte:02x}");
            }
            Hash {
                algorithm: algorithm.to_owned(),
                hex: digits,
            }
        }
        match self {
            Self::Sha256(sum) => of("sha256", sum),
            Self::Sha384(sum) => of("sha384", sum),
            Self::Sha512(sum) => of("sha512", sum),
            Self::Md5(sum) => of("md5", sum),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_coreutils() {
        // printf abc | sha256sum, sha384sum, sha512sum, md5sum
        for (algorithm, begins, len) in [
            ("sha256", "ba7816bf8f01cfea", 64),
            ("sha384", "cb00753f45a35e8b", 96),
            ("sha512", "ddaf35a193617aba", 128),
            ("md5", "900150983cd24fb0d6963f7d28e17f72", 32),
        ] {
            let mut sum = Sum::of(algorithm).unwrap();
            sum.update(b"a");
            sum.update(b"bc");
            let hash = sum.finish();
            assert_eq!(hash.algorithm, algorithm);
            assert!(hash.hex.starts_with(begins), "{hash}");
            assert_eq!(hash.hex.len(), len);
        }
        assert!(Sum::of("crc32").is_none());
    }
}
