//! What the tables know of the libraries of single packages: roles and siblings.

use super::build::{lib, wheel};
use super::{assert_packages, check, on, only, outcome};
use crate::rule::Code;

// The tables: flashinfer's static PTX is for B300, assembled there by ptxas; nothing else in the wheel is compiled
// beforehand.
#[test]
fn ptx_that_the_package_assembles_for_some_gpus_asks_nothing_of_others_or_of_the_driver() {
    let ptx = "flashinfer/data/csrc/kda/ptx/fixed_h64.ptx";
    let flashinfer = |name: &str| {
        let lib = lib(ptx).raw().bare("compute_103a@9.2", 1).raw();
        wheel(name, "0.7.4").tags("").with(lib)
    };
    let known = flashinfer("flashinfer-python");
    let other = flashinfer("mine");
    assert_packages(&[
        (
            "another GPU",
            &known,
            "H100",
            "R580",
            "pass arch-specific-only",
        ),
        ("its GPU", &known, "B300", "R580", "pass"),
        (
            "other package",
            &other,
            "H100",
            "R580",
            "fail no-kernel-image",
        ),
        (
            "other package, old driver",
            &other,
            "B300",
            "R580",
            "fail ptx-too-new",
        ),
    ]);
}

// The tables: sgl-kernel's flash_ops is used on some GPUs only.
#[test]
fn a_known_side_library_never_denies_by_itself() {
    let sgl = |name: &str, common: &str| {
        wheel(name, "0.3.21")
            .with(lib("sgl_kernel/common_ops.abi3.so").fatbin(common, 100))
            .with(lib("sgl_kernel/flash_ops.abi3.so").fatbin("sm_80 sm_86 sm_90a", 80))
    };
    assert_packages(&[
        (
            "known",
            &sgl("sgl-kernel", "sm_80 sm_90 sm_100"),
            "B200",
            "R580",
            "pass arch-specific-only",
        ),
        (
            "nothing carries the target",
            &sgl("sgl-kernel", "sm_80 sm_90"),
            "B200",
            "R580",
            "fail arch-specific-only no-kernel-image",
        ),
        (
            "of another package",
            &sgl("mine", "sm_80 sm_90 sm_100"),
            "B200",
            "R580",
            "fail no-kernel-image",
        ),
    ]);
    let evaluation = check(
        &sgl("sgl_kernel", "sm_80 sm_90 sm_100"),
        &on("B200", "R580"),
    );
    let finding = only(&evaluation, Code::ArchSpecificOnly);
    assert!(
        finding.evidence[0].contains("FlashAttention 3"),
        "{finding:?}"
    );
}

// The tables: the profiler in nvidia-cutlass-dsl-libs-base is for Hopper and newer; the rest compiles on the machine.
#[test]
fn a_profiler_without_code_for_a_gpu_only_warns() {
    let dsl = |name: &str| {
        let profiler = lib("nvidia_cutlass_dsl/dsl_packages/iket/libiket_cubin_info.so");
        wheel(name, "4.8.0").with(profiler.bare("rel_sm_90", 1).bare("rel_sm_120", 1))
    };
    let (known, other) = (dsl("nvidia-cutlass-dsl-libs-base"), dsl("mine"));
    assert_packages(&[
        ("its GPU", &known, "H100", "R580", "pass"),
        ("its GPU", &known, "RTX 5090", "R580", "pass"),
        (
            "an older GPU",
            &known,
            "A100",
            "R580",
            "pass arch-specific-only",
        ),
        (
            "other package",
            &other,
            "A100",
            "R580",
            "fail no-kernel-image",
        ),
    ]);
}

// SEMANTICS.md: a family of siblings of which one is loaded passes when one member does.
#[test]
fn a_family_passes_when_one_member_does() {
    let member = |cuda: &str, images: &str, toolkit: &str, runtime: &str| {
        lib(&format!("bitsandbytes/libbitsandbytes_cuda{cuda}.so"))
            .fatbin(images, 7)
            .needs(runtime)
            .toolkit(toolkit)
    };
    let all = wheel("bitsandbytes", "0.50.2")
        .with(member(
            "118",
            "sm_50 sm_75 sm_80",
            "11.8",
            "libcudart.so.11.0",
        ))
        .with(member(
            "126",
            "sm_50 sm_75 sm_80 sm_90",
            "12.6",
            "libcudart.so.12",
        ))
        .with(member(
            "130",
            "sm_75 sm_80 sm_90 sm_120",
            "13.0",
            "libcudart.so.13",
        ));
    assert_packages(&[
        ("in all", &all, "A100", "R550", "pass"),
        ("in two", &all, "H100", "R550", "pass"),
        ("in one", &all, "RTX 5090", "R580", "pass"),
        // the member for CUDA 13 has the code and not the driver
        ("driver", &all, "RTX 5090", "R570", "fail driver-too-old"),
        ("in none", &all, "B200", "R580", "fail no-kernel-image"),
        (
            "the oldest driver of its members",
            &all,
            "A100",
            "450.80.02",
            "pass",
        ),
    ]);
    let evaluation = check(&all, &on("H100", "R580"));
    assert_eq!(
        evaluation.matrix[0].notes,
        [
            "one of its libraries is loaded, by the CUDA version of the torch beside it: \
            `libbitsandbytes_cuda126.so`, `libbitsandbytes_cuda130.so` run here, \
            `libbitsandbytes_cuda118.so` do not"
        ]
    );
    // what the driver starts is what is loaded: compiled on R570, native on R580
    let choice = wheel("bitsandbytes", "0.50.2")
        .with(member(
            "128",
            "sm_80 compute_90@8.7",
            "12.8",
            "libcudart.so.12",
        ))
        .with(member("130", "sm_80 sm_120", "13.0", "libcudart.so.13"));
    assert_packages(&[
        ("compiled", &choice, "RTX 5090", "R570", "pass jit-only"),
        ("native", &choice, "RTX 5090", "R580", "pass"),
    ]);
    // the same files in another package are libraries like any other
    let other = wheel("mine", "1.0")
        .with(member("118", "sm_75 sm_80", "11.8", "libcudart.so.11.0"))
        .with(member(
            "126",
            "sm_75 sm_80 sm_90",
            "12.6",
            "libcudart.so.12",
        ));
    assert_packages(&[("no family", &other, "H100", "R550", "fail no-kernel-image")]);
}

// RULES.md 2.9: what a package links itself, the driver gets as a cubin.
#[test]
fn the_input_of_a_linker_is_bound_by_no_driver() {
    let cudf = |name: &str| {
        wheel(name, "26.10.2").with(
            lib("cudf/core/udf/shim.fatbin")
                .raw()
                .fatbin("compute_70@8.8 lto_70 compute_90a@8.8 lto_90a", 1),
        )
    };
    assert_packages(&[
        ("known", &cudf("cudf-cu12"), "H100", "R535", "pass"),
        (
            "older than its code",
            &cudf("cudf-cu12"),
            "P100",
            "R535",
            "fail no-kernel-image",
        ),
        ("unknown", &cudf("mine"), "H100", "R535", "fail ptx-too-new"),
    ]);
    let evaluation = check(&cudf("cudf-cu12"), &on("H100", "R535"));
    assert_eq!(outcome(&evaluation), "pass");
    let floor = evaluation.matrix[0].minimum_driver.as_ref().unwrap();
    assert_eq!(floor.driver.to_string(), "520.56.06");
}
