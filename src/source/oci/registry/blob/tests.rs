//! Layers whose connections break, whose sizes lie, and whose servers know no ranges.

use std::io::Read as _;
use std::sync::LazyLock;

use oci_spec::image::{DigestAlgorithm, MediaType};

use super::super::manifest::compute;
use super::super::tests::access;
use super::*;
use crate::limits::read_capped;
use crate::source::http::stub::{Reply, Seen, Stub};

const SIZE: usize = 1_000_000;

/// Bytes of which no part is like another.
fn bytes() -> Vec<u8> {
    BYTES.clone()
}

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let words = (0_u32..).flat_map(|number| (number.wrapping_mul(2_654_435_761)).to_le_bytes());
    words.take(SIZE).collect()
});

fn descriptor(size: usize) -> Descriptor {
    let digest = compute(&DigestAlgorithm::Sha256, &bytes()).unwrap();
    Descriptor::new(MediaType::ImageLayer, size as u64, digest)
}

/// The first byte that a request asks for.
fn first(seen: &Seen) -> Option<usize> {
    let range = seen.header("range")?;
    range
        .strip_prefix("bytes=")?
        .strip_suffix('-')?
        .parse()
        .ok()
}

/// A blob from `first` on, as a server that knows ranges sends it.
fn from(first: Option<usize>) -> Reply {
    match first {
        None => Reply::new(200).header("etag", "\"v1\"").body(bytes()),
        Some(first) => Reply::new(206)
            .header(
                "content-range",
                format!("bytes {first}-{}/{SIZE}", SIZE - 1),
            )
            .body(&bytes()[first..]),
    }
}

fn open(stub: &Stub, size: usize) -> Result<Blob, Fault> {
    let (access, _, _dir) = access("{}");
    let reference = format!("{}/a", stub.host()).parse().unwrap();
    let registry = Registry::open(&reference, &access).unwrap();
    registry.blob(&descriptor(size))
}

fn pull_sized(stub: &Stub, size: usize) -> Result<Vec<u8>, Fault> {
    let (bytes, more) =
        read_capped(open(stub, size)?, 10 << 20).map_err(|error| Fault::of(&error))?;
    assert!(!more);
    Ok(bytes)
}

fn pull(stub: &Stub) -> Result<Vec<u8>, Fault> {
    pull_sized(stub, SIZE)
}

fn ranges(stub: &Stub) -> Vec<Option<usize>> {
    stub.seen().iter().map(first).collect()
}

#[test]
fn streams_a_blob() {
    let stub = Stub::start(|_, _| from(None));
    let mut blob = open(&stub, SIZE).unwrap();
    let mut head = [0; 8];
    blob.read_exact(&mut head).unwrap();
    assert_eq!(head, bytes()[..8]);
    assert_eq!(pull(&stub).unwrap(), bytes());
    let digest = descriptor(SIZE).digest().to_string();
    assert_eq!(stub.paths()[0], format!("GET /v2/a/blobs/{digest}"));
    assert_eq!(stub.seen()[0].header("accept-encoding"), Some("identity"));
}

#[test]
fn goes_on_where_the_connection_was_cut() {
    let stub = Stub::start(|seen, before| match before {
        0 => from(None).cut(400_000),
        1 => from(first(seen)).cut(300_000),
        _ => from(first(seen)),
    });
    assert_eq!(pull(&stub).unwrap(), bytes());
    assert_eq!(ranges(&stub), [None, Some(400_000), Some(700_000)]);
    assert_eq!(stub.seen()[1].header("if-range"), Some("\"v1\""));
}

#[test]
fn a_weak_validator_validates_no_range() {
    let stub = Stub::start(|seen, before| match before {
        0 => Reply::new(200)
            .header("etag", "W/\"v1\"")
            .body(bytes())
            .cut(10),
        _ => from(first(seen)),
    });
    assert_eq!(pull(&stub).unwrap(), bytes());
    assert_eq!(stub.seen()[1].header("if-range"), None);
}

