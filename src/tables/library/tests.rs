//! Rows of the library table, by what real packages are called.

use super::super::Tables;
use super::*;

#[test]
fn vendor_libraries_are_known_by_file_name_also_when_hashed() {
    for (name, expected) in [
        ("libcudart.so", Some("cuda-runtime")),
        ("libcudart.so.12", Some("cuda-runtime")),
        ("libcudart-hash.so.12", Some("cuda-runtime")),
        ("libcudart-5a077122.so.12.0.107", Some("cuda-runtime")),
        ("libcudart.e8e8b82a.so.12", Some("cuda-runtime")),
        ("libcudart_static.a", Some("cuda-runtime")),
        ("cudart64_12.dll", Some("cuda-runtime")),
        ("CUDART64_110.DLL", Some("cuda-runtime")),
        ("libnvjpeg.8dd2b5e6.so.12", Some("nvjpeg")),
        ("libcublas.so.12", Some("cublas")),
        ("libcublasLt.so.12", Some("cublas")),
        ("libcublas-f6acd947.so.11", Some("cublas")),
        ("libcudnn_engines_precompiled.so.9", Some("cudnn")),
        ("libcufft.so.11", Some("cufft")),
        ("libnppicc.so.12", Some("npp")),
        ("libcudnn-f1b2c3d4.so.9", Some("cudnn")),
        ("libcudnn_ops_infer.so.8", Some("cudnn")),
        ("libcusparse.so.12", Some("cusparse")),
        ("libcusparseLt.so.0", Some("cusparselt")),
        ("libnvshmem_host.so.3", Some("nvshmem")),
        ("libnccl.so.2", Some("nccl")),
        ("libnvJitLink.so.12", Some("nvjitlink")),
        ("libnvrtc-builtins.so.12.4", Some("nvrtc")),
        ("libnvrtc.so.12", Some("nvrtc")),
        ("ptxas", Some("ptxas")),
        ("libnvvm.so.4", Some("nvvm")),
        ("libdevice.10.bc", None),
        ("libnvinfer_plugin.so.10", Some("tensorrt")),
        ("libtensorrt_rtx.so.1.7.1", Some("tensorrt")),
        ("libtensorrt_plugins.so", None),
        ("cuTENSOR.dll", Some("cutensor")),
        ("libcuda.so.1", Some("driver")),
        ("libtorch_nvshmem.so", None),
        ("libtorch_cuda.so", None),
        ("libcudart_mine.so", None),
        ("libcudnn_attention.so", None),
        ("libnccl_ext.so", None),
        ("libnppkernels.so", None),
        ("libcufft_callbacks.so", None),
        ("libnvinfer_my_plugin.so", None),
        ("libcublasmp.so.0", None),
        ("LIBCUDART.SO.12", None),
        ("ptxas.py", None),
        ("", None),
    ] {
        let row = Tables::builtin().vendor(name);
        assert_eq!(row.map(|row| row.component.as_str()), expected, "{name}");
    }
    let vendor = |name| Tables::builtin().vendor(name).unwrap();
    assert!(vendor("libnvrtc.so.12").compiler && vendor("libnvrtc.so.12").writes_ptx);
    assert!(vendor("ptxas").compiler && !vendor("ptxas").writes_ptx);
    assert!(!vendor("libcudnn_graph.so.9").compiler && vendor("libcudnn.so.9").may_compile);
    assert!(vendor("libcufft.so.11").dispatches && !vendor("libnppc.so.12").dispatches);
}

