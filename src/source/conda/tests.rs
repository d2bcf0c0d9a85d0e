//! Names and metadata as packages of public channels have them; what they mean by the CEPs that `mod` names.

use super::*;
use crate::archive::zip::fixture::Builder;
use crate::cuda::ToolkitVersion;
use crate::platform::{CpuArch, Os, Platform};

#[test]
fn file_names_are_split_from_their_end() {
    for (file, parts) in [
        (
            "cuda-cudart_linux-64-12.9.79-h3f2d84a_0.conda",
            Some(("cuda-cudart_linux-64", "12.9.79", "h3f2d84a_0")),
        ),
        (
            "pytorch-2.1.0-py3.9_cuda12.1_cudnn8.9.2_0.tar.bz2",
            Some(("pytorch", "2.1.0", "py3.9_cuda12.1_cudnn8.9.2_0")),
        ),
        ("zip64-extra-field-test.conda", None),
        ("-1.0-0.conda", None),
        ("a-1.0.conda", None),
        ("a-1.0-0.zip", None),
    ] {
        let found = CondaFilename::parse(file);
        let found = found
            .as_ref()
            .map(|name| (&*name.name, &*name.version, &*name.build));
        assert_eq!(found, parts, "{file}");
    }
    assert!(CondaFilename::is_suffixed("x.CONDA") && !CondaFilename::is_suffixed("conda"));
}

#[test]
fn platforms_are_those_of_the_channels() {
    let one = |os, arch| Subdir::One(Platform::new(os, arch));
    for (subdir, expected) in [
        ("linux-64", one(Os::Linux, CpuArch::Amd64)),
        ("linux-aarch64", one(Os::Linux, CpuArch::Arm64)),
        ("win-64", one(Os::Windows, CpuArch::Amd64)),
        ("osx-arm64", one(Os::MacOs, CpuArch::Arm64)),
        ("noarch", Subdir::Any),
        ("linux-riscv64", Subdir::Other),
        ("", Subdir::Other),
    ] {
        assert_eq!(Subdir::of(subdir), expected, "{subdir}");
    }
    let of = Subdir::of_targets;
    let linux = |arch| Some(Platform::new(Os::Linux, arch));
    assert_eq!(of("targets/x86_64-linux/lib/a.so"), linux(CpuArch::Amd64));
    assert_eq!(of("targets/sbsa-linux/lib/a.so"), linux(CpuArch::Arm64));
    assert_eq!(of("lib/targets/x86_64-linux/a.so"), None);
}

#[test]
fn build_strings_say_which_cuda() {
    let cuda = |major, minor| Some(BuildClaim::Cuda { major, minor });
    for (build, expected) in [
        ("cuda129_mkl_py313_h0123456_200", cuda(12, Some(9))),
        ("cuda130_py312_h5a1b2c3_0", cuda(13, Some(0))),
        ("cuda118py310h52da4a5_0", cuda(11, Some(8))),
        ("cuda12_260204_498dafcf", cuda(12, None)),
        ("py3.10_cuda11.8_cudnn8.7.0_0", cuda(11, Some(8))),
        ("py3.6_cuda9.2.148_cudnn7.6.3_0", cuda(9, Some(2))),
        ("py310_cu116", cuda(11, Some(6))),
        ("py37_cu92", cuda(9, Some(2))),
        ("cpu_generic_py314_h0123456_104", Some(BuildClaim::Cpu)),
        ("py3.9_cpu_0", Some(BuildClaim::Cpu)),
        ("py313h28b6081_0", None),
        ("cuda", None),
        ("cudapy36_0", None),
        ("cu1h2_0", None),
        ("cpu_cuda129_0", None),
        ("cuda99999999999_0", None),
        ("", None),
    ] {
        assert_eq!(BuildClaim::of(build), expected, "{build}");
    }
}

