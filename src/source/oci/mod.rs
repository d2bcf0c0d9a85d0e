//! Container images.
//!
//! Responsible for the names of images and for reading manifests and layers out of registries.

#[cfg(feature = "registry")]
mod auth;
#[cfg(feature = "registry")]
mod blob;
#[cfg(feature = "registry")]
mod challenge;
#[cfg(feature = "registry")]
mod credentials;
#[cfg(feature = "registry")]
mod docker_hub;
#[cfg(feature = "registry")]
mod failure;
#[cfg(feature = "registry")]
mod helper;
#[cfg(feature = "registry")]
mod manifest;
#[cfg(feature = "registry")]
mod reference;
#[cfg(feature = "registry")]
mod registry;

#[cfg(feature = "registry")]
pub use blob::Blob;
#[cfg(feature = "registry")]
pub use credentials::CredentialOptions;
#[cfg(feature = "registry")]
pub use manifest::Fetched;
#[cfg(feature = "registry")]
pub use reference::Reference;
#[cfg(feature = "registry")]
pub use registry::{Access, Registry};
