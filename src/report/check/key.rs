//! By what a finding is known again in the next run, for code hosts that remember what they have shown.
//!
//! A key is the SHA-256 of what the finding is about: the rule, the package without its version, the library without
//! what builds and versions add to its name, the target and the GPU. So it stays where figures, words, other findings,
//! the order of inputs or the version of the package change. Where there is no package the name of the input stands
//! for it, and where there is neither package nor library the first evidence tells entries apart. Findings that are
//! about the same are numbered in the order of reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::policy::normal_package;
use crate::verdict::{Evaluation, Finding};

/// What is said first, so that another way to make keys gives other keys.
const SALT: &str = "smgate/v1";

/// The key of each finding, in the order of the evaluation; no two are equal.
pub(super) fn keys(evaluation: &Evaluation) -> Vec<String> {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let keys = evaluation.findings.iter().map(|finding| {
        let key = of_subject(finding, evaluation);
        let count = seen.entry(key.clone()).or_default();
        *count += 1;
        format!("{key}:{count}")
    });
    keys.collect()
}

fn of_subject(finding: &Finding, evaluation: &Evaluation) -> String {
    let artifact = finding
        .artifact
        .and_then(|index| evaluation.artifacts.get(index));
    let package = match &finding.package {
        Some(package) => normal_package(&package.name),
        None => artifact
            .and_then(|artifact| artifact.input.rsplit(['/', '\\']).next())
            .unwrap_or_default()
            .to_owned(),
    };
    let library = finding.library.as_deref().map(stem);
    let entry = finding
        .evidence
        .first()
        .filter(|_| finding.package.is_none() && finding.library.is_none());
    let parts = [
        SALT,
        finding.code.id(),
        package.as_str(),
        library.as_deref().unwrap_or_default(),
        finding.target.as_deref().unwrap_or_default(),
        finding.gpu.as_deref().unwrap_or_default(),
        entry.map(String::as_str).unwrap_or_default(),
    ];
    let mut hash = Sha256::new();
    for part in parts {
        // of which length says where the next one begins
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        let _infallible = write!(hex, "{byte:02x}");
    }
    hex
}

/// The path of a library without the suffixes of its file name, and without the hash that repair tools put into it:
/// `pkg.libs/libgomp-a34b3233.so.1.0.0` is `pkg.libs/libgomp`.
fn stem(path: &str) -> String {
    let (directory, name) = match path.rsplit_once('/') {
        Some((directory, name)) => (Some(directory), name),
        None => (None, path),
    };
    let stem = name.split('.').find(|part| !part.is_empty());
    let stem = stem.unwrap_or(name);
    let stem = match stem.rsplit_once('-') {
        Some((stem, hash)) if hash.len() == 8 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            stem
        }
        _ => stem,
    };
    match directory {
        Some(directory) => format!("{directory}/{stem}"),
        None => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stem_of_a_library_is_what_builds_and_versions_leave() {
        for (path, expected) in [
            ("torch/lib/libtorch_cuda.so", "torch/lib/libtorch_cuda"),
            ("a.libs/libgomp-a34b3233.so.1.0.0", "a.libs/libgomp"),
            ("a/_C.cpython-312-x86_64-linux-gnu.so", "a/_C"),
            ("a/_C.cp312-win_amd64.pyd", "a/_C"),
            ("nvidia/libcublas-lt.so.12", "nvidia/libcublas-lt"),
            ("x/.hidden.so", "x/hidden"),
            ("x/...", "x/..."),
            ("plain", "plain"),
        ] {
            assert_eq!(stem(path), expected);
        }
    }
}
