//! The rule codes: stable names, default levels and the pages that explain them.
//!
//! This is the base of both `policy`, which sets levels by code, and `verdict`, which raises them.
//! When a rule applies is decided in `verdict`; what it means to a person is written in `explain/`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What happens when a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Listed, no effect on the verdict.
    Allow,
    /// Shown, no effect on the verdict unless `--fail-on warn` is given.
    Warn,
    /// Makes the verdict `incomplete`; only `unreadable` has it.
    Incomplete,
    /// Makes the verdict `fail`.
    Deny,
}

impl Level {
    /// The levels that a policy may give to `code`.
    pub fn choices(code: Code) -> &'static [Self] {
        if code == Code::Unreadable {
            &[Self::Warn, Self::Incomplete, Self::Deny]
        } else {
            &[Self::Allow, Self::Warn, Self::Deny]
        }
    }

    /// The name in policies and JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Incomplete => "incomplete",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

macro_rules! codes {
    ($($variant:ident $id:literal $level:ident $title:literal;)*) => {
        /// A rule code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Code {
            $(
                #[doc = $title]
                #[serde(rename = $id)]
                $variant,
            )*
        }

        impl Code {
            /// Every code, in the order of severity that reports use.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The stable name.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id),* }
            }

            /// One line that says what is wrong when the rule applies.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title),* }
            }

            /// The level where no policy sets another.
            pub const fn default_level(self) -> Level {
                match self { $(Self::$variant => Level::$level),* }
            }

            /// The page for `smgate explain`.
            pub const fn page(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!("explain/", $id, ".md"))),* }
            }
        }
    };
}

codes! {
    NoKernelImage "no-kernel-image" Deny "a library has no code that runs on this GPU";
    PtxTooNew "ptx-too-new" Deny "only PTX fits this GPU, and it is newer than the driver's compiler accepts";
    DriverTooOld "driver-too-old" Deny "the driver is older than the code or the GPU needs";
    DriverDroppedGpu "driver-dropped-gpu" Deny "this driver branch no longer drives this GPU";
    CompressionNeedsDriver "compression-needs-driver" Deny "the driver cannot unpack the compression of the fitting code";
    RuntimeLibraryMissing "runtime-library-missing" Deny "what a library needs of CUDA's libraries is nowhere in the environment or image";
    PlatformMismatch "platform-mismatch" Deny "the package is built for another operating system, CPU, Python or C library";
    CpuOnlyBuild "cpu-only-build" Deny "the policy expects GPU code and this build has none";
    NoFileForTarget "no-file-for-target" Deny "a locked package has no file that installs on this target";
    ArchSpecificOnly "arch-specific-only" Warn "a side library holds only architecture-specific code for other GPUs";
    LibraryForNewerGpus "library-for-newer-gpus" Warn "a side library is built for newer GPUs only";
    PartialCoverage "partial-coverage" Warn "part of a library's device code has nothing for this GPU";
    JitOnly "jit-only" Warn "the code is compiled by the driver at first use";
    JitCompilerMismatch "jit-compiler-mismatch" Warn "no compiler that the package carries compiles for this GPU, or its PTX is newer than the driver takes";
    LinkOnly "link-only" Warn "only LTO-IR fits, which must be linked at run time";
    MixedCudaMajors "mixed-cuda-majors" Warn "packages of one environment need libraries of different CUDA major versions";
    TegraCompatibilityUnsure "tegra-compatibility-unsure" Warn "NVIDIA does not promise that this code runs on this Tegra GPU";
    ClaimMismatch "claim-mismatch" Warn "what an image or a conda package says of itself does not fit what is in it, or cannot be met";
    PtxHeaderMismatch "ptx-header-mismatch" Warn "a device image is not built for what its header says";
    BuiltAtInstall "built-at-install" Warn "a source distribution: what it will hold is decided when it is built";
    NotLocked "not-locked" Warn "a requirement without an exact version: what is installed is decided at install";
    DriverNotGiven "driver-not-given" Warn "the target names no driver, so driver rules were not judged";
    DriverUnknown "driver-unknown" Warn "the driver is of no known branch, so whether it drives this GPU was not judged";
    DriverCapabilityMissing "driver-capability-missing" Warn "an image with device code does not ask for the driver that loads it";
    StaleCompatConfig "stale-compat-config" Warn "an image was saved from a running container, with its forward compatibility configuration";
    WaiverExpired "waiver-expired" Warn "a waiver is past its date and no longer applies";
    WaiverUnused "waiver-unused" Warn "a waiver matches nothing";
    ScopeUnused "scope-unused" Warn "a scope is about nothing that was judged";
    BaselineUnused "baseline-unused" Warn "an entry of the baseline matches nothing any more";
    PackagesUnknown "packages-unknown" Warn "a package database was not read, so that its files count as no package's";
    Unreadable "unreadable" Incomplete "something could not be read";
    UnusedArchitectures "unused-architectures" Allow "device code that no target of the policy can use";
    NoForwardPtx "no-forward-ptx" Allow "the main library has no PTX that GPUs of the next generation could compile";
}

impl Code {
    /// Whether it is about the policy or the baseline rather than about what was read: such a finding cannot be
    /// waived, because setting its level says as much.
    pub const fn is_about_policy(self) -> bool {
        matches!(
            self,
            Self::WaiverExpired | Self::WaiverUnused | Self::ScopeUnused | Self::BaselineUnused
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A text that is no rule code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rule code")]
pub struct UnknownCode(String);

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.id() == text)
            .ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_round_trip() {
        for code in Code::ALL {
            assert_eq!(code.id().parse::<Code>().unwrap(), *code);
            assert_eq!(serde_json::to_value(code).unwrap(), code.id());
        }
        assert!("no-kernel-images".parse::<Code>().is_err());
    }

    #[test]
    fn every_page_has_the_four_parts() {
        for code in Code::ALL {
            let page = code.page();
            assert!(page.starts_with(&format!("# {code}\n")), "{code}");
            for part in [
                "## What it means",
                "## How it fails at run time",
                "## See it by hand",
                "## What to do",
            ] {
                assert!(page.contains(part), "{code} lacks `{part}`");
            }
        }
    }

    #[test]
    fn the_default_level_is_one_that_a_policy_may_set() {
        for code in Code::ALL {
            assert!(
                Level::choices(*code).contains(&code.default_level()),
                "{code}"
            );
        }
    }
}
