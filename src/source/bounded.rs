//! Metadata files, read within the limits of the run.

use std::io::Read;

use crate::archive::Fault;
use crate::limits::{LimitHit, Limits, read_capped};

/// The whole of a metadata file.
pub(super) fn read_metadata(reader: impl Read, limits: &Limits) -> Result<Vec<u8>, Fault> {
    let cap = limits.metadata_bytes;
    match read_capped(reader, cap) {
        Ok((bytes, false)) => Ok(bytes),
        Ok((_, true)) => Err(LimitHit::Metadata(cap).into()),
        Err(error) => Err(Fault::of(&error)),
    }
}
