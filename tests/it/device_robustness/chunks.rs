//! The report does not depend on how the file was cut into chunks.

use crate::support::fatbin::{Entry, fatbin};
use crate::support::{Random, fixtures, images, scan, scan_in};

#[test]
fn every_fixture_reads_the_same_in_chunks_of_any_size() {
    for (name, bytes) in fixtures() {
        let whole = scan_in(&bytes, usize::MAX, true);
        for chunk in [1, 7, 4096] {
            assert_eq!(
                scan_in(&bytes, chunk, true),
                whole,
                "{name} in chunks of {chunk}"
            );
        }
    }
}

#[test]
fn every_fixture_reads_the_same_when_its_length_is_not_known() {
    for (name, bytes) in fixtures() {
        let known = scan_in(&bytes, usize::MAX, true);
        for chunk in [usize::MAX, 7, 4096] {
            let unknown = scan_in(&bytes, chunk, false);
            // what claims to be longer than the file is noticed later then, and said in other words
            if known.problems.is_empty() {
                assert_eq!(unknown, known, "{name} in chunks of {chunk}");
            } else {
                assert!(!unknown.problems.is_empty(), "{name} in chunks of {chunk}");
                let more = |image: &String| !images(&unknown).contains_key(image);
                let lost: Vec<_> = images(&known).into_keys().filter(more).collect();
                assert!(lost.is_empty(), "{name} in chunks of {chunk}: {lost:?}");
            }
        }
    }
}

/// Bytes in which much begins and little goes on: where states change most.
fn broken_pieces(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let pieces: Vec<Vec<u8>> = fixtures().into_iter().map(|(_, bytes)| bytes).collect();
    let tiny = fatbin(&[Entry::ptx("compute_80", "8.0")]);
    let mut bytes = Vec::new();
    for _ in 0..60 {
        match random.below(6) {
            0 => bytes.extend(random.pick(&[
                &b"\x50\xed\x55\xba"[..],
                b"\x7fELF",
                b"\x28\xb5\x2f\xfd",
                b".version ",
                b"\0Cuda compilation tools, release 12.9, V12.9.86\0",
            ])),
            1 => bytes.extend(vec![0; random.below(40)]),
            2 => bytes.extend(&tiny),
            3 => bytes.extend(b".version 8.0\n.target sm_80\n.visible .entry k() {}\n"),
            _ => {
                let piece = &pieces[random.below(pieces.len())];
                let start = random.below(piece.len());
                let len = random.below(3000).min(piece.len() - start);
                bytes.extend(&piece[start..start + len]);
            }
        }
    }
    bytes
}

#[test]
fn broken_pieces_read_the_same_in_chunks_of_any_size() {
    for seed in 0..40 {
        let bytes = broken_pieces(seed);
        let whole = scan_in(&bytes, usize::MAX, true);
        for chunk in [1, 13, 300, 5000] {
            assert_eq!(
                scan_in(&bytes, chunk, true),
                whole,
                "seed {seed} in chunks of {chunk}"
            );
        }
    }
}

/// Found by fuzzing: the answer depended on whether the other fatbin's first entry was at hand already.
#[test]
fn a_fatbin_inside_the_header_of_an_entry_reads_the_same_in_chunks_of_any_size() {
    let mut bytes = Vec::new();
    // a fatbin, its first entry without a payload, and the beginning of another fatbin in the entry's header
    for (at, field) in [
        (0, &b"\x50\xed\x55\xba\x01\x00\x10\x00\x98\x33"[..]),
        (16, b"\x02\x00\x01\x01\x40"),
        (
            67,
            b"\x50\xed\x55\xba\x01\x00\x10\x00\x00\x00\x00\x00\x00\x02\x00\x01",
        ),
        (83, b"\x02\x00\x01\x01"),
    ] {
        bytes.resize(at, 0);
        bytes.extend_from_slice(field);
    }
    let whole = scan_in(&bytes, usize::MAX, true);
    for chunk in 1..bytes.len() {
        assert_eq!(scan_in(&bytes, chunk, true), whole, "in chunks of {chunk}");
    }
}

#[test]
fn a_long_comment_in_ptx_reads_the_same_in_chunks_of_any_size() {
    for comment in [10, 4000, 4100, 10_000] {
        let text = format!(
            ".version 8.4\n//{}\n.target sm_90a\n.entry k() {{}}\n",
            "x".repeat(comment)
        );
        let whole = scan_in(text.as_bytes(), usize::MAX, true);
        for chunk in [1, 100, 4096, 5000] {
            let report = scan_in(text.as_bytes(), chunk, true);
            assert_eq!(report, whole, "a comment of {comment} in chunks of {chunk}");
        }
    }
}

#[test]
fn no_bytes_at_all_are_no_device_code() {
    let report = scan(&[]);
    assert!(!report.has_device_code() && report.problems.is_empty());
}