#[test]
fn goes_on_after_errors_of_the_server_in_the_middle() {
    let stub = Stub::start(|seen, before| match before {
        0 => from(None).cut(400_000),
        1 | 2 => Reply::new(500),
        _ => from(first(seen)),
    });
    assert_eq!(pull(&stub).unwrap(), bytes());
    assert_eq!(
        ranges(&stub),
        [None, Some(400_000), Some(400_000), Some(400_000)]
    );
}

#[test]
fn a_server_that_stays_broken_is_named() {
    let stub = Stub::start(|_, before| match before {
        0 => from(None).cut(400_000),
        _ => Reply::new(500),
    });
    let fault = pull(&stub).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::Network);
    assert!(
        fault.detail.contains("answered 500; run again later"),
        "{fault}"
    );
}

#[test]
fn passes_over_the_beginning_where_a_server_knows_no_ranges() {
    let stub = Stub::start(|_, before| match before {
        0 => from(None).cut(400_000),
        1 => from(None).cut(900_000),
        _ => from(None),
    });
    assert_eq!(pull(&stub).unwrap(), bytes());
    assert_eq!(stub.seen().len(), 3);
}

#[test]
fn asks_for_the_whole_where_a_range_is_another_than_asked_for() {
    let wrong = [
        "bytes 0-999999/1000000",
        "bytes 400000-500000/1000000",
        "bytes 400001-999999/1000000",
        "bytes 999999-400000/1000000",
        "bytes */1000000",
        "bytes 99999999999999999999-1/1000000",
        "lines 400000-999999/1000000",
        "",
    ];
    // with a length that gives a lie away, and without
    for (range, sized) in wrong
        .into_iter()
        .flat_map(|range| [(range, true), (range, false)])
    {
        let stub = Stub::start(move |seen, before| match (before, first(seen)) {
            (0, _) => from(None).cut(400_000),
            (_, Some(_)) => {
                let reply = Reply::new(206)
                    .header("content-range", range)
                    .body(vec![0; 600_000]);
                if sized { reply } else { reply.unsized_body() }
            }
            _ => from(None),
        });
        assert_eq!(pull(&stub).unwrap(), bytes(), "{range}");
        assert_eq!(ranges(&stub), [None, Some(400_000), None], "{range}");
    }
}

#[test]
fn nothing_at_the_range_is_a_blob_that_is_too_short() {
    let stub = Stub::start(|seen, _| match first(seen) {
        None => Reply::new(200).body(&bytes()[..400_000]).unsized_body(),
        Some(_) => Reply::new(416).header("content-range", "bytes */400000"),
    });
    let fault = pull(&stub).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::Truncated);
    assert!(
        fault
            .detail
            .contains("has 400000 bytes on the registry, and 1000000 in the manifest"),
        "{fault}"
    );
    // without a size in the answer the whole is looked at again
    let stub = Stub::start(|seen, before| match (first(seen), before) {
        (None, 0) => from(None).cut(400_000),
        (None, _) => from(None),
        (Some(_), _) => Reply::new(416),
    });
    assert_eq!(pull(&stub).unwrap(), bytes());
}

#[test]
fn a_size_that_is_not_that_of_the_manifest_is_a_fault() {
    let stub = Stub::start(|_, _| from(None));
    let shorter = pull_sized(&stub, SIZE + 1).unwrap_err();
    assert_eq!(shorter.kind, ProblemKind::Truncated);
    let longer = pull_sized(&stub, SIZE - 1).unwrap_err();
    assert_eq!(longer.kind, ProblemKind::SizeMismatch);
    assert_eq!(stub.seen().len(), 2, "nothing to try again");
    // a server that states no size is found out at the end
    let stub = Stub::start(|_, _| Reply::new(200).body(bytes()).unsized_body());
    assert_eq!(
        pull_sized(&stub, SIZE - 1).unwrap_err().kind,
        ProblemKind::SizeMismatch
    );
    assert_eq!(pull(&stub).unwrap(), bytes());
    let stub = Stub::start(|_, _| Reply::new(200).body("x").endless_body());
    let mut blob = open(&stub, SIZE).unwrap();
    let mut all = vec![0; SIZE];
    blob.read_exact(&mut all).unwrap();
    // an end does not follow on an error
    for _ in 0..2 {
        let fault = Fault::of(&blob.read(&mut all).unwrap_err());
        assert_eq!(fault.kind, ProblemKind::SizeMismatch);
    }
}

