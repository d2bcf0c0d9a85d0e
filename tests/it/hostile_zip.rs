//! Wheels whose archive is damaged or built to deceive: never a pass, never a panic, always with the place.

use crate::support::Random;
use crate::support_cli::{Place, Run, library, simple, wheel};
use crate::support_zip::{Zip, deflate_again};

/// Passes on an H100 as it is.
fn good() -> crate::support_cli::WheelFile {
    simple("pkg", &[("sm_80 sm_90", 2)]).member("pkg/data.txt", "text ".repeat(50))
}

/// The result of a file that must not pass.
#[track_caller]
fn refused(place: &Place, content: &[u8]) -> Run {
    let name = good().file_name();
    place.write(&name, content);
    let run = place.check_h100(&name);
    assert!(matches!(run.status, 1..=3), "{run:?}");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    assert!(!run.problems().is_empty(), "no located problem: {run:?}");
    for problem in run.json()["problems"].as_array().unwrap() {
        assert!(
            problem["at"].as_str().unwrap().starts_with(&name),
            "{problem}"
        );
        assert!(!problem["hint"].as_str().unwrap().is_empty(), "{problem}");
    }
    run
}

#[test]
fn the_wheel_itself_passes() {
    let place = Place::new();
    let name = good().write(&place);
    let run = place.check_h100(&name);
    assert_eq!((run.status, run.problems()), (0, vec![]), "{run:?}");
}

#[test]
fn a_wheel_cut_anywhere_is_no_pass() {
    let place = Place::new();
    let whole = good().build();
    let mut cuts: Vec<usize> = (0..48).map(|step| whole.len() * step / 48).collect();
    cuts.extend([
        1,
        3,
        4,
        whole.len() - 1,
        whole.len() - 21,
        whole.len() - 22,
        whole.len() - 23,
    ]);
    for cut in cuts {
        let run = refused(&place, &whole[..cut]);
        assert_eq!(
            run.status, 2,
            "nothing of it can be read: cut at {cut}: {run:?}"
        );
    }
}

#[test]
fn what_is_no_wheel_is_said_what_it_is() {
    let place = Place::new();
    for (content, kind, words) in [
        (&b""[..], "not-an-archive", "the file is empty"),
        (b"<!DOCTYPE html><html>404", "not-an-archive", "web page"),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "not-an-archive",
            "Git LFS pointer",
        ),
        (b"\x1f\x8b\x08\0\0\0\0\0", "not-an-archive", "gzip stream"),
        (
            b"\x7fELF\x02\x01\x01\0\0\0\0\0",
            "not-an-archive",
            "7f 45 4c 46",
        ),
        (b"PK\x03\x04 and no more", "truncated", "central directory"),
        (&[0; 4096], "not-an-archive", "zeros"),
    ] {
        let run = refused(&place, content);
        assert_eq!(
            (run.status, run.problems()),
            (2, vec![kind.to_owned()]),
            "{run:?}"
        );
        let detail = run.json()["problems"][0]["detail"].to_string();
        assert!(detail.contains(words), "{detail}");
    }
}

#[test]
fn members_that_cannot_be_read_are_named() {
    let lib = library(&[("sm_80 sm_90", 1)]);
    let place = Place::new();
    let add = |change: fn(&mut crate::support_zip::Member)| {
        let zip = good().zip(|zip| zip.deflated("pkg/_D.so", &lib).last(change));
        zip.build()
    };
    for (what, content, kind) in [
        ("encrypted", add(|m| m.both(|h| h.flags |= 1)), "encrypted"),
        (
            "wrong CRC",
            add(|m| m.both(|h| h.crc ^= 1)),
            "checksum-mismatch",
        ),
        (
            "too long",
            add(|m| m.both(|h| h.size += 1)),
            "size-mismatch",
        ),
        (
            "too short",
            add(|m| m.both(|h| h.size -= 1)),
            "size-mismatch",
        ),
        (
            "bzip2",
            add(|m| m.both(|h| h.method = 12)),
            "unsupported-compression",
        ),
        (
            "zstd",
            add(|m| m.both(|h| h.method = 93)),
            "unsupported-compression",
        ),
        (
            "damaged",
            add(|m| m.data[60..80].fill(0xff)),
            "corrupt-data",
        ),
        (
            "stored, not deflated",
            add(|m| m.both(|h| h.method = 0)),
            "size-mismatch",
        ),
        (
            "other name",
            add(|m| m.local.name = b"pkg/_E.so".to_vec()),
            "header-mismatch",
        ),
        ("other CRC", add(|m| m.local.crc ^= 1), "header-mismatch"),
        ("other size", add(|m| m.local.size += 1), "header-mismatch"),
        (
            "other method",
            add(|m| m.local.method = 0),
            "header-mismatch",
        ),
        (
            "other flags",
            add(|m| m.local.flags |= 1),
            "header-mismatch",
        ),
    ] {
        let run = refused(&place, &content);
        assert_eq!(run.status, 3, "{what}: {run:?}");
        assert!(run.problems().contains(&kind.to_owned()), "{what}: {run:?}");
        let at = run.json()["problems"][0]["at"].as_str().unwrap().to_owned();
        assert!(at.contains(" › pkg/_D.so"), "{what}: {at}");
    }
}

