//! Environment markers: the expected answers are by `packaging.markers` 26.4 with `python_full_version` `3.12.99` (and
//! `3.10.99`, `3.13.99`) and the variables of the machine, where a table says so.

use super::super::markers::{Asked, MarkerError, Markers, Truth};
use super::super::python::full_version_for;
use super::environment;
use crate::source::lock::PythonVersion;

fn markers(machine: &str, python: &str) -> Markers {
    let python: PythonVersion = python.parse().unwrap();
    let full = full_version_for(python, None);
    Markers::new(&environment(machine), Some((python, full))).unwrap()
}

fn asked(extras: &[&str], groups: &[&str]) -> Asked {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Asked {
        extras: owned(extras),
        groups: owned(groups),
    }
}

/// On `linux/amd64` 3.12, `linux/arm64` 3.10, `windows/amd64` 3.13, `macos/arm64` 3.12.
const BY_PACKAGING: &[(&str, [bool; 4])] = &[
    (
        "platform_machine == 'x86_64' and sys_platform == 'linux'",
        [true, false, false, false],
    ),
    (
        "platform_system == 'Linux' and platform_machine == 'x86_64'",
        [true, false, false, false],
    ),
    (
        "sys_platform == 'win32' or os_name == 'nt'",
        [false, false, true, false],
    ),
    ("platform_machine == 'AMD64'", [false, false, true, false]),
    (
        "platform_machine == 'arm64' and sys_platform == 'darwin'",
        [false, false, false, true],
    ),
    ("python_version >= '3.10'", [true, true, true, true]),
    ("python_version < '3.10'", [false, false, false, false]),
    ("python_version in '3.9 3.10'", [false, true, false, false]),
    (
        "python_full_version < '3.12.4'",
        [false, true, false, false],
    ),
    ("python_full_version >= '3.12.4'", [true, false, true, true]),
    (
        "python_full_version == '3.12.*'",
        [true, false, false, true],
    ),
    (
        "python_full_version <= '3.11.0a6'",
        [false, true, false, false],
    ),
    ("'3.11' < python_version", [true, false, true, true]),
    (
        "platform_machine in 'x86_64 aarch64'",
        [true, true, false, false],
    ),
    ("'linux' in sys_platform", [true, true, false, false]),
    ("'win' not in sys_platform", [true, true, false, false]),
    (
        "platform_python_implementation != 'PyPy'",
        [true, true, true, true],
    ),
    (
        "implementation_name == 'cpython' and python_full_version ~= '3.12.1'",
        [true, false, false, true],
    ),
    (
        "os_name=='posix'and(python_version>='3.12')",
        [true, false, false, true],
    ),
    (
        "sys_platform != 'linux' or platform_machine == 'aarch64' and python_version >= '3.13'",
        [false, false, true, true],
    ),
];

#[test]
fn markers_hold_where_packaging_says() {
    let machines = [
        markers("linux/amd64", "3.12"),
        markers("linux/arm64", "3.10"),
        markers("windows/amd64", "3.13"),
        markers("macos/arm64", "3.12"),
    ];
    for (marker, expected) in BY_PACKAGING {
        for (at, (machine, expected)) in machines.iter().zip(expected).enumerate() {
            let expected = if *expected {
                Truth::Holds
            } else {
                Truth::Fails
            };
            let found = machine.evaluate(marker, &Asked::default());
            assert_eq!(found, Ok(expected), "{marker} on the {at}th machine");
        }
    }
}

#[test]
fn extras_and_groups_are_those_that_are_asked_for() {
    let machine = markers("linux/amd64", "3.12");
    let asked = asked(&["gpu", "extra-3-lab-cu-12"], &["test"]);
    for (marker, expected) in [
        ("extra == 'gpu'", true),
        ("'GPU' == extra", true),
        ("extra == 'cpu'", false),
        ("extra != 'cpu'", true),
        (
            "extra == 'extra-3-lab-cu-12' or extra == 'group-3-lab-dev'",
            true,
        ),
        (
            "extra != 'extra-3-lab-cu-12' and sys_platform == 'linux'",
            false,
        ),
        ("'gpu' in extras", true),
        ("'cpu' in extras", false),
        ("'cpu' not in extras and 'test' in dependency_groups", true),
        ("\"test\" not in dependency_groups", false),
        ("'gpu' in dependency_groups", false),
        (
            "('cpu' in extras or 'test' in dependency_groups) and python_version >= '3.12'",
            true,
        ),
    ] {
        let expected = if expected { Truth::Holds } else { Truth::Fails };
        assert_eq!(machine.evaluate(marker, &asked), Ok(expected), "{marker}");
    }
}

