//! Packages and archives are written by other implementations (the `tar` crate, the encoders of each coding), and what
//! is found in them is compared with what the same files hold in a directory.

use std::io::Write as _;
use std::path::Path;

use tar::{Builder, EntryType, Header};

use crate::archive::zip::fixture::Builder as Zip;
use crate::inventory::{
    Artifact, ArtifactKind, Library, Manager, Package, ScanOptions, from_json, scan, to_json,
};
use crate::limits::{Limits, read_capped};
use crate::problem::ProblemKind;
use crate::tables::Tables;

const INDEX: &str = r#"{"name": "p", "version": "1.0", "build": "cuda129_0", "build_number": 0,
    "subdir": "linux-64", "depends": ["python", "__cuda >=12.4"], "constrains": ["cudatoolkit <0"]}"#;

fn library() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cuda/n135_two_objs.so");
    let file = std::fs::File::open(path).unwrap();
    read_capped(file, 1 << 20).unwrap().0
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

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A `.conda` with this metadata and these other files.
fn conda(index: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let info = tar(&[("info/index.json", index.as_bytes())]);
    Zip::new()
        .stored("metadata.json", br#"{"conda_pkg_format_version": 2}"#)
        .stored("pkg-p-1.0-cuda129_0.tar.zst", &zstd(&tar(files)))
        .stored("info-p-1.0-cuda129_0.tar.zst", &zstd(&info))
        .build()
}

/// A `.tar.bz2` of two streams, with its metadata at the end.
fn tar_bz2(index: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let all = [files, &[("info/index.json", index.as_bytes())]].concat();
    let plain = tar(&all);
    let (one, other) = plain.split_at(plain.len() / 3);
    [bzip2(one), bzip2(other)].concat()
}

fn scanned(path: &str, limits: Limits) -> Artifact {
    let options = ScanOptions {
        limits,
        ..ScanOptions::default()
    };
    let inventory = scan(&[path.parse().unwrap()], &options, Tables::builtin()).unwrap();
    let json = to_json(&inventory).unwrap();
    assert_eq!(to_json(&from_json("x", &json).unwrap()).unwrap(), json);
    inventory.artifacts.into_iter().next().unwrap()
}

fn input(scheme: &str, name: &str, bytes: &[u8]) -> Artifact {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    scanned(&format!("{scheme}{}", path.display()), Limits::default())
}

/// The artifact of a directory that holds one file.
fn in_dir(name: &str, bytes: &[u8], limits: Limits) -> Artifact {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(name), bytes).unwrap();
    scanned(&dir.path().display().to_string(), limits)
}

fn kinds(artifact: &Artifact) -> Vec<ProblemKind> {
    let problems = artifact.problems.iter();
    problems.map(|problem| problem.kind).collect()
}

fn paths(artifact: &Artifact) -> Vec<&str> {
    let libraries = artifact.libraries.iter();
    libraries.map(|library| &*library.path).collect()
}

/// What is found of the library by itself.
fn plain() -> Library {
    in_dir("a.so", &library(), Limits::default())
        .libraries
        .remove(0)
}

fn package() -> Package {
    Package {
        manager: Some(Manager::Conda),
        ..Package::new("p", Some("1.0".to_owned()))
    }
}

