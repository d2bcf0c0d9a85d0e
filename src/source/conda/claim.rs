//! What the build string of a package says of CUDA.
//!
//! Build strings are free text. The forms that are read are those of conda-forge (`cuda129_mkl_py313_h0_1`,
//! `cuda118py310h0_0`, `cpu_generic_py314_h0_4`), of RAPIDS (`cuda12_260204_498dafcf`) and of the pytorch channel
//! (`py3.10_cuda11.8_cudnn8.7.0_0`, `py310_cu116`, `py3.9_cpu_0`). One that says nothing is no claim.

/// What a build string says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildClaim {
    /// A build without CUDA.
    Cpu,
    /// A build for this toolkit.
    Cuda {
        /// Its major version.
        major: u32,
        /// Its minor version, where it is said.
        minor: Option<u32>,
    },
}

impl BuildClaim {
    /// What `build` says; nothing where it says nothing, or several things.
    pub fn of(build: &str) -> Option<Self> {
        let mut claims = build.split('_').filter_map(Self::of_part);
        let first = claims.next()?;
        claims.all(|other| other == first).then_some(first)
    }

    fn of_part(part: &str) -> Option<Self> {
        if part == "cpu" {
            return Some(Self::Cpu);
        }
        let (text, whole) = match part.strip_prefix("cuda") {
            Some(text) => (text, false),
            None => (part.strip_prefix("cu")?, true),
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (version, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
        if whole && !rest.is_empty() {
            return None;
        }
        if let Some((major, minor)) = version.split_once('.') {
            let minor = minor.split('.').next()?.parse().ok()?;
            return Some(Self::Cuda {
                major: major.parse().ok()?,
                minor: Some(minor),
            });
        }
        let (major, minor) = match version.parse::<u32>().ok()? {
            // 9.2 and 8.0 were written without the dot, 12 is a major version
            major @ 6..=20 => (major, None),
            tenfold @ 60..=999 => (tenfold / 10, Some(tenfold % 10)),
            _ => return None,
        };
        Some(Self::Cuda { major, minor })
    }
}
