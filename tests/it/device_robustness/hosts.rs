//! Host files that lie, that are strange, or that put things where nobody looks.

use std::time::Duration;

use smgate::device::{HostFormat, Place, Scanner};

use super::within;
use crate::support::elf::{Elf, Names, put};
use crate::support::fatbin::{Entry, fatbin};
use crate::support::{Random, expect, fixture, images, problem_kinds, scan, scan_in};

fn code() -> Vec<u8> {
    fatbin(&[Entry::plain_cubin("sm_80", (12, 0))])
}

fn library() -> Elf {
    Elf::with_fatbin(code())
        .soname("libx.so.1")
        .needed("libcudart.so.12")
        .needed("libc.so.6")
        .runpath("$ORIGIN")
}

#[test]
fn names_far_from_everything_are_asked_for_and_filled_in() {
    let near = scan(&library().build());
    assert_eq!(near.host.needed, ["libcudart.so.12", "libc.so.6"]);
    assert_eq!(
        (near.host.soname.as_deref(), near.host.runpath.as_deref()),
        (Some("libx.so.1"), Some("$ORIGIN"))
    );

    let far = library().names(Names::Far(3 << 20)).build();
    let mut scanner = Scanner::new(Some(far.len() as u64));
    scanner.feed(&far);
    let mut scanned = scanner.finish();
    let missing = scanned.missing();
    assert!(!missing.is_empty());
    assert!(
        missing
            .iter()
            .all(|range| range.start >= 3 << 20 && range.end - range.start <= 4096),
        "{missing:?}"
    );
    // any order, cut anywhere
    for range in missing.into_iter().rev() {
        for at in (range.start..range.end).rev().step_by(5) {
            let end = (at + 5).min(range.end);
            scanned.fill(
                at,
                &far[usize::try_from(at).unwrap()..usize::try_from(end).unwrap()],
            );
        }
        scanned.fill(
            range.start,
            &far[usize::try_from(range.start).unwrap()..][..8],
        );
    }
    let report = scanned.report();
    assert_eq!(report.host.needed, near.host.needed);
    assert_eq!(report.host.soname, near.host.soname);
    assert_eq!(report.host.runpath, near.host.runpath);
    assert_eq!(report.problems, []);
}

#[test]
fn names_that_are_never_filled_in_are_a_problem() {
    let far = library().names(Names::Far(3 << 20)).build();
    let mut scanner = Scanner::new(Some(far.len() as u64));
    scanner.feed(&far);
    let report = scanner.finish().report();
    assert_eq!(problem_kinds(&report), ["malformed-library"]);
    assert_eq!(
        images(&report),
        expect(["cubin sm_80"]),
        "the code is known all the same"
    );
}

#[test]
fn names_behind_the_section_table_are_read_at_once() {
    for filler in [0, 3 << 20] {
        let library = library()
            .section(".filler", vec![0xcc; filler])
            .names(Names::Last)
            .build();
        for chunk in [1000, usize::MAX] {
            let mut scanner = Scanner::new(Some(library.len() as u64));
            for piece in library.chunks(chunk) {
                scanner.feed(piece);
            }
            let scanned = scanner.finish();
            assert_eq!(scanned.missing(), [], "{filler}");
            let report = scanned.report();
            assert_eq!(
                report.host.needed,
                ["libcudart.so.12", "libc.so.6"],
                "{filler}"
            );
            assert_eq!(report.problems, [], "{filler}");
        }
        let unknown = scan_in(&library, 1000, false);
        assert_eq!(
            unknown.host.needed,
            ["libcudart.so.12", "libc.so.6"],
            "{filler}"
        );
        assert_eq!(unknown.problems, [], "{filler}");
    }
}

// The RUNPATH of libtensorflow_framework.so.2 of tensorflow 2.20.0 has 21,514 bytes.
#[test]
fn long_names_are_read_wherever_they_lie() {
    let long = "x".repeat(21_514);
    for far in [1 << 20, 3 << 20] {
        let library = library().needed(&long).names(Names::Far(far)).build();
        let report = scan(&library);
        assert!(report.host.needed.contains(&long), "{far}");
        assert_eq!(report.problems, [], "{far}");
    }
}

