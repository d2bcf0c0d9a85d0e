//! A layer's bytes on two threads: one unpacks, the other hashes and looks at what is unpacked.
//!
//! Unpacking takes most of the time, so that everything else goes to the second thread: both digests and the scan.
//! Between them are a few buffers, which are used again.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Scope;

use sha2::{Digest as _, Sha256};

use crate::archive::{Fault, Kind, Sniffed, decoder};
use crate::limits::{Budget, Metered};

/// Bytes of a buffer.
const PIECE: usize = 256 << 10;
/// Buffers on the way.
const PIECES: usize = 8;

/// What goes from the one thread to the other.
enum Piece {
    /// Bytes as they are stored.
    Packed(Vec<u8>),
    /// Bytes as they are unpacked. Where nothing is packed there are only these.
    Plain(Vec<u8>),
    /// Why there is no more.
    Failed(Fault),
}

/// The digests of a layer, in hexadecimal, and how many bytes each is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::inventory) struct Sums {
    pub(in crate::inventory) packed: String,
    pub(in crate::inventory) packed_len: u64,
    pub(in crate::inventory) plain: String,
    pub(in crate::inventory) plain_len: u64,
}

/// Buffers that come back.
struct Used {
    packed: Receiver<Vec<u8>>,
    plain: Receiver<Vec<u8>>,
}

/// The unpacked bytes of a layer, hashed as they pass.
pub(super) struct Pipe {
    pieces: Receiver<Piece>,
    used_packed: Sender<Vec<u8>>,
    used_plain: Sender<Vec<u8>>,
    plain: Vec<u8>,
    at: usize,
    packed_sum: Hash,
    plain_sum: Hash,
    failed: Option<Fault>,
}

#[derive(Default)]
struct Hash {
    hash: Sha256,
    len: u64,
}

impl Hash {
    fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.len += bytes.len() as u64;
    }

    fn hex(self) -> (String, u64) {
        (crate::inventory::run::hex(&self.hash.finalize()), self.len)
    }
}

impl Pipe {
    /// Begins to unpack `stored`, `size` bytes, on a thread of `scope`.
    pub(super) fn start<'scope, 'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        stored: Box<dyn BufRead + Send + 'scope>,
        size: u64,
        budget: &'env Budget,
    ) -> Self {
        let (send, pieces) = sync_channel(PIECES);
        let (used_packed, packed) = channel();
        let (used_plain, plain) = channel();
        let used = Used { packed, plain };
        scope.spawn(move || {
            if let Err(fault) = unpack(stored, size, budget, &send, used) {
                // nobody listens where the other thread has failed
                let _closed = send.send(Piece::Failed(fault));
            }
        });
        Self {
            pieces,
            used_packed,
            used_plain,
            plain: Vec::new(),
            at: 0,
            packed_sum: Hash::default(),
            plain_sum: Hash::default(),
            failed: None,
        }
    }

    /// The next unpacked bytes; none at the end.
    fn advance(&mut self) -> Result<(), Fault> {
        loop {
            match self.pieces.recv() {
                Ok(Piece::Packed(bytes)) => {
                    self.packed_sum.update(&bytes);
                    let _closed = self.used_packed.send(bytes);
                }
                Ok(Piece::Plain(bytes)) => {
                    self.plain_sum.update(&bytes);
                    let before = std::mem::replace(&mut self.plain, bytes);
                    self.at = 0;
                    let _closed = self.used_plain.send(before);
                    return Ok(());
                }
                Ok(Piece::Failed(fault)) => {
                    self.failed = Some(fault.clone());
                    return Err(fault);
                }
                Err(_ended) => {
                    self.plain.clear();
                    return Ok(());
                }
            }
        }
    }

    /// Reads what is left, and says what all of it was.
    pub(super) fn finish(mut self) -> Result<Sums, Fault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        loop {
            self.advance()?;
            if self.plain.is_empty() {
                break;
            }
        }
        let (plain, plain_len) = self.plain_sum.hex();
        let (packed, packed_len) = match self.packed_sum.len {
            0 => (plain.clone(), plain_len),
            _ => self.packed_sum.hex(),
        };
        Ok(Sums {
            packed,
            packed_len,
            plain,
            plain_len,
        })
    }
}

impl Read for Pipe {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        if let Some(fault) = &self.failed {
            return Err(fault.clone().into());
        }
        if self.at >= self.plain.len() {
            self.advance()?;
        }
        let mut rest = self.plain.get(self.at..).unwrap_or_default();
        let n = rest.read(buf)?;
        self.at += n;
        Ok(n)
    }
}

/// A reader of what `stored` holds, unpacked where it is packed.
pub(super) fn unpacked<'r>(
    stored: Box<dyn BufRead + Send + 'r>,
) -> Result<Box<dyn Read + Send + 'r>, Fault> {
    let stored = Sniffed::new(stored).map_err(|error| Fault::of(&error))?;
    match stored.kind() {
        // what is no archive at all is said by who reads it as one
        Some(Kind::Tar) | None => Ok(Box::new(stored)),
        Some(kind) => decoder(kind, io::BufReader::with_capacity(PIECE, stored)),
    }
}

