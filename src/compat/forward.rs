//! Whether a forward compatibility package gives a host a newer user-mode driver.
//!
//! Rules of NVIDIA's forward compatibility document and of the note that the package's `libcuda.so` carries since
//! about R575; without a note, the table of packages decides. Such a driver accepts what its own branch accepts:
//! newer runtimes, newer PTX, newer compression. What the kernel driver must know stays with the host: the first
//! driver for a GPU is not lowered.

use super::driver::Driver;
use crate::cuda::{ComputeCapability, DriverBranch, DriverSpec, DriverVersion, ToolkitVersion};
use crate::device::ForwardNote;
use crate::platform::Os;
use crate::tables::{ForwardCompat, GpuClass, GpuRow, Tables};

/// A forward compatibility package in an image.
#[derive(Debug, Clone, Default)]
pub struct Package<'a> {
    /// The driver that it is, by the name of its `libcuda.so`.
    pub driver: Option<DriverVersion>,
    /// The CUDA version that it is called after: `12.4` of `cuda-compat-12-4`.
    pub cuda: Option<ToolkitVersion>,
    /// What its driver says of itself.
    pub note: Option<&'a ForwardNote>,
    /// Whether programs load it whatever the host has: by `LD_LIBRARY_PATH`, or by `00-compat-*.conf`.
    pub forced: bool,
}

impl Package<'_> {
    /// The CUDA version that it gives.
    pub fn gives(&self, tables: &Tables) -> Option<ToolkitVersion> {
        let of_driver = |version| Some(tables.branch_of(version, Os::Linux)?.cuda);
        let note = self.note.map(|note| note.cuda);
        note.or(self.cuda)
            .or_else(|| self.driver.as_ref().and_then(of_driver))
    }

    /// The branch that its driver is of.
    pub fn branch(&self, tables: &Tables) -> Option<DriverBranch> {
        let named = self.driver.as_ref();
        if let Some(row) = named.and_then(|version| tables.branch_of(version, Os::Linux)) {
            return Some(row.branch);
        }
        let cuda = self.gives(tables)?;
        let row = tables.branches().iter().find(|row| row.cuda == cuda);
        row.map(|row| row.branch)
    }
}

/// What a forward compatibility package does on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forward {
    /// Nothing: the host's driver is as new, and is used.
    NotNeeded,
    /// It is used.
    Applies {
        /// The CUDA version that programs see.
        cuda: ToolkitVersion,
        /// The branch of the user-mode driver.
        branch: DriverBranch,
        /// Whether images of that release started on the host's branch, which has ended since.
        once: bool,
    },
    /// CUDA fails where programs load it; the host's own driver is used where they do not.
    Fails(ForwardFailure),
    /// It is not known.
    Unknown(ForwardUnsure),
}

/// Why CUDA does not start with the package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForwardFailure {
    /// Its driver does not work on the kernel driver: error 803, `cudaErrorSystemDriverMismatch`.
    Host,
    /// It is not made for such GPUs: error 804, `cudaErrorCompatNotSupportedOnDevice`.
    Gpu,
    /// Its branch no longer drives the GPU, which the host's driver still does.
    DroppedGpu(DriverBranch),
    /// It is for Linux only; under WSL the driver is that of Windows.
    System,
}

impl ForwardFailure {
    /// The number of the error, where one is documented.
    pub const fn error(self) -> Option<u16> {
        match self {
            Self::Host => Some(803),
            Self::Gpu => Some(804),
            Self::DroppedGpu(_) | Self::System => None,
        }
    }
}

/// Why it is not known what a package does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForwardUnsure {
    /// No driver is given.
    NoDriver,
    /// Nothing says which CUDA version it gives.
    Package,
    /// No document names this package and this host together.
    Host,
    /// It depends on the GPU's brand, or the document calls only some of its class supported.
    Gpu,
}

