//! The names of kernels: of every fixture as NVIDIA's tool and readelf see them, and of hostile symbol tables.

use std::collections::BTreeSet;

use smgate::device::{DeviceReport, Scanner};

use crate::support::cubin::Cubin;
use crate::support::fatbin::{Entry, fatbin};
use crate::support::{cuda_dir, fixture, problem_kinds, scan, text};

const MOST: u64 = 1 << 20;

fn scan_named(bytes: &[u8], chunk: usize, most: u64) -> DeviceReport {
    let mut scanner = Scanner::new(Some(bytes.len() as u64)).with_kernels(most);
    bytes.chunks(chunk).for_each(|piece| scanner.feed(piece));
    scanner.finish().report()
}

fn names(report: &DeviceReport) -> BTreeSet<String> {
    let classes = report.classes.iter();
    classes
        .flat_map(|class| class.kernels.iter().flatten())
        .map(ToString::to_string)
        .collect()
}

#[test]
fn the_kernels_of_every_fixture_are_those_that_the_oracle_sees() {
    let expected = text(&cuda_dir().join("kernels.txt"));
    let mut seen = 0;
    for line in expected.lines() {
        let (name, kernels) = line.split_once(' ').unwrap();
        let kernels: BTreeSet<String> = kernels.split(' ').map(str::to_owned).collect();
        for chunk in [1, 4096, 1 << 20] {
            let report = scan_named(&fixture(name), chunk, MOST);
            assert_eq!(names(&report), kernels, "{name} in chunks of {chunk}");
        }
        seen += 1;
    }
    assert_eq!(seen, 127);
}

#[test]
fn asking_for_names_changes_nothing_else_that_is_read_of_any_fixture() {
    for (name, bytes) in crate::support::fixtures() {
        let mut named = scan_named(&bytes, 256 << 10, MOST);
        let mut plain = scan_named_not(&bytes);
        let at_all = |report: &mut DeviceReport| {
            report.forget_kernels();
            report.kernel_name_bytes = 0;
        };
        at_all(&mut named);
        at_all(&mut plain);
        assert_eq!(named, plain, "{name}");
    }
}

fn scan_named_not(bytes: &[u8]) -> DeviceReport {
    let mut scanner = Scanner::new(Some(bytes.len() as u64));
    scanner.feed(bytes);
    scanner.finish().report()
}

#[test]
fn nobody_who_did_not_ask_gets_names() {
    let report = scan(&fixture("cubin_135_sm_90a.cubin"));
    assert_eq!(report.classes[0].kernels, None);
    assert_eq!(report.kernel_name_bytes, 0);
}

#[test]
fn kernels_are_functions_that_are_defined_here_and_marked_as_entries() {
    let cubin = Cubin::new("sm_90", (12, 8)).named(&["b", "a", "b"]);
    let of_one = [Entry::cubin("sm_90", &cubin).lz4()];
    for bytes in [cubin.build(), fatbin(&of_one)] {
        let report = scan_named(&bytes, 4096, MOST);
        assert_eq!(report.problems, []);
        let kernels = report.classes[0].kernels.as_ref().unwrap();
        assert_eq!(
            kernels.iter().map(|name| &**name).collect::<Vec<_>>(),
            ["a", "b"]
        );
    }
}

/// The cubin with its symbol table changed; the table begins where the first symbol of a function does.
fn changed(change: impl FnOnce(&mut Vec<u8>, usize)) -> DeviceReport {
    let mut bytes = Cubin::new("sm_90", (12, 8)).named(&["one", "two"]).build();
    let strings = bytes.windows(7).position(|seven| seven == b"helper\0");
    change(&mut bytes, strings.unwrap());
    scan_named(&bytes, 4096, MOST)
}

#[test]
fn a_symbol_table_that_lies_is_a_problem_and_gives_no_names() {
    // the symbols follow their names, each of 24 bytes; the fourth is that of `one`
    let one = |bytes: &[u8]| {
        bytes
            .windows(8)
            .position(|w| w[4..] == [0x12, 0x10, 6, 0])
            .unwrap()
    };
    let beyond = changed(|bytes, _| {
        let at = one(bytes);
        bytes[at..at + 4].fill(0xff);
    });
    let nameless = changed(|bytes, _| {
        let at = one(bytes);
        bytes[at..at + 4].fill(0);
    });
    let unending = changed(|bytes, strings| {
        let end = bytes[strings..]
            .windows(4)
            .position(|w| w == b"two\0")
            .unwrap();
        bytes[strings + end + 3] = b'x';
    });
    for report in [beyond, nameless, unending] {
        assert_eq!(problem_kinds(&report), ["malformed-cubin"]);
        assert_eq!(names(&report), BTreeSet::new());
        // what it was built for is read all the same
        assert!(report.has_device_code());
    }
}

#[test]
fn symbols_that_share_one_long_name_are_a_problem_and_no_work() {
    let long = "x".repeat(60_000);
    let others = vec!["y"; 20_000];
    let names_of: Vec<&str> = std::iter::once(long.as_str()).chain(others).collect();
    let cubin = Cubin::new("sm_90", (12, 8)).code_len(0).named(&names_of);
    let mut bytes = cubin.build();
    // every symbol of a kernel gets the name of the first
    let mark = [0x12, 0x10, 6, 0];
    let first = bytes.windows(8).position(|w| w[4..] == mark).unwrap();
    let name: [u8; 4] = bytes[first..first + 4].try_into().unwrap();
    let mut at = first;
    while bytes.get(at + 4..at + 8) == Some(&mark) {
        bytes[at..at + 4].copy_from_slice(&name);
        at += 24;
    }
    let report = scan_named(&bytes, 256 << 10, MOST);
    assert_eq!(problem_kinds(&report), ["malformed-cubin"]);
}

#[test]
fn more_names_than_may_be_held_are_said_where_they_are() {
    let many: Vec<String> = (0..100).map(|n| format!("kernel_{n:03}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let bytes = Cubin::new("sm_90", (12, 8)).named(&many).build();
    // a name takes its 10 bytes and 80 more
    for (most, kinds) in [(9000, &[][..]), (8999, &["limit-exceeded"])] {
        let report = scan_named(&bytes, 4096, most);
        assert_eq!(problem_kinds(&report), kinds, "{most}");
        assert!(
            report.kernel_name_bytes <= 9000,
            "{}",
            report.kernel_name_bytes
        );
    }
}

#[test]
fn a_cubin_with_code_and_no_symbol_table_is_a_problem() {
    let report = scan_named(&Cubin::new("sm_90", (12, 8)).build(), 4096, MOST);
    assert_eq!(problem_kinds(&report), ["malformed-cubin"]);
    let empty = Cubin::new("sm_90", (12, 8)).kernels(0).build();
    let report = scan_named(&empty, 4096, MOST);
    assert_eq!(report.problems, []);
    assert_eq!(report.classes[0].kernels.as_deref(), Some(&[][..]));
}

#[test]
fn the_names_of_a_cubin_that_is_too_large_to_be_held_are_read_too() {
    let large = Cubin::new("sm_90", (12, 8))
        .named(&["a"])
        .code_len(40 << 20);
    for entry in [
        Entry::cubin("sm_90", &large),
        Entry::cubin("sm_90", &large).zstd(),
    ] {
        let report = scan_named(&fatbin(&[entry]), 256 << 10, MOST);
        assert_eq!(report.problems, []);
        assert_eq!(names(&report), BTreeSet::from(["a".to_owned()]));
    }
    let bare = scan_named(&large.build(), 256 << 10, MOST);
    assert_eq!((bare.problems.len(), names(&bare).len()), (0, 1));
}