// Two readers would install different code: both are seen, and it is said.
#[test]
fn members_of_one_name_are_all_read() {
    let place = Place::new();
    let (good_code, bad_code) = (
        library(&[("sm_80 sm_90", 1)]),
        library(&[("sm_70 sm_80", 1)]),
    );
    for (first, second) in [(&good_code, &bad_code), (&bad_code, &good_code)] {
        let content = good()
            .member("pkg/_D.so", first)
            .member("pkg/_D.so", second)
            .build();
        let run = refused(&place, &content);
        assert_eq!(run.problems(), ["duplicate-member"], "{run:?}");
        assert_eq!(
            (run.status, run.codes()),
            (
                1,
                vec!["no-kernel-image".to_owned(), "unreadable".to_owned()]
            )
        );
    }
    // by another spelling, and at another place of the archive
    for name in [
        "pkg/./_C.so",
        "pkg//_C.so",
        "pkg-1.0.data/platlib/pkg/_C.so",
        "pkg-1.0.data/purelib/pkg/_C.so",
    ] {
        let run = refused(&place, &good().member(name, &bad_code).build());
        assert!(
            run.problems().contains(&"duplicate-member".to_owned()),
            "{name}: {run:?}"
        );
        assert_eq!(run.status, 1, "{name}: {run:?}");
    }
}

#[test]
fn a_library_that_is_marked_as_a_link_is_read() {
    let place = Place::new();
    let bad_code = library(&[("sm_70 sm_80", 1)]);
    let zip = wheel("pkg", "1.0")
        .member("pkg/_C.so", bad_code)
        .zip(|zip| zip.last(|member| member.attributes = 0o120_777 << 16));
    place.write(&good().file_name(), zip.build());
    let run = place.check_h100(&good().file_name());
    assert_eq!(
        (run.status, run.codes()),
        (1, vec!["no-kernel-image".to_owned()]),
        "{run:?}"
    );
    // a directory by its name that holds a library
    let bytes = library(&[("sm_70 sm_80", 1)]);
    let run = refused(&place, &good().member("pkg/_D.so/", bytes).build());
    assert_eq!(run.problems(), ["malformed-archive"], "{run:?}");
}

#[test]
fn names_that_lead_elsewhere_are_reported_and_their_code_is_read() {
    let place = Place::new();
    let bad_code = library(&[("sm_70 sm_80", 1)]);
    for name in [
        "../../x.so",
        "/x.so",
        "C:/x.so",
        "pkg/../../x.so",
        "pkg\\x.so",
        "pkg/x\0.txt",
        "pkg/\u{1b}[2J.so",
    ] {
        let run = refused(&place, &good().member(name, &bad_code).build());
        assert!(
            run.problems().contains(&"malformed-archive".to_owned()),
            "{name:?}: {run:?}"
        );
        assert_eq!(run.status, 1, "{name:?}: {run:?}");
        assert!(
            run.codes().contains(&"no-kernel-image".to_owned()),
            "{name:?}: {run:?}"
        );
    }
    assert_eq!(
        std::fs::read_dir(place.path()).unwrap().count(),
        1,
        "nothing is written"
    );
}

#[test]
fn what_the_central_directory_leaves_out_is_reported() {
    let place = Place::new();
    let bad_code = library(&[("sm_70 sm_80", 1)]);
    // a member between the others that only a streaming reader sees
    let hidden = Zip::new().deflated("pkg/_C.so", &bad_code).build();
    let end = hidden
        .windows(4)
        .position(|four| four == *b"PK\x01\x02")
        .unwrap();
    let zip = good().into_zip();
    let honest = zip.build();
    let directory = honest
        .windows(4)
        .position(|four| four == *b"PK\x01\x02")
        .unwrap();
    let mut content = honest[..directory].to_vec();
    content.extend(&hidden[..end]);
    let moved = u32::try_from(content.len()).unwrap();
    content.extend(&honest[directory..]);
    let at = content.len() - 6;
    content[at..at + 4].copy_from_slice(&moved.to_le_bytes());
    let run = refused(&place, &content);
    assert_eq!(run.status, 3, "{run:?}");
}

#[test]
fn a_bomb_stops_at_its_ratio() {
    const MIB: u64 = 1 << 20;
    let place = Place::new();
    let zeros = vec![0; 1 << 20];
    // zeros pack 1 to 1,029: at the default ratio 300 a quarter of it is unpacked
    for (mib, claimed, ratio, kind) in [
        (256, 256 * MIB, "300", "limit-exceeded"),
        (10 * 1024, 10 * 1024 * MIB, "8", "limit-exceeded"),
        (256, 1000, "300", "size-mismatch"),
    ] {
        let (data, crc) = deflate_again(&zeros, mib);
        let input = good().zip(|zip| zip.packed("pkg/bomb.so", 8, data, claimed, crc));
        let name = input.write(&place);
        let run = place.run(&[
            "check",
            &name,
            "--target",
            "H100",
            "--driver",
            "R580",
            "--format",
            "json",
            "--max-ratio",
            ratio,
        ]);
        assert_eq!(
            (run.status, run.problems()),
            (3, vec![kind.to_owned()]),
            "{run:?}"
        );
        let at = run.json()["problems"][0]["at"].as_str().unwrap().to_owned();
        assert!(at.ends_with(" › pkg/bomb.so"), "{at}");
    }
}

