//! Machines made of files in a temporary directory and of texts as `nvidia-smi` prints them. The shapes are those of
//! public captures; ids and capabilities are those of NVIDIA's device lists.

use std::fs;
use std::path::Path;

use super::{LocalGpu, Machine};
use crate::platform::Platform;
use crate::tables::Tables;

/// Puts files below a directory.
fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// One PCI device.
fn device(at: &str, vendor: &str, class: &str, id: &str) -> Vec<(String, String)> {
    // a colon is no character of a file name everywhere
    let dir = format!("sys/bus/pci/devices/{}", at.replace(':', "_"));
    [("vendor", vendor), ("class", class), ("device", id)]
        .map(|(name, value)| (format!("{dir}/{name}"), format!("{value}\n")))
        .into()
}

fn look(root: &Path, platform: &str, smi: &[(&str, &str)]) -> Machine {
    let platform: Platform = platform.parse().unwrap();
    let mut run = |arguments: &[&str]| {
        let line = arguments.join(" ");
        let found = smi.iter().find(|(wanted, _)| *wanted == line)?;
        Some(found.1.to_owned())
    };
    Machine::look(root, Some(platform), &mut run, Tables::builtin())
}

fn gpus(machine: &Machine) -> Vec<(String, String)> {
    let cc = |gpu: &LocalGpu| gpu.cc.map_or("?".to_owned(), |cc| cc.to_string());
    machine
        .gpus
        .iter()
        .map(|gpu| (gpu.label(), cc(gpu)))
        .collect()
}

fn target(machine: &Machine) -> String {
    machine.target(None, Tables::builtin()).unwrap()
}

const WITH_CAPABILITY: &str = "--query-gpu=pci.device_id,compute_cap,name --format=csv,noheader";
const WITHOUT_CAPABILITY: &str = "--query-gpu=pci.device_id,name --format=csv,noheader";
const HEADER_550: &str = "\
Mon Mar  3 10:00:00 2025
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
";
const HEADER_610: &str = "\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |
+-----------------------------------------+------------------------+----------------------+
";

#[test]
fn finds_gpus_and_driver_in_the_files_of_the_kernel_alone() {
    let mut files = device("0000:01:00.0", "0x10de", "0x030200", "0x2331");
    files.extend(device("0000:01:00.1", "0x10de", "0x040300", "0x22ba"));
    files.extend(device("0000:00:02.0", "0x8086", "0x030000", "0x2331"));
    files.push((
        "proc/driver/nvidia/version".into(),
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (user@host)\n\
         GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"
            .into(),
    ));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let root = root(&files);
    let machine = look(root.path(), "linux/amd64", &[]);
    assert_eq!(
        gpus(&machine),
        [("NVIDIA H100 PCIe".to_owned(), "9.0".to_owned())],
        "one display controller of NVIDIA's; its audio function and the other vendor's are none"
    );
    let driver = machine.driver.as_ref().unwrap();
    assert_eq!(driver.version.to_string(), "580.65.06");
    assert_eq!(driver.source, "/proc/driver/nvidia/version");
    assert_eq!(
        target(&machine),
        "  - name: this-machine\n    gpu: \"NVIDIA H100 PCIe\"\n    driver: \"580.65.06\"\n    platform: linux/amd64\n"
    );
    assert!(machine.notes.is_empty(), "{:?}", machine.notes);
}

#[test]
fn reads_the_closed_module_and_the_version_of_the_module_alone() {
    for (file, text) in [
        (
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\n",
        ),
        ("sys/module/nvidia/version", "470.256.02\n"),
    ] {
        let root = root(&[(file, text)]);
        let machine = look(root.path(), "linux/amd64", &[]);
        let driver = machine.driver.unwrap();
        assert_eq!(driver.version.to_string(), "470.256.02");
        assert_eq!(driver.source, format!("/{file}"));
    }
}

// FORMAT of the header: RULES.md, section 7; it changed with R610.
#[test]
fn reads_both_headers_of_nvidia_smi() {
    let nothing = root(&[]);
    for (header, version, cuda) in [
        (HEADER_550, "550.54.15", "12.4"),
        (HEADER_610, "610.43.02", "13.3"),
    ] {
        let machine = look(nothing.path(), "linux/amd64", &[("", header)]);
        let driver = machine.driver.unwrap();
        assert_eq!(driver.version.to_string(), version);
        assert_eq!(driver.cuda.unwrap().to_string(), cuda);
    }
}

