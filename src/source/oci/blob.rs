//! Where the bytes of a layer are.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
#[cfg(feature = "registry")]
use std::sync::Arc;

#[cfg(feature = "registry")]
use super::remote::RemoteLayer;
use crate::archive::{Fault, SharedBytes};
use crate::{MemberName, ProblemKind};

/// The bytes of a layer, packed or not.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Blob {
    /// A part of an archive that can be read at any place.
    Bytes(SharedBytes),
    /// A file of a layout.
    File(PathBuf),
    /// On a registry.
    #[cfg(feature = "registry")]
    Remote(Arc<RemoteLayer>),
    /// The member of a stream that has this name there: whoever read the stream saw the bytes as they passed.
    Passed(MemberName),
    /// Nowhere, for this reason.
    Absent(Fault),
}

impl Blob {
    /// Bytes that are read from a file at a time.
    const BUFFER: usize = 128 << 10;

    /// A reader of the bytes.
    ///
    /// # Errors
    ///
    /// Bytes that are not there, or passed by and cannot be read again.
    pub fn open(&self) -> Result<Box<dyn BufRead + Send>, Fault> {
        match self {
            Self::Bytes(bytes) => Ok(Box::new(bytes.cursor())),
            Self::File(path) => {
                let file = File::open(path).map_err(|error| Fault::of(&error))?;
                Ok(Box::new(BufReader::with_capacity(Self::BUFFER, file)))
            }
            #[cfg(feature = "registry")]
            Self::Remote(layer) => {
                let reader = layer.open()?;
                Ok(Box::new(BufReader::with_capacity(Self::BUFFER, reader)))
            }
            Self::Passed(name) => Err(Fault::new(
                ProblemKind::Io,
                format!("`{name}` passed by in a stream and cannot be read again"),
            )),
            Self::Absent(fault) => Err(fault.clone()),
        }
    }

    /// How many bytes there are, where that is known without reading them.
    pub fn len(&self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes.len()),
            Self::File(path) => Some(path.metadata().ok()?.len()),
            #[cfg(feature = "registry")]
            Self::Remote(layer) => Some(layer.len()),
            Self::Passed(_) | Self::Absent(_) => None,
        }
    }

    /// Whether its bytes come over a network, where reading them twice costs twice.
    pub fn is_remote(&self) -> bool {
        match self {
            #[cfg(feature = "registry")]
            Self::Remote(_) => true,
            Self::Bytes(_) | Self::File(_) | Self::Passed(_) | Self::Absent(_) => false,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// What tells this blob from others of a run. A blob that passed by is told from those of its own stream only.
    pub fn key(&self) -> String {
        match self {
            Self::Bytes(bytes) => {
                let (store, range) = bytes.id();
                format!("bytes:{store}:{}-{}", range.start, range.end)
            }
            Self::File(path) => {
                // shown without loss
                let path = MemberName::from_bytes(path.as_os_str().as_encoded_bytes());
                format!("file:{path}")
            }
            #[cfg(feature = "registry")]
            Self::Remote(layer) => layer.key(),
            Self::Passed(name) => format!("passed:{name}"),
            Self::Absent(fault) => format!("absent:{fault}"),
        }
    }
}
