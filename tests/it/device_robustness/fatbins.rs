//! Fatbins that lie: nothing that a false size swallows stays unseen.

use std::time::Duration;

use smgate::device::{DeviceReport, Place};

use super::within;
use crate::support::cubin::Cubin;
use crate::support::elf::{Elf, put};
use crate::support::fatbin::{ENTRY, Entry, HEADER, fatbin, fatbin_of};
use crate::support::{Random, describe, expect, images, problem_kinds, scan, toolkits};

/// What the tests hide and must find: nothing else here is for `sm_75`.
pub(super) fn hidden() -> Vec<u8> {
    fatbin(&[Entry::plain_cubin("sm_75", (12, 0))])
}

/// Holds that the hidden fatbin was found by itself, and that there is a problem.
pub(super) fn assert_found(report: &DeviceReport, what: &str) {
    let found = report.classes.iter().any(|class| {
        let keys: Vec<String> = class
            .images
            .iter()
            .map(|image| describe(&image.key))
            .collect();
        !class.damaged && !class.bare && keys == ["cubin sm_75"]
    });
    assert!(found, "{what}: not found: {report:#?}");
    assert!(!report.problems.is_empty(), "{what}: no problem");
}

/// A fatbin of `entry` with `more` behind it, all of which it claims as its own.
fn claim_all(entry: &[u8], more: &[u8]) -> Vec<u8> {
    let mut body = entry.to_vec();
    body.extend(more);
    fatbin_of(&body)
}

/// Every way in which a size can be made to cover the fatbin that follows.
fn swallowed() -> Vec<(&'static str, Vec<u8>)> {
    let hidden = hidden();
    let plain = Entry::plain_cubin("sm_80", (12, 0));
    let mut ways = Vec::new();

    let by_fatbin = claim_all(&plain.build(), &hidden);
    ways.push(("the fatbin's size", by_fatbin));

    let mut longer = plain.clone();
    longer.payload.extend(&hidden);
    ways.push(("the size of a stored payload", fatbin(&[longer])));

    for (name, entry) in [("lz4", plain.clone().lz4()), ("zstd", plain.clone().zstd())] {
        let mut longer = entry;
        longer
            .payload
            .resize(longer.payload.len().next_multiple_of(8), 0);
        longer.payload.extend(&hidden);
        ways.push((name, fatbin(&[longer])));
    }

    let mut unknown = Entry::lto_ir("sm_80");
    unknown.kind = 0x4242;
    unknown.payload.extend(&hidden);
    ways.push(("the size of an entry of unknown kind", fatbin(&[unknown])));

    let mut header = plain.build();
    let payload = header.split_off(ENTRY);
    header.extend(&hidden);
    put(
        &mut header,
        4,
        &u32::try_from(ENTRY + hidden.len()).unwrap().to_le_bytes(),
    );
    header.extend(payload);
    ways.push(("the size of an entry's header", fatbin_of(&header)));

    let named =
        Entry::lto_ir("sm_80").identifier([b"x".to_vec(), vec![0; 7], hidden.clone()].concat());
    ways.push(("an identifier", fatbin(&[named])));

    let mut cubin = Cubin::new("sm_80", (12, 0)).build();
    let table = cubin.len() as u64 + 64;
    let end = cubin.len();
    cubin.extend(&hidden);
    cubin.resize(end + hidden.len() + 64 + 4 * 64, 0);
    put(
        &mut cubin,
        0x28,
        &(table + hidden.len() as u64).to_le_bytes(),
    );
    ways.push(("the section table of a bare cubin", cubin));

    let mut frame = zstd::bulk::compress(&Cubin::new("sm_80", (12, 0)).build(), 3).unwrap();
    // its one block is the last no more, and a stored one follows
    let head = frame_head_len(&frame);
    frame[head] &= !1;
    let block = u32::try_from(hidden.len() << 3 | 1).unwrap().to_le_bytes();
    frame.extend([&block[..3], &hidden].concat());
    ways.push(("a block of a zstd frame", frame));
    ways
}

fn frame_head_len(frame: &[u8]) -> usize {
    let single = usize::from(frame[4] & 0x20 != 0);
    let content = match frame[4] >> 6 {
        0 => single,
        1 => 2,
        2 => 4,
        _ => 8,
    };
    5 + 1 - single + content
}

#[test]
fn a_size_that_covers_the_next_fatbin_hides_nothing() {
    for (what, bytes) in swallowed() {
        assert_found(&scan(&bytes), what);
        let library = Elf::with_fatbin(bytes).build();
        assert_found(&scan(&library), what);
    }
}

