//! Wheels whose metadata or device code is built to deceive, and libraries that cannot be read.

use crate::support::elf::Elf;
use crate::support::fatbin::{Entry, fatbin};
use crate::support_cli::{Place, Run, library, simple, wheel};

fn check(place: &Place, name: &str, content: &[u8]) -> Run {
    place.write(name, content);
    let run = place.check_h100(name);
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    run
}

/// A library whose only fatbin claims to be larger than the file.
fn unreadable() -> Vec<u8> {
    let mut content = library(&[("sm_80 sm_90", 1)]);
    let at = content
        .windows(4)
        .position(|four| four == [0x50, 0xed, 0x55, 0xba]);
    content[at.unwrap() + 8..][..8].fill(0xff);
    content[at.unwrap() + 16..][..64].fill(0xff);
    content
}

#[test]
fn a_wheel_whose_only_library_is_unreadable_is_no_pass() {
    let place = Place::new();
    let cut = library(&[("sm_80 sm_90", 2)]);
    for (what, content) in [
        ("damaged", unreadable()),
        ("cut", cut[..cut.len() - 700].to_vec()),
        ("cut in its code", cut[..900].to_vec()),
        ("cut in its header", cut[..40].to_vec()),
    ] {
        let input = wheel("pkg", "1.0").member("pkg/_C.so", &content);
        let name = input.file_name();
        let run = check(&place, &name, &input.build());
        assert!(matches!(run.status, 1 | 3), "{what}: {run:?}");
        assert!(
            run.codes().contains(&"unreadable".to_owned()),
            "{what}: {run:?}"
        );
        place.write(
            "smgate.yaml",
            "version: 1\ntargets: [{name: t, gpu: H100, driver: R580}]\nexpect-gpu: [pkg]\n",
        );
        let run = place.run(&["check", &name, "--format", "json"]);
        assert!(matches!(run.status, 1 | 3), "{what}: {run:?}");
    }
}

#[test]
fn a_policy_that_expects_gpu_code_is_not_met_by_what_nobody_can_read() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80 sm_90", 1)])
        .zip(|zip| zip.last(|member| member.both(|header| header.flags |= 1)));
    let name = input.write(&place);
    for (levels, status) in [
        ("", 1),
        ("levels: {unreadable: deny}\n", 1),
        // accepted: then nothing is there that it expects
        ("levels: {unreadable: warn}\n", 1),
        (
            "waivers: [{rule: unreadable, reason: r, until: 2027-03-01}]\n",
            1,
        ),
        ("levels: {cpu-only-build: warn}\n", 3),
    ] {
        let policy = format!(
            "version: 1\ntargets: [{{name: t, gpu: H100, driver: R580}}]\nexpect-gpu: [pkg]\n{levels}"
        );
        place.write("smgate.yaml", policy);
        let run = place.run(&["check", &name, "--today", "2027-01-15", "--format", "json"]);
        assert_eq!(run.status, status, "{levels}: {run:?}");
    }
}

