//! Files of an index, and the projects that they are of.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use pep440_rs::Version;

use crate::source::http::Address;
use crate::source::lock::Hash;
use crate::source::wheel::normal_name;

/// A file that an index offers. Everything of it is what the index says, unverified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexFile {
    /// Its name, decoded: `torch-2.9.1+cu128-cp312-cp312-manylinux_2_28_x86_64.whl`.
    pub name: String,
    /// Its address, absolute, without a user and a password; its query may be a signature. `file:` for one of this
    /// machine.
    pub url: String,
    /// Its hash: SHA-256 where the index gives it, else the strongest that it gives.
    pub hash: Option<Hash>,
    /// Bytes.
    pub size: Option<u64>,
    /// The Python versions that it is for, `>=3.10`.
    pub requires_python: Option<String>,
    /// Why it was withdrawn (PEP 592), which may be an empty text; nothing where it was not.
    pub yanked: Option<String>,
    /// When it was uploaded, as the index writes it (PEP 700).
    pub upload_time: Option<String>,
}

impl IndexFile {
    pub(super) fn new(name: String, url: &Address) -> Self {
        Self {
            name,
            url: url.as_str().to_owned(),
            hash: None,
            size: None,
            requires_python: None,
            yanked: None,
            upload_time: None,
        }
    }
}

/// What an index has of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Project {
    /// Its name, normalised (PEP 503).
    pub name: String,
    /// Its files, in the order of the index. Whether a file is of this project is what its name says, not the page.
    pub files: Vec<IndexFile>,
    /// Its versions, each once, oldest first: those that the index lists (PEP 700), else those of its files.
    pub versions: Vec<String>,
}

impl Project {
    /// `versions` is what the index lists.
    pub(super) fn new(name: String, files: Vec<IndexFile>, versions: Option<Vec<String>>) -> Self {
        let listed = versions.unwrap_or_else(|| {
            let of = files
                .iter()
                .filter_map(|file| version_of(&file.name, &name));
            of.collect()
        });
        Self {
            versions: in_order(listed),
            name,
            files,
        }
    }
}

/// Versions, each once, oldest first; what is no version stands in front.
pub(super) fn in_order(versions: Vec<String>) -> Vec<String> {
    let unique: BTreeSet<String> = versions.into_iter().collect();
    let mut keyed: Vec<(Option<Version>, String)> = unique
        .into_iter()
        .map(|text| (Version::from_str(&text).ok(), text))
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, text)| text).collect()
}

/// How names of files end that an installer could take: wheels, source archives, and what there was before.
const SUFFIXES: &[&str] = &[
    ".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".tar.z", ".tar", ".egg", ".exe",
    ".msi",
];

/// The name of a file without the end that says its kind, where it is one that an installer could take.
pub(super) fn stem(file: &str) -> Option<&str> {
    SUFFIXES.iter().find_map(|suffix| {
        let (stem, end) = file.split_at_checked(file.len().checked_sub(suffix.len())?)?;
        (end.eq_ignore_ascii_case(suffix) && !stem.is_empty()).then_some(stem)
    })
}

/// The version of a file of the project `name`, as its name writes it; nothing where it is no file of this project.
pub(super) fn version_of(file: &str, name: &str) -> Option<String> {
    let stem = stem(file)?;
    if is_wheel(file) {
        let mut parts = stem.split('-');
        let same = normal_name(parts.next()?) == name;
        return parts.next().filter(|_| same).map(str::to_owned);
    }
    // a name may hold dashes, and may be written in another way
    stem.match_indices('-').find_map(|(at, _)| {
        let (before, after) = stem.split_at_checked(at)?;
        let version = after.strip_prefix('-')?;
        let is_version = version.starts_with(|c: char| c.is_ascii_digit());
        (is_version && normal_name(before) == name).then(|| version.to_owned())
    })
}

/// Whether a file is a wheel by its name.
pub(super) fn is_wheel(file: &str) -> bool {
    let end = file.len().checked_sub(4).and_then(|at| file.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(".whl"))
}

/// Hashes that index pages write, the best known first.
const ALGORITHMS: &[&str] = &["sha256", "sha512", "sha384", "sha224", "sha1", "md5"];

/// The hash that counts, of pairs of an algorithm and hexadecimal digits.
pub(super) fn best_hash<'p>(pairs: impl Iterator<Item = (&'p str, &'p str)>) -> Option<Hash> {
    let ranked = pairs.filter_map(|(algorithm, hex)| {
        let rank = ALGORITHMS
            .iter()
            .position(|known| algorithm.eq_ignore_ascii_case(known))?;
        Some((rank, Hash::parse(&format!("{algorithm}:{hex}"))?))
    });
    ranked.min().map(|(_, hash)| hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_of_the_name_of_a_file() {
        for (file, name, version) in [
            (
                "torch-2.9.1+cu128-cp312-cp312-linux_x86_64.whl",
                "torch",
                Some("2.9.1+cu128"),
            ),
            ("Flash_Attn-2.8.3.tar.gz", "flash-attn", Some("2.8.3")),
            ("flash-attn-2.8.3.tar.gz", "flash-attn", Some("2.8.3")),
            ("zope.interface-6.0-1.zip", "zope-interface", Some("6.0-1")),
            ("torch-2.9.1.whl", "torchvision", None),
            ("torch-vision-0.1.tar.gz", "torch", None),
            ("torch.tar.gz", "torch", None),
            ("torch-2.9.1.txt", "torch", None),
            (".whl", "", None),
        ] {
            assert_eq!(version_of(file, name).as_deref(), version, "{file}");
        }
    }

    #[test]
    fn versions_are_ordered_as_versions() {
        let given = [
            "2.10",
            "2.9.1",
            "2.9.1+cu128",
            "2.9",
            "2.10rc1",
            "odd",
            "2.9",
        ];
        let ordered = in_order(given.map(str::to_owned).to_vec());
        assert_eq!(
            ordered,
            ["odd", "2.9", "2.9.1", "2.9.1+cu128", "2.10rc1", "2.10"]
        );
    }

    #[test]
    fn sha256_counts_before_other_hashes_and_what_is_no_hash_does_not() {
        let best =
            |pairs: &[(&str, &str)]| best_hash(pairs.iter().copied()).map(|hash| hash.to_string());
        assert_eq!(
            best(&[("md5", "0a"), ("SHA256", "AB"), ("sha512", "cd")]),
            Some("sha256:ab".to_owned())
        );
        assert_eq!(
            best(&[("sha256", "xyz"), ("md5", "0a")]),
            Some("md5:0a".to_owned())
        );
        assert_eq!(best(&[("blake3", "0a")]), None);
    }
}
