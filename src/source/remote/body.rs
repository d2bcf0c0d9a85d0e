//! A file, or a part of it, on its way: it goes on where a connection broke, and is hashed where all of it passes.

use std::io::{self, Read};
use std::sync::Arc;

use super::refusal::Refusal;
use super::slots::Slot;
use super::{Remote, Verified};
use crate::ProblemKind;
use crate::archive::Fault;
use crate::source::http::{Patience, Response, bounded, content_range};
use crate::source::sum::Sum;

/// Bytes of an answer that are passed over at a time.
const WASTE: usize = 16 << 10;

/// A reader of a part of a file. Every error is a [`Fault`].
pub(super) struct Body {
    remote: Arc<Remote>,
    /// The next byte that the reader gets.
    position: u64,
    /// Where it ends; not known of a whole file whose server does not say.
    end: Option<u64>,
    /// Whether the server is asked for a range, and nothing else is an answer.
    ranges: bool,
    /// Whether a whole file that broke is taken up again by a range.
    resumes: bool,
    response: Option<Response>,
    /// Bytes of the answer before the position.
    skip: u64,
    patience: Patience,
    /// What ended the last connection.
    broke: Option<Refusal>,
    sum: Option<Sum>,
    failed: Option<Fault>,
    finished: bool,
    _slot: Slot,
}

impl Body {
    /// A part of a file, of which `response` is the first answer if it was asked for already.
    pub(super) fn range(
        remote: &Arc<Remote>,
        range: std::ops::Range<u64>,
        response: Option<Response>,
    ) -> Result<Self, Refusal> {
        let whole = range.start == 0 && Some(range.end) == remote.len;
        let mut body = Self::new(remote, range.start, Some(range.end), whole);
        body.ranges = true;
        if range.is_empty() {
            body.finish();
        } else if response.is_some() {
            body.patience.begin(range.start);
            body.response = response;
        } else {
            body.connect()?;
        }
        Ok(body)
    }

    /// A whole file, out of an answer with all of it.
    pub(super) fn whole(remote: &Arc<Remote>, response: Response) -> Self {
        let mut body = Self::new(remote, 0, response.claimed_len(), true);
        body.patience.begin(0);
        body.response = Some(response);
        body
    }

    fn new(remote: &Arc<Remote>, position: u64, end: Option<u64>, whole: bool) -> Self {
        let wanted = remote.state.hash.as_ref().filter(|_| whole);
        Self {
            position,
            end,
            ranges: false,
            resumes: true,
            response: None,
            skip: 0,
            patience: Patience::default(),
            broke: None,
            sum: wanted.and_then(|hash| Sum::of(&hash.algorithm)),
            failed: None,
            finished: false,
            _slot: remote.fetcher.slots.take(),
            remote: Arc::clone(remote),
        }
    }

    /// Asks for what is left.
    fn connect(&mut self) -> Result<(), Refusal> {
        self.patience.begin(self.position);
        let mut request = self.remote.request();
        let partial = self.ranges || (self.resumes && self.position > 0);
        if partial {
            let last = match self.end {
                Some(end) if self.ranges => (end - 1).to_string(),
                _ => String::new(),
            };
            request = request.header("range", format!("bytes={}-{last}", self.position));
            if let Some(validator) = &self.remote.validator {
                request = request.header("if-range", validator.clone());
            }
        }
        let response = self.remote.send(&request)?;
        self.take(response, partial)
    }

    fn take(&mut self, response: Response, partial: bool) -> Result<(), Refusal> {
        let shown = self.remote.shown();
        self.skip = match response.status() {
            206 if partial && self.is_asked_for(&response)? => 0,
            206 if self.ranges => {
                return Err(Refusal::nonsense(format!(
                    "`{shown}` answers with other bytes than it was asked for"
                )));
            }
            // a server that is no good at ranges is asked for all of it again
            206 | 416 if partial && !self.ranges => {
                self.resumes = false;
                return self.connect();
            }
            200 if self.ranges => {
                let how = if self.remote.validator.is_some() {
                    "the server has another one now"
                } else {
                    "the server gives no parts of it any longer"
                };
                return Err(Refusal::changed(&shown, how));
            }
            200 => {
                let len = response.claimed_len();
                if let (Some(end), Some(len)) = (self.end, len)
                    && end != len
                {
                    let how = format!("it had {end} bytes, and has {len}");
                    return Err(Refusal::changed(&shown, &how));
                }
                self.position
            }
            412 | 416 if self.ranges => {
                return Err(Refusal::changed(
                    &shown,
                    "it ends before what was asked for",
                ));
            }
            _ => return Err(self.remote.refused(&response)),
        };
        not_encoded(&shown, &response)?;
        self.response = Some(response);
        Ok(())
    }

