//! Container images, opened far enough to say which images there are and what layers each has.
//!
//! Responsible for image layouts on disk, for archives of images, for registries, and for assembling images out of a
//! stream whose small members were kept. What is in a layer is another layer's business, and so is verifying it: here only the
//! JSON files are verified.
//!
//! Formats: OCI image-spec 1.1 (`image-layout.md`, `image-index.md`, `manifest.md`, `config.md`, `descriptor.md`),
//! Docker's manifest v2 schema 2, and what `docker save` of each generation, podman and skopeo write.

mod archive;
mod assemble;
mod blob;
mod config;
mod docker_hub;
mod files;
mod index;
mod json;
mod manifest;
mod members;
mod merge;
mod names;
mod passing;
#[cfg(feature = "registry")]
mod registry;
#[cfg(feature = "registry")]
mod remote;
mod saved;

use std::collections::BTreeMap;
use std::path::Path;

pub(super) use archive::{Expected, looks_like_image, open_archive_as};
pub use archive::{is_image_archive, open_archive};
pub use blob::Blob;
pub use names::{Choice, without_variant};
pub use passing::Passing;
#[cfg(feature = "registry")]
pub use registry::{Access, CredentialOptions, Fetched, Reference, Registry, RemoteBlob};
#[cfg(feature = "registry")]
pub use remote::{RemoteLayer, open_remote};

use crate::limits::Limits;
use crate::{Error, ErrorKind, Locator, Problem};

/// A container image for one platform.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Image {
    /// What the user named. Several images may be in it.
    pub at: Locator,
    /// What it is called there, `lab/cuda:12`, or only a tag; sorted. An image needs no name.
    pub names: Vec<String>,
    /// Digest of its manifest, `sha256:…`; an archive of `docker save` before version 25 has no manifest.
    pub digest: Option<String>,
    /// Digest of its configuration, which Docker calls the image's ID.
    pub image_id: Option<String>,
    /// The platform by which it is chosen, `linux/arm64/v8`: that of the index, or else of the configuration.
    pub platform: Option<String>,
    /// What its configuration says.
    pub config: ImageConfig,
    /// Its layers, the lowest first.
    pub layers: Vec<ImageLayer>,
    /// What could not be read. A layer that is absent says so itself ([`Blob::Absent`]) and is not repeated here.
    pub problems: Vec<Problem>,
    /// What lies beside it and was left out: other platforms, attestations, artifacts that are no images.
    pub notes: Vec<String>,
}

impl Image {
    /// Whether it is for this platform, `linux/arm64`, or does not say what it is for.
    pub fn is_for(&self, platform: &str) -> bool {
        let wanted = names::normal(platform);
        self.platform
            .as_deref()
            .is_none_or(|own| names::normal(own) == wanted)
    }
}

/// What the configuration of an image says. All of it is a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageConfig {
    /// `linux`.
    pub os: Option<String>,
    /// `amd64`.
    pub architecture: Option<String>,
    /// `v8`.
    pub variant: Option<String>,
    /// `NAME=VALUE` of the environment in which it starts, in order.
    pub env: Vec<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
}

/// A layer of an image.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImageLayer {
    /// Digest of the bytes as stored, where something states it; not verified.
    pub digest: Option<String>,
    /// Digest of the unpacked bytes, as the configuration states it; not verified.
    pub diff_id: Option<String>,
    /// Bytes as stored: as the manifest states it, or as many as there are.
    pub size: Option<u64>,
    /// The stated media type, which lies often enough: look at the bytes.
    pub media_type: Option<String>,
    /// The step of the build that made it.
    pub created_by: Option<String>,
    /// Where its bytes are.
    pub blob: Blob,
}

/// Opens a directory that is an OCI image layout, or what skopeo's `dir:` writes.
///
/// # Errors
///
/// A directory without an image, or without the one that `choice` names; an index that cannot be read.
pub fn open_layout(
    dir: &Path,
    at: &Locator,
    choice: &Choice,
    limits: &Limits,
) -> Result<Vec<Image>, Error> {
    let files = files::DirFiles::new(dir).map_err(|error| {
        Error::new(ErrorKind::Input, format!("`{at}` could not be opened")).with_source(error)
    })?;
    assemble::assemble(&files, at, choice, limits, &[])
}

/// Whether a directory is an image layout, by the files that it must have.
pub fn is_layout(dir: &Path) -> bool {
    let has = |name: &str| dir.join(name).is_file();
    has("index.json") && has("oci-layout")
        || has("manifest.json")
            && files::DirFiles::new(dir).is_ok_and(|files| assemble::is_copied(&files))
}

#[cfg(test)]
#[path = "../../../tests/it/support/image.rs"]
mod fixture;
#[cfg(test)]
mod tests;
