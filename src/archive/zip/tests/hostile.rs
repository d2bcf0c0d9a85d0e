//! Archives made to hurt, cut or damaged.

use super::*;

#[test]
fn keeps_to_the_limits() {
    let limits = Limits {
        members: 1,
        unpacked_bytes: 10,
        ..Limits::default()
    };
    let opened = Zip::open(plain().shared(), &at(), &limits).unwrap();
    assert_eq!(kinds(&opened), [ProblemKind::LimitExceeded]);
    assert_eq!(opened.problems[0].extent, Extent::RestOfArchive);
    assert_eq!(opened.zip.members().len(), 1);

    let zip = open(plain().build()).zip;
    let budget = Budget::new(limits);
    let mut reader = zip.reader(1, &budget).unwrap();
    let error = std::io::copy(&mut reader, &mut std::io::sink()).unwrap_err();
    assert_eq!(Fault::of(&error), LimitHit::Unpacked(10).into());
}

#[test]
fn lists_a_bounded_number_of_problems() {
    let mut builder = Builder::new();
    for _ in 0..1500 {
        builder = builder.stored("\n", b"");
    }
    let problems = open(builder.build()).problems;
    assert!(problems.len() <= 1001);
    let more = problems
        .iter()
        .find(|problem| problem.detail.contains("are not listed"))
        .unwrap();
    assert_eq!(more.extent, Extent::Artifact);
}

/// Every way a small archive can be cut: nothing of it may pass for whole.
#[test]
fn an_archive_cut_anywhere_is_never_whole() {
    let whole = plain().build();
    for len in 0..whole.len() {
        for start in [0, len] {
            let part = if start == 0 {
                &whole[..len]
            } else {
                &whole[len..]
            };
            if part.len() == whole.len() {
                continue;
            }
            let Ok(opened) = Zip::open(part.to_vec().into(), &at(), &Limits::default()) else {
                continue;
            };
            assert!(!opened.problems.is_empty(), "{start} {len}");
        }
    }
}

/// A damaged archive is read as something, with a problem, or as what it was.
#[test]
fn damage_neither_panics_nor_passes_unseen() {
    let original = plain()
        .odd("c", b"see", |entry| entry.defer(true, false))
        .build();
    let expected: Vec<_> = {
        let zip = open(original.clone()).zip;
        (0..3).map(|index| read(&zip, index).unwrap()).collect()
    };
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    for round in 0..5_000 {
        let mut bytes = original.clone();
        for _ in 0..=next(3) {
            let place = next(bytes.len());
            bytes[place] = [0, 0xff, 0x7f, 0x80, bytes[place] ^ (1 << next(8))][next(5)];
        }
        let Ok(opened) = Zip::open(bytes.into(), &at(), &Limits::default()) else {
            continue;
        };
        let all: Result<Vec<_>, _> = (0..opened.zip.members().len())
            .map(|index| read(&opened.zip, index))
            .collect();
        if let (true, Ok(all)) = (opened.problems.is_empty(), all) {
            assert_eq!(all, expected, "round {round}");
        }
    }
}
