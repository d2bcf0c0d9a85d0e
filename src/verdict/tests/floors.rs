//! The minimum driver: runtime, GPU, JIT and compression, on every platform.

use super::build::{Input, Lib, so, wheel};
use super::{check, minimum, on, only, outcome};
use crate::rule::Code;

fn of(lib: Lib) -> Input {
    wheel("pkg", "1.0").with(lib)
}

/// On Windows, where driver numbers are others.
fn on_windows(gpu: &str, driver: &str) -> String {
    on(gpu, driver).replace("linux/amd64", "windows/amd64")
}

/// Library, GPU, driver, minimum driver, outcome.
type Row = (Lib, &'static str, &'static str, &'static str, &'static str);

fn assert_floors(policy: fn(&str, &str) -> String, platform: &str, rows: Vec<Row>) {
    for (index, (lib, gpu, driver, floor, expected)) in rows.into_iter().enumerate() {
        let input = of(if platform == "windows/amd64" {
            lib.windows()
        } else {
            lib
        });
        let evaluation = check(&input.tags(platform), &policy(gpu, driver));
        assert_eq!(
            (minimum(&evaluation).as_str(), outcome(&evaluation).as_str()),
            (floor, expected),
            "row {index}, {gpu} with {driver}: {:#?}",
            evaluation.findings
        );
    }
}

fn on_linux(gpu: &str, driver: &str) -> String {
    on(gpu, driver)
}

// RULES.md 4.2, 4.5, 4.8: 11.x needs 450.80.02, 12.x 525.60.13, 13.x R580; the library says which it needs,
// also under a hashed name.
#[test]
fn the_runtime_has_a_floor_by_its_major_version() {
    let needs = |name: &str| so().fatbin("sm_75 sm_80", 3).needs(name);
    assert_floors(
        on_linux,
        "linux/amd64",
        vec![
            (
                needs("libcudart.so.11.0"),
                "T4",
                "R450",
                "450.80.02",
                "pass",
            ),
            (
                needs("libcudart.so.11.0"),
                "T4",
                "450.80.02",
                "450.80.02",
                "pass",
            ),
            (
                needs("libcudart.so.11.0"),
                "T4",
                "450.36.06",
                "450.80.02",
                "fail driver-too-old",
            ),
            (
                needs("libcudart.so.12"),
                "T4",
                "525.60.13",
                "525.60.13",
                "pass",
            ),
            (
                needs("libcudart.so.12"),
                "T4",
                "470.256.02",
                "525.60.13",
                "fail driver-too-old",
            ),
            (
                needs("libcudart-5a077122.so.12.0.107"),
                "T4",
                "R515",
                "525.60.13",
                "fail driver-too-old",
            ),
            (needs("libcudart.so.13"), "T4", "580.65.06", "R580", "pass"),
            (
                needs("libcudart.e8e8b82a.so.13"),
                "T4",
                "R575",
                "R580",
                "fail driver-too-old",
            ),
            // backward: a newer driver starts older runtimes (4.1)
            (
                needs("libcudart.so.11.0"),
                "T4",
                "R620",
                "450.80.02",
                "pass",
            ),
            // no runtime at all: the GPU alone
            (so().fatbin("sm_75 sm_80", 3), "T4", "R450", "R410", "pass"),
        ],
    );
}

// RULES.md 4.3: before CUDA 11 the driver must report the minor version too.
#[test]
fn runtimes_before_cuda_11_need_their_minor_version() {
    let needs = |name: &str| so().fatbin("sm_60 sm_75", 3).needs(name);
    assert_floors(
        on_linux,
        "linux/amd64",
        vec![
            (needs("libcudart.so.10.2"), "T4", "R440", "R440", "pass"),
            (
                needs("libcudart.so.10.2"),
                "T4",
                "418.226.00",
                "R440",
                "fail driver-too-old",
            ),
            (needs("libcudart.so.10.1"), "T4", "R418", "R418", "pass"),
            (
                needs("libcudart.so.10.0"),
                "P100",
                "R390",
                "R410",
                "fail driver-too-old",
            ),
            (needs("libcudart.so.9.0"), "P100", "R390", "R384", "pass"),
            // statically, by the toolkit of its code
            (
                so().fatbin("sm_60 sm_75", 3).toolkit("10.2"),
                "T4",
                "R418",
                "R440",
                "fail driver-too-old",
            ),
        ],
    );
}

