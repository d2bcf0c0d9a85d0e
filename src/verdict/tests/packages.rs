//! The libraries of a package: the main one, side libraries, NVIDIA's own.

use super::build::{Input, dir, lib, wheel};
use super::{assert_packages, check, found, on, only, outcome};
use crate::rule::Code;

/// torch 2.9.1: 397 general fatbins in the main library, 107 that cover a P100 in another.
fn torch() -> Input {
    wheel("torch", "2.9.1")
        .with(
            lib("torch/lib/libtorch_cuda.so").fatbin("sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", 397),
        )
        .with(
            lib("torch/lib/libtorch_cuda_linalg.so")
                .fatbin("sm_60 sm_75 sm_80 sm_90 sm_100 sm_120", 107),
        )
}

// SEMANTICS.md: the package's main library must carry the target, else `no-kernel-image` denies.
#[test]
fn the_main_library_decides() {
    let torch = torch();
    let uneven = wheel("pkg", "1.0")
        .with(
            lib("pkg/a.so")
                .fatbin("sm_80 sm_90", 3)
                .fatbin("sm_80 sm_86", 7),
        )
        .with(lib("pkg/b.so").fatbin("sm_80 sm_90", 11));
    assert_packages(&[
        ("torch", &torch, "T4", "R580", "pass"),
        ("torch", &torch, "A100", "R580", "pass"),
        ("torch", &torch, "H100", "R580", "pass"),
        ("torch", &torch, "B200", "R580", "pass"),
        ("torch", &torch, "RTX 5090", "R580", "pass"),
        ("torch", &torch, "P100", "R580", "fail no-kernel-image"),
        ("torch", &torch, "GTX 1080", "R580", "fail no-kernel-image"),
        // 3 of 10 of a library that is not the main one is a gap
        ("uneven", &uneven, "H100", "R550", "pass partial-coverage"),
    ]);
    let swapped = uneven.with(lib("pkg/c.so").fatbin("sm_70 sm_80", 1));
    let evaluation = check(&swapped, &on("H100", "R550"));
    assert_eq!(
        outcome(&evaluation),
        "fail no-kernel-image partial-coverage"
    );
    assert_eq!(
        only(&evaluation, Code::NoKernelImage).library.as_deref(),
        Some("pkg/c.so")
    );
}

#[test]
fn the_threshold_of_the_main_library_is_the_policys() {
    let input = wheel("pkg", "1.0").with(
        lib("pkg/a.so")
            .fatbin("sm_80 sm_90", 60)
            .fatbin("sm_80 sm_86", 40),
    );
    for (thresholds, expected) in [
        ("", "pass partial-coverage"),
        ("thresholds: {main-library: 0.6}\n", "pass partial-coverage"),
        ("thresholds: {main-library: 0.61}\n", "fail no-kernel-image"),
        ("thresholds: {main-library: 1.0}\n", "fail no-kernel-image"),
        ("thresholds: {main-library: 0.0}\n", "pass partial-coverage"),
        (
            "thresholds: {partial-coverage: 0.6}\n",
            "pass partial-coverage",
        ),
        (
            "thresholds: {partial-coverage: 0.9}\n",
            "fail partial-coverage",
        ),
    ] {
        let evaluation = check(&input, &(on("H100", "R550") + thresholds));
        assert_eq!(outcome(&evaluation), expected, "{thresholds}");
    }
    let evaluation = check(
        &input,
        &(on("H100", "R550") + "thresholds: {main-library: 0.61}\n"),
    );
    assert_eq!(
        only(&evaluation, Code::NoKernelImage).message,
        "too little code for H100 (9.0): 60 of 100 fatbins can run; this is the package's main library"
    );
}

