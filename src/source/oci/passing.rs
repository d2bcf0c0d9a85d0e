//! Archives of images that pass by once: standard input, compressed archives, a daemon's answer.
//!
//! The lists of images stand at the end of most such archives, so that layers are read before it is known that they
//! are layers. What is small and looks like JSON is kept; of everything else the name is remembered.

use super::Image;
use super::archive::{read_all, same};
use super::assemble::{assemble, damaged};
use super::blob::Blob;
use super::files::Files;
use super::json::CONFIG_MAX;
use super::members::Members;
use super::names::Choice;
use crate::archive::{Fault, Kind, SharedBytes, TarKind};
use crate::limits::Limits;
use crate::{Error, Locator, MemberName, ProblemKind};

/// Bytes of all members that are kept.
const KEPT_MAX: u64 = 128 << 20;

/// Collects what is needed of a stream of members to say which images they are.
#[derive(Debug, Default)]
pub struct Passing {
    members: Members<Body>,
    kept: u64,
    fault: Option<Fault>,
}

#[derive(Debug)]
enum Body {
    Kept(SharedBytes),
    Passed(MemberName, u64),
}

impl Passing {
    /// Nothing has passed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a regular file of `size` bytes that begins with `head` is to be kept whole.
    pub fn wants(&self, head: &[u8], size: u64) -> bool {
        let text = head.trim_ascii_start();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        size <= CONFIG_MAX
            && self.kept.saturating_add(size) <= KEPT_MAX
            && matches!(text.first(), Some(b'{' | b'['))
            // the name of the first member of a layer may begin so too
            && Kind::sniff(head).is_none()
    }

    /// Takes the bytes of a regular file.
    pub fn keep(&mut self, name: &MemberName, bytes: Vec<u8>) {
        self.kept = self.kept.saturating_add(bytes.len() as u64);
        let body = Body::Kept(bytes.into());
        self.members
            .add_file(name.as_bytes(), body, |one, other| match (one, other) {
                (Body::Kept(one), Body::Kept(other)) => same(one, other),
                _ => false,
            });
    }

    /// Takes a member that is a link; one of another kind is passed over.
    pub fn link(&mut self, name: &MemberName, kind: &TarKind) {
        self.members.add_link(name.as_bytes(), kind);
    }

    /// Takes note of a regular file that was not kept. A second one of its name may be another: then neither is a
    /// layer.
    pub fn passed(&mut self, name: &MemberName, size: u64) {
        let body = Body::Passed(name.clone(), size);
        self.members.add_file(name.as_bytes(), body, |_, _| false);
    }

    /// Takes note of why the stream could not be read to its end.
    pub fn broke(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    /// The images that passed.
    ///
    /// # Errors
    ///
    /// A stream without an image, or without the one that `choice` names; lists of images that cannot be read.
    pub fn images(
        self,
        at: &Locator,
        choice: &Choice,
        limits: &Limits,
    ) -> Result<Vec<Image>, Error> {
        let damage: Vec<_> = self
            .fault
            .iter()
            .map(|fault| damaged(fault.clone(), at))
            .collect();
        assemble(&self, at, choice, limits, &damage)
    }
}

impl Files for Passing {
    fn read_small(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>, Fault> {
        match self.members.get(path)? {
            None => Ok(None),
            Some(Body::Kept(bytes)) => read_all(bytes, cap).map(Some),
            Some(Body::Passed(..)) => {
                let detail = "no JSON text, or more of it than is kept of a stream";
                Err(Fault::new(ProblemKind::MalformedMetadata, detail))
            }
        }
    }

    fn blob(&self, path: &str) -> Option<Blob> {
        match self.members.get(path) {
            Ok(None) => None,
            Ok(Some(Body::Kept(bytes))) => Some(Blob::Bytes(bytes.clone())),
            Ok(Some(Body::Passed(name, _))) => Some(Blob::Passed(name.clone())),
            Err(fault) => Some(Blob::Absent(fault)),
        }
    }

    fn size(&self, path: &str) -> Option<u64> {
        match self.members.get(path).ok()?? {
            Body::Kept(bytes) => Some(bytes.len()),
            Body::Passed(_, size) => Some(*size),
        }
    }
}
