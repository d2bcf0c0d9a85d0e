//! Conditions of packages, the Python, and what is done with the files.

use super::super::python::Ranges;
use super::super::{PythonFrom, choose};
use super::{environment, linux, lock, picked, shown};
use crate::source::lock::{Environment, Hash, Lock, LockKind, Locked, LockedFile, Origin};

fn package(name: &str, version: &str, line: u32, files: &[&str]) -> Locked {
    let mut package = Locked::new(name, Some(version.to_owned()), line);
    package.files = files
        .iter()
        .map(|name| LockedFile::new(*name, line))
        .collect();
    package
}

#[test]
fn a_flat_list_is_filtered_by_every_condition() {
    let mut lock = lock(LockKind::Pylock);
    lock.extras = vec!["gpu".to_owned()];
    lock.default_groups = vec!["main".to_owned()];
    let wheel = |name: &str| format!("{name}-1-py3-none-any.whl");
    let mut add = |name: &str, line: u32, change: &dyn Fn(&mut Locked)| {
        let mut package = package(name, "1", line, &[&wheel(name)]);
        change(&mut package);
        lock.packages.push(package);
    };
    add("always", 1, &|_| ());
    add("windows", 2, &|p| {
        p.condition.marker = Some("sys_platform == 'win32'".to_owned());
    });
    add("gpu", 3, &|p| {
        p.condition.marker = Some("'gpu' in extras".to_owned());
    });
    add("cuda", 4, &|p| p.condition.extras = vec!["GPU".to_owned()]);
    add("main", 5, &|p| {
        p.condition.groups = vec!["main".to_owned(), "x".to_owned()];
    });
    add("dev", 6, &|p| p.condition.groups = vec!["dev".to_owned()]);
    add("optional", 7, &|p| p.condition.optional = true);
    add("here", 8, &|p| {
        p.condition.subdirs = vec!["linux-64".to_owned()];
    });
    add("there", 9, &|p| {
        p.condition.subdirs = vec!["win-64".to_owned()];
    });
    let (names, problems) = picked(&lock, &linux());
    assert_eq!(names, ["always 1", "main 1", "here 1"]);
    assert_eq!(problems, [""; 0]);

    let mut machine = linux();
    machine.extras = vec!["gpu".to_owned()];
    machine.groups = vec!["dev".to_owned()];
    let (names, problems) = picked(&lock, &machine);
    assert_eq!(
        names,
        [
            "always 1",
            "gpu 1",
            "cuda 1",
            "main 1",
            "dev 1",
            "optional 1",
            "here 1"
        ]
    );
    assert_eq!(
        problems,
        ["line 7: the lock does not say for which extra `optional` is"]
    );
}

#[test]
fn what_cannot_be_decided_is_told_and_taken_as_installed() {
    let mut lock = lock(LockKind::Pylock);
    let mut broken = package("broken", "1", 4, &["broken-1-py3-none-any.whl"]);
    broken.condition.marker = Some("platform is linux".to_owned());
    let mut kernel = package("kernel", "1", 9, &["kernel-1-py3-none-any.whl"]);
    kernel.condition.marker = Some("platform_release >= '5'".to_owned());
    lock.packages = vec![broken, kernel];
    let (names, problems) = picked(&lock, &linux());
    assert_eq!(names, ["broken 1", "kernel 1"]);
    assert_eq!(
        problems,
        [
            "line 4: `platform is linux`: it is no environment marker; `broken` is taken as installed",
            "line 9: `platform_release >= '5'`: it depends on what is not known of the machine; `kernel` is taken as \
             installed",
        ]
    );
}

#[test]
fn each_origin_has_its_status() {
    let mut lock = lock(LockKind::Uv);
    let own = |name: &str, line: u32, origin: Origin, files: &[&str]| {
        let mut package = package(name, "1", line, files);
        package.origin = origin;
        package
    };
    let vcs = Origin::Vcs("https://git.example/x".to_owned());
    lock.packages = vec![
        own("project", 1, Origin::Project, &[]),
        own("vcs", 2, vcs, &[]),
        own("directory", 3, Origin::Directory("d".to_owned()), &[]),
        own(
            "file",
            4,
            Origin::File("f.whl".to_owned()),
            &["file-1-py3-none-any.whl"],
        ),
        own(
            "url",
            5,
            Origin::Url,
            &["url-1-cp312-cp312-linux_x86_64.whl"],
        ),
        own("source", 6, Origin::Url, &["main.zip"]),
        own("odd", 7, Origin::Url, &["download"]),
        own(
            "other",
            8,
            Origin::Url,
            &["other-1-cp312-cp312-win_amd64.whl"],
        ),
        own(
            "sdist",
            9,
            Origin::Index,
            &["sdist-1-cp39-cp39-win_amd64.whl", "sdist-1.tar.gz"],
        ),
        own(
            "none",
            10,
            Origin::Index,
            &["none-1-cp39-cp39-win_amd64.whl"],
        ),
        own("bad", 11, Origin::Index, &["bad.whl"]),
        own("ask", 12, Origin::Index, &[]),
    ];
    let hash = Hash::parse("sha256:ab").unwrap();
    lock.packages[11].hashes = vec![hash.clone()];
    let chosen = choose(&lock, &linux());
    assert_eq!(
        shown(&chosen),
        [
            "2 vcs 1 vcs -",
            "3 directory 1 directory -",
            "4 file 1 file file-1-py3-none-any.whl",
            "5 url 1 url url-1-cp312-cp312-linux_x86_64.whl",
            "6 source 1 url main.zip",
            "7 odd 1 url download",
            "8 other 1 no-file -",
            "9 sdist 1 sdist sdist-1.tar.gz",
            "10 none 1 no-file -",
            "11 bad 1 no-file -",
            "12 ask 1 ask-index -",
        ]
    );
    assert_eq!(chosen.picks[10].hashes, [hash]);
    let problems: Vec<_> = chosen.problems.iter().map(|p| &*p.detail).collect();
    assert_eq!(problems, ["line 11: `bad.whl` is no name of a wheel"]);
}