#[test]
fn both_formats_are_the_same_package() {
    let library = library();
    let files = [("lib/a.so", &library[..]), ("lib/readme", b"text")];
    let mut found = Vec::new();
    for (name, bytes) in [
        ("p-1.0-cuda129_0.conda", conda(INDEX, &files)),
        ("p-1.0-cuda129_0.tar.bz2", tar_bz2(INDEX, &files)),
    ] {
        // by content, whatever the name, and by the scheme
        for (scheme, name) in [
            ("", name),
            ("", "cached"),
            ("conda:", name),
            ("conda:", "cached"),
        ] {
            let artifact = input(scheme, name, &bytes);
            assert_eq!(artifact.kind, ArtifactKind::Conda, "{scheme}{name}");
            assert_eq!(kinds(&artifact), [], "{scheme}{name}");
            assert_eq!(artifact.name.as_deref(), Some("p"));
            assert_eq!(artifact.version.as_deref(), Some("1.0"));
            assert_eq!(artifact.platforms, ["linux/amd64".parse().unwrap()]);
            assert_eq!(artifact.packages, [package()]);
            assert_eq!(paths(&artifact), ["lib/a.so"]);
            assert_eq!(artifact.libraries[0].package, Some(0));
            assert_eq!(artifact.libraries[0].code, plain().code);
            let facts = artifact.conda.as_ref().unwrap();
            assert_eq!(facts.build.as_deref(), Some("cuda129_0"));
            assert_eq!(facts.depends, ["__cuda >=12.4"]);
            assert_eq!(facts.constrains, ["cudatoolkit <0"]);
            assert_eq!(facts.driver_floor().unwrap().cuda.to_string(), "12.4");
            assert_eq!(artifact.sha256.as_ref().unwrap().len(), 64);
            found.push((artifact.seen.with_device_code, artifact.conda.clone()));
        }
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_package_that_was_cut_anywhere_is_never_whole() {
    // small, so that it can be cut everywhere
    let files = [("lib/a.txt", &b"text"[..])];
    for (name, bytes) in [
        ("p-1.0-cuda129_0.conda", conda(INDEX, &files)),
        ("p-1.0-cuda129_0.tar.bz2", tar_bz2(INDEX, &files)),
    ] {
        assert_eq!(kinds(&input("conda:", name, &bytes)), []);
        for cut in (0..bytes.len()).step_by(7) {
            let artifact = input("conda:", name, &bytes[..cut]);
            assert!(!artifact.problems.is_empty(), "{name} cut at {cut}");
        }
        // a damaged byte: the problem says where, and no cut of it is a panic
        for at in (0..bytes.len()).step_by(11) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let _any = input("conda:", name, &damaged);
        }
    }
}

#[test]
fn what_stands_before_the_damage_is_found() {
    let library = library();
    let noise: Vec<u8> = (0..200_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0])
        .collect();
    let files = [("lib/a.so", &library[..]), ("lib/noise", &noise)];
    let whole = bzip2(&tar(&[
        &[("info/index.json", INDEX.as_bytes())],
        &files[..],
    ]
    .concat()));
    let cut = input("", "p-1.0-cuda129_0.tar.bz2", &whole[..whole.len() - 1000]);
    assert_eq!(cut.kind, ArtifactKind::Conda);
    // the member and the rest of the archive
    assert_eq!(kinds(&cut), [ProblemKind::Truncated; 2]);
    assert_eq!(paths(&cut), ["lib/a.so"]);
}

#[test]
fn a_window_that_is_too_large_is_a_limit() {
    // RFC 8878, 3.1.1.1: window descriptor with exponent 18 (2^28), then a last raw block without bytes
    let huge = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 0x01, 0x00, 0x00];
    let info = zstd(&tar(&[("info/index.json", INDEX.as_bytes())]));
    let file = Zip::new()
        .stored("info-p-1.0-cuda129_0.tar.zst", &info)
        .stored("pkg-p-1.0-cuda129_0.tar.zst", &huge)
        .build();
    let artifact = input("", "p-1.0-cuda129_0.conda", &file);
    assert_eq!(kinds(&artifact), [ProblemKind::LimitExceeded]);
    assert_eq!(
        artifact.problems[0].at.inner(),
        "pkg-p-1.0-cuda129_0.tar.zst"
    );
    assert_eq!(artifact.name.as_deref(), Some("p"));
}

#[test]
fn both_of_two_parts_of_a_kind_are_read() {
    let library = library();
    let info = zstd(&tar(&[("info/index.json", INDEX.as_bytes())]));
    let pkg = |name| zstd(&tar(&[(name, &library)]));
    let file = Zip::new()
        .stored("info-p-1.0-cuda129_0.tar.zst", &info)
        .stored("pkg-p-1.0-cuda129_0.tar.zst", &pkg("lib/a.so"))
        .stored("x/pkg-p-1.0-cuda129_0.tar.zst", &pkg("lib/b.so"))
        .build();
    let artifact = input("", "p-1.0-cuda129_0.conda", &file);
    assert_eq!(kinds(&artifact), [ProblemKind::DuplicateMember]);
    assert_eq!(paths(&artifact), ["lib/a.so", "lib/b.so"]);
}

