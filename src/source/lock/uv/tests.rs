//! `uv.lock` as it is read.

use super::super::tests::{edges, failure, lock, lock_beside, packages, problems};
use super::*;

const HEAD: &str = "version = 1\nrevision = 3\nrequires-python = \">=3.11\"\n";

#[test]
fn a_project_is_the_root_with_its_extras_and_groups() {
    let text = format!(
        r#"{HEAD}supported-markers = ["sys_platform == 'linux'"]
required-markers = ["platform_machine == 'x86_64'"]

[[package]]
name = "app"
version = "0.1.0"
source = {{ editable = "." }}
dependencies = [
    {{ name = "torch", extra = ["opt"], marker = "python_full_version >= '3.12'" }},
]

[package.optional-dependencies]
gpu = [{{ name = "numpy", version = "2.5.5", source = {{ registry = "https://i.example/simple" }} }}]

[package.dev-dependencies]
dev = [{{ name = "pytest" }}]
docs = [{{ name = "sphinx" }}]

[package.metadata]
provides-extras = ["empty", "gpu"]

[[package]]
name = "torch"
version = "2.9.1+cu130"
source = {{ registry = "https://w.example/cu130" }}
resolution-markers = ["sys_platform == 'linux'", "sys_platform == 'win32'"]
sdist = {{ url = "https://w.example/torch-2.9.1.tar.gz", hash = "sha256:AA", size = 7 }}
wheels = [
    {{ url = "https://w.example/torch-2.9.1%2Bcu130-cp312-cp312-win_amd64.whl", hash = "sha256:bb", size = 123, zstd = {{ hash = "sha256:00" }} }},
]
unknown-key = 1
"#
    );
    let lock = lock("uv.lock", &text);
    assert_eq!(problems(&lock), [""; 0]);
    assert_eq!(lock.format.as_deref(), Some("1.3"));
    assert_eq!(lock.requires_python.as_deref(), Some(">=3.11"));
    assert_eq!(lock.supported_markers, ["sys_platform == 'linux'"]);
    assert_eq!(edges(lock.roots.as_deref().unwrap()), ["app"]);
    assert_eq!(lock.extras, ["empty", "gpu"]);
    assert_eq!(lock.groups, ["dev", "docs"]);
    assert_eq!(lock.default_groups, ["dev"]);
    assert_eq!(lock.indexes, ["https://w.example/cu130"]);

    let [app, torch] = lock.packages.as_slice() else {
        panic!("{:?}", packages(&lock));
    };
    assert_eq!((app.line, &app.origin), (7, &Origin::Project));
    assert_eq!(
        edges(&app.dependencies),
        [
            "torch [opt] ; python_full_version >= '3.12'",
            "numpy==2.5.5 from https://i.example/simple under extra gpu",
            "pytest under group dev",
            "sphinx under group docs",
        ]
    );
    assert_eq!((torch.line, &torch.origin), (25, &Origin::Index));
    let marker = torch.condition.marker.as_deref();
    assert_eq!(
        marker,
        Some("(sys_platform == 'linux') or (sys_platform == 'win32')")
    );
    let files: Vec<_> = torch
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.line, file.size))
        .collect();
    assert_eq!(
        files,
        [
            ("torch-2.9.1+cu130-cp312-cp312-win_amd64.whl", 32, Some(123)),
            ("torch-2.9.1.tar.gz", 30, Some(7)),
        ]
    );
    assert_eq!(
        torch.files[1].hash.as_ref().unwrap().to_string(),
        "sha256:aa"
    );
}

