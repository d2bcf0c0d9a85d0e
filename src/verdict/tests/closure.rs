//! What is needed and not there. Names and layouts are those of the wheels that each test names.

use super::build::{Input, Lib, dir, file, image_of, lib, wheel};
use super::{check, found, on};
use crate::device::HostFormat;
use crate::inventory::Manager;
use crate::problem::{Extent, ProblemKind};
use crate::rule::{Code, Level};
use crate::verdict::Evaluation;

const SITE: &str = "lib/python3.12/site-packages";

fn at(path: &str) -> String {
    format!("{SITE}/{path}")
}

fn own(path: &str, fatbins: u64) -> Lib {
    let library = lib(&at(path));
    match fatbins {
        0 => library,
        fatbins => library.fatbin("sm_80 sm_90", fatbins),
    }
}

/// Libraries of NVIDIA's below `site-packages/nvidia`.
fn nvidia(input: Input, names: &str) -> Input {
    let paths = names
        .split_whitespace()
        .map(|name| at(&format!("nvidia/{name}")));
    input.provides(&paths.collect::<Vec<_>>().join(" "))
}

/// xformers 0.0.35, which is built for CUDA 12, in a virtual environment.
fn xformers() -> Input {
    let library = own("xformers/_C.so", 11).needs("libcudart.so.12");
    dir("venv").of("xformers", library).installed(Manager::Pip)
}

/// torch 2.15.0, for CUDA 13, beside it.
fn beside_torch() -> Input {
    let library =
        own("torch/lib/libtorch_cuda.so", 534).needs_all("libcudart.so.13 libcublas.so.13");
    let input = xformers().of("torch", library).installed(Manager::Pip);
    nvidia(input, "cu13/lib/libcudart.so.13 cu13/lib/libcublas.so.13")
}

fn with_runtime(input: Input) -> Input {
    nvidia(input, "cuda_runtime/lib/libcudart.so.12")
}

/// For each code a case that raises it, and its neighbour that does not.
pub(super) fn cases() -> impl Iterator<Item = (Code, Input, Input)> {
    let missing = (
        Code::RuntimeLibraryMissing,
        beside_torch(),
        with_runtime(beside_torch()),
    );
    let mixed = (
        Code::MixedCudaMajors,
        with_runtime(beside_torch()),
        with_runtime(xformers()),
    );
    [missing, mixed].into_iter()
}

fn judge(input: &Input) -> Evaluation {
    check(input, &on("A100", "R580"))
}

/// Level, package, library and message of what is missing.
fn missing(input: &Input) -> Vec<String> {
    let evaluation = judge(input);
    let found = found(&evaluation, Code::RuntimeLibraryMissing);
    let lines = found.iter().map(|finding| {
        let package = finding
            .package
            .as_ref()
            .map_or("-", |package| package.name.as_str());
        let library = finding.library.as_deref().unwrap_or("-");
        let library = library.strip_prefix(&format!("{SITE}/")).unwrap_or(library);
        format!("{} {package} {library}: {}", finding.level, finding.message)
    });
    lines.collect()
}

fn notes(input: &Input) -> Vec<String> {
    let matrix = judge(input).matrix;
    matrix.into_iter().flat_map(|row| row.notes).collect()
}

#[test]
fn another_major_version_of_a_library_is_not_the_one_that_is_needed() {
    let evaluation = judge(&beside_torch());
    let found = found(&evaluation, Code::RuntimeLibraryMissing);
    let [finding] = found.as_slice() else {
        panic!("{found:#?}");
    };
    insta::assert_snapshot!(
        format!("{}\n{}\n{}", finding.message, finding.evidence.join("\n"), finding.next_step),
        @"
    needs `libcudart.so.12`, which nothing in the environment provides
    `lib/python3.12/site-packages/xformers/_C.so` needs `libcudart.so.12`
    `lib/python3.12/site-packages/nvidia/cu13/lib/libcudart.so.13` is there, of CUDA 13
    looked for by name among 2 libraries of NVIDIA's in the environment
    install `nvidia-cuda-runtime-cu12`, or a build of `xformers` for CUDA 13, which is there; where machines have it outside of the environment, accept this with a waiver
    "
    );
}