#[test]
fn names_and_metadata_that_disagree_are_problems() {
    let other = INDEX.replace("\"p\"", "\"q\"");
    let artifact = input("", "p-1.0-cuda129_0.conda", &conda(&other, &[]));
    assert_eq!(
        kinds(&artifact),
        [ProblemKind::MalformedMetadata; 2],
        "the file name and the names of the parts"
    );
    assert_eq!(artifact.name.as_deref(), Some("q"));
    assert_eq!(artifact.problems[0].at.inner(), "info/index.json");
    let broken = input("", "p-1.0-cuda129_0.conda", &conda("{", &[]));
    assert_eq!(kinds(&broken), [ProblemKind::MalformedMetadata]);
    let twice = [("lib/a", &b"x"[..]), ("./lib/a", b"y")];
    let artifact = input("", "p-1.0-cuda129_0.tar.bz2", &tar_bz2(INDEX, &twice));
    assert_eq!(kinds(&artifact), [ProblemKind::DuplicateMember]);
}

#[test]
fn a_tar_archive_without_metadata_is_a_package_only_where_that_is_said() {
    let library = library();
    let bytes = bzip2(&tar(&[("lib/a.so", &library)]));
    let said = input("conda:", "x.tar.bz2", &bytes);
    assert_eq!(
        (said.kind, kinds(&said)),
        (ArtifactKind::Conda, vec![ProblemKind::MalformedMetadata])
    );
    assert_eq!(paths(&said), ["lib/a.so"]);
    let file = input("", "x.tar.bz2", &bytes);
    assert_eq!((file.kind, kinds(&file)), (ArtifactKind::File, vec![]));
    assert_eq!(paths(&file), ["x.tar.bz2 › lib/a.so"]);
    assert_eq!(file.seen.files, 2);
    let text = input("", "x.bz2", &bzip2(b"text"));
    assert_eq!((text.seen.files, text.seen.unopened), (1, 1));
}

#[test]
fn a_package_for_any_platform_is_for_that_of_its_binaries() {
    let library = library();
    let any = INDEX.replace("linux-64", "noarch");
    let files = [("targets/sbsa-linux/lib/a.so", &library[..])];
    let artifact = input("", "p-1.0-cuda129_0.conda", &conda(&any, &files));
    assert_eq!(artifact.platforms, ["linux/arm64".parse().unwrap()]);
    let none = input("", "p-1.0-cuda129_0.conda", &conda(&any, &[]));
    assert!(none.platforms.is_empty() && none.other_platforms.is_empty());
    let odd = INDEX.replace("linux-64", "linux-riscv64");
    let odd = input("", "p-1.0-cuda129_0.conda", &conda(&odd, &[]));
    assert_eq!(odd.other_platforms, ["linux-riscv64"]);
}

#[test]
fn archives_of_all_kinds_are_opened_where_they_lie() {
    let library = library();
    let plain = plain();
    let members = tar(&[("d/a.so", &library), ("d/text", b"x")]);
    for (name, bytes) in [
        ("x.tar", members.clone()),
        ("x.tar.gz", gzip(&members)),
        ("x.tar.bz2", bzip2(&members)),
        ("x.tar.zst", zstd(&members)),
        ("cached", gzip(&members)),
    ] {
        let expected = format!("{name} › d/a.so");
        let found = in_dir(name, &bytes, Limits::default());
        assert_eq!((kinds(&found), paths(&found)), (vec![], vec![&*expected]));
        assert_eq!((found.seen.files, found.seen.unopened), (3, 0));
        assert_eq!(found.libraries[0].code, plain.code, "{name}");
        // in a zip archive, in a tar archive, and in both
        let zip = Zip::new().stored(name, &bytes).build();
        for (outer, bytes) in [
            ("o.zip", zip.clone()),
            ("o.tar.gz", gzip(&tar(&[(name, &bytes)]))),
        ] {
            let found = in_dir(outer, &bytes, Limits::default());
            let expected = format!("{outer} › {expected}");
            assert_eq!((kinds(&found), paths(&found)), (vec![], vec![&*expected]));
        }
        let both = gzip(&tar(&[("o.zip", &zip)]));
        let found = in_dir("both.tgz", &both, Limits::default());
        let expected = format!("both.tgz › o.zip › {expected}");
        assert_eq!((kinds(&found), paths(&found)), (vec![], vec![&*expected]));
    }
}

