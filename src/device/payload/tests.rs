//! What passes as a payload is collected the same in every coding, however the input is cut.

use super::*;

fn peek(coding: Coding, stored: &[u8], step: usize, pieces: &[(u64, usize)]) -> Vec<Vec<u8>> {
    let pieces = pieces
        .iter()
        .map(|&(start, want)| Piece::new(start, want))
        .collect();
    let mut peek = Peek::new(coding, pieces, u64::MAX);
    for chunk in stored.chunks(step) {
        peek.push(chunk);
    }
    let (got, error) = peek.finish();
    assert_eq!(error, None);
    got
}

#[test]
fn collects_the_same_ranges_from_every_coding_and_chunk_size() {
    let plain: Vec<u8> = (0..200_000_u32).map(|n| (n / 7 % 251) as u8).collect();
    let zstd = zstd::bulk::compress(&plain, 3).unwrap();
    let pieces = [
        (0, 64),
        (1000, 10),
        (1005, 10),
        (150_000, 5),
        (199_990, 100),
    ];
    let expected: Vec<Vec<u8>> = pieces
        .iter()
        .map(|&(start, want)| {
            let start = usize::try_from(start).unwrap();
            plain[start..(start + want).min(plain.len())].to_vec()
        })
        .collect();
    for step in [1, 7, 4096, 1 << 20] {
        assert_eq!(peek(Coding::None, &plain, step, &pieces), expected);
        assert_eq!(peek(Coding::Zstd, &zstd, step, &pieces), expected);
    }
}

#[test]
fn a_marker_is_enough_however_the_input_is_cut() {
    let mut plain = vec![b'.'; 70_000];
    plain.splice(60_000..60_000, *b"marker");
    for step in [1, 5, 100_000] {
        let pieces = vec![
            Piece::new(0, 70_000).until(b"marker"),
            Piece::new(69_000, 10),
        ];
        let mut peek = Peek::new(Coding::None, pieces, u64::MAX);
        plain.chunks(step).for_each(|chunk| peek.push(chunk));
        assert!(!peek.is_hungry());
        let (pieces, _) = peek.finish();
        assert_eq!(
            pieces[0],
            plain[..60_000 + AFTER_MARKER],
            "in chunks of {step}"
        );
        assert!(pieces[1].is_empty());
    }
}

#[test]
fn stops_decoding_once_it_has_everything() {
    let mut peek = Peek::new(Coding::None, vec![Piece::new(0, 4)], u64::MAX);
    peek.push(b"abcdef");
    assert!(!peek.is_hungry());
    assert_eq!(peek.finish().0, [b"abcd".to_vec()]);
}

#[test]
fn keeps_what_came_before_an_error_whatever_the_chunk_size() {
    let mut random = 1_u32;
    let noise = std::iter::repeat_with(|| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    });
    let plain: Vec<u8> = noise.take(400_000).collect();
    let mut zstd = zstd::bulk::compress(&plain, 3).unwrap();
    let middle = zstd.len() / 2;
    zstd.drain(middle..middle + 1000);
    let got = |step: usize| {
        let mut peek = Peek::new(
            Coding::Zstd,
            vec![Piece::new(0, 64), Piece::new(150_000, 250_000)],
            u64::MAX,
        );
        zstd.chunks(step).for_each(|chunk| peek.push(chunk));
        peek.finish()
    };
    let (pieces, error) = got(usize::MAX);
    assert_eq!(error, Some(PeekError::Corrupt));
    assert_eq!(pieces[0], plain[..64]);
    for step in [1, 1000, 70_000] {
        assert_eq!(got(step), (pieces.clone(), error), "in chunks of {step}");
    }
}

#[test]
fn says_when_a_piece_lies_behind_the_limit() {
    let zstd = zstd::bulk::compress(&vec![7; 100_000], 3).unwrap();
    for (limit, error) in [(50_000, Some(PeekError::TooLarge)), (100_000, None)] {
        let mut peek = Peek::new(Coding::Zstd, vec![Piece::new(99_000, 10)], limit);
        peek.push(&zstd);
        assert_eq!(peek.finish().1, error);
    }
}

#[test]
fn says_when_the_payload_is_not_what_the_header_says() {
    for (coding, error) in [
        (Coding::Zstd, PeekError::Corrupt),
        (Coding::Lz4, PeekError::Corrupt),
        (Coding::Unknown, PeekError::UnknownCoding),
    ] {
        let mut peek = Peek::new(coding, vec![Piece::new(0, 64)], u64::MAX);
        peek.push(&[0x10, 0x41, 0xff, 0xff, 0, 0, 0, 0]);
        assert_eq!(peek.finish().1, Some(error), "{coding:?}");
    }
}

#[test]
fn the_beginning_says_what_else_is_wanted_however_the_input_is_cut() {
    let plain: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
    let zstd = zstd::bulk::compress(&plain, 3).unwrap();
    for step in [1, 63, 64, 65, 5000, 1 << 20] {
        let pieces = vec![Piece::new(0, 100)];
        let mut peek = Peek::new(Coding::Zstd, pieces, u64::MAX)
            .followed_by(|beginning| Some(Piece::new(150_000, usize::from(beginning[40]))));
        zstd.chunks(step).for_each(|chunk| peek.push(chunk));
        assert!(!peek.is_hungry());
        let expected = [plain[..100].to_vec(), plain[150_000..150_040].to_vec()];
        assert_eq!(peek.finish().0, expected, "in chunks of {step}");
    }
}
