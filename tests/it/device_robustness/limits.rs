//! What is bounded says when its bound was reached, and what was looked at is never passed over for it.

use std::time::Duration;

use smgate::device::{DeviceReport, Scanner};

use super::within;
use crate::support::cubin::Cubin;
use crate::support::elf::{Elf, put};
use crate::support::fatbin::{ENTRY, Entry, HEADER, fatbin};
use crate::support::{expect, images, problem_kinds, scan, scan_in};

/// The beginning of a fatbin of version 0x0101, which no header goes on like.
const DECOY: [u8; 8] = [0x50, 0xed, 0x55, 0xba, 1, 1, 1, 1];

/// A fatbin whose entry is of no kind: too short to be noticed as a gap.
fn damaged() -> Vec<u8> {
    let mut bytes = fatbin(&[Entry::plain_cubin("sm_75", (12, 0))]);
    put(&mut bytes, HEADER, &[0, 0]);
    bytes
}

#[test]
fn decoys_do_not_hide_a_damaged_fatbin() {
    let library = |decoys: usize| {
        let elf = Elf::new().section(".aaa", DECOY.repeat(decoys));
        scan(&elf.section(".nv_fatbin", damaged()).build())
    };
    for decoys in [0, 64, 1000] {
        let report = library(decoys);
        assert_eq!(problem_kinds(&report), ["malformed-fatbin"], "{decoys}");
    }
    // beyond what is remembered, that is what is said
    assert_eq!(problem_kinds(&library(70_000)), ["limit-exceeded"]);
}

#[test]
fn more_device_links_than_are_remembered_are_a_problem() {
    let link = [0xb1, 0x43, 0x62, 0x46, 2, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
    for (links, kinds) in [(4096, &[][..]), (4097, &["limit-exceeded"])] {
        let library = Elf::new().section(".nvFatBinSegment", link.repeat(links));
        assert_eq!(problem_kinds(&scan(&library.build())), kinds, "{links}");
    }
}

#[test]
fn more_needed_libraries_than_are_counted_are_a_problem() {
    for (needed, kinds) in [(4096, &[][..]), (4097, &["malformed-library"])] {
        let library = (0..needed).fold(Elf::new(), |elf, _| elf.needed("a"));
        let report = scan(&library.build());
        assert_eq!(problem_kinds(&report), kinds, "{needed}");
        assert_eq!(report.host.needed.len(), 4096);
    }
}

#[test]
fn an_entry_of_another_version_is_read_where_its_sizes_fit() {
    // FORMAT.md §4: cuobjdump ignores the version
    let entries = [
        Entry::plain_cubin("sm_75", (12, 0)),
        Entry::plain_cubin("sm_80", (12, 0)),
    ];
    for version in [0_u16, 0x0102, 0x0201, 0xffff] {
        let mut bytes = fatbin(&entries);
        let second = HEADER + entries[0].build().len();
        for at in [HEADER, second] {
            put(&mut bytes, at + 2, &version.to_le_bytes());
        }
        let library = Elf::with_fatbin(bytes.clone()).build();
        for chunk in [1, 7, usize::MAX] {
            let report = scan_in(&library, chunk, true);
            let expected = expect(["cubin sm_75", "cubin sm_80"]);
            assert_eq!(images(&report), expected, "{version:#x}");
            assert_eq!(report.problems, []);
        }
        // sizes that fit nowhere: the header's, the payload's
        for (at, len) in [(4, 60_u64), (4, 5 << 20), (8, 1 << 40), (8, 9)] {
            let mut bytes = bytes.clone();
            let field = if at == 4 { 4 } else { 8 };
            put(&mut bytes, HEADER + at, &len.to_le_bytes()[..field]);
            let report = scan(&Elf::with_fatbin(bytes).build());
            assert_eq!(
                problem_kinds(&report),
                ["malformed-fatbin"],
                "{len} at {at}"
            );
        }
    }
}

/// PTX for `sm_90a` with so many bytes of a comment between its directives.
fn commented(open: &str, len: usize, close: &str) -> Vec<u8> {
    let comment = "x".repeat(len);
    let rest = ".address_size 64\n.visible .entry k() { ret; }\n";
    format!(".version 8.0\n{open}{comment}{close}\n.target sm_90a\n{rest}").into_bytes()
}

fn scan_named(name: &str, bytes: &[u8], chunk: usize) -> DeviceReport {
    let mut scanner = Scanner::new(Some(bytes.len() as u64)).named(name);
    bytes.chunks(chunk).for_each(|chunk| scanner.feed(chunk));
    scanner.finish().report()
}

#[test]
fn ptx_with_long_comments_is_found() {
    for (open, close) in [("//", ""), ("/*", "*/"), ("", ""), ("//\u{b5}", "\n/**/")] {
        for len in [4000, 4070, 4096, 5000, 500_000] {
            let filler = if open.is_empty() { 0 } else { len };
            let mut text = commented(open, filler, close);
            if open.is_empty() {
                text.splice(13..13, vec![b' '; len]);
            }
            for before in [&b""[..], b"\0\0", b"// a comment that says .version\n"] {
                let bytes = [before, &text].concat();
                let whole = scan_in(&bytes, usize::MAX, true);
                assert_eq!(images(&whole), expect(["ptx compute_90a 8.0"]), "{len}");
                assert_eq!(whole.problems, []);
                assert!(!whole.classes[0].images[0].key.empty);
                for chunk in [1000, 65_536] {
                    assert_eq!(scan_in(&bytes, chunk, true), whole, "{len} in {chunk}");
                }
            }
        }
    }
}

#[test]
fn a_comment_longer_than_is_looked_at_is_a_problem() {
    let report = scan(&commented("//", 2 << 20, ""));
    assert_eq!(problem_kinds(&report), ["limit-exceeded"]);
    // what is no text is no comment of PTX
    let mut data = commented("//", 2 << 20, "");
    data[5000] = 0;
    assert_eq!(scan(&data).problems, []);
}

#[test]
fn a_file_named_as_ptx_that_shows_none_is_a_problem() {
    for (name, kinds) in [
        ("a/kernel.ptx", &["unreadable-payload"][..]),
        ("KERNEL.PTX", &["unreadable-payload"]),
        ("kernel.ptx.txt", &[]),
        ("ptx", &[]),
    ] {
        for text in ["// nothing\n", ".version 8.0\n.target compute_90\n", "\0\0"] {
            let report = scan_named(name, text.as_bytes(), usize::MAX);
            assert_eq!(problem_kinds(&report), kinds, "{name}: {text}");
        }
        let report = scan_named(name, &commented("//", 10, ""), 7);
        assert_eq!(report.problems, [], "{name}");
    }
}

#[test]
fn comments_that_never_end_take_no_longer_for_it() {
    for piece in [".version 8.0 /*", ".version 8.0 //", ".version "] {
        let text = piece.repeat((4 << 20) / piece.len());
        let report = within(Duration::from_secs(60), || scan(text.as_bytes()));
        let expected = usize::from(piece.contains("8.0"));
        assert_eq!(report.problems.len(), expected, "{piece}");
    }
}

#[test]
fn a_long_section_name_is_kept_once_and_cut() {
    let name = format!(".{}", "S".repeat(60_000));
    // none of which is like another
    let fatbins: Vec<u8> = (0..2000)
        .flat_map(|number| {
            let mut entry = Entry::lto_ir("sm_80");
            entry.kind = 0x200 + number;
            fatbin(&[entry])
        })
        .collect();
    let report = scan(&Elf::new().section(&name, fatbins).build());
    assert_eq!(report.classes.len(), 2000);
    for class in &report.classes {
        let expected = format!("{}\u{2026}", &name[..256]);
        assert_eq!(class.place.name(), Some(expected.as_str()));
    }
}

/// Frames of which each is the beginning of the block of those before it.
fn frames(coding: u32, len: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x58];
    frame.extend((1_u32 << 20).to_le_bytes());
    frame.extend(&((128_u32 << 10) << 3 | coding << 1).to_le_bytes()[..3]);
    [&[0; 64][..], &frame.repeat(len / frame.len())].concat()
}

