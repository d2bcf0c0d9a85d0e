//! Files beside a lock file, several inputs, and inputs that are said to be lock files.

use serde_json::json;

use super::{check, findings, inspect, of_packages, small};
use crate::support::registry::digest;
use crate::support::servers::{by_ranges, served, uv_lock, uv_package};
use crate::support_cli::Place;

/// A `pylock.toml` with one wheel in `wheels/`.
fn pylock(name: &str, bytes: &[u8]) -> String {
    let hex = digest(bytes).replace("sha256:", "");
    format!(
        "lock-version = \"1.0\"\ncreated-by = \"tests\"\n\n[[packages]]\nname = \"pkg\"\nversion = \"1.0\"\n\
         wheels = [{{ path = \"wheels/{name}\", hashes = {{ sha256 = \"{hex}\" }} }}]\n"
    )
}

#[test]
fn a_wheel_beside_a_pylock_is_read_and_compared_without_a_server() {
    let (name, bytes) = small("pkg", "sm_90");
    let place = Place::new();
    place.write("sub/pylock.toml", pylock(&name, &bytes));
    place.write(&format!("sub/wheels/{name}"), &bytes);
    let run = check(&place, &["sub/pylock.toml", "--offline"]);
    assert_eq!((run.status, run.problems()), (0, Vec::new()), "{run:?}");
    let inspected = inspect(&place, &["sub/pylock.toml", "--offline"]);
    assert_eq!(of_packages(&inspected, "content"), ["verified"]);

    let (_, old) = small("pkg", "sm_80");
    place.write(&format!("sub/wheels/{name}"), &old);
    let run = check(&place, &["sub/pylock.toml", "--offline"]);
    assert_eq!(run.problems(), ["checksum-mismatch"], "{run:?}");
    // and what is there is judged all the same
    assert_eq!(run.status, 1, "{run:?}");
    let codes = run.codes();
    assert!(codes.contains(&"no-kernel-image".to_owned()), "{codes:?}");
}

#[test]
fn a_wheel_beside_requirements_is_read_and_compared_without_a_server() {
    let (name, bytes) = small("pkg", "sm_90");
    let place = Place::new();
    place.write(&name, &bytes);
    for (hash, status, content, problems) in [
        (digest(&bytes), 0, "verified", vec![]),
        (digest(b"other"), 3, "read", vec!["checksum-mismatch"]),
    ] {
        place.write("requirements.txt", format!("./{name} --hash={hash}\n"));
        let run = check(&place, &["requirements.txt", "--offline"]);
        assert_eq!(run.status, status, "{run:?}");
        assert_eq!(run.problems(), problems);
        let inspected = inspect(&place, &["requirements.txt", "--offline"]);
        assert_eq!(of_packages(&inspected, "content"), [content]);
    }
}

#[test]
fn a_wheel_that_is_not_beside_its_lock_file_is_unreadable() {
    let (name, bytes) = small("pkg", "sm_90");
    let place = Place::new();
    place.write("pylock.toml", pylock(&name, &bytes));
    let run = check(&place, &["pylock.toml"]);
    assert_eq!(
        (run.status, run.problems()),
        (3, vec!["io".to_owned()]),
        "{run:?}"
    );
}

#[test]
fn a_package_that_is_built_at_install_is_remarked_with_its_line() {
    let place = Place::new();
    let text = "lock-version = \"1.0\"\ncreated-by = \"tests\"\n\n[[packages]]\nname = \"pkg\"\nversion = \"1.0\"\n\
                sdist = { url = \"https://files.example/pkg-1.0.tar.gz\", hashes = { sha256 = \"00\" } }\n";
    place.write("pylock.toml", text);
    let run = check(&place, &["pylock.toml", "--offline"]);
    assert_eq!(
        (run.status, findings(&run)),
        (0, vec![json!(["built-at-install", "pkg", 4, null])]),
        "{run:?}"
    );
}

#[test]
fn a_file_with_another_name_is_a_lock_file_where_that_is_said() {
    let (name, bytes) = small("pkg", "sm_80");
    let place = Place::new();
    place.write(&format!("wheels/{name}"), &bytes);
    place.write("deps", pylock(&name, &bytes));
    let run = check(&place, &["lock:deps"]);
    assert_eq!(
        (run.status, findings(&run)),
        (1, vec![json!(["no-kernel-image", "pkg", 4, "H100"])]),
        "{run:?}"
    );
    place.write("notes", "hello\n");
    let run = check(&place, &["lock:notes"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(
        run.stderr
            .contains("is no lock file of a kind that is read"),
        "{run:?}"
    );
}

#[test]
fn wheels_and_lock_files_are_judged_together() {
    let place = Place::new();
    let (good, good_bytes) = small("good", "sm_90");
    let (old, old_bytes) = small("old", "sm_80");
    place.write(&old, &old_bytes);
    let server = by_ranges(vec![served(&good, &good_bytes), served(&old, &old_bytes)]);
    let of = |name: &str, bytes: &[u8]| uv_lock(&[uv_package(&server.url(""), name, bytes)]);
    place.write("a/uv.lock", of(&good, &good_bytes));
    place.write("b/uv.lock", of(&old, &old_bytes));
    place.write("c/uv.lock", of(&good, &good_bytes));
    let run = check(&place, &["a/uv.lock", &old, "b/uv.lock", "c/uv.lock"]);
    assert_eq!(run.status, 1, "{run:?}");
    let report = run.json();
    let inputs: Vec<_> = report["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| artifact["input"].as_str().unwrap())
        .collect();
    assert_eq!(inputs, ["a/uv.lock", &old, "b/uv.lock", "c/uv.lock"]);
    let mut found: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["code"] == "no-kernel-image")
        .map(|finding| {
            format!(
                "{} {}",
                finding["artifact"].as_str().unwrap(),
                finding["line"]
            )
        })
        .collect();
    found.sort();
    assert_eq!(found, ["b/uv.lock 10".to_owned(), format!("{old} null")]);
    // both lock files want it, and one fetch is enough
    assert_eq!(
        server
            .paths()
            .iter()
            .filter(|path| path.ends_with(&good))
            .count(),
        1
    );
}
