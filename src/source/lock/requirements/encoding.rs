//! Bytes to text, as pip's `auto_decode`: a byte order mark says the encoding; without one it is UTF-8.

/// The text of a file; what is wrong with it otherwise.
pub(in super::super) fn decode(bytes: &[u8]) -> Result<String, &'static str> {
    const NOT_UTF8: &str = "it is not UTF-8: save it as UTF-8";
    const NOT_UTF16: &str = "it begins as UTF-16 and is not: save it as UTF-8";
    if bytes.starts_with(b"\xff\xfe\0\0") || bytes.starts_with(b"\0\0\xfe\xff") {
        return Err("it is UTF-32: save it as UTF-8");
    }
    let units = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units: Vec<_> = pairs.iter().map(|pair| unit(*pair)).collect();
        let text = rest.is_empty().then(|| String::from_utf16(&units).ok());
        text.flatten().ok_or(NOT_UTF16)
    };
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return units(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return units(rest, u16::from_be_bytes);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(|_error| NOT_UTF8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_says_the_encoding() {
        assert_eq!(decode(b"\xef\xbb\xbfa==1\n").unwrap(), "a==1\n");
        assert_eq!(decode(b"\xff\xfea\0=\0").unwrap(), "a=");
        assert_eq!(decode(b"\xfe\xff\0a\0=").unwrap(), "a=");
        for bytes in [
            &b"\xff\xfea"[..],
            b"\xff\xfe\0\xd8",
            b"\xff\xfe\0\0a\0\0\0",
            b"caf\xe9",
        ] {
            assert!(decode(bytes).unwrap_err().contains("save it as UTF-8"));
        }
    }
}
