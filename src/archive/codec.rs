//! Compressed streams: which one some bytes are, and what they unpack to.
//!
//! Responsible for reading a stream to its very end: gzip streams of several members (RFC 1952, section 2.2;
//! pigz and bgzip write such), bzip2 files of several streams (pbzip2 and lbzip2 write such) and zstd streams of
//! several frames with skippable ones between them (RFC 8878, section 3.1; zstd:chunked is one). A reader that stops
//! after the first would see a part of a layer or a package and no error.

use std::io::{self, BufRead, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

use super::Kind;
use super::fault::Fault;
use crate::ProblemKind;
use crate::limits::LimitHit;

/// The largest window that a zstd frame may ask for, as a power of two: 128 MiB, what `zstd --long` and level 22 ask
/// for, which conda packages are made with.
const WINDOW_LOG_MAX: u32 = 27;

/// A stream behind its first bytes, which were looked at.
pub struct Sniffed<R> {
    head: Vec<u8>,
    at: usize,
    rest: R,
}

impl<R: Read> Sniffed<R> {
    /// Looks at the first [`Kind::HEAD`] bytes of `rest`, or all where there are fewer.
    pub fn new(mut rest: R) -> io::Result<Self> {
        let mut head = vec![0; Kind::HEAD];
        let mut filled = 0;
        while let Some(free) = head.get_mut(filled..).filter(|free| !free.is_empty()) {
            match rest.read(free) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        head.truncate(filled);
        Ok(Self { head, at: 0, rest })
    }

    /// The first bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// What they say it is.
    pub fn kind(&self) -> Option<Kind> {
        Kind::sniff(&self.head)
    }
}

impl<R: Read> Read for Sniffed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut head = self.head.get(self.at..).unwrap_or_default();
        if head.is_empty() {
            return self.rest.read(buf);
        }
        let n = head.read(buf)?;
        self.at += n;
        Ok(n)
    }
}

/// A reader of what `packed` unpacks to, where it is a compressed stream of `kind`.
///
/// # Errors
///
/// A kind that is no compressed stream, or one that is not unpacked.
pub fn decoder<'r>(
    kind: Kind,
    packed: impl BufRead + Send + 'r,
) -> Result<Box<dyn Read + Send + 'r>, Fault> {
    match kind {
        Kind::Gzip => Ok(Box::new(MultiGzDecoder::new(packed))),
        Kind::Bzip2 => Ok(Box::new(MultiBzDecoder::new(packed))),
        Kind::Zstd => {
            let start = || {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
                decoder.window_log_max(WINDOW_LOG_MAX)?;
                Ok(decoder)
            };
            let decoder = start().map_err(|error: io::Error| Fault::of(&error))?;
            Ok(Box::new(Zstd(decoder)))
        }
        other => Err(Fault::new(
            ProblemKind::UnsupportedCompression,
            format!("this {} is not unpacked", other.name()),
        )),
    }
}

