//! One library of a package: general, single-target and bare units, empty and relocatable code.

use super::build::{Lib, lib, wheel};
use super::{check, found, on, only, outcome};
use crate::rule::Code;

/// A library, GPU, driver; the verdict with the codes that count.
type Row = (Lib, &'static str, &'static str, &'static str);

fn assert_outcomes(rows: Vec<Row>) {
    for (index, (lib, gpu, driver, expected)) in rows.into_iter().enumerate() {
        let evaluation = check(&wheel("pkg", "1.0").with(lib), &on(gpu, driver));
        assert_eq!(
            outcome(&evaluation),
            expected,
            "row {index}, {gpu} with {driver}: {:#?}",
            evaluation.findings
        );
    }
}

fn so() -> Lib {
    lib("pkg/_C.so")
}

// DESIGN: `none` when no fatbin covers the target, or when it has general fatbins and none of them does;
// `full` when every general fatbin covers it; else `partial`.
#[test]
fn general_fatbins_decide() {
    let faiss = || so().fatbin("sm_70 sm_80", 182);
    assert_outcomes(vec![
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

// DESIGN: a fatbin with images for one capability only is one architecture's file of a library that
// dispatches by itself: its absence for another chip is no gap; it counts when it fits.
#[test]
fn single_target_fatbins_count_where_they_fit() {
    assert_outcomes(vec![
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

// DESIGN: bare images never lift a library out of `none`, and decide only where there is nothing else.
#[test]
fn bare_images_decide_only_by_themselves() {
    assert_outcomes(vec![
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
    assert_eq!(super::minimum(&evaluation), "520.56.06");
}

// DESIGN: files of one architecture each are told apart by whoever loads them.
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

// DESIGN: "Empty device code says nothing"; libnppc.so.12 holds one sm_52 cubin without kernels.
#[test]
fn code_without_kernels_says_nothing() {
    assert_outcomes(vec![
        (so().fatbin("sm_52+empty", 1), "H100", "R550", "pass"),
        (
            so().fatbin("sm_52+empty compute_52@7.0+empty", 1),
            "H100",
            "R550",
            "pass",
        ),
        (
            so().fatbin("sm_52+empty", 1).fatbin("sm_80 sm_90", 1),
            "H100",
            "R550",
            "pass",
        ),
        // it is no gap, and no cover: 1 of 1 with kernels, not 1 of 4
        (
            so().fatbin("sm_52+empty sm_60+empty", 3)
                .fatbin("sm_80 sm_90", 1),
            "H100",
            "R550",
            "pass",
        ),
        (
            so().fatbin("sm_80+empty sm_90+empty", 3)
                .fatbin("sm_70 sm_80", 1),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        // kernels in one of its images are kernels
        (
            so().fatbin("sm_52+empty sm_80", 3),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
    ]);
    let evaluation = check(
        &wheel("pkg", "1.0").with(so().fatbin("sm_52+empty", 1)),
        &on("H100", ""),
    );
    assert!(!evaluation.matrix[0].has_device_code);
    assert_eq!(outcome(&evaluation), "pass", "nothing needs a driver");
}

#[test]
fn code_without_kernels_changes_no_floor_and_no_threshold() {
    // an empty zstd fatbin, an empty sm_80 cubin for Orin, empty PTX of a newer toolkit
    for (library, gpu, driver, expected, minimum) in [
        (
            so().fatbin("sm_80 sm_90", 9).fatbin("sm_80+empty+zstd", 1),
            "H100",
            "R535",
            "pass",
            "520.56.06",
        ),
        (
            so().fatbin("sm_80 sm_87", 9).fatbin("sm_80+empty", 1),
            "8.7",
            "R535",
            "pass",
            "-",
        ),
        (
            so().fatbin("compute_80@8.0", 9)
                .fatbin("compute_80@9.0+empty", 1),
            "H100",
            "R535",
            "pass jit-only",
            "525.60.13",
        ),
    ] {
        let evaluation = check(&wheel("pkg", "1.0").with(library), &on(gpu, driver));
        assert_eq!(outcome(&evaluation), expected, "{:#?}", evaluation.findings);
        assert_eq!(super::minimum(&evaluation), minimum);
    }
    // 19 of 20 with kernels; 24 of 30 with the empty ones
    let library = so()
        .fatbin("sm_80 sm_90", 19)
        .fatbin("sm_80 sm_86", 1)
        .fatbin("sm_80+empty sm_90+empty", 5)
        .fatbin("sm_52+empty sm_60+empty", 5);
    let policy = on("H100", "R550") + "thresholds: {partial-coverage: 0.9}\n";
    let evaluation = check(&wheel("pkg", "1.0").with(library), &policy);
    assert_eq!(outcome(&evaluation), "pass partial-coverage");
}

// Fatbins without kernels are shown where they change no answer: other tools count them.
#[test]
fn figures_count_every_fatbin_where_no_answer_differs() {
    let library = so()
        .fatbin("sm_70 sm_80", 180)
        .fatbin("sm_70+empty sm_80+empty", 2);
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("H100", "R550"));
    let finding = only(&evaluation, Code::NoKernelImage);
    assert_eq!(
        finding.message,
        "no code for H100 (9.0): 0 of 182 fatbins can run"
    );
}

// RULES.md 2.12.
#[test]
fn relocatable_code_is_linked_again_only_if_every_object_fits() {
    let linked_for_80 = || {
        so().objects("rel_sm_80 rel_compute_80@8.0", 4)
            .linked("sm_80")
    };
    assert_outcomes(vec![
        (linked_for_80(), "A100", "R550", "pass"),
        (linked_for_80(), "H100", "R550", "pass jit-only"),
        (linked_for_80(), "T4", "R550", "fail no-kernel-image"),
        // a cubin for the target in an object is as good
        (
            linked_for_80().objects("rel_sm_90", 1),
            "H100",
            "R550",
            "pass jit-only",
        ),
        // one object has neither
        (
            linked_for_80().objects("rel_sm_80", 1),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        // LTO-IR is not taken by the implicit link
        (
            so().objects("lto_80", 4).linked("sm_80"),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        // the PTX of an object is too new for the driver
        (
            so().objects("rel_sm_80 rel_compute_80@8.7", 4)
                .linked("sm_80"),
            "H100",
            "R535",
            "fail ptx-too-new",
        ),
        // objects that are never linked cannot be loaded: no code that can be judged
        (so().objects("rel_sm_80", 4), "H100", "R550", "pass"),
    ]);
}

#[test]
fn an_object_of_device_functions_alone_is_part_of_the_link() {
    let library = so()
        .objects("rel_compute_70@7.0", 1)
        .objects("rel_compute_80@7.0+empty", 1)
        .linked("sm_70");
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("P100", "R550"));
    assert_eq!(outcome(&evaluation), "fail no-kernel-image");
    let library = so()
        .objects("rel_compute_70@7.0", 1)
        .objects("rel_compute_80@7.0+empty", 1)
        .fatbin("sm_60", 1);
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("T4", "R550"));
    assert_eq!(outcome(&evaluation), "fail no-kernel-image");
}

// Where control records cannot be read, cubins-only fatbins beside objects are taken as linked.
#[test]
fn without_control_records_the_fatbins_of_cubins_alone_are_linked() {
    let objects = || so().objects("rel_sm_80 rel_compute_80@8.0", 4);
    assert_outcomes(vec![
        (
            objects().fatbin("sm_80", 1),
            "H100",
            "R550",
            "pass jit-only",
        ),
        // PTX beside it says that nvcc made it whole: not linked, so nothing to link again
        (
            objects().fatbin("sm_80 compute_90a@8.0", 1),
            "B200",
            "R580",
            "fail no-kernel-image",
        ),
        // records that name another fatbin
        (
            objects().linked("sm_80").fatbin("sm_70 sm_80", 9),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
    ]);
}

// DESIGN: only blocked images raise `ptx-too-new` or `compression-needs-driver` in place of
// `no-kernel-image`; only LTO-IR, `link-only`, a warning.
#[test]
fn what_blocks_is_named_only_where_it_is_the_whole_reason() {
    assert_outcomes(vec![
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
    assert_outcomes(vec![
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
    let evaluation = check(
        &wheel("pkg", "1.0").with(so().fatbin("tile_80", 3)),
        &on("H100", "R620"),
    );
    let evidence = &only(&evaluation, Code::NoKernelImage).evidence;
    assert!(evidence[0].contains("tile-ir"), "{evidence:?}");
}

// DESIGN: `jit-only` is raised per library with counts.
#[test]
fn jit_is_said_with_counts() {
    let library = so().fatbin("sm_90", 2).fatbin("sm_75 compute_80@8.7", 3);
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("H100", "R570"));
    let finding = only(&evaluation, Code::JitOnly);
    let said = &finding.message;
    assert!(
        said.contains("the driver compiles 3 of 3 general fatbins"),
        "{said}"
    );
    assert!(
        said.starts_with("JIT only on H100 (9.0)") && said.ends_with("(PTX 8.7)"),
        "{said}"
    );
    let native = so().fatbin("sm_90 compute_90@8.7", 3);
    let evaluation = check(&wheel("pkg", "1.0").with(native), &on("H100", "R570"));
    assert!(found(&evaluation, Code::JitOnly).is_empty());
}

// libcublasLt 12.9.3.13 on a T4: 1 of 3,817 single-target fatbins is PTX, the others are native or for other GPUs.
#[test]
fn a_library_that_dispatches_is_not_compiled_for_one_of_its_fatbins() {
    assert_outcomes(vec![
        (
            so().fatbin("sm_75", 130).fatbin("compute_52@8.8", 1),
            "T4",
            "R550",
            "pass",
        ),
        (
            so().fatbin("compute_52@7.5", 1),
            "T4",
            "R550",
            "pass jit-only",
        ),
        (
            so().fatbin("sm_75", 130).fatbin("sm_80 compute_52@7.5", 1),
            "T4",
            "R550",
            "pass jit-only",
        ),
    ]);
}

// RULES.md 1.4, 1.5: covered, and always said.
#[test]
fn tegra_is_covered_and_said() {
    assert_outcomes(vec![
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

// Unreadable fatbins are problems, not gaps.
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
