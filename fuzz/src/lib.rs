//! What fuzz targets share.

use smgate::device::{DeviceReport, Scanner};

/// Second looks that a file may ask for before that counts as asking for ever.
const LOOKS_MAX: usize = 8;

/// What the reader says of `bytes`, fed in pieces of `chunk` bytes, with second looks as it asks for them.
pub fn scan(bytes: &[u8], chunk: usize) -> DeviceReport {
    let mut scanner = Scanner::new(Some(bytes.len() as u64));
    for piece in bytes.chunks(chunk.max(1)) {
        scanner.feed(piece);
    }
    let mut scanned = scanner.finish();
    for look in 0.. {
        let missing = scanned.missing();
        if missing.is_empty() {
            break;
        }
        assert!(look < LOOKS_MAX, "asks again and again: {missing:?}");
        for range in missing {
            let [start, end] = [range.start, range.end]
                .map(|at| usize::try_from(at).map_or(bytes.len(), |at| at.min(bytes.len())));
            scanned.fill(range.start, &bytes[start..end]);
        }
    }
    scanned.report()
}

/// Equal whether the bytes come at once or in pieces.
pub fn assert_chunks_agree(bytes: &[u8], chunk: usize) {
    let whole = scan(bytes, bytes.len());
    let pieces = scan(bytes, chunk);
    assert_eq!(whole, pieces, "in pieces of {chunk}");
}
