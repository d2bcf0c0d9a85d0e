//! The files by which others install and run the program say what is true of it.

use std::path::Path;

use regex::Regex;
use serde::Deserialize;
use smgate::source::lock::{LockKind, detect};

use crate::support::text;

fn of_root(name: &str) -> String {
    text(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hook {
    id: String,
    name: String,
    description: String,
    entry: String,
    language: String,
    files: String,
    require_serial: bool,
    minimum_pre_commit_version: String,
}

fn hooks() -> Vec<Hook> {
    serde_saphyr::from_str(&of_root(".pre-commit-hooks.yaml")).unwrap()
}

#[test]
fn hooks_are_there_for_lock_files_and_wheels_in_three_ways() {
    let hooks = hooks();
    let ids: Vec<(&str, &str)> = hooks
        .iter()
        .map(|hook| (hook.id.as_str(), hook.language.as_str()))
        .collect();
    assert_eq!(
        ids,
        [
            ("smgate-lock", "rust"),
            ("smgate-wheel", "rust"),
            ("smgate-lock-py", "python"),
            ("smgate-wheel-py", "python"),
            ("smgate-lock-system", "system"),
            ("smgate-wheel-system", "system"),
        ]
    );
    for hook in &hooks {
        assert_eq!(hook.entry, "smgate check", "{}", hook.id);
        // one run with one cache, and not one for each core
        assert!(hook.require_serial, "{}", hook.id);
        assert!(!hook.name.is_empty() && !hook.description.is_empty());
        assert_eq!(hook.minimum_pre_commit_version, "3.0.0");
    }
}

/// The regular expressions of the hooks of one kind, which are one.
fn files_of(start: &str) -> Regex {
    let hooks = hooks();
    let mut of_kind = hooks.iter().filter(|hook| hook.id.starts_with(start));
    let first = of_kind.next().unwrap();
    assert!(of_kind.all(|hook| hook.files == first.files));
    Regex::new(&first.files).unwrap()
}

/// A line of text that is the beginning of no lock file.
const ELSE: &[u8] = b"It was a dark and stormy night.\n";
const HASHED: &[u8] = b"a==1 --hash=sha256:00\n";
const EXPLICIT: &[u8] = b"@EXPLICIT\nhttps://channel.example/linux-64/a-1-0.conda\n";

/// Whether a file of this name is refused as a lock file where it holds something else.
fn is_named_as_a_lock_file(name: &str) -> bool {
    match detect(ELSE, name) {
        Ok(kind) => kind.is_some(),
        Err(_) => true,
    }
}

#[test]
fn the_hook_for_lock_files_takes_every_name_that_the_detector_knows() {
    let files = files_of("smgate-lock");
    for name in [
        "uv.lock",
        "poetry.lock",
        "pdm.lock",
        "Pipfile.lock",
        "pylock.toml",
        "pylock.gpu.toml",
        "pixi.lock",
        "conda-lock.yml",
        "conda-lock.yaml",
        "gpu.conda-lock.yml",
        "requirements.txt",
        "Requirements.TXT",
        "requirements-gpu.txt",
        "dev-requirements.txt",
        "dev_requirements_gpu.txt",
    ] {
        assert!(is_named_as_a_lock_file(name), "{name}");
        assert!(files.is_match(name), "{name}");
        assert!(files.is_match(&format!("services/api/{name}")), "{name}");
    }
}

#[test]
fn the_hook_for_lock_files_takes_the_names_that_only_content_tells() {
    let files = files_of("smgate-lock");
    for (name, content, kind) in [
        ("conda-linux-64.lock", EXPLICIT, LockKind::Explicit),
        ("conda-linux-aarch64.lock", EXPLICIT, LockKind::Explicit),
        ("requirements.lock", HASHED, LockKind::Requirements),
        ("requirements-dev.lock", HASHED, LockKind::Requirements),
    ] {
        assert_eq!(detect(content, name).unwrap(), Some(kind), "{name}");
        assert!(
            files.is_match(name) && files.is_match(&format!("a/{name}")),
            "{name}"
        );
    }
}

#[test]
fn the_hook_for_lock_files_leaves_out_what_locks_nothing() {
    let files = files_of("smgate-lock");
    // what a tool makes a lock file of, and what only bounds versions: there is nothing in them to be judged
    for name in [
        "environment.yml",
        "environment.yaml",
        "requirements.in",
        "constraints.txt",
    ] {
        assert!(is_named_as_a_lock_file(name), "{name}");
        assert!(!files.is_match(name), "{name}");
    }
    for name in [
        "Cargo.lock",
        "yarn.lock",
        "package-lock.json",
        "flake.lock",
        "my-uv.lock",
        "uv.lock.orig",
        "pylock.a.b.toml",
        "pyproject.toml",
        "conda-lock.json",
        "requirements.md",
    ] {
        assert!(!is_named_as_a_lock_file(name), "{name}");
        assert!(!files.is_match(name), "{name}");
    }
}

#[test]
fn the_hook_for_wheels_takes_wheels_and_conda_packages() {
    let files = files_of("smgate-wheel");
    for (name, taken) in [
        ("dist/pkg-1.0-py3-none-any.whl", true),
        ("pkg-1.0-0.conda", true),
        ("pkg.whl.sha256", false),
        ("whl", false),
        ("pkg-1.0.tar.gz", false),
        (".condarc", false),
    ] {
        assert_eq!(files.is_match(name), taken, "{name}");
    }
}

#[test]
fn what_pip_is_told_of_the_package_is_what_cargo_is_told() {
    let pip: toml::Table = of_root("pyproject.toml").parse().unwrap();
    let cargo: toml::Table = of_root("Cargo.toml").parse().unwrap();
    for (pip_key, cargo_key) in [
        ("name", "name"),
        ("description", "description"),
        ("license", "license"),
        ("readme", "readme"),
        ("keywords", "keywords"),
    ] {
        assert_eq!(
            pip["project"][pip_key], cargo["package"][cargo_key],
            "{pip_key}"
        );
    }
    let dynamic = pip["project"]["dynamic"].as_array().unwrap();
    assert_eq!(dynamic[0].as_str(), Some("version"));
    for file in pip["project"]["license-files"].as_array().unwrap() {
        assert!(!of_root(file.as_str().unwrap()).is_empty());
    }
}

#[test]
fn the_image_is_built_of_what_its_build_is_given() {
    let ignored = of_root(".dockerignore");
    let dockerfile = of_root("Dockerfile");
    for name in [
        "Cargo.toml",
        "Cargo.lock",
        "src",
        "policies",
        "README.md",
        "benches",
    ] {
        assert!(
            ignored.lines().any(|line| line == format!("!{name}")),
            "{name}"
        );
    }
    let version = format!("ARG VERSION={}", env!("CARGO_PKG_VERSION"));
    assert!(dockerfile.lines().any(|line| line == version));
}
