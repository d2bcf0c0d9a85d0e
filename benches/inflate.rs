//! The least that a gate has to do for a wheel: inflate its native members and hash the file.
//!
//! `benches/wheel.py` measures this beside `smgate inspect`. The backend is the same (flate2 with zlib-rs), and
//! so are the buffers; nothing is looked at, no checksum of a member is made. Which members are native is told
//! on standard input, one a line: offset of the packed bytes, their number, `stored` or `deflated`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use flate2::bufread::DeflateDecoder;
use sha2::{Digest, Sha256};

/// As the gate reads: packed bytes at a time, unpacked bytes at a time.
const PACKED: usize = 128 << 10;
const UNPACKED: usize = 256 << 10;

fn main() -> io::Result<()> {
    // `cargo bench` without arguments has nothing to measure: the arguments of a run are its own
    let Some(wheel) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) else {
        return writeln!(io::stdout(), "run benches/wheel.py, which calls this");
    };
    let mut buffer = vec![0; UNPACKED];
    let mut unpacked = 0;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut fields = line.split_whitespace();
        let mut number = || fields.next().and_then(|text| text.parse::<u64>().ok());
        let (Some(offset), Some(packed)) = (number(), number()) else {
            return Err(io::Error::other(format!("not a member: `{line}`")));
        };
        let mut file = File::open(&wheel)?;
        file.seek(SeekFrom::Start(offset))?;
        let packed = file.take(packed);
        unpacked += if line.ends_with("stored") {
            drain(packed, &mut buffer)?
        } else {
            let packed = BufReader::with_capacity(PACKED, packed);
            drain(DeflateDecoder::new(packed), &mut buffer)?
        };
    }
    let mut hash = Sha256::new();
    let mut file = File::open(&wheel)?;
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hash.update(buffer.get(..n).unwrap_or_default());
    }
    let digest = hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _infallible = write!(hex, "{byte:02x}");
        hex
    });
    writeln!(io::stdout(), "{unpacked} {digest}")
}

fn drain(mut reader: impl Read, buffer: &mut [u8]) -> io::Result<u64> {
    let mut total = 0;
    loop {
        let n = reader.read(buffer)?;
        if n == 0 {
            return Ok(total);
        }
        total += n as u64;
    }
}
