//! Which wheel fits: the expected names are by `packaging` 26.4.
//!
//! Recipe: the platforms of a machine are `_manylinux.platform_tags([arch])` with `_get_glibc_version` replaced, or
//! `_musllinux.platform_tags`, and `linux_ARCH` behind them; `mac_platforms((26, 0), arch)`; `win_amd64` and so on. Its
//! tags are `cpython_tags(python, [abi], platforms)` and `compatible_tags(python, "cpXY", platforms)`, and the wheel is
//! the one with the least index among them, then with the greatest build tag of `parse_wheel_filename`. All tags of 162
//! such machines (125 479) were compared with the ranks, in order, and 3 319 289 tags of others were refused.

use super::super::file::{Best, best};
use super::super::tags::Tags;
use super::environment;
use crate::source::lock::{LockedFile, PythonVersion};

const SETS: &[(&str, &[&str])] = &[
    (
        "torch",
        &[
            "torch-2.9.1-cp310-cp310-manylinux_2_28_x86_64.whl",
            "torch-2.9.1-cp312-cp312-manylinux_2_28_aarch64.whl",
            "torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl",
            "torch-2.9.1-cp312-cp312-win_amd64.whl",
            "torch-2.9.1-cp312-none-macosx_11_0_arm64.whl",
            "torch-2.9.1-cp313-cp313t-manylinux_2_28_x86_64.whl",
            "torch-2.9.1-cp313-cp313-manylinux_2_28_x86_64.whl",
        ],
    ),
    (
        "oldlinux",
        &[
            "f-1-cp312-cp312-linux_x86_64.whl",
            "f-1-cp312-cp312-manylinux1_x86_64.whl",
            "f-1-cp312-cp312-manylinux2010_x86_64.whl",
            "f-1-cp312-cp312-manylinux2014_x86_64.whl",
            "f-1-cp312-cp312-manylinux_2_5_x86_64.whl",
            "f-1-cp312-cp312-manylinux_2_17_x86_64.whl",
        ],
    ),
    (
        "legacy",
        &[
            "l-1-cp312-cp312-manylinux1_x86_64.whl",
            "l-1-cp312-cp312-manylinux2010_x86_64.whl",
            "l-1-cp312-cp312-manylinux2014_x86_64.whl",
            "l-1-cp312-cp312-linux_x86_64.whl",
        ],
    ),
    (
        "onlylinux",
        &[
            "o-1-cp310-cp310-linux_x86_64.whl",
            "o-1-cp312-cp312-linux_x86_64.whl",
            "o-1-cp312-cp312-linux_aarch64.whl",
        ],
    ),
    (
        "two",
        &[
            "w-1-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
            "w-1-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
            "w-1-cp312-cp312-manylinux_2_34_x86_64.whl",
        ],
    ),
    (
        "abi3",
        &[
            "a-1-cp38-abi3-manylinux_2_17_x86_64.whl",
            "a-1-cp311-abi3-manylinux_2_17_x86_64.whl",
            "a-1-cp314-abi3-manylinux_2_17_x86_64.whl",
            "a-1-cp312-cp312-manylinux_2_34_x86_64.whl",
            "a-1-py3-none-any.whl",
        ],
    ),
    (
        "threads",
        &[
            "t-1-cp313-cp313-manylinux_2_17_x86_64.whl",
            "t-1-cp39-abi3-manylinux_2_17_x86_64.whl",
            "t-1-cp313-cp313t-manylinux_2_17_x86_64.whl",
            "t-1-cp315-abi3t-manylinux_2_17_x86_64.whl",
            "t-1-py3-none-manylinux_2_17_x86_64.whl",
        ],
    ),
    (
        "nvidia",
        &[
            "nvidia_cublas_cu12-12.8.4.1-py3-none-manylinux_2_27_aarch64.whl",
            "nvidia_cublas_cu12-12.8.4.1-py3-none-manylinux_2_27_x86_64.whl",
            "nvidia_cublas_cu12-12.8.4.1-py3-none-win_amd64.whl",
        ],
    ),
    (
        "pure",
        &[
            "p-1-py2.py3-none-any.whl",
            "p-1-py3-none-any.whl",
            "p-1-py312-none-any.whl",
            "p-1-cp312-none-any.whl",
            "p-1-py39-none-any.whl",
            "p-1-py313-none-any.whl",
        ],
    ),
    (
        "build",
        &[
            "b-1-2-py3-none-any.whl",
            "b-1-10-py3-none-any.whl",
            "b-1-py3-none-any.whl",
            "b-1-10a-py3-none-any.whl",
            "b-1-99-py2-none-any.whl",
        ],
    ),
    (
        "musl",
        &[
            "m-1-cp312-cp312-musllinux_1_1_x86_64.whl",
            "m-1-cp312-cp312-musllinux_1_2_x86_64.whl",
            "m-1-cp312-cp312-manylinux_2_17_x86_64.whl",
        ],
    ),
    (
        "mac",
        &[
            "c-1-cp312-cp312-macosx_10_13_universal2.whl",
            "c-1-cp312-cp312-macosx_11_0_arm64.whl",
            "c-1-cp312-cp312-macosx_14_0_arm64.whl",
            "c-1-cp312-cp312-macosx_10_13_x86_64.whl",
            "c-1-cp312-cp312-macosx_12_3_arm64.whl",
        ],
    ),
    (
        "platform",
        &[
            "q-1-py3-none-any.whl",
            "q-1-py3-none-manylinux_2_28_x86_64.whl",
            "q-1-cp312-none-win_amd64.whl",
            "q-1-cp312-none-win_arm64.whl",
            "q-1-cp312-none-win32.whl",
        ],
    ),
];

