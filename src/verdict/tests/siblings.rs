//! Sibling libraries beside the package that decides which of them is loaded.

use super::build::{Input, dir, lib};
use super::{check, found, minimum, on, only, outcome};
use crate::rule::Code;

/// bitsandbytes in an environment: 118 without a 9.0, 126 and 128 with one, 130 without 5.0.
fn environment() -> Input {
    let members = [
        ("118", "sm_50 sm_75 sm_80", "libcudart.so.11.0"),
        ("126", "sm_50 sm_75 sm_80 sm_90", "libcudart.so.12"),
        ("128", "sm_75 sm_80 sm_90 sm_100 sm_120", "libcudart.so.12"),
        ("130", "sm_75 sm_80 sm_90 sm_100 sm_120", "libcudart.so.13"),
    ];
    members
        .iter()
        .fold(dir("env"), |env, (cuda, images, runtime)| {
            let path = format!("bitsandbytes/libbitsandbytes_cuda{cuda}.so");
            env.of("bitsandbytes", lib(&path).fatbin(images, 7).needs(runtime))
        })
}

/// The same beside a torch.
fn beside(version: &str) -> Input {
    environment().package_of("torch", version)
}

/// The outcome on a GPU and a driver, bitsandbytes alone having code.
fn outcomes(rows: &[(&str, &Input, &str, &str, &str)]) {
    for (what, input, gpu, driver, expected) in rows {
        let evaluation = check(input, &on(gpu, driver));
        assert_eq!(
            outcome(&evaluation),
            *expected,
            "{what}, {gpu} with {driver}: {:#?}",
            evaluation.findings
        );
    }
}

// get_cuda_bnb_library_path of bitsandbytes 0.50.2: the same version, else the newest older one of the same major
// version, else the oldest newer one of it.
#[test]
fn the_sibling_that_torch_asks_for_is_judged() {
    outcomes(&[
        ("without torch, any", &environment(), "H100", "R550", "pass"),
        (
            "11.8 has no 9.0",
            &beside("2.4.0+cu118"),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            "11.8 has an 8.0",
            &beside("2.4.0+cu118"),
            "A100",
            "R550",
            "pass",
        ),
        (
            "11.7 takes 11.8",
            &beside("1.13.1+cu117"),
            "A100",
            "450.80.02",
            "pass",
        ),
        (
            "12.6 has no 12.0",
            &beside("2.8.0+cu126"),
            "RTX 5090",
            "R580",
            "fail no-kernel-image",
        ),
        (
            "12.8 has",
            &beside("2.9.1+cu128"),
            "RTX 5090",
            "R580",
            "pass",
        ),
        (
            "12.8 has no 5.2",
            &beside("2.9.1+cu128"),
            "5.2",
            "R580",
            "fail no-kernel-image",
        ),
        (
            "12.7 takes 12.6",
            &beside("2.8.0+cu127"),
            "RTX 5090",
            "R580",
            "fail no-kernel-image",
        ),
        (
            "12.9 takes 12.8",
            &beside("2.8.0+cu129"),
            "RTX 5090",
            "R580",
            "pass",
        ),
        (
            "12.1 takes 12.6",
            &beside("2.8.0+cu121"),
            "5.2",
            "R550",
            "pass",
        ),
        (
            "13.2 takes 13.0",
            &beside("2.15.0+cu132"),
            "H100",
            "R580",
            "pass",
        ),
        // which needs a driver that the siblings for CUDA 12 would not
        (
            "13.2 on R570",
            &beside("2.15.0+cu132"),
            "H100",
            "R570",
            "fail driver-too-old",
        ),
    ]);
    let evaluation = check(&beside("2.9.1+cu128"), &on("H100", "R580"));
    assert_eq!(
        evaluation.matrix[0].notes,
        [
            "`libbitsandbytes_cuda128.so` is loaded, by the CUDA version of the torch beside it: 12.8, by the version of `torch` 2.9.1+cu128"
        ]
    );
    assert_eq!(minimum(&evaluation), "525.60.13");
    let evaluation = check(&beside("2.4.0+cu118"), &on("H100", "R580"));
    let finding = only(&evaluation, Code::NoKernelImage);
    let expected = Some("bitsandbytes/libbitsandbytes_cuda118.so");
    assert_eq!(finding.library.as_deref(), expected);
}

