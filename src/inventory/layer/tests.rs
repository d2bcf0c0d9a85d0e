//! Layers are written by the `tar` crate, and what is found in them is compared with what the same files hold as
//! files of a directory.

use std::io::Write as _;
use std::path::Path;

use tar::{Builder, EntryType, Header};

use super::*;
use crate::archive::Kind;
use crate::inventory::{ScanOptions, scan as scan_inputs};
use crate::limits::Limits;
use crate::tables::Tables;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/cuda");
const DEMO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/testdata/demo/smgate_demo-1.0-py3-none-manylinux_2_28_x86_64.whl"
);

fn means(limits: Limits) -> Means<'static> {
    Means::new(limits, Tables::builtin(), false)
}

fn read_file(path: &Path) -> Vec<u8> {
    let file = std::fs::File::open(path).unwrap();
    read_capped(file, 1 << 30).unwrap().0
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn again(stored: &[u8]) -> LayerScan {
    let stored = stored.to_vec();
    let open = || Ok(Box::new(std::io::Cursor::new(stored.clone())) as Box<dyn BufRead + Send>);
    let size = Some(stored.len() as u64);
    scan(Stored::Again(&open), size, &means(Limits::default()))
}

fn once(stored: &[u8]) -> LayerScan {
    let size = Some(stored.len() as u64);
    let stored = Stored::Once(Box::new(stored));
    scan(stored, size, &means(Limits::default()))
}

fn reports(scan: &LayerScan) -> Vec<(String, u64, DeviceReport)> {
    let mut found: Vec<_> = scan
        .files
        .iter()
        .map(|file| {
            let path = String::from_utf8_lossy(&scan.entries[file.entry].path).into_owned();
            (
                format!("{path}{}", file.inner),
                file.size,
                file.report.clone(),
            )
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn finds_in_every_encoding_what_the_files_hold() {
    let walked = crate::source::Dir::open(
        Path::new(FIXTURES),
        Locator::root(0, ""),
        &Limits::default(),
    );
    let names: Vec<String> = walked
        .files
        .iter()
        .map(|file| file.name.to_string())
        .collect();
    let bytes: Vec<Vec<u8>> = names
        .iter()
        .map(|name| read_file(&Path::new(FIXTURES).join(name)))
        .collect();
    let files: Vec<(&str, &[u8])> = names
        .iter()
        .map(String::as_str)
        .zip(bytes.iter().map(Vec::as_slice))
        .collect();
    let plain = tar(&files);
    let inventory = scan_inputs(
        &[format!("dir:{FIXTURES}").parse().unwrap()],
        &ScanOptions::default(),
        Tables::builtin(),
    )
    .unwrap();
    let directory = &inventory.artifacts[0];
    let expected: Vec<_> = directory
        .libraries
        .iter()
        .map(|library| (library.path.clone(), library.size, library.code.len()))
        .collect();
    assert!(expected.len() > 50);
    let zstd = zstd::encode_all(&plain[..], 1).unwrap();
    for stored in [plain.clone(), gzip(&plain), zstd] {
        for scan in [again(&stored), once(&stored)] {
            let found: Vec<_> = reports(&scan)
                .into_iter()
                .map(|(path, size, report)| (path, size, report.classes.len()))
                .collect();
            assert_eq!(found, expected);
            assert_eq!(scan.seen, directory.seen);
            assert_eq!(scan.layer_problems, []);
            let problems: usize = scan.problems.values().map(Vec::len).sum();
            assert_eq!(problems, directory.problems.len());
        }
    }
}

/// A library of 4 MiB whose dynamic section, at 3 MiB, names strings at 2 MiB: they have passed by then.
fn backward() -> Vec<u8> {
    let (strings, dynamic, len) = (2_u64 << 20, 3_u64 << 20, 4_u64 << 20);
    let mut elf = vec![0; usize::try_from(len).unwrap()];
    let mut put = |at: u64, bytes: &[u8]| {
        let at = usize::try_from(at).unwrap();
        elf[at..at + bytes.len()].copy_from_slice(bytes);
    };
    // e_ident, ET_DYN, x86-64, version; two program headers at 64
    put(0, b"\x7fELF\x02\x01\x01");
    put(16, &[3, 0, 62, 0, 1]);
    put(32, &64_u64.to_le_bytes());
    put(52, &[64, 0, 56, 0, 2, 0, 64]);
    // type, offset, address, file size: all of the file where it is, and the dynamic section
    for (at, kind, offset, size) in [(64, 1_u32, 0, len), (120, 2, dynamic, 64)] {
        put(at, &kind.to_le_bytes());
        put(at + 8, &offset.to_le_bytes());
        put(at + 16, &offset.to_le_bytes());
        put(at + 32, &size.to_le_bytes());
        put(at + 40, &size.to_le_bytes());
    }
    // DT_NEEDED 1, DT_STRTAB, DT_STRSZ, DT_NULL
    for (index, (tag, value)) in [(1_u64, 1), (5, strings), (10, 20), (0, 0)]
        .into_iter()
        .enumerate()
    {
        let at = dynamic + 16 * index as u64;
        put(at, &tag.to_le_bytes());
        put(at + 8, &value.to_le_bytes());
    }
    put(strings, b"\0libcudart.so.12\0\0\0\0");
    elf
}

#[test]
fn headers_that_name_what_has_passed_are_read_all_the_same() {
    let library = backward();
    let plain = tar(&[
        ("a.txt", b"text"),
        ("lib/one.so", &library),
        ("lib/two.so", &library),
    ]);
    for stored in [plain.clone(), gzip(&plain)] {
        for scan in [again(&stored), once(&stored)] {
            let found = reports(&scan);
            assert_eq!(found.len(), 2);
            for (_, _, report) in found {
                assert_eq!(report.host.needed, ["libcudart.so.12"]);
            }
            assert!(scan.problems.is_empty(), "{:?}", scan.problems);
        }
    }
}

#[test]
fn reads_wheels_that_lie_in_a_layer() {
    let demo = read_file(Path::new(DEMO));
    let name = "root/.cache/smgate_demo-1.0-py3-none-manylinux_2_28_x86_64.whl";
    // a cache of pip's has no suffix
    for name in [name, "root/.cache/pip/http-v2/a/b.body"] {
        let scan = again(&gzip(&tar(&[(name, &demo)])));
        let found = reports(&scan);
        assert!(!found.is_empty());
        assert!(
            found
                .iter()
                .all(|(path, ..)| path.starts_with(&format!("{name} › ")))
        );
        let packages = scan
            .packages
            .iter()
            .map(|(_, package)| package.name.as_str());
        let named: Vec<&str> = packages.collect();
        let expected: &[&str] = if name.ends_with("body") {
            &[]
        } else {
            &["smgate-demo"]
        };
        assert_eq!(named, expected);
    }
}

#[test]
fn reports_truncated_layer_and_keeps_what_was_seen() {
    let fixture = read_file(&Path::new(FIXTURES).join("cubin_118_sm_80.cubin"));
    let plain = tar(&[("a.cubin", &fixture), ("b.cubin", &fixture)]);
    for stored in [plain.clone(), gzip(&plain)] {
        let whole = again(&stored);
        assert_eq!((whole.files.len(), whole.layer_problems.len()), (2, 0));
        for cut in (0..stored.len()).step_by(97) {
            let scan = again(&stored[..cut]);
            let told = !scan.layer_problems.is_empty() || !scan.problems.is_empty();
            // where it is cut between members, only the digest or the missing end can say so
            assert!(told || scan.unmarked, "cut at {cut}");
        }
    }
    let scan = again(&plain[..plain.len() - 1024 - 512]);
    assert_eq!(scan.files.len(), 2, "the second one in part");
    assert!(!scan.layer_problems.is_empty());
}

#[test]
fn what_is_no_archive_is_said() {
    for stored in [&b"{\"_type\": \"statement\"}"[..], b"", &[0xff; 5000]] {
        let scan = again(stored);
        assert!(!scan.layer_problems.is_empty() || scan.unmarked);
        assert!(scan.entries.is_empty());
    }
    let scan = again(b"\xfd7zXZ\0 and so on");
    assert_eq!(
        scan.layer_problems[0].kind,
        ProblemKind::UnsupportedCompression
    );
    assert_eq!(Kind::sniff(b"\xfd7zXZ\0 and so on"), Some(Kind::Xz));
}

#[test]
fn a_limit_that_is_reached_is_a_problem_of_the_layer() {
    let plain = tar(&[("a", &[1; 5000]), ("b", &[1; 5000])]);
    let limits = Limits {
        members: 1,
        ..Limits::default()
    };
    let stored = gzip(&plain);
    let reader = &stored[..];
    let scan = scan(Stored::Once(Box::new(reader)), None, &means(limits));
    assert_eq!(scan.layer_problems[0].kind, ProblemKind::LimitExceeded);
}

#[test]
fn what_another_reader_would_take_for_a_file_is_no_whiteout_unseen() {
    let fixture = read_file(&Path::new(FIXTURES).join("cubin_118_sm_80.cubin"));
    // `.wh..wh.` is what AUFS keeps for itself
    for name in ["lib/.wh.a.cubin", ".wh..wh.x", "lib/.wh..wh..opq"] {
        let scan = again(&tar(&[(name, &fixture)]));
        assert_eq!(
            scan.layer_problems[0].kind,
            ProblemKind::HeaderMismatch,
            "{name}"
        );
        let empty = again(&tar(&[(name, b"")]));
        assert!(empty.layer_problems.is_empty(), "{name}");
    }
}
