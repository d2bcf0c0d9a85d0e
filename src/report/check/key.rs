//! By what a finding is known again in the next run, for code hosts that remember what they have shown.
//!
//! A key is the SHA-256 of what the finding is about: the rule, the package without its version, the build (the Python
//! tags and the platforms of a package file, the platform of an image), the library without what builds and versions
//! add to its name, the target and the GPU. So it stays where figures, words, other findings, the order of inputs, the
//! directory they lie in or the version of the package change. Where there is no package the file name of the input
//! stands for it, and where there is neither package nor library the first evidence tells entries apart. Findings that
//! are about the same are numbered, by the names of inputs and libraries first, so that no number hangs on an order.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::inventory::{Artifact, ArtifactKind, Inventory};
use crate::policy::normal_package;
use crate::report::Checked;
use crate::verdict::{Evaluation, Finding};

/// What is said first, so that another way to make keys gives other keys.
const SALT: &str = "smgate/v1";

/// The key of each finding, in the order of the evaluation; no two are equal.
pub(super) fn keys(checked: Checked<'_>) -> Vec<String> {
    let findings = &checked.evaluation.findings;
    let mut alike: BTreeMap<String, Vec<(Order<'_>, usize)>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        let of_key = alike.entry(of_subject(finding, checked.inventory));
        let order = order(finding, checked.evaluation);
        of_key.or_default().push((order, index));
    }
    let mut keys = vec![String::new(); findings.len()];
    for (key, mut of_key) in alike {
        of_key.sort();
        for (count, (_, index)) in (1_u64..).zip(of_key) {
            if let Some(slot) = keys.get_mut(index) {
                *slot = format!("{key}:{count}");
            }
        }
    }
    keys
}

/// The key of what is of no finding, but of the run.
pub(super) fn of_run(what: &str) -> String {
    hashed(&[SALT, "run", what])
}

/// By what findings of one key are ordered: the file name of the input, all of it, the library, what is said.
type Order<'f> = (String, &'f str, Option<&'f str>, &'f str, &'f [String]);

fn order<'f>(finding: &'f Finding, evaluation: &'f Evaluation) -> Order<'f> {
    let artifact = finding.artifact;
    let artifact = artifact.and_then(|index| evaluation.artifacts.get(index));
    let input = artifact.map_or("", |artifact| artifact.input.as_str());
    (
        file_name(input),
        input,
        finding.library.as_deref(),
        &finding.message,
        &finding.evidence,
    )
}

fn of_subject(finding: &Finding, inventory: &Inventory) -> String {
    let artifact = finding.artifact;
    let artifact = artifact.and_then(|index| inventory.artifacts.get(index));
    let package = match (&finding.package, artifact) {
        (Some(package), _) => normal_package(&package.name),
        (None, Some(artifact)) => name_of(artifact),
        (None, None) => String::new(),
    };
    let library = finding.library.as_deref().map(stem);
    let entry = finding
        .evidence
        .first()
        .filter(|_| finding.package.is_none() && finding.library.is_none());
    // what is said of an input as a whole names it as the user did, from here or from the root
    let entry = match (entry, artifact) {
        (Some(entry), Some(artifact)) => {
            let whole = format!(" at {};", artifact.input);
            entry.replacen(&whole, &format!(" at {package};"), 1)
        }
        (entry, _) => entry.cloned().unwrap_or_default(),
    };
    hashed(&[
        SALT,
        finding.code.id(),
        &package,
        &artifact.map(build).unwrap_or_default(),
        library.as_deref().unwrap_or_default(),
        finding.target.as_deref().unwrap_or_default(),
        finding.gpu.as_deref().unwrap_or_default(),
        &entry,
    ])
}

fn hashed(parts: &[&str]) -> String {
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

/// Which build of a package or an image it is, where there are several of a version.
fn build(artifact: &Artifact) -> String {
    let image = artifact.image.as_ref();
    let platform = image.and_then(|image| image.platform.clone());
    let platforms = artifact.platforms.iter().map(ToString::to_string);
    let tags = artifact.python_tags.iter().cloned();
    let parts: Vec<String> = tags.chain(platforms).chain(platform).collect();
    parts.join(" ")
}

/// The file name of an input without what changes from version to version: of a wheel the version, of an image what
/// stands behind its name.
fn name_of(artifact: &Artifact) -> String {
    let name = file_name(&artifact.input);
    if artifact.image.is_some() {
        let end = name.find([':', '@']).unwrap_or(name.len());
        return name.get(..end).unwrap_or_default().to_owned();
    }
    match (
        artifact.kind,
        name.splitn(3, '-').collect::<Vec<_>>().as_slice(),
    ) {
        (ArtifactKind::Wheel, [package, _version, tags]) => format!("{package}-{tags}"),
        _ => name,
    }
}

fn file_name(input: &str) -> String {
    let path = input.trim_end_matches(['/', '\\']);
    let name = path.rsplit(['/', '\\']).next();
    name.unwrap_or_default().to_owned()
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
