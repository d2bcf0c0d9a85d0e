//! Archives that are right, and archives that are wrong in one way each.

mod data;
mod fetched;
mod headers;
mod hostile;
mod layout;

use std::io::Read as _;

use super::fixture::{Builder, EndRecord, Entry, deflate};
use super::*;
use crate::limits::{LimitHit, read_capped};

fn at() -> Locator {
    Locator::root(0, "a.zip")
}

fn open(bytes: impl Into<Vec<u8>>) -> Opened {
    Zip::open(bytes.into().into(), &at(), &Limits::default()).unwrap()
}

fn read(zip: &Zip, index: usize) -> Result<Vec<u8>, Fault> {
    let budget = Budget::default();
    let reader = zip.reader(index, &budget)?;
    read_capped(reader, 64 << 20)
        .map(|(bytes, _)| bytes)
        .map_err(|error| Fault::of(&error))
}

fn kinds(opened: &Opened) -> Vec<ProblemKind> {
    opened.problems.iter().map(|problem| problem.kind).collect()
}

/// Two members, stored and deflated.
fn plain() -> Builder {
    Builder::new()
        .stored("a/one.txt", b"one")
        .deflated("a/two.bin", &[7; 5000])
}

/// Two members, the second of which `change` spoils.
fn spoiled(change: impl FnOnce(&mut Entry)) -> Builder {
    Builder::new()
        .stored("a/one.txt", b"one")
        .odd("a/two.txt", b"two!", change)
}

#[test]
fn reads_stored_and_deflated_members() {
    let opened = open(plain().build());
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    let members = opened.zip.members();
    assert_eq!(members[0].name, "a/one.txt".into());
    assert_eq!((members[1].size, members[1].kind), (5000, MemberKind::File));
    assert_eq!(read(&opened.zip, 0).unwrap(), b"one");
    assert_eq!(read(&opened.zip, 1).unwrap(), [7; 5000]);
    assert_eq!(read(&opened.zip, 1).unwrap(), [7; 5000], "a second look");
    assert!(read(&opened.zip, 2).is_err());
}

#[test]
fn reads_what_rawzip_writes_with_descriptors() {
    use std::io::Write as _;
    let mut bytes = Vec::new();
    let mut writer = rawzip::ZipArchiveWriter::new(&mut bytes);
    writer.new_dir("d/").create().unwrap();
    let (mut entry, config) = writer
        .new_file("d/é.so")
        .compression_method(rawzip::CompressionMethod::DEFLATE)
        .start()
        .unwrap();
    let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
    let mut data = config.wrap(encoder);
    data.write_all(&[1; 9_000]).unwrap();
    let (encoder, descriptor) = data.finish().unwrap();
    encoder.finish().unwrap();
    entry.finish(descriptor).unwrap();
    writer.finish().unwrap();
    let opened = open(bytes);
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    assert_eq!(opened.zip.members()[0].kind, MemberKind::Dir);
    assert_eq!(read(&opened.zip, 1).unwrap(), [1; 9_000]);
}

#[test]
fn an_empty_archive_is_an_archive() {
    let opened = open(Builder::new().build());
    assert!(opened.problems.is_empty() && opened.zip.members().is_empty());
}