#[test]
fn names_beyond_the_file_are_a_problem() {
    let mut builds = vec![(
        "a size that ends beyond the file",
        library().names_size_lie(1 << 40).build(),
    )];
    let mut outside = library().build();
    let dynamic = 64 + 2 * 56;
    // the first row is a NEEDED
    put(&mut outside, dynamic + 8, &0x7000_0000_u64.to_le_bytes());
    builds.push(("a name beyond the file", outside));
    let endless = "x".repeat(70_000);
    let mut builder = library().needed(&endless).names(Names::Far(3 << 20));
    builds.push(("a name of 70,000 letters", builder.build()));
    builder = library()
        .section(".filler", vec![0xcc; 3 << 20])
        .names(Names::Last);
    let mut unterminated = builder.build();
    *unterminated.last_mut().unwrap() = b'x';
    builds.push(("a name without an end", unterminated));
    for (what, bytes) in builds {
        let report = scan(&bytes);
        let complete = report.host.needed == ["libcudart.so.12", "libc.so.6"];
        assert!(
            complete || !report.problems.is_empty(),
            "{what}: {report:?}"
        );
        assert_eq!(images(&report), expect(["cubin sm_80"]), "{what}");
    }
}

#[test]
fn a_library_whose_tables_overlap_everything_is_read_or_reported() {
    let good = library().build();
    for (at, value) in [
        (40, 0_u64),
        (40, 16),
        (40, 64),
        (32, 0),
        (32, 8),
        (40, good.len() as u64 - 64),
        (40, u64::MAX),
        (32, 1 << 60),
    ] {
        let mut bytes = good.clone();
        put(&mut bytes, at, &value.to_le_bytes());
        let report = within(Duration::from_secs(5), || scan(&bytes));
        assert_eq!(
            images(&report),
            expect(["cubin sm_80"]),
            "{value:#x} at {at}"
        );
        if at == 40 && value != 0 {
            assert!(
                !report.problems.is_empty() || !matches!(report.classes[0].place, Place::NoSection),
                "{value:#x} at {at}: {report:?}"
            );
        }
    }
}

#[test]
fn sections_that_all_cover_the_same_bytes_are_read_or_reported() {
    let mut elf = library();
    for index in 0..200 {
        elf = elf.section(&format!(".s{index}"), Vec::new());
    }
    let mut bytes = elf.build();
    let table = usize::try_from(u64::from_le_bytes(bytes[40..48].try_into().unwrap())).unwrap();
    for row in 1..=200 {
        put(&mut bytes, table + row * 64 + 24, &0_u64.to_le_bytes());
        put(&mut bytes, table + row * 64 + 32, &u64::MAX.to_le_bytes());
    }
    let report = within(Duration::from_secs(5), || scan(&bytes));
    assert_eq!(images(&report), expect(["cubin sm_80"]));
}

#[test]
fn a_library_with_65_000_sections_takes_no_longer_for_it() {
    let mut elf = Elf::with_fatbin(code().repeat(2000));
    for _ in 0..65_000 {
        elf = elf.section(".nv_fatbin", Vec::new());
    }
    let report = within(Duration::from_secs(20), || scan(&elf.build()));
    assert_eq!(report.classes[0].count, 2000);
    assert_eq!(report.problems, []);
}

#[test]
fn section_names_out_of_reach_are_asked_for_once() {
    let mut elf = Elf::with_fatbin(code());
    for index in 0..20_000 {
        elf = elf.section(
            &format!(".text.a_long_name_of_a_function_{index}"),
            Vec::new(),
        );
    }
    let bytes = elf.build();
    let report = within(Duration::from_secs(20), || scan(&bytes));
    assert_eq!(
        report.classes[0].place,
        Place::Section(".nv_fatbin".to_owned())
    );
    assert_eq!(report.problems, []);
}

