//! Texts as people paste them, from public reports and measured output.

use super::super::Tables;
use super::MatchedBy;

fn ids(pasted: &str) -> Vec<&'static str> {
    let found = Tables::builtin().errors(pasted);
    found.iter().map(|found| found.row.id.as_str()).collect()
}

#[test]
fn texts_are_recognised_as_they_are_printed() {
    for (pasted, expected) in [
        (
            "RuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might be asynchronously reported at some other API call",
            "no-kernel-image",
        ),
        (
            "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.",
            "pytorch-arch",
        ),
        (
            "sm_120 is not compatible with the current PyTorch installation",
            "pytorch-arch",
        ),
        (
            "    Found GPU0 Tesla P100-PCIE-12GB which is of cuda capability 6.0.\n    Minimum and Maximum cuda capability supported by this version of PyTorch is\n    (7.0) - (12.0)",
            "pytorch-arch",
        ),
        (
            "torch.AcceleratorError: CUDA error: the provided PTX was compiled with an unsupported toolchain.",
            "ptx-too-new",
        ),
        (
            "LinkerError: [222] Call to cuLinkAddData results in CUDA_ERROR_UNSUPPORTED_PTX_VERSION\nptxas application ptx input, line 9; fatal : Unsupported .version 8.5; current version is '8.4'",
            "ptx-too-new",
        ),
        (
            "ptxas b.ptx, line 1; fatal   : Unsupported .version 8.7; current version is '8.4'",
            "ptx-too-new",
        ),
        (
            "CUDA driver version is insufficient for CUDA runtime version",
            "driver-too-old",
        ),
        (
            "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 12040). Please update your GPU driver",
            "pytorch-driver",
        ),
        (
            "Error 804: forward compatibility was attempted on non supported HW",
            "forward-compat-hardware",
        ),
        (
            "Error 803: system has unsupported display driver / cuda driver combination",
            "system-driver-mismatch",
        ),
        (
            "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
            "runtime-library-missing",
        ),
        (
            "OSError: libcuda.so.1: cannot open shared object file: No such file or directory",
            "driver-library-missing",
        ),
        (
            "CUDA error: device kernel image is invalid",
            "invalid-kernel-image",
        ),
        ("a PTX JIT compilation failed", "invalid-ptx"),
        ("CUDA_ERROR_NO_BINARY_FOR_GPU", "no-kernel-image"),
        ("cudaErrorInsufficientDriver", "driver-too-old"),
        (
            "ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'",
            "ptxas-arch",
        ),
        (
            "ptxas d.ptx, line 2; fatal   : Unsupported .target 'sm_120'",
            "ptxas-arch",
        ),
        (
            "nvcc fatal   : Unsupported gpu architecture 'compute_120a'",
            "nvcc-arch",
        ),
        (
            "nvrtc: error: invalid value for --gpu-architecture (-arch)",
            "nvrtc-arch",
        ),
        (
            "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version, or use an earlier cuda container: unknown",
            "container-requirement",
        ),
        (
            "mmv.cu:51: ERROR: CUDA kernel mul_mat_vec has no device code compatible with CUDA arch 520. ggml-cuda.cu was compiled for: 520",
            "llama-cpp-arch",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Failed to load library libonnxruntime_providers_cuda.so with error: libnothing.so.1",
            "onnxruntime-provider",
        ),
        (
            "W tensorflow/core/common_runtime/gpu/gpu_device.cc:1938] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.",
            "tensorflow-jit",
        ),
        (
            "Ignoring visible gpu device (device: 0, name: Tesla K80) with Cuda compute capability 3.7. The minimum required Cuda capability is 7.0.",
            "tensorflow-minimum",
        ),
        (
            "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
            "jax-cpu-only",
        ),
        (
            "kernel version 470.182.3 does not match DSO version 470.223.2 -- cannot find working devices in this configuration",
            "driver-library-mismatch",
        ),
        (
            "IBuilder::buildSerializedNetwork: Error Code 9: API Usage Error (Target GPU SM 61 is not supported by this TensorRT release.)",
            "tensorrt-gpu",
        ),
        (
            "The engine plan file is generated on an incompatible device, expecting compute 8.6 got compute 8.9, please rebuild.",
            "tensorrt-engine",
        ),
        (
            "RuntimeError: CUDA error: CUBLAS_STATUS_ARCH_MISMATCH when calling cublasGemmEx",
            "cublas-arch-mismatch",
        ),
        (
            "AssertionError: Torch not compiled with CUDA enabled",
            "pytorch-cpu-only",
        ),
        (
            "RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
            "flash-attention-gpu",
        ),
        (
            "undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12",
            "nvjitlink-symbol",
        ),
        (
            "ERROR 4 in nvvmAddNVVMContainerToProgram, may need newer version of nvJitLink library",
            "ltoir-too-new",
        ),
    ] {
        assert_eq!(
            ids(pasted).first(),
            Some(&expected),
            "{pasted}: {:?}",
            ids(pasted)
        );
    }
}

// cudaGetErrorName of libcudart 11.8 to 13.5; driver_types.h of CUDA 8.0 for the old numbers
#[test]
fn numbers_are_errors_of_either_interface() {
    for (number, expected) in [
        ("209", "no-kernel-image"),
        ("222", "ptx-too-new"),
        ("35", "driver-too-old"),
        ("36", "driver-call-too-new"),
        ("100", "no-device"),
        ("200", "invalid-kernel-image"),
        ("218", "invalid-ptx"),
        ("221", "jit-compiler-missing"),
        ("223", "jit-disabled"),
        ("98", "invalid-device-function"),
        ("802", "system-not-ready"),
        ("803", "system-driver-mismatch"),
        ("804", "forward-compat-hardware"),
        ("48", "no-kernel-image"),
        ("8", "invalid-device-function"),
        ("error 209", "no-kernel-image"),
    ] {
        assert_eq!(ids(number), [expected], "{number}");
    }
    for text in ["7", "12", "1000", "", "line 209", "m5.large"] {
        assert_eq!(ids(text), [""; 0], "{text}");
    }
}

#[test]
fn what_says_more_comes_first() {
    // ONNX Runtime names the library that is missing: that is the cause
    let pasted = "Failed to load library libonnxruntime_providers_cuda.so with error: libcudnn.so.9: cannot open shared object file: No such file or directory";
    assert_eq!(
        ids(pasted),
        ["onnxruntime-provider", "runtime-library-missing"]
    );
    let found = Tables::builtin().errors("CUDA failure 209: no kernel image");
    assert_eq!(found.len(), 1);
    assert!(matches!(&found[0].by, MatchedBy::Text(text) if text.contains("no kernel image")));
    assert_eq!(Tables::builtin().errors("48")[0].by, MatchedBy::Number(48));
}

#[test]
fn misspelt_names_have_neighbours() {
    let nearest = Tables::builtin().nearest_errors("cudaErrorNoKernelImage");
    assert!(
        nearest.contains(&"cudaErrorNoKernelImageForDevice".to_owned()),
        "{nearest:?}"
    );
    assert!(Tables::builtin().nearest_errors("hello world").is_empty());
}

#[test]
fn some_words_of_a_text_are_that_text_where_they_are_of_no_other() {
    assert_eq!(ids("No kernel image is available"), ["no-kernel-image"]);
    assert_eq!(ids("kernel image"), [""; 0], "of several, and too little");
    assert_eq!(ids("is available for lunch"), [""; 0]);
}
