//! Files that are made to be taken for something else, and archives that are made to be too much.

use std::fs;
use std::path::Path;

use super::{Artifact, ScanOptions, scan};
use crate::archive::zip::fixture::Builder;
use crate::limits::read_capped;
use crate::problem::ProblemKind;
use crate::tables::Tables;

const WHEEL: &str = "p-1.0-py3-none-any.whl";

fn scanned(path: &Path) -> Artifact {
    let spec = path.display().to_string().parse().unwrap();
    let inventory = scan(&[spec], &ScanOptions::default(), Tables::builtin()).unwrap();
    inventory.artifacts.into_iter().next().unwrap()
}

/// The artifact of a directory that holds one file.
fn alone(name: &str, bytes: &[u8]) -> Artifact {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), bytes).unwrap();
    scanned(dir.path())
}

fn library() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cuda/n135_two_objs.so");
    let file = fs::File::open(path).unwrap();
    read_capped(file, 1 << 20).unwrap().0
}

/// A wheel of one library, with something in front of it.
fn prefixed(prefix: &[u8]) -> Vec<u8> {
    let mut builder = Builder::new()
        .stored("p/_C.so", &library())
        .stored("p-1.0.dist-info/METADATA", b"Name: p\nVersion: 1.0\n")
        .stored(
            "p-1.0.dist-info/WHEEL",
            b"Wheel-Version: 1.0\nTag: py3-none-any\n",
        )
        .stored("p-1.0.dist-info/RECORD", b"p/_C.so,,\n");
    builder.prefix = prefix.to_vec();
    builder.build()
}

fn kinds(artifact: &Artifact) -> Vec<ProblemKind> {
    let problems = artifact.problems.iter();
    problems.map(|problem| problem.kind).collect()
}

/// Makes the checksum of a tar header right: it lies in the address of a segment that no loader looks at.
fn with_tar_checksum(mut elf: Vec<u8>) -> Vec<u8> {
    elf[148..156].fill(b' ');
    let sum: u32 = elf[..512].iter().map(|byte| u32::from(*byte)).sum();
    elf[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    elf
}

#[test]
fn a_library_with_the_checksum_of_a_tar_header_is_scanned() {
    let plain = alone("_C.so", &library());
    let disguised = alone("_C.so", &with_tar_checksum(library()));
    assert_eq!(disguised.seen, plain.seen);
    assert_eq!(disguised.seen.with_device_code, 1);
    assert_eq!(disguised.libraries.len(), 1);
    assert_eq!(disguised.libraries[0].code, plain.libraries[0].code);
}

#[test]
fn what_follows_no_header_of_a_tar_archive_is_a_problem() {
    let mut header = vec![0; 512];
    header[..4].copy_from_slice(b"a.so");
    let size = format!("{:011o}", library().len());
    header[124..135].copy_from_slice(size.as_bytes());
    let mut tar = [with_tar_checksum(header), library()].concat();
    tar.resize(tar.len().next_multiple_of(512) + 1024, 0);
    let found = alone("libs.tar", &tar);
    assert_eq!((found.seen.with_device_code, found.seen.unopened), (1, 0));
    assert_eq!(kinds(&found), []);
    // device code that is no member
    let mut header = vec![0; 512];
    header[..4].copy_from_slice(b"a.so");
    let hidden = alone("data", &[with_tar_checksum(header), library()].concat());
    assert_eq!(kinds(&hidden), [ProblemKind::MalformedArchive]);
}

#[test]
fn a_wheel_with_something_in_front_is_the_same_wherever_it_lies() {
    for prefix in [&b""[..], b"#!/bin/sh\n", &[b'x'; 600]] {
        let bytes = prefixed(prefix);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(WHEEL), &bytes).unwrap();
        let named = scanned(&dir.path().join(WHEEL));
        assert_eq!(named.problems.is_empty(), prefix.is_empty());
        let outer = Builder::new().stored(WHEEL, &bytes).build();
        for found in [scanned(dir.path()), alone("outer.zip", &outer)] {
            assert_eq!(kinds(&found), kinds(&named), "{:?}", found.problems);
            assert_eq!(found.packages, named.packages);
            assert_eq!(found.libraries.len(), 1);
            assert_eq!(found.libraries[0].code, named.libraries[0].code);
        }
    }
}

#[test]
fn what_is_called_a_wheel_and_is_none_is_a_problem() {
    for bytes in [&b"<html>404</html>"[..], b"", &library()] {
        let found = alone("p-1.0-py3-none-any.WHL", bytes);
        assert_eq!(kinds(&found), [ProblemKind::NotAnArchive]);
    }
}

#[test]
fn other_files_called_archives_are_opened_where_their_end_is_one() {
    for name in ["x.zip", "x.egg", "X.ZIP"] {
        let zip = alone(name, &prefixed(b"#!/bin/sh\n"));
        assert_eq!(zip.libraries.len(), 1, "{name}");
        assert_eq!(zip.libraries[0].path, format!("{name} › p/_C.so"));
        assert_eq!(kinds(&zip), [ProblemKind::MalformedArchive]);
        let data = alone(name, &library());
        assert_eq!(data.libraries[0].path, name);
        assert!(data.problems.is_empty());
        let text = alone(name, b"nothing\n");
        assert!(text.problems.is_empty());
    }
}

#[test]
fn archives_with_endless_problems_list_a_bounded_number_of_them() {
    let mut bad = Builder::new();
    for index in 0..600 {
        bad = bad.stored(&format!("{index:03}\u{1}{}", "n".repeat(3000)), b"x");
    }
    let bad = bad.build();
    let mut outer = Builder::new();
    for index in 0..20 {
        outer = outer.stored(&format!("{index:02}.zip"), &bad);
    }
    let found = alone("outer.zip", &outer.build());
    let text: usize = found.problems.iter().map(|p| p.at.to_string().len()).sum();
    assert!(text < 17 << 20, "{text}");
    let listed = found.problems.len() - 1;
    let more = found
        .problems
        .iter()
        .find(|problem| problem.kind == ProblemKind::LimitExceeded);
    let more = more.unwrap();
    let left_out = 20 * 600 - listed;
    assert!(
        more.detail
            .starts_with(&format!("{left_out} more problems")),
        "{}",
        more.detail
    );
    assert_eq!(found.seen.files, 1 + 20 + 20 * 600);
}
