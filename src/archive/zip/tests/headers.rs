//! What headers say: sizes, names, kinds, and where local and central header disagree.

use super::*;

#[test]
fn accepts_every_form_of_descriptor() {
    for (signature, long) in [(true, false), (true, true), (false, false), (false, true)] {
        let opened = open(spoiled(|entry| entry.defer(signature, long)).build());
        assert!(opened.problems.is_empty(), "{:?}", opened.problems);
        assert_eq!(read(&opened.zip, 1).unwrap(), b"two!");
    }
}

#[test]
fn reads_zip64_sizes_and_offsets() {
    // Sizes of 4 and an offset of 42 in the zip64 extra field, as for a member beyond 4 GiB.
    let opened = open(
        spoiled(|entry| {
            entry.both(|header| (header.packed, header.size) = (u32::MAX, u32::MAX));
            let sizes = [4_u64.to_le_bytes(), 4_u64.to_le_bytes()].concat();
            entry.local.extra = [&b"\x01\0\x10\0"[..], &sizes].concat();
            let offset = 42_u64.to_le_bytes();
            entry.central.extra = [&b"\x01\0\x18\0"[..], &sizes, &offset].concat();
            entry.offset = Some(u32::MAX);
        })
        .build(),
    );
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    assert_eq!(opened.zip.members()[1].size, 4);
    assert_eq!(read(&opened.zip, 1).unwrap(), b"two!");
}

#[test]
fn reports_headers_that_disagree() {
    type Change = fn(&mut Entry);
    let changes: [(Change, &str); 9] = [
        (
            |entry| entry.local.name = b"a/tw0.txt".to_vec(),
            "the name (`a/tw0.txt`)",
        ),
        (|entry| entry.local.method = 8, "the method"),
        (|entry| entry.local.flags = 1 << 11, "the flags"),
        (|entry| entry.local.crc ^= 1, "the CRC-32"),
        (|entry| entry.local.packed = 3, "the packed size (3, 4)"),
        (|entry| entry.local.size = 5, "the size (5, 4)"),
        (|entry| entry.local.flags = 8, "the flags"),
        (
            |entry| {
                entry.defer(true, false);
                entry.local.size = 5;
            },
            "the size (5, 4)",
        ),
        (
            |entry| {
                entry.defer(true, false);
                entry.descriptor[8] = 3;
            },
            "the descriptor after its data",
        ),
    ];
    for (change, says) in changes {
        let opened = open(spoiled(change).build());
        assert_eq!(kinds(&opened), [ProblemKind::HeaderMismatch], "{says}");
        let problem = &opened.problems[0];
        assert_eq!(problem.at, at().member(&"a/two.txt".into()));
        assert!(problem.detail.contains(says), "{}", problem.detail);
        assert_eq!(
            read(&opened.zip, 1).unwrap(),
            b"two!",
            "as an installer does"
        );
    }
}

#[test]
fn notes_of_the_compressor_may_differ() {
    let opened = open(spoiled(|entry| entry.local.flags = 0b110).build());
    assert!(opened.problems.is_empty());
}

#[test]
fn reports_a_second_name_in_the_unicode_path_field() {
    let field = |name: &[u8], crc_of: &[u8]| {
        let len = u8::try_from(name.len()).unwrap() + 5;
        let mut extra = vec![0x75, 0x70, len, 0, 1];
        extra.extend(crc32fast::hash(crc_of).to_le_bytes());
        extra.extend(name);
        extra
    };
    let own: &[u8] = b"a/two.txt";
    for (name, crc_of, expected) in [
        (&b"a/b.so"[..], own, &[ProblemKind::HeaderMismatch][..]),
        (own, own, &[]),
        (b"a/b.so", b"stale", &[]),
    ] {
        let opened = open(spoiled(|entry| entry.central.extra = field(name, crc_of)).build());
        assert_eq!(kinds(&opened), expected);
        let opened = open(spoiled(|entry| entry.local.extra = field(name, crc_of)).build());
        assert_eq!(kinds(&opened), expected);
    }
}

#[test]
fn keeps_every_member_of_a_duplicate_name() {
    let opened = open(
        Builder::new()
            .stored("a/x.so", b"first")
            .stored("b", b"-")
            .stored("a//./x.so", b"second")
            .stored("a/x.so\0.txt", b"third")
            .stored("d/", b"")
            .stored("d/", b"")
            .build(),
    );
    let shadowed: Vec<_> = opened
        .zip
        .members()
        .iter()
        .map(|member| member.shadowed)
        .collect();
    assert_eq!(shadowed, [true, false, true, false, false, false]);
    let duplicates: Vec<_> = opened
        .problems
        .iter()
        .filter(|problem| problem.kind == ProblemKind::DuplicateMember)
        .collect();
    assert_eq!(duplicates.len(), 1);
    assert_eq!(duplicates[0].detail, "3 members have this name");
    assert_eq!(read(&opened.zip, 0).unwrap(), b"first");
    assert_eq!(read(&opened.zip, 3).unwrap(), b"third");
}

#[test]
fn keeps_and_reports_members_with_unsafe_names() {
    for name in [
        "", "/etc/x", "C:/x", "../x", "a/../b", "a\\b", "a\nb", "a\u{7f}", "a\0b",
    ] {
        let opened = open(Builder::new().stored(name, b"x").build());
        assert_eq!(kinds(&opened), [ProblemKind::MalformedArchive], "{name:?}");
        assert_eq!(read(&opened.zip, 0).unwrap(), b"x");
    }
    for name in ["a..b", "..a/b", "ab:c", "é", "a b", "-", "~", "..."] {
        let opened = open(Builder::new().stored(name, b"x").build());
        assert!(opened.problems.is_empty(), "{name:?}");
    }
}

#[test]
fn names_that_are_not_utf_8_keep_their_bytes() {
    let latin = |flag: u16| {
        spoiled(|entry| {
            entry.both(|header| {
                header.name = b"a/\xe9.txt".to_vec();
                header.flags = flag;
            });
        })
    };
    let opened = open(latin(0).build());
    assert!(opened.problems.is_empty());
    assert_eq!(opened.zip.members()[1].name.as_bytes(), b"a/\xe9.txt");
    let opened = open(latin(1 << 11).build());
    assert_eq!(kinds(&opened), [ProblemKind::MalformedArchive]);
}

#[test]
fn knows_directories_and_symbolic_links() {
    use MemberKind::{Dir, File, Symlink};
    let opened = open(
        Builder::new()
            .odd("d/", b"", |_| {})
            .odd("l.so", b"l.so.1", |entry| entry.external = 0o120_777 << 16)
            .odd("x", b"x", |entry| entry.external = 0o100_755 << 16)
            .odd("full/", b"data", |_| {})
            .build(),
    );
    let kinds_of: Vec<_> = opened
        .zip
        .members()
        .iter()
        .map(|member| member.kind)
        .collect();
    assert_eq!(kinds_of, [Dir, Symlink, File, Dir]);
    assert_eq!(kinds(&opened), [ProblemKind::MalformedArchive]);
    assert!(opened.problems[0].detail.contains("holds 4 bytes"));
}
