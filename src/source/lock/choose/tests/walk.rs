//! Walks over graphs, by hand.

use super::{linux, lock, picked};
use crate::source::lock::{Dependency, Lock, LockKind, Locked, Origin, Under};

fn edge(name: &str) -> Dependency {
    Dependency::new(name)
}

fn package(name: &str, version: &str, line: u32, edges: Vec<Dependency>) -> Locked {
    let mut package = Locked::new(name, Some(version.to_owned()), line);
    package.dependencies = edges;
    package
}

/// `lab` at the root, which needs `edges`.
fn lab(edges: Vec<Dependency>, packages: Vec<Locked>) -> Lock {
    let mut lock = lock(LockKind::Uv);
    let mut root = package("lab", "0.1.0", 1, edges);
    root.origin = Origin::Project;
    lock.packages.push(root);
    lock.packages.extend(packages);
    lock.roots = Some(vec![edge("lab")]);
    lock
}

#[test]
fn what_no_edge_reaches_is_not_installed() {
    let mut on_windows = edge("colorama");
    on_windows.marker = Some("sys_platform == 'win32'".to_owned());
    let lock = lab(
        vec![edge("Torch"), on_windows],
        vec![
            package("colorama", "0.4", 2, vec![]),
            package("filelock", "3", 3, vec![edge("torch")]),
            package("orphan", "1", 4, vec![edge("colorama")]),
            package("torch", "2.9.1", 5, vec![edge("filelock")]),
        ],
    );
    let (names, problems) = picked(&lock, &linux());
    assert_eq!(names, ["filelock 3", "torch 2.9.1"]);
    assert_eq!(problems, [""; 0]);
}

#[test]
fn an_edge_tells_versions_and_sources_apart() {
    let fork = |version: &str, index: &str, marker: &str| {
        let mut to = edge("torch");
        to.version = Some(version.to_owned());
        to.source = Some(index.to_owned());
        to.marker = Some(marker.to_owned());
        to
    };
    let torch = |version: &str, index: &str, line| {
        let mut torch = package("torch", version, line, vec![]);
        torch.index = Some(index.to_owned());
        torch
    };
    let (cpu, cuda) = ("https://cpu.example", "https://cu130.example");
    let lock = lab(
        vec![
            fork("2.9.1", cpu, "sys_platform != 'linux'"),
            fork(
                "2.9.1",
                cuda,
                "sys_platform == 'linux' and python_version >= '3.12'",
            ),
            fork(
                "2.8.0",
                cuda,
                "sys_platform == 'linux' and python_version < '3.12'",
            ),
        ],
        vec![
            torch("2.8.0", cuda, 2),
            torch("2.9.1", cpu, 3),
            torch("2.9.1", cuda, 4),
        ],
    );
    let mut machine = linux();
    let chosen = super::choose(&lock, &machine);
    assert_eq!(super::shown(&chosen), ["4 torch 2.9.1 ask-index -"]);
    assert_eq!(chosen.picks[0].index.as_deref(), Some(cuda));
    machine.python = Some("3.11".parse().unwrap());
    let chosen = super::choose(&lock, &machine);
    assert_eq!(super::shown(&chosen), ["2 torch 2.8.0 ask-index -"]);
    assert_eq!(chosen.problems, []);
}

fn under(name: &str, under: Under) -> Dependency {
    let mut to = edge(name);
    to.under = Some(under);
    to
}

#[test]
fn extras_are_followed_where_an_edge_or_the_user_asks_for_them() {
    let mut jax_with_cuda = edge("jax");
    jax_with_cuda.extras = vec!["cuda12".to_owned()];
    let extra = |name: &str, of: &str| under(name, Under::Extra(of.to_owned()));
    let lock = lab(
        vec![jax_with_cuda, extra("cupy", "gpu"), extra("numpy", "cpu")],
        vec![
            package("cupy", "13", 2, vec![]),
            package(
                "jax",
                "0.7",
                3,
                vec![extra("jax-cuda12-plugin", "cuda12"), extra("libtpu", "tpu")],
            ),
            package(
                "jax-cuda12-plugin",
                "0.7",
                4,
                vec![extra("nvidia-nccl", "with-cuda")],
            ),
            package("libtpu", "1", 5, vec![]),
            package("nvidia-nccl", "2", 6, vec![]),
            package("numpy", "2", 7, vec![]),
        ],
    );
    let mut machine = linux();
    assert_eq!(
        picked(&lock, &machine).0,
        ["jax 0.7", "jax-cuda12-plugin 0.7"]
    );
    machine.extras = vec!["GPU".to_owned()];
    let (names, problems) = picked(&lock, &machine);
    assert_eq!(names, ["cupy 13", "jax 0.7", "jax-cuda12-plugin 0.7"]);
    assert_eq!(problems, [""; 0]);
    // `tpu` is an extra of a package, not of the project, and installs nothing of it
    machine.extras = vec!["tpu".to_owned()];
    assert_eq!(
        picked(&lock, &machine).0,
        ["jax 0.7", "jax-cuda12-plugin 0.7"]
    );
}