#[test]
fn metadata_with_hostile_content_is_read_or_reported() {
    let place = Place::new();
    let long = "x".repeat(5 << 20);
    for (what, metadata, status) in [
        ("empty", Vec::new(), 3),
        ("binary", vec![0xff; 1000], 3),
        ("zeros", vec![0; 1000], 3),
        ("another name", b"Name: other\nVersion: 1.0\n".to_vec(), 3),
        ("another version", b"Name: pkg\nVersion: 2.0\n".to_vec(), 3),
        ("no version", b"Name: pkg\n".to_vec(), 3),
        (
            "two names",
            b"Name: pkg\nName: other\nVersion: 1.0\n".to_vec(),
            0,
        ),
        (
            "long lines",
            format!("Name: pkg\nVersion: 1.0\nSummary: {long}\n").into_bytes(),
            0,
        ),
        (
            "many lines",
            format!("Name: pkg\nVersion: 1.0\n{}", "A: b\n".repeat(500_000)).into_bytes(),
            0,
        ),
        (
            "name of another package in the body",
            b"Name: pkg\nVersion: 1.0\n\nName: other\nVersion: 9\n".to_vec(),
            0,
        ),
        (
            "carriage returns",
            b"Name: pkg\r\nVersion: 1.0\r\n".to_vec(),
            0,
        ),
        (
            "folded",
            b"Summary: a\n b\nName: pkg\nVersion: 1.0\n".to_vec(),
            0,
        ),
    ] {
        let input = simple("pkg", &[("sm_80 sm_90", 1)]);
        let name = input.file_name();
        let content = input.into_zip_with("pkg-1.0.dist-info", &metadata).build();
        let run = check(&place, &name, &content);
        assert_eq!(run.status, status, "{what}: {run:?}");
        assert_eq!(run.problems().is_empty(), status == 0, "{what}: {run:?}");
        // whatever it says, the code is judged
        let input = simple("pkg", &[("sm_70 sm_80", 1)]);
        let content = input.into_zip_with("pkg-1.0.dist-info", &metadata).build();
        let run = check(&place, &name, &content);
        assert_eq!(run.status, 1, "{what}: {run:?}");
    }
}

// An attacker chooses the name in METADATA; what depends on it must not excuse a library of another name.
#[test]
fn a_false_name_excuses_nothing() {
    let place = Place::new();
    for package in ["nvidia-cublas-cu12", "bitsandbytes", "sgl-kernel"] {
        let input = simple("pkg", &[("sm_70 sm_80", 1)]);
        let name = input.file_name();
        let metadata = format!("Name: {package}\nVersion: 1.0\n");
        let content = input
            .into_zip_with("pkg-1.0.dist-info", metadata.as_bytes())
            .build();
        let run = check(&place, &name, &content);
        assert_eq!(run.status, 1, "{package}: {run:?}");
        assert_eq!(run.problems(), ["malformed-metadata"], "{package}: {run:?}");
    }
}

#[test]
fn wheels_without_or_with_two_dist_infos_are_no_pass() {
    let place = Place::new();
    let bare = wheel("pkg", "1.0").member("pkg/_C.so", library(&[("sm_80 sm_90", 1)]));
    let name = bare.file_name();
    let two = simple("pkg", &[("sm_80 sm_90", 1)]).member(
        "other-1.0.dist-info/METADATA",
        "Name: other\nVersion: 1.0\n",
    );
    let content = two.build();
    let run = check(&place, &name, &content);
    assert_eq!(
        (run.status, run.problems()),
        (3, vec!["malformed-metadata".to_owned()]),
        "{run:?}"
    );
    let zip = crate::support_zip::Zip::new().deflated("pkg/_C.so", &library(&[("sm_80 sm_90", 1)]));
    let run = check(&place, &name, &zip.build());
    assert_eq!(
        (run.status, run.problems()),
        (3, vec!["malformed-metadata".to_owned()]),
        "{run:?}"
    );
}

#[test]
fn a_record_of_fifty_megabytes_is_read_in_time() {
    let place = Place::new();
    let line = "pkg/some/quite/long/path/of/a/module.py,sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA,1000\n";
    let record = line.repeat((50 << 20) / line.len());
    let input = simple("pkg", &[("sm_80 sm_90", 1)]);
    let name = input.file_name();
    let mut zip = input.into_zip();
    zip.members.pop();
    let content = zip
        .deflated("pkg-1.0.dist-info/RECORD", record.as_bytes())
        .build();
    let run = check(&place, &name, &content);
    assert_eq!((run.status, run.problems()), (0, vec![]), "{run:?}");
    // beyond the limit it is reported, and the code is judged all the same
    let run = place.run(&[
        "check",
        &name,
        "--target",
        "H100",
        "--driver",
        "R580",
        "--format",
        "json",
        "--max-metadata",
        "1000000",
    ]);
    assert_eq!(
        (run.status, run.problems()),
        (3, vec!["limit-exceeded".to_owned()]),
        "{run:?}"
    );
}

