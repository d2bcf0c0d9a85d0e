//! `Pipfile.lock` as it is read.

use super::super::tests::{failure, lock, packages, problems};
use super::*;

const TEXT: &str = r#"{
    "_meta": {
        "hash": {"sha256": "00"},
        "pipfile-spec": 6,
        "requires": {"python_version": "3.11"},
        "sources": [
            {"name": "main", "url": "https://me:s3cret@i.example/simple", "verify_ssl": true},
            {"name": "pytorch", "url": "https://w.example/cu130", "verify_ssl": true}
        ]
    },
    "default": {
        "torch": {
            "hashes": [
                "sha256:AA",
                "sha256:bb",
                "none"
            ],
            "index": "pytorch",
            "markers": "python_version >= '3.10'",
            "version": "==2.9.1+cu130"
        },
        "app": {"editable": true, "path": "."},
        "lib": {"path": "./lib", "markers": ""},
        "local": {"file": "dist/local-1.whl"},
        "far": {"file": "https://me:s3cret@w.example/far-1%2Bx.whl", "hashes": ["sha256:cc"]},
        "repo": {"git": "https://s3cret@g.example/repo", "ref": "c0ffee"},
        "odd": {"index": "gone", "version": "===1.0"},
        "loose": {"version": ">=1"},
        "any": {},
        "broken": {
            "version": 3
        }
    },
    "develop": {
        "a\u00e9\ud83d\ude00": {"version": "==1"}
    },
    "docs": []
}
"#;

#[test]
fn entries_have_groups_markers_hashes_and_lines() {
    let lock = lock("Pipfile.lock", TEXT);
    assert_eq!(lock.requires_python.as_deref(), Some("==3.11.*"));
    assert_eq!(
        lock.indexes,
        ["https://i.example/simple", "https://w.example/cu130"]
    );
    assert!(lock.has_main_index);
    assert_eq!(lock.groups, ["default", "develop"]);
    assert_eq!(lock.default_groups, ["default"]);
    assert_eq!(
        packages(&lock),
        [
            "torch 2.9.1+cu130",
            "app",
            "lib",
            "local",
            "far",
            "repo",
            "odd 1.0",
            "aé😀 1"
        ]
    );
    let lines: Vec<_> = lock.packages.iter().map(|package| package.line).collect();
    assert_eq!(lines, [12, 22, 23, 24, 25, 26, 27, 35]);
    let torch = &lock.packages[0];
    assert_eq!(torch.index.as_deref(), Some("https://w.example/cu130"));
    assert_eq!(
        torch.condition.marker.as_deref(),
        Some("python_version >= '3.10'")
    );
    assert_eq!(torch.condition.groups, ["default"]);
    let hashes: Vec<_> = torch.hashes.iter().map(ToString::to_string).collect();
    assert_eq!(hashes, ["sha256:aa", "sha256:bb"]);
    let origins: Vec<_> = lock
        .packages
        .iter()
        .map(|package| package.origin.clone())
        .collect();
    assert_eq!(
        origins,
        [
            Origin::Index,
            Origin::Project,
            Origin::Directory("./lib".to_owned()),
            Origin::File("dist/local-1.whl".to_owned()),
            Origin::Url,
            Origin::Vcs("https://g.example/repo".to_owned()),
            Origin::Index,
            Origin::Index,
        ]
    );
    let far = &lock.packages[4].files[0];
    assert_eq!(far.name, "far-1+x.whl");
    assert_eq!(far.hash.as_ref().unwrap().hex, "cc");
    assert!(!format!("{lock:?}").contains("s3cret"));
}

#[test]
fn what_is_not_locked_and_what_cannot_be_read_is_told() {
    let lock = lock("Pipfile.lock", TEXT);
    let unlocked: Vec<_> = lock
        .unlocked
        .iter()
        .map(|it| (it.text.as_str(), it.line))
        .collect();
    assert_eq!(unlocked, [("loose>=1", 28), ("any", 29)]);
    assert_eq!(
        problems(&lock),
        [
            "line 12: a hash of `torch` is none",
            "line 27: `odd` is from `gone`, an index that `_meta` does not list",
            "line 31: the entry of `broken` can't be read: invalid type: integer `3`, expected a string",
            "line 37: `docs` can't be read: invalid type: sequence, expected a map",
        ]
    );
}

#[test]
fn other_versions_of_the_format_are_told() {
    let text = b"{\"_meta\": {\"pipfile-spec\": 7}}";
    let (message, hint) = failure("Pipfile.lock", text);
    assert_eq!(
        message,
        "Pipfile.lock: its pipfile-spec is 7, and 6 is read"
    );
    assert_eq!(hint, "write it again with `pipenv lock`");
}