#[test]
fn old_drivers_know_no_capability_and_the_chip_tells_it() {
    let nothing = root(&[]);
    let machine = look(
        nothing.path(),
        "linux/amd64",
        &[
            (
                WITH_CAPABILITY,
                "Field \"compute_cap\" is not a valid field to query.\n",
            ),
            (
                WITHOUT_CAPABILITY,
                "0x102D10DE, Tesla K80\n0x102D10DE, Tesla K80\n",
            ),
        ],
    );
    let k80 = ("Tesla K80".to_owned(), "3.7".to_owned());
    assert_eq!(gpus(&machine), [k80.clone(), k80]);
    assert_eq!(
        target(&machine),
        "  - name: this-machine\n    gpu: \"Tesla K80\"\n    platform: linux/amd64\n"
    );
}

#[test]
fn several_gpus_become_one_target() {
    let nothing = root(&[]);
    let rows =
        "0x268410DE, 8.9, NVIDIA GeForce RTX 4090\n0x2B8510DE, 12.0, NVIDIA GeForce RTX 5090\n";
    let machine = look(
        nothing.path(),
        "linux/amd64",
        &[(WITH_CAPABILITY, rows), ("", HEADER_610)],
    );
    assert_eq!(
        target(&machine),
        "  - name: this-machine\n    gpu: [\"NVIDIA GeForce RTX 4090\", \"NVIDIA GeForce RTX 5090\"]\n    \
         driver: \"610.43.02\"\n    platform: linux/amd64\n"
    );
}

// A name that no table has: what the driver says of its capability is enough.
#[test]
fn an_unknown_gpu_is_given_by_its_capability() {
    let nothing = root(&[]);
    let rows = "0xFFFE10DE, 12.1, NVIDIA Q9 \"new\"\n";
    let machine = look(nothing.path(), "linux/arm64", &[(WITH_CAPABILITY, rows)]);
    assert_eq!(
        target(&machine),
        "  - name: this-machine\n    cc: \"12.1\"\n    platform: linux/arm64\n"
    );
    let unknown = look(
        nothing.path(),
        "linux/arm64",
        &[(WITHOUT_CAPABILITY, "0xFFFE10DE, NVIDIA Q9\n")],
    );
    assert_eq!(unknown.target(None, Tables::builtin()), None);
    assert_eq!(
        unknown.notes,
        ["the compute capability of NVIDIA Q9 is unknown"]
    );
}

#[test]
fn under_wsl_the_driver_is_that_of_windows() {
    let root = root(&[(
        "proc/sys/kernel/osrelease",
        "5.15.153.1-microsoft-standard-WSL2\n",
    )]);
    let header = HEADER_550.replace("Driver Version: 550.54.15", "Driver Version: 551.61");
    let rows = "0x220410DE, 8.6, NVIDIA GeForce RTX 3090\n";
    let machine = look(
        root.path(),
        "linux/amd64",
        &[(WITH_CAPABILITY, rows), ("", &header)],
    );
    assert!(machine.wsl);
    assert_eq!(
        machine.driver.as_ref().unwrap().os,
        crate::platform::Os::Windows
    );
    assert_eq!(
        target(&machine),
        "  - name: this-machine\n    gpu: \"NVIDIA GeForce RTX 3090\"\n    driver: \"551.61\"\n    \
         platform: linux/amd64\n    wsl: true\n"
    );
}

#[test]
fn a_tegra_board_is_known_by_its_model() {
    let root = root(&[(
        "proc/device-tree/model",
        "NVIDIA Jetson AGX Orin Developer Kit\0",
    )]);
    let machine = look(root.path(), "linux/arm64", &[]);
    assert_eq!(
        gpus(&machine),
        [("Jetson AGX Orin".to_owned(), "8.7".to_owned())]
    );
}

#[test]
fn says_where_the_sources_disagree() {
    let mut files = device("0000:01:00.0", "0x10de", "0x030000", "0x2684");
    files.extend(device("0000:02:00.0", "0x10de", "0x030000", "0x2684"));
    files.push(("sys/module/nvidia/version".into(), "550.54.14".into()));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let root = root(&files);
    let rows = "0x268410DE, 9.0, NVIDIA GeForce RTX 4090\n";
    let machine = look(
        root.path(),
        "linux/amd64",
        &[(WITH_CAPABILITY, rows), ("", HEADER_550)],
    );
    assert_eq!(
        machine.notes,
        [
            "2 NVIDIA GPUs are on the bus, and the driver lists 1",
            "the driver says compute capability 9.0, the tables 8.9 for NVIDIA GeForce RTX 4090",
            "/sys/module/nvidia/version says driver 550.54.14, nvidia-smi 550.54.15: restart after a driver update",
        ]
    );
    // the name is of another capability: the driver's word counts
    assert!(target(&machine).contains("cc: \"9.0\""));
}

#[test]
fn a_machine_without_a_gpu_has_no_target() {
    let nothing = root(&[]);
    let machine = look(
        nothing.path(),
        "windows/amd64",
        &[(WITH_CAPABILITY, "No devices were found\n")],
    );
    assert!(machine.gpus.is_empty() && machine.driver.is_none());
    assert_eq!(machine.target(None, Tables::builtin()), None);
}