#[test]
fn the_python_is_the_one_that_is_asked_for_else_the_oldest_of_the_lock_else_that_of_most_wheels() {
    let mut lock = lock(LockKind::Uv);
    lock.packages = vec![
        package(
            "a",
            "1",
            1,
            &[
                "a-1-cp313-cp313-win_amd64.whl",
                "a-1-cp311-cp311-linux_x86_64.whl",
            ],
        ),
        package(
            "b",
            "1",
            2,
            &[
                "b-1-cp311-cp311-linux_x86_64.whl",
                "b-1-cp312-cp312-linux_x86_64.whl",
            ],
        ),
    ];
    let machine = environment("linux/amd64");
    let python = |lock: &Lock, machine: &Environment| {
        let python = choose(lock, machine).python;
        python.map(|python| (python.version.to_string(), python.from))
    };
    let said = |version: &str, from| Some((version.to_owned(), from));
    assert_eq!(python(&lock, &machine), said("3.11", PythonFrom::Wheels));
    lock.requires_python = Some(">=3.10,<3.14".to_owned());
    assert_eq!(
        python(&lock, &machine),
        said("3.10", PythonFrom::RequiresPython)
    );
    assert_eq!(python(&lock, &linux()), said("3.12", PythonFrom::Asked));
    lock.requires_python = None;
    lock.packages = vec![package("pure", "1", 1, &["pure-1-py3-none-any.whl"])];
    assert_eq!(python(&lock, &machine), None);
    assert_eq!(
        shown(&choose(&lock, &machine)),
        ["1 pure 1 wheel pure-1-py3-none-any.whl"]
    );
}

#[test]
fn conda_packages_are_those_of_the_subdir_and_bring_their_own_python() {
    let mut lock = lock(LockKind::Pixi);
    lock.environments = vec!["default".to_owned(), "gpu".to_owned()];
    let at = |mut package: Locked, subdir: &str, environments: &[&str]| {
        package.condition.subdirs = vec![subdir.to_owned()];
        package.condition.environments = environments.iter().map(|e| (*e).to_owned()).collect();
        package
    };
    let both = ["default", "gpu"];
    lock.packages = vec![
        at(
            package(
                "python",
                "3.11.9",
                1,
                &["python-3.11.9-hb806964_0_cpython.conda"],
            ),
            "linux-64",
            &both,
        ),
        at(
            package("python", "3.13.0", 2, &["python-3.13.0-h_cp313t.conda"]),
            "win-64",
            &both,
        ),
        at(
            package("pytorch", "2.5", 3, &["pytorch-2.5-cuda126_py311.tar.bz2"]),
            "linux-64",
            &["gpu"],
        ),
        at(
            package("tzdata", "2025", 4, &["tzdata-2025-h0_0.conda"]),
            "noarch",
            &both,
        ),
        at(
            package(
                "torch",
                "2.9.1",
                5,
                &["torch-2.9.1-cp311-cp311-linux_x86_64.whl"],
            ),
            "linux-64",
            &["default"],
        ),
    ];
    let mut machine = linux();
    let chosen = choose(&lock, &machine);
    assert_eq!(
        shown(&chosen),
        [
            "1 python 3.11.9 conda python-3.11.9-hb806964_0_cpython.conda",
            "4 tzdata 2025 conda tzdata-2025-h0_0.conda",
            "5 torch 2.9.1 wheel torch-2.9.1-cp311-cp311-linux_x86_64.whl",
        ]
    );
    let python = chosen.python.unwrap();
    assert_eq!(
        (python.version.to_string().as_str(), python.from),
        ("3.11", PythonFrom::Package)
    );
    machine.named = Some("gpu".to_owned());
    assert_eq!(
        picked(&lock, &machine).0,
        ["python 3.11.9", "pytorch 2.5", "tzdata 2025"]
    );
    machine.named = Some("cpu".to_owned());
    assert_eq!(picked(&lock, &machine).1, ["there is no environment `cpu`"]);
    machine = environment("windows/amd64");
    let python = choose(&lock, &machine).python.unwrap();
    assert_eq!(python.version.to_string(), "3.13t");
}