#[test]
fn packages_in_directories_and_archives_are_packages_of_these() {
    let library = library();
    let files = [("lib/a.so", &library[..])];
    let conda = conda(INDEX, &files);
    let bz2 = tar_bz2(INDEX, &files);
    for (name, bytes) in [
        ("p-1.0-cuda129_0.conda", &conda),
        ("p-1.0-cuda129_0.tar.bz2", &bz2),
    ] {
        let found = in_dir(name, bytes, Limits::default());
        assert_eq!(found.kind, ArtifactKind::Directory);
        assert_eq!(found.packages, [package()]);
        assert_eq!(paths(&found), [format!("{name} › lib/a.so")]);
        assert_eq!(found.libraries[0].package, Some(0));
        let packed = zstd(&tar(&[(name, bytes)]));
        let found = in_dir("pkgs.tar.zst", &packed, Limits::default());
        assert_eq!(found.packages, [package()]);
        assert_eq!(paths(&found), [format!("pkgs.tar.zst › {name} › lib/a.so")]);
    }
}

#[test]
fn archives_are_opened_to_a_depth() {
    let library = library();
    let mut bytes = library.clone();
    let mut name = "a.so".to_owned();
    for level in 0..4 {
        bytes = gzip(&tar(&[(&name, &bytes)]));
        name = format!("{level}.tar.gz");
    }
    let limits = |depth| Limits {
        depth,
        ..Limits::default()
    };
    let found = in_dir(&name, &bytes, limits(4));
    assert_eq!(found.libraries.len(), 1);
    assert_eq!(kinds(&found), []);
    let found = in_dir(&name, &bytes, limits(3));
    assert_eq!(found.libraries.len(), 0);
    assert_eq!(kinds(&found), [ProblemKind::LimitExceeded]);
    // whatever the limit, so that the stack never ends
    (bytes, name) = (b"text".to_vec(), "text".to_owned());
    for level in 0..66 {
        bytes = gzip(&tar(&[(&name, &bytes)]));
        name = format!("{level}.tar.gz");
    }
    let found = in_dir(&name, &bytes, limits(u32::MAX));
    assert_eq!(kinds(&found), [ProblemKind::LimitExceeded]);
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_a_limit() {
    let zeros = vec![0; 80 << 20];
    let bomb = zstd(&tar(&[("zeros", &zeros)]));
    let found = in_dir("x.tar.zst", &bomb, Limits::default());
    // the member and the rest of the archive
    assert_eq!(kinds(&found), [ProblemKind::LimitExceeded; 2]);
}

#[test]
fn the_end_of_an_archive_is_looked_at() {
    let whole = tar(&[("text", b"x")]);
    let cut = &whole[..1024];
    let more = [&whole[..], &tar(&[("a.so", &library())])].concat();
    for (bytes, kind) in [
        (cut, ProblemKind::Truncated),
        (&more[..], ProblemKind::MalformedArchive),
    ] {
        for (name, bytes) in [("x.tar", bytes.to_vec()), ("x.tar.gz", gzip(bytes))] {
            assert_eq!(kinds(&in_dir(name, &bytes, Limits::default())), [kind]);
        }
    }
    // what is called so and is none
    let none = in_dir("x.tar.gz", &gzip(b"text"), Limits::default());
    assert_eq!(kinds(&none), [ProblemKind::Truncated]);
    let none = in_dir("x.gz", &gzip(b"text"), Limits::default());
    assert_eq!((kinds(&none), none.seen.unopened), (vec![], 1));
}

#[test]
fn a_large_library_in_a_stream_is_read_as_by_itself() {
    // longer than the part that is kept anyway, so that its section headers at the end name what has passed
    let mut large = library();
    large.resize(3 << 20, 0);
    let alone = in_dir("a.so", &large, Limits::default());
    let found = in_dir(
        "x.tar.gz",
        &gzip(&tar(&[("a.so", &large)])),
        Limits::default(),
    );
    assert_eq!(kinds(&found), kinds(&alone));
    assert_eq!(found.libraries[0].code, alone.libraries[0].code);
    assert_eq!(found.libraries[0].soname, alone.libraries[0].soname);
}
