//! Room for an archive that arrives as a stream and must be read from its end.
//!
//! Responsible for holding it within the limits of the run: in memory up to 8 MiB, beyond that in
//! a temporary file that has no name. It does not look at the bytes.

use std::fs::File;
use std::io::{self, Read, Write as _};

use super::{Fault, SharedBytes};
use crate::ProblemKind;
use crate::limits::{LimitHit, Limits};

/// Bytes that are held in memory.
const MEMORY: u64 = 8 << 20;

/// Bytes moved at a time.
const CHUNK: usize = 256 << 10;

/// Reads `reader` to its end and keeps the bytes.
///
/// `claimed` is how many bytes there are said to be; it only lets a stream that is too large be
/// refused before it is read.
pub fn spool(
    mut reader: impl Read,
    limits: &Limits,
    claimed: Option<u64>,
) -> Result<SharedBytes, Fault> {
    let cap = limits.spool_bytes;
    if claimed.is_some_and(|claimed| claimed > cap) {
        return Err(LimitHit::Spool(cap).into());
    }
    let mut chunk = vec![0; CHUNK];
    let mut held = Vec::new();
    let mut file: Option<File> = None;
    let mut total = 0;
    loop {
        let n = match reader.read(&mut chunk) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Fault::of(&error)),
        };
        let read = chunk.get(..n).unwrap_or_default();
        if read.is_empty() {
            break;
        }
        total += n as u64;
        if total > cap {
            return Err(LimitHit::Spool(cap).into());
        }
        if let Some(file) = &mut file {
            file.write_all(read).map_err(no_room)?;
        } else if total <= MEMORY {
            held.extend_from_slice(read);
        } else {
            let mut fresh = tempfile::tempfile().map_err(no_room)?;
            fresh.write_all(&held).map_err(no_room)?;
            fresh.write_all(read).map_err(no_room)?;
            held = Vec::new();
            file = Some(fresh);
        }
    }
    match file {
        None => Ok(held.into()),
        Some(file) => SharedBytes::from_file(file).map_err(no_room),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that `map_err` wants"
)]
fn no_room(error: io::Error) -> Fault {
    Fault::new(
        ProblemKind::Io,
        format!("no room for an archive inside an archive in the temporary directory: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::read_capped;

    fn limits(spool_bytes: u64) -> Limits {
        Limits {
            spool_bytes,
            ..Limits::default()
        }
    }

    #[test]
    fn keeps_every_byte_in_memory_and_on_disk() {
        for len in [0, 1, CHUNK as u64, MEMORY, MEMORY + 1, 3 * MEMORY + 77] {
            let source: Vec<u8> = (0..len).map(|i| (i % 253) as u8).collect();
            let kept = spool(&source[..], &limits(u64::MAX), None).unwrap();
            assert_eq!(kept.len(), len);
            let (bytes, more) = read_capped(kept.cursor(), len).unwrap();
            assert!(bytes == source && !more, "{len}");
        }
    }

    #[test]
    fn stops_at_the_limit_whatever_was_claimed() {
        for claimed in [None, Some(1), Some(11)] {
            let fault = spool(io::repeat(7).take(11), &limits(10), claimed).unwrap_err();
            assert_eq!(fault.kind, ProblemKind::LimitExceeded, "{claimed:?}");
            assert!(fault.detail.contains("--max-spool"), "{fault}");
        }
        assert!(spool(io::repeat(7).take(10), &limits(10), Some(10)).is_ok());
        let endless = spool(io::repeat(7), &limits(1 << 20), None).unwrap_err();
        assert_eq!(endless.kind, ProblemKind::LimitExceeded);
    }

    #[test]
    fn passes_on_the_fault_of_the_reader() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(Fault::new(ProblemKind::CorruptData, "bad block").into())
            }
        }
        let fault = spool(Broken, &limits(10), None).unwrap_err();
        assert_eq!(fault, Fault::new(ProblemKind::CorruptData, "bad block"));
    }
}
