//! Libraries that are not judged like a package's own: NVIDIA's, side libraries and siblings.
//!
//! Knows names only; what is in a library is never looked at here.

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use super::yaml::{self, Sources};
use crate::error::Error;

const FILE: &str = "libraries.yaml";

/// A library of NVIDIA's.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct VendorRow {
    /// What it is: `cublas`.
    pub component: String,
    /// Globs of its file names.
    #[serde(rename = "match", deserialize_with = "yaml::words")]
    pub patterns: Vec<String>,
    /// Globs of the normalised names of distributions that are this library.
    #[serde(deserialize_with = "yaml::words")]
    pub packages: Vec<String>,
    /// Globs of its kernels' names, by which it is recognised where it is linked statically.
    #[serde(default, deserialize_with = "yaml::words")]
    pub kernels: Vec<String>,
    /// Whether it compiles device code at run time.
    #[serde(default)]
    pub compiler: bool,
    /// Whether it picks among single-architecture fatbins by itself.
    #[serde(default)]
    pub dispatches: bool,
    /// What is known of its device code.
    pub device_code: Option<String>,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
    #[serde(skip)]
    package_globs: GlobSet,
}

impl VendorRow {
    /// Whether the distribution `package` is this library, so that its device code counts as the package's own.
    pub fn is_package(&self, package: &str) -> bool {
        self.package_globs.is_match(normalised(package))
    }
}

/// What a library is to its package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// Used on some GPUs only; the package does without it on the others.
    Side,
    /// Input of a linker (nvJitLink) that the package calls at run time: the driver never sees its PTX.
    Linked,
    /// Used on some GPUs only, and assembled there with the package's or the user's ptxas.
    Assembled,
}

impl Role {
    /// Whether the package does without the library on GPUs that it has no code for.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Side | Self::Assembled)
    }

    /// Whether something else than the driver makes machine code of its PTX.
    pub const fn bypasses_driver(self) -> bool {
        matches!(self, Self::Linked | Self::Assembled)
    }
}

/// A library whose role no rule can see.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RoleRow {
    /// The distributions that ship it.
    #[serde(deserialize_with = "yaml::words")]
    pub packages: Vec<String>,
    /// Glob of its file name, or of its whole path where the glob has a slash.
    pub library: String,
    /// Its role.
    pub role: Role,
    /// Why it has this role.
    pub why: String,
    /// Where the row comes from.
    pub sources: Vec<String>,
    #[serde(skip)]
    glob: Option<GlobMatcher>,
}

/// Sibling libraries of a package of which one is loaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FamilyRow {
    /// The distributions that ship them.
    #[serde(deserialize_with = "yaml::words")]
    pub packages: Vec<String>,
    /// Glob of their file names, or of their whole paths where the glob has a slash.
    pub library: String,
    /// What decides which one is loaded.
    pub by: String,
    /// Where the row comes from.
    pub sources: Vec<String>,
    #[serde(skip)]
    glob: Option<GlobMatcher>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    vendor: Vec<VendorRow>,
    roles: Vec<RoleRow>,
    families: Vec<FamilyRow>,
}

/// The table of libraries.
#[derive(Debug)]
pub(super) struct LibraryTable {
    pub(super) as_of: String,
    pub(super) vendor: Vec<VendorRow>,
    pub(super) roles: Vec<RoleRow>,
    pub(super) families: Vec<FamilyRow>,
    vendor_globs: GlobSet,
    /// The row of each glob in `vendor_globs`.
    vendor_of: Vec<usize>,
    kernel_globs: GlobSet,
    /// The row of each glob in `kernel_globs`.
    kernel_of: Vec<usize>,
}