    /// Whether an answer has the range that was asked for, of the same file.
    fn is_asked_for(&self, response: &Response) -> Result<bool, Refusal> {
        let Some((first, last, total)) = response.header("content-range").and_then(content_range)
        else {
            return Ok(false);
        };
        let shown = self.remote.shown();
        if let (Some(total), Some(len)) = (total, self.remote.len)
            && total != len
        {
            let how = format!("it had {len} bytes, and has {total}");
            return Err(Refusal::changed(&shown, &how));
        }
        if let (Some(before), Some(now)) = (&self.remote.etag, strong_etag(response))
            && before != now
        {
            return Err(Refusal::changed(&shown, "its `ETag` is another one"));
        }
        let len = response.claimed_len();
        let ends = self.end.is_none_or(|end| last.checked_add(1) == Some(end));
        let fits = len.is_none_or(|len| first.checked_add(len) == last.checked_add(1));
        Ok(first == self.position && ends && fits)
    }

    /// Reads what the connection has; `None` where it broke or ended.
    fn receive(&mut self, buf: &mut [u8]) -> Option<usize> {
        let response = self.response.as_mut()?;
        let mut waste = [0; WASTE];
        loop {
            let passing = self.skip > 0;
            let target = if passing {
                let most = usize::try_from(self.skip).map_or(WASTE, |skip| skip.min(WASTE));
                waste.get_mut(..most)?
            } else {
                &mut *buf
            };
            match response.read(target) {
                Ok(0) => self.broke = None,
                Ok(len) if passing => {
                    self.skip = self.skip.saturating_sub(len as u64);
                    continue;
                }
                Ok(len) => return Some(len),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => self.broke = Some(Refusal::of_http(&response.error_of(&error))),
            }
            self.response = None;
            return None;
        }
    }

    /// After a connection that ended before its time.
    fn again(&mut self) -> Result<(), Refusal> {
        let Some(pause) = self.patience.pause(self.position) else {
            let why = self.broke.take().map_or_else(
                || "the connection ended".to_owned(),
                |refusal| refusal.message,
            );
            return Err(Refusal {
                kind: ProblemKind::Truncated,
                ..Refusal::nonsense(format!(
                    "`{}` ends after {} bytes, again and again: {why}",
                    self.remote.shown(),
                    self.position
                ))
            });
        };
        self.remote.fetcher.http.clock().sleep(pause);
        self.connect()
    }

    fn finish(&mut self) {
        self.finished = true;
        self.response = None;
        if let Some(sum) = self.sum.take() {
            self.remote
                .state
                .set(Verified::of(sum.finish(), &self.remote.state));
        }
    }

    fn next(&mut self, buf: &mut [u8]) -> Result<usize, Refusal> {
        let left = self.end.map(|end| end.saturating_sub(self.position));
        let most = left.and_then(|left| usize::try_from(left).ok());
        let most = most.map_or(buf.len(), |most| most.min(buf.len()));
        loop {
            if self.finished {
                return Ok(0);
            }
            let wanted = buf.get_mut(..most).unwrap_or_default();
            match self.receive(wanted) {
                Some(len) => {
                    self.position += len as u64;
                    if let Some(sum) = &mut self.sum {
                        sum.update(buf.get(..len).unwrap_or_default());
                    }
                    if self.end == Some(self.position) {
                        self.finish();
                    }
                    return Ok(len);
                }
                // a body whose length nobody states ends where the connection does
                None if self.end.is_none() && self.broke.is_none() => self.finish(),
                None => self.again()?,
            }
        }
    }
}

impl Read for Body {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        if let Some(fault) = &self.failed {
            return Err(fault.clone().into());
        }
        self.next(buf).map_err(|refusal| {
            let fault = self.remote.state.fail(refusal);
            self.failed = Some(fault.clone());
            fault.into()
        })
    }
}

/// What was asked for are the bytes as they are stored.
pub(super) fn not_encoded(shown: &str, response: &Response) -> Result<(), Refusal> {
    match response.header("content-encoding") {
        Some(coding) if !coding.eq_ignore_ascii_case("identity") => {
            Err(Refusal::nonsense(format!(
                "`{shown}` is sent in the coding `{}`, which was not asked for",
                bounded(coding, 50)
            )))
        }
        _ => Ok(()),
    }
}

/// A tag that says that the bytes are the same.
pub(super) fn strong_etag(response: &Response) -> Option<&str> {
    response.header("etag").filter(|etag| etag.starts_with('"'))
}