#[test]
fn each_kind_of_source_is_an_origin() {
    let sources = [
        (
            "url = \"https://w.example/a%2B1-1-py3-none-any.whl\"",
            Origin::Url,
        ),
        (
            "git = \"https://g.example/a?rev=v1#c0ffee\"",
            Origin::Vcs("https://g.example/a?rev=v1#c0ffee".to_owned()),
        ),
        (
            "path = \"dist/a-1.tar.gz\"",
            Origin::File("dist/a-1.tar.gz".to_owned()),
        ),
        ("directory = \"../a\"", Origin::Directory("../a".to_owned())),
        ("editable = \"../a\"", Origin::Directory("../a".to_owned())),
        ("virtual = \"../a\"", Origin::Project),
        ("registry = \"https://i.example/simple\"", Origin::Index),
    ];
    for (source, origin) in sources {
        let text = format!("{HEAD}[[package]]\nname = \"a\"\nsource = {{ {source} }}\n");
        let lock = lock("uv.lock", &text);
        assert_eq!(lock.packages[0].origin, origin, "{source}");
        let names: Vec<_> = lock.packages[0]
            .files
            .iter()
            .map(|file| file.name.as_str())
            .collect();
        match origin {
            Origin::Url => assert_eq!(names, ["a+1-1-py3-none-any.whl"]),
            Origin::File(_) => assert_eq!(names, ["a-1.tar.gz"]),
            _ => assert_eq!(names, [""; 0]),
        }
    }
}

#[test]
fn files_of_local_places_have_their_path_as_address() {
    let text = format!(
        r#"{HEAD}
[[package]]
name = "a"
version = "1"
source = {{ registry = "wheels/" }}
wheels = [{{ path = "a-1-py3-none-any.whl", hash = "sha256:00" }}]

[[package]]
name = "b"
version = "1"
source = {{ path = "dist/b-1-py3-none-any.whl" }}
wheels = [{{ filename = "b-1-py3-none-any.whl", hash = "sha256:01" }}]

[[package]]
name = "c"
version = "1"
source = {{ url = "https://w.example/c-1.tar.gz" }}
sdist = {{ hash = "sha256:02" }}
"#
    );
    let lock = lock("uv.lock", &text);
    let urls = lock
        .packages
        .iter()
        .map(|package| package.files[0].url.as_deref().unwrap());
    let wanted = [
        "wheels/a-1-py3-none-any.whl",
        "dist/b-1-py3-none-any.whl",
        "https://w.example/c-1.tar.gz",
    ];
    assert_eq!(urls.collect::<Vec<_>>(), wanted);
    assert_eq!(lock.packages[2].files[0].hash.as_ref().unwrap().hex, "02");
}

#[test]
fn members_of_a_workspace_are_roots_where_the_workspace_is_no_project() {
    let text = format!(
        r#"{HEAD}
[manifest]
members = ["one", "two"]

[manifest.dependency-groups]
lint = [{{ name = "ruff", marker = "sys_platform == 'linux'", specifier = ">=1" }}]

[[package]]
name = "one"
version = "1"
source = {{ editable = "packages/one" }}
dependencies = [{{ name = "two" }}]

[[package]]
name = "three"
version = "1"
source = {{ editable = "../three" }}

[[package]]
name = "two"
version = "1"
source = {{ virtual = "packages/two" }}

[package.optional-dependencies]
gpu = [{{ name = "three" }}]
"#
    );
    let lock = lock("uv.lock", &text);
    let roots = edges(lock.roots.as_deref().unwrap());
    assert_eq!(
        roots,
        [
            "one",
            "two",
            "ruff ; sys_platform == 'linux' under group lint"
        ]
    );
    assert_eq!(lock.extras, ["gpu"]);
    assert_eq!(lock.groups, ["lint"]);
    assert_eq!(lock.default_groups, [""; 0]);
    let origins: Vec<_> = lock
        .packages
        .iter()
        .map(|package| package.origin.clone())
        .collect();
    assert_eq!(
        origins,
        [
            Origin::Project,
            Origin::Directory("../three".to_owned()),
            Origin::Project
        ]
    );
}

#[test]
fn the_project_of_a_workspace_is_its_root_alone() {
    let text = format!(
        r#"{HEAD}
[manifest]
members = ["app", "lib"]

[[package]]
name = "app"
source = {{ virtual = "." }}

[[package]]
name = "lib"
source = {{ editable = "lib" }}
"#
    );
    let lock = lock("uv.lock", &text);
    assert_eq!(edges(lock.roots.as_deref().unwrap()), ["app"]);
}