/// A zstd decoder that says what is wrong: its errors are texts alone.
struct Zstd<R: BufRead>(zstd::stream::read::Decoder<'static, R>);

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf).map_err(|error| {
            // what the reader below met, or the end of the stream
            let below = error.raw_os_error().is_some()
                || error.kind() != io::ErrorKind::Other
                || LimitHit::of(&error).is_some()
                || error
                    .get_ref()
                    .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Fault>);
            if below {
                return error;
            }
            let text = error.to_string();
            // ZSTD_error_frameParameter_windowTooLarge
            let fault = if text.contains("requires too much memory") {
                let most = 1_u64 << WINDOW_LOG_MAX;
                let detail = format!("its zstd window is larger than {most} bytes");
                Fault::new(ProblemKind::LimitExceeded, detail)
            } else {
                Fault::new(
                    ProblemKind::CorruptData,
                    format!("its zstd data is damaged: {text}"),
                )
            };
            fault.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::limits::read_capped;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn unpack(kind: Kind, packed: &[u8]) -> io::Result<Vec<u8>> {
        Ok(read_capped(decoder(kind, packed)?, 1 << 20)?.0)
    }

    #[test]
    fn reads_all_members_of_a_gzip_stream() {
        let packed = [gzip(b"one "), gzip(b""), gzip(b"two")].concat();
        assert_eq!(unpack(Kind::Gzip, &packed).unwrap(), b"one two");
    }

    #[test]
    fn reads_all_streams_of_a_bzip2_file() {
        let packed = [bzip2(b"one "), bzip2(b""), bzip2(b"two")].concat();
        assert_eq!(Kind::sniff(&packed), Some(Kind::Bzip2));
        assert_eq!(unpack(Kind::Bzip2, &packed).unwrap(), b"one two");
    }

    #[test]
    fn reads_all_frames_of_a_zstd_stream_and_skips_the_skippable() {
        let frame = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
        let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"toc"].concat();
        for packed in [
            [frame(b"one "), skippable.clone(), frame(b"two")].concat(),
            [skippable.clone(), frame(b"one two"), skippable].concat(),
        ] {
            assert_eq!(Kind::sniff(&packed), Some(Kind::Zstd));
            assert_eq!(unpack(Kind::Zstd, &packed).unwrap(), b"one two");
        }
    }

    #[test]
    fn a_stream_that_is_cut_or_goes_on_as_something_else_is_an_error() {
        let zstd = zstd::encode_all(&[7; 1000][..], 3).unwrap();
        for (kind, packed) in [
            (Kind::Gzip, gzip(&[7; 1000])),
            (Kind::Bzip2, bzip2(&[7; 1000])),
            (Kind::Zstd, zstd),
        ] {
            for cut in 1..packed.len() {
                assert!(
                    unpack(kind, &packed[..cut]).is_err(),
                    "{kind:?} cut at {cut}"
                );
            }
            let followed = [packed, b"something".to_vec()].concat();
            assert!(unpack(kind, &followed).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn refuses_a_window_that_is_too_large() {
        // RFC 8878, 3.1.1.1: no single segment, window descriptor with exponent 18 (2^28) and mantissa 0
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 0x01, 0x00, 0x00];
        let fault = Fault::of(&unpack(Kind::Zstd, &frame).unwrap_err());
        assert_eq!(fault.kind, ProblemKind::LimitExceeded);
        assert_eq!(
            fault.detail,
            "its zstd window is larger than 134217728 bytes"
        );
        let fits = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x01, 0x00, 0x00];
        assert_eq!(unpack(Kind::Zstd, &fits).unwrap(), b"");
    }

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(Fault::new(ProblemKind::Network, "gone").into())
        }
    }

    #[test]
    fn damaged_zstd_data_is_told_from_what_the_reader_below_meets() {
        let mut packed = zstd::encode_all(&[7; 1000][..], 3).unwrap();
        // the type of the block: 3 is reserved
        packed[6] |= 6;
        packed[7] |= 6;
        let fault = Fault::of(&unpack(Kind::Zstd, &packed).unwrap_err());
        assert_eq!(fault.kind, ProblemKind::CorruptData, "{fault}");
        let reader = decoder(Kind::Zstd, io::BufReader::new(Broken)).unwrap();
        let fault = Fault::of(&read_capped(reader, 10).unwrap_err());
        assert_eq!(fault.kind, ProblemKind::Network);
    }

    #[test]
    fn says_which_kind_is_not_unpacked() {
        let fault = decoder(Kind::Xz, &b""[..]).err().unwrap();
        assert_eq!(fault.kind, ProblemKind::UnsupportedCompression);
        assert_eq!(fault.detail, "this xz stream is not unpacked");
    }

    #[test]
    fn looking_at_a_stream_takes_nothing_away() {
        for len in [0, 3, 511, 512, 2000] {
            let bytes = vec![9; len];
            let sniffed = Sniffed::new(&bytes[..]).unwrap();
            assert_eq!(sniffed.head().len(), len.min(Kind::HEAD));
            assert_eq!(read_capped(sniffed, 1 << 20).unwrap().0, bytes);
        }
    }
}
