//! Manifests and other small things of an image, fetched whole and compared with their digests.

use std::fmt::Write as _;

use oci_spec::image::{Descriptor, Digest, DigestAlgorithm};
use serde::Deserialize;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use super::Registry;
use super::failure::Failure;
use super::reference::Reference;
use crate::archive::Fault;
use crate::source::http::bounded;
use crate::{Error, ErrorKind, ProblemKind};

/// Bytes of a manifest. The distribution specification asks for 4 MiB at least.
const MANIFEST_MAX: u64 = 8 << 20;
/// Types of manifests that are read. Without the whole list, some registries answer with manifests of another type
/// and digest, and others that there is none.
const MANIFEST_TYPES: [&str; 4] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];

/// A manifest, byte for byte as the registry has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// One of the four types of manifests and indexes of OCI and Docker.
    pub media_type: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The digest of the bytes, computed.
    pub digest: Digest,
}

/// What a manifest says of its own type.
#[derive(Deserialize)]
struct OwnType {
    #[serde(rename = "mediaType")]
    media_type: Option<String>,
}

impl Registry {
    /// The manifest that `reference` names, of the repository that was opened: by its digest, else by its tag.
    ///
    /// # Errors
    ///
    /// What the registry does not have or does not give, and a manifest that is not what its digest says.
    pub fn manifest(&self, reference: &Reference) -> Result<Fetched, Error> {
        let own = self.reference();
        if (reference.registry(), reference.repository()) != (own.registry(), own.repository()) {
            let message = format!("`{reference}` is of another repository than `{own}`");
            return Err(Error::new(ErrorKind::Usage, message).with_hint("open that one"));
        }
        Ok(self.fetch(reference)?)
    }

    /// The bytes of a manifest of the repository, by its digest.
    pub(in crate::source::oci) fn manifest_bytes(&self, digest: &Digest) -> Result<Vec<u8>, Fault> {
        let reference = self.reference().with_digest(digest.clone());
        Ok(self.fetch(&reference)?.bytes)
    }

    fn fetch(&self, reference: &Reference) -> Result<Fetched, Failure> {
        let wanted = match (reference.digest(), reference.tag()) {
            (Some(digest), _) => digest.as_ref(),
            (None, tag) => tag.unwrap_or_default(),
        };
        let what = format!("`{reference}` could not be pulled");
        let request = self.session.request(&format!("manifests/{wanted}"))?;
        let request = request.header("accept", MANIFEST_TYPES.join(", "));
        let response = self.session.send(&request)?;
        if response.status() != 200 {
            return Err(self.session.refused(response, &what));
        }
        let header = response.header("content-type").map(|text| {
            text.split(';')
                .next()
                .unwrap_or(text)
                .trim()
                .to_ascii_lowercase()
        });
        let claimed = response.header("docker-content-digest").map(str::to_owned);
        let bytes = response
            .read_small(MANIFEST_MAX)
            .map_err(|error| Failure::of_http(&error))?;
        if is_schema_1(header.as_deref(), &bytes) {
            return Err(Failure::new(
                ProblemKind::UnsupportedCompression,
                format!(
                    "{what}: its manifest is of Docker's schema 1, which no tool writes any more"
                ),
                "pull it with `docker pull` or `skopeo copy` and push it again, which makes a current manifest",
            ));
        }
        let digest =
            check_digest(reference.digest(), claimed.as_deref(), &bytes).map_err(|why| {
                Failure::damaged(ProblemKind::ChecksumMismatch, format!("{what}: {why}"))
            })?;
        let media_type = media_type(header.as_deref(), &bytes)
            .map_err(|why| Failure::nonsense(format!("{what}: {why}")))?;
        Ok(Fetched {
            media_type,
            bytes,
            digest,
        })
    }

    /// A small blob, the configuration of an image for one, whole and checked. `most` is the largest size that is
    /// taken.
    ///
    /// # Errors
    ///
    /// What the registry does not give, and bytes that are not what the descriptor says.
    pub fn small_blob(&self, descriptor: &Descriptor, most: u64) -> Result<Vec<u8>, Fault> {
        let digest = descriptor.digest();
        if descriptor.size() > most {
            let detail = format!(
                "`{digest}` has {} bytes, and at most {most} are read",
                descriptor.size()
            );
            return Err(Fault::new(ProblemKind::LimitExceeded, detail));
        }
        if !can_compute(digest) {
            let detail = format!("`{digest}` is of an algorithm that is not known");
            return Err(Fault::new(ProblemKind::ChecksumMismatch, detail));
        }
        let (bytes, _more) = crate::limits::read_capped(self.blob(descriptor)?, most)
            .map_err(|error| Fault::of(&error))?;
        match compute(digest.algorithm(), &bytes) {
            Some(found) if found == *digest => Ok(bytes),
            _ => Err(Failure::damaged(
                ProblemKind::ChecksumMismatch,
                format!("`{digest}` is not what its digest says"),
            )
            .into()),
        }
    }
}

