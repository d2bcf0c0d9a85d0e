//! Which archive or compressed stream some bytes are, told by their first bytes.
//!
//! Responsible for archives only: device code and libraries are other layers' business. Magic
//! numbers are those of the formats' own descriptions (APPNOTE 4.3, RFC 1952, RFC 8878, the xz file
//! format, POSIX.1 `ustar`).

/// An archive or a compressed stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A zip archive, and so a wheel.
    Zip,
    /// A gzip stream, most often around a tar archive.
    Gzip,
    /// A zstd stream.
    Zstd,
    /// A bzip2 stream.
    Bzip2,
    /// An xz stream.
    Xz,
    /// An LZ4 frame.
    Lz4,
    /// A tar archive.
    Tar,
    /// A 7z archive.
    SevenZip,
    /// A RAR archive.
    Rar,
}

impl Kind {
    /// Bytes of a head that are enough for every kind.
    pub const HEAD: usize = 512;

    /// Every kind, for tables in tests and documents.
    pub const ALL: &[Self] = &[
        Self::Zip,
        Self::Gzip,
        Self::Zstd,
        Self::Bzip2,
        Self::Xz,
        Self::Lz4,
        Self::Tar,
        Self::SevenZip,
        Self::Rar,
    ];

    /// The name in sentences: `a zip archive`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zip => "zip archive",
            Self::Gzip => "gzip stream",
            Self::Zstd => "zstd stream",
            Self::Bzip2 => "bzip2 stream",
            Self::Xz => "xz stream",
            Self::Lz4 => "LZ4 stream",
            Self::Tar => "tar archive",
            Self::SevenZip => "7z archive",
            Self::Rar => "RAR archive",
        }
    }

    /// What a file that begins with `head` is; [`Kind::HEAD`] bytes are enough.
    ///
    /// A zip archive with something in front of it is not seen here, only by its end.
    pub fn sniff(head: &[u8]) -> Option<Self> {
        let begins = |magic: &[u8]| head.starts_with(magic);
        if [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"]
            .into_iter()
            .any(|magic| begins(magic))
        {
            return Some(Self::Zip);
        }
        match head {
            [0x1f, 0x8b, 0x08, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
                if rest.starts_with(&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
                    || rest.starts_with(&[0x17, 0x72, 0x45, 0x38, 0x50, 0x90]) =>
            {
                Some(Self::Bzip2)
            }
            _ if begins(b"\xfd7zXZ\0") => Some(Self::Xz),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            _ if begins(b"7z\xbc\xaf\x27\x1c") => Some(Self::SevenZip),
            _ if begins(b"Rar!\x1a\x07") => Some(Self::Rar),
            _ if is_tar(head) => Some(Self::Tar),
            _ => None,
        }
    }
}

/// Whether `head` is a tar header: its checksum is right. `ustar` alone is not asked for, since
/// archives older than POSIX lack it, nor taken for proof.
fn is_tar(head: &[u8]) -> bool {
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    let (Some(header), Some(field)) = (head.get(..512), head.get(CHECKSUM)) else {
        return false;
    };
    let mut stated = 0_u32;
    let mut rest = field.iter().copied().skip_while(|byte| *byte == b' ');
    loop {
        match rest.next() {
            Some(digit @ b'0'..=b'7') => stated = (stated << 3) | u32::from(digit - b'0'),
            Some(b' ' | 0) | None => break,
            Some(_) => return false,
        }
    }
    let sum = header
        .iter()
        .enumerate()
        .map(|(at, byte)| u32::from(if CHECKSUM.contains(&at) { b' ' } else { *byte }));
    stated != 0 && stated == sum.sum::<u32>()
}

/// What a file that is no archive seems to be, in words, for the particulars of a problem.
pub fn describe(head: &[u8]) -> String {
    let text = head.trim_ascii_start();
    let begins = |word: &str| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    if head.is_empty() {
        return "the file is empty".to_owned();
    }
    if let Some(kind) = Kind::sniff(head) {
        return format!("it is a {}", kind.name());
    }
    if begins("<!doctype html") || begins("<html") {
        return "it is a web page, perhaps an error page in place of the download".to_owned();
    }
    if begins("version https://git-lfs") {
        return "it is a Git LFS pointer, not the file itself".to_owned();
    }
    if head.iter().all(|byte| *byte == 0) {
        return "it begins with zeros".to_owned();
    }
    let start: Vec<_> = head
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("it begins with the bytes {}", start.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar_header(magic: &[u8]) -> Vec<u8> {
        let mut header = vec![0; 512];
        header[..5].copy_from_slice(b"a.txt");
        header[100..107].copy_from_slice(b"0000644");
        header[257..257 + magic.len()].copy_from_slice(magic);
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        header
    }

    #[test]
    fn knows_every_kind_by_its_first_bytes() {
        // Written by the formats' own tools: zip, gzip, zstd, bzip2, xz, lz4, tar, 7z, rar.
        let heads: [(&[u8], Kind); 9] = [
            (b"PK\x03\x04\x14\0", Kind::Zip),
            (b"\x1f\x8b\x08\0", Kind::Gzip),
            (b"\x28\xb5\x2f\xfd\x24", Kind::Zstd),
            (b"BZh91AY&SY", Kind::Bzip2),
            (b"\xfd7zXZ\0\0\x04", Kind::Xz),
            (b"\x04\x22\x4d\x18\x64", Kind::Lz4),
            (&tar_header(b"ustar\0"), Kind::Tar),
            (b"7z\xbc\xaf\x27\x1c\0\x04", Kind::SevenZip),
            (b"Rar!\x1a\x07\x01\0", Kind::Rar),
        ];
        for (head, kind) in heads {
            assert_eq!(Kind::sniff(head), Some(kind), "{}", kind.name());
        }
        assert_eq!(heads.map(|(_, kind)| kind), *Kind::ALL);
    }

    #[test]
    fn knows_empty_zips_and_old_tars() {
        assert_eq!(Kind::sniff(b"PK\x05\x06\0\0"), Some(Kind::Zip));
        assert_eq!(Kind::sniff(&tar_header(b"")), Some(Kind::Tar));
    }

    #[test]
    fn the_checksum_of_a_tar_is_octal_and_nothing_else() {
        let stated = |digits: &[u8; 8], sum: u32| {
            let mut header = [0; 512];
            header[148..156].copy_from_slice(digits);
            // eight spaces stand for the field, the rest makes up the sum
            let left = sum - 8 * 32;
            header[..usize::try_from(left / 255).unwrap()].fill(255);
            header[500] = u8::try_from(left % 255).unwrap();
            Kind::sniff(&header)
        };
        // 0o1750 is 1000
        assert_eq!(stated(b"001750\0 ", 1000), Some(Kind::Tar));
        assert_eq!(stated(b"  1750 \0", 1000), Some(Kind::Tar));
        // 512 + 7 * 64 + 4 * 8 + 8 is 1000 as well, and 8 is no octal digit
        assert_eq!(stated(b"001748\0 ", 1000), None);
        assert_eq!(stated(b"001750x ", 1000), None);
    }

    #[test]
    fn takes_nothing_else_for_an_archive() {
        let mut damaged = tar_header(b"ustar\0");
        damaged[0] ^= 1;
        let heads: [&[u8]; 7] = [
            b"",
            b"PK",
            b"\x7fELF\x02\x01\x01",
            b"BZh9 is how this text begins",
            b"// Generated by NVIDIA NVVM Compiler",
            &[0; 512],
            &damaged,
        ];
        for head in heads {
            assert_eq!(Kind::sniff(head), None, "{head:?}");
        }
    }

    #[test]
    fn describes_what_is_often_found_in_place_of_a_wheel() {
        assert_eq!(describe(b""), "the file is empty");
        assert!(describe(b"\n<!DOCTYPE HTML>").contains("web page"));
        assert!(describe(b"version https://git-lfs.github.com/spec/v1").contains("LFS"));
        assert!(describe(b"\x1f\x8b\x08\0").contains("gzip stream"));
        assert_eq!(
            describe(b"\x7fELF\x02"),
            "it begins with the bytes 7f 45 4c 46"
        );
        assert_eq!(describe(&[0; 8]), "it begins with zeros");
    }
}
