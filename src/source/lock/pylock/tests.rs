//! `pylock.toml` as it is read.

use super::super::tests::{failure, lock, packages, problems};
use super::*;

#[test]
fn packages_have_their_markers_files_and_hashes() {
    let lock = lock(
        "pylock.gpu.toml",
        r#"lock-version = "1.0"
created-by = "x"
requires-python = ">=3.11"
environments = ["sys_platform == 'linux'"]
extras = ["gpu"]
dependency-groups = ["dev", "default"]
default-groups = ["default"]

[[packages]]
name = "torch"
version = "2.9.1"
marker = "'gpu' in extras"
requires-python = ">=3.10"
index = "https://i.example/simple"
dependencies = [{ name = "x" }]
sdist = { path = "sdist/torch-2.9.1.tar.gz", hashes = { md5 = "00", sha256 = "11" } }

[[packages.wheels]]
url = "https://w.example/torch-2.9.1%2Bcu130-py3-none-any.whl"
size = 9
upload-time = 2025-08-04T10:00:00Z
hashes = { sha256 = "22", sha512 = "33" }

[[packages.wheels]]
name = "torch-2.9.1-py3-none-any.whl"
url = "https://w.example/c0ffee"
hashes = { sha256 = "44" }
"#,
    );
    assert_eq!(problems(&lock), [""; 0]);
    assert_eq!(lock.roots, None);
    assert_eq!(lock.supported_markers, ["sys_platform == 'linux'"]);
    assert_eq!(lock.extras, ["gpu"]);
    assert_eq!(lock.groups, ["dev", "default"]);
    assert_eq!(lock.default_groups, ["default"]);
    assert_eq!(lock.indexes, ["https://i.example/simple"]);
    let torch = &lock.packages[0];
    assert_eq!(torch.line, 9);
    assert_eq!(torch.condition.marker.as_deref(), Some("'gpu' in extras"));
    assert_eq!(torch.condition.requires_python.as_deref(), Some(">=3.10"));
    let files: Vec<_> = torch
        .files
        .iter()
        .map(|file| {
            (
                file.name.as_str(),
                file.hash.as_ref().unwrap().to_string(),
                file.line,
            )
        })
        .collect();
    assert_eq!(
        files,
        [
            (
                "torch-2.9.1+cu130-py3-none-any.whl",
                "sha512:33".to_owned(),
                18
            ),
            ("torch-2.9.1-py3-none-any.whl", "sha256:44".to_owned(), 24),
            ("torch-2.9.1.tar.gz", "sha256:11".to_owned(), 16),
        ]
    );
    assert_eq!(
        torch.files[2].url.as_deref(),
        Some("sdist/torch-2.9.1.tar.gz")
    );
}

#[test]
fn packages_may_come_from_other_places_than_an_index() {
    let lock = lock(
        "pylock.toml",
        r#"lock-version = "1.0"
[[packages]]
name = "a"
vcs = { type = "git", url = "https://me:s3@g.example/a", commit-id = "c0ffee" }
[[packages]]
name = "b"
directory = { path = "../b", editable = true }
[[packages]]
name = "c"
archive = { url = "https://w.example/c-1.zip", hashes = { sha256 = "00" } }
[[packages]]
name = "d"
version = "1"
archive = { path = "d-1.zip", hashes = { sha256 = "zz" } }
[[packages]]
name = "e"
"#,
    );
    let origins: Vec<_> = lock
        .packages
        .iter()
        .map(|package| package.origin.clone())
        .collect();
    assert_eq!(
        origins,
        [
            Origin::Vcs("https://g.example/a".to_owned()),
            Origin::Directory("../b".to_owned()),
            Origin::Url,
            Origin::File("d-1.zip".to_owned()),
            Origin::Index,
        ]
    );
    assert_eq!(packages(&lock), ["a", "b", "c", "d 1", "e"]);
    assert_eq!(lock.packages[2].files[0].name, "c-1.zip");
    assert_eq!(
        problems(&lock),
        ["line 14: a file of `d` has a hash that is none"]
    );
}

#[test]
fn later_minor_versions_are_read_and_other_major_ones_told() {
    assert_eq!(
        lock("pylock.toml", "lock-version = \"1.7\"\n")
            .format
            .as_deref(),
        Some("1.7")
    );
    for version in ["2.0", "10", "x"] {
        let text = format!("lock-version = \"{version}\"\n");
        let (message, _) = failure("pylock.toml", text.as_bytes());
        assert_eq!(
            message,
            format!("pylock.toml: its lock-version is {version}, and version 1 is read")
        );
    }
}