/// The digest of `bytes`, if it is `asked`, and what the registry says that it is.
fn check_digest(
    asked: Option<&Digest>,
    claimed: Option<&str>,
    bytes: &[u8],
) -> Result<Digest, String> {
    let algorithm = asked.map_or(&DigestAlgorithm::Sha256, Digest::algorithm);
    let found = compute(algorithm, bytes)
        .ok_or_else(|| "its digest is of an algorithm that is not known".to_owned())?;
    if let Some(asked) = asked
        && *asked != found
    {
        return Err(format!("what came has the digest `{found}`"));
    }
    if let Some(claimed) = claimed {
        let parsed: Option<Digest> = claimed.trim().parse().ok();
        let same =
            parsed.is_some_and(|claimed| compute(claimed.algorithm(), bytes) == Some(claimed));
        if !same {
            return Err(format!(
                "the registry says that its digest is `{}`, and what came has `{found}`",
                bounded(claimed, 160)
            ));
        }
    }
    Ok(found)
}

/// Whether a manifest is of the format of 2015, which names no configuration.
fn is_schema_1(header: Option<&str>, bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        schema_version: u64,
    }
    let own: Result<Version, _> = serde_json::from_slice(bytes);
    header.is_some_and(|header| header.contains(".distribution.manifest.v1+"))
        || own.is_ok_and(|own| own.schema_version == 1)
}

/// The type of a manifest, on which its header and its own words must agree: read as another type, a manifest is
/// another image.
fn media_type(header: Option<&str>, bytes: &[u8]) -> Result<String, String> {
    let own: OwnType = serde_json::from_slice(bytes)
        .map_err(|error| format!("what came is no manifest: {error}"))?;
    let own = own.media_type.as_deref();
    let known = |text: Option<&str>| text.is_some_and(|text| MANIFEST_TYPES.contains(&text));
    let shown = |text: Option<&str>| bounded(text.unwrap_or_default(), 100);
    match (header, own) {
        (header, own) if known(header) && own.is_some() && own != header => Err(format!(
            "it is sent as `{}` and says of itself that it is `{}`",
            shown(header),
            shown(own)
        )),
        (Some(header), _) if known(Some(header)) => Ok(header.to_owned()),
        (_, Some(own)) if known(Some(own)) => Ok(own.to_owned()),
        (header, own) => Err(format!(
            "it is of the type `{}`, which is none of an image",
            shown(own.or(header))
        )),
    }
}

/// Whether a digest is of an algorithm that can be computed.
pub(super) fn can_compute(digest: &Digest) -> bool {
    compute(digest.algorithm(), &[]).is_some()
}

pub(super) fn compute(algorithm: &DigestAlgorithm, bytes: &[u8]) -> Option<Digest> {
    let hex = match algorithm {
        DigestAlgorithm::Sha256 => hex(&Sha256::digest(bytes)),
        DigestAlgorithm::Sha384 => hex(&Sha384::digest(bytes)),
        DigestAlgorithm::Sha512 => hex(&Sha512::digest(bytes)),
        _ => return None,
    };
    format!("{algorithm}:{hex}").parse().ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // FIPS 180 examples: the digests of `abc`
    const SHA256: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const SHA512: &str = "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";

    #[test]
    fn digests_are_computed_from_the_bytes() {
        for text in [SHA256, SHA512] {
            let digest: Digest = text.parse().unwrap();
            assert_eq!(
                check_digest(Some(&digest), None, b"abc"),
                Ok(digest.clone())
            );
            assert!(check_digest(Some(&digest), None, b"abd").is_err());
            assert!(check_digest(None, Some(text), b"abc").is_ok());
            assert!(check_digest(None, Some(text), b"abd").is_err());
        }
        assert_eq!(
            check_digest(None, None, b"abc"),
            Ok(SHA256.parse().unwrap())
        );
        assert!(check_digest(None, Some("sha256:x"), b"abc").is_err());
        assert!(!can_compute(
            &"md5:d41d8cd98f00b204e9800998ecf8427e".parse().unwrap()
        ));
    }

    #[test]
    fn the_format_of_2015_is_known_by_its_type_or_by_itself() {
        let signed = "application/vnd.docker.distribution.manifest.v1+prettyjws";
        assert!(is_schema_1(Some(signed), b"{}"));
        assert!(is_schema_1(
            None,
            br#"{"schemaVersion": 1, "fsLayers": []}"#
        ));
        assert!(!is_schema_1(
            Some(MANIFEST_TYPES[1]),
            br#"{"schemaVersion": 2}"#
        ));
        assert!(!is_schema_1(None, b"<html>"));
    }

    #[test]
    fn a_type_is_what_header_and_manifest_agree_on() {
        let index = MANIFEST_TYPES[0];
        let manifest = MANIFEST_TYPES[1];
        let says = |own: &str| format!("{{\"mediaType\": \"{own}\"}}").into_bytes();
        assert_eq!(media_type(Some(index), b"{}"), Ok(index.to_owned()));
        assert_eq!(media_type(Some(index), &says(index)), Ok(index.to_owned()));
        assert_eq!(
            media_type(Some("application/json"), &says(manifest)),
            Ok(manifest.to_owned())
        );
        assert_eq!(media_type(None, &says(manifest)), Ok(manifest.to_owned()));
        assert!(media_type(Some(index), &says(manifest)).is_err());
        assert!(media_type(Some("text/html"), b"{}").is_err());
        assert!(media_type(None, b"{}").is_err());
        assert!(media_type(Some(index), b"<html>").is_err());
    }
}
