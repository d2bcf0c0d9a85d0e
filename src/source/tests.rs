//! What is recognised as what, and what is said about the rest.

use std::io::Write as _;

use super::*;
use crate::ProblemKind;
use crate::archive::Kind;
use crate::archive::zip::fixture::Builder;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn open(&self, scheme: &str, name: &str) -> Result<Source, Error> {
        let text = format!("{scheme}{}", self.0.path().join(name).display());
        open(&text.parse()?, 7, &mut OpenOptions::default())
    }

    fn kind(&self, name: &str) -> &'static str {
        match self.open("", name).unwrap() {
            Source::Wheel(_) => "wheel",
            Source::Conda(_) => "conda",
            Source::Sdist(_) => "sdist",
            Source::Dir(_) => "dir",
            Source::Lock(_) => "lock",
            Source::File(_) => "file",
            Source::Images { .. } => "images",
            Source::ImageStream(_) => "image stream",
            #[cfg(feature = "registry")]
            Source::Remote { .. } => "remote",
        }
    }
}

fn wheel() -> Vec<u8> {
    Builder::new().stored("x-1.dist-info/WHEEL", b"").build()
}

/// A gzip stream with a tar archive whose first member is `name`.
fn tar_gz(name: &str) -> Vec<u8> {
    gzip(&tar_header(name, b'5', 0))
}

fn tar_header(name: &str, kind: u8, size: usize) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn recognises_inputs_by_their_content() {
    let files = Files::new();
    files.write("cached", &wheel());
    files.write("a-1-py3-none-any.whl", &wheel());
    files.write(
        "b-1-py3-none-any.whl",
        &Builder::new().stored("a", b"").build(),
    );
    files.write("c-1-py3-none-any.whl", b"");
    files.write("plain.zip", &Builder::new().stored("a.so", b"").build());
    files.write(
        "d-1.zip",
        &Builder::new().stored("d-1/PKG-INFO", b"").build(),
    );
    files.write(
        "flash_attn-2.8.tar.gz",
        &tar_gz("flash-attn-2.8.0/PKG-INFO"),
    );
    // As `tarfile` begins an archive in the PAX format.
    let record = [&b"28 mtime=1700000000.1234567\n"[..], &[0; 484]].concat();
    let pax = [
        tar_header("././@PaxHeader", b'x', 28),
        record,
        tar_header("e_f-1.0", b'5', 0),
    ];
    files.write("e.f-1.tar.gz", &gzip(&pax.concat()));
    let endless = tar_header("././@PaxHeader", b'x', 0).repeat(9);
    files.write("g-1.tar.gz", &gzip(&endless));
    files.write("layer-2.8.tar.gz", &tar_gz("usr/lib/a.so"));
    files.write("app-1.0.tar.gz", b"\x1f\x8b\x08 damaged");
    files.write("lib.so", b"\x7fELF");
    files.write("empty", b"");
    for (name, kind) in [
        ("", "dir"),
        ("cached", "wheel"),
        ("a-1-py3-none-any.whl", "wheel"),
        ("b-1-py3-none-any.whl", "wheel"),
        ("c-1-py3-none-any.whl", "wheel"),
        ("plain.zip", "file"),
        ("d-1.zip", "sdist"),
        ("flash_attn-2.8.tar.gz", "sdist"),
        ("e.f-1.tar.gz", "sdist"),
        ("g-1.tar.gz", "file"),
        ("layer-2.8.tar.gz", "file"),
        ("app-1.0.tar.gz", "file"),
        ("lib.so", "file"),
        ("empty", "file"),
    ] {
        assert_eq!(files.kind(name), kind, "{name}");
    }
    let Source::File(plain) = files.open("", "plain.zip").unwrap() else {
        panic!("no file");
    };
    assert_eq!(plain.kind, Some(Kind::Zip));
    assert_eq!(plain.at.artifact_index(), 7);
    let Source::Sdist(sdist) = files.open("", "flash_attn-2.8.tar.gz").unwrap() else {
        panic!("no sdist");
    };
    assert_eq!((&*sdist.name, &*sdist.version), ("flash_attn", "2.8"));
}

#[test]
fn a_scheme_decides() {
    let files = Files::new();
    files.write("x.whl", &wheel());
    files.write("x.bin", &wheel());
    assert!(matches!(files.open("file:", "x.whl"), Ok(Source::File(_))));
    assert!(matches!(
        files.open("wheel:", "x.bin"),
        Ok(Source::Wheel(_))
    ));
    assert!(matches!(files.open("dir:", ""), Ok(Source::Dir(_))));
    for (scheme, name) in [("dir:", "x.whl"), ("wheel:", ""), ("file:", "")] {
        let error = files.open(scheme, name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{scheme}{name}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_wheel_that_is_no_archive_is_a_problem_not_a_plain_file() {
    let files = Files::new();
    files.write(
        "x-1-py3-none-any.whl",
        b"version https://git-lfs.github.com/spec/v1\n",
    );
    let source = files.open("", "x-1-py3-none-any.whl").unwrap();
    assert_eq!(source.problems()[0].kind, ProblemKind::NotAnArchive);
    assert!(source.problems()[0].detail.contains("LFS"));
    assert_eq!(&source.problems()[0].at, source.at());
}

#[test]
fn names_what_is_not_there_and_what_to_do() {
    let files = Files::new();
    let error = files.open("", "missing.whl").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("missing.whl` does not exist"));
    let mut options = OpenOptions::default();
    let error = open(&"torch".parse().unwrap(), 0, &mut options).unwrap_err();
    assert!(error.hint().unwrap().contains("`torch==VERSION`"));
    let requirement = open(&"torch==2.9.1".parse().unwrap(), 0, &mut options);
    assert!(matches!(requirement, Ok(Source::Lock(_))));
    files.write("file", b"");
    let error = files.open("", "file/x.whl").unwrap_err();
    assert!(error.to_string().contains("does not exist"));
}

#[cfg(unix)]
#[test]
fn does_not_wait_for_what_is_no_regular_file() {
    let files = Files::new();
    let _socket = std::os::unix::net::UnixListener::bind(files.0.path().join("s")).unwrap();
    let error = files.open("", "s").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("neither a regular file nor a directory")
    );
}
