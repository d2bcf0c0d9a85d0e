//! Archives that are fetched: few requests, and the same problems.

use super::*;
use crate::archive::ranges::fixture::fetched;

/// What is wrong with an archive, by kind and place: its structure, then what reading each member says.
fn all_problems(bytes: SharedBytes) -> Vec<(ProblemKind, String)> {
    let opened = Zip::open(bytes, &at(), &Limits::default()).unwrap();
    let mut found: Vec<_> = opened
        .problems
        .iter()
        .map(|problem| (problem.kind, problem.at.to_string()))
        .collect();
    for (index, member) in opened.zip.members().iter().enumerate() {
        if member.is_readable()
            && let Err(fault) = read(&opened.zip, index)
        {
            found.push((fault.kind, at().member(&member.name).to_string()));
        }
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn the_directory_is_one_request_and_each_member_another() {
    let large: Vec<u8> = (0_u32..50_000).flat_map(u32::to_le_bytes).collect();
    let long = "a".repeat(1000);
    let bytes = Builder::new()
        .stored(&format!("{long}/large.bin"), &large)
        .deflated("a/two.bin", &[7; 5000])
        .stored(&format!("{long}/more.bin"), &large)
        .build();
    let (shared, asked) = fetched(bytes.clone(), 1100);
    let opened = Zip::open(shared.clone(), &at(), &Limits::default()).unwrap();
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    let directory = asked.lock().unwrap().clone();
    let records = opened
        .zip
        .members()
        .iter()
        .map(|member| 46 + member.name.as_bytes().len());
    let start = bytes.len() - 22 - records.sum::<usize>();
    assert_eq!(directory, [(start as u64, bytes.len() as u64 - 1100)]);
    assert_eq!(read(&opened.zip, 1).unwrap(), [7; 5000]);
    assert_eq!(read(&opened.zip, 0).unwrap(), large);
    let ranges = [1, 0].map(|index| opened.zip.members()[index].range().unwrap());
    let pairs = ranges.clone().map(|range| (range.start, range.end));
    assert_eq!(asked.lock().unwrap()[1..], pairs);
    assert_eq!(ranges[1], 0..ranges[0].start);
}

#[test]
fn an_archive_that_is_there_as_a_whole_asks_for_nothing() {
    let bytes = plain().build();
    let len = bytes.len();
    let (shared, asked) = fetched(bytes, len);
    assert!(all_problems(shared.clone()).is_empty());
    assert!(asked.lock().unwrap().is_empty());
    assert_eq!(shared.received(), len as u64);
}

#[test]
fn headers_that_disagree_are_the_same_problem_as_in_a_file() {
    let changes: [fn(&mut Entry); 13] = [
        |entry| entry.local.name = b"b/two.txt".to_vec(),
        |entry| entry.local.crc ^= 1,
        |entry| entry.local.packed += 1,
        |entry| entry.local.size += 1,
        |entry| entry.local.flags |= 1 << 11,
        |entry| entry.local.method = 8,
        |entry| entry.both(|header| header.crc ^= 1),
        |entry| entry.both(|header| header.size -= 1),
        |entry| entry.defer(true, false),
        |entry| entry.defer(false, true),
        |entry| {
            entry.defer(true, false);
            entry.descriptor[5] ^= 1;
        },
        |entry| entry.central.packed = 60_000,
        |entry| entry.central.name = b"a/one.txt".to_vec(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let bytes = spoiled(change).build();
        let file = all_problems(bytes.clone().into());
        let (shared, _) = fetched(bytes, 30);
        assert_eq!(all_problems(shared), file, "{number}");
        let right = matches!(number, 8 | 9);
        assert_eq!(file.is_empty(), right, "{number}");
    }
}

#[test]
fn members_that_share_bytes_are_told_by_the_directory_alone() {
    let bytes = spoiled(|entry| entry.offset = Some(3)).build();
    let (shared, _) = fetched(bytes, 30);
    let opened = Zip::open(shared, &at(), &Limits::default()).unwrap();
    assert_eq!(kinds(&opened), [ProblemKind::OverlappingMembers]);
    assert!(!opened.zip.members()[1].is_readable());
}

#[test]
fn a_member_whose_header_disagrees_is_read_before_that_is_said() {
    let bytes = spoiled(|entry| entry.local.crc ^= 1).build();
    let (shared, _) = fetched(bytes, 30);
    let opened = Zip::open(shared, &at(), &Limits::default()).unwrap();
    let budget = Budget::default();
    let mut reader = opened.zip.reader(1, &budget).unwrap();
    let mut buf = [0; 4];
    reader.read_exact(&mut buf).unwrap();
    assert_eq!(&buf, b"two!");
    let fault = Fault::of(&reader.read(&mut buf).unwrap_err());
    assert_eq!(fault.kind, ProblemKind::HeaderMismatch);
    assert!(fault.detail.contains("the CRC-32"), "{fault}");
}

#[test]
fn a_member_that_is_not_listed_is_seen_behind_one_that_is_read() {
    let bytes = Builder::new()
        .stored("a/one.txt", b"one")
        .odd("a/two.txt", b"two!", |entry| entry.unlisted = true)
        .stored("a/three.txt", b"three")
        .build();
    let kinds = |problems: Vec<(ProblemKind, String)>| {
        let kinds = problems.into_iter().map(|(kind, _)| kind);
        kinds.collect::<Vec<_>>()
    };
    let (shared, _) = fetched(bytes.clone(), 30);
    let expected = [ProblemKind::HeaderMismatch];
    assert_eq!(kinds(all_problems(bytes.into())), expected);
    assert_eq!(kinds(all_problems(shared)), expected);
}

#[test]
fn more_bytes_than_a_member_can_have_are_told_and_not_fetched() {
    let bytes = Builder::new()
        .odd("a/one.txt", b"one", |entry| {
            entry.descriptor = vec![0; 70_000];
        })
        .stored("a/two.txt", b"two")
        .build();
    let (shared, asked) = fetched(bytes, 30);
    assert_eq!(
        all_problems(shared),
        [(ProblemKind::MalformedArchive, "a.zip".to_owned())]
    );
    let most = asked
        .lock()
        .unwrap()
        .iter()
        .map(|(start, end)| end - start)
        .max();
    assert!(most < Some(66_000), "{most:?}");
}