#[test]
fn groups_are_those_of_the_project_alone() {
    let group = |name: &str, of: &str| under(name, Under::Group(of.to_owned()));
    let mut lock = lab(
        vec![edge("a"), group("pytest", "dev"), group("sphinx", "docs")],
        vec![
            package("a", "1", 2, vec![group("tox", "dev")]),
            package("pytest", "9", 3, vec![]),
            package("sphinx", "8", 4, vec![]),
            package("tox", "4", 5, vec![]),
        ],
    );
    lock.groups = vec!["dev".to_owned(), "docs".to_owned()];
    lock.default_groups = vec!["dev".to_owned()];
    let mut machine = linux();
    assert_eq!(picked(&lock, &machine).0, ["a 1", "pytest 9"]);
    machine.groups = vec!["docs".to_owned()];
    assert_eq!(picked(&lock, &machine).0, ["a 1", "pytest 9", "sphinx 8"]);
}

/// The shape that uv 0.13 writes for `[tool.uv] conflicts = [[{extra = "cpu"}, {extra = "gpu"}]]`.
#[test]
fn conflict_markers_of_uv_see_the_extras_that_are_switched_on() {
    let torch = |version: &str, extra: &str| {
        let mut to = under("torch", Under::Extra(extra.to_owned()));
        to.version = Some(version.to_owned());
        to
    };
    let conflict = |version: &str, marker: &str| {
        let mut to = edge("torch");
        to.version = Some(version.to_owned());
        to.marker = Some(marker.to_owned());
        to
    };
    let lock = lab(
        vec![
            edge("helper"),
            torch("2.9.1+cpu", "cpu"),
            torch("2.9.1+cu130", "gpu"),
        ],
        vec![
            package(
                "helper",
                "1",
                2,
                vec![
                    conflict("2.9.1+cpu", "extra == 'extra-3-lab-cpu'"),
                    conflict(
                        "2.9.1+cu130",
                        "extra == 'extra-3-lab-gpu' and extra != 'extra-3-lab-cpu'",
                    ),
                    conflict(
                        "2.9.1",
                        "extra != 'extra-3-lab-cpu' and extra != 'extra-3-lab-gpu'",
                    ),
                ],
            ),
            package("torch", "2.9.1", 3, vec![]),
            package("torch", "2.9.1+cpu", 4, vec![]),
            package("torch", "2.9.1+cu130", 5, vec![]),
        ],
    );
    let mut machine = linux();
    for (extras, torch) in [
        (vec![], "2.9.1"),
        (vec!["cpu"], "2.9.1+cpu"),
        (vec!["gpu"], "2.9.1+cu130"),
    ] {
        machine.extras = extras.iter().map(|extra| (*extra).to_owned()).collect();
        let (names, problems) = picked(&lock, &machine);
        assert_eq!(
            names,
            ["helper 1".to_owned(), format!("torch {torch}")],
            "{extras:?}"
        );
        assert_eq!(problems, [""; 0]);
    }
}

#[test]
fn an_extra_that_a_dependency_switches_on_counts_in_conflict_markers() {
    let mut member = edge("member");
    member.extras = vec!["gpu".to_owned()];
    let mut conflict = edge("cupy");
    conflict.marker = Some("extra == 'extra-6-member-gpu'".to_owned());
    // the edge with the marker is walked before the one that switches the extra on
    let lock = lab(
        vec![conflict, member],
        vec![
            package("cupy", "13", 2, vec![]),
            package("member", "1", 3, vec![]),
        ],
    );
    assert_eq!(picked(&lock, &linux()).0, ["cupy 13", "member 1"]);
}

#[test]
fn circles_end() {
    let lock = lab(
        vec![edge("a")],
        vec![
            package("a", "1", 2, vec![edge("b")]),
            package("b", "1", 3, vec![edge("a"), edge("lab")]),
        ],
    );
    assert_eq!(picked(&lock, &linux()).0, ["a 1", "b 1"]);
}

#[test]
fn what_is_needed_and_missing_or_two_of_a_kind_is_told() {
    let lock = lab(
        vec![edge("a"), edge("gone")],
        vec![package("a", "1", 2, vec![]), package("a", "2", 3, vec![])],
    );
    let (names, problems) = picked(&lock, &linux());
    assert_eq!(names, ["a 1", "a 2"]);
    assert_eq!(
        problems,
        [
            "line 1: `gone` is needed and is not in the lock",
            "line 3: both 1 (line 2) and 2 of `a` would be installed: the lock does not tell which",
        ]
    );
}

/// Each of the edges would look at each of the packages: 10 000 000 000 comparisons.
#[test]
fn a_hostile_number_of_packages_of_one_name_ends() {
    let versions = || (0..100_000).map(|at| format!("1.{at}"));
    let edges = versions().map(|version| {
        let mut to = edge("a");
        to.version = Some(version);
        to
    });
    let packages = versions()
        .zip(2..)
        .map(|(version, line)| package("a", &version, line, vec![]));
    let lock = lab(edges.take(1000).collect(), packages.collect());
    let (names, problems) = picked(&lock, &linux());
    assert_eq!(names.len(), 100);
    assert!(problems.contains(&"line 102: more than 100 packages are called `a`".to_owned()));
}