#[test]
fn only_what_holds_everything_is_judged() {
    let library = || own("pkg/_C.so", 3).needs("libcudart.so.12");
    for (what, input) in [
        ("a wheel", wheel("pkg", "1.0").with(library())),
        ("a file", file("_C.so").stray(library())),
        (
            "a build tree",
            dir("build").stray(
                lib("out/_C.so")
                    .fatbin("sm_80 sm_90", 3)
                    .needs("libcudart.so.12"),
            ),
        ),
        ("a folder of wheels", dir("wheels").of("pkg", library())),
        ("an older document", xformers().of_older_document()),
        (
            "a tree beside an environment",
            dir("repository")
                .package("pip")
                .installed(Manager::Pip)
                .stray(
                    lib("build/_C.so")
                        .fatbin("sm_80 sm_90", 3)
                        .needs("libcudart.so.12"),
                ),
        ),
    ] {
        assert_eq!(missing(&input), [""; 0], "{what}");
    }
    for (what, input) in [
        ("an environment", xformers()),
        (
            "an image",
            image_of("image").stray(
                lib("app/libx.so")
                    .fatbin("sm_80 sm_90", 3)
                    .needs("libcudart.so.12"),
            ),
        ),
        (
            "a program in an image",
            image_of("image").stray(lib("app/server").needs("libcudart.so.12")),
        ),
    ] {
        assert_eq!(missing(&input).len(), 1, "{what}");
    }
}

#[test]
fn a_name_is_provided_by_a_file_a_link_or_a_soname_anywhere() {
    let provided = |path: &str| missing(&xformers().provides(path)).is_empty();
    assert!(provided("opt/cuda/lib64/libcudart.so.12"));
    assert!(provided("usr/lib/libcudart.so.12.8.90=libcudart.so.12"));
    assert!(!provided("opt/cuda/lib64/libcudart.so.12.8.90"));
    assert!(!provided("opt/cuda/lib64/libcudart.so.13"));
    // a copy of another wheel, under its own name
    assert!(!provided("x.libs/libcudart-5a077122.so.12.0.107"));
}

#[test]
fn a_bundled_copy_provides_the_name_that_it_was_given() {
    let library = own("spconv/core_cc.so", 606).needs("libcudart-5a077122.so.12.0.107");
    let input = dir("venv")
        .of("spconv-cu120", library)
        .installed(Manager::Pip);
    assert_eq!(missing(&input).len(), 1);
    let input = input.provides(&at("spconv_cu120.libs/libcudart-5a077122.so.12.0.107"));
    assert_eq!(missing(&input), [""; 0]);
}

#[test]
fn the_driver_is_of_the_host() {
    let library = own("pkg/_C.so", 3).needs_all("libcuda.so.1 libnvidia-ml.so.1");
    let input = dir("venv").of("pkg", library).installed(Manager::Pip);
    assert_eq!(missing(&input), [""; 0]);
}

/// torch 2.9.1, as far as it matters: the linear algebra is loaded when it is called.
fn torch() -> Input {
    let torch = [
        own("torch/lib/libtorch_cuda.so", 397)
            .needs_all("libtorch_nvshmem.so libcudart.so.12 libcusparse.so.12"),
        own("torch/lib/libtorch_nvshmem.so", 5).needs("libnvshmem_host.so.3"),
        own("torch/lib/libtorch_cuda_linalg.so", 107)
            .needs_all("libtorch_cuda.so libcusolver.so.11 libcudart.so.12"),
        own("torch/lib/libcaffe2_nvrtc.so", 0).needs_all("libnvrtc.so.12 libcuda.so.1"),
    ];
    let input = torch
        .into_iter()
        .fold(dir("venv"), |input, library| input.of("torch", library));
    input.installed(Manager::Pip)
}

const OF_TORCH: &str = "cuda_runtime/lib/libcudart.so.12 cusparse/lib/libcusparse.so.12 \
                        nvshmem/lib/libnvshmem_host.so.3 cusolver/lib/libcusolver.so.11 \
                        cuda_nvrtc/lib/libnvrtc.so.12";

fn torch_without(name: &str) -> Input {
    let names: Vec<&str> = OF_TORCH
        .split_whitespace()
        .filter(|path| !path.ends_with(name))
        .collect();
    nvidia(torch(), &names.join(" "))
}

#[test]
fn what_lacks_something_decides_how_bad_it_is() {
    assert_eq!(missing(&torch_without("nothing")), [""; 0]);
    assert!(notes(&torch_without("nothing")).is_empty());
    for (name, expected) in [
        ("libcusparse.so.12", "deny torch torch/lib/libtorch_cuda.so"),
        // it is needed by what carries the code
        (
            "libnvshmem_host.so.3",
            "deny torch torch/lib/libtorch_nvshmem.so",
        ),
        (
            "libcusolver.so.11",
            "warn torch torch/lib/libtorch_cuda_linalg.so",
        ),
    ] {
        let message = format!("needs `{name}`, which nothing in the environment provides");
        assert_eq!(
            missing(&torch_without(name)),
            [format!("{expected}: {message}")]
        );
    }
    let input = torch_without("libnvrtc.so.12");
    assert_eq!(missing(&input), [""; 0]);
    assert_eq!(
        notes(&input),
        [
            "`libcaffe2_nvrtc.so`, loaded on demand, cannot be: nothing in the environment provides \
             `libnvrtc.so.12`"
        ]
    );
}