// SEMANTICS.md, side library (i): all images of this one are arch- or family-specific for other chips.
#[test]
fn an_arch_specific_library_beside_one_that_carries_the_target_is_a_side_library() {
    let main = || wheel("xformers", "0.0.35").with(lib("xformers/_C.so").fatbin("sm_80 sm_90", 90));
    let flash_3 = main().with(lib("xformers/flash3/_C.so").fatbin("sm_90a", 40));
    let with_family = main().with(lib("xformers/x.so").fatbin("sm_90a sm_100f", 40));
    let with_plain = main().with(lib("xformers/x.so").fatbin("sm_86 sm_100a", 40));
    let with_ptx = main().with(lib("xformers/x.so").fatbin("sm_100a compute_100@8.6", 40));
    let alone = wheel("fa3", "1.0").with(lib("fa3/_C.so").fatbin("sm_90a", 40));
    let with_code_only_as_ptx = alone
        .clone()
        .with(lib("fa3/helper.ptx").bare("compute_50@4.0", 500).raw());
    let beside_a_gap = wheel("pkg", "1.0")
        .with(
            lib("pkg/a.so")
                .fatbin("sm_80 sm_90", 4)
                .fatbin("sm_86 sm_90", 5),
        )
        .with(lib("pkg/b.so").fatbin("sm_90a", 4));
    assert_packages(&[
        ("flash 3", &flash_3, "H100", "R550", "pass"),
        (
            "flash 3",
            &flash_3,
            "A100",
            "R550",
            "pass arch-specific-only",
        ),
        ("flash 3", &flash_3, "L4", "R550", "pass arch-specific-only"),
        (
            "family",
            &with_family,
            "A100",
            "R550",
            "pass arch-specific-only",
        ),
        ("plain", &with_plain, "H100", "R550", "fail no-kernel-image"),
        // not specific, but for newer GPUs, and the smaller part
        (
            "ptx",
            &with_ptx,
            "H100",
            "R550",
            "pass library-for-newer-gpus",
        ),
        // nothing carries the target
        ("alone", &alone, "A100", "R550", "fail no-kernel-image"),
        ("flash 3", &flash_3, "T4", "R550", "fail no-kernel-image"),
        (
            "half",
            &beside_a_gap,
            "A100",
            "R550",
            "fail no-kernel-image",
        ),
        // bare images carry nothing (SEMANTICS.md: they decide only where there is nothing else)
        (
            "helper",
            &with_code_only_as_ptx,
            "A100",
            "R550",
            "fail jit-only no-kernel-image",
        ),
    ]);
}

// SEMANTICS.md, side library (ii): all its images are for newer capabilities, and the own libraries that carry
// the target hold the larger part of the package's own fatbins, those of kind (i) not counted.
#[test]
fn a_library_for_newer_gpus_is_a_side_library_of_the_larger_part() {
    let vllm = |fa2: u64| {
        wheel("vllm", "0.33.0")
            .with(lib("vllm/_C.abi3.so").fatbin("sm_75 sm_80 sm_90", 60))
            .with(lib("vllm/_moe_C.abi3.so").fatbin("sm_75 sm_80 sm_90", 40))
            .with(lib("vllm/_vllm_fa2_C.abi3.so").fatbin("sm_80 sm_90", fa2))
            .with(lib("vllm/_vllm_fa3_C.abi3.so").fatbin("sm_90a", 500))
    };
    let hole = wheel("pkg", "1.0")
        .with(lib("pkg/a.so").fatbin("sm_75 sm_80 sm_90", 60))
        .with(lib("pkg/b.so").fatbin("sm_70 sm_90", 6));
    let older = wheel("pkg", "1.0")
        .with(lib("pkg/a.so").fatbin("sm_80 sm_90 sm_120", 60))
        .with(lib("pkg/b.so").fatbin("sm_80 sm_90", 6));
    let by_bare = wheel("pkg", "1.0")
        .with(lib("pkg/a.so").fatbin("sm_75", 1))
        .with(lib("pkg/b.so").fatbin("sm_80 sm_90", 30))
        .with(lib("pkg/k.ptx").bare("compute_50@4.0", 500).raw());
    assert_packages(&[
        (
            "99 of 199 for newer GPUs",
            &vllm(99),
            "T4",
            "R580",
            "pass arch-specific-only library-for-newer-gpus",
        ),
        (
            "100 of 200: not the larger part",
            &vllm(100),
            "T4",
            "R580",
            "fail arch-specific-only no-kernel-image",
        ),
        ("on its own GPUs", &vllm(100), "H100", "R580", "pass"),
        // a hole between its images, and a target newer than everything in it
        ("hole", &hole, "T4", "R580", "pass"),
        ("hole", &hole, "A100", "R580", "fail no-kernel-image"),
        ("newer", &older, "RTX 5090", "R580", "fail no-kernel-image"),
        (
            "bare images are no part",
            &by_bare,
            "T4",
            "R580",
            "fail jit-only no-kernel-image",
        ),
    ]);
    // vllm 0.33.0: 11 of the fatbins that carry it have no kernels, and are a part of the package all the same
    let counted = wheel("vllm", "0.33.0")
        .with(
            lib("vllm/_C.abi3.so")
                .fatbin("sm_75 sm_80 sm_90", 107)
                .fatbin("sm_75+empty sm_80+empty sm_90+empty", 11),
        )
        .with(lib("vllm/_vllm_fa2_C.abi3.so").fatbin("sm_80 sm_90", 111));
    assert_packages(&[(
        "118 of 229",
        &counted,
        "T4",
        "R580",
        "pass library-for-newer-gpus",
    )]);
    let evaluation = check(&vllm(99), &on("T4", "R580"));
    let finding = only(&evaluation, Code::LibraryForNewerGpus);
    assert_eq!(finding.library.as_deref(), Some("vllm/_vllm_fa2_C.abi3.so"));
    assert_eq!(finding.gpu.as_deref(), Some("T4 (7.5)"));
}

