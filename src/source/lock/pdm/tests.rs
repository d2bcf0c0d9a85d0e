//! `pdm.lock` as it is read.

use super::super::tests::{edges, failure, lock, lock_beside, packages, problems};
use super::*;

const FLAT: &str = r#"
[metadata]
groups = ["default", "dev", "gpu", "test"]
strategy = ["inherit_metadata", "static_urls"]
lock_version = "4.5.0"
content_hash = "sha256:00"

[[metadata.targets]]
requires_python = ">=3.10"
platform = "manylinux_2_17_x86_64"

[[metadata.targets]]
requires_python = ">=3.10"
platform = "windows_amd64"

[[package]]
name = "requests"
version = "2.31"
extras = ["socks"]
requires_python = ">=3.7"
groups = ["test"]
dependencies = ["PySocks>=1.5", "requests==2.31"]
files = [{url = "https://w.example/requests-2.31-py3-none-any.whl", hash = "sha256:00"}]

[[package]]
name = "requests"
version = "2.31"
requires_python = ">=3.7"
groups = ["default", "test"]
marker = "sys_platform == \"linux\""
files = [
    {url = "https://w.example/requests-2.31%2Blocal-py3-none-any.whl", hash = "sha256:00"},
    {file = "requests-2.31.tar.gz", hash = "sha256:01"},
]
"#;

#[test]
fn packages_that_say_their_groups_and_markers_are_a_flat_list() {
    let lock = lock("pdm.lock", FLAT);
    assert_eq!(problems(&lock), [""; 0]);
    assert_eq!(lock.format.as_deref(), Some("4.5.0"));
    assert_eq!(lock.requires_python.as_deref(), Some(">=3.10"));
    assert_eq!(
        lock.supported_markers,
        [
            "sys_platform == 'linux' and platform_machine == 'x86_64'",
            "sys_platform == 'win32' and platform_machine == 'AMD64'",
        ]
    );
    assert_eq!(lock.roots, None);
    assert_eq!(packages(&lock), ["requests 2.31"]);
    let requests = &lock.packages[0];
    assert_eq!(requests.line, 25);
    assert_eq!(requests.condition.groups, ["default", "test"]);
    assert_eq!(
        requests.condition.marker.as_deref(),
        Some("sys_platform == \"linux\"")
    );
    assert_eq!(requests.condition.requires_python.as_deref(), Some(">=3.7"));
    let files: Vec<_> = requests
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.line, file.url.is_some()))
        .collect();
    assert_eq!(
        files,
        [
            ("requests-2.31+local-py3-none-any.whl", 32, true),
            ("requests-2.31.tar.gz", 33, false)
        ]
    );
}

#[test]
fn every_locked_group_of_the_project_is_installed() {
    assert_eq!(
        lock("pdm.lock", FLAT).default_groups,
        ["default", "dev", "gpu", "test"]
    );
    let project = "[dependency-groups]\ntest = [\"pytest\"]\n[project.optional-dependencies]\ngpu = [\"torch\"]\n[tool.pdm.dev-dependencies]\nold = []\n";
    let lock = lock_beside("pdm.lock", FLAT, Some(project));
    assert_eq!(lock.default_groups, ["default", "gpu", "test"]);
}

const GRAPH: &str = r#"
[metadata]
groups = ["default", "dev"]
strategy = ["cross_platform"]
lock_version = "4.4"

[[package]]
name = "requests"
version = "2.31"
extras = ["socks", "sec"]
dependencies = ["PySocks!=1.5.7,>=1.5.6", "requests==2.31"]

[[package]]
name = "requests"
version = "2.31"
dependencies = ["numpy<2; python_version < \"3.11\"", "numpy>=2; python_version >= \"3.11\""]

[[package]]
name = "numpy"
version = "1.26"

[[package]]
name = "numpy"
version = "2.0"

[[package]]
name = "PySocks"
version = "1.7"
"#;

