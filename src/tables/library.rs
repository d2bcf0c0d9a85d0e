//! Libraries that are not judged like a package's own: NVIDIA's, side libraries and siblings.
//!
//! Knows names only; what is in a library is never looked at here.

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use super::soname::SonameRow;
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
    /// Whether it may hold a compiler, which it does where it names the release of one.
    #[serde(default)]
    pub may_compile: bool,
    /// Whether this compiler may write PTX, which the driver compiles, in place of machine code.
    #[serde(default)]
    pub writes_ptx: bool,
    /// Whether the driver of the machine brings it, so that nothing else need.
    #[serde(default)]
    pub host: bool,
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
    /// The package whose CUDA version decides: the library of that version is loaded, else the newest older one of the
    /// same major version, else the oldest newer one of it, else none.
    pub decider: DeciderRow,
    /// Where the row comes from.
    pub sources: Vec<String>,
    #[serde(skip)]
    glob: Option<GlobMatcher>,
}

/// What a package that compiles at run time lets the driver load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Loads {
    /// Machine code, at least where the driver does not compile PTX as new as that of the compiler.
    Cubin,
    /// PTX or machine code: it depends on what else is installed, or on what its user asks for.
    PtxOrCubin,
}

/// A package that compiles device code on the machine that runs it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RunTimeRow {
    /// Globs of the normalised names of its distributions.
    #[serde(deserialize_with = "yaml::words")]
    pub packages: Vec<String>,
    /// What compiles, as a person would say it, where the package does not carry it and all its builds compile.
    pub with: Option<String>,
    /// What the driver gets to load.
    pub loads: Loads,
    /// Where the row comes from.
    pub sources: Vec<String>,
    #[serde(skip)]
    package_globs: GlobSet,
}

/// A package that is published with and without device code under one name, which of them by platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GpuBuildRow {
    /// Its normalised name.
    pub package: String,
    /// Where the row comes from.
    pub sources: Vec<String>,
}

/// A package whose CUDA version decides which of the siblings of another is loaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DeciderRow {
    /// Its normalised name.
    pub package: String,
    /// Glob of its library that is made by that toolkit alone, for builds without a local version such as `+cu126`.
    pub library: String,
    #[serde(skip)]
    glob: Option<GlobMatcher>,
}

impl DeciderRow {
    /// Whether a distribution is the package.
    pub fn is(&self, package: &str) -> bool {
        normalised(package) == self.package
    }

    /// Whether the file at `path` is the library that shows its CUDA version.
    pub fn shows(&self, path: &str) -> bool {
        matches(self.glob.as_ref(), &self.library, path)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    vendor: Vec<VendorRow>,
    sonames: Vec<SonameRow>,
    roles: Vec<RoleRow>,
    families: Vec<FamilyRow>,
    run_time: Vec<RunTimeRow>,
    gpu_builds: Vec<GpuBuildRow>,
}

/// The table of libraries.
#[derive(Debug)]
pub(super) struct LibraryTable {
    pub(super) as_of: String,
    pub(super) vendor: Vec<VendorRow>,
    pub(super) sonames: Vec<SonameRow>,
    pub(super) roles: Vec<RoleRow>,
    pub(super) families: Vec<FamilyRow>,
    pub(super) run_time: Vec<RunTimeRow>,
    pub(super) gpu_builds: Vec<GpuBuildRow>,
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
        let run_time = file.run_time.iter_mut().map(|row| &mut row.sources);
        let builds = file.gpu_builds.iter_mut().map(|row| &mut row.sources);
        let sonames = file.sonames.iter_mut().map(|row| &mut row.sources);
        let rows = vendor.chain(sonames).chain(roles).chain(families);
        let rows = rows.chain(run_time).chain(builds);
        for source in rows.flatten() {
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
            row.package_globs = globs_of(&row.packages)?;
        }
        for row in &mut file.run_time {
            row.package_globs = globs_of(&row.packages)?;
        }
        for row in &mut file.roles {
            row.glob = Some(glob(&row.library)?.compile_matcher());
        }
        for row in &mut file.families {
            row.glob = Some(glob(&row.library)?.compile_matcher());
            row.decider.glob = Some(glob(&row.decider.library)?.compile_matcher());
        }
        Ok(Self {
            as_of: file.as_of,
            vendor: file.vendor,
            sonames: file.sonames,
            roles: file.roles,
            families: file.families,
            run_time: file.run_time,
            gpu_builds: file.gpu_builds,
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

    pub(super) fn run_time(&self, package: &str) -> Option<&RunTimeRow> {
        let package = normalised(package);
        let mut rows = self.run_time.iter();
        rows.find(|row| row.package_globs.is_match(&package))
    }

    pub(super) fn gpu_build(&self, package: &str) -> Option<&GpuBuildRow> {
        let package = normalised(package);
        self.gpu_builds.iter().find(|row| row.package == package)
    }

    pub(super) fn family(&self, package: &str, library_path: &str) -> Option<&FamilyRow> {
        let package = normalised(package);
        self.families.iter().find(|row| {
            row.packages.contains(&package)
                && matches(row.glob.as_ref(), &row.library, library_path)
        })
    }
}

fn globs_of(patterns: &[String]) -> Result<GlobSet, Error> {
    let mut globs = GlobSetBuilder::new();
    for pattern in patterns {
        globs.add(glob(pattern)?);
    }
    globs.build().map_err(|error| yaml::invalid(FILE, error))
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
mod tests;
