//! The files in which Linux shows devices and drivers. Elsewhere they are not there, and nothing is found.

use std::fs;
use std::path::Path;

use crate::cuda::DriverVersion;
use crate::limits::read_capped;
use crate::platform::Os;
use crate::tables::Tables;

use super::{LocalDriver, LocalGpu, by_name};

/// Bytes of a file that are read: all of these files are short.
const FILE_MAX: u64 = 64 << 10;

const DEVICES: &str = "sys/bus/pci/devices";
const DRIVER: &str = "proc/driver/nvidia/version";
const MODULE: &str = "sys/module/nvidia/version";
const KERNEL: &str = "proc/sys/kernel/osrelease";
const MODEL: &str = "proc/device-tree/model";

/// The vendor id of NVIDIA, as the file `vendor` has it.
const NVIDIA: &str = "0x10de";
/// The beginning of the class of display controllers.
const DISPLAY: &str = "0x03";

fn read(path: &Path) -> Option<String> {
    let (bytes, _more) = read_capped(fs::File::open(path).ok()?, FILE_MAX).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_matches(['\0', ' ', '\n', '\r']).to_owned())
}

/// The NVIDIA GPUs on the PCI bus, by their addresses.
pub(super) fn gpus(root: &Path, tables: &Tables) -> Vec<LocalGpu> {
    let Ok(entries) = fs::read_dir(root.join(DEVICES)) else {
        return Vec::new();
    };
    let mut devices: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    devices.sort();
    let gpu = |device: &std::path::PathBuf| {
        let of = |name: &str| read(&device.join(name));
        if of("vendor")? != NVIDIA || !of("class")?.starts_with(DISPLAY) {
            return None;
        }
        let pci = of("device")?.parse().ok()?;
        let row = tables.pci(&format!("{pci}"));
        (row.is_none_or(|row| row.gpu)).then(|| LocalGpu {
            name: None,
            pci: Some(pci),
            cc: None,
            source: format!("/{DEVICES}"),
        })
    };
    devices.iter().filter_map(gpu).collect()
}

/// The driver that is loaded.
pub(super) fn driver(root: &Path) -> Option<LocalDriver> {
    let found = |file: &str, version: DriverVersion| LocalDriver {
        version,
        cuda: None,
        os: Os::Linux,
        source: format!("/{file}"),
    };
    // `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar …`, or, of the open modules,
    // `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build …`
    let stated = read(&root.join(DRIVER)).and_then(|text| {
        let line = text
            .lines()
            .find(|line| line.starts_with("NVRM version:"))?;
        let is_version =
            |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
        line.split_whitespace().find(is_version)?.parse().ok()
    });
    if let Some(version) = stated {
        return Some(found(DRIVER, version));
    }
    let version = read(&root.join(MODULE))?.parse().ok()?;
    Some(found(MODULE, version))
}

/// Whether Linux runs under Windows.
pub(super) fn is_wsl(root: &Path) -> bool {
    read(&root.join(KERNEL))
        .is_some_and(|release| release.to_ascii_lowercase().contains("microsoft"))
}

/// The GPU of a Tegra board, by the name of the board: `NVIDIA Jetson AGX Orin Developer Kit`.
pub(super) fn tegra(root: &Path, tables: &Tables) -> Option<LocalGpu> {
    let model = read(&root.join(MODEL))?;
    let name = model.strip_prefix("NVIDIA ").unwrap_or(&model);
    // what stands behind the name of the module says which board carries it
    let words: Vec<&str> = name.split_whitespace().collect();
    let (name, cc) = (1..=words.len()).rev().find_map(|count| {
        let name = words.get(..count)?.join(" ");
        let cc = by_name(&name, tables)?;
        Some((name, cc))
    })?;
    Some(LocalGpu {
        name: Some(name),
        pci: None,
        cc: Some(cc),
        source: format!("/{MODEL}"),
    })
}