#[test]
fn toolkits_that_a_dependency_allows_are_ranges_of_major_versions() {
    for (spec, expected) in [
        ("cuda-version >=12.9,<13", Some(12..=12)),
        ("cuda-version >=12,<13.0a0", Some(12..=12)),
        ("conda-forge::cuda-version >=11.8,<13", Some(11..=12)),
        ("pytorch-cuda >=12.1,<12.2", Some(12..=12)),
        ("cudatoolkit 11.6.*", Some(11..=11)),
        ("cudatoolkit 11.6|11.6.*", Some(11..=11)),
        ("cudatoolkit=10.2", Some(10..=10)),
        ("cudatoolkit >=11.2,<12.0a0", Some(11..=11)),
        ("cudatoolkit 10.1.243 h6bb024c_0", Some(10..=10)),
        ("cuda-version >=12", Some(12..=u32::MAX)),
        ("cuda-version", None),
        ("cuda-version *", None),
        ("cuda-version (>=11,<12)|>=13", None),
        ("cuda-nvrtc 12.9.*", None),
        ("cudatoolkit[version='>=11']", None),
        ("", None),
    ] {
        let found = MatchSpec::parse(spec).and_then(|spec| spec.toolkit_majors());
        assert_eq!(found, expected, "{spec}");
    }
}

#[test]
fn the_driver_is_the_highest_that_is_asked_for() {
    let floor = |specs: &[&str]| {
        let floor = DriverFloor::highest(specs.iter().copied())?;
        Some((floor.spec, floor.cuda))
    };
    let cuda =
        |spec: &str, major, minor| Some((spec.to_owned(), ToolkitVersion::new(major, minor)));
    for (specs, expected) in [
        (&["__cuda >=12.0"][..], cuda("__cuda >=12.0", 12, 0)),
        (&["__cuda >=12"], cuda("__cuda >=12", 12, 0)),
        (
            &["__cuda >=12", "python", "__cuda >=12.9,<13"],
            cuda("__cuda >=12.9,<13", 12, 9),
        ),
        (&["__cuda 11.8.*"], cuda("__cuda 11.8.*", 11, 8)),
        (
            &["__cuda >=11.2|>=12.4"],
            cuda("__cuda >=11.2|>=12.4", 11, 2),
        ),
        (&["__cuda"], None),
        (&["__cuda <13"], None),
        (&["__cuda *"], None),
        (&["__cuda >=x"], None),
        (&["__cuda_arch >=8.0"], None),
        (&["cuda-version >=12"], None),
    ] {
        assert_eq!(floor(specs), expected, "{specs:?}");
    }
}

#[test]
fn the_variant_without_cuda_is_asked_for_by_two_packages() {
    let asks = |spec| MatchSpec::parse(spec).unwrap().asks_for_cpu();
    assert!(asks("pytorch-mutex 1.0 cpu") && asks("cpuonly"));
    assert!(!asks("pytorch-mutex 1.0 cuda") && !asks("cpuonly <0") && !asks("pytorch-mutex"));
}

