//! GPUs by name, against NVIDIA's lists.

use super::super::Tables;
use super::*;

fn cc(text: &str) -> ComputeCapability {
    text.parse().unwrap()
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
        ("RTX 4090 Laptop", "8.9"),
        ("RTX 3070 Mobile", "8.6"),
        ("RTX 2060 Max-Q", "7.5"),
        ("RTX PRO 6000 Blackwell Max-Q", "12.0"),
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
        ("Tesla V100", "7.0"),
        ("Tesla A100", "8.0"),
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
        match Tables::builtin().gpu(name) {
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
        match Tables::builtin().gpu(name) {
            GpuLookup::Ambiguous { capabilities, .. } => {
                assert_eq!(capabilities, expected, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn every_name_and_alias_of_the_table_is_found() {
    for row in Tables::builtin().gpus() {
        for name in std::iter::once(&row.name).chain(&row.aliases) {
            for spelling in [
                name.clone(),
                format!("NVIDIA {name}"),
                name.to_uppercase(),
                name.replace(' ', "_"),
            ] {
                match Tables::builtin().gpu(&spelling) {
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
    let nearest = |name: &str| match Tables::builtin().gpu(name) {
        GpuLookup::Unknown { nearest } => nearest,
        other => panic!("{name}: {other:?}"),
    };
    assert!(nearest("RTX 5900").contains(&"GeForce RTX 5090".to_owned()));
    assert!(nearest("4000").contains(&"Quadro 4000".to_owned()));
    assert_eq!(nearest("RTX 3080 Max-Q")[0], "GeForce RTX 3080 Laptop GPU");
    assert!(nearest("H10O").contains(&"H100".to_owned()));
    for name in [
        "RTX 5900", "H10O", "A10O", "", "-", "nvidia", "MIG", "4000", "10C", "80GB",
    ] {
        assert!(nearest(name).len() <= 3, "{name}");
    }
    assert_eq!(nearest("Radeon Pro V520 of another vendor"), [""; 0]);
}
