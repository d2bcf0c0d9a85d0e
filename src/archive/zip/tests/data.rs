//! The bytes of members.

use super::*;

#[test]
fn names_what_it_cannot_unpack() {
    for (flags, method, kind) in [
        (1, 0, ProblemKind::Encrypted),
        (1 << 6 | 1, 8, ProblemKind::Encrypted),
        (1, 99, ProblemKind::Encrypted),
        (0, 12, ProblemKind::UnsupportedCompression),
        (0, 93, ProblemKind::UnsupportedCompression),
    ] {
        let opened = open(
            spoiled(|entry| {
                entry.both(|header| (header.flags, header.method) = (flags, method));
            })
            .build(),
        );
        assert_eq!(kinds(&opened), [kind]);
        assert!(!opened.zip.members()[1].is_readable());
        assert_eq!(read(&opened.zip, 1).unwrap_err().kind, kind);
        assert_eq!(read(&opened.zip, 0).unwrap(), b"one");
    }
}

#[test]
fn judges_the_unpacked_bytes() {
    let check = |packed: Vec<u8>, size: u32, crc_of: &[u8], kind: ProblemKind| {
        let opened = open(
            Builder::new()
                .member("m", crc_of, 8, packed, |entry| {
                    entry.both(|header| header.size = size);
                })
                .build(),
        );
        assert!(opened.problems.is_empty());
        assert_eq!(read(&opened.zip, 0).unwrap_err().kind, kind);
    };
    let data = [3; 1000];
    let packed = deflate(&data);
    check(
        packed.clone(),
        1000,
        b"other",
        ProblemKind::ChecksumMismatch,
    );
    check(packed.clone(), 1001, &data, ProblemKind::SizeMismatch);
    check(packed.clone(), 999, &data[..999], ProblemKind::SizeMismatch);
    check(
        packed[..packed.len() - 1].to_vec(),
        1000,
        &data,
        ProblemKind::Truncated,
    );
    check(
        [&packed[..], b"left"].concat(),
        1000,
        &data,
        ProblemKind::CorruptData,
    );
    check(vec![0xff; 20], 1000, &data, ProblemKind::CorruptData);
    check(Vec::new(), 1000, &data, ProblemKind::SizeMismatch);
}

#[test]
fn an_empty_member_may_have_no_packed_bytes() {
    for packed in [Vec::new(), deflate(b"")] {
        let opened = open(Builder::new().member("m", b"", 8, packed, |_| {}).build());
        assert_eq!(read(&opened.zip, 0).unwrap(), b"");
    }
}

#[test]
fn an_error_stays_an_error_and_an_empty_buffer_is_no_end() {
    let opened = open(
        Builder::new()
            .odd("m", b"data", |entry| entry.both(|header| header.crc ^= 1))
            .build(),
    );
    let budget = Budget::default();
    let mut reader = opened.zip.reader(0, &budget).unwrap();
    let mut buf = [0; 8];
    assert_eq!(reader.read(&mut []).unwrap(), 0);
    assert_eq!(reader.read(&mut buf).unwrap(), 4);
    for _ in 0..3 {
        let error = reader.read(&mut buf).unwrap_err();
        assert_eq!(Fault::of(&error).kind, ProblemKind::ChecksumMismatch);
    }
}

#[test]
fn decodes_on_many_threads_at_once() {
    fn share<T: Send + Sync>(value: T) -> T {
        value
    }
    let zip = share(open(plain().build()).zip);
    let budget = share(Budget::default());
    std::thread::scope(|scope| {
        for index in [0, 1, 0, 1] {
            let mut reader = share(zip.reader(index, &budget).unwrap());
            let size = zip.members()[index].size;
            scope.spawn(move || {
                let n = std::io::copy(&mut reader, &mut std::io::sink()).unwrap();
                assert_eq!(n, size);
            });
        }
    });
}