#[test]
fn packages_without_groups_are_a_graph_with_the_extras_of_their_other_entries() {
    let lock = lock("pdm.lock", GRAPH);
    assert_eq!(
        packages(&lock),
        ["requests 2.31", "numpy 1.26", "numpy 2.0", "PySocks 1.7"]
    );
    assert_eq!(
        edges(&lock.packages[0].dependencies),
        [
            "numpy==1.26 ; python_version < \"3.11\"",
            "numpy==2.0 ; python_version >= \"3.11\"",
            "PySocks under extra socks",
            "PySocks under extra sec",
        ]
    );
    assert_eq!(edges(lock.roots.as_deref().unwrap()), ["requests==2.31"]);

    let project = "[project]\ndependencies = [\"requests[socks]>=2\"]\n[tool.pdm.dev-dependencies]\ndev = [\"numpy<2\"]\n";
    let lock = lock_beside("pdm.lock", GRAPH, Some(project));
    assert_eq!(
        edges(lock.roots.as_deref().unwrap()),
        ["requests [socks]", "numpy==1.26 under group dev"]
    );
    assert_eq!(lock.default_groups, ["default", "dev"]);
}

#[test]
fn packages_may_come_from_other_places_than_an_index() {
    let text = r#"
[metadata]
groups = ["default"]
lock_version = "4.3"
[[package]]
name = "a"
version = "1"
groups = ["default"]
git = "https://me:s3@g.example/a"
revision = "c0ffee"
[[package]]
name = "b"
version = "1"
groups = ["default"]
url = "https://w.example/b-1.whl"
files = [{file = "b-1.whl", hash = "sha256:00"}]
[[package]]
name = "c"
version = "1"
groups = ["default"]
path = "./dist/c-1.tar.gz"
[[package]]
name = "d"
version = "1"
groups = ["default"]
path = "../d"
editable = true
"#;
    let lock = lock("pdm.lock", text);
    let origins: Vec<_> = lock
        .packages
        .iter()
        .map(|package| package.origin.clone())
        .collect();
    assert_eq!(
        origins,
        [
            Origin::Vcs("https://g.example/a".to_owned()),
            Origin::Url,
            Origin::File("./dist/c-1.tar.gz".to_owned()),
            Origin::Directory("../d".to_owned()),
        ]
    );
    assert_eq!(
        lock.packages[1].files[0].url.as_deref(),
        Some("https://w.example/b-1.whl")
    );
    assert_eq!(lock.packages[1].files[0].hash.as_ref().unwrap().hex, "00");
    assert_eq!(lock.packages[2].files[0].name, "c-1.tar.gz");
}

#[test]
fn old_files_list_hashes_apart() {
    let text = r#"
[[package]]
name = "a"
version = "1"

[metadata]
lock_version = "4.1"

[metadata.files]
"a 1" = [{url = "https://w.example/a-1.whl", hash = "sha256:00"}]
"b 1" = [{url = "https://w.example/b-1.whl", hash = "sha256:01"}]
"#;
    let lock = lock("pdm.lock", text);
    let files: Vec<_> = lock.packages[0]
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.line))
        .collect();
    assert_eq!(files, [("a-1.whl", 10)]);
}

#[test]
fn platforms_are_markers_and_what_is_not_known_excludes_nothing() {
    for (platform, marker) in [
        ("linux", Some("sys_platform == 'linux'")),
        (
            "musllinux_1_2_aarch64",
            Some("sys_platform == 'linux' and platform_machine == 'aarch64'"),
        ),
        (
            "macos_14_0_arm64",
            Some("sys_platform == 'darwin' and platform_machine == 'arm64'"),
        ),
        (
            "windows_arm64",
            Some("sys_platform == 'win32' and platform_machine == 'ARM64'"),
        ),
        ("windows", Some("sys_platform == 'win32'")),
        ("plan9", None),
    ] {
        assert_eq!(platform_marker(platform).as_deref(), marker, "{platform}");
    }
    let text = FLAT.replace("windows_amd64", "plan9");
    assert_eq!(lock("pdm.lock", &text).supported_markers, [""; 0]);
}

#[test]
fn other_versions_of_the_format_are_told() {
    for version in ["5.0", "3.1", "40"] {
        let text = format!("[metadata]\nlock_version = \"{version}\"\n");
        let (message, _) = failure("pdm.lock", text.as_bytes());
        assert_eq!(
            message,
            format!("pdm.lock: its lock_version is `{version}`, and version 4 is read")
        );
    }
}