#[test]
fn what_a_limit_keeps_from_being_read_is_no_pass() {
    let place = Place::new();
    let name = good().write(&place);
    let base = [
        "check", &name, "--target", "H100", "--driver", "R580", "--format", "json",
    ];
    for (option, value) in [
        ("--max-unpacked", "100"),
        ("--max-members", "2"),
        ("--max-metadata", "10"),
    ] {
        let mut args = base.to_vec();
        args.extend([option, value]);
        let run = place.run(&args);
        assert_eq!(run.status, 3, "{option}: {run:?}");
        assert!(
            run.problems().contains(&"limit-exceeded".to_owned()),
            "{option}: {run:?}"
        );
        assert!(run.stdout.contains(option), "{option}: {run:?}");
    }
    let nested = Zip::new()
        .deflated("x.so", &library(&[("sm_90", 1)]))
        .build();
    let name = good().member("pkg/n.bin", nested).write(&place);
    for (option, value) in [("--max-depth", "1"), ("--max-spool", "100")] {
        let run = place.run(&[
            "check", &name, "--target", "H100", "--driver", "R580", "--format", "json", option,
            value,
        ]);
        assert_eq!(
            (run.status, run.problems()),
            (3, vec!["limit-exceeded".to_owned()]),
            "{option}: {run:?}"
        );
        assert!(run.stdout.contains(option), "{option}: {run:?}");
    }
}

#[test]
fn archives_nested_too_deep_are_no_pass() {
    let place = Place::new();
    let bad_code = library(&[("sm_70 sm_80", 1)]);
    let nest = |depth: usize| {
        let mut content = Zip::new().deflated("x.so", &bad_code).build();
        for level in 1..depth {
            content = Zip::new()
                .stored(&format!("level{level}.bin"), &content)
                .build();
        }
        good().member("pkg/nest.bin", content).build()
    };
    // the wheel is the first of six
    let run = place_run(&place, &nest(5));
    assert_eq!((run.status, run.problems()), (1, vec![]), "{run:?}");
    assert!(run.codes().contains(&"no-kernel-image".to_owned()));
    let run = refused(&place, &nest(6));
    assert_eq!(
        (run.status, run.problems()),
        (3, vec!["limit-exceeded".to_owned()]),
        "{run:?}"
    );
    refused(&place, &nest(60));
}

fn place_run(place: &Place, content: &[u8]) -> Run {
    let name = good().file_name();
    place.write(&name, content);
    place.check_h100(&name)
}

#[test]
fn a_hundred_thousand_members_are_read() {
    let place = Place::new();
    let mut zip = good();
    for index in 0..100_000 {
        zip = zip.zip(|zip| zip.stored(&format!("pkg/{index}"), b""));
    }
    let run = place_run(&place, &zip.build());
    assert_eq!(
        (run.status, run.problems()),
        (0, vec![]),
        "{:?}",
        run.stderr
    );
    assert_eq!(run.json()["artifacts"][0]["files"], 100_005);
}

#[test]
fn damaged_bytes_never_make_a_pass_of_a_failure() {
    let place = Place::new();
    let name = good().file_name();
    let whole = simple("pkg", &[("sm_70 sm_80", 2)]).build();
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut content = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(content.len());
            content[at] ^= 1 << random.below(8);
        }
        place.write(&name, &content);
        let run = place.check_h100(&name);
        assert!(matches!(run.status, 1..=3), "seed {seed}: {run:?}");
        assert!(run.stderr.is_empty(), "seed {seed}: {run:?}");
    }
}

#[test]
fn a_limit_is_told_once_for_each_file_and_nothing_is_called_missing() {
    let place = Place::new();
    let name = good().write(&place);
    let problems = |option: &str, value: &str| -> Vec<(String, String)> {
        let run = place.run(&[
            "check", &name, "--target", "H100", "--format", "json", option, value,
        ]);
        let report = run.json();
        let problems = report["problems"].as_array().unwrap();
        let text =
            |problem: &serde_json::Value, key: &str| problem[key].as_str().unwrap().to_owned();
        problems
            .iter()
            .map(|problem| (text(problem, "kind"), text(problem, "at")))
            .collect()
    };
    let unpacked = problems("--max-unpacked", "100");
    let mut distinct = unpacked.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(unpacked.len(), distinct.len(), "{unpacked:?}");
    assert!(unpacked.iter().any(|(_, at)| at.ends_with("/METADATA")));
    let members = problems("--max-members", "1");
    assert_eq!(members.len(), 1, "{members:?}");
    assert_eq!(members[0].0, "limit-exceeded");
}
