//! The GPUs and the driver of this machine, without CUDA: from the files that Linux shows and from `nvidia-smi`.
//!
//! Nothing is loaded into the process and no device is opened. What the two sources say is kept apart until the end:
//! the kernel's files tell which devices are on the bus, `nvidia-smi` which of them the driver drives.

mod paste;
mod smi;
mod sysfs;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::cuda::{ComputeCapability, DriverVersion, ToolkitVersion};
use crate::platform::{Os, Platform};
use crate::tables::{GpuLookup, PciId, Tables};

pub use smi::Smi;

/// This machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// What it runs, where it is a platform that CUDA knows.
    pub platform: Option<Platform>,
    /// Whether it is Linux under Windows, which has the driver of Windows.
    pub wsl: bool,
    /// Its NVIDIA GPUs, in the order of their source.
    pub gpus: Vec<LocalGpu>,
    /// Its driver, where one is installed.
    pub driver: Option<LocalDriver>,
    /// What was found to be odd, for people.
    pub notes: Vec<String>,
}

/// A GPU of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalGpu {
    /// The name that the driver or the tables give it.
    pub name: Option<String>,
    /// Its PCI device id; Tegra has none.
    pub pci: Option<PciId>,
    /// Its compute capability, where the driver or the tables know it.
    pub cc: Option<ComputeCapability>,
    /// Where it was seen.
    pub source: String,
}

/// The driver of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalDriver {
    /// Its version; of the numbers of Windows there and under WSL.
    pub version: DriverVersion,
    /// The CUDA version that it reports.
    pub cuda: Option<ToolkitVersion>,
    /// Whose numbers the version has.
    pub os: Os,
    /// Where it was read.
    pub source: String,
}

impl Machine {
    /// Looks at the files below `root` (`/`) and at what `nvidia-smi` prints, where `smi` can run it.
    pub fn look(
        root: &Path,
        platform: Option<Platform>,
        smi: &mut dyn Smi,
        tables: &Tables,
    ) -> Self {
        let wsl = sysfs::is_wsl(root);
        let mut notes = Vec::new();
        let on_bus = sysfs::gpus(root, tables);
        let driven = smi::gpus(smi);
        if !driven.is_empty() && driven.len() < on_bus.len() {
            notes.push(format!(
                "{} NVIDIA GPUs are on the bus, and the driver lists {}",
                on_bus.len(),
                driven.len()
            ));
        }
        let mut gpus = if driven.is_empty() { on_bus } else { driven };
        for gpu in &mut gpus {
            gpu.complete(tables, &mut notes);
        }
        if gpus.is_empty() {
            gpus.extend(sysfs::tegra(root, tables));
        }
        let windows = wsl || platform.is_some_and(|platform| platform.os == Os::Windows);
        let os = if windows { Os::Windows } else { Os::Linux };
        let printed = smi::driver(smi, os);
        let driver = match (sysfs::driver(root), printed) {
            (Some(loaded), Some(printed)) => {
                if loaded.version != printed.version {
                    notes.push(format!(
                        "{} says driver {}, nvidia-smi {}: restart after a driver update",
                        loaded.source, loaded.version, printed.version
                    ));
                }
                Some(LocalDriver {
                    cuda: printed.cuda,
                    ..loaded
                })
            }
            (loaded, printed) => loaded.or(printed),
        };
        Self {
            platform,
            wsl,
            gpus,
            driver,
            notes,
        }
    }

    /// A fleet target for a policy file, as text to paste; nothing where no GPU's capability is known.
    /// `driver` is put in the place of the driver that was found.
    pub fn target(&self, driver: Option<&str>, tables: &Tables) -> Option<String> {
        paste::target(self, driver, tables)
    }
}

impl LocalGpu {
    /// Fills in from the tables what the source does not say.
    fn complete(&mut self, tables: &Tables, notes: &mut Vec<String>) {
        let row = self.pci.and_then(|id| tables.pci(&id.to_string()));
        let by_id = row.and_then(|row| row.cc);
        let by_name = self.name.as_deref().and_then(|name| by_name(name, tables));
        if let (Some(said), Some(known)) = (self.cc, by_id)
            && said != known
        {
            notes.push(format!(
                "the driver says compute capability {said}, the tables {known} for {}",
                self.label()
            ));
        }
        self.cc = self.cc.or(by_id).or(by_name);
        if self.name.is_none() {
            self.name = row.and_then(|row| row.names.first().or(row.pci_name.as_ref()).cloned());
        }
        if self.cc.is_none() {
            notes.push(format!(
                "the compute capability of {} is unknown",
                self.label()
            ));
        }
    }

    /// Its name, else its id.
    pub fn label(&self) -> String {
        match (&self.name, self.pci) {
            (Some(name), _) => name.clone(),
            (None, Some(id)) => format!("PCI device {id}"),
            (None, None) => "a GPU without a name".to_owned(),
        }
    }
}

/// The capability of the GPUs with this name, where all have the same.
fn by_name(name: &str, tables: &Tables) -> Option<ComputeCapability> {
    let GpuLookup::Found(row) = tables.gpu(name) else {
        return None;
    };
    let [cc] = row.cc[..] else { return None };
    Some(cc)
}
