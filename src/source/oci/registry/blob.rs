//! Blobs: streams of a stated size that go on after the connection broke.
//!
//! The size is held here. The digest is for whoever reads: a stream cannot take bytes back.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use oci_spec::image::{Descriptor, Digest};

use super::failure::Failure;
use super::{Registry, Session};
use crate::ProblemKind;
use crate::archive::Fault;
use crate::source::http::{HttpError, Patience, Response, bounded, content_range};

/// A blob that is being read: exactly as many bytes as its descriptor states, or an error that is a [`Fault`].
pub struct Blob {
    session: Arc<Session>,
    digest: Digest,
    size: u64,
    /// Bytes given to the reader.
    position: u64,
    body: Option<Body>,
    /// A strong validator, with which a server says whether a range is of the same bytes.
    etag: Option<String>,
    /// Whether the server is still asked for ranges.
    ranges: bool,
    patience: Patience,
    /// What ended it.
    broke: Option<HttpError>,
    finished: bool,
    /// What reading ended with: nothing good follows.
    failed: Option<Fault>,
}

/// The body of an answer.
struct Body {
    response: Response,
    /// Bytes before the position, which are passed over.
    skip: u64,
}

impl Registry {
    /// Opens a blob of the repository. Its digest is for the reader to verify.
    ///
    /// # Errors
    ///
    /// What the registry does not give, or gives with another size.
    pub fn blob(&self, descriptor: &Descriptor) -> Result<Blob, Fault> {
        let mut blob = Blob {
            session: Arc::clone(&self.session),
            digest: descriptor.digest().clone(),
            size: descriptor.size(),
            position: 0,
            body: None,
            etag: None,
            ranges: true,
            patience: Patience::default(),
            broke: None,
            finished: false,
            failed: None,
        };
        blob.connect()?;
        Ok(blob)
    }
}

impl Blob {
    /// Asks for what is left.
    fn connect(&mut self) -> Result<(), Failure> {
        self.patience.begin(self.position);
        let mut request = self
            .session
            .request(&format!("blobs/{}", self.digest))?
            // what is hashed are the bytes as they are stored
            .header("accept-encoding", "identity");
        let partial = self.ranges && self.position > 0;
        if partial {
            request = request.header("range", format!("bytes={}-", self.position));
            if let Some(etag) = &self.etag {
                request = request.header("if-range", etag.clone());
            }
        }
        let response = self.session.send(&request)?;
        let skip = match response.status() {
            200 => self.whole(&response)?,
            206 if partial => {
                if !self.rest(&response)? {
                    return self.without_ranges();
                }
                0
            }
            416 if partial => return self.beyond(&response),
            _ => {
                let what = format!("`{}` could not be pulled", self.digest);
                return Err(self.session.refused(response, &what));
            }
        };
        self.body = Some(Body { response, skip });
        Ok(())
    }

    /// The bytes to pass over in an answer with the whole blob.
    fn whole(&mut self, response: &Response) -> Result<u64, Failure> {
        if let Some(encoding) = response.header("content-encoding")
            && !encoding.eq_ignore_ascii_case("identity")
        {
            return Err(Failure::nonsense(format!(
                "`{}` is sent in the coding `{}`, which was not asked for",
                self.digest,
                bounded(encoding, 50)
            )));
        }
        self.check_len(response.claimed_len())?;
        let etag = response.header("etag");
        self.etag = etag.filter(|etag| etag.starts_with('"')).map(str::to_owned);
        Ok(self.position)
    }

    /// Whether an answer with a range has what was asked for.
    fn rest(&self, response: &Response) -> Result<bool, Failure> {
        let range = response.header("content-range").and_then(content_range);
        let Some((first, last, total)) = range else {
            return Ok(false);
        };
        self.check_len(total)?;
        let len = response.claimed_len();
        let whole = last.checked_add(1) == Some(self.size);
        let fits = len.is_none_or(|len| first.checked_add(len) == Some(self.size));
        Ok(first == self.position && whole && fits)
    }