// SEMANTICS.md: where the runtime is static, its major is inferred from the toolkit of the cubins; of mixed
// toolkits the highest.
#[test]
fn a_static_runtime_is_inferred_from_the_toolkit() {
    let made_by = |versions: &[&str]| {
        versions
            .iter()
            .fold(so().fatbin("sm_75 sm_80", 3), |lib, version| {
                lib.toolkit(version)
            })
    };
    assert_floors(
        on_linux,
        "linux/amd64",
        vec![
            (made_by(&["11.8"]), "T4", "R470", "450.80.02", "pass"),
            (made_by(&["12.8"]), "T4", "R525", "525.60.13", "pass"),
            (
                made_by(&["12.8"]),
                "T4",
                "R520",
                "525.60.13",
                "fail driver-too-old",
            ),
            (
                made_by(&["12.4", "13.0"]),
                "T4",
                "R575",
                "R580",
                "fail driver-too-old",
            ),
            // the runtime that it needs says more than the compiler that made it
            (
                made_by(&["13.0"]).needs("libcudart.so.12"),
                "T4",
                "R550",
                "525.60.13",
                "pass",
            ),
        ],
    );
    let evaluation = check(&of(made_by(&["12.4", "13.0"])), &on("T4", "R580"));
    let floor = evaluation.matrix[0].minimum_driver.clone().unwrap();
    assert_eq!(floor.mechanism.to_string(), "code made by CUDA 13");
    assert_eq!(floor.culprit.as_deref(), Some("pkg/_C.so"));
}

// archs.yaml, from the kernel modules' tables and release notes: the first driver that knows a GPU.
#[test]
fn a_gpu_has_a_first_driver() {
    let rows = [
        ("T4", "sm_75", "R418", "R410", "pass"),
        ("A100", "sm_80", "R450", "R450", "pass"),
        ("A100", "sm_80", "R440", "R450", "fail driver-too-old"),
        ("A10", "sm_86", "R450", "R455", "fail driver-too-old"),
        ("L4", "sm_89", "R515", "520.56.06", "fail driver-too-old"),
        ("H100", "sm_90", "R525", "520.56.06", "pass"),
        ("H100", "sm_90", "R515", "520.56.06", "fail driver-too-old"),
        ("B200", "sm_100", "570.86.15", "570.86.15", "pass"),
        ("B200", "sm_100", "R565", "570.86.15", "fail driver-too-old"),
        (
            "B300",
            "sm_103",
            "580.65.06",
            "580.82.07",
            "fail driver-too-old",
        ),
        ("B300", "sm_103", "R580", "580.82.07", "pass"),
        (
            "RTX 5090",
            "sm_120",
            "570.86.15",
            "570.86.16",
            "fail driver-too-old",
        ),
        ("GB10", "sm_121", "R580", "580.94.13", "pass"),
        ("10.7", "sm_107", "R610", "R615", "fail driver-too-old"),
        ("8.7", "sm_87", "R535", "-", "pass"),
    ];
    let rows = rows.map(|(gpu, image, driver, floor, expected)| {
        (so().fatbin(image, 1), gpu, driver, floor, expected)
    });
    assert_floors(on_linux, "linux/amd64", rows.into());
}