#[test]
fn a_policy_sets_the_level_of_what_is_denied_and_never_raises_a_warning() {
    let level = |input: &Input, level: &str| {
        let policy = format!(
            "{}levels: {{runtime-library-missing: {level}}}\n",
            on("A100", "R580")
        );
        found(&check(input, &policy), Code::RuntimeLibraryMissing)[0].level
    };
    assert_eq!(
        level(&torch_without("libcusparse.so.12"), "allow"),
        Level::Allow
    );
    assert_eq!(
        level(&torch_without("libcusolver.so.11"), "deny"),
        Level::Warn
    );
    assert_eq!(
        level(&torch_without("libcusolver.so.11"), "allow"),
        Level::Allow
    );
}

#[test]
fn what_a_library_of_nvidia_needs_is_needed_where_it_is_loaded() {
    let sparse = lib(&at("nvidia/cusparse/lib/libcusparse.so.12"))
        .carried("cusparse")
        .needs("libnvJitLink.so.12");
    let input = torch_without("nothing").of("nvidia-cusparse-cu12", sparse.clone());
    let input = input.installed(Manager::Pip);
    assert_eq!(
        missing(&input),
        [
            "deny nvidia-cusparse-cu12 nvidia/cusparse/lib/libcusparse.so.12: needs `libnvJitLink.so.12`, which \
             nothing in the environment provides"
        ]
    );
    // alone, nothing loads it
    let alone = dir("venv")
        .of("nvidia-cusparse-cu12", sparse)
        .installed(Manager::Pip);
    assert_eq!(missing(&alone), [""; 0]);
}

// cupy-cuda12x 14.2.0: device code without needs, and a module for each library.
#[test]
fn a_module_for_a_library_that_is_not_there_is_no_failure_of_the_package() {
    let module = |name: &str, needs: &str| {
        own(
            &format!("cupy_backends/cuda/libs/{name}.cpython-312-x86_64-linux-gnu.so"),
            0,
        )
        .needs(needs)
    };
    let input = dir("venv")
        .of(
            "cupy-cuda12x",
            own("cupy/cuda/cub.cpython-312-x86_64-linux-gnu.so", 1),
        )
        .of("cupy-cuda12x", module("cublas", "libcublas.so.12"))
        .of("cupy-cuda12x", module("cutensor", "libcutensor.so.2"))
        .installed(Manager::Pip);
    let there = nvidia(input.clone(), "cublas/lib/libcublas.so.12");
    assert_eq!(missing(&there), [""; 0]);
    assert_eq!(
        notes(&there).len(),
        2,
        "how it compiles, and what is not there"
    );
    let none: Vec<String> = missing(&input);
    assert_eq!(none.len(), 1, "{none:#?}");
    assert!(none[0].starts_with("warn cupy-cuda12x"), "{none:#?}");
}

// deep_gemm of sgl-kernel 0.3.21 by itself: it compiles at run time.
#[test]
fn a_package_of_modules_without_device_code_needs_all_of_them() {
    let module = |name: &str| own(&format!("pkg/{name}.abi3.so"), 0).needs("libcudart.so.12");
    let input = dir("venv").of("pkg", module("_a")).of("pkg", module("_b"));
    let input = input.installed(Manager::Pip);
    assert_eq!(
        missing(&input),
        [
            "deny pkg pkg/_a.abi3.so: needs `libcudart.so.12`, which nothing in the environment provides"
        ]
    );
}

// onnxruntime-gpu 1.23.2
#[test]
fn a_plugin_for_what_is_not_there_is_a_remark() {
    let input = dir("venv")
        .of(
            "onnxruntime-gpu",
            own("onnxruntime/capi/libonnxruntime_providers_cuda.so", 368).needs("libcudnn.so.9"),
        )
        .of(
            "onnxruntime-gpu",
            own("onnxruntime/capi/libonnxruntime_providers_tensorrt.so", 0)
                .needs("libnvinfer.so.10"),
        )
        .installed(Manager::Pip);
    let there = nvidia(input.clone(), "cudnn/lib/libcudnn.so.9");
    assert_eq!(missing(&there), [""; 0]);
    assert_eq!(notes(&there).len(), 1);
    assert_eq!(missing(&input).len(), 1);
}

