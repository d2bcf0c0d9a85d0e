//! The bytes of a member, unpacked and verified.

use std::io::{self, BufRead as _, Read};

use flate2::bufread::DeflateDecoder;

use super::{Method, ZipMember};
use crate::ProblemKind;
use crate::archive::{Cursor, Fault, SharedBytes};
use crate::limits::{Budget, Metered};

/// Reads one member, unpacked. The end of the data is only reported after CRC-32 and size proved
/// right; every error carries a [`Fault`] and is repeated by the reads after it.
#[derive(Debug)]
pub struct MemberReader<'b> {
    body: Metered<'b, Body>,
    crc: crc32fast::Hasher,
    claimed_crc: u32,
    claimed_size: u64,
    end: Option<Result<(), Fault>>,
}

#[derive(Debug)]
enum Body {
    Stored(Cursor),
    Deflated(Box<DeflateDecoder<Cursor>>),
}

impl<'b> MemberReader<'b> {
    pub(super) fn new(member: &ZipMember, data: &SharedBytes, budget: &'b Budget) -> Self {
        let packed = data.cursor();
        let body = match member.method {
            Method::Stored => Body::Stored(packed),
            Method::Deflated => Body::Deflated(Box::new(DeflateDecoder::new(packed))),
        };
        Self {
            body: Metered::new(body, budget, data.len()),
            crc: crc32fast::Hasher::new(),
            claimed_crc: member.crc,
            claimed_size: member.size,
            end: None,
        }
    }

    /// Bytes unpacked so far.
    pub fn unpacked(&self) -> u64 {
        self.body.unpacked()
    }

    fn verify(&mut self) -> Result<(), Fault> {
        let (unpacked, claimed) = (self.unpacked(), self.claimed_size);
        if unpacked < claimed {
            let detail = format!("it unpacks to {unpacked} bytes, {claimed} are stated");
            return Err(Fault::new(ProblemKind::SizeMismatch, detail));
        }
        let crc = self.crc.clone().finalize();
        if crc != self.claimed_crc {
            let detail = format!(
                "the CRC-32 of its bytes is {crc:08x}, {:08x} is stated",
                self.claimed_crc
            );
            return Err(Fault::new(ProblemKind::ChecksumMismatch, detail));
        }
        if self
            .body
            .get_mut()
            .has_more()
            .map_err(|error| Fault::of(&error))?
        {
            let detail = "packed bytes are left over after the end of its data";
            return Err(Fault::new(ProblemKind::CorruptData, detail));
        }
        Ok(())
    }
}

impl Body {
    /// Whether packed bytes are left.
    fn has_more(&mut self) -> io::Result<bool> {
        let cursor = match self {
            Self::Stored(cursor) => cursor,
            Self::Deflated(decoder) => decoder.get_mut(),
        };
        Ok(!cursor.fill_buf()?.is_empty())
    }
}

impl Read for Body {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stored(cursor) => cursor.read(buf),
            Self::Deflated(decoder) => decoder.read(buf),
        }
    }
}

impl Read for MemberReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        if let Some(end) = &self.end {
            return end.clone().map(|()| 0).map_err(io::Error::from);
        }
        let end = match self.body.read(buf) {
            Ok(0) => self.verify(),
            Ok(n) => {
                self.crc.update(buf.get(..n).unwrap_or_default());
                let claimed = self.claimed_size;
                if self.unpacked() <= claimed {
                    return Ok(n);
                }
                let detail = format!("it unpacks to more than the {claimed} bytes that are stated");
                Err(Fault::new(ProblemKind::SizeMismatch, detail))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => Err(Fault::of(&error)),
        };
        self.end
            .insert(end)
            .clone()
            .map(|()| 0)
            .map_err(io::Error::from)
    }
}