// Device code is where it is, whatever the file around it says.
#[test]
fn code_is_found_wherever_it_hides() {
    let place = Place::new();
    let code = crate::support_cli::fatbin_of("sm_70 sm_80");
    let mut padded = vec![0x90; 3 << 20];
    padded.extend(&code);
    let mut text = b"#!/bin/sh\n".repeat(100);
    text.extend(&code);
    let mut cut = b"#!/bin/sh\n".repeat(60_000);
    cut.extend(&code);
    for (what, name, content) in [
        (
            "another suffix",
            "pkg/README.md",
            Elf::with_fatbin(code.clone()).build(),
        ),
        (
            "another section",
            "pkg/a.so",
            Elf::new().section(".rodata", code.clone()).build(),
        ),
        ("no ELF at all", "pkg/model.bin", padded),
        ("raw", "pkg/kernels", code.clone()),
        ("behind a script", "pkg/install.run", text),
        ("behind a long script", "pkg/long.run", cut),
        (
            "data directory",
            "pkg-1.0.data/data/lib/x.so",
            Elf::with_fatbin(code.clone()).build(),
        ),
        (
            "script",
            "pkg-1.0.data/scripts/tool",
            Elf::with_fatbin(code.clone()).build(),
        ),
        (
            "metadata directory",
            "pkg-1.0.dist-info/x.so",
            Elf::with_fatbin(code.clone()).build(),
        ),
        (
            "misaligned",
            "pkg/b.so",
            Elf::new()
                .section(".rodata", [&[1, 2, 3][..], &code].concat())
                .build(),
        ),
    ] {
        let input = wheel("pkg", "1.0").member(name, &content);
        let file = input.file_name();
        let run = check(&place, &file, &input.build());
        assert_eq!(
            (run.status, run.codes()),
            (1, vec!["no-kernel-image".to_owned()]),
            "{what}: {run:?}"
        );
    }
}

#[test]
fn entries_that_lie_are_judged_by_what_they_hold() {
    let place = Place::new();
    let judged = |entries: &[Entry]| {
        let input =
            wheel("pkg", "1.0").member("pkg/a.so", Elf::with_fatbin(fatbin(entries)).build());
        let name = input.file_name();
        check(&place, &name, &input.build())
    };
    for (what, entries) in [
        (
            "a cubin filed under another target",
            vec![Entry::plain_cubin("sm_80", (12, 8)).filed_under("sm_90")],
        ),
        (
            "PTX filed under an older target",
            vec![Entry::ptx("compute_100", "8.6").filed_under("compute_50")],
        ),
        (
            "PTX for one architecture filed as plain",
            vec![Entry::ptx("compute_100a", "8.6").filed_under("compute_90")],
        ),
    ] {
        let run = judged(&entries);
        assert_eq!(run.status, 1, "{what}: {run:?}");
        let codes = run.codes();
        assert!(
            codes.contains(&"no-kernel-image".to_owned()),
            "{what}: {run:?}"
        );
        assert!(
            codes.contains(&"ptx-header-mismatch".to_owned()),
            "{what}: {run:?}"
        );
    }
    // entries of no use to the driver beside code that does not fit
    let mut packed = Entry::lto_ir("sm_100");
    packed.flags |= 0x1000;
    let mut unknown = Entry::plain_cubin("sm_90", (12, 8));
    unknown.kind = 0x10;
    for (what, other) in [("LTO-IR", packed), ("an unknown kind", unknown)] {
        let run = judged(&[
            Entry::plain_cubin("sm_70", (12, 8)),
            Entry::plain_cubin("sm_80", (12, 8)),
            other,
        ]);
        assert_eq!(run.status, 1, "{what}: {run:?}");
    }
    // a cubin under a coding that nobody knows: not readable, and no pass
    let mut unknown = Entry::plain_cubin("sm_90", (12, 8));
    unknown.flags |= 0x1000;
    let run = judged(&[Entry::plain_cubin("sm_80", (12, 8)), unknown]);
    assert!(matches!(run.status, 1 | 3), "{run:?}");
}
