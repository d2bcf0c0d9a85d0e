//! Trees with the databases of every manager.

mod fixture;
mod rpm;

use std::collections::BTreeSet;

use self::fixture::Memory;
use super::*;

fn assigned(tree: &dyn Tree) -> Assigned {
    assign(tree, &Locator::root(0, "root"), &Limits::default())
}

/// The owner of a file as `MANAGER NAME VERSION`; `-` where it has none.
fn owner(tree: &dyn Tree, found: &Assigned, name: &str) -> String {
    let index = (0..tree.len()).find(|index| tree.name(*index) == name.as_bytes());
    let owner = found.owner[index.unwrap_or_else(|| panic!("no {name}"))];
    owner.map_or("-".to_owned(), |owner| shown(&found.packages[owner]))
}

fn shown(package: &Package) -> String {
    let version = package.version.as_deref().unwrap_or("?");
    format!("{} {} {version}", package.manager.id(), package.name)
}

fn packages(found: &Assigned) -> Vec<String> {
    found.packages.iter().map(shown).collect()
}

fn problems(found: &Assigned) -> Vec<(String, &'static str)> {
    let problems = found.problems.iter();
    problems
        .map(|problem| (problem.at.inner(), problem.kind.id()))
        .collect()
}

const STATUS: &str = "Package: libcublas-12-4
Status: install ok installed
Architecture: amd64
Version: 12.4.5.8-1
Description: cuBLAS
 Status: deinstall ok config-files
\t.

Package: libc6
Status: hold ok installed
Architecture: amd64
Multi-Arch: same
Version: 2.36-9

Package: gone
Status: deinstall ok config-files
Version: 1
";

#[test]
fn debian_packages_own_what_their_lists_name() {
    let tree = Memory::of(&[
        ("var/lib/dpkg/status", STATUS),
        (
            "var/lib/dpkg/info/libcublas-12-4.list",
            "/.\n/usr\n/usr/local/cuda-12.4/lib64/libcublas.so.12\n/lib/x.so\n/absent.so\n",
        ),
        (
            "var/lib/dpkg/info/libc6:amd64.list",
            "/lib/x86_64-linux-gnu/libc.so.6\n",
        ),
        ("var/lib/dpkg/info/gone.list", "/usr/lib/stray.so\n"),
        ("usr/local/cuda-12.4/lib64/libcublas.so.12", ""),
        ("usr/lib/x86_64-linux-gnu/libc.so.6", ""),
        ("usr/lib/x.so", ""),
        ("usr/lib/stray.so", ""),
    ])
    .link("lib", "usr/lib");
    let found = assigned(&tree);
    assert_eq!(problems(&found), []);
    assert_eq!(
        packages(&found),
        ["dpkg libc6 2.36-9", "dpkg libcublas-12-4 12.4.5.8-1"]
    );
    let owner = |name| owner(&tree, &found, name);
    let cublas = "dpkg libcublas-12-4 12.4.5.8-1";
    assert_eq!(owner("usr/local/cuda-12.4/lib64/libcublas.so.12"), cublas);
    assert_eq!(owner("usr/lib/x.so"), cublas, "by the link of /lib");
    assert_eq!(
        owner("usr/lib/x86_64-linux-gnu/libc.so.6"),
        "dpkg libc6 2.36-9"
    );
    assert_eq!(owner("usr/lib/stray.so"), "-", "of a removed package");
}

#[test]
fn a_system_without_dpkg_has_a_stanza_a_file() {
    let tree = Memory::of(&[
        (
            "base/var/lib/dpkg/status.d/libssl3",
            "Package: libssl3\nVersion: 3.0\n",
        ),
        (
            "base/var/lib/dpkg/status.d/libssl3.md5sums",
            "d41d8cd98f00b204e9800998ecf8427e  usr/lib/libssl.so.3\n",
        ),
        ("base/usr/lib/libssl.so.3", ""),
        ("usr/lib/libssl.so.3", ""),
    ]);
    let found = assigned(&tree);
    assert_eq!(packages(&found), ["dpkg libssl3 3.0"]);
    let owner = |name| owner(&tree, &found, name);
    assert_eq!(owner("base/usr/lib/libssl.so.3"), "dpkg libssl3 3.0");
    assert_eq!(owner("usr/lib/libssl.so.3"), "-", "of another system");
    assert_eq!(problems(&found), []);
}

#[test]
fn packages_without_a_list_are_said_once_a_database() {
    let tree = Memory::of(&[("var/lib/dpkg/status", STATUS)]);
    let found = assigned(&tree);
    let expected = ("var/lib/dpkg/status".to_owned(), "packages-unread");
    assert_eq!(problems(&found), [expected]);
    assert_eq!(
        found.problems[0].detail,
        "2 of 2 packages have no list of their files here"
    );
    assert_eq!(found.packages.len(), 2);
}