#[test]
fn what_follows_a_broken_fatbin_is_read() {
    let good = hidden();
    for (at, value) in [
        (8, 0_u64),
        (8, 12),
        (8, 1 << 62),
        (HEADER + 4, 0),
        (HEADER + 8, u64::MAX - 7),
    ] {
        let mut broken = fatbin(&[Entry::plain_cubin("sm_80", (12, 0))]);
        put(&mut broken, at, &value.to_le_bytes());
        broken.extend(&good);
        assert_found(&scan(&broken), &format!("{value:#x} at {at}"));
        assert_found(
            &scan(&Elf::with_fatbin(broken).build()),
            &format!("{value:#x} at {at}"),
        );
    }
}

#[test]
fn a_fatbin_header_alone_at_the_end_is_a_problem() {
    let header = &hidden()[..HEADER];
    for len in 4..=HEADER {
        let report = scan(&header[..len]);
        assert!(!report.problems.is_empty(), "{len} bytes: {report:?}");
        let library = Elf::with_fatbin(&header[..len]).build();
        let report = scan(&library);
        assert!(
            !report.problems.is_empty(),
            "{len} bytes in a library: {report:?}"
        );
    }
}

#[test]
fn fields_of_a_fatbin_header_that_cannot_be_are_a_problem() {
    for (at, bytes) in [
        (4, [0, 0]),
        (4, [2, 0]),
        (6, [0, 0]),
        (6, [8, 0]),
        (6, [17, 0]),
        (6, [0xff, 0xff]),
        (8, [0, 0]),
    ] {
        let mut broken = hidden();
        put(&mut broken, at, &bytes);
        let report = scan(&broken);
        assert!(!report.problems.is_empty(), "{bytes:?} at {at}: {report:?}");
    }
}

#[test]
fn a_long_fatbin_header_is_read_like_any_other() {
    let good = hidden();
    let mut long = good[..HEADER].to_vec();
    put(&mut long, 6, &24_u16.to_le_bytes());
    long.extend([0; 8]);
    long.extend(&good[HEADER..]);
    let report = scan(&long);
    assert_eq!(images(&report), expect(["cubin sm_75"]));
    assert_eq!(report.problems, []);
}

#[test]
fn a_hundred_thousand_fatbins_are_one_class() {
    let tiny = fatbin(&[Entry::lto_ir("sm_80")]);
    let library = Elf::with_fatbin(tiny.repeat(100_000)).build();
    let report = within(Duration::from_secs(20), || scan(&library));
    let [class] = &report.classes[..] else {
        panic!("{} classes", report.classes.len())
    };
    assert_eq!(class.count, 100_000);
    assert_eq!(class.place, Place::Section(".nv_fatbin".to_owned()));
    assert_eq!(class.bytes, tiny.len() as u64 * 100_000);
    assert_eq!(report.problems, []);
}

#[test]
fn magics_in_random_data_are_no_device_code_and_no_problem() {
    let mut random = Random::new(3);
    let mut bytes = random.bytes(2 << 20);
    let magics: [&[u8]; 6] = [
        &[0x50, 0xed, 0x55, 0xba],
        b"\x7fELF\x02\x01\x01\x33",
        &[0x28, 0xb5, 0x2f, 0xfd],
        b".version 8.0\n",
        &[0xb1, 0x43, 0x62, 0x46, 2, 0, 0, 0],
        &[0xed, 0x43, 0x4e, 0x7f],
    ];
    for _ in 0..3000 {
        let at = 64 + random.below(bytes.len() - 128);
        put(&mut bytes, at, random.pick(&magics));
    }
    let report = within(Duration::from_secs(20), || scan(&bytes));
    assert_eq!(report.classes, []);
    assert_eq!(report.problems, []);
}

#[test]
fn magics_beside_fatbins_are_no_problem() {
    let mut code = hidden();
    code.extend([0; 64]);
    code.extend(hidden());
    let report = scan(
        &Elf::with_fatbin(code)
            .section(".rodata", [0x50, 0xed, 0x55, 0xba])
            .build(),
    );
    assert_eq!(report.classes[0].count, 2);
    assert_eq!(report.problems, []);
}

// Concatenated entries

fn two_parts() -> [Entry; 2] {
    [
        Entry::ptx("compute_80", "9.4"),
        Entry::ptx("compute_90a", "9.4"),
    ]
}

