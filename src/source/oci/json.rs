//! The JSON files of an image: read within limits, verified, told apart.

use std::cell::Cell;
use std::fmt::Write as _;

use oci_spec::image::{Descriptor, Digest, DigestAlgorithm};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use sha2::Digest as _;

use super::files::{Files, too_large};
use crate::ProblemKind;
use crate::archive::Fault;
use crate::limits::Limits;

/// Bytes of a manifest or an index that clients must expect and registries accept (distribution-spec, `spec.md`).
pub(super) const MANIFEST_MAX: u64 = 4 << 20;

/// Bytes of an image's configuration. Those of images with a thousand layers have less than 1 MiB.
pub(super) const CONFIG_MAX: u64 = 8 << 20;

/// Bytes of all JSON files of one input.
const TOTAL_MAX: u64 = 64 << 20;

/// Reads JSON files of one input.
pub(super) struct Reader<'f> {
    pub(super) files: &'f dyn Files,
    /// Where blobs are.
    pub(super) places: Places,
    /// The platform for which alone manifests are read; all of them where none is named.
    pub(super) platform: Option<String>,
    metadata_max: u64,
    left: Cell<u64>,
}

/// Where the blobs of a layout are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    /// `blobs/ALGORITHM/HEX`, as in an OCI image layout.
    Blobs,
    /// `HEX`, and `HEX.manifest.json` for manifests of an index, as skopeo's `dir:` writes them.
    Bare,
    /// `manifests/DIGEST` and `blobs/DIGEST`, as in the addresses of a registry.
    #[cfg(feature = "registry")]
    Registry,
}

impl<'f> Reader<'f> {
    pub(super) fn new(files: &'f dyn Files, places: Places, limits: &Limits) -> Self {
        Self {
            files,
            places,
            platform: None,
            metadata_max: limits.metadata_bytes,
            left: Cell::new(TOTAL_MAX),
        }
    }

    /// The bytes of a file by its path.
    pub(super) fn file(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>, Fault> {
        let cap = cap.min(self.metadata_max);
        self.counted(self.files.read_small(path, cap)?)
    }

    fn counted(&self, bytes: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, Fault> {
        if let Some(bytes) = &bytes {
            let left = self.left.get().checked_sub(bytes.len() as u64);
            let left = left.ok_or_else(|| {
                let detail = format!("more than {TOTAL_MAX} bytes of manifests in one input");
                Fault::new(ProblemKind::LimitExceeded, detail)
            })?;
            self.left.set(left);
        }
        Ok(bytes)
    }

    /// The bytes of the manifest or index that a descriptor names, with size and digest verified.
    pub(super) fn manifest(&self, descriptor: &Descriptor) -> Result<Option<Vec<u8>>, Fault> {
        let path = manifest_path(self.places, descriptor.digest())?;
        if self.places == Places::Bare {
            let marked = format!("{path}.manifest.json");
            let found = self.stated(&marked, descriptor, MANIFEST_MAX)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.stated(&path, descriptor, MANIFEST_MAX)
    }

    /// The bytes of the configuration that a descriptor names, with size and digest verified.
    pub(super) fn config(&self, descriptor: &Descriptor) -> Result<Option<Vec<u8>>, Fault> {
        let path = blob_path(self.places, descriptor.digest())?;
        self.stated(&path, descriptor, CONFIG_MAX)
    }

    fn stated(
        &self,
        path: &str,
        descriptor: &Descriptor,
        cap: u64,
    ) -> Result<Option<Vec<u8>>, Fault> {
        let cap = cap.min(self.metadata_max);
        if descriptor.size() > cap {
            return Err(too_large(cap));
        }
        let bytes = self.files.read_stated(path, descriptor, cap)?;
        let Some(bytes) = self.counted(bytes)? else {
            return Ok(None);
        };
        if bytes.len() as u64 != descriptor.size() {
            let detail = format!(
                "{} bytes, where {} are stated",
                bytes.len(),
                descriptor.size()
            );
            return Err(Fault::new(ProblemKind::SizeMismatch, detail));
        }
        verify(descriptor.digest(), &bytes)?;
        Ok(Some(bytes))
    }
}

/// The path of a blob. A digest of an unknown form names no file, so that it cannot lead anywhere else.
pub(super) fn blob_path(places: Places, digest: &Digest) -> Result<String, Fault> {
    let algorithm = match digest.algorithm() {
        DigestAlgorithm::Sha256 => "sha256",
        DigestAlgorithm::Sha512 => "sha512",
        _ => return Err(bad_digest(digest.as_ref())),
    };
    Ok(match places {
        Places::Blobs => format!("blobs/{algorithm}/{}", digest.digest()),
        Places::Bare => digest.digest().to_owned(),
        #[cfg(feature = "registry")]
        Places::Registry => format!("blobs/{digest}"),
    })
}

/// The path of a manifest or an index.
pub(super) fn manifest_path(places: Places, digest: &Digest) -> Result<String, Fault> {
    let path = blob_path(places, digest)?;
    Ok(match places {
        Places::Blobs | Places::Bare => path,
        #[cfg(feature = "registry")]
        Places::Registry => format!("manifests/{digest}"),
    })
}

pub(super) fn bad_digest(digest: &str) -> Fault {
    let shown: String = digest.chars().take(100).collect();
    let detail = format!("`{shown}` is no SHA-256 or SHA-512 digest");
    Fault::new(ProblemKind::MalformedMetadata, detail)
}

fn verify(digest: &Digest, bytes: &[u8]) -> Result<(), Fault> {
    let found = match digest.algorithm() {
        DigestAlgorithm::Sha256 => hex(&sha2::Sha256::digest(bytes)),
        DigestAlgorithm::Sha512 => hex(&sha2::Sha512::digest(bytes)),
        _ => return Err(bad_digest(digest.as_ref())),
    };
    if found == digest.digest() {
        return Ok(());
    }
    let detail = format!("its digest is {}:{found}, not {digest}", digest.algorithm());
    Err(Fault::new(ProblemKind::ChecksumMismatch, detail))
}

/// The digest of bytes, `sha256:…`.
pub(super) fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&sha2::Sha256::digest(bytes)))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _infallible = write!(text, "{byte:02x}");
    }
    text
}