/// Set, machine, Python, and the name of the wheel, if one fits.
const EXPECTED: &str = "
torch | linux/amd64 glibc 2.28 | 3.12 | torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl
torch | linux/amd64 glibc 2.39 | 3.12 | torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl
torch | linux/amd64 glibc 2.17 | 3.12 |
torch | linux/arm64 glibc 2.28 | 3.12 | torch-2.9.1-cp312-cp312-manylinux_2_28_aarch64.whl
torch | windows/amd64 | 3.12 | torch-2.9.1-cp312-cp312-win_amd64.whl
torch | macos/arm64 | 3.12 | torch-2.9.1-cp312-none-macosx_11_0_arm64.whl
torch | linux/amd64 glibc 2.28 | 3.11 |
torch | linux/amd64 glibc 2.28 | 3.13t | torch-2.9.1-cp313-cp313t-manylinux_2_28_x86_64.whl
torch | linux/amd64 glibc 2.28 | 3.13 | torch-2.9.1-cp313-cp313-manylinux_2_28_x86_64.whl
oldlinux | linux/amd64 glibc 2.17 | 3.12 | f-1-cp312-cp312-manylinux_2_17_x86_64.whl
oldlinux | linux/amd64 glibc 2.12 | 3.12 | f-1-cp312-cp312-manylinux2010_x86_64.whl
oldlinux | linux/amd64 glibc 2.5 | 3.12 | f-1-cp312-cp312-manylinux_2_5_x86_64.whl
legacy | linux/amd64 glibc 2.28 | 3.12 | l-1-cp312-cp312-manylinux2014_x86_64.whl
legacy | linux/amd64 glibc 2.16 | 3.12 | l-1-cp312-cp312-manylinux2010_x86_64.whl
legacy | linux/amd64 glibc 2.11 | 3.12 | l-1-cp312-cp312-manylinux1_x86_64.whl
legacy | linux/amd64 musl 1.2 | 3.12 | l-1-cp312-cp312-linux_x86_64.whl
onlylinux | linux/amd64 glibc 2.28 | 3.12 | o-1-cp312-cp312-linux_x86_64.whl
onlylinux | linux/arm64 glibc 2.28 | 3.12 | o-1-cp312-cp312-linux_aarch64.whl
onlylinux | linux/arm64 glibc 2.28 | 3.10 |
two | linux/amd64 glibc 2.17 | 3.12 | w-1-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
two | linux/amd64 glibc 2.27 | 3.12 | w-1-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
two | linux/amd64 glibc 2.33 | 3.12 | w-1-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
two | linux/amd64 glibc 2.39 | 3.12 | w-1-cp312-cp312-manylinux_2_34_x86_64.whl
two | linux/amd64 glibc 2.16 | 3.12 |
abi3 | linux/amd64 glibc 2.28 | 3.8 | a-1-cp38-abi3-manylinux_2_17_x86_64.whl
abi3 | linux/amd64 glibc 2.28 | 3.12 | a-1-cp311-abi3-manylinux_2_17_x86_64.whl
abi3 | linux/amd64 glibc 2.34 | 3.12 | a-1-cp312-cp312-manylinux_2_34_x86_64.whl
abi3 | linux/amd64 glibc 2.28 | 3.7 | a-1-py3-none-any.whl
abi3 | linux/amd64 glibc 2.28 | 3.13t | a-1-py3-none-any.whl
threads | linux/amd64 glibc 2.28 | 3.13t | t-1-cp313-cp313t-manylinux_2_17_x86_64.whl
threads | linux/amd64 glibc 2.28 | 3.14t | t-1-py3-none-manylinux_2_17_x86_64.whl
threads | linux/amd64 glibc 2.28 | 3.15t | t-1-cp315-abi3t-manylinux_2_17_x86_64.whl
threads | linux/amd64 glibc 2.28 | 3.13 | t-1-cp313-cp313-manylinux_2_17_x86_64.whl
threads | linux/amd64 glibc 2.28 | 3.15 | t-1-cp39-abi3-manylinux_2_17_x86_64.whl
nvidia | linux/amd64 glibc 2.28 | 3.12 | nvidia_cublas_cu12-12.8.4.1-py3-none-manylinux_2_27_x86_64.whl
nvidia | linux/arm64 glibc 2.28 | 3.12 | nvidia_cublas_cu12-12.8.4.1-py3-none-manylinux_2_27_aarch64.whl
nvidia | linux/amd64 glibc 2.17 | 3.12 |
nvidia | windows/amd64 | 3.10 | nvidia_cublas_cu12-12.8.4.1-py3-none-win_amd64.whl
nvidia | windows/arm64 | 3.10 |
pure | linux/amd64 glibc 2.28 | 3.12 | p-1-cp312-none-any.whl
pure | windows/amd64 | 3.13 | p-1-py313-none-any.whl
pure | macos/arm64 | 3.10 | p-1-py2.py3-none-any.whl
pure | linux/amd64 musl 1.2 | 3.8 | p-1-py2.py3-none-any.whl
build | linux/amd64 glibc 2.28 | 3.12 | b-1-10a-py3-none-any.whl
musl | linux/amd64 musl 1.2 | 3.12 | m-1-cp312-cp312-musllinux_1_2_x86_64.whl
musl | linux/amd64 musl 1.1 | 3.12 | m-1-cp312-cp312-musllinux_1_1_x86_64.whl
musl | linux/amd64 musl 2.0 | 3.12 |
musl | linux/amd64 glibc 2.28 | 3.12 | m-1-cp312-cp312-manylinux_2_17_x86_64.whl
mac | macos/arm64 | 3.12 | c-1-cp312-cp312-macosx_14_0_arm64.whl
mac | macos/amd64 | 3.12 | c-1-cp312-cp312-macosx_10_13_x86_64.whl
platform | windows/amd64 | 3.12 | q-1-cp312-none-win_amd64.whl
platform | windows/arm64 | 3.12 | q-1-cp312-none-win_arm64.whl
platform | windows/386 | 3.12 | q-1-cp312-none-win32.whl
platform | linux/amd64 glibc 2.28 | 3.12 | q-1-py3-none-manylinux_2_28_x86_64.whl
platform | linux/amd64 glibc 2.27 | 3.12 | q-1-py3-none-any.whl
";

