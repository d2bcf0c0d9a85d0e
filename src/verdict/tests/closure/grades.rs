//! How much depends on the library that lacks something.

use super::super::build::{Input, dir, lib};
use super::super::{check, found, on};
use super::{at, judge, missing, nvidia, own};
use crate::inventory::Manager;
use crate::rule::{Code, Level};

fn notes(input: &Input) -> Vec<String> {
    let matrix = judge(input).matrix;
    matrix.into_iter().flat_map(|row| row.notes).collect()
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
