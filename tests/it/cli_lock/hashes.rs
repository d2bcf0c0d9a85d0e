//! A file is what its lock file says only where that was compared: nothing that is said of one file speaks for another.

use std::fmt::Write as _;

use md5::Md5;
use sha2::{Digest, Sha384, Sha512};

use super::{check, findings, inspect, large, of_packages, run, small};
use crate::support::registry::digest;
use crate::support::servers::{by_ranges, served, uv_lock, uv_package, whole};
use crate::support_cli::{Place, Run};

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

/// How often the report has a problem with a hash.
fn mismatches(run: &Run) -> usize {
    let problems = run.problems();
    let wrong = problems.iter().filter(|kind| *kind == "checksum-mismatch");
    wrong.count()
}

#[test]
fn what_was_read_in_parts_speaks_for_no_other_address() {
    let (name, good) = large("pkg", "sm_90");
    let (_, bad) = large("pkg", "sm_80");
    let server = by_ranges(vec![
        served(&format!("good/{name}"), &good),
        served(&format!("bad/{name}"), &bad),
    ]);
    let place = Place::new();
    // both lock files state the hash of the bad one
    for at in ["good", "bad"] {
        let package = uv_package(&server.url(&format!("/{at}")), &name, &bad);
        // and no size
        let size = format!(", size = {}", bad.len());
        let text = uv_lock(&[package]).replace(&size, "");
        place.write(&format!("{at}/uv.lock"), text);
    }
    assert_eq!(check(&place, &["good/uv.lock"]).status, 0);
    let run = check(&place, &["bad/uv.lock"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(findings(&run)[0][0], "no-kernel-image");
    // and in one run
    let run = check(&place, &["good/uv.lock", "bad/uv.lock", "--no-cache"]);
    assert_eq!(run.status, 1, "{run:?}");
}

#[test]
fn what_was_verified_speaks_for_every_address() {
    let (name, bytes) = large("pkg", "sm_90");
    let server = whole(vec![served(&format!("a/{name}"), &bytes)]);
    let place = Place::new();
    for at in ["a", "b"] {
        let package = uv_package(&server.url(&format!("/{at}")), &name, &bytes);
        place.write(&format!("{at}/uv.lock"), uv_lock(&[package]));
    }
    assert_eq!(check(&place, &["a/uv.lock"]).status, 0);
    let asked = server.paths().len();
    let second = inspect(&place, &["b/uv.lock"]);
    assert_eq!(of_packages(&second, "content"), ["verified"]);
    assert_eq!(server.paths().len(), asked);
}

#[test]
fn a_file_of_this_machine_is_read_though_a_server_had_one_of_its_hash() {
    let (name, good) = small("pkg", "sm_90");
    let (_, bad) = small("pkg", "sm_80");
    let server = whole(vec![served(&name, &good)]);
    let place = Place::new();
    place.write(
        "uv.lock",
        uv_lock(&[uv_package(&server.url(""), &name, &good)]),
    );
    assert_eq!(check(&place, &["uv.lock"]).status, 0);
    place.write(&name, &bad);
    place.write(
        "requirements.txt",
        format!("./{name} --hash={}\n", digest(&good)),
    );
    let run = check(&place, &["requirements.txt"]);
    assert_eq!((run.status, mismatches(&run)), (1, 1), "{run:?}");
}

#[test]
fn hashes_of_every_kind_are_compared_and_one_of_several_is_enough() {
    let (name, bytes) = small("pkg", "sm_90");
    let place = Place::new();
    place.write(&name, &bytes);
    let sha384 = hex(&Sha384::digest(&bytes));
    let sha512 = hex(&Sha512::digest(&bytes));
    let (no256, no512) = ("0".repeat(64), "0".repeat(128));
    for (hashes, right) in [
        (format!("--hash=sha384:{sha384}"), true),
        (format!("--hash=sha512:{sha512}"), true),
        (format!("--hash=sha512:{no512}"), false),
        (
            format!("--hash=sha256:{no256} --hash=sha512:{sha512}"),
            true,
        ),
        (
            format!("--hash=sha256:{no256} --hash=sha512:{no512}"),
            false,
        ),
    ] {
        place.write("requirements.txt", format!("./{name} {hashes}\n"));
        let run = check(&place, &["requirements.txt"]);
        let expected = if right { (0, 0) } else { (3, 1) };
        assert_eq!((run.status, mismatches(&run)), expected, "{hashes} {run:?}");
        let inspected = inspect(&place, &["requirements.txt"]);
        let content = if right { "verified" } else { "read" };
        assert_eq!(of_packages(&inspected, "content"), [content], "{hashes}");
    }
    for (digits, right) in [(hex(&Md5::digest(&bytes)), true), ("0".repeat(32), false)] {
        place.write(
            "pylock.toml",
            format!(
                "lock-version = \"1.0\"\ncreated-by = \"tests\"\n\n[[packages]]\nname = \"pkg\"\nversion = \"1.0\"\n\
                 wheels = [{{ path = \"{name}\", hashes = {{ md5 = \"{digits}\" }} }}]\n"
            ),
        );
        let run = check(&place, &["pylock.toml"]);
        let expected = if right { (0, 0) } else { (3, 1) };
        assert_eq!((run.status, mismatches(&run)), expected, "{run:?}");
    }
}

#[test]
fn a_wrong_hash_of_a_fetched_file_is_said_once_and_not_as_unread() {
    let (name, bytes) = small("pkg", "sm_90");
    for server in [
        whole(vec![served(&name, &bytes)]),
        by_ranges(vec![served(&name, &bytes)]),
    ] {
        let place = Place::new();
        let mut package = uv_package(&server.url(""), &name, &bytes);
        package.2[0].1 = digest(b"other");
        place.write("uv.lock", uv_lock(&[package]));
        let checked = check(&place, &["uv.lock"]);
        assert_eq!(
            (checked.status, mismatches(&checked)),
            (3, 1),
            "{checked:?}"
        );
        let human = run(&place, &["inspect", "uv.lock"]);
        assert!(!human.stdout.contains("only parts"), "{human:?}");
    }
}

#[test]
fn a_package_that_is_not_the_locked_one_never_passes() {
    let (name, bytes) = small("pkg", "sm_90");
    let server = by_ranges(vec![served(&name, &bytes)]);
    let place = Place::new();
    let (url, hash) = (server.url(&format!("/{name}")), digest(&bytes));
    for (locked, version, words) in [
        (
            "other",
            "1.0",
            Some("`pkg`, and the lock file says `other`"),
        ),
        (
            "pkg",
            "2.0",
            Some("`1.0` of `pkg`, and the lock file says `2.0`"),
        ),
        ("PKG", "1.0.0", None),
    ] {
        let wheel = (url.clone(), hash.clone(), bytes.len());
        let package = (locked.to_owned(), version.to_owned(), vec![wheel]);
        place.write("uv.lock", uv_lock(&[package]));
        // the second time by what was kept
        for _ in 0..2 {
            let run = check(&place, &["uv.lock"]);
            let status = if words.is_some() { 3 } else { 0 };
            assert_eq!(run.status, status, "{locked} {version} {run:?}");
            let problems = run.json()["problems"].to_string();
            assert!(problems.contains(words.unwrap_or("[]")), "{problems}");
        }
    }
}
