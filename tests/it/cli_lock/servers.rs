//! Files of lock files on servers: read by ranges, compared with their hashes, and what becomes of those that are not
//! given.

use serde_json::json;

use super::{check, findings, inspect, large, of_packages, run, small};
use crate::schema::{assert_valid, schema};
use crate::support::elf::Elf;
use crate::support::registry::digest;
use crate::support::registry::stub::{Reply, Stub};
use crate::support::servers::{by_ranges, served, uv_lock, uv_package, whole, with_login};
use crate::support_cli::{Place, Run, fatbin_of, wheel};

/// `check` of a lock file with one wheel that a server gives in this way.
fn check_with(server: &Stub, name: &str, bytes: &[u8]) -> Run {
    let place = Place::new();
    place.write(
        "uv.lock",
        uv_lock(&[uv_package(&server.url(""), name, bytes)]),
    );
    check(&place, &["uv.lock"])
}

/// Nothing passes, and a problem of this kind says so in these words.
fn is_incomplete(run: &Run, kind: &str, words: &str) {
    assert_eq!(run.status, 3, "{run:?}");
    assert_eq!(run.problems(), [kind], "{run:?}");
    assert_eq!(run.json()["verdict"], "incomplete");
    let problems = run.json()["problems"].to_string();
    assert!(problems.contains(words), "{problems}");
}

#[test]
fn each_package_is_judged_and_named_with_its_line() {
    let place = Place::new();
    let (new, new_bytes) = large("new_gpu", "sm_90");
    let (old, old_bytes) = large("old_gpu", "sm_80");
    let server = by_ranges(vec![served(&new, &new_bytes), served(&old, &old_bytes)]);
    let packages = [
        uv_package(&server.url(""), &new, &new_bytes),
        uv_package(&server.url(""), &old, &old_bytes),
    ];
    place.write("uv.lock", uv_lock(&packages));
    let checked = check(&place, &["uv.lock"]);
    assert_eq!(checked.status, 1, "{checked:?}");
    assert_valid(&schema("check-1.json"), &checked.json());
    // the first package is at line 10 and takes 8 lines
    assert_eq!(
        findings(&checked),
        [json!(["no-kernel-image", "old-gpu", 18, "H100"])]
    );
}

#[test]
fn what_was_fetched_is_said() {
    let place = Place::new();
    let (name, bytes) = large("new_gpu", "sm_90");
    let server = by_ranges(vec![served(&name, &bytes)]);
    place.write(
        "uv.lock",
        uv_lock(&[uv_package(&server.url(""), &name, &bytes)]),
    );
    let args = [
        "check",
        "uv.lock",
        "--target",
        "H100",
        "--driver",
        "R580",
        "--no-cache",
    ];
    let human = run(&place, &args);
    assert_eq!(human.status, 0, "{human:?}");
    let said = "Read 1 of 1 locked package, 0.1 MB fetched; the hash of 1 file was not verified: only parts were read\n";
    assert!(human.stdout.contains(said), "{human:?}");
    let inspected = inspect(&place, &["uv.lock"]);
    // the last 64 KiB, of a file with more than 200 kB, and the local header of the member that is left out for its
    // name of 17 bytes, with room for 1 KiB of extra fields
    assert_eq!(
        inspected.json()["locks"][0]["fetched"],
        65_536 + 30 + 17 + 1024
    );
    assert!(bytes.len() > 200_000);
    assert_eq!(of_packages(&inspected, "content"), ["read"]);
}

#[test]
fn a_file_that_passes_as_a_whole_is_compared_with_its_hash() {
    let (name, bytes) = large("new_gpu", "sm_90");
    let server = whole(vec![served(&name, &bytes)]);
    let right = check_with(&server, &name, &bytes);
    assert_eq!((right.status, right.problems()), (0, Vec::new()));
    let place = Place::new();
    let package = uv_package(&server.url(""), &name, &bytes);
    place.write("uv.lock", uv_lock(&[package]));
    assert_eq!(
        of_packages(&inspect(&place, &["uv.lock"]), "content"),
        ["verified"]
    );

    let mut other = bytes.clone();
    // another byte of the notes: the archive is as good as before, and of the same size
    other[1000] ^= 1;
    let changed = whole(vec![served(&name, &other)]);
    is_incomplete(
        &check_with(&changed, &name, &bytes),
        "checksum-mismatch",
        &digest(&bytes),
    );
}

#[test]
fn a_file_that_is_not_there_is_unreadable() {
    let server = by_ranges(Vec::new());
    let (name, bytes) = small("pkg", "sm_90");
    let run = check_with(&server, &name, &bytes);
    is_incomplete(&run, "io", "404");
    assert_eq!(findings(&run)[0][0], "unreadable");
}

#[test]
fn a_file_for_which_there_is_no_login_is_unreadable() {
    let (name, bytes) = small("pkg", "sm_90");
    let server = with_login(vec![served(&name, &bytes)]);
    is_incomplete(&check_with(&server, &name, &bytes), "io", "401");
}

#[test]
fn a_file_that_ends_too_early_is_unreadable() {
    let (name, bytes) = small("pkg", "sm_90");
    let body = bytes.clone();
    let server = Stub::start(move |_, _| Reply::new(200).body(body.clone()).cut(100));
    let run = check_with(&server, &name, &bytes);
    assert_eq!(run.status, 3, "{run:?}");
    assert_eq!(run.problems().len(), 1, "{run:?}");
}

#[test]
fn a_file_of_another_size_than_the_lock_file_says_is_unreadable() {
    let (name, bytes) = small("pkg", "sm_90");
    let (_, other) = large("pkg", "sm_90");
    let server = by_ranges(vec![served(&name, &other)]);
    let run = check_with(&server, &name, &bytes);
    is_incomplete(&run, "io", &bytes.len().to_string());
}

#[test]
fn a_library_lacks_the_release_of_the_runtime_that_no_locked_package_brings() {
    let needing = Elf::new()
        .needed("libcudart.so.12")
        .section(".nv_fatbin", fatbin_of("sm_90"))
        .build();
    let user = wheel("user", "1.0").member("user/_C.so", needing);
    let (user, user_bytes) = (user.file_name(), user.build());
    let runtime = |major: &str| {
        let soname = format!("libcudart.so.{major}");
        let path = format!("nvidia/cuda_runtime/lib/{soname}");
        let name = format!("nvidia_cuda_runtime_cu{major}");
        let file = wheel(&name, "1.0").member(&path, Elf::new().soname(&soname).build());
        (file.file_name(), file.build())
    };
    for (major, status, found) in [
        (
            "13",
            1,
            vec![json!(["runtime-library-missing", "user", 10, null])],
        ),
        ("12", 0, vec![]),
    ] {
        let (other, other_bytes) = runtime(major);
        let server = by_ranges(vec![
            served(&user, &user_bytes),
            served(&other, &other_bytes),
        ]);
        let place = Place::new();
        let packages = [
            uv_package(&server.url(""), &user, &user_bytes),
            uv_package(&server.url(""), &other, &other_bytes),
        ];
        place.write("uv.lock", uv_lock(&packages));
        let run = check(&place, &["uv.lock"]);
        assert_eq!((run.status, findings(&run)), (status, found), "{run:?}");
    }
}
