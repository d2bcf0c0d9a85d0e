//! Names by which other libraries need those of NVIDIA's, and what brings them.
//!
//! Knows names only: whether one is there is for whoever has the files.

use serde::{Deserialize, Serialize};

use super::library::normalised;
use super::yaml;

/// Names of one component, of the same CUDA major versions and from the same package.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SonameRow {
    /// What they are: `cublas`.
    pub component: String,
    /// The names, as libraries that need them write them: `libcublas.so.12`, `cublas64_12.dll`.
    #[serde(deserialize_with = "yaml::words")]
    pub names: Vec<String>,
    /// The major versions of CUDA whose library has this name, ascending.
    #[serde(deserialize_with = "yaml::words")]
    pub cuda: Vec<u32>,
    /// The Python distributions that bring it, normalised, one for each major version in `cuda`, in its order; fewer
    /// where nothing is known of the others.
    #[serde(deserialize_with = "yaml::words")]
    pub packages: Vec<String>,
    /// The versions of them that do, where others of the same name bring another: `>=9,<10`.
    pub versions: Option<String>,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
}

impl SonameRow {
    /// Whether a Python distribution is one of those that bring it.
    pub fn is_brought_by(&self, package: &str) -> bool {
        self.packages.contains(&normalised(package))
    }
}

impl SonameRow {
    /// The major version of CUDA, where the name belongs to just one.
    pub fn only_cuda(&self) -> Option<u32> {
        match self.cuda.as_slice() {
            [cuda] => Some(*cuda),
            _ => None,
        }
    }

    /// Whether this is `name`.
    pub(super) fn is(&self, name: &str) -> bool {
        let name = library_key(name);
        self.names.iter().any(|known| library_key(known) == name)
    }

    /// What to install, as a requirement: `nvidia-cudnn-cu12>=9,<10`; of several packages that for `cuda`.
    pub fn requirement(&self, cuda: Option<u32>) -> Option<String> {
        let at = cuda.and_then(|cuda| self.cuda.iter().position(|known| *known == cuda));
        let named = at.and_then(|at| self.packages.get(at));
        let only = || self.packages.first().filter(|_| self.packages.len() == 1);
        let package = named.or_else(only)?;
        let versions = self.versions.as_deref().unwrap_or_default();
        Some(format!("{package}{versions}"))
    }
}

/// The form in which names of libraries are compared: those of Windows mean the same in any case.
pub fn library_key(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.rsplit_once('.') {
        Some((_, "dll")) => lower,
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::tables::Tables;

    fn requirement(name: &str, cuda: Option<u32>) -> Option<String> {
        Tables::builtin().soname(name)?.requirement(cuda)
    }

    // Names and packages of wheels that were unpacked.
    #[test]
    fn a_name_leads_to_the_package_that_brings_it() {
        for (name, cuda, expected) in [
            ("libcudart.so.12", None, Some("nvidia-cuda-runtime-cu12")),
            ("libcudart.so.13", None, Some("nvidia-cuda-runtime>=13,<14")),
            ("libcudart.so.11.0", None, Some("nvidia-cuda-runtime-cu11")),
            ("libcublasLt.so.12", None, Some("nvidia-cublas-cu12")),
            ("libcudnn.so.9", Some(12), Some("nvidia-cudnn-cu12>=9,<10")),
            ("libcudnn.so.9", Some(13), Some("nvidia-cudnn-cu13>=9,<10")),
            ("libcudnn.so.9", None, None),
            ("libnccl.so.2", Some(13), Some("nvidia-nccl-cu13")),
            (
                "libcusparse.so.12",
                Some(12),
                Some("nvidia-cusparse-cu12>=12,<13"),
            ),
            ("libcudart.so.99", None, None),
            // a copy under another name is not brought by anything else
            ("libcudart-5a077122.so.12.0.107", None, None),
        ] {
            assert_eq!(requirement(name, cuda).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn what_several_major_versions_share_tells_none() {
        let cuda = |name: &str| Tables::builtin().soname(name).unwrap().only_cuda();
        assert_eq!(cuda("libcudart.so.12"), Some(12));
        assert_eq!(cuda("CUDART64_110.dll"), Some(11));
        assert_eq!(cuda("libcurand.so.10"), None);
        assert_eq!(cuda("libcusparse.so.12"), None);
        assert_eq!(cuda("libnccl.so.2"), None);
    }
}
