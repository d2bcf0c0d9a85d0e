//! RPM databases: sound ones, those that are not read, and those made to mislead.

use super::fixture::{Memory, PAGE, Value, database, header, package};
use super::*;

const DB: &str = "usr/lib/sysimage/rpm/rpmdb.sqlite";

fn with_database(bytes: &[u8]) -> Memory {
    Memory::default()
        .with(DB.as_bytes(), bytes)
        .with(b"usr/lib64/libtiny.so.1", b"")
        .with(b"usr/share/tiny/readme", b"")
}

fn tiny(name: &str) -> Vec<u8> {
    let files = [
        ("/lib64/", "libtiny.so.1"),
        ("/usr/share/tiny/", "readme"),
        ("/usr/share/", "tiny"),
    ];
    package(name, "1.2", &files)
}

/// A package with a header of many pages.
fn large(name: &str) -> Vec<u8> {
    let names: Vec<String> = (0..100).map(|index| format!("file{index}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| ("/srv/", name.as_str())).collect();
    package(name, "5", &files)
}

#[test]
fn rpm_packages_own_what_their_headers_list() {
    let blobs = [large("before"), tiny("tiny-cuda"), large("behind")];
    let tree = with_database(&database(&blobs))
        .with(b"srv/file99", b"")
        .link("lib64", "usr/lib64");
    let found = assigned(&tree);
    assert_eq!(problems(&found), []);
    assert_eq!(
        packages(&found),
        [
            "rpm before 5-3.el9",
            "rpm behind 5-3.el9",
            "rpm tiny-cuda 1.2-3.el9"
        ]
    );
    let owner = |name| owner(&tree, &found, name);
    assert_eq!(owner("usr/lib64/libtiny.so.1"), "rpm tiny-cuda 1.2-3.el9");
    assert_eq!(owner("usr/share/tiny/readme"), "rpm tiny-cuda 1.2-3.el9");
    assert_eq!(owner("srv/file99"), "rpm before 5-3.el9");
    assert_eq!(owner(DB), "-");
}

#[test]
fn old_packages_list_whole_paths() {
    let blob = header(&[
        (1000, Value::Text("old")),
        (1001, Value::Text("1")),
        (1027, Value::Texts(&["/usr/share/tiny/readme"])),
    ]);
    let tree = with_database(&database(&[blob, header(&[(1000, Value::Text("empty"))])]));
    let found = assigned(&tree);
    assert_eq!(packages(&found), ["rpm empty ?", "rpm old 1"]);
    assert_eq!(owner(&tree, &found, "usr/share/tiny/readme"), "rpm old 1");
}

#[test]
fn databases_in_other_forms_are_said_and_make_nothing_incomplete() {
    for (name, form) in [
        ("var/lib/rpm/Packages", "Berkeley DB"),
        ("usr/lib/sysimage/rpm/Packages.db", "ndb"),
    ] {
        let found = assigned(&Memory::of(&[(name, "anything")]));
        assert_eq!(problems(&found), [(name.to_owned(), "packages-unread")]);
        assert!(found.problems[0].detail.contains(form));
        assert_eq!(found.packages, []);
    }
    // one that was converted is left behind
    let tree = Memory::of(&[("usr/lib/sysimage/rpm/Packages.db", "")]);
    let found = assigned(&tree.with(DB.as_bytes(), &database(&[])));
    assert_eq!(problems(&found), []);
}

#[test]
fn changes_that_are_only_in_the_log_are_said() {
    let log = format!("{DB}-wal");
    for (content, expected) in [("", vec![]), ("x", vec![(log.clone(), "packages-unread")])] {
        let tree = with_database(&database(&[tiny("t")]));
        let tree = tree.with(log.as_bytes(), content.as_bytes());
        assert_eq!(problems(&assigned(&tree)), expected);
    }
}

#[test]
fn headers_that_lie_are_problems_and_the_other_packages_stay() {
    let sound = tiny("sound");
    let cut = |len: usize| sound[..len].to_vec();
    let with = |at: usize, bytes: &[u8]| {
        let mut blob = sound.clone();
        blob[at..at + bytes.len()].copy_from_slice(bytes);
        blob
    };
    let names = Value::Texts(&["a"]);
    let (dirs, numbers) = (Value::Texts(&["/"]), |list| Value::Numbers(list));
    let name = || (1000, Value::Text("n"));
    for (what, blob) in [
        ("empty", Vec::new()),
        ("no counts", cut(7)),
        ("cut", cut(sound.len() - 1)),
        ("entries without end", with(0, &[0xff; 4])),
        ("data without end", with(4, &[0xff; 4])),
        ("name behind the data", with(16, &[0xff; 4])),
        (
            "names without end",
            with(8 + 16 * 4 + 12, &[0x7f, 0xff, 0xff, 0xff]),
        ),
        ("more names than there are", with(8 + 16 * 4 + 15, &[4])),
        ("no name", header(&[(1001, Value::Text("1"))])),
        (
            "a directory that is none",
            header(&[name(), (1116, numbers(&[1])), (1117, names), (1118, dirs)]),
        ),
        (
            "names of numbers",
            header(&[
                name(),
                (1116, numbers(&[0])),
                (1117, numbers(&[0])),
                (1118, Value::Texts(&["/"])),
            ]),
        ),
    ] {
        let tree = with_database(&database(&[blob, sound.clone()]));
        let found = assigned(&tree);
        let kinds: Vec<&str> = problems(&found).iter().map(|(_, kind)| *kind).collect();
        assert!(
            matches!(kinds[..], ["malformed-metadata" | "limit-exceeded"]),
            "{what}: {kinds:?}"
        );
        assert!(
            packages(&found).contains(&"rpm sound 1.2-3.el9".to_owned()),
            "{what}"
        );
    }
}

#[test]
fn databases_made_to_mislead_are_problems_of_the_database() {
    // pages: 1 schema, 2 root, 3 leaf with 4 and more behind it
    let sound = database(&[large("large"), tiny("tiny")]);
    let with = |page: usize, at: usize, bytes: &[u8]| {
        let mut database = sound.clone();
        let at = (page - 1) * PAGE + at;
        database[at..at + bytes.len()].copy_from_slice(bytes);
        database
    };
    let cell = |page: usize, at: usize| {
        let at = (page - 1) * PAGE + at;
        usize::from(u16::from_be_bytes([sound[at], sound[at + 1]]))
    };
    let (root_cell, leaf_cell) = (cell(2, 12), cell(3, 8));
    for (what, bytes) in [
        ("empty", Vec::new()),
        ("not a database", vec![7; 4096]),
        ("header alone", sound[..50].to_vec()),
        ("page of 1 byte", with(1, 16, &[0, 3])),
        ("all of a page reserved", with(1, 20, &[255])),
        ("UTF-16", with(1, 56, &[0, 0, 0, 2])),
        ("no table", with(1, 100, &[13, 0, 0, 0, 0])),
        ("a page of an index", with(2, 0, &[2])),
        ("root of itself", with(2, 8, &[0, 0, 0, 2])),
        ("child outside", with(2, root_cell, &[0xff; 4])),
        ("child 0", with(2, root_cell, &[0; 4])),
        ("cells without end", with(2, 3, &[0xff, 0xff])),
        ("cell behind the page", with(3, 8, &[0xff, 0xff])),
        (
            "record longer than the file",
            with(3, leaf_cell, &[0xff; 9]),
        ),
        ("overflow of itself", with(4, 0, &[0, 0, 0, 4])),
        ("overflow ends", with(4, 0, &[0; 4])),
        ("overflow outside", with(4, 0, &[0xff; 4])),
        ("cut", sound[..sound.len() - PAGE].to_vec()),
    ] {
        let found = assigned(&with_database(&bytes));
        assert_eq!(
            problems(&found),
            [(DB.to_owned(), "malformed-metadata")],
            "{what}"
        );
    }
}

#[test]
fn no_byte_of_a_database_makes_it_panic() {
    let sound = database(&[large("large"), tiny("tiny")]);
    for at in 0..sound.len() {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut bytes = sound.clone();
            bytes[at] = byte;
            let found = assigned(&with_database(&bytes));
            assert!(found.packages.len() <= 2 || !found.problems.is_empty());
        }
    }
}
