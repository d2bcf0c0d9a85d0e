//! Servers that give files by ranges, and servers that do so badly.

mod credentials;

use super::*;
use crate::source::http::stub::{Reply, Seen, Stub, options, part};
use crate::source::oci::CredentialOptions;
use crate::source::sum::Sum;
use crate::{Extent, Locator, ProblemKind};

/// Bytes of which no part is like another.
fn file() -> Vec<u8> {
    let words = (0_u32..).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes());
    words.take(300_000).collect()
}

const SHA256: &str = "sha256";

fn hash_of(algorithm: &str, bytes: &[u8]) -> Hash {
    let mut sum = Sum::of(algorithm).unwrap();
    sum.update(bytes);
    sum.finish()
}

fn fetcher() -> Fetcher {
    let (http, _) = options();
    let access = Access::new(http, CredentialOptions::new(Vec::new()));
    Fetcher::new(&access).unwrap()
}

fn open(stub: &Stub, expected: &Expected) -> Result<RemoteFile, Error> {
    let fetcher = fetcher();
    fetcher.open(&stub.url("/d/a%2Bb.whl"), expected, &Limits::default())
}

fn read(file: &RemoteFile) -> Result<Vec<u8>, Fault> {
    read_capped(file.bytes.cursor(), 1 << 30)
        .map(|(bytes, _)| bytes)
        .map_err(|error| Fault::of(&error))
}

fn ranges(stub: &Stub) -> Vec<Option<String>> {
    let seen = stub.seen();
    seen.iter()
        .map(|seen| seen.header("range").map(str::to_owned))
        .collect()
}

fn serve(answer: impl Fn(&Seen, usize) -> Reply + Send + 'static) -> Stub {
    Stub::start(answer)
}

fn message(error: &Error) -> String {
    format!("{error} | {}", error.hint().unwrap_or_default())
}

#[test]
fn the_end_comes_first_and_then_only_what_is_read() {
    let stub = serve(|seen, _| part(&file(), seen));
    let found = open(&stub, &Expected::default()).unwrap();
    assert_eq!(
        (found.name.as_str(), found.bytes.len()),
        ("a+b.whl", 300_000)
    );
    let slice = found.bytes.slice(1000..201_000);
    let (bytes, _) = read_capped(slice.cursor(), 1 << 20).unwrap();
    assert_eq!(bytes, &file()[1000..201_000]);
    let asked = ["bytes=-65536", "bytes=1000-200999"].map(|range| Some(range.to_owned()));
    assert_eq!(ranges(&stub), asked);
    assert_eq!(found.received(), 65_536 + 200_000);
    let seen = stub.seen();
    assert!(
        seen.iter()
            .all(|seen| seen.header("accept-encoding") == Some("identity"))
    );
}

#[test]
fn a_hash_is_verified_where_all_of_the_file_passes_and_only_there() {
    for algorithm in [SHA256, "sha384", "sha512", "md5"] {
        let stub = serve(|seen, _| part(&file(), seen));
        let right = Expected::new(Some(hash_of(algorithm, &file())), Some(300_000));
        let found = open(&stub, &right).unwrap();
        assert_eq!(found.verified(), Verified::NotRead);
        assert_eq!(read(&found).unwrap(), file());
        assert_eq!(found.verified(), Verified::Yes, "{algorithm}");
        assert_eq!(found.problem(&Locator::root(0, "a")), None);
    }
    let stub = serve(|seen, _| part(&file(), seen));
    let wrong = Expected::new(Some(hash_of(SHA256, b"other")), None);
    let found = open(&stub, &wrong).unwrap();
    read(&found).unwrap();
    let problem = found.problem(&Locator::root(0, "a")).unwrap();
    assert_eq!(problem.kind, ProblemKind::ChecksumMismatch);
    assert_eq!(problem.extent, Extent::Artifact);
    let strange = Hash::parse("crc64:00").unwrap();
    let found = open(&stub, &Expected::new(Some(strange), None)).unwrap();
    assert_eq!(found.verified(), Verified::NotTaken);
}

#[test]
fn the_hash_behind_the_address_is_expected() {
    let stub = serve(|seen, _| part(&file(), seen));
    let fetcher = fetcher();
    let url = |hash: &Hash| stub.url(&format!("/a.whl#egg=a&sha256={}", hash.hex));
    let open = |hash: &Hash| {
        let found = fetcher.open(&url(hash), &Expected::default(), &Limits::default());
        let found = found.unwrap();
        read(&found).unwrap();
        found.verified()
    };
    assert_eq!(open(&hash_of(SHA256, &file())), Verified::Yes);
    let differs = Verified::Differs(hash_of(SHA256, &file()));
    assert_eq!(open(&hash_of(SHA256, b"x")), differs);
}