#[test]
fn packages_that_are_a_vendor_library_are_known() {
    for (file, package, expected) in [
        ("libcurand.so.10", "nvidia-curand-cu12", true),
        ("libcurand.so.10", "nvidia_curand", true),
        ("libcurand.so.10", "Nvidia.CuRAND__cu11", true),
        ("libcurand.so.10", "torch", false),
        ("libcublas.so.12", "nvidia-cublas", true),
        ("libcublas.so.12", "nvidia-cublasmp-cu12", false),
        ("libcudnn.so.9", "nvidia-cudnn-cu13", true),
        ("libcudnn.so.9", "nvidia-cudnn-frontend", false),
        ("libnccl.so.2", "nvidia-nccl-cu12", true),
        ("libcudart.so.12", "nvidia-cuda-runtime-cu12", true),
        ("libnvinfer.so.10", "tensorrt_cu12_libs", true),
        ("libnvinfer.so.10", "tensorrt-llm", false),
        // Debian, RPM and conda
        ("libcublas.so.12", "libcublas-12-4", true),
        ("libcublas.so.12", "libcublas12", true),
        ("libcublas.so.12", "libcublas", true),
        ("libcublas.so.12", "libcublasmp0", false),
        ("libcudart.so.12", "cuda-cudart-12-4", true),
        ("libcudart.so.11.0", "libcudart11.0", true),
        ("libcudnn.so.9", "libcudnn9-cuda-12", true),
        ("libcudnn.so.8", "libcudnn8", true),
        ("libcudnn.so.9", "cudnn", true),
        ("libnccl.so.2", "libnccl2", true),
        ("libnccl.so.2", "libnccl", true),
        ("libnccl.so.2", "nccl", true),
        ("libnvrtc.so.12", "cuda-nvrtc-12-4", true),
        ("libnvrtc.so.12", "cuda-nvrtc", true),
        ("libcusparse.so.12", "libcusparse-12-4", true),
        ("libcusparse.so.12", "libcusparselt0", false),
        ("libcusparseLt.so.0", "libcusparselt0-cuda-12", true),
        ("libcutensor.so.2", "libcutensor2", true),
        ("libnppc.so.12", "libnpp-12-4", true),
        ("libnppc.so.12", "libnppc12", true),
        ("libnvinfer.so.10", "libnvinfer10", true),
        ("ptxas", "cuda-nvcc-12-4", true),
        ("ptxas", "nvidia-cuda-toolkit", true),
        ("libcublas.so.12", "python3-torch-cuda", false),
    ] {
        let row = Tables::builtin().vendor(file).unwrap();
        assert_eq!(row.is_package(package), expected, "{file} {package}");
    }
}

#[test]
fn packages_that_compile_at_run_time_are_known() {
    for (package, expected) in [
        ("cupy-cuda12x", Some(Loads::Cubin)),
        ("CuPy_CUDA13x", Some(Loads::Cubin)),
        ("warp-lang", Some(Loads::Cubin)),
        ("numba_cuda", Some(Loads::PtxOrCubin)),
        ("warp", None),
        ("numpy", None),
    ] {
        let row = Tables::builtin().run_time(package);
        assert_eq!(row.map(|row| row.loads), expected, "{package}");
    }
}

#[test]
fn roles_and_families_hold_for_their_packages_only() {
    let role = |package, path| Tables::builtin().role(package, path).map(|row| row.role);
    assert_eq!(
        role("sgl_kernel", "sgl_kernel/flash_ops.abi3.so"),
        Some(Role::Side)
    );
    assert_eq!(role("nixl-cu12", "x/nixl_ep_cpp_29.so"), Some(Role::Side));
    assert_eq!(
        role("cudf_cu12", "cudf/core/udf/shim.fatbin"),
        Some(Role::Linked)
    );
    assert_eq!(role("sgl-kernel", "sgl_kernel/common_ops.abi3.so"), None);
    assert_eq!(role("mine", "sgl_kernel/flash_ops.abi3.so"), None);
    let family = |package, path| Tables::builtin().sibling_family(package, path).is_some();
    assert!(family(
        "bitsandbytes",
        "bitsandbytes/libbitsandbytes_cuda128.so"
    ));
    assert!(family(
        "bitsandbytes",
        "bitsandbytes/libbitsandbytes_cuda128.dll"
    ));
    assert!(!family(
        "bitsandbytes",
        "bitsandbytes/libbitsandbytes_cpu.so"
    ));
    assert!(!family("mine", "libbitsandbytes_cuda128.so"));
}
