//! The environment variables and labels of an image that speak of GPUs, as typed facts.
//!
//! Variables that no fact comes from are not kept: environments hold secrets. Meanings follow the NVIDIA
//! Container Toolkit (`internal/config/image`, `nvidia-container-runtime-hook`) and the images of NVIDIA.

use std::collections::{BTreeMap, BTreeSet};

use super::arch_list::ArchList;
use super::require::{self, Requirements};
use crate::cuda::{DriverVersion, ToolkitVersion};
use crate::tables::Tables;

/// Which driver libraries the runtime puts into the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverCapabilities {
    /// The value of `NVIDIA_DRIVER_CAPABILITIES`; none where it is not set.
    pub declared: Option<String>,
    /// What the container gets by it, as `docker run --gpus` has it.
    pub granted: BTreeSet<String>,
    /// Names that the toolkit does not know: with one of them, the container does not start.
    pub unknown: Vec<String>,
}

impl DriverCapabilities {
    /// Unset, an image gets the defaults, and one of the old kind all; empty, the defaults; `all` is all.
    fn parse(declared: Option<&str>, legacy: bool, tables: &Tables) -> Self {
        let row = tables.driver_capabilities();
        let supported = || row.supported.iter().cloned().collect();
        let mut unknown = Vec::new();
        let granted = match declared {
            None if legacy => supported(),
            None | Some("") => row.default.iter().cloned().collect(),
            Some(text) => {
                let names = text.split(',').map(str::trim);
                let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
                if names.contains(ALL) {
                    supported()
                } else {
                    let is_known = |name: &&str| row.supported.iter().any(|known| known == name);
                    let strange = names.iter().filter(|name| !is_known(name));
                    unknown.extend(strange.map(|name| (*name).to_owned()));
                    let known = names.iter().filter(|name| is_known(name));
                    known.map(|name| (*name).to_owned()).collect()
                }
            }
        };
        Self {
            declared: declared.map(ToOwned::to_owned),
            granted,
            unknown,
        }
    }

    /// Whether the container gets `libcuda.so.1` and the PTX compiler.
    pub fn has_compute(&self) -> bool {
        self.granted.contains("compute")
    }
}

const ALL: &str = "all";

/// Which GPUs the image asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VisibleDevices {
    /// Not said: none, unless who starts it says so; images of the old kind get all.
    Unset,
    /// `void`, or an empty value: no GPU support at all.
    Void,
    /// `none`: driver libraries, and no GPU.
    None,
    /// `all`.
    All,
    /// By index or UUID, as written.
    List(Vec<String>),
}

impl VisibleDevices {
    fn parse(declared: Option<&str>) -> Self {
        let Some(text) = declared else {
            return Self::Unset;
        };
        let devices: Vec<&str> = text
            .split(',')
            .map(str::trim)
            .filter(|device| !device.is_empty())
            .collect();
        match devices.as_slice() {
            [] => Self::Void,
            devices if devices.contains(&"void") => Self::Void,
            devices if devices.contains(&ALL) => Self::All,
            ["none"] => Self::None,
            devices => Self::List(devices.iter().map(|device| (*device).to_owned()).collect()),
        }
    }
}

/// For which kind of machine an image was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostKind {
    /// x86-64.
    Amd64,
    /// 64-bit Arm servers (SBSA), which have a driver like x86-64 machines.
    Sbsa,
    /// Jetson (L4T), whose driver libraries come from the host by mounts of its own.
    Jetson,
}

/// A variable that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvProblem {
    /// Its name.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// What it should be.
    pub expected: &'static str,
}

/// What an image says of GPUs and drivers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageEnv {
    /// What it asks of driver and GPU.
    pub requirements: Requirements,
    /// `CUDA_VERSION`: the toolkit of the base image. NGC writes four parts, of which two are kept.
    pub cuda_version: Option<ToolkitVersion>,
    /// `CUDA_DRIVER_VERSION` of NGC images: the driver that they were built with, and hold in `compat`.
    pub built_with_driver: Option<DriverVersion>,
    /// The CUDA version of the forward compatibility package in `NV_CUDA_COMPAT_PACKAGE`.
    pub compat_package: Option<ToolkitVersion>,
    /// Which driver libraries it gets.
    pub capabilities: DriverCapabilities,
    /// Which GPUs it asks for.
    pub visible: VisibleDevices,
    /// `TORCH_CUDA_ARCH_LIST`: a declaration, not what is there.
    pub torch_archs: Option<ArchList>,
    /// For which kind of machine it was made, by `NVARCH` and marks of Jetson; none where nothing says so.
    pub host_kind: Option<HostKind>,
    /// The marks of Jetson, as `NAME=VALUE`.
    pub jetson_marks: Vec<String>,
    /// The folders of `LD_LIBRARY_PATH` that hold forward compatibility libraries by their names, in order.
    pub compat_folders: Vec<String>,
    /// Variables that are not understood.
    pub problems: Vec<EnvProblem>,
}

