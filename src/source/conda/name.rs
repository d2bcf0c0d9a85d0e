//! File names of packages, and the names of platforms.
//!
//! Format: CEP 26. The platform is not in the file name.

use crate::platform::{CpuArch, Os, Platform};

/// The parts of `NAME-VERSION-BUILD.conda`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CondaFilename {
    /// The package.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The build string.
    pub build: String,
}

impl CondaFilename {
    /// What a file name says; nothing where it is not that of a package. A name may have dashes, version and build
    /// have none; a version that does not begin with a digit is taken for a part of some other name.
    pub fn parse(file_name: &str) -> Option<Self> {
        let stem = [".conda", ".tar.bz2"]
            .into_iter()
            .find_map(|suffix| file_name.strip_suffix(suffix))?;
        let mut parts = stem.rsplitn(3, '-');
        let (build, version, name) = (parts.next()?, parts.next()?, parts.next()?);
        let named = !name.is_empty()
            && !build.is_empty()
            && version.starts_with(|c: char| c.is_ascii_digit());
        named.then(|| Self {
            name: name.to_owned(),
            version: version.to_owned(),
            build: build.to_owned(),
        })
    }

    /// Whether a file is called a `.conda`, whatever the case of the suffix.
    pub fn is_suffixed(file_name: &str) -> bool {
        let suffix = file_name.len().checked_sub(6);
        let suffix = suffix.and_then(|at| file_name.get(at..));
        suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(".conda"))
    }
}

/// What the platform of a package says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subdir {
    /// `noarch`: any platform, as far as it holds nothing for one.
    Any,
    /// One platform.
    One(Platform),
    /// A platform that no target can have.
    Other,
}

impl Subdir {
    /// What `subdir` says.
    pub fn of(subdir: &str) -> Self {
        let platform = match subdir {
            "noarch" => return Self::Any,
            "linux-64" => Platform::new(Os::Linux, CpuArch::Amd64),
            "linux-aarch64" => Platform::new(Os::Linux, CpuArch::Arm64),
            "linux-32" => Platform::new(Os::Linux, CpuArch::I386),
            "linux-ppc64le" => Platform::new(Os::Linux, CpuArch::Ppc64le),
            "win-64" => Platform::new(Os::Windows, CpuArch::Amd64),
            "win-32" => Platform::new(Os::Windows, CpuArch::I386),
            "win-arm64" => Platform::new(Os::Windows, CpuArch::Arm64),
            "osx-64" => Platform::new(Os::MacOs, CpuArch::Amd64),
            "osx-arm64" => Platform::new(Os::MacOs, CpuArch::Arm64),
            _ => return Self::Other,
        };
        Self::One(platform)
    }

    /// The platform whose binaries lie below a directory of `targets/`, as the CUDA packages have them, also of
    /// packages for any platform: `targets/x86_64-linux/lib/libcudart.so.12`.
    pub fn of_targets(path: &str) -> Option<Platform> {
        let (machine, _) = path.strip_prefix("targets/")?.split_once('/')?;
        let arch = match machine {
            "x86_64-linux" => CpuArch::Amd64,
            "sbsa-linux" | "aarch64-linux" => CpuArch::Arm64,
            "ppc64le-linux" => CpuArch::Ppc64le,
            _ => return None,
        };
        Some(Platform::new(Os::Linux, arch))
    }
}