#[test]
fn a_python_or_a_name_that_the_lock_is_not_for_is_told() {
    let mut lock = lock(LockKind::Uv);
    lock.requires_python = Some(">=3.13".to_owned());
    lock.supported_markers = vec!["sys_platform == 'win32'".to_owned()];
    let mut machine = linux();
    machine.extras = vec!["gpu".to_owned()];
    machine.groups = vec!["docs".to_owned()];
    assert_eq!(
        picked(&lock, &machine).1,
        [
            "the lock is for Python >=3.13, and an installer refuses it for 3.12",
            "the lock is not for such a machine, and an installer refuses it there",
            "there is no extra `gpu`",
            "there is no group `docs`",
        ]
    );
}

#[test]
fn the_requires_python_of_a_package_selects_in_pdm_and_is_a_problem_elsewhere() {
    let mut lock = lock(LockKind::Pdm);
    let with = |version: &str, line, range: &str| {
        let mut package = package("numpy", version, line, &[]);
        package.condition.requires_python = Some(range.to_owned());
        package
    };
    lock.packages = vec![with("1.24", 1, "<3.9,>=3.8"), with("2.1", 2, ">=3.10")];
    assert_eq!(
        picked(&lock, &linux()),
        (vec!["numpy 2.1".to_owned()], vec![])
    );
    lock.packages.pop();
    let told = vec!["line 1: `numpy` is for Python <3.9,>=3.8".to_owned()];
    assert_eq!(
        picked(&lock, &linux()),
        (vec!["numpy 1.24".to_owned()], told.clone())
    );
    lock.kind = LockKind::Pylock;
    assert_eq!(picked(&lock, &linux()).1, told);
}

#[test]
fn what_is_listed_twice_is_picked_once() {
    let mut lock = lock(LockKind::Pipenv);
    lock.packages = vec![package("Torch", "2", 1, &[]), package("torch", "2", 7, &[])];
    assert_eq!(
        picked(&lock, &linux()),
        (vec!["Torch 2".to_owned()], vec![])
    );
}

#[test]
fn two_indexes_of_one_version_are_told() {
    let mut lock = lock(LockKind::Requirements);
    let mut other = package("torch", "2", 7, &[]);
    other.index = Some("https://cpu.example".to_owned());
    lock.packages = vec![package("torch", "2", 1, &[]), other];
    let (names, problems) = picked(&lock, &linux());
    assert_eq!(names, ["torch 2", "torch 2"]);
    let told =
        "line 7: both 2 (line 1) and 2 of `torch` would be installed: the lock does not tell which";
    assert_eq!(problems, [told]);
}

#[test]
fn many_problems_are_counted() {
    let mut lock = lock(LockKind::Pylock);
    for line in 1..=1000 {
        let mut package = package(&format!("p{line}"), "1", line, &[]);
        package.condition.marker = Some("what".to_owned());
        lock.packages.push(package);
    }
    let (names, problems) = picked(&lock, &linux());
    assert_eq!((names.len(), problems.len()), (1000, 201));
    assert_eq!(problems[200], "there are 800 more of these problems");
}

/// By `packaging.specifiers`; those of poetry by its documents on version constraints.
#[test]
fn ranges_of_python_versions_are_those_of_pep_440_and_poetry() {
    for (range, admitted, refused) in [
        (">=3.10,<3.13", &["3.10", "3.12"][..], &["3.9", "3.13"][..]),
        (">=3.8, !=3.9.*", &["3.8", "3.10"], &["3.9"]),
        ("==3.12.4", &["3.12"], &["3.11", "3.13"]),
        ("<3.12.5", &["3.12"], &["3.13"]),
        ("==3.*", &["3.0", "3.14"], &["2.7", "4.0"]),
        ("~=3.10", &["3.10", "3.14"], &["3.9", "4.0"]),
        (">3.9", &["3.9", "3.10"], &["3.8"]),
        ("", &["2.7", "3.14"], &[]),
        ("*", &["2.7", "3.14"], &[]),
        ("^3.10", &["3.10", "3.14"], &["3.9", "4.0"]),
        ("~3.10", &["3.10"], &["3.9", "3.11"]),
        ("~2.7 || ^3.6", &["2.7", "3.6", "3.14"], &["2.6", "3.5"]),
    ] {
        let ranges = Ranges::parse(range).unwrap();
        for python in admitted {
            assert!(ranges.admits(python.parse().unwrap()), "{range} {python}");
        }
        for python in refused {
            assert!(!ranges.admits(python.parse().unwrap()), "{range} {python}");
        }
    }
    for text in [">=three", "^", "=>3.8", "3.8 3.9"] {
        assert!(Ranges::parse(text).is_none(), "{text}");
    }
}