#[test]
fn pe_files_of_garbage_are_read_or_reported() {
    let good = fixture("win_mingw.dll");
    let nt = usize::try_from(u32::from_le_bytes(good[0x3c..0x40].try_into().unwrap())).unwrap();
    let optional = nt + 24;
    let directories = optional + 112;
    let whole = images(&scan(&good));
    let mut random = Random::new(5);
    let mut changes: Vec<(usize, u64)> = vec![
        (0x3c, u64::from(u32::MAX)),
        (0x3c, 0),
        (nt + 4, 0xffff_ffff_ffff_ffff),
        (nt + 16, u64::MAX),
        (optional, 0x010b),
        (optional + 24, u64::MAX),
        (optional + 56, 0),
        (optional + 108, u64::MAX),
    ];
    for directory in [1, 13] {
        for value in [
            1,
            u64::from(u32::MAX),
            u64::MAX,
            0x0000_1000_0000_1000,
            0xffff_fff0_0000_3000,
        ] {
            changes.push((directories + directory * 8, value));
        }
    }
    for _ in 0..300 {
        changes.push((nt + random.below(600), random.next() >> random.below(60)));
    }
    for (at, value) in changes {
        let mut bytes = good.clone();
        put(&mut bytes, at, &value.to_le_bytes());
        let report = within(Duration::from_secs(5), || scan(&bytes));
        assert_eq!(images(&report), whole, "{value:#x} at {at:#x}");
    }
}

/// A static library of these members, as `ar` writes it.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let header = format!(
            "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            format!("{name}/"),
            0,
            0,
            0,
            644,
            content.len()
        );
        assert_eq!(header.len(), 60);
        bytes.extend(header.bytes());
        bytes.extend(*content);
        if content.len() % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

#[test]
fn a_static_library_holds_the_code_of_its_members_to_be_linked() {
    let one = Elf::with_fatbin(code()).build();
    let mut two = Elf::new()
        .section("__nv_relfatbin", fatbin(&[Entry::ptx("compute_90", "8.4")]))
        .build();
    two.push(0);
    let library = archive(&[("one.o", &one), ("two.o", &two), ("notes", b"x")]);
    let report = scan(&library);
    assert_eq!(report.host.format, HostFormat::Ar);
    assert_eq!(
        images(&report),
        expect(["cubin sm_80", "ptx compute_90 8.4"])
    );
    assert!(
        report
            .classes
            .iter()
            .all(|class| class.relocatable && class.place == Place::File)
    );
    assert_eq!(report.problems, []);

    for cut in 0..library.len() {
        let report = scan(&library[..cut]);
        let cut_code =
            cut as u64 > 200 && images(&report) != expect(["cubin sm_80", "ptx compute_90 8.4"]);
        let inside = report.classes.iter().any(|class| class.damaged);
        assert!(!inside || !report.problems.is_empty(), "cut at {cut}");
        assert!(
            !cut_code || cut < library.len() - 100,
            "cut at {cut}: {report:?}"
        );
    }
}

#[test]
fn relocatable_and_linked_code_is_told_apart_by_its_section() {
    let report = scan(
        &Elf::with_fatbin(code())
            .section("__nv_relfatbin", code())
            .build(),
    );
    let by_section: Vec<_> = report
        .classes
        .iter()
        .map(|class| (class.place.name().unwrap(), class.relocatable))
        .collect();
    assert_eq!(
        by_section,
        [(".nv_fatbin", false), ("__nv_relfatbin", true)]
    );
}

#[test]
fn bytes_of_a_device_section_that_hold_no_fatbin_are_a_problem() {
    let mut random = Random::new(7);
    let report = scan(&Elf::with_fatbin([code(), random.bytes(20_000), code()].concat()).build());
    assert_eq!(report.classes[0].count, 2);
    assert_eq!(problem_kinds(&report), ["malformed-fatbin"]);
    let report = scan(&Elf::with_fatbin(random.bytes(20_000)).build());
    assert_eq!(problem_kinds(&report), ["malformed-fatbin"]);
}