    /// A server that cannot give ranges is asked for the whole again.
    fn without_ranges(&mut self) -> Result<(), Failure> {
        self.ranges = false;
        self.connect()
    }

    /// There is nothing where more should be.
    fn beyond(&mut self, response: &Response) -> Result<(), Failure> {
        let total = response
            .header("content-range")
            .and_then(|text| text.trim().strip_prefix("bytes */")?.parse().ok());
        self.check_len(total)?;
        self.without_ranges()
    }

    fn check_len(&self, stated: Option<u64>) -> Result<(), Failure> {
        match stated {
            Some(len) if len < self.size => Err(self.too_short(len)),
            Some(len) if len > self.size => Err(self.too_long(&format!("has {len} bytes"))),
            _ => Ok(()),
        }
    }

    fn too_short(&self, len: u64) -> Failure {
        Failure::damaged(
            ProblemKind::Truncated,
            format!(
                "`{}` has {len} bytes on the registry, and {} in the manifest",
                self.digest, self.size
            ),
        )
    }

    fn too_long(&self, has: &str) -> Failure {
        Failure::damaged(
            ProblemKind::SizeMismatch,
            format!(
                "`{}` {has} on the registry, and {} in the manifest",
                self.digest, self.size
            ),
        )
    }

    /// Reads what the connection has; `None` where it broke or ended.
    fn receive(&mut self, buf: &mut [u8]) -> Option<usize> {
        let body = self.body.as_mut()?;
        let mut waste = [0; 16 << 10];
        loop {
            let passing = body.skip > 0;
            let target = if passing {
                let most =
                    usize::try_from(body.skip).map_or(waste.len(), |skip| skip.min(waste.len()));
                waste.get_mut(..most)?
            } else {
                &mut *buf
            };
            match body.response.read(target) {
                Ok(0) => self.broke = None,
                Ok(len) if passing => {
                    body.skip = body.skip.saturating_sub(len as u64);
                    continue;
                }
                Ok(len) => return Some(len),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => self.broke = Some(body.response.error_of(&error)),
            }
            self.body = None;
            return None;
        }
    }

    /// After a connection has ended before the blob did.
    fn again(&mut self) -> Result<(), Failure> {
        let Some(pause) = self.patience.pause(self.position) else {
            return Err(match &self.broke {
                Some(error) => {
                    let failure = Failure::of_http(error);
                    Failure::new(
                        ProblemKind::Truncated,
                        format!(
                            "`{}` ends after {} of {} bytes, again and again: {}",
                            self.digest, self.position, self.size, failure.message
                        ),
                        failure.hint,
                    )
                }
                None => self.too_short(self.position),
            });
        };
        self.session.http.clock().sleep(pause);
        self.connect()
    }

    /// At the end: nothing may follow.
    fn finish(&mut self) -> Result<(), Failure> {
        self.finished = true;
        let more = self.receive(&mut [0]);
        self.body = None;
        match more {
            Some(_) => Err(self.too_long("has more bytes")),
            // what broke behind the last byte has done no harm
            None => Ok(()),
        }
    }

    /// The next bytes; none at the end.
    fn next(&mut self, buf: &mut [u8]) -> Result<usize, Failure> {
        let left = self.size - self.position;
        if left == 0 {
            if !self.finished {
                self.finish()?;
            }
            return Ok(0);
        }
        let most = usize::try_from(left).map_or(buf.len(), |left| left.min(buf.len()));
        loop {
            let wanted = buf.get_mut(..most).unwrap_or_default();
            if let Some(len) = self.receive(wanted) {
                self.position += len as u64;
                return Ok(len);
            }
            self.again()?;
        }
    }
}

impl Read for Blob {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        if let Some(fault) = &self.failed {
            return Err(fault.clone().into());
        }
        self.next(buf).map_err(|failure| {
            let fault = Fault::from(failure);
            self.failed = Some(fault.clone());
            fault.into()
        })
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blob")
            .field("digest", &self.digest)
            .field("size", &self.size)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
