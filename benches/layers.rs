//! The least that a gate has to do for an image: unpack its layers and compute both digests of each.
//!
//! `benches/image.py` measures this beside `smgate inspect`. The backends are the same (flate2 with zlib-rs, zstd,
//! sha2), and so are the buffers and the threads: as many layers at a time as there are cores, the largest first,
//! and the digests of each on a second thread. Nothing is looked at. The layers are the arguments.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

/// Bytes moved at a time.
const PIECE: usize = 256 << 10;
/// Pieces between the two threads of a layer.
const PIECES: usize = 8;

enum Piece {
    Packed(Vec<u8>),
    Plain(Vec<u8>),
}

/// Packed bytes on their way to a decoder, sent to be hashed too.
struct Tee {
    file: File,
    piece: Vec<u8>,
    at: usize,
    send: SyncSender<Piece>,
}

impl BufRead for Tee {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.piece.len() {
            let mut piece = vec![0; PIECE];
            let n = self.file.read(&mut piece)?;
            piece.truncate(n);
            let before = std::mem::replace(&mut self.piece, piece);
            self.at = 0;
            self.send
                .send(Piece::Packed(before))
                .map_err(io::Error::other)?;
        }
        Ok(self.piece.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

impl Read for Tee {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buf)?;
        self.consume(n);
        Ok(n)
    }
}

fn unpack(path: &PathBuf, send: &SyncSender<Piece>) -> io::Result<()> {
    let mut head = [0; 4];
    File::open(path)?.read_exact(&mut head)?;
    let tee = Tee {
        file: File::open(path)?,
        piece: Vec::new(),
        at: 0,
        send: send.clone(),
    };
    let mut reader: Box<dyn Read> = match head {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(tee)),
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::stream::read::Decoder::with_buffer(tee)?),
        _ => Box::new(BufReader::with_capacity(PIECE, File::open(path)?)),
    };
    loop {
        let mut piece = vec![0; PIECE];
        let mut filled = 0;
        while let Some(free) = piece.get_mut(filled..).filter(|free| !free.is_empty()) {
            match reader.read(free)? {
                0 => break,
                n => filled += n,
            }
        }
        if filled == 0 {
            return Ok(());
        }
        piece.truncate(filled);
        send.send(Piece::Plain(piece)).map_err(io::Error::other)?;
    }
}

fn layer(path: &PathBuf) -> io::Result<u64> {
    let (send, receive) = sync_channel(PIECES);
    std::thread::scope(|scope| {
        let unpacking = scope.spawn(move || unpack(path, &send));
        let (mut packed, mut plain, mut total) = (Sha256::new(), Sha256::new(), 0);
        for piece in receive {
            match piece {
                Piece::Packed(bytes) => packed.update(&bytes),
                Piece::Plain(bytes) => {
                    plain.update(&bytes);
                    total += bytes.len() as u64;
                }
            }
        }
        std::hint::black_box((packed.finalize(), plain.finalize()));
        match unpacking.join() {
            Ok(done) => done.map(|()| total),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn main() -> io::Result<()> {
    let arguments = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"));
    let mut layers: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    if layers.is_empty() {
        // `cargo bench` without arguments has nothing to measure
        return writeln!(io::stdout(), "run benches/image.py, which calls this");
    }
    layers.sort_by_key(|path| path.metadata().map_or(0, |metadata| metadata.len()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let left = Mutex::new(layers);
    let worker = || {
        let mut total = 0;
        loop {
            let next = left.lock().ok().and_then(|mut left| left.pop());
            match next {
                Some(path) => total += layer(&path)?,
                None => return Ok(total),
            }
        }
    };
    let totals: io::Result<Vec<u64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .map(|worker| match worker.join() {
                Ok(total) => total,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });
    writeln!(io::stdout(), "{}", totals?.iter().sum::<u64>())
}