#[test]
fn a_torch_without_a_sibling_of_its_major_version_is_a_failure_that_says_so() {
    for gpu in ["H100", "T4"] {
        let evaluation = check(&beside("2.30.0+cu140"), &on(gpu, "R580"));
        assert_eq!(outcome(&evaluation), "fail no-kernel-image");
    }
    let evaluation = check(&beside("2.30.0+cu140"), &on("H100", "R580"));
    let finding = only(&evaluation, Code::NoKernelImage);
    assert_eq!(
        finding.message,
        "no code for H100 (9.0): `bitsandbytes` has no library for CUDA 14, which `torch` 2.30.0+cu140 beside it uses"
    );
    assert_eq!(
        finding.evidence[0],
        "`libbitsandbytes_cuda118.so` is for CUDA 11.8"
    );
    assert!(
        finding.next_step.contains("a library for CUDA 14.0"),
        "{finding:?}"
    );
}

// What is not known decides nothing: any of them will do, as without torch.
#[test]
fn a_torch_of_unknown_cuda_decides_nothing() {
    let two = beside("2.4.0+cu118").package_of("torch", "2.9.1+cu128");
    let same = beside("2.4.0+cu118").package_of("torch", "2.5.0+cu118");
    outcomes(&[
        (
            "no local version",
            &beside("2.9.1"),
            "RTX 5090",
            "R580",
            "pass",
        ),
        ("no CUDA", &beside("2.9.1+cpu"), "RTX 5090", "R580", "pass"),
        (
            "another package",
            &environment().package_of("torchvision", "0.24.1+cu118"),
            "RTX 5090",
            "R580",
            "pass",
        ),
        ("two environments", &two, "RTX 5090", "R580", "pass"),
        (
            "two of one version",
            &same,
            "RTX 5090",
            "R580",
            "fail no-kernel-image",
        ),
    ]);
}

// Wheels of torch without a local version: libtorch_cuda_linalg.so is made by one toolkit, libtorch_cuda.so by more.
#[test]
fn the_toolkit_of_torch_decides_where_its_version_does_not_say() {
    let torch = |linalg: &[&str]| {
        let images = "sm_75 sm_80 sm_90 sm_100 sm_120";
        let mut own = lib("torch/lib/libtorch_cuda_linalg.so").fatbin(images, 33);
        for toolkit in linalg {
            own = own.toolkit(toolkit);
        }
        let main = lib("torch/lib/libtorch_cuda.so").fatbin(images, 99);
        let env = environment().of("torch", own);
        env.of("torch", main.toolkit("13.2").toolkit("13.4"))
    };
    outcomes(&[
        (
            "12.6",
            &torch(&["12.6"]),
            "RTX 5090",
            "R580",
            "fail no-kernel-image",
        ),
        ("12.8", &torch(&["12.8"]), "RTX 5090", "R580", "pass"),
        (
            "of two",
            &torch(&["11.8", "12.6"]),
            "RTX 5090",
            "R580",
            "pass",
        ),
        ("unknown", &torch(&[]), "RTX 5090", "R580", "pass"),
    ]);
    let evaluation = check(&torch(&["12.6"]), &on("RTX 5090", "R580"));
    assert_eq!(found(&evaluation, Code::NoKernelImage).len(), 1);
    assert!(
        evaluation.matrix[0].notes[0]
            .ends_with("12.6, by `torch/lib/libtorch_cuda_linalg.so` of `torch` 1.0"),
        "{:?}",
        evaluation.matrix[0].notes
    );
}
