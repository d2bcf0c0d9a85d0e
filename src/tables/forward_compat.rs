//! Forward compatibility packages: a newer user-mode driver on the kernel driver of an older branch.

use serde::{Deserialize, Deserializer, Serialize};

use super::rows::Evidence;
use super::yaml::{self, Sources};
use crate::cuda::{DriverBranch, ToolkitVersion};
use crate::error::Error;

const FILE: &str = "forward_compat.yaml";

/// A `cuda-compat-X-Y` package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CompatRow {
    /// The CUDA version that it gives.
    pub package: ToolkitVersion,
    /// The driver branch that its libraries are of.
    pub branch: DriverBranch,
    /// The host branches that NVIDIA's document names, rising; none where it has no row of the package.
    #[serde(default, deserialize_with = "optional_words")]
    pub hosts: Option<Vec<DriverBranch>>,
    /// The host branches on which images of that release started, rising; empty where unknown.
    #[serde(default, deserialize_with = "yaml::words")]
    pub images: Vec<DriverBranch>,
    /// How the row is known.
    pub evidence: Evidence,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

fn optional_words<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<DriverBranch>>, D::Error> {
    yaml::words(deserializer).map(Some)
}

/// Whether a forward compatibility package works on a host branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardCompat {
    /// NVIDIA's document says so.
    Supported,
    /// Images of that release started there; the branch has ended since.
    SupportedOnce,
    /// The host's own driver is of the package's branch or newer.
    NotNeeded,
    /// NVIDIA's document says no, or does not list the branch, which it then calls ended or no target.
    Unsupported,
    /// No document was found.
    Unknown,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    #[serde(deserialize_with = "yaml::words")]
    columns: Vec<DriverBranch>,
    conditions: Vec<String>,
    packages: Vec<CompatRow>,
}

/// The table of forward compatibility packages.
#[derive(Debug)]
pub(super) struct CompatTable {
    pub(super) as_of: String,
    /// The host branches of the document.
    pub(super) columns: Vec<DriverBranch>,
    pub(super) conditions: Vec<String>,
    pub(super) rows: Vec<CompatRow>,
}

impl CompatTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        for source in file.packages.iter_mut().flat_map(|row| &mut row.sources) {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        Ok(Self {
            as_of: file.as_of,
            columns: file.columns,
            conditions: file.conditions,
            rows: file.packages,
        })
    }

    pub(super) fn find(&self, package: ToolkitVersion, host: DriverBranch) -> ForwardCompat {
        let Some(row) = self.rows.iter().find(|row| row.package == package) else {
            return ForwardCompat::Unknown;
        };
        let documented = |hosts: &Vec<DriverBranch>| hosts.contains(&host);
        if row.hosts.as_ref().is_some_and(documented) {
            ForwardCompat::Supported
        } else if host >= row.branch {
            ForwardCompat::NotNeeded
        } else if row.images.contains(&host) {
            ForwardCompat::SupportedOnce
        } else if row.hosts.is_some() {
            ForwardCompat::Unsupported
        } else {
            ForwardCompat::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tables;
    use super::*;

    // Forward compatibility document, v615; NVIDIA_REQUIRE_CUDA of nvidia/cuda images
    #[test]
    fn packages_work_on_the_branches_of_the_document() {
        use ForwardCompat::{NotNeeded, Supported, SupportedOnce, Unknown, Unsupported};
        for (package, host, expected) in [
            ("13.4", 535, Supported),
            ("13.4", 610, Supported),
            ("13.4", 615, NotNeeded),
            ("13.3", 615, NotNeeded),
            ("13.0", 570, Supported),
            ("13.0", 580, NotNeeded),
            ("12.8", 535, Supported),
            ("12.8", 570, NotNeeded),
            ("12.9", 570, Supported),
            ("12.4", 535, Supported),
            ("12.4", 470, SupportedOnce),
            ("12.4", 545, Unsupported),
            ("13.2", 545, Unsupported),
            ("12.1", 470, SupportedOnce),
            ("12.1", 515, SupportedOnce),
            ("12.1", 390, Unknown),
            ("13.5", 580, Unknown),
            ("12.7", 535, Unknown),
        ] {
            let found =
                Tables::builtin().forward_compat(package.parse().unwrap(), DriverBranch(host));
            assert_eq!(found, expected, "{package} on R{host}");
        }
    }
}