#[test]
fn a_small_file_is_one_request_and_verified() {
    let small = &file()[..1000];
    let stub = serve(|seen, _| part(&file()[..1000], seen));
    let right = Expected::new(Some(hash_of(SHA256, small)), None);
    let found = open(&stub, &right).unwrap();
    assert_eq!(read(&found).unwrap(), small);
    assert_eq!((found.verified(), stub.seen().len()), (Verified::Yes, 1));
    assert!(!found.bytes.is_fetched());
}

#[test]
fn a_server_that_refuses_more_than_there_is_is_asked_from_the_first_byte() {
    let stub = serve(|seen, before| match before {
        0 => Reply::new(416),
        _ => part(&file()[..1000], seen),
    });
    let found = open(&stub, &Expected::default()).unwrap();
    assert_eq!(read(&found).unwrap(), &file()[..1000]);
    assert_eq!(ranges(&stub)[1].as_deref(), Some("bytes=0-65535"));
}

#[test]
fn a_server_without_ranges_gives_the_whole_file_which_is_hashed() {
    for status in [200, 400, 405, 416, 501] {
        let stub = serve(move |seen, _| match seen.header("range") {
            Some(_) if status != 200 => Reply::new(status),
            _ => Reply::new(200).body(file()),
        });
        let right = Expected::new(Some(hash_of(SHA256, &file())), Some(300_000));
        let found = open(&stub, &right).unwrap();
        assert!(found.whole.is_some(), "{status}");
        assert_eq!(read(&found).unwrap(), file());
        assert_eq!(found.verified(), Verified::Yes, "{status}");
        assert_eq!(found.received(), 300_000);
        let requests = [1, 2, 3][usize::from(status != 200) + usize::from(status == 416)];
        assert_eq!(stub.seen().len(), requests, "{status}");
    }
}

#[test]
fn a_wrong_hash_of_a_whole_file_taints_it_and_leaves_it_readable() {
    let stub = serve(|_, _| Reply::new(200).body(file()));
    let wrong = Expected::new(Some(hash_of(SHA256, b"other")), None);
    let found = open(&stub, &wrong).unwrap();
    assert_eq!(read(&found).unwrap(), file());
    let problem = found.problem(&Locator::root(0, "a")).unwrap();
    assert_eq!(problem.extent, Extent::Artifact);
}

#[test]
fn a_server_that_lies_about_ranges_is_asked_for_the_whole_file() {
    let lies: [fn(&Seen) -> Reply; 5] = [
        |_| {
            Reply::new(206)
                .header("content-range", "bytes 0-65535/300000")
                .body(&file()[..65_536])
        },
        |_| Reply::new(206).body(&file()[..65_536]),
        |_| {
            Reply::new(206)
                .header("content-range", "bytes 234464-299999/*")
                .body(&file()[234_464..])
        },
        |_| {
            Reply::new(206)
                .header("content-type", "multipart/byteranges; boundary=x")
                .body("--x\r\ncontent-range: bytes 0-1/300000\r\n\r\nab\r\n--x--")
        },
        |_| {
            Reply::new(206)
                .header("content-range", "bytes 234464-299999/300000")
                .body(&file()[..100])
        },
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let stub = serve(move |seen, before| match before {
            0 => lie(seen),
            _ => Reply::new(200).body(file()),
        });
        let found = open(&stub, &Expected::default()).unwrap();
        assert!(found.whole.is_some(), "{number}");
        assert_eq!(read(&found).unwrap(), file(), "{number}");
    }
}

#[test]
fn a_wrong_range_later_is_a_fault_and_ends_all_reading() {
    let stub = serve(|seen, before| match before {
        0 => part(&file(), seen),
        _ => Reply::new(206)
            .header("content-range", "bytes 7-299999/300000")
            .body(&file()[7..]),
    });
    let found = open(&stub, &Expected::default()).unwrap();
    let fault = read(&found).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::Network);
    assert!(
        fault.detail.contains("other bytes than it was asked for"),
        "{fault}"
    );
    assert_eq!(read(&found).unwrap_err(), fault);
    assert_eq!(
        stub.seen().len(),
        2,
        "what failed for good is not tried again"
    );
}

#[test]
fn a_body_that_is_cut_goes_on_where_it_stopped() {
    let stub = serve(|seen, before| match before {
        1 => part(&file(), seen).cut(100_000),
        _ => part(&file(), seen),
    });
    let right = Expected::new(Some(hash_of(SHA256, &file())), None);
    let found = open(&stub, &right).unwrap();
    assert_eq!(read(&found).unwrap(), file());
    assert_eq!(found.verified(), Verified::Yes);
    let asked = ranges(&stub);
    assert_eq!(asked[1].as_deref(), Some("bytes=0-299999"));
    assert_eq!(asked[2].as_deref(), Some("bytes=100000-299999"));
    // what came twice is not counted twice, so that the number is the same in every run
    assert_eq!(found.received(), 65_536 + 300_000);
}