// RULES.md 2.3 and 2.13; SEMANTICS.md: the highest of all floors.
#[test]
fn compiling_and_unpacking_have_floors_where_they_are_needed() {
    let jit = |isa: &str| so().fatbin(&format!("sm_70 compute_70@{isa}"), 3);
    assert_floors(
        on_linux,
        "linux/amd64",
        vec![
            (jit("8.7"), "H100", "R580", "570.26", "pass jit-only"),
            (jit("8.4"), "H100", "R580", "550.54.14", "pass jit-only"),
            (jit("9.4"), "H100", "R620", "R615", "pass jit-only"),
            (jit("6.0"), "H100", "R580", "520.56.06", "pass jit-only"),
            // not needed where machine code fits
            (
                so().fatbin("sm_90 compute_90@9.0", 3),
                "H100",
                "R525",
                "520.56.06",
                "pass",
            ),
            (
                so().fatbin("sm_80+zstd sm_90+zstd", 3),
                "H100",
                "R550",
                "550.54.14",
                "pass",
            ),
            (
                so().fatbin("sm_80+lz4 sm_90+lz4", 3),
                "H100",
                "R525",
                "520.56.06",
                "pass",
            ),
            // only what fits is unpacked
            (
                so().fatbin("sm_80+zstd sm_90", 3),
                "H100",
                "R525",
                "520.56.06",
                "pass",
            ),
            // the highest: runtime 12, PTX 8.7 and zstd on a B300
            (
                so().fatbin("sm_90+zstd compute_90@8.7+zstd", 3)
                    .needs("libcudart.so.12"),
                "B300",
                "R590",
                "580.82.07",
                "pass jit-only",
            ),
            // the floor is there although nothing runs yet
            (jit("8.7"), "H100", "R535", "570.26", "fail ptx-too-new"),
            (
                so().fatbin("sm_80+zstd sm_90+zstd", 3),
                "H100",
                "R535",
                "550.54.14",
                "fail compression-needs-driver",
            ),
        ],
    );
}

// toolkits.yaml: NVIDIA's Windows numbers; 528.33 for 12.x, 452.39 for 11.x, 551.61 for zstd.
#[test]
fn windows_floors_have_windows_numbers() {
    let needs = |name: &str| so().fatbin("sm_75 sm_80", 3).needs(name);
    assert_floors(
        on_windows,
        "windows/amd64",
        vec![
            (needs("cudart64_12.dll"), "T4", "528.33", "528.33", "pass"),
            (
                needs("cudart64_12.dll"),
                "T4",
                "517.40",
                "528.33",
                "fail driver-too-old",
            ),
            (needs("cudart64_110.dll"), "T4", "452.39", "452.39", "pass"),
            (
                needs("CUDART64_110.DLL"),
                "T4",
                "451.82",
                "452.39",
                "fail driver-too-old",
            ),
            (needs("cudart64_13.dll"), "T4", "580.88", "R580", "pass"),
            (
                needs("cudart64_13.dll"),
                "T4",
                "576.57",
                "R580",
                "fail driver-too-old",
            ),
            (
                needs("cudart64_102.dll"),
                "T4",
                "418.96",
                "R440",
                "fail driver-too-old",
            ),
            (
                so().fatbin("sm_75+zstd sm_80+zstd", 3),
                "T4",
                "551.61",
                "551.61",
                "pass",
            ),
            (
                so().fatbin("sm_60 compute_60@8.7", 3),
                "T4",
                "572.61",
                "570.65",
                "pass jit-only",
            ),
        ],
    );
}

// SEMANTICS.md: WSL takes Windows numbers too.
#[test]
fn under_wsl_the_number_says_whose_driver_it_is() {
    let policy = |driver: &str| on("T4", driver) + "    wsl: true\n";
    let input = of(so()
        .fatbin("sm_60 compute_60@8.7", 3)
        .needs("libcudart.so.12"));
    for (driver, floor, expected) in [
        ("572.61", "570.65", "pass jit-only"),
        ("551.61", "570.65", "fail ptx-too-new"),
        ("570.86.15", "570.26", "pass jit-only"),
        ("550.54.15", "570.26", "fail ptx-too-new"),
        ("R570", "570.26", "pass jit-only"),
    ] {
        let evaluation = check(&input, &policy(driver));
        assert_eq!(
            (minimum(&evaluation).as_str(), outcome(&evaluation).as_str()),
            (floor, expected),
            "{driver}"
        );
        if expected.starts_with("fail") {
            let next_step = &only(&evaluation, Code::PtxTooNew).next_step;
            assert!(next_step.contains(floor), "{driver}: {next_step}");
        }
    }
}