/// The variables that facts come from, beside those of [`require`].
const KNOWN: [&str; 9] = [
    require::CUDA_VERSION,
    require::DISABLE,
    CUDA_DRIVER_VERSION,
    COMPAT_PACKAGE,
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_VISIBLE_DEVICES",
    "TORCH_CUDA_ARCH_LIST",
    NVARCH,
    "LD_LIBRARY_PATH",
];
const CUDA_DRIVER_VERSION: &str = "CUDA_DRIVER_VERSION";
const COMPAT_PACKAGE: &str = "NV_CUDA_COMPAT_PACKAGE";
const NVARCH: &str = "NVARCH";

/// Whether facts come from a variable of this name. Others need not be kept, and should not: they may be secrets.
pub fn is_relevant(name: &str) -> bool {
    KNOWN.contains(&name) || name.starts_with(require::PREFIX) || is_jetson(name)
}

/// Variables and labels of L4T images.
fn is_jetson(name: &str) -> bool {
    name.starts_with(require::EXCEPTED) || name.starts_with("L4T_") || name.contains(".l4t.")
}

impl ImageEnv {
    /// Reads the environment, a list of `NAME=VALUE` of which the last of a name counts, and the labels.
    pub fn parse<'v>(
        env: impl IntoIterator<Item = &'v str>,
        labels: impl IntoIterator<Item = (&'v str, &'v str)>,
        tables: &Tables,
    ) -> Self {
        let pairs = env.into_iter().filter_map(|pair| pair.split_once('='));
        let env: BTreeMap<&str, &str> = pairs.filter(|(name, _)| is_relevant(name)).collect();
        let value = |name: &str| env.get(name).copied();
        let requirements = Requirements::parse(&env);
        let mut problems = Vec::new();
        let mut understood = |variable, expected, found: bool| {
            let text = value(variable).filter(|text| !text.is_empty() && !found);
            problems.extend(text.map(|text| EnvProblem {
                variable,
                value: text.to_owned(),
                expected,
            }));
        };
        let cuda_version = value(require::CUDA_VERSION).and_then(toolkit);
        understood(
            require::CUDA_VERSION,
            "a CUDA version such as `12.8.1`",
            cuda_version.is_some(),
        );
        let driver: Option<DriverVersion> =
            value(CUDA_DRIVER_VERSION).and_then(|text| text.parse().ok());
        understood(
            CUDA_DRIVER_VERSION,
            "a driver version such as `570.86.10`",
            driver.is_some(),
        );
        let package = value(COMPAT_PACKAGE).and_then(compat_package);
        understood(
            COMPAT_PACKAGE,
            "a package such as `cuda-compat-12-4`",
            package.is_some(),
        );
        let nvarch = match value(NVARCH) {
            Some("x86_64") => Some(HostKind::Amd64),
            Some("sbsa" | "arm64") => Some(HostKind::Sbsa),
            _ => None,
        };
        understood(NVARCH, "`x86_64` or `sbsa`", nvarch.is_some());
        let labels = labels.into_iter();
        let marks = env
            .iter()
            .map(|(name, value)| (*name, *value))
            .chain(labels);
        let marks = marks.filter(|(name, value)| {
            // NGC images for servers carry an empty one, in case they are run on Jetson
            is_jetson(name) && !value.is_empty()
        });
        let jetson_marks: Vec<String> = marks
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let folders = value("LD_LIBRARY_PATH").unwrap_or_default().split(':');
        let compat_folders =
            folders.filter(|folder| folder.split('/').any(|name| name == "compat"));
        Self {
            cuda_version,
            built_with_driver: driver,
            compat_package: package,
            capabilities: DriverCapabilities::parse(
                value("NVIDIA_DRIVER_CAPABILITIES"),
                requirements.legacy,
                tables,
            ),
            visible: VisibleDevices::parse(value("NVIDIA_VISIBLE_DEVICES")),
            torch_archs: value("TORCH_CUDA_ARCH_LIST")
                .filter(|text| !text.trim().is_empty())
                .map(|text| ArchList::parse(text, tables)),
            host_kind: (!jetson_marks.is_empty())
                .then_some(HostKind::Jetson)
                .or(nvarch),
            compat_folders: compat_folders.map(ToOwned::to_owned).collect(),
            jetson_marks,
            requirements,
            problems,
        }
    }
}

/// `12.8`, `12.8.1` and `12.8.0.038`, as the first two parts.
fn toolkit(text: &str) -> Option<ToolkitVersion> {
    let mut parts = text.splitn(3, '.');
    let (major, minor) = (parts.next()?, parts.next()?);
    let rest = parts.next().unwrap_or("0");
    let numbers = |text: &str| {
        let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        text.split('.').count() <= 2 && text.split('.').all(plain)
    };
    numbers(rest).then(|| format!("{major}.{minor}").parse().ok())?
}

/// `cuda-compat-12-4`, with `=VERSION` or a name of a variant behind it.
fn compat_package(text: &str) -> Option<ToolkitVersion> {
    let name = text.split('=').next()?.strip_prefix("cuda-compat-")?;
    let name = name.strip_prefix("orin-").unwrap_or(name);
    let (major, minor) = name.split_once('-')?;
    format!("{major}.{minor}").parse().ok()
}

#[cfg(test)]
mod tests;