#[test]
fn the_best_wheel_is_the_one_of_packaging() {
    let rows: Vec<Vec<&str>> = EXPECTED
        .lines()
        .filter(|row| !row.is_empty())
        .map(|row| row.split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 55);
    for row in &rows {
        let [set, machine, python, expected] = row[..] else {
            panic!("{row:?}");
        };
        let (_, names) = SETS.iter().find(|(name, _)| *name == set).unwrap();
        let files: Vec<_> = names.iter().map(|name| LockedFile::new(*name, 1)).collect();
        let python: PythonVersion = python.parse().unwrap();
        let tags = Tags::new(&environment(machine), Some(python));
        let found = match best(&tags, &files) {
            Best::Wheel(file) => &*file.name,
            _ => "",
        };
        assert_eq!(found, expected, "{set} on {machine} with {python}");
    }
}

#[test]
fn without_a_glibc_the_newest_is_taken_and_without_a_python_the_stable_abi() {
    let names = [
        "a-1-cp312-cp312-manylinux_2_17_x86_64.whl",
        "a-1-cp38-abi3-manylinux_2_35_x86_64.whl",
        "a-1-cp39-abi3-manylinux_2_17_x86_64.whl",
        "a-1-cp39-abi3-manylinux_2_34_x86_64.whl",
    ];
    let files = names.map(|name| LockedFile::new(name, 1));
    let tags = Tags::new(&environment("linux/amd64"), None);
    let Best::Wheel(file) = best(&tags, &files) else {
        panic!("nothing fits");
    };
    assert_eq!(file.name, "a-1-cp39-abi3-manylinux_2_34_x86_64.whl");
}

#[test]
fn tags_with_leading_zeros_or_of_other_architectures_do_not_fit() {
    let tags = Tags::new(&environment("linux/amd64"), Some("3.12".parse().unwrap()));
    for tag in [
        "cp312-cp312-manylinux_2_028_x86_64",
        "cp0312-cp0312-manylinux_2_28_x86_64",
        "cp312-cp312-manylinux_2_28_aarch64",
        "cp312-cp312-manylinux_2_4_x86_64",
        "cp312-cp312-any",
        "cp312-abi3-any",
        "pp312-pypy312_pp73-manylinux_2_28_x86_64",
        "py4-none-any",
        "py-none-any",
        "cp-cp-manylinux_2_28_x86_64",
        "cp312-none-manylinux_2_99999_x86_64",
    ] {
        let name = format!("a-1-{tag}.whl").parse().unwrap();
        assert_eq!(tags.rank(&name), None, "{tag}");
    }
}