/// Whether a text is the hexadecimal part of a SHA-256 digest.
pub(super) fn is_sha256_hex(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Understands a JSON file.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, Fault> {
    serde_json::from_slice(bytes).map_err(|error| {
        let detail = format!("this is no {what}: {error}");
        Fault::new(ProblemKind::MalformedMetadata, detail)
    })
}

/// What a JSON file that a descriptor names turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Document {
    Index,
    Manifest,
}

impl Document {
    /// By what it holds. One that is both is read differently by different tools (CVE-2021-41190), and refused; so
    /// is one that is not what it is called.
    pub(super) fn of(bytes: &[u8], stated: Option<&str>) -> Result<Self, Fault> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Probe {
            media_type: Option<String>,
            manifests: Option<IgnoredAny>,
            layers: Option<IgnoredAny>,
            config: Option<IgnoredAny>,
            fs_layers: Option<IgnoredAny>,
        }
        let malformed = |detail: String| Fault::new(ProblemKind::MalformedMetadata, detail);
        let probe: Probe = parse(bytes, "manifest")?;
        if probe.fs_layers.is_some() {
            return Err(Fault::new(
                ProblemKind::UnsupportedCompression,
                "a manifest of Docker's schema 1, which names no configuration: push the image again with a current tool",
            ));
        }
        let document = match (
            probe.manifests,
            probe.layers.is_some() || probe.config.is_some(),
        ) {
            (Some(_), false) => Self::Index,
            (None, true) => Self::Manifest,
            (Some(_), true) => {
                return Err(malformed("an index and a manifest at once".to_owned()));
            }
            (None, false) => {
                return Err(malformed("neither an index nor a manifest".to_owned()));
            }
        };
        for called in [stated, probe.media_type.as_deref()].into_iter().flatten() {
            if Self::called(called).is_some_and(|called| called != document) {
                return Err(malformed(format!("it is called `{called}`, and is none")));
            }
        }
        Ok(document)
    }

    fn called(media_type: &str) -> Option<Self> {
        match media_type {
            "application/vnd.oci.image.index.v1+json"
            | "application/vnd.docker.distribution.manifest.list.v2+json" => Some(Self::Index),
            "application/vnd.oci.image.manifest.v1+json"
            | "application/vnd.docker.distribution.manifest.v2+json" => Some(Self::Manifest),
            _ => None,
        }
    }
}
