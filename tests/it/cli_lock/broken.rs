//! Locked files that are not what the lock file says.

use std::io::Write as _;

use super::{check, small};
use crate::cli_conda::Conda;
use crate::support::image::{Entry, gzip, tar};
use crate::support::servers::{by_ranges, served, uv_lock, uv_package};
use crate::support_cli::{Place, Run};

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn is_incomplete(run: &Run, what: &str) {
    assert_eq!(run.status, 3, "{what}: {run:?}");
    assert_eq!(run.json()["verdict"], "incomplete", "{what}");
    assert_eq!(run.problems().len(), 1, "{what}: {run:?}");
}

/// What nobody can install under the name of a conda package.
fn no_packages() -> Vec<(&'static str, Vec<u8>)> {
    let (_, good) = Conda::new("demo", "0").file("x.txt", "text").tar_bz2();
    let no_index = tar(&[("x.txt".to_owned(), Entry::File(b"text".to_vec()))]);
    vec![
        (
            "a login page",
            b"<!DOCTYPE html><html>log in</html>".to_vec(),
        ),
        ("nothing", Vec::new()),
        ("xz", b"\xfd7zXZ\0\0\x04 and so on".to_vec()),
        ("gzip", gzip(&no_index)),
        ("cut", good[..good.len() / 2].to_vec()),
        ("bad magic", [b"BZx9", &good[4..]].concat()),
        ("no archive in it", bzip2(&[0x55; 5000])),
        ("no index", bzip2(&no_index)),
    ]
}

#[test]
fn a_locked_conda_package_that_is_none_never_passes() {
    let place = Place::new();
    let (_, good) = Conda::new("demo", "0").file("x.txt", "text").tar_bz2();
    for (what, bytes) in no_packages() {
        place.write("demo-1.0-0.tar.bz2", &bytes);
        place.write("explicit.txt", "@EXPLICIT\n./demo-1.0-0.tar.bz2\n");
        is_incomplete(&check(&place, &["explicit.txt"]), what);
        let server = by_ranges(vec![served("demo-1.0-0.tar.bz2", &bytes)]);
        let list = format!("@EXPLICIT\n{}\n", server.url("/demo-1.0-0.tar.bz2"));
        place.write("explicit.txt", list);
        is_incomplete(&check(&place, &["explicit.txt"]), what);
    }
    place.write("demo-1.0-0.tar.bz2", good);
    place.write("explicit.txt", "@EXPLICIT\n./demo-1.0-0.tar.bz2\n");
    let run = check(&place, &["explicit.txt"]);
    assert_eq!((run.status, run.problems()), (0, Vec::new()), "{run:?}");
}

#[test]
fn a_locked_wheel_that_is_none_never_passes() {
    let (name, _) = small("pkg", "sm_90");
    let page = b"<!DOCTYPE html><html>log in</html>";
    let place = Place::new();
    let server = by_ranges(vec![served(&name, page)]);
    place.write(
        "uv.lock",
        uv_lock(&[uv_package(&server.url(""), &name, page)]),
    );
    is_incomplete(&check(&place, &["uv.lock"]), "by its address");
    place.write(&name, page);
    place.write("requirements.txt", format!("./{name}\n"));
    is_incomplete(&check(&place, &["requirements.txt"]), "by its path");
}
