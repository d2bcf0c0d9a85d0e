//! What is kept between runs.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{check, inspect, large, run, small};
use crate::support::read;
use crate::support::registry::stub::Stub;
use crate::support::servers::{by_ranges, served, uv_lock, uv_package};
use crate::support_cli::{CACHE, Place, Run};

/// A lock file with a wheel for an H100 and one that is not, and the server of both.
fn two() -> (Place, Stub) {
    let place = Place::new();
    let (new, new_bytes) = large("new_gpu", "sm_90");
    let (old, old_bytes) = small("old_gpu", "sm_80");
    let server = by_ranges(vec![served(&new, &new_bytes), served(&old, &old_bytes)]);
    let packages = [
        uv_package(&server.url(""), &new, &new_bytes),
        uv_package(&server.url(""), &old, &old_bytes),
    ];
    place.write("uv.lock", uv_lock(&packages));
    (place, server)
}

/// Requests for the two wheels: the end of each, and of the longer one the local header of a member that is left out by
/// its name and lies before that.
const ASKED: usize = 3;

/// The files in the cache of a place.
fn kept(place: &Place) -> Vec<PathBuf> {
    match fs::read_dir(place.path().join(CACHE)) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_absent) => Vec::new(),
    }
}

/// An inventory without what was fetched.
fn unfetched(run: &Run) -> Value {
    let mut report = run.json();
    report["locks"][0]["fetched"] = Value::Null;
    report
}

#[test]
fn the_second_run_asks_no_server_and_says_the_same() {
    let (place, server) = two();
    let first = check(&place, &["uv.lock"]);
    let asked = server.paths().len();
    assert_eq!((first.status, asked), (1, ASKED), "{first:?}");
    assert_eq!(check(&place, &["uv.lock"]), first);
    assert_eq!(check(&place, &["uv.lock", "--offline"]), first);
    assert_eq!(server.paths().len(), asked);
}

#[test]
fn the_second_inventory_differs_in_what_was_fetched_alone() {
    let (place, _server) = two();
    let first = inspect(&place, &["uv.lock"]);
    let second = inspect(&place, &["uv.lock"]);
    assert!(first.json()["locks"][0]["fetched"].as_u64() > Some(65_536));
    assert_eq!(second.json()["locks"][0]["fetched"], 0);
    assert_eq!(unfetched(&second), unfetched(&first));
}

#[test]
fn the_report_does_not_depend_on_how_many_threads_fetch() {
    let (place, _server) = two();
    let with = |threads: &str| inspect(&place, &["uv.lock", "--no-cache", "--threads", threads]);
    assert_eq!(with("1"), with("8"));
}

#[test]
fn what_no_earlier_run_kept_is_unreadable_offline() {
    let (place, server) = two();
    let run = check(&place, &["uv.lock", "--offline"]);
    assert_eq!(
        (run.status, run.codes()),
        (3, vec!["unreadable".to_owned()]),
        "{run:?}"
    );
    assert_eq!(server.paths(), Vec::<String>::new());
}

#[test]
fn without_a_cache_nothing_is_used_or_kept() {
    let (place, server) = two();
    let first = check(&place, &["uv.lock", "--no-cache"]);
    assert_eq!(kept(&place), Vec::<PathBuf>::new());
    check(&place, &["uv.lock"]);
    assert_eq!(kept(&place).len(), 2);
    let asked = server.paths().len();
    assert_eq!(check(&place, &["uv.lock", "--no-cache"]), first);
    assert_eq!(server.paths().len(), asked + ASKED);
}

#[test]
fn a_broken_result_is_as_good_as_none() {
    let (place, server) = two();
    let first = check(&place, &["uv.lock"]);
    let whole: Vec<(PathBuf, Vec<u8>)> = kept(&place)
        .into_iter()
        .map(|path| {
            let bytes = read(&path);
            (path, bytes)
        })
        .collect();
    for (round, broken) in [&b""[..], b"{", b"[]", b"\xff\0"].into_iter().enumerate() {
        for (path, bytes) in &whole {
            let cut = &bytes[..bytes.len() / 2];
            fs::write(path, if round == 0 { cut } else { broken }).unwrap();
        }
        let before = server.paths().len();
        assert_eq!(check(&place, &["uv.lock"]), first, "{broken:?}");
        assert_eq!(server.paths().len(), before + ASKED);
        // and they are as they were
        for (path, bytes) in &whole {
            assert_eq!(read(path), *bytes);
        }
    }
}

#[test]
fn a_file_that_could_not_be_read_is_not_kept() {
    let place = Place::new();
    let (name, bytes) = small("pkg", "sm_90");
    let damaged: Vec<u8> = bytes[..bytes.len() - 30].to_vec();
    let server = by_ranges(vec![served(&name, &damaged)]);
    let package = uv_package(&server.url(""), &name, &damaged);
    place.write("uv.lock", uv_lock(&[package]));
    assert_eq!(check(&place, &["uv.lock"]).status, 3);
    assert_eq!(kept(&place), Vec::<PathBuf>::new());
}

#[test]
fn the_cache_is_named_counted_and_cleared() {
    let (place, _server) = two();
    let cache = |command: &str| {
        let done = run(&place, &["cache", command]);
        assert_eq!((done.status, done.stderr.as_str()), (0, ""));
        done.stdout.trim_end().to_owned()
    };
    assert_eq!(cache("dir"), place.path().join(CACHE).display().to_string());
    assert_eq!(cache("size"), "0 results, 0.0 MB");
    check(&place, &["uv.lock"]);
    place.write(&format!("{CACHE}/README"), "not a result");
    assert!(cache("size").starts_with("2 results, "));
    assert!(cache("clear").starts_with("removed 2 results, "));
    assert_eq!(cache("size"), "0 results, 0.0 MB");
    // what is no result stays
    assert_eq!(kept(&place), [place.path().join(CACHE).join("README")]);
}
