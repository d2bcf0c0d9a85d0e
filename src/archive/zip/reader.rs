//! The bytes of a member, unpacked and verified.

use std::io::{self, BufRead as _, Read};

use flate2::bufread::DeflateDecoder;

use super::later::Rest;
use super::{Method, ZipMember};
use crate::ProblemKind;
use crate::archive::{Cursor, Fault};
use crate::limits::{Budget, Metered};

/// Reads one member, unpacked. The end of the data is only reported after CRC-32 and size proved
/// right; every error carries a [`Fault`] and is repeated by the reads after it.
#[derive(Debug)]
pub struct MemberReader<'b> {
    body: Metered<'b, Body>,
    crc: crc32fast::Hasher,
    claimed_crc: u32,
    claimed_size: u64,
    /// What is compared after the data.
    rest: Option<Box<Rest>>,
    end: Option<Result<(), Fault>>,
}

#[derive(Debug)]
enum Body {
    Stored(Cursor),
    Deflated(Box<DeflateDecoder<Cursor>>),
}

impl<'b> MemberReader<'b> {
    pub(super) fn new(member: &ZipMember, packed: Cursor, budget: &'b Budget) -> Self {
        let body = match member.method {
            Method::Stored => Body::Stored(packed),
            Method::Deflated => Body::Deflated(Box::new(DeflateDecoder::new(packed))),
        };
        Self {
            body: Metered::new(body, budget, member.packed),
            crc: crc32fast::Hasher::new(),
            claimed_crc: member.crc,
            claimed_size: member.size,
            rest: None,
            end: None,
        }
    }

    /// Compares `rest` after the data, which is given out before.
    pub(super) fn and_then(mut self, rest: Rest) -> Self {
        self.rest = Some(Box::new(rest));
        self
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
        match self.rest.take() {
            Some(rest) => rest.compare(self.body.get_mut().packed()),
            None => Ok(()),
        }
    }
}

impl Body {
    fn packed(&mut self) -> &mut Cursor {
        match self {
            Self::Stored(cursor) => cursor,
            Self::Deflated(decoder) => decoder.get_mut(),
        }
    }

    /// Whether packed bytes are left.
    fn has_more(&mut self) -> io::Result<bool> {
        Ok(!self.packed().fill_buf()?.is_empty())
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
