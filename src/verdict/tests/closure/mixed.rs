//! Packages of several CUDA major versions in one environment.

use super::super::build::{Input, Lib, dir, lib};
use super::super::found;
use super::{at, beside_torch, judge, nvidia, own, with_runtime};
use crate::inventory::Manager;
use crate::rule::Code;

/// Packages that are named as mixed, with their messages.
fn mixed(input: &Input) -> Vec<String> {
    let evaluation = judge(input);
    let found = found(&evaluation, Code::MixedCudaMajors);
    let lines = found.iter().map(|finding| {
        let package = finding
            .package
            .as_ref()
            .map_or("-", |package| package.name.as_str());
        format!("{package}: {}", finding.message)
    });
    lines.collect()
}

#[test]
fn the_package_that_differs_from_most_is_named() {
    let of_equals =
        "xformers: needs libraries of CUDA 12, where `torch` 1.0 beside it needs those of CUDA 13";
    assert_eq!(mixed(&with_runtime(beside_torch())), [of_equals]);
    let more = with_runtime(beside_torch())
        .of(
            "flash-attn",
            own("flash_attn_2_cuda.so", 9).needs("libcudart.so.12"),
        )
        .installed(Manager::Pip);
    assert_eq!(
        mixed(&more),
        [
            "torch: needs libraries of CUDA 13, where `xformers` 1.0 and `flash-attn` 1.0 beside it need those of CUDA 12"
        ]
    );
}

#[test]
fn what_is_private_or_elsewhere_is_not_mixed() {
    let and = |name: &str, library: Lib| {
        let torch = own("torch/lib/libtorch_cuda.so", 534).needs("libcudart.so.13");
        let input = dir("venv")
            .of("torch", torch)
            .of(name, library)
            .installed(Manager::Pip);
        nvidia(
            with_runtime(input),
            "cu13/lib/libcudart.so.13 curand/lib/libcurand.so.10",
        )
        .provides(&at("spconv.libs/libcudart-5a077122.so.12.0.107"))
    };
    for (what, input) in [
        ("static", and("pkg", own("pkg/_C.so", 3))),
        (
            "bundled",
            and(
                "pkg",
                own("pkg/_C.so", 3).needs("libcudart-5a077122.so.12.0.107"),
            ),
        ),
        (
            "of several majors",
            and("pkg", own("pkg/_C.so", 3).needs("libcurand.so.10")),
        ),
        (
            "one of NVIDIA's",
            and(
                "nvidia-cublas-cu12",
                own("nvidia/cublas/lib/libnvblas.so.12", 0).needs("libcudart.so.12"),
            ),
        ),
        (
            "a sibling",
            and(
                "bitsandbytes",
                own("bitsandbytes/libbitsandbytes_cuda128.so", 7).needs("libcudart.so.12"),
            ),
        ),
        (
            "another environment",
            and(
                "pkg",
                lib("other/lib/python3.12/site-packages/_C.so")
                    .fatbin("sm_80 sm_90", 3)
                    .needs("libcudart.so.12"),
            ),
        ),
    ] {
        assert_eq!(mixed(&input), [""; 0], "{what}");
    }
    assert_eq!(
        mixed(&and("pkg", own("pkg/_C.so", 3).needs("libcudart.so.12"))).len(),
        1
    );
}