#[test]
fn a_concatenated_entry_is_read() {
    let parts = [
        Entry::plain_cubin("sm_100a", (13, 0))
            .identifier("a")
            .options("x"),
        Entry::plain_cubin("sm_90", (13, 0)).identifier("kernel.cu"),
        Entry::ptx("compute_100f", "9.4").options("-O3"),
    ];
    let report = scan(&fatbin(&[Entry::concat(&parts), Entry::lto_ir("sm_90")]));
    let expected = [
        "cubin sm_100a compressed",
        "cubin sm_90 compressed",
        "ptx compute_100f 9.4 compressed",
        "lto-ir sm_90",
    ];
    assert_eq!(images(&report), expect(expected));
    assert_eq!(toolkits(&report), ["13.0"]);
    assert_eq!(report.problems, []);
}

#[test]
fn a_concatenated_table_that_lies_is_a_problem() {
    let good = fatbin(&[Entry::concat(&two_parts())]);
    let table = HEADER + ENTRY;
    let first = table + 8;
    let second = first + ENTRY;
    // offsets of FORMAT.md §5, in the outer header, the first and the second sub-header
    for (what, at, value) in [
        ("no image", table, 0_u32),
        ("one image", table, 1),
        ("three images", table, 3),
        ("four thousand million images", table, u32::MAX),
        ("a table of no bytes", table + 4, 0),
        ("a table cut short", table + 4, 8 + 64),
        ("a table without an end", table + 4, u32::MAX),
        ("an image behind the payload", second + 4, 1 << 30),
        ("an image before the first", first + 4, 1 << 20),
        ("an image over the first", second + 4, 0),
        ("an image larger than the payload", second + 8, 1 << 30),
        ("an image of a huge size", second + 12, u32::MAX),
        ("an identifier behind the table", second + 0x20, u32::MAX),
        ("an identifier of a huge length", second + 0x24, u32::MAX),
    ] {
        let mut bytes = good.clone();
        put(&mut bytes, at, &value.to_le_bytes());
        if what.starts_with("an identifier of") {
            put(&mut bytes, second + 0x20, &64_u32.to_le_bytes());
        }
        let report = within(Duration::from_secs(5), || scan(&bytes));
        assert!(!report.problems.is_empty(), "{what}: {report:?}");
    }
}

#[test]
fn a_concatenated_entry_inside_a_concatenated_entry_is_a_problem() {
    let mut inner = Entry::ptx("compute_80", "9.4");
    inner.kind = 0x100;
    let report = scan(&fatbin(&[Entry::concat(&[inner])]));
    assert_eq!(problem_kinds(&report), ["malformed-fatbin"]);
}

// Payloads that are not what their header says

#[test]
fn the_payload_is_believed_in_every_coding() {
    for coding in [|entry: Entry| entry, Entry::lz4, Entry::zstd] {
        let specific = Cubin::new("sm_100a", (13, 0));
        let mut without_copy = Entry::cubin("sm_100", &specific);
        without_copy.compat = None;
        let entries = [
            coding(Entry::ptx("compute_90a", "8.0").filed_under("compute_90")),
            coding(Entry::cubin("sm_90", &Cubin::new("sm_90a", (12, 4)))),
            coding(without_copy),
        ];
        let report = scan(&fatbin(&entries));
        let targets: Vec<String> = images(&report)
            .into_keys()
            .map(|line| line.replace(" compressed", ""))
            .collect();
        assert_eq!(
            targets,
            ["cubin sm_100a", "cubin sm_90a", "ptx compute_90a 8.0"]
        );
        let told = report.classes[0]
            .images
            .iter()
            .filter(|image| image.key.header.is_some())
            .count();
        assert_eq!(told, 3);
    }
}

#[test]
fn a_payload_of_another_kind_or_coding_is_a_problem() {
    let mut not_a_cubin = Entry::ptx("compute_80", "8.0");
    not_a_cubin.kind = 2;
    let mut not_ptx = Entry::plain_cubin("sm_80", (12, 0));
    not_ptx.kind = 1;
    let mut not_zstd = Entry::plain_cubin("sm_80", (12, 0)).lz4();
    not_zstd.flags ^= 0x2000 | 0x8000;
    let mut no_bytes = Entry::plain_cubin("sm_80", (12, 0));
    no_bytes.payload.clear();
    for (what, entry) in [
        ("PTX", not_a_cubin),
        ("a cubin", not_ptx),
        ("LZ4", not_zstd),
        ("nothing", no_bytes),
    ] {
        let report = scan(&fatbin(&[entry]));
        assert_eq!(problem_kinds(&report), ["unreadable-payload"], "{what}");
        assert!(report.classes[0].damaged, "{what}");
    }
}