#[test]
fn a_list_is_read_once_however_often_its_package_is_named() {
    let stanza = "Package: a\nStatus: install ok installed\nVersion: 1\n\n";
    let tree = Memory::of(&[
        ("var/lib/dpkg/status", &stanza.repeat(200_000)),
        ("var/lib/dpkg/info/a.list", &"/x\n".repeat(100_000)),
    ]);
    let found = assigned(&tree);
    assert_eq!(found.packages.len(), PACKAGES_MOST);
    let expected = ("var/lib/dpkg/status".to_owned(), "malformed-metadata");
    assert_eq!(problems(&found), [expected]);
}

#[test]
fn lists_beyond_the_limit_are_problems_of_the_list() {
    let tree = Memory::of(&[
        (
            "p/conda-meta/a-1-0.json",
            "{\"name\": \"a\", \"files\": [\"1\", \"2\", \"3\", \"x\"]}",
        ),
        ("var/lib/dpkg/info/libc6.list", "/1\n/2\n/3\n/x\n"),
        (
            "var/lib/dpkg/status",
            "Package: libc6\nStatus: install ok installed\n",
        ),
        ("x", ""),
    ]);
    let limits = Limits {
        members: 3,
        ..Limits::default()
    };
    let found = assign(&tree, &Locator::root(0, "root"), &limits);
    let expected = ["p/conda-meta/a-1-0.json", "var/lib/dpkg/info/libc6.list"];
    assert_eq!(
        problems(&found),
        expected.map(|name| (name.to_owned(), "limit-exceeded"))
    );
    let limits = Limits {
        metadata_bytes: 10,
        ..Limits::default()
    };
    let found = assign(&tree, &Locator::root(0, "root"), &limits);
    let expected = ["p/conda-meta/a-1-0.json", "var/lib/dpkg/status"];
    assert_eq!(
        problems(&found),
        expected.map(|name| (name.to_owned(), "limit-exceeded"))
    );
}

const PYTORCH: &str = r#"{"name": "pytorch", "version": "2.5.1", "build": "py3.12_cuda", "files": [
    "lib/python3.12/site-packages/torch/lib/libtorch.so", "lib/libextra.so", "../outside.so",
    "lib/python3.12/site-packages/torch-2.5.1.dist-info/METADATA"], "paths_data": {"paths": [{}]}}"#;

#[test]
fn conda_owns_what_no_python_distribution_lists() {
    let site = "opt/conda/lib/python3.12/site-packages";
    let tree = Memory::of(&[
        ("opt/conda/conda-meta/history", ""),
        ("opt/conda/conda-meta/pytorch-2.5.1-0.json", PYTORCH),
        (
            "opt/conda/envs/x/conda-meta/libcublas-12.4-0.json",
            r#"{"name": "libcublas", "version": "12.4", "files": ["lib/libcublas.so.12"]}"#,
        ),
        ("opt/conda/envs/x/lib/libcublas.so.12", ""),
        ("opt/conda/lib/libcublas.so.12", ""),
        ("opt/conda/lib/libextra.so", ""),
        (&format!("{site}/torch/lib/libtorch.so"), ""),
        (
            &format!("{site}/torch-2.5.1.dist-info/METADATA"),
            "Name: torch\nVersion: 2.5.1\n",
        ),
        (
            &format!("{site}/torch-2.5.1.dist-info/RECORD"),
            "torch/lib/libtorch.so,,\ntorch-2.5.1.dist-info/METADATA,,\n",
        ),
        ("opt/outside.so", ""),
    ]);
    let found = assigned(&tree);
    assert_eq!(problems(&found), []);
    let owner = |name: &str| owner(&tree, &found, name);
    let torch = format!("{site}/torch/lib/libtorch.so");
    assert_eq!(owner(&torch), "pip torch 2.5.1");
    assert_eq!(owner("opt/conda/lib/libextra.so"), "conda pytorch 2.5.1");
    assert_eq!(
        owner("opt/conda/envs/x/lib/libcublas.so.12"),
        "conda libcublas 12.4"
    );
    assert_eq!(owner("opt/conda/lib/libcublas.so.12"), "-");
    assert_eq!(owner("opt/outside.so"), "-");
}

