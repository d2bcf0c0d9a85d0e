//! Where the parts of an archive are, and archives that are two in one.

use super::*;

/// The zip64 end record and its locator, for a directory of `size` bytes at `offset`.
fn zip64_end(entries: u64, size: u64, offset: u64, locator: u64) -> Vec<u8> {
    let mut bytes = b"PK\x06\x06".to_vec();
    bytes.extend(44_u64.to_le_bytes());
    bytes.extend([45, 3, 45, 0]);
    bytes.extend([0; 8]);
    for field in [entries, entries, size, offset] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(locator.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes
}

#[test]
fn reads_the_zip64_end_record() {
    let mut builder = plain();
    let mut place = (0, 0);
    builder.build_with(|end| place = (u64::from(end.size), u64::from(end.offset)));
    let (size, offset) = place;
    let sentinels = |end: &mut EndRecord| {
        end.entries = [u16::MAX; 2];
        (end.size, end.offset) = (u32::MAX, u32::MAX);
    };
    builder.before_end = zip64_end(2, size, offset, offset + size);
    let opened = open(builder.build_with(sentinels));
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    assert_eq!(opened.zip.members().len(), 2);

    builder.before_end = zip64_end(3, size, offset, offset + size);
    let opened = open(builder.build_with(sentinels));
    assert_eq!(kinds(&opened), [ProblemKind::MalformedArchive]);

    let mut volumes = zip64_end(2, size, offset, offset + size);
    *volumes.last_chunk_mut().unwrap() = 2_u32.to_le_bytes();
    builder.before_end = volumes;
    assert_eq!(
        kinds(&open(builder.build())),
        [ProblemKind::MalformedArchive]
    );

    // A locator that points elsewhere: `zipfile` reads the record before it, others do not.
    builder.before_end = zip64_end(2, size, offset, offset);
    let opened = open(builder.build());
    assert!(kinds(&opened).contains(&ProblemKind::HeaderMismatch));
}

#[test]
fn reports_data_that_is_not_there() {
    let beyond = open(
        spoiled(|entry| {
            entry.both(|header| (header.packed, header.size) = (1_000_000, 1_000_000));
        })
        .build(),
    );
    assert_eq!(kinds(&beyond), [ProblemKind::Truncated]);
    assert!(!beyond.zip.members()[1].is_readable());
    let elsewhere = open(spoiled(|entry| entry.offset = Some(1)).build());
    assert_eq!(kinds(&elsewhere), [ProblemKind::MalformedArchive]);
    let nowhere = open(spoiled(|entry| entry.offset = Some(1 << 30)).build());
    assert_eq!(kinds(&nowhere), [ProblemKind::Truncated]);
}

#[test]
fn reports_members_that_share_bytes() {
    let shared = open(
        Builder::new()
            .stored("a", b"data")
            .odd("b", b"data", |entry| {
                entry.both(|header| header.name = b"a".to_vec());
                entry.offset = Some(0);
            })
            .build(),
    );
    assert!(kinds(&shared).contains(&ProblemKind::OverlappingMembers));

    // The local header of `b` lies in the data of `a`, as in a zip bomb that quotes itself.
    let inner = Builder::new().stored("b", b"data").build();
    let quoted = open(
        Builder::new()
            .stored("a", &inner[..35])
            .odd("b", b"data", |entry| entry.offset = Some(31))
            .build(),
    );
    assert!(kinds(&quoted).contains(&ProblemKind::OverlappingMembers));

    let mut into_directory = spoiled(|entry| {
        entry.both(|header| (header.packed, header.size) = (40, 40));
    });
    into_directory.entries[0].both(|header| header.flags = 0);
    let into_directory = open(into_directory.build());
    assert_eq!(kinds(&into_directory), [ProblemKind::OverlappingMembers]);
}

#[test]
fn reports_a_member_that_the_directory_leaves_out() {
    let opened = open(
        plain()
            .odd("hidden.so", b"code", |entry| entry.unlisted = true)
            .stored("last", b"")
            .build(),
    );
    assert_eq!(kinds(&opened), [ProblemKind::HeaderMismatch]);
    assert!(
        opened.problems[0]
            .detail
            .contains("belongs to no listed member")
    );
}

#[test]
fn padding_between_members_is_harmless() {
    let mut builder = plain();
    builder.gap = vec![0; 4000];
    builder.entries[0].descriptor = b"PK padding".to_vec();
    assert!(open(builder.build()).problems.is_empty());
}

#[test]
fn finds_a_signature_across_two_chunks() {
    for before in 65_530..65_540 {
        let mut builder = Builder::new().stored("a", b"");
        builder.gap = vec![b'P'; before];
        builder.gap.extend(b"PK\x03\x04");
        let opened = open(builder.build());
        assert_eq!(kinds(&opened), [ProblemKind::HeaderMismatch], "{before}");
    }
}

#[test]
fn reports_a_wrong_number_of_members() {
    let opened = open(plain().build_with(|end| end.entries = [3, 3]));
    assert_eq!(kinds(&opened), [ProblemKind::MalformedArchive]);
    assert_eq!(opened.zip.members().len(), 2);
    let volumes = open(plain().build_with(|end| end.disks = [1, 0]));
    assert_eq!(kinds(&volumes), [ProblemKind::MalformedArchive]);
}

#[test]
fn reads_on_and_reports_what_stands_before_and_after() {
    let mut builder = plain();
    builder.prefix = b"#!/bin/sh\n".to_vec();
    let opened = open(builder.build());
    assert_eq!(kinds(&opened), [ProblemKind::MalformedArchive]);
    assert!(
        opened.problems[0]
            .detail
            .starts_with("10 bytes stand before")
    );
    assert_eq!(read(&opened.zip, 1).unwrap(), [7; 5000]);

    let mut builder = plain();
    builder.after = vec![b'\n'; 3];
    let opened = open(builder.build());
    assert_eq!(kinds(&opened), [ProblemKind::MalformedArchive]);
    assert!(opened.problems[0].detail.starts_with("3 bytes stand after"));

    // Two archives one after the other, as `cat` makes them.
    let both = [plain().build(), Builder::new().stored("c", b"c").build()].concat();
    assert!(!open(both).problems.is_empty());
}

#[test]
fn reports_two_central_directories() {
    // By offset: the one that `plain` has. By size: the same without its first record.
    let first = 46 + 9;
    let bytes = plain().build_with(|end| {
        end.size -= first;
        end.entries = [2, 2];
    });
    let opened = open(bytes);
    assert_eq!(kinds(&opened), [ProblemKind::HeaderMismatch]);
    assert!(
        opened.problems[0]
            .detail
            .contains("different central directories")
    );
}

#[test]
fn an_empty_archive_that_states_bytes_is_no_empty_archive() {
    let empty = Builder::new();
    let sized = open(empty.build_with(|end| end.size = 1 << 24));
    assert_eq!(kinds(&sized), [ProblemKind::HeaderMismatch]);
}

#[test]
fn reports_an_archive_in_the_comment() {
    let bytes = plain().build_with(|end| end.comment = Builder::new().stored("x", b"x").build());
    assert!(!open(bytes).problems.is_empty());
    // A signature alone: `zipfile` would take it for the end record.
    let bytes = plain().build_with(|end| end.comment = b"see PK\x05\x06".to_vec());
    let opened = open(bytes);
    assert!(kinds(&opened).contains(&ProblemKind::MalformedArchive));
    assert_eq!(opened.zip.members().len(), 2);
    let bytes = plain().build_with(|end| end.comment = b"made by a tool".to_vec());
    assert!(open(bytes).problems.is_empty());
}

#[test]
fn an_archive_stored_in_an_archive_is_no_second_end() {
    let inner = plain().build();
    let opened = open(Builder::new().stored("inner.zip", &inner).build());
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    assert_eq!(read(&opened.zip, 0).unwrap(), inner);
}

#[test]
fn says_what_is_no_archive() {
    let refuse =
        |bytes: &[u8]| Zip::open(bytes.to_vec().into(), &at(), &Limits::default()).unwrap_err();
    let page = refuse(b"<html>404</html>");
    assert_eq!(
        (page.kind, page.extent),
        (ProblemKind::NotAnArchive, Extent::Artifact)
    );
    assert!(page.detail.contains("web page"));
    assert_eq!(refuse(b"").kind, ProblemKind::NotAnArchive);
    let bytes = plain().build();
    assert_eq!(
        refuse(&bytes[..bytes.len() - 1]).kind,
        ProblemKind::Truncated
    );
}

#[test]
fn members_that_share_bytes_are_not_read() {
    let mut builder = plain();
    // every record points at the first member's stream
    for entry in &mut builder.entries {
        entry.offset = Some(0);
    }
    let opened = open(builder.build());
    let readable: Vec<_> = opened
        .zip
        .members()
        .iter()
        .map(ZipMember::is_readable)
        .collect();
    assert_eq!(readable, [true, false]);
    assert!(kinds(&opened).contains(&ProblemKind::OverlappingMembers));
}
