//! Wheels on a server: the same libraries as of the file, for fewer bytes.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::archive::zip::fixture::{Builder, Entry};
use crate::inventory::run::hex;
use crate::inventory::{Artifact, HashCheck, Inventory, ScanOptions, from_json, scan, to_json};
use crate::problem::{Extent, ProblemKind};
use crate::source::http::stub::{Reply, Stub, options, part};
use crate::source::lock::Lock;
use crate::source::oci::{Access, CredentialOptions};
use crate::source::remote::Fetcher;
use crate::source::{Servers, SourceSpec};
use crate::tables::Tables;
use crate::{Error, ErrorKind};
use sha2::{Digest as _, Sha256};

/// Text of which no line is like another.
fn text(lines: u32) -> String {
    (0..lines).fold(String::new(), |mut text, number| {
        let mixed = number.wrapping_mul(2_654_435_761);
        let _infallible = writeln!(text, "x{number} = {mixed}");
        text
    })
}

/// A wheel with three libraries with device code among text, larger than what is asked for first.
fn wheel() -> Vec<u8> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cuda/n135_two_objs.so");
    let library = crate::source::read_named(&fixture, 1 << 20, ErrorKind::Input).unwrap();
    Builder::new()
        .stored("w/one.so", &library)
        .deflated("w/two.so", &library)
        .stored("w/data.py", text(30_000).as_bytes())
        .deflated("w/far.so", &library)
        .stored("w/more.h", text(30_000).as_bytes())
        .stored("w/py.typed", b"")
        .stored("w-1.dist-info/METADATA", b"Name: w\nVersion: 1\n")
        .stored("w-1.dist-info/WHEEL", b"Wheel-Version: 1.0\n")
        .stored("w-1.dist-info/RECORD", text(9000).as_bytes())
        .build()
}

fn inspect(input: &str, threads: usize, offline: bool) -> Result<Inventory, Error> {
    let (http, _) = options();
    let access = Access::new(http, CredentialOptions::new(Vec::new()));
    let unasked = |_: Option<&Lock>| Err(Error::new(ErrorKind::Usage, "no index is asked here"));
    let servers = Servers::new(move || Fetcher::new(&access), unasked);
    let options = ScanOptions {
        threads,
        offline,
        fetch: Some(Arc::new(servers)),
        ..ScanOptions::default()
    };
    let spec: SourceSpec = input.parse()?;
    scan(&[spec], &options, Tables::builtin())
}

fn only(inventory: &Inventory) -> &Artifact {
    assert_eq!(inventory.artifacts.len(), 1);
    &inventory.artifacts[0]
}

const NAME: &str = "/w-1-py3-none-any.whl";

/// What the file is, when it is on this machine.
fn on_disk(bytes: &[u8]) -> Artifact {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(NAME.trim_start_matches('/'));
    std::fs::write(&path, bytes).unwrap();
    let inventory = inspect(path.to_str().unwrap(), 1, false).unwrap();
    only(&inventory).clone()
}

#[test]
fn a_wheel_on_a_server_has_the_libraries_of_the_file() {
    let file = on_disk(&wheel());
    assert_eq!((file.libraries.len(), file.problems.len()), (3, 0));
    let mut first = None;
    for threads in [1, 4] {
        let stub = Stub::start(|seen, _| part(&wheel(), seen));
        let inventory = inspect(&stub.url(NAME), threads, false).unwrap();
        let artifact = only(&inventory);
        assert_eq!(artifact.libraries, file.libraries);
        assert_eq!(artifact.problems, []);
        assert_eq!(artifact.name.as_deref(), Some("w"));
        assert_eq!((artifact.seen.files, artifact.seen.left_out), (3, 6));
        let fetched = artifact.fetched.clone().unwrap();
        assert_eq!(fetched.size, wheel().len() as u64);
        assert!(fetched.received < fetched.size / 3, "{fetched:?}");
        assert_eq!(fetched.verified, HashCheck::NotStated);
        // the end with the directory, what else says what the wheel is, the libraries, two of them together, and the
        // local headers of the six others
        let asked = stub.seen().len();
        assert!((3..=11).contains(&asked), "{asked}");
        assert_eq!(*first.get_or_insert(fetched.clone()), fetched);
        let json = to_json(&inventory).unwrap();
        assert_eq!(only(&from_json("x", &json).unwrap()).fetched, Some(fetched));
    }
}

#[test]
fn a_wrong_hash_taints_the_whole_artifact_where_all_of_it_was_read() {
    for (ranges, right) in [(false, true), (false, false), (true, true)] {
        let stub = Stub::start(move |seen, _| {
            if ranges {
                part(&wheel(), seen)
            } else {
                Reply::new(200).body(wheel())
            }
        });
        let mut sum = Sha256::new();
        sum.update(wheel());
        sum.update(if right { &b""[..] } else { b"other" });
        let url = format!("{}#sha256={}", stub.url(NAME), hex(&sum.finalize()));
        let inventory = inspect(&url, 2, false).unwrap();
        let artifact = only(&inventory);
        let fetched = artifact.fetched.as_ref().unwrap();
        let expected = match (ranges, right) {
            (true, _) => HashCheck::NotRead,
            (false, true) => HashCheck::Yes,
            (false, false) => HashCheck::No,
        };
        assert_eq!(fetched.verified, expected);
        assert_eq!(fetched.whole.is_some(), !ranges);
        assert_eq!(artifact.libraries.len(), 3);
        let problems: Vec<_> = artifact
            .problems
            .iter()
            .map(|problem| (problem.kind, problem.extent))
            .collect();
        let wrong = [(ProblemKind::ChecksumMismatch, Extent::Artifact)];
        assert_eq!(problems, wrong[usize::from(expected != HashCheck::No)..]);
    }
}