impl LibraryTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        let vendor = file.vendor.iter_mut().map(|row| &mut row.sources);
        let roles = file.roles.iter_mut().map(|row| &mut row.sources);
        let families = file.families.iter_mut().map(|row| &mut row.sources);
        for source in vendor.chain(roles).chain(families).flatten() {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        let mut globs = GlobSetBuilder::new();
        let mut vendor_of = Vec::new();
        let mut kernels = GlobSetBuilder::new();
        let mut kernel_of = Vec::new();
        for (index, row) in file.vendor.iter_mut().enumerate() {
            for pattern in &row.patterns {
                globs.add(glob(pattern)?);
                vendor_of.push(index);
            }
            for pattern in &row.kernels {
                kernels.add(glob(pattern)?);
                kernel_of.push(index);
            }
            let mut packages = GlobSetBuilder::new();
            for pattern in &row.packages {
                packages.add(glob(pattern)?);
            }
            row.package_globs = packages.build().map_err(|e| yaml::invalid(FILE, e))?;
        }
        for row in &mut file.roles {
            row.glob = Some(glob(&row.library)?.compile_matcher());
        }
        for row in &mut file.families {
            row.glob = Some(glob(&row.library)?.compile_matcher());
        }
        Ok(Self {
            as_of: file.as_of,
            vendor: file.vendor,
            roles: file.roles,
            families: file.families,
            vendor_globs: globs.build().map_err(|e| yaml::invalid(FILE, e))?,
            vendor_of,
            kernel_globs: kernels.build().map_err(|e| yaml::invalid(FILE, e))?,
            kernel_of,
        })
    }

    pub(super) fn vendor(&self, file_name: &str) -> Option<&VendorRow> {
        let glob = self.vendor_globs.matches(file_name).into_iter().min()?;
        self.vendor.get(*self.vendor_of.get(glob)?)
    }

    pub(super) fn kernel_owner(&self, kernel: &str) -> Option<u16> {
        let glob = self.kernel_globs.matches(kernel).into_iter().min()?;
        u16::try_from(*self.kernel_of.get(glob)?).ok()
    }

    pub(super) fn role(&self, package: &str, library_path: &str) -> Option<&RoleRow> {
        let package = normalised(package);
        self.roles.iter().find(|row| {
            row.packages.contains(&package)
                && matches(row.glob.as_ref(), &row.library, library_path)
        })
    }

    pub(super) fn family(&self, package: &str, library_path: &str) -> Option<&FamilyRow> {
        let package = normalised(package);
        self.families.iter().find(|row| {
            row.packages.contains(&package)
                && matches(row.glob.as_ref(), &row.library, library_path)
        })
    }
}

fn matches(glob: Option<&GlobMatcher>, pattern: &str, path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let subject = if pattern.contains('/') { path } else { name };
    glob.is_some_and(|glob| glob.is_match(subject))
}

/// Names of Windows files mean the same in any case.
fn glob(pattern: &str) -> Result<globset::Glob, Error> {
    let windows = [".dll", ".lib", ".exe"];
    GlobBuilder::new(pattern)
        .case_insensitive(windows.iter().any(|suffix| pattern.ends_with(suffix)))
        .literal_separator(true)
        .build()
        .map_err(|error| yaml::invalid(FILE, error))
}

