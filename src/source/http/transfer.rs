//! Transfers that go on after the connection broke.

use std::time::Duration;

use super::Http;

/// Connections in a row that may bring less than [`PROGRESS`].
const IN_VAIN_MAX: u32 = 5;
/// Connections for one transfer.
const CONNECTIONS_MAX: u32 = 200;
/// Bytes that make a connection worth its while.
const PROGRESS: u64 = 256 << 10;

/// How often a transfer that broke is taken up again.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    connections: u32,
    in_vain: u32,
    /// Where the last connection began to give.
    began: u64,
}

impl Patience {
    /// A connection is made that goes on at `position`.
    pub(crate) fn begin(&mut self, position: u64) {
        self.connections += 1;
        self.began = position;
    }

    /// How long to wait after a connection that ended at `position`, before its time; nothing where that happened too
    /// often.
    pub(crate) fn pause(&mut self, position: u64) -> Option<Duration> {
        if position.saturating_sub(self.began) >= PROGRESS {
            self.in_vain = 0;
        }
        self.in_vain += 1;
        let again = self.in_vain <= IN_VAIN_MAX && self.connections < CONNECTIONS_MAX;
        again.then(|| Http::pause(self.in_vain))
    }
}

/// First byte, last byte and size of the whole, out of `bytes 5-9/10` or `bytes 5-9/*`.
pub(crate) fn content_range(text: &str) -> Option<(u64, u64, Option<u64>)> {
    let rest = text.trim().strip_prefix("bytes ")?;
    let (range, total) = rest.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let total = match total.trim() {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?, total))
}
