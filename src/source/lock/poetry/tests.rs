//! `poetry.lock` as it is read.

use super::super::tests::{edges, failure, lock, lock_beside, packages, problems};
use super::*;

fn roots(lock: &Lock) -> Vec<String> {
    edges(lock.roots.as_deref().unwrap())
}

#[test]
fn from_2_1_on_packages_say_their_groups_and_markers() {
    let text = r#"
[[package]]
name = "torch"
version = "2.9.1"
optional = true
python-versions = ">=3.10"
groups = ["main"]
markers = "extra == \"gpu\" and sys_platform == \"linux\""
files = [
    {file = "torch-2.9.1+cu130-cp312-cp312-linux_x86_64.whl", hash = "sha256:00"},
    {file = "torch-2.9.1.tar.gz", hash = "nothing"},
]

[package.dependencies]
numpy = "*"

[package.source]
type = "legacy"
url = "https://me:s3@w.example/cu130"
reference = "torch"

[[package]]
name = "numpy"
version = "2.0"
optional = false
groups = ["main", "dev", "docs"]
files = []

[package.markers]
main = "python_version < \"3.12\""
docs = "sys_platform == \"linux\""

[[package]]
name = "lost"
version = "1"
optional = true
groups = ["main"]
files = []

[extras]
gpu = ["torch"]

[metadata]
lock-version = "2.1"
python-versions = ">=3.11,<3.12"
content-hash = "00"
"#;
    let lock = lock("poetry.lock", text);
    assert_eq!(
        problems(&lock),
        ["line 11: a file of `torch` has a hash that is none"]
    );
    assert_eq!(lock.requires_python.as_deref(), Some(">=3.11,<3.12"));
    assert_eq!(lock.roots, None);
    assert_eq!(lock.extras, ["gpu"]);
    assert_eq!(lock.groups, ["dev", "docs", "main"]);
    assert_eq!(lock.default_groups, ["dev", "docs", "main"]);
    let [torch, numpy, lost] = lock.packages.as_slice() else {
        panic!("{:?}", packages(&lock));
    };
    let marker = torch.condition.marker.as_deref();
    assert_eq!(
        marker,
        Some("extra == \"gpu\" and sys_platform == \"linux\"")
    );
    assert_eq!(
        (torch.condition.optional, lost.condition.optional),
        (false, true)
    );
    assert_eq!(torch.index.as_deref(), Some("https://w.example/cu130"));
    let file = &torch.files[0];
    assert_eq!(
        (file.name.as_str(), file.line, &file.url),
        ("torch-2.9.1+cu130-cp312-cp312-linux_x86_64.whl", 10, &None)
    );
    assert!(!lock.has_main_index);
    assert_eq!(numpy.condition.groups, ["main", "dev", "docs"]);
    let marker = numpy.condition.marker.as_deref();
    let wanted = "('main' in dependency_groups and (python_version < \"3.12\")) or 'dev' in dependency_groups or ('docs' in dependency_groups and (sys_platform == \"linux\"))";
    assert_eq!(marker, Some(wanted));
}

/// Two versions of numpy, of which one is for old Pythons, and an extra of requests.
const OLD: &str = r#"
[[package]]
name = "numpy"
version = "1.26.4"
optional = false
files = []

[[package]]
name = "numpy"
version = "2.0.0"
optional = false
files = []

[[package]]
name = "pandas"
version = "2.2"
optional = false
files = []

[package.dependencies]
numpy = [
    {version = "^1.22", markers = "python_version < \"3.11\""},
    {version = ">=1.26 || ^3.0", markers = "python_version >= \"3.11\""},
]
python = ">=3.9"

[[package]]
name = "requests"
version = "2.31"
optional = true
files = []

[package.dependencies]
PySocks = {version = ">=1.5", optional = true, extras = ["x"]}
unlisted = {version = "*", optional = true}

[package.extras]
socks = ["PySocks (>=1.5.6,!=1.5.7)"]

[[package]]
name = "pysocks"
version = "1.7"
optional = true
files = []

[extras]
net = ["requests"]

[metadata]
lock-version = "2.0"
python-versions = "*"
"#;

#[test]
fn before_2_1_edges_carry_markers_and_lead_to_the_versions_that_answer() {
    let lock = lock("poetry.lock", OLD);
    assert_eq!(problems(&lock), [""; 0]);
    assert_eq!(lock.requires_python, None);
    assert_eq!(
        edges(&lock.packages[2].dependencies),
        [
            "numpy==1.26.4 ; python_version < \"3.11\"",
            "numpy==1.26.4 ; python_version >= \"3.11\"",
            "numpy==2.0.0 ; python_version >= \"3.11\"",
        ]
    );
    assert_eq!(
        edges(&lock.packages[3].dependencies),
        ["PySocks [x] under extra socks"]
    );
}

#[test]
fn without_a_project_the_graph_begins_at_what_nothing_needs() {
    let lock = lock("poetry.lock", OLD);
    assert_eq!(
        roots(&lock),
        ["pandas==2.2", "requests==2.31 under extra net"]
    );
    assert_eq!(lock.groups, ["main"]);
    assert_eq!(lock.default_groups, ["main"]);
}

