//! Images of registries: their manifests and configurations fetched, their layers left there until they are read.

use std::sync::Arc;

use oci_spec::image::Descriptor;

use super::assemble::document;
use super::blob::Blob;
use super::docker_hub::familiar;
use super::files::Files;
use super::json::{Places, Reader};
use super::manifest::is_foreign;
use super::names::Choice;
use super::{Access, Image, Reference, Registry, RemoteBlob};
use crate::archive::Fault;
use crate::limits::Limits;
use crate::{Error, ErrorKind, Locator};

/// A layer on a registry.
#[derive(Debug)]
pub struct RemoteLayer {
    registry: Registry,
    descriptor: Descriptor,
}

impl RemoteLayer {
    /// A reader of its bytes, which goes on after a connection broke. The digest is for whoever reads to verify.
    ///
    /// # Errors
    ///
    /// What the registry does not give, or gives with another size.
    pub fn open(&self) -> Result<RemoteBlob, Fault> {
        self.registry.blob(&self.descriptor)
    }

    /// Its bytes as they are stored, as the manifest states it.
    pub fn len(&self) -> u64 {
        self.descriptor.size()
    }

    /// Whether the manifest states that it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is equal for equal layers of one host, of whichever repository.
    pub(super) fn key(&self) -> String {
        let host = self.registry.reference().registry();
        let digest = self.descriptor.digest();
        // one that is stated with another size is read by itself, and found out
        format!("remote:{host}:{digest}:{}", self.len())
    }
}

/// The files of a repository.
struct RemoteFiles(Registry);

impl Files for RemoteFiles {
    /// Nothing has a name here but its digest.
    fn read_small(&self, _path: &str, _cap: u64) -> Result<Option<Vec<u8>>, Fault> {
        Ok(None)
    }

    fn blob(&self, _path: &str) -> Option<Blob> {
        None
    }

    /// What a registry does not give is a fault: it is no layout that someone may have copied in part.
    fn read_stated(
        &self,
        path: &str,
        descriptor: &Descriptor,
        cap: u64,
    ) -> Result<Option<Vec<u8>>, Fault> {
        let bytes = if path.starts_with("manifests/") {
            self.0.manifest_bytes(descriptor.digest())?
        } else {
            self.0.small_blob(descriptor, cap)?
        };
        Ok(Some(bytes))
    }

    /// Layers that are distributed elsewhere are not asked for: registries have them where someone went out of his
    /// way, and what they are is read in the place that they name.
    fn layer(&self, _path: &str, descriptor: &Descriptor) -> Option<Blob> {
        let elsewhere = descriptor.urls().iter().flatten().next().is_some();
        if elsewhere || is_foreign(descriptor.media_type()) {
            return None;
        }
        Some(Blob::Remote(Arc::new(RemoteLayer {
            registry: self.0.clone(),
            descriptor: descriptor.clone(),
        })))
    }
}

/// The images that `reference` names: those of the platform of `choice`, or of all platforms. No layer is read.
///
/// # Errors
///
/// What the registry does not have or does not give, what is no image, and an image without the platform.
pub fn open_remote(
    reference: &Reference,
    at: &Locator,
    choice: &Choice,
    limits: &Limits,
    access: &Access,
) -> Result<Vec<Image>, Error> {
    let registry = Registry::open(reference, access)?;
    let fetched = registry.manifest(reference)?;
    let files = RemoteFiles(registry);
    let mut reader = Reader::new(&files, Places::Registry, limits);
    reader.platform.clone_from(&choice.platform);
    let found = document(
        &fetched.bytes,
        Some(&fetched.media_type),
        fetched.digest.as_ref(),
        &reader,
        at,
    )
    .map_err(|fault| {
        let message = format!("`{at}`: {fault}");
        Error::new(ErrorKind::Input, message).with_hint(fault.kind.hint())
    })?;
    let mut images = found.choose(at, choice)?;
    // what descriptors in an index call it is no name that anyone can pull
    let full = reference.to_string();
    let name = familiar(&full);
    for image in &mut images {
        image.names = vec![name.to_owned()];
    }
    Ok(images)
}