#[test]
fn a_server_that_goes_away_leaves_located_problems() {
    let stub = Stub::start(|seen, before| match before {
        0 => part(&wheel(), seen),
        _ => Reply::new(404),
    });
    let inventory = inspect(&stub.url(NAME), 2, false).unwrap();
    let artifact = only(&inventory);
    assert_eq!(artifact.libraries, []);
    let members: Vec<_> = artifact
        .problems
        .iter()
        .map(|problem| (problem.kind, problem.at.to_string()))
        .collect();
    let at = |name: &str| {
        let at = format!("{} › {name}", stub.url(NAME));
        (ProblemKind::Network, at)
    };
    let expected = [
        "w-1.dist-info/METADATA",
        "w-1.dist-info/RECORD",
        "w-1.dist-info/WHEEL",
        "w/data.py",
        "w/far.so",
        "w/more.h",
        "w/one.so",
        "w/py.typed",
        "w/two.so",
    ];
    assert_eq!(members, expected.map(at));
    assert!(
        stub.seen().len() < 6,
        "what failed for good is not tried again"
    );
}

#[test]
fn a_run_that_is_offline_asks_nobody_and_says_which_input_it_refuses() {
    let stub = Stub::start(|seen, _| part(&wheel(), seen));
    for input in [stub.url(NAME), "registry:registry.example/a".to_owned()] {
        let error = inspect(&input, 1, true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let name = input.trim_start_matches("registry:");
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(stub.seen().is_empty());
}

/// A wheel with a member that is called `name` in the directory, and changed, between text of more than what is
/// fetched together. It has more members that are left out than are compared whatever their size.
fn wheel_with(name: &str, data: &[u8], change: impl FnOnce(&mut Entry)) -> Vec<u8> {
    let mut zip = Builder::new().stored("w/first.py", text(30_000).as_bytes());
    for number in 0..20 {
        zip = zip.stored(&format!("w/{number}.py"), text(10).as_bytes());
    }
    zip.odd(name, data, change)
        .stored("w/last.py", text(30_000).as_bytes())
        .stored("w-1.dist-info/METADATA", b"Name: w\nVersion: 1\n")
        .stored("w-1.dist-info/WHEEL", b"Wheel-Version: 1.0\n")
        .stored("w-1.dist-info/RECORD", b"")
        .build()
}

fn library() -> Vec<u8> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cuda/n135_two_objs.so");
    crate::source::read_named(&fixture, 1 << 20, ErrorKind::Input).unwrap()
}

fn problems_by_ranges(bytes: Vec<u8>) -> Vec<(ProblemKind, String)> {
    let stub = Stub::start(move |seen, _| part(&bytes, seen));
    let inventory = inspect(&stub.url(NAME), 2, false).unwrap();
    let problems = only(&inventory).problems.iter();
    let named = problems.map(|problem| {
        let at = problem.at.to_string();
        let name = at.rsplit(" › ").next().unwrap_or_default().to_owned();
        (problem.kind, name)
    });
    named.collect()
}

#[test]
fn a_library_that_claims_to_be_too_small_is_fetched() {
    let claims = |entry: &mut Entry| entry.central.size = 10;
    let found = problems_by_ranges(wheel_with("w/lib.so", &library(), claims));
    assert!(
        found.iter().any(|(_, name)| name == "w/lib.so"),
        "{found:?}"
    );
    // neither does a packed size that leaves room for the rest
    let both = |entry: &mut Entry| {
        entry.central.size = 10;
        entry.central.packed = 10;
    };
    let found = problems_by_ranges(wheel_with("w/lib.so", &library(), both));
    assert!(
        found.iter().any(|(_, name)| name == "w/lib.so"),
        "{found:?}"
    );
}

#[test]
fn a_large_member_that_is_left_out_has_the_name_of_its_local_header() {
    let large = library().repeat(1 + (80 << 10) / library().len());
    let hidden = |entry: &mut Entry| entry.local.name = b"w/libx.so ".to_vec();
    let found = problems_by_ranges(wheel_with("w/lib.json", &large, hidden));
    assert_eq!(
        found,
        [(ProblemKind::HeaderMismatch, "w/lib.json".to_owned())]
    );
    assert_eq!(
        problems_by_ranges(wheel_with("w/lib.json", &large, |_| {})),
        []
    );
}

#[test]
fn a_member_that_is_left_out_between_two_that_are_fetched_is_compared() {
    let build = |name: &str| {
        let local = name.as_bytes().to_vec();
        Builder::new()
            .stored("w/first.py", text(30_000).as_bytes())
            .stored("w/one.so", &library())
            .odd("w/x.json", b"{}", |entry| entry.local.name = local)
            .stored("w/two.so", &library())
            .stored("w/last.py", text(30_000).as_bytes())
            .stored("w-1.dist-info/METADATA", b"Name: w\nVersion: 1\n")
            .stored("w-1.dist-info/WHEEL", b"Wheel-Version: 1.0\n")
            .stored("w-1.dist-info/RECORD", b"")
            .build()
    };
    let expected = (ProblemKind::HeaderMismatch, "w/x.json".to_owned());
    assert_eq!(problems_by_ranges(build("w/lib.so")), [expected]);
    assert_eq!(problems_by_ranges(build("w/x.json")), []);
}