#[test]
fn the_project_beside_the_lock_says_where_the_graph_begins() {
    let project = r#"
[project]
dependencies = ["PySocks>=1 ; sys_platform == 'linux'"]

[tool.poetry.dependencies]
python = "^3.9"
numpy = {version = "^2.0", python = ">=3.10,<3.13", platform = "linux"}
requests = {version = "^2", extras = ["socks"], optional = true}

[tool.poetry.extras]
net = ["requests"]

[tool.poetry.dev-dependencies]
numpy = "<2"

[tool.poetry.group.docs]
optional = true

[tool.poetry.group.docs.dependencies]
pandas = "*"

[dependency-groups]
test = ["pandas>=2", {include-group = "more"}]
more = ["pysocks", {include-group = "test"}]
"#;
    let lock = lock_beside("poetry.lock", OLD, Some(project));
    assert_eq!(problems(&lock), [""; 0]);
    assert_eq!(
        roots(&lock),
        [
            "numpy==2.0.0 ; (python_full_version >= '3.10' and python_full_version < '3.13') and (sys_platform == 'linux')",
            "requests [socks] under extra net",
            "PySocks ; sys_platform == 'linux'",
            "numpy==1.26.4 under group dev",
            "pandas under group docs",
            "pysocks under group more",
            "pandas under group more",
            "pandas under group test",
            "pysocks under group test",
        ]
    );
    assert_eq!(lock.groups, ["dev", "docs", "main", "more", "test"]);
    assert_eq!(lock.default_groups, ["dev", "main", "more", "test"]);
}

#[test]
fn old_files_list_hashes_apart_and_have_a_category() {
    let text = r#"
[[package]]
name = "numpy"
version = "1.0"
category = "main"
optional = false

[[package]]
name = "numpy"
version = "2.0"
category = "main"
optional = false

[[package]]
name = "My_Tool"
version = "1"
category = "dev"
optional = false

[metadata]
lock-version = "1.1"
python-versions = "^3.8"

[metadata.files]
numpy = [
    {file = "numpy-1.0-py3-none-any.whl", hash = "sha256:01"},
    {file = "numpy-1.0.0.tar.gz", hash = "sha256:02"},
    {file = "numpy-2.0-py3-none-any.whl", hash = "sha256:03"},
]
my-tool = [
    {file = "my_tool-1.whl", hash = "md5:04"},
]
"#;
    let lock = lock("poetry.lock", text);
    let files: Vec<Vec<_>> = lock
        .packages
        .iter()
        .map(|package| {
            package
                .files
                .iter()
                .map(|file| (file.line, file.name.as_str()))
                .collect()
        })
        .collect();
    assert_eq!(
        files,
        [
            vec![
                (26, "numpy-1.0-py3-none-any.whl"),
                (27, "numpy-1.0.0.tar.gz")
            ],
            vec![(28, "numpy-2.0-py3-none-any.whl")],
            vec![(31, "my_tool-1.whl")],
        ]
    );
    assert_eq!(
        roots(&lock),
        ["numpy==1.0", "numpy==2.0", "My_Tool==1 under group dev"]
    );
    assert_eq!(lock.default_groups, ["dev", "main"]);
}

#[test]
fn each_kind_of_source_is_an_origin() {
    for (kind, url, origin, name) in [
        (
            "git",
            "https://me:s3@g.example/a",
            Origin::Vcs("https://g.example/a".to_owned()),
            None,
        ),
        (
            "url",
            "https://w.example/a%2B1.whl",
            Origin::Url,
            Some("a+1.whl"),
        ),
        (
            "file",
            "dist/a-1.whl",
            Origin::File("dist/a-1.whl".to_owned()),
            Some("a-1.whl"),
        ),
        (
            "directory",
            "../a",
            Origin::Directory("../a".to_owned()),
            None,
        ),
    ] {
        let text = format!(
            "[[package]]\nname = \"a\"\nversion = \"1\"\ngroups = [\"main\"]\n[package.source]\ntype = \"{kind}\"\nurl = \"{url}\"\n[metadata]\nlock-version = \"2.1\"\n"
        );
        let lock = lock("poetry.lock", &text);
        let package = &lock.packages[0];
        assert_eq!(package.origin, origin);
        let file = package.files.first();
        assert_eq!(file.map(|file| file.name.as_str()), name, "{kind}");
        assert_eq!(
            file.and_then(|file| file.url.as_deref()),
            name.map(|_| url),
            "{kind}"
        );
    }
}

#[test]
fn other_versions_of_the_format_are_told() {
    for version in ["3.0", "0.9", "two"] {
        let text = format!("[metadata]\nlock-version = \"{version}\"\n");
        let (message, hint) = failure("poetry.lock", text.as_bytes());
        assert_eq!(
            message,
            format!("poetry.lock: its lock-version is `{version}`, and versions 1 and 2 are read")
        );
        assert_eq!(hint, "write it again with `poetry lock`");
    }
}
