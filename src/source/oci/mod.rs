//! Container images.
//!
//! Responsible for the names of images and for reading manifests and layers out of registries.

#[cfg(feature = "registry")]
mod registry;

#[cfg(feature = "registry")]
pub use registry::{Access, CredentialOptions, Fetched, Reference, Registry, RemoteBlob};
