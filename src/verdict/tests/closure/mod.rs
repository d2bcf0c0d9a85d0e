//! What is needed and not there. Names and layouts are those of the wheels that each test names.

mod grades;
mod mixed;

use super::build::{Input, Lib, dir, file, image_of, lib, wheel};
use super::{check, found, on};
use crate::device::HostFormat;
use crate::inventory::Manager;
use crate::problem::{Extent, ProblemKind};
use crate::rule::Code;
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