#[test]
fn frames_inside_each_other_cost_no_more_than_the_file_is_long() {
    let (raw, repeated, compressed) = (0, 1, 2);
    for coding in [raw, repeated] {
        let bytes = frames(coding, 8 << 20);
        let report = within(Duration::from_secs(60), || scan(&bytes));
        assert_eq!(report.problems, [], "nothing of it begins like a cubin");
    }
    let bytes = frames(compressed, 2 << 20);
    let report = within(Duration::from_secs(60), || scan(&bytes));
    assert_eq!(problem_kinds(&report), ["limit-exceeded"]);
    for chunk in [4096, usize::MAX] {
        assert_eq!(scan_in(&bytes, chunk, true), report, "in chunks of {chunk}");
    }
}

#[test]
fn a_cubin_in_a_stored_block_is_found() {
    let cubin = Cubin::new("sm_80", (12, 0)).build();
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    let len = u32::try_from(cubin.len()).unwrap();
    frame.extend(len.to_le_bytes());
    frame.extend(&(len << 3 | 1).to_le_bytes()[..3]);
    frame.extend(&cubin);
    assert_eq!(
        zstd::bulk::decompress(&frame, cubin.len()).unwrap(),
        cubin,
        "the frame is zstd"
    );
    for chunk in [1, 7, usize::MAX] {
        let report = scan_in(&frame, chunk, true);
        assert_eq!(images(&report), expect(["cubin sm_80"]));
        assert_eq!(report.problems, []);
    }
}

/// A cubin of very many sections that share one name of `len` bytes.
fn shared_name(sections: u16, len: usize) -> Vec<u8> {
    let mut bytes = Cubin::new("sm_75", (13, 0)).build();
    bytes.truncate(64);
    let name = [b".text.", &vec![b'a'; len - 6][..], &[0; 8]].concat();
    bytes.extend(&name);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let table = bytes.len() as u64;
    for index in 0..sections {
        let mut row = [0; 64];
        row[4] = if index == 0 { 3 } else { 1 };
        row[24..32].copy_from_slice(&64_u64.to_le_bytes());
        let len = if index == 0 { name.len() as u64 } else { 16 };
        row[32..40].copy_from_slice(&len.to_le_bytes());
        bytes.extend(row);
    }
    put(&mut bytes, 0x20, &[0; 8]);
    put(&mut bytes, 0x28, &table.to_le_bytes());
    for (at, value) in [(0x38, 0), (0x3a, 64), (0x3c, sections), (0x3e, 0)] {
        put(&mut bytes, at, &value.to_le_bytes());
    }
    bytes
}

#[test]
fn a_name_that_many_sections_share_is_not_read_whole_for_each() {
    let bytes = shared_name(60_000, 3 << 20);
    for bytes in [
        bytes.clone(),
        fatbin(&[{
            let mut entry = Entry::plain_cubin("sm_75", (13, 0));
            entry.payload = bytes;
            entry
        }]),
    ] {
        assert!(bytes.len() > 60_000 * ENTRY);
        let report = within(Duration::from_secs(10), || scan(&bytes));
        assert_eq!(images(&report), expect(["cubin sm_75"]));
        // what its functions are called is not known, so it is not known to have none
        assert!(!report.classes[0].images[0].key.empty);
    }
    let report = scan(&shared_name(3, 100));
    assert!(!report.classes[0].images[0].key.empty, "{report:?}");
}