#[test]
fn the_unpacked_package_in_a_cache_owns_its_files() {
    let tree = Memory::of(&[
        (
            "c/pkgs/cudnn-9.1-0/info/index.json",
            r#"{"name": "cudnn", "version": "9.1"}"#,
        ),
        ("c/pkgs/cudnn-9.1-0/lib/libcudnn.so.9", ""),
        ("c/pkgs/cudnn-9.1-00/lib/libcudnn.so.9", ""),
        ("c/pkgs/other/info/index.json", r#"{"name": "x"}"#),
        ("c/pkgs/other/x.so", ""),
    ]);
    let found = assigned(&tree);
    assert_eq!(packages(&found), ["conda cudnn 9.1"]);
    let owner = |name| owner(&tree, &found, name);
    assert_eq!(
        owner("c/pkgs/cudnn-9.1-0/lib/libcudnn.so.9"),
        "conda cudnn 9.1"
    );
    assert_eq!(owner("c/pkgs/cudnn-9.1-00/lib/libcudnn.so.9"), "-");
    assert_eq!(owner("c/pkgs/other/x.so"), "-");
}

#[test]
fn a_distribution_without_a_list_is_the_system_package_that_holds_it() {
    let dist = "usr/lib/python3/dist-packages";
    let metadata = format!("{dist}/torch-2.0.dist-info/METADATA");
    let library = format!("{dist}/torch/lib/libtorch.so");
    let mut tree = Memory::of(&[(&metadata, "Name: torch\nVersion: 2.0\n"), (&library, "")]);
    // by itself it is a package
    assert_eq!(packages(&assigned(&tree)), ["pip torch 2.0"]);
    tree = tree
        .with(
            b"var/lib/dpkg/status",
            b"Package: python3-torch-cuda\nStatus: install ok installed\nVersion: 2.0-1\n",
        )
        .with(
            b"var/lib/dpkg/info/python3-torch-cuda.list",
            format!("/{metadata}\n/{library}\n").as_bytes(),
        );
    let found = assigned(&tree);
    assert_eq!(packages(&found), ["dpkg python3-torch-cuda 2.0-1"]);
    for name in [&metadata, &library] {
        let owner = owner(&tree, &found, name);
        assert_eq!(owner, "dpkg python3-torch-cuda 2.0-1");
    }
}

#[test]
fn of_several_managers_the_most_specific_owns_a_file() {
    let conda = r#"{"name": "c", "version": "1", "files": ["1.so", "2.so"]}"#;
    let tree = Memory::of(&[
        ("1.so", ""),
        ("2.so", ""),
        ("3.so", ""),
        ("4.so", ""),
        ("conda-meta/c-1-0.json", conda),
        ("p-1.dist-info/METADATA", ""),
        ("p-1.dist-info/RECORD", "1.so,,\n"),
        ("var/lib/dpkg/info/d.list", "/1.so\n/2.so\n/3.so\n"),
        (
            "var/lib/dpkg/status",
            "Package: d\nStatus: install ok installed\nVersion: 1\n",
        ),
    ])
    .with(
        b"var/lib/rpm/rpmdb.sqlite",
        &fixture::database(&[fixture::package(
            "r",
            "1",
            &[("/", "1.so"), ("/", "2.so"), ("/", "3.so"), ("/", "4.so")],
        )]),
    );
    let found = assigned(&tree);
    assert_eq!(problems(&found), []);
    let owners = ["1.so", "2.so", "3.so", "4.so"].map(|name| owner(&tree, &found, name));
    assert_eq!(
        owners,
        ["pip p 1", "conda c 1", "dpkg d 1", "rpm r 1-3.el9"]
    );
}

#[test]
fn damaged_metadata_is_located_and_the_rest_is_read() {
    let tree = Memory::of(&[
        ("conda-meta/a-1-0.json", "{"),
        ("conda-meta/b-1-0.json", r#"{"name": ""}"#),
        ("conda-meta/c-1-0.json", r#"{"name": "c", "files": {}}"#),
        (
            "conda-meta/d-1-0.json",
            r#"{"name": "d", "files": ["x\u0000y"]}"#,
        ),
        ("x", ""),
    ])
    .with(
        b"var/lib/dpkg/status",
        b"\xff\n:\n\nPackage: \xff\nStatus: install ok installed\n\nPackage\n",
    )
    .with(b"var/lib/dpkg/info/\xff.list", b"/\xff.so\n\n//\n/../x\n")
    .with(b"\xff.so", b"");
    let found = assigned(&tree);
    let kind = "malformed-metadata";
    assert_eq!(
        problems(&found),
        ["a", "b", "c"].map(|name| (format!("conda-meta/{name}-1-0.json"), kind))
    );
    assert_eq!(packages(&found), ["conda d ?", "dpkg \u{fffd} ?"]);
    let last = found.owner[tree.len() - 1].unwrap();
    assert_eq!(found.packages[last].name, "\u{fffd}");
}

#[test]
fn says_which_files_must_be_kept() {
    let kept = [
        "a/x-1.dist-info/METADATA",
        "a/x-1.dist-info/RECORD",
        "x.egg-info/PKG-INFO",
        "x.egg-info/installed-files.txt",
        "x-1.egg-info",
        "var/lib/dpkg/status",
        "var/lib/dpkg/status.d/libc6",
        "var/lib/dpkg/status.d/libc6.md5sums",
        "chroot/var/lib/dpkg/info/libc6:amd64.list",
        "var/lib/rpm/rpmdb.sqlite",
        "usr/lib/sysimage/rpm/rpmdb.sqlite-wal",
        "opt/conda/conda-meta/x-1-0.json",
        "opt/conda/pkgs/x-1-0/info/index.json",
    ];
    let left = [
        "RECORD",
        "PKG-INFO",
        "var/lib/dpkg/status-old",
        "var/lib/dpkg/info/libc6.md5sums",
        "var/lib/rpm/Packages",
        "rpmdb.sqlite",
        "conda-meta/history",
        "x/info/index.json",
        "info/index.json",
    ];
    let found = |names: &[&'static str]| -> BTreeSet<&'static str> {
        let names = names.iter().copied();
        names.filter(|name| is_metadata(name.as_bytes())).collect()
    };
    assert_eq!(found(&kept), BTreeSet::from(kept));
    assert_eq!(found(&left), BTreeSet::new());
}