// SEMANTICS.md, counter-example: torch 2.9.1 on a P100 covers 107 fatbins of one library and none of 397 in the
// main one, all of which is for newer GPUs.
#[test]
fn the_union_of_architectures_excuses_nothing() {
    let evaluation = check(&torch(), &on("P100", "R580"));
    let finding = only(&evaluation, Code::NoKernelImage);
    assert_eq!(
        finding.library.as_deref(),
        Some("torch/lib/libtorch_cuda.so")
    );
    assert!(finding.message.contains("0 of 397"), "{}", finding.message);
}

// SEMANTICS.md: bundled NVIDIA libraries don't make or break a package, unless the package is that library.
#[test]
fn carried_libraries_of_nvidia_do_not_count() {
    let vision = wheel("torchvision", "0.24.1")
        .with(lib("torchvision/_C.so").fatbin("sm_70 sm_80", 40))
        .with(
            lib("torchvision.libs/libnvjpeg.8dd2b5e6.so.12")
                .fatbin("sm_50 sm_60 compute_60@8.0", 90)
                .carried("nvjpeg"),
        );
    let only_carried = wheel("pkg", "1.0").with(
        lib("pkg.libs/libnvjpeg.8dd2b5e6.so.12")
            .fatbin("sm_50 sm_60", 9)
            .carried("nvjpeg"),
    );
    assert_packages(&[
        (
            "the union has sm_60",
            &vision,
            "P100",
            "R550",
            "fail no-kernel-image",
        ),
        ("own code", &vision, "A100", "R550", "pass"),
        ("only carried", &only_carried, "H100", "R550", "pass"),
    ]);
    let evaluation = check(&only_carried, &on("H100", "R550"));
    assert!(!evaluation.matrix[0].has_device_code);
    let policy = on("H100", "R550") + "expect-gpu: [pkg]\n";
    let evaluation = check(&only_carried, &policy);
    assert_eq!(outcome(&evaluation), "fail cpu-only-build");
}

#[test]
fn a_package_that_is_a_dispatching_library_is_not_measured_by_shares() {
    let cublas = wheel("nvidia-cublas-cu12", "12.9.1").with(
        lib("nvidia/cublas/lib/libcublas.so.12")
            .fatbin("sm_50 sm_80", 90)
            .fatbin("sm_80 sm_90", 1)
            .dispatches(),
    );
    assert_packages(&[
        ("one fits", &cublas, "H100", "R550", "pass"),
        ("none fits", &cublas, "B200", "R580", "fail no-kernel-image"),
    ]);
}

// SEMANTICS.md: a target with several GPUs is judged GPU by GPU; the row is the worst, findings name the GPU.
#[test]
fn a_pool_is_as_good_as_its_worst_gpu() {
    let input = wheel("pkg", "1.0").with(lib("pkg/a.so").fatbin("sm_80 sm_90", 3));
    let evaluation = check(&input, &on("A100, H100, B200, RTX 5090", "R580"));
    assert_eq!(evaluation.matrix.len(), 1);
    assert_eq!(evaluation.matrix[0].verdict.id(), "fail");
    let gpus: Vec<_> = found(&evaluation, Code::NoKernelImage)
        .iter()
        .map(|finding| finding.gpu.clone().unwrap())
        .collect();
    assert_eq!(gpus, ["B200 (10.0)", "GeForce RTX 5090 (12.0)"]);
    // R570 knows the RTX 5090 from 570.86.16 on, the B200 from 570.86.15 on
    assert_eq!(super::minimum(&evaluation), "570.86.16");
    let evaluation = check(&input, &on("A100, H100", "R580"));
    assert_eq!(outcome(&evaluation), "pass");
}

// SEMANTICS.md: a directory is the worst of its packages, a row each; what no package owns is its own group.
#[test]
fn the_packages_of_a_directory_are_judged_each() {
    let site = dir("site-packages")
        .of("good", lib("good/a.so").fatbin("sm_80 sm_90", 3))
        .of("bad", lib("bad/a.so").fatbin("sm_70 sm_80", 300))
        .package("pure")
        .stray(lib("loose.so").fatbin("sm_90", 3));
    let evaluation = check(&site, &on("H100", "R550"));
    let rows: Vec<_> = evaluation
        .matrix
        .iter()
        .map(|row| {
            let package = row.package.as_ref().map(|package| package.name.as_str());
            (package, row.verdict.id())
        })
        .collect();
    assert_eq!(
        rows,
        [
            (Some("good"), "pass"),
            (Some("bad"), "fail"),
            (None, "pass")
        ]
    );
    assert_eq!(evaluation.verdict.id(), "fail");
    let finding = only(&evaluation, Code::NoKernelImage);
    assert_eq!(finding.package.as_ref().unwrap().name, "bad");
}