/// What `package` does on `host` with a GPU of capability `cc`, which `gpu` names where it is known.
pub fn forward(
    package: &Package<'_>,
    host: &Driver<'_>,
    cc: ComputeCapability,
    gpu: Option<&GpuRow>,
    tables: &Tables,
) -> Forward {
    if host.os() != Os::Linux {
        return Forward::Fails(ForwardFailure::System);
    }
    let Some(number) = host.known_branch() else {
        return Forward::Unknown(match host.spec() {
            None => ForwardUnsure::NoDriver,
            Some(_) => ForwardUnsure::Host,
        });
    };
    let (Some(cuda), Some(branch)) = (package.gives(tables), package.branch(tables)) else {
        return Forward::Unknown(ForwardUnsure::Package);
    };
    if is_newer(host, number, package, branch) {
        return if package.forced && number > branch {
            // an older user-mode driver on a newer kernel driver
            Forward::Fails(ForwardFailure::Host)
        } else {
            Forward::NotNeeded
        };
    }
    let last = tables.capability(cc).and_then(|row| row.last_branch);
    if let Some(last) = last.filter(|last| branch > *last) {
        return Forward::Fails(ForwardFailure::DroppedGpu(last));
    }
    let on_host = match package.note.and_then(|note| note.drivers.as_ref()) {
        Some(drivers) if drivers.contains(&number.0) => ForwardCompat::Supported,
        Some(_) => ForwardCompat::Unsupported,
        // one without lists is of Orin, where the table has no say
        None if package.note.is_some() => ForwardCompat::Unknown,
        None => tables.forward_compat(cuda, number),
    };
    let once = match on_host {
        ForwardCompat::Supported => false,
        ForwardCompat::SupportedOnce => true,
        ForwardCompat::NotNeeded => return Forward::NotNeeded,
        ForwardCompat::Unsupported => return Forward::Fails(ForwardFailure::Host),
        ForwardCompat::Unknown => return Forward::Unknown(ForwardUnsure::Host),
    };
    match on_gpu(package.note, gpu, tables) {
        Some(true) => Forward::Applies { cuda, branch, once },
        Some(false) => Forward::Fails(ForwardFailure::Gpu),
        None => Forward::Unknown(ForwardUnsure::Gpu),
    }
}

/// Whether the host's driver is as new as the package: by exact versions where both are known, else by branch.
fn is_newer(
    host: &Driver<'_>,
    number: DriverBranch,
    package: &Package<'_>,
    branch: DriverBranch,
) -> bool {
    match (host.spec(), &package.driver) {
        (Some(DriverSpec::Exact(host)), Some(package)) => host >= package,
        _ => number >= branch,
    }
}

/// Whether it is made for a GPU; none where that is not known.
fn on_gpu(note: Option<&ForwardNote>, gpu: Option<&GpuRow>, tables: &Tables) -> Option<bool> {
    let gpu = gpu?;
    let brands = tables.brands_of(gpu);
    if let Some(devices) = note.and_then(|note| note.devices.as_ref()) {
        let mut allowed = brands.iter().map(|brand| {
            let row = tables.brands().iter().find(|row| row.brand == *brand);
            row.is_some_and(|row| devices.contains(&row.id))
        });
        let first = allowed.next()?;
        return allowed.all(|other| other == first).then_some(first);
    }
    // the document: data centre GPUs, selected RTX GPUs, Jetson with packages of its own
    match gpu.class {
        GpuClass::Datacenter => Some(true),
        GpuClass::Geforce => Some(false),
        GpuClass::Mobile if gpu.name.starts_with("GeForce") => Some(false),
        GpuClass::Mobile | GpuClass::Workstation | GpuClass::Tegra | GpuClass::Other => None,
    }
}

/// The driver whose runtime, PTX and compression floors count: that of the package where it applies, else the host's.
///
/// Whether the kernel driver knows the GPU is still a matter of the host's.
pub fn user_mode<'t>(
    forward: &Forward,
    package: &Package<'_>,
    host: &Driver<'t>,
    tables: &'t Tables,
) -> Driver<'t> {
    match (forward, &package.driver) {
        (Forward::Applies { .. }, Some(version)) => {
            Driver::new(Some(DriverSpec::Exact(version.clone())), Os::Linux, tables)
        }
        (Forward::Applies { branch, .. }, None) => {
            Driver::new(Some(DriverSpec::Branch(*branch)), Os::Linux, tables)
        }
        _ => host.clone(),
    }
}

#[cfg(test)]
mod tests;
