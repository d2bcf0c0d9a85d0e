//! Cubins and PTX outside fatbins, that lie or are laid out like no other.

use std::time::Duration;

use super::fatbins::{assert_found, hidden};
use super::within;
use crate::support::cubin::Cubin;
use crate::support::elf::put;
use crate::support::fatbin::{Entry, fatbin, ptx_text};
use crate::support::{expect, images, problem_kinds, scan, toolkits};

#[test]
fn a_bare_cubin_with_impossible_tables_is_a_problem_and_hides_nothing() {
    for (at, value) in [
        (0x28, 1_u64 << 60),
        (0x28, u64::MAX),
        (0x20, 1 << 60),
        (0x20, 1 << 40),
    ] {
        let mut cubin = Cubin::new("sm_80", (12, 0)).build();
        put(&mut cubin, at, &value.to_le_bytes());
        if at == 0x20 {
            put(&mut cubin, 0x38, &1_u16.to_le_bytes());
        }
        let bytes = [cubin, hidden()].concat();
        let report = within(Duration::from_secs(5), || scan(&bytes));
        assert_found(&report, &format!("{value:#x} at {at:#x}"));
    }
}

#[test]
fn a_bare_cubin_shows_its_suffix_wherever_its_attributes_lie() {
    for before in [0, 1000, 200_000, 300_000, 2_000_000] {
        let cubin = Cubin::new("sm_100a", (13, 0))
            .before_attributes(before)
            .build();
        for bytes in [cubin.clone(), zstd::bulk::compress(&cubin, 3).unwrap()] {
            let report = scan(&bytes);
            let shown = images(&report) == expect(["cubin sm_100a"]);
            // where it cannot be seen, that must be said
            assert!(
                shown || !report.problems.is_empty(),
                "{before} bytes before: {report:?}"
            );
        }
    }
}

#[test]
fn a_cubin_whose_sections_lie_behind_its_table_is_read_whole() {
    // found in triton 3.9.0's copy of CUPTI
    let cubin = Cubin::new("sm_100a", (13, 0)).relocatable().table_first();
    let file = cubin.build();
    let frame = zstd::bulk::compress(&file, 3).unwrap();
    let mut entry = Entry::cubin("sm_100a", &cubin);
    entry.compat = None;
    for bytes in [file.clone(), frame, fatbin(&[entry])] {
        for more in [Vec::new(), hidden()] {
            let bytes = [bytes.clone(), more.clone()].concat();
            let report = scan(&bytes);
            let mut expected = expect(["cubin sm_100a"]);
            if !more.is_empty() {
                expected.extend(expect(["cubin sm_75"]));
            }
            assert_eq!(images(&report), expected);
            assert_eq!(report.problems, []);
        }
    }
    for cut in 64..file.len() {
        let report = scan(&file[..cut]);
        assert_eq!(problem_kinds(&report), ["malformed-cubin"], "cut at {cut}");
    }
}

#[test]
fn cubins_without_kernels_are_known_as_empty() {
    for toolkit in [(11, 8), (13, 0)] {
        for (kernels, empty) in [(0, true), (1, false)] {
            let cubin = Cubin::new("sm_80", toolkit).kernels(kernels);
            let frame = zstd::bulk::compress(&cubin.build(), 3).unwrap();
            for bytes in [
                cubin.build(),
                fatbin(&[Entry::cubin("sm_80", &cubin)]),
                fatbin(&[Entry::cubin("sm_80", &cubin).zstd()]),
                frame,
            ] {
                let report = scan(&bytes);
                assert_eq!(
                    report.classes[0].images[0].key.empty, empty,
                    "{kernels} kernels of {toolkit:?}"
                );
                let (major, minor) = toolkit;
                assert_eq!(toolkits(&report), [format!("{major}.{minor}")]);
            }
        }
    }
}

#[test]
fn ptx_with_a_comment_in_another_alphabet_has_its_kernel() {
    let text = ptx_text("compute_90", "8.0").replace("\n\n", "\n// größer als 5 µs\n");
    assert!(text.contains('µ'));
    let report = scan(text.as_bytes());
    assert_eq!(images(&report), expect(["ptx compute_90 8.0"]));
    assert!(!report.classes[0].images[0].key.empty, "{report:?}");
}