#[test]
fn an_index_is_read_in_its_new_and_its_old_forms() {
    let index = Index::parse(
        br#"{"name": "a", "version": "1", "build": "h0_0", "build_number": 0, "subdir": "linux-64",
             "depends": ["__cuda"], "noarch": null, "license": "MIT"}"#,
    )
    .unwrap();
    assert_eq!(index.subdir.as_deref(), Some("linux-64"));
    assert_eq!(index.stem(), "a-1-h0_0");
    assert_eq!((index.noarch, index.depends.len()), (None, 1));
    let old = |text: &str| {
        let text = format!(r#"{{"name": "a", "version": "1", {text}}}"#);
        Index::parse(text.as_bytes()).unwrap().subdir.unwrap()
    };
    assert_eq!(old(r#""platform": "linux", "arch": "x86_64""#), "linux-64");
    assert_eq!(old(r#""platform": "win", "arch": "x86""#), "win-32");
    assert_eq!(old(r#""noarch": "python""#), "noarch");
    assert_eq!(old(r#""noarch": true, "platform": null"#), "noarch");
    for wrong in [
        &b"{}"[..],
        b"",
        b"[]",
        br#"{"name": "", "version": "1"}"#,
        br#"{"name": "a", "version": 1}"#,
        br#"{"name": "a", "version": "1", "depends": "b"}"#,
    ] {
        let fault = Index::parse(wrong).unwrap_err();
        assert_eq!(fault.kind, ProblemKind::MalformedMetadata);
    }
}

fn opened(members: &[&str], file_name: &str) -> Conda {
    let mut builder = Builder::new();
    for member in members {
        builder = builder.stored(member, b"{\"conda_pkg_format_version\": 2}");
    }
    let at = Locator::root(0, file_name);
    Conda::open(builder.build().into(), at, file_name, &Limits::default())
}

/// The names of the parts in the order in which they are read, and kinds of problems.
fn parts(conda: &Conda) -> (Vec<String>, Vec<ProblemKind>) {
    let CondaForm::Zip { zip, tars, .. } = &conda.form else {
        panic!("a zip archive");
    };
    let names = tars
        .iter()
        .map(|index| zip.members()[*index].name.to_string());
    let kinds = conda.problems.iter().map(|problem| problem.kind);
    (names.collect(), kinds.collect())
}

#[test]
fn parts_are_found_by_their_names_in_any_order_and_below_any_directory() {
    let info = "info-a-1-0.tar.zst";
    let pkg = "pkg-a-1-0.tar.zst";
    for members in [
        &["metadata.json", info, pkg][..],
        &[pkg, info, "metadata.json"],
        &[pkg, info],
    ] {
        let conda = opened(members, "a-1-0.conda");
        assert_eq!(
            parts(&conda),
            (vec![info.to_owned(), pkg.to_owned()], vec![])
        );
        assert_eq!(conda.stems(), ["a-1-0"]);
    }
    let below = opened(
        &[
            "x/y/pkg-a-1-0.tar.zst",
            "x/y/info-a-1-0.tar.zst",
            "x/y/metadata.json",
        ],
        "a",
    );
    assert_eq!(
        parts(&below).0,
        ["x/y/info-a-1-0.tar.zst", "x/y/pkg-a-1-0.tar.zst"]
    );
    assert_eq!(
        parts(&opened(&[info], "a")),
        (vec![info.to_owned()], vec![])
    );
}

#[test]
fn parts_that_are_missing_or_there_twice_are_problems() {
    let pkg = "pkg-a-1-0.tar.zst";
    let (_, kinds) = parts(&opened(&[pkg], "a"));
    assert_eq!(kinds, [ProblemKind::MalformedArchive]);
    let twice = opened(&["info-a-1-0.tar.zst", pkg, "x/pkg-b-1-0.tar.zst"], "a");
    let (names, kinds) = parts(&twice);
    assert_eq!(
        (names.len(), kinds),
        (3, vec![ProblemKind::DuplicateMember])
    );
    assert_eq!(twice.problems[0].at.inner(), "x/pkg-b-1-0.tar.zst");
    assert_eq!(twice.stems(), ["a-1-0", "b-1-0"]);
    let none = Conda::open(
        b"<html>".to_vec().into(),
        Locator::root(0, "a"),
        "a-1-0.conda",
        &Limits::default(),
    );
    assert_eq!(parts(&none), (vec![], vec![ProblemKind::NotAnArchive]));
}

#[test]
fn another_version_of_the_format_is_a_problem() {
    let metadata = br#"{"conda_pkg_format_version": 3}"#;
    for (bytes, detail) in [
        (&metadata[..], "the version of its format is not 2 but 3"),
        (b"{}", "missing field"),
    ] {
        let file = Builder::new()
            .stored("info-a-1-0.tar.zst", b"")
            .stored("metadata.json", bytes)
            .build();
        let at = Locator::root(0, "a");
        let conda = Conda::open(file.into(), at, "a-1-0.conda", &Limits::default());
        assert_eq!(parts(&conda).1, [ProblemKind::MalformedMetadata]);
        let problem = &conda.problems[0];
        assert!(problem.detail.contains(detail), "{}", problem.detail);
        assert_eq!(problem.at.inner(), "metadata.json");
    }
}

#[test]
fn an_index_contradicts_other_names() {
    let index = Index {
        name: "a".to_owned(),
        version: "1".to_owned(),
        build: Some("0".to_owned()),
        ..Index::default()
    };
    let file = |name| CondaFilename::parse(name);
    let same = ["a-1-0".to_owned()];
    assert!(
        index
            .contradictions(file("a-1-0.conda").as_ref(), &same)
            .is_empty()
    );
    assert!(
        index
            .contradictions(file("renamed.conda").as_ref(), &[])
            .is_empty()
    );
    let other = index.contradictions(file("a-1-1.conda").as_ref(), &["b-1-0".to_owned()]);
    assert_eq!(
        other,
        [
            "`info/index.json` is of `a-1-0`, the file name of `a-1-1`",
            "`info/index.json` is of `a-1-0`, a part of the archive of `b-1-0`",
        ]
    );
}