#[test]
fn a_script_begins_at_its_requirements() {
    let text = format!(
        r#"{HEAD}
[manifest]
requirements = [{{ name = "jax", extras = ["cuda12"], marker = "sys_platform == 'linux'", specifier = ">=0.7" }}]

[[package]]
name = "jax"
version = "0.7.2"
source = {{ registry = "https://i.example/simple" }}
"#
    );
    let lock = lock("run.py.lock", &text);
    assert_eq!(
        edges(lock.roots.as_deref().unwrap()),
        ["jax [cuda12] ; sys_platform == 'linux'"]
    );
}

#[test]
fn a_lock_that_names_no_root_begins_where_nothing_is_needed_by_others() {
    let text = format!(
        "{HEAD}
[[package]]
name = \"a\"
version = \"1\"
source = {{ registry = \"https://i.example\" }}
dependencies = [{{ name = \"b\" }}]

[[package]]
name = \"b\"
source = {{ registry = \"https://i.example\" }}
"
    );
    let lock = lock("uv.lock", &text);
    assert_eq!(
        edges(lock.roots.as_deref().unwrap()),
        ["a==1 from https://i.example"]
    );
}

#[test]
fn pyproject_says_which_groups_are_default() {
    let text = format!(
        r#"{HEAD}
[[package]]
name = "app"
source = {{ virtual = "." }}

[package.dev-dependencies]
dev = [{{ name = "a" }}]
gpu = [{{ name = "b" }}]
"#
    );
    for (project, groups) in [
        (
            "[tool.uv]\ndefault-groups = [\"gpu\", \"gone\"]\n",
            vec!["gpu"],
        ),
        ("[tool.uv]\ndefault-groups = \"all\"\n", vec!["dev", "gpu"]),
        ("[tool.uv]\ndefault-groups = []\n", vec![]),
        ("[tool.other]\nx = 1\n", vec!["dev"]),
    ] {
        let lock = lock_beside("uv.lock", &text, Some(project));
        assert_eq!(lock.default_groups, groups, "{project}");
        assert_eq!(problems(&lock), [""; 0]);
    }
    let lock = lock_beside("uv.lock", &text, Some("[project]\nname =\n"));
    assert_eq!(lock.default_groups, ["dev"]);
    assert_eq!(lock.problems.len(), 1);
    let wanted = "`pyproject.toml` beside it can't be read, line 2: ";
    assert!(
        lock.problems[0].detail.starts_with(wanted),
        "{:?}",
        lock.problems
    );
}

#[test]
fn extras_that_exclude_each_other_have_a_name_in_markers() {
    let text = format!(
        r#"{HEAD}
conflicts = [[{{ package = "my-app", extra = "cpu" }}, {{ package = "my-app", extra = "gpu" }}]]

[[package]]
name = "my-app"
source = {{ virtual = "." }}
dependencies = [
    {{ name = "torch", version = "2.9.1+cpu", source = {{ registry = "https://w.example/cpu" }}, marker = "extra == 'extra-6-my-app-cpu'" }},
]
"#
    );
    let lock = lock("uv.lock", &text);
    let marker = lock.packages[0].dependencies[0].marker.as_deref();
    let asked = Under::Extra("cpu".to_owned()).in_uv_markers("My_App");
    assert_eq!(marker, Some(format!("extra == '{asked}'").as_str()));
    let group = Under::Group("Dev.Tools".to_owned()).in_uv_markers("app");
    assert_eq!(group, "group-3-app-dev-tools");
}

#[test]
fn other_versions_of_the_format_are_told() {
    let (message, hint) = failure(
        "uv.lock",
        b"version = 2\nrequires-python = \">=3\"\n[[package]]\n",
    );
    assert_eq!(
        message,
        "uv.lock: this uv.lock has version 2 of its format, and version 1 is read"
    );
    assert_eq!(hint, "write it with a uv that writes version 1");
}
