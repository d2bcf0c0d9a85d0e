//! What `nvidia-smi` prints.

use crate::cuda::{DriverVersion, ToolkitVersion};
use crate::platform::Os;

use super::{LocalDriver, LocalGpu};

/// Runs `nvidia-smi`.
pub trait Smi {
    /// What it prints with these arguments; nothing where it is not there or fails.
    fn run(&mut self, arguments: &[&str]) -> Option<String>;
}

impl<F: FnMut(&[&str]) -> Option<String>> Smi for F {
    fn run(&mut self, arguments: &[&str]) -> Option<String> {
        self(arguments)
    }
}

/// The name of the source.
const SOURCE: &str = "nvidia-smi";

/// The GPUs that it lists. Drivers before R510 know no `compute_cap`.
pub(super) fn gpus(smi: &mut dyn Smi) -> Vec<LocalGpu> {
    let format = "--format=csv,noheader";
    let with_capability = smi.run(&["--query-gpu=pci.device_id,compute_cap,name", format]);
    if let Some(rows) = with_capability.as_deref().and_then(|text| rows(text, true)) {
        return rows;
    }
    let without = smi.run(&["--query-gpu=pci.device_id,name", format]);
    without
        .as_deref()
        .and_then(|text| rows(text, false))
        .unwrap_or_default()
}

/// One GPU a line; a name may have commas, so it comes last.
fn rows(text: &str, with_capability: bool) -> Option<Vec<LocalGpu>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (id, rest) = line.split_once(',')?;
            let (cc, name) = if with_capability {
                let (cc, name) = rest.split_once(',')?;
                (cc.trim().parse().ok(), name)
            } else {
                (None, rest)
            };
            let id = id.trim();
            // a line that is no row: the text is an error message
            id.starts_with("0x").then(|| LocalGpu {
                name: Some(name.trim().to_owned()).filter(|name| !name.is_empty()),
                pci: id.parse().ok(),
                cc,
                source: SOURCE.to_owned(),
            })
        })
        .collect()
}

/// The driver of its header: `Driver Version: 550.54.15  CUDA Version: 12.4`; from R610 on
/// `KMD Version: 610.43.02  CUDA UMD Version: 13.3`.
pub(super) fn driver(smi: &mut dyn Smi, os: Os) -> Option<LocalDriver> {
    let text = smi.run(&[])?;
    let behind = |label: &str| {
        let (_, rest) = text.split_once(label)?;
        rest.split_whitespace().next()
    };
    let version = behind("Driver Version:").or_else(|| behind("KMD Version:"))?;
    let cuda = behind("CUDA Version:").or_else(|| behind("CUDA UMD Version:"));
    Some(LocalDriver {
        version: version.parse::<DriverVersion>().ok()?,
        cuda: cuda.and_then(|text| text.parse::<ToolkitVersion>().ok()),
        os,
        source: SOURCE.to_owned(),
    })
}