#[test]
fn a_word_in_quotes_is_no_keyword() {
    let machine = markers("linux/amd64", "3.12");
    let asked = asked(&["and-or"], &[]);
    for marker in [
        "extra == 'and-or'",
        "'and-or' in extras and 'extras' not in extras",
        "platform_machine != \") or ('\"",
    ] {
        assert_eq!(
            machine.evaluate(marker, &asked),
            Ok(Truth::Holds),
            "{marker}"
        );
    }
}

/// The kernel's release is not known, and neither is the Python where nobody says it.
#[test]
fn what_is_not_known_decides_only_where_it_matters() {
    let python = markers("linux/amd64", "3.12");
    let none = Markers::new(&environment("linux/amd64"), None).unwrap();
    for (machine, marker, expected) in [
        (&python, "platform_release >= '5.0'", Truth::Unknown),
        (&python, "'WSL' in platform_version", Truth::Unknown),
        (
            &python,
            "sys_platform == 'darwin' and platform_release >= '20.0'",
            Truth::Fails,
        ),
        (
            &python,
            "sys_platform == 'linux' or platform_release >= '20.0'",
            Truth::Holds,
        ),
        (
            &python,
            "sys_platform == 'darwin' or platform_release >= '20.0'",
            Truth::Unknown,
        ),
        (&none, "python_version >= '3.8'", Truth::Unknown),
        (
            &none,
            "python_version >= '3.8' and sys_platform == 'win32'",
            Truth::Fails,
        ),
    ] {
        let found = machine.evaluate(marker, &Asked::default());
        assert_eq!(found, Ok(expected), "{marker}");
    }
}

#[test]
fn what_is_no_marker_is_told() {
    let machine = markers("linux/amd64", "3.12");
    for marker in [
        "",
        "linux",
        "sys_platform",
        "sys_platform == ",
        "sys_platform == 'linux",
        "sys_platform = 'linux'",
        "sys_platform == 'linux' and",
        "sys_platform == 'linux' 'x'",
        "sys_platform == 'linux' xor os_name == 'posix'",
        "(sys_platform == 'linux'",
        "sys_platform == 'linux')",
        "()",
        "platform == 'linux'",
        "'linux' == 'linux'",
        "sys_platform == os_name",
        "sys_platform ~= 'linux'",
        "python_version >= 'three'",
        "extras == 'gpu'",
        "extras in 'gpu'",
        "'gpu' in extra",
        "sys_platform not 'linux'",
        "sys_platform == 'linux'; x",
    ] {
        let found = machine.evaluate(marker, &Asked::default());
        assert_eq!(found, Err(MarkerError::Malformed), "{marker}");
    }
}

/// Forks of big locks write markers of thousands of comparisons; a decision diagram of these would not end.
#[test]
fn a_hostile_marker_costs_its_length_alone() {
    let machine = markers("linux/amd64", "3.12");
    let many: Vec<_> = (0..1300)
        .map(|at| format!("(extra != 'a{at}' or '{at}' in sys_platform)"))
        .collect();
    let found = machine.evaluate(&many.join(" and "), &Asked::default());
    assert_eq!(found, Ok(Truth::Holds));

    let deep = format!("{}extra != 'a'{}", "(".repeat(64), ")".repeat(64));
    assert_eq!(machine.evaluate(&deep, &Asked::default()), Ok(Truth::Holds));
    let deeper = "(".repeat(60_000);
    assert_eq!(
        machine.evaluate(&deeper, &Asked::default()),
        Err(MarkerError::Deep)
    );
    let long = format!("extra != '{}'", "a".repeat(1 << 16));
    assert_eq!(
        machine.evaluate(&long, &Asked::default()),
        Err(MarkerError::Long)
    );
}

#[test]
fn only_so_many_different_comparisons_are_judged_and_those_that_are_known_stay_so() {
    let markers = markers("linux/amd64", "3.12");
    let of = |number: u32| {
        markers.evaluate(
            &format!("platform_machine == 'm{number}'"),
            &asked(&[], &[]),
        )
    };
    for number in 0..10_000 {
        assert_eq!(of(number), Ok(Truth::Fails));
    }
    assert_eq!(of(10_000), Err(MarkerError::Many));
    assert_eq!(of(9_999), Ok(Truth::Fails));
}

#[test]
fn only_so_many_comparisons_are_looked_at_in_all() {
    let markers = markers("linux/amd64", "3.12");
    let marker = vec!["os_name=='nt'"; 2_000].join(" or ");
    for _ in 0..1_000 {
        assert_eq!(
            markers.evaluate(&marker, &asked(&[], &[])),
            Ok(Truth::Fails)
        );
    }
    assert_eq!(
        markers.evaluate("os_name=='nt'", &asked(&[], &[])),
        Err(MarkerError::Many)
    );
}
