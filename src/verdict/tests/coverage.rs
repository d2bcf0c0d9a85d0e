//! One library of a package: general and single-target fatbins, bare images, loose files, shares.

use super::build::{lib, so, wheel};
use super::{assert_libraries, check, minimum, on, only, outcome};
use crate::rule::Code;

// SEMANTICS.md: `none` when no fatbin covers the target, or when it has general fatbins and none of them does;
// `full` when every general fatbin covers it; else `partial`.
#[test]
fn general_fatbins_decide() {
    let faiss = || so().fatbin("sm_70 sm_80", 182);
    assert_libraries(vec![
        (faiss(), "A100", "R550", "pass"),
        (faiss(), "L4", "R550", "pass"),
        (faiss(), "T4", "R550", "pass"),
        (faiss(), "V100", "R550", "pass"),
        (faiss(), "H100", "R550", "fail no-kernel-image"),
        (faiss(), "RTX 5090", "R580", "fail no-kernel-image"),
        (faiss(), "P100", "R550", "fail no-kernel-image"),
        (
            so().fatbin("sm_80 sm_90", 6).fatbin("sm_80 sm_86", 4),
            "H100",
            "R550",
            "pass partial-coverage",
        ),
        // exactly one half carries it
        (
            so().fatbin("sm_80 sm_90", 5).fatbin("sm_80 sm_86", 5),
            "H100",
            "R550",
            "pass partial-coverage",
        ),
        (
            so().fatbin("sm_80 sm_90", 4).fatbin("sm_80 sm_86", 5),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        // onnxruntime-gpu for Windows on H100, paddlepaddle-gpu on P100, tensorflow on RTX 5090
        (
            so().fatbin("sm_75 sm_80 sm_86 sm_89", 308),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_60 sm_70", 1).fatbin("sm_70 sm_80", 665),
            "P100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_60 compute_90@8.0", 248)
                .fatbin("sm_60 compute_90a@8.0", 1149),
            "RTX 5090",
            "R580",
            "fail no-kernel-image",
        ),
        // what follows the H100 in a hole between its images, and is newer than all of them
        (
            so().fatbin("sm_80 sm_90 sm_120", 3),
            "B200",
            "R580",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_80 sm_90", 3),
            "RTX 5090",
            "R580",
            "fail no-kernel-image",
        ),
    ]);
}

// SEMANTICS.md: a fatbin with images for one capability only is one architecture's file of a library that
// dispatches by itself: its absence for another chip is no gap; it counts when it fits.
#[test]
fn single_target_fatbins_count_where_they_fit() {
    assert_libraries(vec![
        (so().fatbin("sm_90a", 40), "H100", "R550", "pass"),
        (
            so().fatbin("sm_90a", 40),
            "A100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_90a", 40),
            "B200",
            "R580",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_80", 40).fatbin("sm_90a", 1),
            "H100",
            "R550",
            "pass",
        ),
        // two images for one capability are for one capability
        (
            so().fatbin("sm_90 sm_90a compute_90@8.0", 9),
            "H100",
            "R550",
            "pass",
        ),
        (so().fatbin("sm_120", 4), "GB10", "R590", "pass"),
        (
            so().fatbin("sm_120a", 4),
            "GB10",
            "R590",
            "fail no-kernel-image",
        ),
        (so().fatbin("sm_86", 4), "RTX 4090", "R550", "pass"),
        // beside general code they are extras: neither a gap nor a cure
        (
            so().fatbin("sm_80 sm_90", 10).fatbin("sm_100a", 90),
            "H100",
            "R550",
            "pass",
        ),
        (
            so().fatbin("sm_80 sm_86", 10).fatbin("sm_90a", 90),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
    ]);
}