// bitsandbytes 0.50.2
#[test]
fn of_siblings_the_one_that_is_loaded_must_have_what_it_needs() {
    let sibling = |cuda: &str, needs: &str| {
        own(&format!("bitsandbytes/libbitsandbytes_cuda{cuda}.so"), 7).needs(needs)
    };
    let input = dir("venv")
        .of("bitsandbytes", sibling("118", "libcudart.so.11.0"))
        .of("bitsandbytes", sibling("128", "libcudart.so.12"))
        .of("bitsandbytes", sibling("130", "libcudart.so.13"));
    let quiet = |input: &Input| missing(input).is_empty();
    let with_12 = || with_runtime(input.clone().installed(Manager::Pip));
    assert!(
        quiet(&with_12()),
        "any of them may be loaded, and one can be"
    );
    let torch = |version: &str| {
        with_12()
            .package_of("torch", version)
            .installed(Manager::Pip)
    };
    assert!(quiet(&torch("2.9.1+cu128")));
    assert_eq!(
        missing(&torch("2.11.0+cu130")),
        [
            "deny bitsandbytes bitsandbytes/libbitsandbytes_cuda130.so: needs `libcudart.so.13`, which nothing in \
             the environment provides"
        ]
    );
    assert_eq!(
        missing(&input.installed(Manager::Pip)).len(),
        1,
        "whichever is loaded"
    );
}

// lietorch 0.8.2 carries a library for each system in one wheel.
#[test]
fn libraries_for_another_system_are_not_judged() {
    let input = |linux: &str| {
        dir("venv")
            .of(
                "lietorch",
                own("lietorch/lib/liblietorch.so", 4).needs(linux),
            )
            .of(
                "lietorch",
                own("lietorch/lib/lietorch.dll", 4)
                    .needs("cudart64_12.dll")
                    .windows(),
            )
            .of("torch", own("torch/lib/libtorch_cuda.so", 397))
            .installed(Manager::Pip)
    };
    assert_eq!(missing(&with_runtime(input("libcudart.so.12"))), [""; 0]);
    assert_eq!(missing(&with_runtime(input("libcudart.so.13"))).len(), 1);
}

#[test]
fn windows_finds_names_in_any_case() {
    let site = "Lib/site-packages";
    let library = lib(&format!("{site}/xformers/_C.pyd")).fatbin("sm_80 sm_90", 11);
    let library = library.needs("CUDART64_12.dll").format(HostFormat::Pe);
    let input = dir("venv").of("xformers", library).installed(Manager::Pip);
    assert_eq!(missing(&input).len(), 1);
    let input = input.provides(&format!("{site}/torch/lib/cudart64_12.dll"));
    assert_eq!(missing(&input), [""; 0]);
}

#[test]
fn what_was_not_read_may_be_what_is_needed() {
    let rest = xformers().problem(ProblemKind::Truncated, "", None, Extent::Artifact);
    assert_eq!(missing(&rest), [""; 0]);
    let link = xformers().problem(
        ProblemKind::NotFollowed,
        &at("nvidia/cuda_runtime/lib/libcudart.so.12"),
        None,
        Extent::Member,
    );
    assert_eq!(missing(&link), [""; 0]);
    let other = xformers().problem(ProblemKind::Io, &at("data.bin"), None, Extent::Member);
    assert_eq!(missing(&other).len(), 1);
    let names = xformers().problem(ProblemKind::PackagesUnread, "", None, Extent::Artifact);
    assert_eq!(missing(&names).len(), 1);
}

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

#[test]
fn evidence_says_where_a_loader_would_look() {
    let library = own("torch/lib/libtorch_cuda.so", 3)
        .needs("libcudnn.so.9")
        .needs("libcudart.so.12")
        .rpath("$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN");
    let input = with_runtime(dir("venv").of("torch", library).installed(Manager::Pip));
    let evaluation = judge(&input);
    let finding = found(&evaluation, Code::RuntimeLibraryMissing)[0];
    insta::assert_snapshot!(
        format!("{}\n{}", finding.evidence.join("\n"), finding.next_step),
        @"
    `lib/python3.12/site-packages/torch/lib/libtorch_cuda.so` needs `libcudnn.so.9`
    looked for by name, and one library of NVIDIA's is in the environment; its RPATH leads to `lib/python3.12/site-packages/nvidia/cudnn/lib` and `lib/python3.12/site-packages/torch/lib`
    install `nvidia-cudnn-cu12>=9,<10`; where machines have it outside of the environment, accept this with a waiver
    "
    );
}
