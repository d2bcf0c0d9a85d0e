//! Which tags of wheels a machine supports, and in which order an installer prefers them.
//!
//! Format: PEP 425, PEP 600 (`manylinux`), PEP 656 (`musllinux`), PEP 703 (`cp313t`), PEP 803 (`abi3t`). The order is
//! that of `packaging.tags` 26.4, but for `linux_*`: `packaging` puts it before `manylinux` since version 24, uv puts it
//! last, as `packaging` did before, and so does this.
//!
//! A rank is computed from the tag; no list of all tags is made.

use crate::platform::{CpuArch, Os, Platform};
use crate::source::wheel::WheelFilename;

use super::super::environment::{Environment, Libc, PythonVersion};

/// The tags of one machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tags {
    platform: Platform,
    libc: Libc,
    python: Option<PythonVersion>,
}

/// How well a wheel fits: the least rank is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// The Python tag with the ABI tag, and whether the platform is `any`.
    pair: u16,
    /// The platform tag.
    platform: u32,
}

/// Where the pairs of a kind begin; a kind has fewer than 300, since the minor version is a byte.
const PY_ON_PLATFORM: u16 = 300;
const ANY_PLATFORM: u16 = 600;

impl Tags {
    /// Those of `environment` with `python`; without one, those that every `CPython` supports, and the stable ABI of
    /// all.
    pub(super) fn new(environment: &Environment, python: Option<PythonVersion>) -> Self {
        Self {
            platform: environment.platform,
            libc: environment.libc,
            python,
        }
    }

    /// The best rank among all the tags of a wheel; none where it cannot be installed.
    pub(super) fn rank(&self, wheel: &WheelFilename) -> Option<Rank> {
        let platforms = wheel.platform.to_ascii_lowercase();
        let platform = self.platform_rank_of(&platforms);
        let any = platforms.split('.').any(|tag| tag == "any");
        let pairs = wheel.python_tags();
        let best = |rank: &dyn Fn(&str, &str) -> Option<u16>| {
            let pairs = pairs.iter().map(|pair| pair.to_ascii_lowercase());
            pairs
                .filter_map(|pair| pair.split_once('-').and_then(|(p, a)| rank(p, a)))
                .min()
        };
        let on_platform = platform.and_then(|platform| {
            let pair = best(&|python, abi| self.pair_on_platform(python, abi))?;
            Some(Rank { pair, platform })
        });
        on_platform.or_else(|| {
            let pair = best(&|python, abi| self.pair_on_any(python, abi)).filter(|_| any)?;
            Some(Rank { pair, platform: 0 })
        })
    }

    /// Whether a wheel is for the platform, whatever its Python.
    pub(super) fn has_platform_of(&self, wheel: &WheelFilename) -> bool {
        let platforms = wheel.platform.to_ascii_lowercase();
        platforms.split('.').any(|tag| tag == "any") || self.platform_rank_of(&platforms).is_some()
    }

    fn major(&self) -> u8 {
        self.python.map_or(3, |python| python.major)
    }

    /// The minor version; a Python that is not known supports what any does, and so is newer than all.
    fn minor(&self) -> u8 {
        self.python.map_or(u8::MAX, |python| python.minor)
    }

    fn pair_on_platform(&self, python: &str, abi: &str) -> Option<u16> {
        if let Some(version) = python.strip_prefix("cp") {
            return self.cpython_pair(version, abi);
        }
        (abi == "none").then_some(())?;
        Some(PY_ON_PLATFORM + self.py_order(python)?)
    }

    fn pair_on_any(&self, python: &str, abi: &str) -> Option<u16> {
        (abi == "none").then_some(())?;
        if let Some(version) = python.strip_prefix("cp") {
            let own = self.python.is_some() && version_of(version)? == (self.major(), self.minor());
            return own.then_some(ANY_PLATFORM);
        }
        Some(ANY_PLATFORM + 1 + self.py_order(python)?)
    }

    fn cpython_pair(&self, version: &str, abi: &str) -> Option<u16> {
        let (major, minor) = version_of(version)?;
        let newer_by = self
            .minor()
            .checked_sub(minor)
            .filter(|_| major == self.major())?;
        let free_threaded = self.python.is_some_and(|python| python.free_threaded);
        let stable = if free_threaded { "abi3t" } else { "abi3" };
        // PEP 384 begins with Python 3.2
        if abi == stable && major == 3 && minor >= 2 {
            return Some(if newer_by == 0 {
                1
            } else {
                2 + u16::from(newer_by)
            });
        }
        let own = newer_by == 0 && self.python.is_some();
        match abi {
            "none" if own => Some(2),
            abi if own && self.is_own_abi(version, abi) => Some(0),
            _ => None,
        }
    }

    /// Whether it is the ABI of this Python: `cp312`, `cp313t`, and `cp37m` before Python 3.8.
    fn is_own_abi(&self, version: &str, abi: &str) -> bool {
        let flags = match self.python {
            Some(python) if python.free_threaded => "t",
            Some(python) if (python.major, python.minor) < (3, 8) => "m",
            _ => "",
        };
        let rest = abi.strip_prefix("cp").and_then(|a| a.strip_prefix(version));
        rest == Some(flags)
    }

