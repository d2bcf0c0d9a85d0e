//! Operating systems and CPU architectures, in the spelling of policies: `linux/amd64`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Os {
    /// Linux, and containers on it.
    #[default]
    Linux,
    /// Windows, whose drivers carry other numbers than Linux drivers of the same branch.
    Windows,
    /// macOS, for which no CUDA driver is made any more; packages for it exist.
    MacOs,
}

impl Os {
    /// The name in policies and JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Windows => "windows",
            Self::MacOs => "macos",
        }
    }
}

impl fmt::Display for Os {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A CPU architecture of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuArch {
    /// x86-64.
    Amd64,
    /// 64-bit Arm; both server (SBSA) and Tegra machines.
    Arm64,
    /// 32-bit x86.
    I386,
    /// 64-bit PowerPC, little-endian.
    Ppc64le,
}

impl CpuArch {
    /// The name in policies and JSON, as the Go and OCI worlds spell it.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
            Self::I386 => "386",
            Self::Ppc64le => "ppc64le",
        }
    }
}

impl fmt::Display for CpuArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// An operating system on a CPU architecture: `linux/amd64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    /// The operating system.
    pub os: Os,
    /// The CPU architecture.
    pub arch: CpuArch,
}

impl Platform {
    /// The platforms that a fleet target may name.
    pub const TARGETS: [Self; 3] = [
        Self::new(Os::Linux, CpuArch::Amd64),
        Self::new(Os::Linux, CpuArch::Arm64),
        Self::new(Os::Windows, CpuArch::Amd64),
    ];

    /// A platform from its parts.
    pub const fn new(os: Os, arch: CpuArch) -> Self {
        Self { os, arch }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.arch)
    }
}

impl Serialize for Platform {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that names no platform of a fleet target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a platform: use `linux/amd64`, `linux/arm64` or `windows/amd64`")]
pub struct ParsePlatformError(String);

impl FromStr for Platform {
    type Err = ParsePlatformError;

    /// Parses what a fleet target may name; `x86_64` and `aarch64` are read as `amd64` and `arm64`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelled = text.replace("x86_64", "amd64").replace("aarch64", "arm64");
        Self::TARGETS
            .into_iter()
            .find(|platform| platform.to_string() == spelled)
            .ok_or_else(|| ParsePlatformError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_platforms_of_targets_only() {
        assert_eq!(
            "linux/amd64".parse(),
            Ok(Platform::new(Os::Linux, CpuArch::Amd64))
        );
        assert_eq!(
            "linux/aarch64".parse(),
            Ok(Platform::new(Os::Linux, CpuArch::Arm64))
        );
        for text in [
            "",
            "linux",
            "amd64",
            "macos/arm64",
            "windows/arm64",
            "Linux/amd64",
        ] {
            assert!(text.parse::<Platform>().is_err(), "{text}");
        }
    }
}
