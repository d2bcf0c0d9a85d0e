//! Code that would fit, were it not for the driver, and code that runs with a remark.

use super::build::{so, wheel};
use super::{assert_libraries, check, found, on, only};
use crate::rule::Code;

// SEMANTICS.md: only blocked images raise `ptx-too-new` or `compression-needs-driver` in place of
// `no-kernel-image`; only LTO-IR, `link-only`, a warning.
#[test]
fn what_blocks_is_named_only_where_it_is_the_whole_reason() {
    assert_libraries(vec![
        (
            so().fatbin("sm_75 compute_80@8.7", 9),
            "H100",
            "535.104.05",
            "fail ptx-too-new",
        ),
        (
            so().fatbin("sm_75 compute_80@8.7", 9),
            "H100",
            "570.86.15",
            "pass jit-only",
        ),
        (
            so().fatbin("sm_80+zstd sm_90+zstd", 9),
            "H100",
            "R535",
            "fail compression-needs-driver",
        ),
        (
            so().fatbin("sm_80+zstd sm_90+zstd", 9),
            "H100",
            "R550",
            "pass",
        ),
        // 1 of 10 would be compiled by a newer driver: the main library would still lack the GPU
        (
            so().fatbin("sm_70 sm_80", 9)
                .fatbin("sm_75 compute_80@8.7", 1),
            "H100",
            "R535",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_70 sm_80", 4)
                .fatbin("sm_75 compute_80@8.7", 6),
            "H100",
            "R535",
            "fail ptx-too-new",
        ),
        // enough runs, and the rest is a gap like any other
        (
            so().fatbin("sm_80 sm_90", 6)
                .fatbin("sm_75 compute_80@8.7", 4),
            "H100",
            "R535",
            "pass partial-coverage",
        ),
        // images for one capability that fit this GPU are no files of other GPUs
        (
            so().fatbin("sm_80 sm_90", 9).fatbin("sm_90a+zstd", 1),
            "H100",
            "R535",
            "pass partial-coverage",
        ),
        (
            so().fatbin("sm_80 sm_90", 9).fatbin("sm_90a+zstd", 1),
            "H100",
            "R550",
            "pass",
        ),
        (
            so().fatbin("sm_80 sm_90", 9)
                .fatbin("sm_80 compute_80@9.0", 1),
            "H100",
            "R570",
            "pass partial-coverage",
        ),
        (
            so().fatbin("sm_90", 1).fatbin("sm_90+zstd", 3),
            "H100",
            "R535",
            "pass partial-coverage",
        ),
        // for another GPU they are
        (
            so().fatbin("sm_80 sm_90", 9).fatbin("sm_90a+zstd", 1),
            "A100",
            "R535",
            "pass",
        ),
        (
            so().dispatches()
                .fatbin("sm_80 sm_90", 9)
                .fatbin("sm_80 compute_80@9.0", 1),
            "H100",
            "R570",
            "pass",
        ),
        // images for one capability: of these it is enough that one fits
        (
            so().fatbin("sm_80 compute_80@8.7", 9),
            "H100",
            "535.104.05",
            "fail ptx-too-new",
        ),
        (so().fatbin("lto_80", 9), "H100", "R550", "pass link-only"),
        (
            so().fatbin("sm_80 lto_80", 9),
            "H100",
            "R550",
            "pass link-only",
        ),
        // one fatbin of LTO-IR links nothing of the others
        (
            so().fatbin("sm_70 sm_80", 99).fatbin("lto_80", 1),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_70 sm_80", 99).fatbin("sm_75 lto_80", 1),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        // most of it is to be linked, and some of it runs: no worse than where all is to be linked
        (
            so().fatbin("sm_80 sm_90", 3).fatbin("sm_80 lto_80", 7),
            "H100",
            "R550",
            "pass",
        ),
        (
            so().fatbin("sm_80 sm_90", 3)
                .fatbin("sm_75 sm_80 lto_70", 7),
            "H100",
            "R550",
            "pass link-only",
        ),
        // of several single-target ones it is one that fits
        (
            so().fatbin("sm_70", 9).fatbin("lto_80", 1),
            "H100",
            "R550",
            "pass link-only",
        ),
    ]);
}

#[test]
fn code_that_no_rule_judges_covers_nothing() {
    assert_libraries(vec![
        (
            so().fatbin("tile_80", 3),
            "H100",
            "R620",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("kind10_90", 3),
            "H100",
            "R620",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_80 sm_90", 3).fatbin("tile_80", 3),
            "H100",
            "R550",
            "pass",
        ),
    ]);
    // an entry beside the code that nobody unpacks hides nothing
    assert_libraries(vec![
        (
            so().fatbin("sm_70 sm_80 lto_100+odd", 3),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_80 sm_90 kind10_90+odd", 3),
            "H100",
            "R550",
            "pass",
        ),
    ]);
    let evaluation = check(
        &wheel("pkg", "1.0").with(so().fatbin("tile_80", 3)),
        &on("H100", "R620"),
    );
    let evidence = &only(&evaluation, Code::NoKernelImage).evidence;
    assert!(evidence[0].contains("tile-ir"), "{evidence:?}");
}

// SEMANTICS.md: `jit-only` is raised per library with counts.
#[test]
fn jit_is_said_with_counts() {
    let library = so().fatbin("sm_90", 2).fatbin("sm_75 compute_80@8.7", 3);
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("H100", "R570"));
    let finding = only(&evaluation, Code::JitOnly);
    assert_eq!(
        finding.message,
        "JIT only on H100 (9.0): the driver compiles 3 of 3 general fatbins at first use (PTX 8.7)"
    );
    // extras that are compiled beside native code: what a library that dispatches would not choose
    assert_libraries(vec![
        (
            so().fatbin("sm_75", 9).fatbin("compute_70@7.0", 1),
            "T4",
            "R580",
            "pass",
        ),
        (
            so().fatbin("sm_80 sm_90", 9).fatbin("compute_80@8.0", 1),
            "H100",
            "R580",
            "pass",
        ),
        (
            so().fatbin("sm_80", 9).fatbin("compute_70@7.0", 1),
            "T4",
            "R580",
            "pass jit-only",
        ),
    ]);
    let native = so().fatbin("sm_90 compute_90@8.7", 3);
    let evaluation = check(&wheel("pkg", "1.0").with(native), &on("H100", "R570"));
    assert!(found(&evaluation, Code::JitOnly).is_empty());
}

// cuFFT 11.3.3.83 on a T4: it has code for sm_75, and for sm_72 too.
#[test]
fn a_library_that_dispatches_leaves_the_code_of_tegra_alone() {
    assert_libraries(vec![
        (
            so().fatbin("sm_75", 9).fatbin("sm_72", 9),
            "T4",
            "R550",
            "pass",
        ),
        (
            so().fatbin("sm_72", 9),
            "T4",
            "R550",
            "pass tegra-compatibility-unsure",
        ),
    ]);
}

// RULES.md 1.4, 1.5: covered, and always said.
#[test]
fn tegra_is_covered_and_said() {
    assert_libraries(vec![
        (
            so().fatbin("sm_80 sm_90", 9),
            "8.7",
            "R535",
            "pass tegra-compatibility-unsure",
        ),
        (so().fatbin("sm_87", 9), "8.7", "R535", "pass"),
        (
            so().fatbin("sm_101", 9),
            "11.0",
            "R580",
            "pass tegra-compatibility-unsure",
        ),
        (so().fatbin("sm_110", 9), "11.0", "R580", "pass"),
        (
            so().fatbin("sm_100 sm_120", 9),
            "11.0",
            "R580",
            "fail no-kernel-image",
        ),
    ]);
}