    /// The place among `py312`, `py3`, `py311`, ... `py30`.
    fn py_order(&self, python: &str) -> Option<u16> {
        let version = python.strip_prefix("py")?;
        if version.len() == 1 {
            return (version == self.major().to_string()).then_some(1);
        }
        let (major, minor) = version_of(version)?;
        let newer_by = self
            .minor()
            .checked_sub(minor)
            .filter(|_| major == self.major())?;
        Some(if newer_by == 0 {
            0
        } else {
            1 + u16::from(newer_by)
        })
    }

    fn platform_rank_of(&self, platforms: &str) -> Option<u32> {
        let ranks = platforms
            .split('.')
            .filter_map(|tag| self.platform_rank(tag));
        ranks.min()
    }

    fn platform_rank(&self, tag: &str) -> Option<u32> {
        let arch = self.platform.arch;
        match self.platform.os {
            Os::Linux => {
                let (kind, named) = tag.split_once('_')?;
                let arch = linux_arch(arch);
                match kind {
                    "linux" => (named == arch).then_some(u32::MAX),
                    "musllinux" => self.musl_rank(named.strip_suffix(arch)?),
                    _ => self.glibc_rank(kind, named.strip_suffix(arch)?),
                }
            }
            Os::Windows => {
                let own = match arch {
                    CpuArch::Amd64 => "win_amd64",
                    CpuArch::Arm64 => "win_arm64",
                    CpuArch::I386 => "win32",
                    CpuArch::Ppc64le => return None,
                };
                (tag == own).then_some(0)
            }
            Os::MacOs => macos_rank(tag.strip_prefix("macosx_")?, arch),
        }
    }

    /// The rank of `manylinux_2_28_`, `manylinux2014_` (PEP 599), `manylinux2010_` (PEP 571) and `manylinux1_`
    /// (PEP 513); `version` is what stands between the kind and the architecture.
    fn glibc_rank(&self, kind: &str, version: &str) -> Option<u32> {
        let Libc::Glibc(glibc) = self.libc else {
            return None;
        };
        let (needs, legacy) = match (kind, version) {
            ("manylinux", version) => (numbers(version.strip_suffix('_')?)?, false),
            ("manylinux2014", "") => ((2, 17), true),
            ("manylinux2010", "") => ((2, 12), true),
            ("manylinux1", "") => ((2, 5), true),
            _ => return None,
        };
        // the oldest that `packaging` knows for each architecture
        let oldest = match self.platform.arch {
            CpuArch::Amd64 | CpuArch::I386 => (2, 5),
            CpuArch::Arm64 | CpuArch::Ppc64le => (2, 17),
        };
        let fits = needs >= oldest && glibc.is_none_or(|glibc| needs <= glibc);
        fits.then(|| age(needs) * 2 + u32::from(legacy))
    }

    /// The rank of `musllinux_1_2_`. A program for one major version runs with no other (PEP 656).
    fn musl_rank(&self, version: &str) -> Option<u32> {
        let Libc::Musl(musl) = self.libc else {
            return None;
        };
        let needs = numbers(version.strip_suffix('_')?)?;
        let fits = musl.is_none_or(|musl| needs.0 == musl.0 && needs.1 <= musl.1);
        fits.then(|| age(needs))
    }
}

/// `x86_64` and so on, as Linux calls it.
fn linux_arch(arch: CpuArch) -> &'static str {
    match arch {
        CpuArch::Amd64 => "x86_64",
        CpuArch::Arm64 => "aarch64",
        CpuArch::I386 => "i686",
        CpuArch::Ppc64le => "ppc64le",
    }
}

/// The rank of `11_0_arm64` on the newest macOS.
fn macos_rank(rest: &str, arch: CpuArch) -> Option<u32> {
    let mut parts = rest.splitn(3, '_');
    let (major, minor) = (number(parts.next()?)?, number(parts.next()?)?);
    let formats: &[&str] = match (arch, major) {
        (CpuArch::Amd64, _) => &[
            "x86_64",
            "intel",
            "fat64",
            "fat3",
            "universal2",
            "universal",
        ],
        (CpuArch::Arm64, 11..) => &["arm64", "universal2"],
        // arm64 came with macOS 11; older universal2 wheels hold it all the same
        (CpuArch::Arm64, _) => &["universal2"],
        _ => return None,
    };
    let format = parts.next()?;
    let format = (0..).zip(formats).find(|(_, name)| **name == format)?.0;
    // since macOS 11 the tags of a year have the minor version 0
    let known = (major == 10 && (4..=16).contains(&minor)) || (major >= 11 && minor == 0);
    known.then(|| age((major, minor)).saturating_mul(8).saturating_add(format))
}

/// The newer the version, the less.
fn age((major, minor): (u16, u16)) -> u32 {
    const NEWEST: u32 = 0x00ff_ffff;
    let version = u32::from(major.min(0xff)) << 16 | u32::from(minor);
    NEWEST - version
}

/// `2_28`
fn numbers(text: &str) -> Option<(u16, u16)> {
    let (major, minor) = text.split_once('_')?;
    Some((number(major)?, number(minor)?))
}

/// A number without leading zeros.
fn number(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

/// `312` is 3.12; the major version has one digit.
pub(super) fn version_of(text: &str) -> Option<(u8, u8)> {
    let (major, minor) = text.split_at_checked(1)?;
    Some((
        u8::try_from(number(major)?).ok()?,
        u8::try_from(number(minor)?).ok()?,
    ))
}