/// Sends everything that `stored` holds, as it is and as it unpacks.
fn unpack(
    stored: Box<dyn BufRead + Send + '_>,
    size: u64,
    budget: &Budget,
    send: &SyncSender<Piece>,
    used: Used,
) -> Result<(), Fault> {
    let fault = |error: io::Error| Fault::of(&error);
    let stored = Sniffed::new(stored).map_err(fault)?;
    let reader: Box<dyn Read + Send> = match stored.kind().filter(|kind| *kind != Kind::Tar) {
        None => Box::new(stored),
        Some(kind) => {
            let tee = Tee {
                inner: stored,
                bytes: Vec::new(),
                at: 0,
                send: send.clone(),
                used: used.packed,
            };
            decoder(kind, tee)?
        }
    };
    let mut reader = Metered::new(reader, budget, size);
    loop {
        let mut piece = emptied(&used.plain);
        read_piece(&mut reader, &mut piece).map_err(fault)?;
        if piece.is_empty() || send.send(Piece::Plain(piece)).is_err() {
            return Ok(());
        }
    }
}

/// A buffer that was used, or a new one.
fn emptied(used: &Receiver<Vec<u8>>) -> Vec<u8> {
    used.try_recv().unwrap_or_default()
}

/// Fills a buffer, unless the bytes end before.
fn read_piece(reader: &mut impl Read, piece: &mut Vec<u8>) -> io::Result<()> {
    piece.resize(PIECE, 0);
    let mut filled = 0;
    while let Some(free) = piece.get_mut(filled..).filter(|free| !free.is_empty()) {
        match reader.read(free) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    piece.truncate(filled);
    Ok(())
}

/// Packed bytes on their way to a decoder, sent to be hashed too.
struct Tee<R> {
    inner: R,
    bytes: Vec<u8>,
    at: usize,
    send: SyncSender<Piece>,
    used: Receiver<Vec<u8>>,
}

impl<R> Tee<R> {
    fn send_on(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.at = 0;
        if !bytes.is_empty() {
            // nobody listens where the other thread has failed
            let _closed = self.send.send(Piece::Packed(bytes));
        }
    }
}

impl<R: Read> BufRead for Tee<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.bytes.len() {
            self.send_on();
            let mut bytes = emptied(&self.used);
            read_piece(&mut self.inner, &mut bytes)?;
            self.bytes = bytes;
        }
        Ok(self.bytes.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.at = self.at.saturating_add(amount);
    }
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buf)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R> Drop for Tee<R> {
    fn drop(&mut self) {
        self.send_on();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::limits::{Limits, read_capped};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn pass(stored: &[u8], budget: &Budget) -> Result<(Vec<u8>, Sums), Fault> {
        std::thread::scope(|scope| {
            let mut pipe = Pipe::start(scope, Box::new(stored), stored.len() as u64, budget);
            let plain = read_capped(&mut pipe, 1 << 30).map_err(|error| Fault::of(&error))?;
            Ok((plain.0, pipe.finish()?))
        })
    }

    fn sum(bytes: &[u8]) -> String {
        crate::inventory::run::hex(&Sha256::digest(bytes))
    }

    #[test]
    fn unpacks_and_hashes_both_sides() {
        // not compressible, so that there are many pieces on both sides
        let plain: Vec<u8> = (0..3_000_000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0])
            .collect();
        let cut = plain.len() / 3;
        let members = [gzip(&plain[..cut]), gzip(&plain[cut..])].concat();
        let zstd = zstd::encode_all(&plain[..], 1).unwrap();
        for stored in [plain.clone(), gzip(&plain), members, zstd] {
            let (bytes, sums) = pass(&stored, &Budget::default()).unwrap();
            assert!(bytes == plain);
            assert_eq!(sums.packed, sum(&stored));
            assert_eq!(sums.packed_len, stored.len() as u64);
            assert_eq!(
                (&sums.plain, sums.plain_len),
                (&sum(&plain), plain.len() as u64)
            );
        }
    }

    #[test]
    fn who_reads_only_a_part_gets_the_sums_of_all() {
        let plain = vec![3; 5_000_000];
        let stored = gzip(&plain);
        let budget = Budget::default();
        std::thread::scope(|scope| {
            let mut pipe = Pipe::start(scope, Box::new(&stored[..]), stored.len() as u64, &budget);
            let mut some = [0; 10];
            pipe.read_exact(&mut some).unwrap();
            assert_eq!(pipe.finish().unwrap().plain, sum(&plain));
        });
    }

    #[test]
    fn damage_and_limits_arrive_at_the_reader() {
        let stored = gzip(&vec![3; 1_000_000]);
        let cut = pass(&stored[..stored.len() / 2], &Budget::default()).unwrap_err();
        assert_eq!(cut.kind, crate::ProblemKind::Truncated);
        let limits = Limits {
            unpacked_bytes: 500_000,
            ..Limits::default()
        };
        let limit = pass(&stored, &Budget::new(limits)).unwrap_err();
        assert_eq!(limit.kind, crate::ProblemKind::LimitExceeded);
    }

    #[test]
    fn a_reader_that_goes_away_stops_the_other_thread() {
        let stored = gzip(&vec![3; 50_000_000]);
        let budget = Budget::default();
        std::thread::scope(|scope| {
            drop(Pipe::start(scope, Box::new(&stored[..]), 1, &budget));
        });
    }
}
