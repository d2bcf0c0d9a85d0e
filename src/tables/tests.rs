//! Look-ups with expected values from documents of NVIDIA, not from the tables.

use super::*;
use crate::cuda::DriverSpec;

fn tables() -> &'static Tables {
    Tables::builtin()
}

fn cc(text: &str) -> ComputeCapability {
    text.parse().unwrap()
}

#[test]
fn every_table_parses() {
    GpuTable::parse(Texts::BUILTIN.gpus).unwrap();
    ArchTable::parse(Texts::BUILTIN.archs).unwrap();
    ToolkitTable::parse(Texts::BUILTIN.toolkits).unwrap();
    DriverTable::parse(Texts::BUILTIN.drivers).unwrap();
    LibraryTable::parse(Texts::BUILTIN.libraries).unwrap();
}

#[test]
fn gpus_have_the_capability_that_nvidia_documents() {
    // https://developer.nvidia.com/cuda-gpus and cuda-legacy-gpus; spellings of nvidia-smi and of people
    for (name, expected) in [
        ("H100", "9.0"),
        ("h100-sxm", "9.0"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("NVIDIA H100 80 GB PCIe", "9.0"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "9.0"),
        ("NVIDIA GH200 480GB", "9.0"),
        ("H200", "9.0"),
        ("NVIDIA GeForce RTX 4090", "8.9"),
        ("RTX 4090", "8.9"),
        ("L4", "8.9"),
        ("NVIDIA L40S-48Q", "8.9"),
        ("NVIDIA RTX 6000 Ada Generation", "8.9"),
        ("RTX 5090", "12.0"),
        ("rtx-5090", "12.0"),
        ("rtx5090", "12.0"),
        ("RTX_5090", "12.0"),
        ("GeForce RTX 5090 Laptop GPU", "12.0"),
        ("A100", "8.0"),
        ("NVIDIA A100-SXM4-80GB", "8.0"),
        ("NVIDIA A100 80GB PCIe MIG 1g.10gb", "8.0"),
        ("GRID A100-10C", "8.0"),
        ("GRID A100-1-5CME", "8.0"),
        ("a100-40g", "8.0"),
        ("NVIDIA A10-24Q", "8.6"),
        ("A10G", "8.6"),
        ("RTX 3090", "8.6"),
        ("NVIDIA RTX A6000", "8.6"),
        ("T4", "7.5"),
        ("Tesla T4", "7.5"),
        ("T4G", "7.5"),
        ("V100", "7.0"),
        ("Tesla V100-SXM2-16GB", "7.0"),
        ("v100s", "7.0"),
        ("P100", "6.0"),
        ("Tesla P100-PCIE-16GB", "6.0"),
        ("GTX 1060", "6.1"),
        ("GTX 1080 Ti", "6.1"),
        ("P40", "6.1"),
        ("Quadro K620", "5.0"),
        ("K620", "5.0"),
        ("M60", "5.2"),
        ("K80", "3.7"),
        ("K40", "3.5"),
        ("B200", "10.0"),
        ("NVIDIA GB200", "10.0"),
        ("GB200 NVL72", "10.0"),
        ("B300", "10.3"),
        ("NVIDIA B300 SXM6 AC", "10.3"),
        ("GB300", "10.3"),
        ("GB10", "12.1"),
        ("DGX Spark", "12.1"),
        ("NVIDIA Thor", "11.0"),
        ("Orin (nvgpu)", "8.7"),
        ("AGX Orin", "8.7"),
        ("Jetson Nano", "5.3"),
        ("agx xavier", "7.2"),
    ] {
        match tables().gpu(name) {
            GpuLookup::Found(row) => assert_eq!(row.cc, [cc(expected)], "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn names_of_several_chips_are_ambiguous() {
    for (name, expected) in [
        ("GT 730", &["2.1", "3.0", "3.5"][..]),
        ("GeForce GT 730 2GB", &["2.1", "3.0", "3.5"]),
        ("gt1030", &["3.0", "6.1"]),
        ("RTX 6000", &["7.5", "8.9", "12.0"]),
        ("rtx-4000", &["7.5", "8.9"]),
        ("NVIDIA TITAN X", &["5.2", "6.1"]),
    ] {
        let expected: Vec<_> = expected.iter().map(|text| cc(text)).collect();
        match tables().gpu(name) {
            GpuLookup::Ambiguous { capabilities, .. } => {
                assert_eq!(capabilities, expected, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn every_name_and_alias_of_the_table_is_found() {
    for row in tables().gpus() {
        for name in std::iter::once(&row.name).chain(&row.aliases) {
            for spelling in [
                name.clone(),
                format!("NVIDIA {name}"),
                name.to_uppercase(),
                name.replace(' ', "_"),
            ] {
                match tables().gpu(&spelling) {
                    GpuLookup::Found(found) => assert_eq!(found.cc, row.cc, "{spelling}"),
                    GpuLookup::Ambiguous { capabilities, .. } => {
                        assert!(
                            row.cc.iter().all(|cc| capabilities.contains(cc)),
                            "{spelling}"
                        );
                    }
                    GpuLookup::Unknown { .. } => panic!("{spelling}"),
                }
            }
        }
    }
}

#[test]
fn unknown_names_suggest_at_most_three() {
    let nearest = |name: &str| match tables().gpu(name) {
        GpuLookup::Unknown { nearest } => nearest,
        other => panic!("{name}: {other:?}"),
    };
    assert!(nearest("RTX 5900").contains(&"GeForce RTX 5090".to_owned()));
    assert!(nearest("H10O").contains(&"H100".to_owned()));
    for name in [
        "RTX 5900", "H10O", "A10O", "", "-", "nvidia", "MIG", "4000", "10C", "80GB",
    ] {
        assert!(nearest(name).len() <= 3, "{name}");
    }
    assert_eq!(nearest("Radeon Pro V520 of another vendor"), [""; 0]);
}

#[test]
fn ptx_versions_need_the_driver_of_their_cuda_version() {
    // cuda-bindings _ptx_utils.py and the PTX ISA release history
    for (isa, cuda, branch, linux) in [
        ("4.3", "7.5", 352, None),
        ("7.5", "11.5", 495, Some("495.29.05")),
        ("8.4", "12.4", 550, Some("550.54.14")),
        ("8.5", "12.5", 555, Some("555.42.02")),
        ("8.6", "12.7", 565, Some("565.57.01")),
        ("8.7", "12.8", 570, Some("570.26")),
        ("9.0", "13.0", 580, Some("580.65.06")),
        ("9.5", "13.5", 620, None),
    ] {
        let row = tables().ptx(isa.parse().unwrap()).unwrap();
        assert_eq!(row.cuda.to_string(), cuda, "{isa}");
        assert_eq!(row.branch, Some(DriverBranch(branch)), "{isa}");
        let first = row.first_driver(Os::Linux).map(ToString::to_string);
        assert_eq!(first.as_deref(), linux, "{isa}");
    }
    for isa in ["7.9", "8.9", "9.6", "10.0"] {
        assert_eq!(tables().ptx(isa.parse().unwrap()), None, "{isa}");
    }
}

#[test]
fn runtimes_have_the_floor_of_minor_version_compatibility() {
    // Release notes, table "CUDA Toolkit and Minimum Required Driver Version"
    for (major, os, expected) in [
        (10, Os::Linux, None),
        (11, Os::Linux, Some("450.80.02")),
        (11, Os::Windows, Some("452.39")),
        (12, Os::Linux, Some("525.60.13")),
        (12, Os::Windows, Some("528.33")),
        (13, Os::Linux, Some("R580")),
        (13, Os::Windows, Some("R580")),
        (14, Os::Linux, None),
        (12, Os::MacOs, None),
    ] {
        let floor = tables().runtime_floor(major, os);
        let driver = floor.map(|floor| floor.driver.to_string());
        assert_eq!(driver.as_deref(), expected, "{major} {os}");
    }
}

#[test]
fn zstd_needs_the_driver_of_cuda_12_4() {
    let driver = |coding, os| {
        let floor = tables().compression_floor(coding, os);
        floor.map(|floor| floor.driver.clone())
    };
    assert_eq!(
        driver("zstd", Os::Linux),
        Some(DriverSpec::Exact("550.54.14".parse().unwrap()))
    );
    assert_eq!(
        driver("zstd", Os::Windows),
        Some(DriverSpec::Exact("551.61".parse().unwrap()))
    );
    assert_eq!(driver("lz4", Os::Linux), None);
}

#[test]
fn capabilities_begin_and_end_with_the_drivers_that_know_them() {
    // Open-module README tables; CUDA toolkit, driver and architecture matrix
    for (text, branch, linux, last) in [
        ("3.5", None, None, Some(470)),
        ("2.1", None, None, Some(390)),
        ("5.2", Some(352), None, Some(580)),
        ("6.1", Some(367), None, Some(580)),
        ("7.0", Some(384), None, Some(580)),
        ("7.5", Some(410), None, None),
        ("8.0", Some(450), None, None),
        ("8.6", Some(455), None, None),
        ("8.9", Some(520), Some("520.56.06"), None),
        ("9.0", Some(520), Some("520.56.06"), None),
        ("10.0", Some(570), Some("570.86.15"), None),
        ("10.3", Some(580), Some("580.82.07"), None),
        ("10.7", Some(615), None, None),
        ("12.0", Some(570), Some("570.86.16"), None),
        ("12.1", Some(580), Some("580.94.13"), None),
    ] {
        let row = tables().capability(cc(text)).unwrap();
        let first = row.first_driver.as_ref();
        let first_branch = first.and_then(|first| first.branch);
        assert_eq!(first_branch, branch.map(DriverBranch), "{text}");
        let first_linux = first.and_then(|first| first.linux.as_ref());
        assert_eq!(
            first_linux.map(ToString::to_string).as_deref(),
            linux,
            "{text}"
        );
        assert_eq!(row.last_branch, last.map(DriverBranch), "{text}");
    }
    assert_eq!(tables().capability(cc("9.9")), None);
}

#[test]
fn families_and_tegra_are_as_ptxas_and_the_programming_guide_say() {
    for (text, expected) in [
        ("10.0", &["10.0", "10.3", "10.7"][..]),
        ("10.3", &["10.3", "10.7"]),
        ("12.0", &["12.0", "12.1"]),
        ("11.0", &["11.0"]),
        ("9.0", &[]),
        ("8.0", &[]),
    ] {
        let expected: Vec<_> = expected.iter().map(|text| cc(text)).collect();
        assert_eq!(
            tables().capability(cc(text)).unwrap().family,
            expected,
            "{text}"
        );
    }
    let tegra = tables().capabilities().iter().filter(|row| row.tegra);
    let tegra: Vec<_> = tegra.map(|row| row.cc.to_string()).collect();
    assert_eq!(
        tegra,
        ["3.2", "5.3", "6.2", "7.2", "8.7", "8.8", "10.1", "11.0"]
    );
    let renamed = tables().capability(cc("10.1")).unwrap().renamed_to;
    assert_eq!(renamed, Some(cc("11.0")));
}

#[test]
fn drivers_belong_to_branches() {
    let branch = |text: &str, os| {
        let row = tables().branch_of(&text.parse().unwrap(), os);
        row.map(|row| (row.branch.0, row.cuda.to_string()))
    };
    for (driver, os, expected) in [
        ("550.54.15", Os::Linux, Some((550, "12.4"))),
        ("590.48.01", Os::Linux, Some((590, "13.1"))),
        ("616.00", Os::Linux, Some((615, "13.4"))),
        ("617.14", Os::Linux, None),
        ("551.61", Os::Linux, None),
        ("551.61", Os::Windows, Some((550, "12.4"))),
        ("528.33", Os::Windows, Some((525, "12.0"))),
        ("570.65", Os::Windows, Some((570, "12.8"))),
        ("617.14", Os::Windows, Some((615, "13.4"))),
        ("555.85", Os::Windows, Some((555, "12.5"))),
        ("472.50", Os::Windows, Some((470, "11.4"))),
        ("534.10", Os::Windows, None),
        ("700.10", Os::Linux, None),
        ("550.54.15", Os::MacOs, None),
    ] {
        let expected = expected.map(|(number, cuda)| (number, cuda.to_owned()));
        assert_eq!(branch(driver, os), expected, "{driver} {os}");
    }
    assert_eq!(tables().branches().len(), 39);
    assert!(
        tables()
            .branch(DriverBranch(580))
            .unwrap()
            .supports(cc("6.1"))
    );
    assert!(
        !tables()
            .branch(DriverBranch(590))
            .unwrap()
            .supports(cc("6.1"))
    );
}

#[test]
fn toolkits_build_for_what_they_list() {
    let toolkit = |text: &str| tables().toolkit(text.parse().unwrap());
    assert_eq!(tables().toolkits().len(), 32);
    assert!(!toolkit("12.7").unwrap().released);
    assert_eq!(
        toolkit("13.0").unwrap().default_target,
        "sm_75".parse().ok()
    );
    assert_eq!(
        toolkit("12.9").unwrap().default_target,
        "sm_52".parse().ok()
    );
    assert_eq!(toolkit("13.6"), None);
    for (target, first, last) in [
        ("sm_61", "8.0", Some("12.9")),
        ("sm_89", "11.8", None),
        ("sm_90a", "12.0", None),
        ("sm_100f", "12.9", None),
        ("sm_101", "12.8", Some("12.9")),
        ("sm_110", "13.0", None),
    ] {
        let row = tables().sm(target.parse().unwrap()).unwrap();
        assert_eq!(row.first_toolkit, first.parse().ok(), "{target}");
        assert_eq!(
            row.last_toolkit,
            last.map(|t| t.parse().unwrap()),
            "{target}"
        );
    }
}

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
        ("libcusparse.so.12", Some("cusparse")),
        ("libcusparseLt.so.0", Some("cusparselt")),
        ("libnvshmem_host.so.3", Some("nvshmem")),
        ("libnccl.so.2", Some("nccl")),
        ("libnvJitLink.so.12", Some("nvjitlink")),
        ("libnvrtc-builtins.so.12.4", Some("nvrtc")),
        ("libnvrtc.so.12", Some("nvrtc")),
        ("ptxas", Some("ptxas")),
        ("libnvinfer_plugin.so.10", Some("tensorrt")),
        ("cuTENSOR.dll", Some("cutensor")),
        ("libcuda.so.1", Some("driver")),
        ("libtorch_nvshmem.so", None),
        ("libtorch_cuda.so", None),
        ("libcudart_mine.so", None),
        ("libcublasmp.so.0", None),
        ("LIBCUDART.SO.12", None),
        ("ptxas.py", None),
        ("", None),
    ] {
        let row = tables().vendor(name);
        assert_eq!(row.map(|row| row.component.as_str()), expected, "{name}");
    }
    let vendor = |name| tables().vendor(name).unwrap();
    assert!(vendor("libnvrtc.so.12").compiler);
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
    ] {
        let row = tables().vendor(file).unwrap();
        assert_eq!(row.is_package(package), expected, "{file} {package}");
    }
}

#[test]
fn roles_and_families_hold_for_their_packages_only() {
    let role = |package, path| tables().role(package, path).map(|row| row.role);
    assert_eq!(
        role("sgl_kernel", "sgl_kernel/flash_ops.abi3.so"),
        Some(Role::Side)
    );
    assert_eq!(role("nixl-cu12", "x/nixl_ep_cpp_29.so"), Some(Role::Side));
    assert_eq!(role("sgl-kernel", "sgl_kernel/common_ops.abi3.so"), None);
    assert_eq!(role("mine", "sgl_kernel/flash_ops.abi3.so"), None);
    let family = |package, path| tables().sibling_family(package, path).is_some();
    assert!(family(
        "bitsandbytes",
        "bitsandbytes/libbitsandbytes_cuda128.so"
    ));
    assert!(!family(
        "bitsandbytes",
        "bitsandbytes/libbitsandbytes_cpu.so"
    ));
    assert!(!family("mine", "libbitsandbytes_cuda128.so"));
}

#[test]
fn the_digest_covers_every_file() {
    let digest = tables().digest();
    assert_eq!(digest.len(), 64);
    let mut texts = Texts::BUILTIN;
    texts.libraries = texts.libraries.trim_end();
    assert_ne!(Tables::new(texts).digest(), digest);
}

#[test]
fn files_name_no_local_file_and_no_package_registry() {
    let hosts = ["pypi", "crates", "npmjs", "debian"];
    let hosts = hosts.map(|name| [format!("{name}.org"), format!("{name}.io")]);
    for text in Texts::BUILTIN.all() {
        for word in ["/work/", "/tmp/", "evidence/", "truth/"] {
            assert!(!text.contains(word), "{word}");
        }
        for host in hosts.iter().flatten() {
            assert!(!text.contains(host.as_str()), "{host}");
        }
    }
}
