//! Archives are written by the `tar` crate's builder, another implementation than the walk.

use std::io::Write as _;

use tar::Builder;

use super::*;
use crate::limits::read_capped;

fn header(kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header
}

fn archive(fill: impl FnOnce(&mut Builder<Vec<u8>>)) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    fill(&mut builder);
    builder.into_inner().unwrap()
}

fn file(builder: &mut Builder<Vec<u8>>, name: &str, bytes: &[u8]) {
    let mut header = header(EntryType::Regular, bytes.len() as u64);
    builder.append_data(&mut header, name, bytes).unwrap();
}

/// A member whose header is all ours, also where the builder would refuse it.
fn raw(kind: u8, name: &[u8], size: u64, body: &[u8]) -> Vec<u8> {
    let mut header = header(EntryType::new(kind), size);
    let bytes = header.as_mut_bytes();
    bytes[..100].fill(0);
    bytes[..name.len()].copy_from_slice(name);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend(body);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
    out
}

fn pax(records: &[(&str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (key, value) in records {
        let rest = format!(" {key}={value}\n");
        let mut len = rest.len() + 1;
        while len != rest.len() + len.to_string().len() {
            len = rest.len() + len.to_string().len();
        }
        write!(body, "{len}{rest}").unwrap();
    }
    raw(b'x', b"pax", body.len() as u64, &body)
}

const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];

type Seen = (String, TarKind, Vec<u8>);

fn walk(bytes: &[u8]) -> (Vec<Seen>, Result<TarEnd, Fault>) {
    let mut tar = Tar::new(bytes, 100);
    let mut seen = Vec::new();
    loop {
        match tar.next_member() {
            Ok(Some(member)) => {
                let name = String::from_utf8_lossy(&member.name).into_owned();
                match read_capped(tar.body(), 1 << 20) {
                    Ok((body, _)) => seen.push((name, member.kind, body)),
                    Err(error) => return (seen, Err(Fault::of(&error))),
                }
            }
            Ok(None) => return (seen, Ok(tar.end().unwrap())),
            Err(fault) => return (seen, Err(fault)),
        }
    }
}

fn seen(name: &str, kind: TarKind, body: &[u8]) -> Seen {
    (name.to_owned(), kind, body.to_vec())
}

#[test]
fn names_every_member_with_its_bytes() {
    let long = format!("{}/lib.so", "d".repeat(300));
    let bytes = archive(|builder| {
        file(builder, "a/b.so", b"one");
        file(builder, &long, &[5; 513]);
        builder
            .append_link(&mut header(EntryType::Symlink, 0), "lib", "usr/lib")
            .unwrap();
        builder
            .append_link(&mut header(EntryType::Link, 0), "c.so", &long)
            .unwrap();
        file(builder, "empty", b"");
    });
    let (members, end) = walk(&bytes);
    assert_eq!(end, Ok(TarEnd::Marked));
    assert_eq!(
        members,
        [
            seen("a/b.so", TarKind::File, b"one"),
            seen(&long, TarKind::File, &[5; 513]),
            seen("lib", TarKind::Symlink(b"usr/lib".to_vec()), b""),
            seen("c.so", TarKind::HardLink(long.into_bytes()), b""),
            seen("empty", TarKind::File, b""),
        ]
    );
}

#[test]
fn extended_headers_replace_name_and_size() {
    let body = [
        pax(&[("path", "real/näme.so"), ("size", "3")]),
        raw(b'0', b"short", 0, b"abc"),
        raw(b'0', b"next", 1, b"x"),
        END.to_vec(),
    ]
    .concat();
    let (members, end) = walk(&body);
    assert_eq!(end, Ok(TarEnd::Marked));
    assert_eq!(
        members,
        [
            seen("real/näme.so", TarKind::File, b"abc"),
            seen("next", TarKind::File, b"x"),
        ]
    );
}

#[test]
fn values_of_records_may_hold_line_feeds() {
    let body = [
        pax(&[
            ("SCHILY.xattr.security.capability", "\u{1}\n\0x=\n"),
            ("path", "a\nb.so"),
        ]),
        raw(b'0', b"short", 1, b"x"),
        END.to_vec(),
    ]
    .concat();
    assert_eq!(walk(&body).0, [seen("a\nb.so", TarKind::File, b"x")]);
}

#[test]
fn a_label_with_bytes_is_no_label() {
    let body = [raw(b'V', b"lib.so", 3, b"abc"), END.to_vec()].concat();
    assert_eq!(walk(&body).0[0].1, TarKind::Unsupported);
}

#[test]
fn what_is_not_read_is_skipped() {
    let bytes = archive(|builder| {
        file(builder, "big", &vec![1; 200_000]);
        file(builder, "small", b"x");
    });
    let mut tar = Tar::new(&bytes[..], 10);
    assert_eq!(tar.next_member().unwrap().unwrap().size, 200_000);
    let mut some = [0; 10];
    tar.body().read_exact(&mut some).unwrap();
    let member = tar.next_member().unwrap().unwrap();
    assert_eq!(
        (&member.name[..], member.offset),
        (&b"small"[..], 512 + 200_192)
    );
}

#[test]
fn says_where_readers_disagree() {
    let doubt = |bytes: Vec<u8>| {
        let bytes = [bytes, END.to_vec()].concat();
        Tar::new(&bytes[..], 10)
            .next_member()
            .unwrap()
            .unwrap()
            .doubt
    };
    assert_eq!(doubt(raw(b'0', b"a", 1, b"x")), None);
    assert!(
        doubt(raw(b'2', b"a", 512, b"x")).is_some(),
        "a link with bytes"
    );
    let long = raw(b'L', b"././@LongLink", 3, b"one");
    let one = [
        pax(&[("path", "two")]),
        long.clone(),
        raw(b'0', b"a", 0, b""),
    ]
    .concat();
    assert!(doubt(one).is_some(), "two names");
    let same = [pax(&[("path", "one")]), long, raw(b'0', b"a", 0, b"")].concat();
    assert_eq!(doubt(same), None);
    // Go takes the second and its own name, others the first's
    let twice = [
        pax(&[("path", "two")]),
        pax(&[("mtime", "1")]),
        raw(b'0', b"a", 0, b""),
    ]
    .concat();
    assert!(doubt(twice).is_some(), "two headers");
    // GNU tar takes it for all members, Go for none
    let mut for_all = pax(&[("path", "two")]);
    for_all[156] = b'g';
    let mut header = Header::new_old();
    header.as_mut_bytes().copy_from_slice(&for_all[..BLOCK]);
    header.set_cksum();
    for_all[..BLOCK].copy_from_slice(header.as_bytes());
    assert!(
        doubt([for_all, raw(b'0', b"a", 0, b"")].concat()).is_some(),
        "for all"
    );
    let label = doubt(
        raw(b'V', b"label", 0, b"")
            .into_iter()
            .chain(raw(b'0', b"a", 0, b""))
            .collect(),
    );
    assert_eq!(label, None);
}

#[test]
fn an_archive_that_is_cut_anywhere_is_never_whole() {
    let bytes = archive(|builder| {
        file(builder, "a", &[1; 700]);
        file(builder, "b", b"x");
    });
    // 512 + 1024, 512 + 512, the end
    let between = [0, 1536, 2560, 3072];
    for cut in 0..bytes.len() {
        let (members, end) = walk(&bytes[..cut]);
        match end {
            Ok(TarEnd::Marked) => panic!("whole at {cut}"),
            Ok(TarEnd::Unmarked) => assert!(between.contains(&cut) || cut > 2560, "{cut}"),
            Err(fault) => assert_eq!(fault.kind, ProblemKind::Truncated, "{cut}"),
        }
        assert!(members.len() <= 2);
    }
    assert_eq!(walk(&bytes).1, Ok(TarEnd::Marked));
}

#[test]
fn hostile_headers_are_faults() {
    let mut wrong_sum = raw(b'0', b"a", 0, b"");
    wrong_sum[0] = b'b';
    let huge = pax(&[("size", "18446744073709551615")]);
    for (name, bytes, kind) in [
        ("checksum", wrong_sum, ProblemKind::MalformedArchive),
        (
            "size overflows",
            [huge, raw(b'0', b"a", 0, b"")].concat(),
            ProblemKind::MalformedArchive,
        ),
        (
            "size is no number",
            [pax(&[("size", "x")]), raw(b'0', b"a", 0, b"")].concat(),
            ProblemKind::MalformedArchive,
        ),
        (
            "records are none",
            [raw(b'x', b"p", 5, b"hello"), raw(b'0', b"a", 0, b"")].concat(),
            ProblemKind::MalformedArchive,
        ),
        (
            "a name of a gigabyte",
            raw(b'L', b"l", 1 << 30, b""),
            ProblemKind::LimitExceeded,
        ),
        (
            "one block of zeros",
            [vec![0; BLOCK], raw(b'0', b"a", 0, b"")].concat(),
            ProblemKind::MalformedArchive,
        ),
    ] {
        let fault = walk(&[bytes, END.to_vec()].concat()).1.unwrap_err();
        assert_eq!(fault.kind, kind, "{name}: {}", fault.detail);
    }
    let many = raw(b'0', b"a", 0, b"").repeat(101);
    assert_eq!(walk(&many).1.unwrap_err().kind, ProblemKind::LimitExceeded);
}

#[test]
fn sparse_files_are_told_and_the_rest_is_read() {
    let bytes = [
        pax(&[("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0")]),
        raw(b'0', b"s", 3, b"abc"),
        raw(b'0', b"next", 1, b"x"),
        END.to_vec(),
    ]
    .concat();
    let (members, end) = walk(&bytes);
    assert_eq!(end, Ok(TarEnd::Marked));
    assert_eq!(members[0].1, TarKind::Unsupported);
    assert_eq!(members[1], seen("next", TarKind::File, b"x"));
}

#[test]
fn a_list_says_what_reading_forward_says() {
    let bytes = archive(|builder| {
        file(builder, "a", b"one");
        file(builder, &"d/".repeat(90), b"");
        builder
            .append_link(&mut header(EntryType::Symlink, 0), "l", "a")
            .unwrap();
        file(builder, "b", &[5; 1500]);
    });
    for cut in (0..=bytes.len()).rev() {
        let (forward, end) = walk(&bytes[..cut]);
        let listed = list(&bytes[..cut].to_vec().into(), 100);
        let members: Vec<Seen> = listed
            .members
            .into_iter()
            .map(|(member, body)| {
                let name = String::from_utf8_lossy(&member.name).into_owned();
                let (body, _) = read_capped(body.cursor(), 1 << 20).unwrap();
                (name, member.kind, body)
            })
            .collect();
        assert_eq!(members, forward, "{cut}");
        match end {
            Ok(end) => assert_eq!(listed.end, Ok(end), "{cut}"),
            Err(fault) => assert_eq!(listed.end.unwrap_err().kind, fault.kind, "{cut}"),
        }
    }
    let listed = list(&bytes.into(), 3);
    assert_eq!(listed.end.unwrap_err().kind, ProblemKind::LimitExceeded);
}