#[test]
fn a_whole_file_that_is_cut_goes_on_by_a_range_or_from_the_beginning() {
    for by_range in [true, false] {
        let stub = serve(move |seen, before| match before {
            0 => Reply::new(200).body(file()).cut(200_000),
            _ if by_range => part(&file(), seen),
            _ => Reply::new(200).body(file()),
        });
        let right = Expected::new(Some(hash_of(SHA256, &file())), None);
        let found = open(&stub, &right).unwrap();
        assert_eq!(read(&found).unwrap(), file(), "{by_range}");
        assert_eq!(found.verified(), Verified::Yes);
        assert_eq!(ranges(&stub)[1].as_deref(), Some("bytes=200000-"));
    }
}

#[test]
fn a_body_that_is_cut_again_and_again_is_a_bounded_number_of_requests() {
    let stub = serve(|seen, before| match before {
        0 => part(&file(), seen),
        _ => part(&file(), seen).cut(10),
    });
    let found = open(&stub, &Expected::default()).unwrap();
    let fault = read(&found).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::Truncated);
    assert!(fault.detail.contains("again and again"), "{fault}");
    assert!(
        (3..12).contains(&stub.seen().len()),
        "{}",
        stub.seen().len()
    );
}

#[test]
fn a_file_that_changes_is_an_error() {
    type Change = fn(&Seen) -> Reply;
    let changes: [(Change, &str); 4] = [
        (
            |seen| part(&[file(), vec![1]].concat(), seen),
            "it had 300000 bytes, and has 300001",
        ),
        (
            |_| Reply::new(200).body(file()),
            "the server has another one now",
        ),
        (
            |_| Reply::new(416).header("content-range", "bytes */5"),
            "it ends before",
        ),
        (
            |seen| part(&file(), seen).header("etag", "\"2\""),
            "its `ETag` is another one",
        ),
    ];
    for (change, said) in changes {
        let stub = serve(move |seen, before| match before {
            0 => part(&file(), seen).header("etag", "\"1\""),
            _ => change(seen),
        });
        let found = open(&stub, &Expected::default()).unwrap();
        let fault = read(&found).unwrap_err();
        assert_eq!(fault.kind, ProblemKind::Network);
        assert!(fault.detail.contains(said), "{fault}");
        assert_eq!(stub.seen()[1].header("if-range"), Some("\"1\""));
    }
}

#[test]
fn another_size_than_the_lock_states_is_an_error_that_names_both() {
    for whole in [true, false] {
        let stub = serve(move |seen, _| {
            if whole {
                Reply::new(200).body(file())
            } else {
                part(&file(), seen)
            }
        });
        let error = open(&stub, &Expected::new(None, Some(299_999))).unwrap_err();
        let said = message(&error);
        assert!(
            said.contains("300000 bytes, and 299999 are stated"),
            "{said}"
        );
    }
}

#[test]
fn a_server_that_stops_sending_is_asked_again_and_then_a_fault() {
    for recovers in [true, false] {
        let stub = serve(move |seen, before| match before {
            0 => part(&file(), seen),
            1 => part(&file(), seen).cut(10).hang(),
            _ if recovers => part(&file(), seen),
            _ => part(&file(), seen).cut(0).hang(),
        });
        let (mut http, clock) = options();
        http.idle_timeout = std::time::Duration::from_millis(100);
        let access = Access::new(http, CredentialOptions::new(Vec::new()));
        let fetcher = Fetcher::new(&access).unwrap();
        let found = fetcher
            .open(
                &stub.url("/a.whl"),
                &Expected::default(),
                &Limits::default(),
            )
            .unwrap();
        let read = read(&found);
        if recovers {
            assert_eq!(read.unwrap(), file());
        } else {
            let fault = read.unwrap_err();
            assert!(
                fault.detail.contains("stopped sending in the middle"),
                "{fault}"
            );
        }
        assert!(!clock.slept().is_empty());
    }
}

#[test]
fn a_spool_that_is_too_small_is_an_error_that_names_the_option() {
    let stub = serve(|_, _| Reply::new(200).body(file()));
    let fetcher = fetcher();
    let limits = Limits {
        spool_bytes: 1000,
        ..Limits::default()
    };
    let error = fetcher
        .open(&stub.url("/a.whl"), &Expected::default(), &limits)
        .unwrap_err();
    assert!(message(&error).contains("--max-spool"), "{error}");
}
