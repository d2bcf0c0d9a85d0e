//! Files that end early, at every byte of them.

use std::collections::BTreeMap;

use smgate::device::{DeviceReport, ImageKind};

use crate::support::cubin::Cubin;
use crate::support::elf::Elf;
use crate::support::fatbin::{Entry, fatbin};
use crate::support::{fixture, images, scan, scan_in};

/// Fixtures of every kind, the smallest of each.
const SMALL: [&str; 13] = [
    "cubin_118_sm_50_m32.cubin",
    "cubin_120_sm_90a.cubin",
    "cubin_135_sm_90a_rel.cubin",
    "n135_concat_rdc_lto.fatbin",
    "n135_sass_only.fatbin",
    "nvf124_all.fatbin",
    "nvf124_nocompress.fatbin",
    "nvf129_header_lies.fatbin",
    "nvf135_mode_size.fatbin",
    "nvf135_reloc.fatbin",
    "nvf135_tileir_synthetic.fatbin",
    "nvrtc_118_compute_90.ptx",
    "nvrtc_124_lto_90a.ltoir",
];

fn is_clean(report: &DeviceReport) -> bool {
    report.problems.is_empty() && report.classes.iter().all(|class| !class.damaged)
}

#[test]
fn a_fixture_that_is_cut_anywhere_is_not_taken_for_the_whole() {
    for name in SMALL {
        let bytes = fixture(name);
        let whole = scan(&bytes);
        assert!(is_clean(&whole), "{name}");
        for cut in 0..bytes.len() {
            let report = scan(&bytes[..cut]);
            assert!(!is_clean(&report) || report != whole, "{name} cut at {cut}");
        }
    }
}

/// Text and LTO-IR have neither length nor end mark: a shorter text is a whole text.
fn has_an_end(name: &str) -> bool {
    !matches!(name.rsplit_once('.'), Some((_, "ptx" | "ltoir")))
}

#[test]
fn a_cut_inside_device_code_is_a_problem() {
    for name in SMALL.into_iter().filter(|name| has_an_end(name)) {
        let bytes = fixture(name);
        // four bytes are the first that look like device code
        for cut in 4..bytes.len() {
            for len_known in [true, false] {
                let report = scan_in(&bytes[..cut], usize::MAX, len_known);
                assert!(
                    !report.problems.is_empty(),
                    "{name} cut at {cut}: {report:?}"
                );
            }
        }
    }
}

#[test]
fn a_file_that_is_shorter_than_was_said_is_a_problem() {
    for name in [
        "cubin_135_sm_80.cubin",
        "nvrtc_118_compute_90.ptx",
        "nvrtc_124_lto_90a.ltoir",
    ] {
        let bytes = fixture(name);
        let mut scanner = smgate::device::Scanner::new(Some(bytes.len() as u64));
        scanner.feed(&bytes[..bytes.len() - 1]);
        let report = scanner.finish().report();
        assert!(
            report
                .problems
                .iter()
                .any(|problem| problem.kind.id() == "size-mismatch"),
            "{name}: {report:?}"
        );
    }
}

#[test]
fn a_cut_library_has_a_problem_and_what_was_read_before_the_cut() {
    for name in ["win_mingw.dll", "n130_multi.so", "i386.so"] {
        let bytes = fixture(name);
        let whole = images(&scan(&bytes));
        let code_end = scan(&bytes)
            .classes
            .iter()
            .map(|class| class.first + class.bytes)
            .max()
            .unwrap();
        for cut in (64..bytes.len()).step_by(61) {
            let report = scan(&bytes[..cut]);
            if (cut as u64) < code_end {
                assert!(
                    !report.problems.is_empty(),
                    "{name} cut at {cut}: {report:?}"
                );
            } else {
                assert_eq!(images(&report), whole, "{name} cut at {cut}");
            }
            let more: BTreeMap<_, _> = images(&report)
                .into_iter()
                .filter(|(image, count)| whole.get(image).is_none_or(|whole| count > whole))
                .collect();
            // a payload that is not whole may not show what its header hides
            assert!(
                more.is_empty() || !report.problems.is_empty(),
                "{name} cut at {cut}: {more:?}"
            );
        }
    }
}

#[test]
fn a_library_of_ours_that_is_cut_anywhere_is_a_problem() {
    let code = fatbin(&[
        Entry::plain_cubin("sm_90a", (12, 4))
            .lz4()
            .identifier("one"),
        Entry::plain_cubin("sm_100a", (13, 0)).zstd(),
        Entry::ptx("compute_90", "8.4").options("-O3"),
        Entry::concat(&[
            Entry::ptx("compute_80", "9.0"),
            Entry::ptx("compute_90", "9.0"),
        ]),
    ]);
    let library = Elf::with_fatbin(code).needed("libcudart.so.12").build();
    let whole = scan(&library);
    assert!(is_clean(&whole), "{whole:?}");
    assert_eq!(images(&whole).values().sum::<u64>(), 5);
    for cut in 16..library.len() {
        let report = scan(&library[..cut]);
        assert!(!report.problems.is_empty(), "cut at {cut}: {report:?}");
    }
}

#[test]
fn a_cut_cubin_never_has_a_kernel_taken_from_it() {
    // `empty` says that a cubin is known to hold no kernel, so it must not follow from a cut
    let cubin = Cubin::new("sm_90a", (13, 0)).kernels(2).build();
    for cut in 0..cubin.len() {
        for class in scan(&cubin[..cut]).classes {
            for image in class.images {
                assert_eq!(image.key.kind, ImageKind::Cubin);
                assert!(!image.key.empty, "cut at {cut}");
            }
        }
    }
}