// SEMANTICS.md: bare images never lift a library out of `none`, and decide only where there is nothing else.
#[test]
fn bare_images_decide_only_by_themselves() {
    assert_libraries(vec![
        (
            so().fatbin("sm_80 sm_86", 10).bare("sm_90", 90),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_80", 10).bare("compute_50@4.0", 1),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().fatbin("sm_80 sm_90", 10).bare("sm_100a", 90),
            "H100",
            "R550",
            "pass",
        ),
        (so().bare("sm_90", 1), "H100", "R550", "pass"),
        (
            so().bare("sm_80", 1),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().bare("sm_80", 5).bare("compute_80@7.0", 1),
            "H100",
            "R550",
            "pass jit-only",
        ),
        // an empty fatbin is nothing else
        (
            so().fatbin("sm_52+empty", 1).bare("sm_90", 3),
            "H100",
            "R550",
            "pass",
        ),
        // a library of NVIDIA's that picks them by itself
        (
            so().fatbin("sm_80", 10).bare("sm_90", 3).dispatches(),
            "H100",
            "R550",
            "pass",
        ),
    ]);
}

#[test]
fn bare_images_add_no_floor_to_a_library_with_fatbins() {
    let library = so()
        .fatbin("sm_80 sm_90", 3)
        .bare("compute_50@9.0", 5)
        .bare("sm_90+zstd", 2);
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("H100", "R535"));
    assert_eq!(outcome(&evaluation), "pass");
    assert_eq!(minimum(&evaluation), "520.56.06");
}

// SEMANTICS.md: files of one architecture each are told apart by whoever loads them.
#[test]
fn loose_files_are_one_dispatching_library() {
    let loose = |libs: &[(&str, &str)]| {
        libs.iter()
            .fold(wheel("pkg", "1.0"), |input, (path, image)| {
                input.with(lib(path).bare(image, 1).raw())
            })
    };
    let both = loose(&[("k/sm80.cubin", "sm_80"), ("k/sm90.cubin", "sm_90")]);
    for (gpu, expected) in [
        ("A100", "pass"),
        ("H100", "pass"),
        ("L4", "pass"),
        ("T4", "fail no-kernel-image"),
        ("B200", "fail no-kernel-image"),
    ] {
        let evaluation = check(&both, &on(gpu, "R580"));
        assert_eq!(outcome(&evaluation), expected, "{gpu}");
    }
    // a library that lacks the GPU is not cured by them
    let beside = both.with(so().fatbin("sm_80 sm_86", 3));
    let evaluation = check(&beside, &on("H100", "R550"));
    assert_eq!(
        only(&evaluation, Code::NoKernelImage).library.as_deref(),
        Some("pkg/_C.so")
    );
}

#[test]
fn a_share_that_is_met_exactly_is_met() {
    for (covered, total, share) in [
        (55, 100, "0.55"),
        (7, 100, "0.07"),
        (29, 100, "0.29"),
        (9, 10, "0.9"),
        (2, 3, "0.6666"),
    ] {
        let library = so()
            .fatbin("sm_80 sm_90", covered)
            .fatbin("sm_80 sm_86", total - covered);
        let thresholds =
            format!("thresholds: {{main-library: {share}, partial-coverage: {share}}}\n");
        let evaluation = check(
            &wheel("pkg", "1.0").with(library),
            &(on("H100", "R550") + &thresholds),
        );
        assert_eq!(
            outcome(&evaluation),
            "pass partial-coverage",
            "{covered} of {total} at {share}"
        );
    }
}

#[test]
fn counts_of_a_saved_inventory_cannot_overflow() {
    let library = so()
        .fatbin("sm_80 sm_90", u64::MAX)
        .fatbin("sm_80 sm_86", u64::MAX)
        .fatbin("sm_90a", u64::MAX)
        .bytes(u64::MAX);
    let evaluation = check(
        &wheel("pkg", "1.0")
            .with(library.clone())
            .with(lib("pkg/_D.so").fatbin("sm_100a", u64::MAX))
            .with(lib("pkg/_E.so").filed_under("sm_80", "sm_90", u64::MAX))
            .with(lib("pkg/_F.so").filed_under("sm_80", "sm_90", u64::MAX)),
        &on("H100", "R550"),
    );
    assert!(outcome(&evaluation).starts_with("pass arch-specific-only"));
}