#[test]
fn an_empty_blob_is_empty() {
    let stub = Stub::start(|_, _| Reply::new(200));
    assert_eq!(pull_sized(&stub, 0).unwrap(), b"");
}

#[test]
fn gives_up_where_there_is_no_progress() {
    let stub = Stub::start(|seen, _| from(first(seen)).cut(1000));
    let fault = pull(&stub).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::Truncated);
    assert!(
        fault
            .detail
            .contains("ends after 6000 of 1000000 bytes, again and again"),
        "{fault}"
    );
    assert_eq!(stub.seen().len(), 6);
    let stub = Stub::start(|_, _| Reply::new(200).unsized_body());
    let fault = pull(&stub).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::Truncated);
    assert!(
        fault.detail.contains("has 0 bytes on the registry"),
        "{fault}"
    );
}

#[test]
fn a_missing_blob_is_a_fault() {
    let stub = Stub::start(|_, _| {
        Reply::new(404)
            .body("{\"errors\": [{\"code\": \"BLOB_UNKNOWN\", \"message\": \"blob unknown\"}]}")
    });
    let fault = open(&stub, SIZE).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::Network);
    assert!(
        fault.detail.ends_with("answered 404 (BLOB_UNKNOWN: blob unknown); the image is incomplete on the registry: push it again"),
        "{fault}"
    );
}

#[test]
fn a_coding_that_was_not_asked_for_is_a_fault() {
    let stub = Stub::start(|_, _| from(None).header("content-encoding", "gzip"));
    let fault = open(&stub, SIZE).unwrap_err();
    assert!(fault.detail.contains("in the coding `gzip`"), "{fault}");
}

#[test]
fn a_token_that_ends_in_the_middle_is_renewed() {
    let issuer =
        Stub::start(|_, before| Reply::new(200).body(format!("{{\"token\": \"t{before}\"}}")));
    let realm = issuer.url("/token");
    let mut served = 0;
    let stub = Stub::start(move |seen, _| {
        let token = format!("Bearer t{served}");
        if seen.header("authorization") != Some(&token) {
            return Reply::new(401).header(
                "www-authenticate",
                format!("Bearer realm=\"{realm}\",service=\"s\""),
            );
        }
        served += 1;
        let reply = from(first(seen));
        if served < 3 {
            reply.cut(300_000)
        } else {
            reply
        }
    });
    assert_eq!(pull(&stub).unwrap(), bytes());
    assert_eq!(issuer.seen().len(), 3);
}

#[test]
fn a_small_blob_is_what_its_descriptor_says() {
    let stub = Stub::start(|_, _| from(None));
    let (access, _, _dir) = access("{}");
    let reference = format!("{}/a", stub.host()).parse().unwrap();
    let registry = Registry::open(&reference, &access).unwrap();
    let good = descriptor(SIZE);
    assert_eq!(registry.small_blob(&good, 1 << 20).unwrap(), bytes());
    let fault = registry.small_blob(&good, 1000).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::LimitExceeded);
    let mut other = good.clone();
    other.set_digest(compute(&DigestAlgorithm::Sha256, b"another").unwrap());
    let fault = registry.small_blob(&other, 1 << 20).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::ChecksumMismatch);
    assert!(
        fault.detail.contains("is not what its digest says"),
        "{fault}"
    );
    let mut unknown = good;
    unknown.set_digest("md5:d41d8cd98f00b204e9800998ecf8427e".parse().unwrap());
    let fault = registry.small_blob(&unknown, 1 << 20).unwrap_err();
    assert_eq!(fault.kind, ProblemKind::ChecksumMismatch);
}

#[test]
fn a_blob_may_be_read_on_another_thread() {
    let stub = Stub::start(|_, _| from(None));
    let blob = open(&stub, SIZE).unwrap();
    let read = std::thread::spawn(move || read_capped(blob, 10 << 20).unwrap().0);
    assert_eq!(read.join().unwrap(), bytes());
}