/// The normalised form of a distribution's name (PEP 503): lower case, runs of `-`, `_`, `.` as one hyphen.
pub(super) fn normalised(package: &str) -> String {
    let mut name = String::with_capacity(package.len());
    for c in package.chars() {
        if !matches!(c, '-' | '_' | '.') {
            name.extend(c.to_lowercase());
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::Tables;
    use super::*;

    #[test]
    fn vendor_libraries_are_known_by_file_name_also_when_hashed() {
        for (name, expected) in [
            ("libcudart.so", Some("cuda-runtime")),
            ("libcudart.so.12", Some("cuda-runtime")),
            ("libcudart-hash.so.12", Some("cuda-runtime")),
            ("libcudart-5a077122.so.12.0.107", Some("cuda-runtime")),
            ("libcudart.e8e8b82a.so.12", Some("cuda-runtime")),
            ("libcudart_static.a", Some("cuda-runtime")),
            ("cudart64_12.dll", Some("cuda-runtime")),
            ("CUDART64_110.DLL", Some("cuda-runtime")),
            ("libnvjpeg.8dd2b5e6.so.12", Some("nvjpeg")),
            ("libcublas.so.12", Some("cublas")),
            ("libcublasLt.so.12", Some("cublas")),
            ("libcublas-f6acd947.so.11", Some("cublas")),
            ("libcudnn_engines_precompiled.so.9", Some("cudnn")),
            ("libcufft.so.11", Some("cufft")),
            ("libnppicc.so.12", Some("npp")),
            ("libcudnn-f1b2c3d4.so.9", Some("cudnn")),
            ("libcudnn_ops_infer.so.8", Some("cudnn")),
            ("libcusparse.so.12", Some("cusparse")),
            ("libcusparseLt.so.0", Some("cusparselt")),
            ("libnvshmem_host.so.3", Some("nvshmem")),
            ("libnccl.so.2", Some("nccl")),
            ("libnvJitLink.so.12", Some("nvjitlink")),
            ("libnvrtc-builtins.so.12.4", Some("nvrtc")),
            ("libnvrtc.so.12", Some("nvrtc")),
            ("ptxas", Some("ptxas")),
            ("libnvinfer_plugin.so.10", Some("tensorrt")),
            ("cuTENSOR.dll", Some("cutensor")),
            ("libcuda.so.1", Some("driver")),
            ("libtorch_nvshmem.so", None),
            ("libtorch_cuda.so", None),
            ("libcudart_mine.so", None),
            ("libcudnn_attention.so", None),
            ("libnccl_ext.so", None),
            ("libnppkernels.so", None),
            ("libcufft_callbacks.so", None),
            ("libnvinfer_my_plugin.so", None),
            ("libcublasmp.so.0", None),
            ("LIBCUDART.SO.12", None),
            ("ptxas.py", None),
            ("", None),
        ] {
            let row = Tables::builtin().vendor(name);
            assert_eq!(row.map(|row| row.component.as_str()), expected, "{name}");
        }
        let vendor = |name| Tables::builtin().vendor(name).unwrap();
        assert!(vendor("libnvrtc.so.12").compiler);
        assert!(vendor("libcufft.so.11").dispatches && !vendor("libnppc.so.12").dispatches);
    }

    #[test]
    fn packages_that_are_a_vendor_library_are_known() {
        for (file, package, expected) in [
            ("libcurand.so.10", "nvidia-curand-cu12", true),
            ("libcurand.so.10", "nvidia_curand", true),
            ("libcurand.so.10", "Nvidia.CuRAND__cu11", true),
            ("libcurand.so.10", "torch", false),
            ("libcublas.so.12", "nvidia-cublas", true),
            ("libcublas.so.12", "nvidia-cublasmp-cu12", false),
            ("libcudnn.so.9", "nvidia-cudnn-cu13", true),
            ("libcudnn.so.9", "nvidia-cudnn-frontend", false),
            ("libnccl.so.2", "nvidia-nccl-cu12", true),
            ("libcudart.so.12", "nvidia-cuda-runtime-cu12", true),
            ("libnvinfer.so.10", "tensorrt_cu12_libs", true),
            ("libnvinfer.so.10", "tensorrt-llm", false),
            // Debian, RPM and conda
            ("libcublas.so.12", "libcublas-12-4", true),
            ("libcublas.so.12", "libcublas12", true),
            ("libcublas.so.12", "libcublas", true),
            ("libcublas.so.12", "libcublasmp0", false),
            ("libcudart.so.12", "cuda-cudart-12-4", true),
            ("libcudart.so.11.0", "libcudart11.0", true),
            ("libcudnn.so.9", "libcudnn9-cuda-12", true),
            ("libcudnn.so.8", "libcudnn8", true),
            ("libcudnn.so.9", "cudnn", true),
            ("libnccl.so.2", "libnccl2", true),
            ("libnccl.so.2", "libnccl", true),
            ("libnccl.so.2", "nccl", true),
            ("libnvrtc.so.12", "cuda-nvrtc-12-4", true),
            ("libnvrtc.so.12", "cuda-nvrtc", true),
            ("libcusparse.so.12", "libcusparse-12-4", true),
            ("libcusparse.so.12", "libcusparselt0", false),
            ("libcusparseLt.so.0", "libcusparselt0-cuda-12", true),
            ("libcutensor.so.2", "libcutensor2", true),
            ("libnppc.so.12", "libnpp-12-4", true),
            ("libnppc.so.12", "libnppc12", true),
            ("libnvinfer.so.10", "libnvinfer10", true),
            ("ptxas", "cuda-nvcc-12-4", true),
            ("ptxas", "nvidia-cuda-toolkit", true),
            ("libcublas.so.12", "python3-torch-cuda", false),
        ] {
            let row = Tables::builtin().vendor(file).unwrap();
            assert_eq!(row.is_package(package), expected, "{file} {package}");
        }
    }

    #[test]
    fn roles_and_families_hold_for_their_packages_only() {
        let role = |package, path| Tables::builtin().role(package, path).map(|row| row.role);
        assert_eq!(
            role("sgl_kernel", "sgl_kernel/flash_ops.abi3.so"),
            Some(Role::Side)
        );
        assert_eq!(role("nixl-cu12", "x/nixl_ep_cpp_29.so"), Some(Role::Side));
        assert_eq!(
            role("cudf_cu12", "cudf/core/udf/shim.fatbin"),
            Some(Role::Linked)
        );
        assert_eq!(role("sgl-kernel", "sgl_kernel/common_ops.abi3.so"), None);
        assert_eq!(role("mine", "sgl_kernel/flash_ops.abi3.so"), None);
        let family = |package, path| Tables::builtin().sibling_family(package, path).is_some();
        assert!(family(
            "bitsandbytes",
            "bitsandbytes/libbitsandbytes_cuda128.so"
        ));
        assert!(family(
            "bitsandbytes",
            "bitsandbytes/libbitsandbytes_cuda128.dll"
        ));
        assert!(!family(
            "bitsandbytes",
            "bitsandbytes/libbitsandbytes_cpu.so"
        ));
        assert!(!family("mine", "libbitsandbytes_cuda128.so"));
    }
}
