//! Drivers given as branches, drivers that dropped a GPU, and drivers that are not given.

use super::build::{Input, Lib, dir, lib, so, wheel};
use super::{check, found, minimum, on, only, outcome};
use crate::rule::Code;

fn of(lib: Lib) -> Input {
    wheel("pkg", "1.0").with(lib)
}

// SEMANTICS.md: a branch satisfies a floor of the same branch, with a note naming the exact version.
#[test]
fn a_branch_meets_a_floor_in_it_with_a_note() {
    let input = of(so().fatbin("sm_80+zstd sm_90+zstd", 3));
    let notes = |driver: &str| check(&input, &on("H100", driver)).matrix[0].notes.clone();
    let noted = notes("R550");
    assert_eq!(noted.len(), 1);
    assert!(noted[0].contains("550.54.14"), "{noted:?}");
    assert!(notes("R570").is_empty());
    assert!(notes("550.54.15").is_empty());
    assert!(notes("").is_empty());
    let bare_number = check(&input, &on("H100", "550"));
    assert_eq!(outcome(&bare_number), "pass");
    assert_eq!(bare_number.matrix[0].notes, noted);
}

// RULES.md; archs.yaml: R580 is the last branch for Maxwell, Pascal and Volta, R470 for Kepler.
#[test]
fn a_driver_may_have_dropped_the_gpu() {
    for (gpu, image, driver, expected) in [
        ("GTX 1080", "sm_61", "R590", "fail driver-dropped-gpu"),
        ("GTX 1080", "sm_61", "590.44.01", "fail driver-dropped-gpu"),
        ("GTX 1080", "sm_61", "R580", "pass"),
        ("V100", "sm_70", "R590", "fail driver-dropped-gpu"),
        ("3.5", "sm_35", "R495", "fail driver-dropped-gpu"),
        ("3.5", "sm_35", "470.256.02", "pass"),
        ("T4", "sm_75", "R620", "pass"),
    ] {
        let evaluation = check(&of(so().fatbin(image, 1)), &on(gpu, driver));
        assert_eq!(outcome(&evaluation), expected, "{gpu} with {driver}");
    }
    let windows = on("GTX 1080", "591.44").replace("linux/amd64", "windows/amd64");
    let evaluation = check(
        &of(so().fatbin("sm_61", 1).windows()).tags("windows/amd64"),
        &windows,
    );
    assert_eq!(outcome(&evaluation), "fail driver-dropped-gpu");
    // where nothing needs the driver, it is nobody's business
    let evaluation = check(&wheel("pure", "1.0"), &on("GTX 1080", "R590"));
    assert_eq!(outcome(&evaluation), "pass");
}

// SEMANTICS.md: a number that no branch is known to have stays unknown, floors below it are met, and whether the
// driver still drives the GPU is said not to be known.
#[test]
fn a_driver_of_no_known_branch_meets_floors_and_is_said_to_be_unknown() {
    let linux = |gpu: &str, image: &str, driver: &str| {
        let input = of(so().fatbin(image, 1).needs("libcudart.so.13"));
        check(&input, &on(gpu, driver))
    };
    let windows = |gpu: &str, image: &str, driver: &str| {
        let policy = on(gpu, driver).replace("linux/amd64", "windows/amd64");
        let lib = so().fatbin(image, 1).needs("cudart64_13.dll").windows();
        check(&of(lib).tags("windows/amd64"), &policy)
    };
    for (evaluation, expected) in [
        (linux("T4", "sm_75", "R999"), "pass driver-unknown"),
        (linux("T4", "sm_75", "999.10.01"), "pass driver-unknown"),
        (
            linux("T4", "sm_75+zstd", "999.10.01"),
            "pass driver-unknown",
        ),
        (windows("T4", "sm_75", "999.1"), "pass driver-unknown"),
        (windows("T4", "sm_75", "620.70"), "pass"),
        // between R595 and R610, which both drive it
        (windows("T4", "sm_75", "600.10"), "pass"),
        (
            linux("GTX 1080", "sm_61", "R999"),
            "fail driver-dropped-gpu",
        ),
        (
            windows("GTX 1080", "sm_61", "999.1"),
            "fail driver-dropped-gpu",
        ),
        // R580 ends at 582 on Windows, and R590 begins at 591
        (
            windows("GTX 1080", "sm_61", "585.10"),
            "pass driver-unknown",
        ),
        (windows("GTX 1080", "sm_61", "582.10"), "pass"),
        (
            windows("GTX 1080", "sm_61", "591.10"),
            "fail driver-dropped-gpu",
        ),
        // its compiler is at least that of R620
        (
            linux("T4", "compute_70@9.5", "R999"),
            "pass driver-unknown jit-only",
        ),
        (
            linux("T4", "compute_70@99.0", "R999"),
            "fail driver-unknown ptx-too-new",
        ),
    ] {
        assert_eq!(outcome(&evaluation), expected, "{:#?}", evaluation.findings);
    }
    let said = linux("T4", "sm_75", "999.10.01");
    let finding = only(&said, Code::DriverUnknown);
    assert_eq!(
        finding.message,
        "driver 999.10.01 is newer than R620, the newest branch that is known: whether it still drives T4 (7.5) is not known"
    );
    assert_eq!(minimum(&said), "R580");
    let said = linux("T4", "compute_70@99.0", "R999");
    let message = &only(&said, Code::PtxTooNew).message;
    assert!(
        message.contains("which driver R999 is not known to compile"),
        "{message}"
    );
    // where nothing needs the driver, it is nobody's business
    let pure = check(&wheel("pure", "1.0"), &on("T4", "R999"));
    assert_eq!(outcome(&pure), "pass");
}

// SEMANTICS.md: without a driver the floors are reported, JIT is assumed to work, and one warning says so.
#[test]
fn a_driver_that_is_not_given_is_said_once() {
    let input = of(so()
        .fatbin("sm_80 compute_80@9.5", 3)
        .needs("libcudart.so.13"))
    .with(lib("pkg/b.so").fatbin("sm_80+zstd compute_80@9.5", 1));
    let evaluation = check(&input, &on("H100, B200", ""));
    assert_eq!(outcome(&evaluation), "pass driver-not-given jit-only");
    assert_eq!(found(&evaluation, Code::DriverNotGiven).len(), 1);
    assert_eq!(minimum(&evaluation), "R620");
    let two = on("H100", "") + "  - {name: u, gpu: A100, driver: R620}\n";
    let evaluation = check(&input, &two);
    let target = only(&evaluation, Code::DriverNotGiven).target.as_deref();
    assert_eq!(target, Some("t"));
    for quiet in [wheel("pure", "1.0"), dir("empty")] {
        let evaluation = check(&quiet, &on("H100", ""));
        assert_eq!(outcome(&evaluation), "pass", "no device code, no driver");
    }
}

// A library without device code that links the CUDA runtime needs its driver too.
#[test]
fn a_library_that_only_links_the_runtime_has_its_floor() {
    let input = of(so().needs("libcudart.so.12"));
    let evaluation = check(&input, &on("H100", "R515"));
    assert_eq!(outcome(&evaluation), "fail driver-too-old");
    assert!(!evaluation.matrix[0].has_device_code);
    let finding = only(&evaluation, Code::DriverTooOld);
    assert_eq!(finding.library.as_deref(), Some("pkg/_C.so"));
    assert!(finding.message.contains("525.60.13"), "{}", finding.message);
}

// SEMANTICS.md: each part is reported with the mechanism and the member that caused it.
#[test]
fn a_driver_that_is_too_old_is_shown_every_floor_that_it_misses() {
    let input = of(so().fatbin("sm_100", 3).needs("libcudart.so.13"))
        .with(lib("pkg/b.so").fatbin("sm_100", 3).needs("libcudart.so.12"));
    let evaluation = check(&input, &on("B200", "R515"));
    let finding = only(&evaluation, Code::DriverTooOld);
    assert_eq!(
        finding.message,
        "the CUDA 13 runtime needs driver R580 or newer, `t` has R515"
    );
    assert_eq!(
        finding.evidence,
        [
            "525.60.13 or newer for the CUDA 12 runtime: `pkg/b.so`",
            "570.86.15 or newer for GPUs of compute capability 10.0",
            "R580 or newer for the CUDA 13 runtime: `pkg/_C.so`",
        ]
    );
    assert!(finding.next_step.contains("R580 or newer"));
}

// The step names the driver from the floor, what a driver must not be above, and a build that the driver starts.
#[test]
fn a_driver_that_is_too_old_has_a_next_step_that_can_be_taken() {
    let step = |gpu: &str, images: &str, runtime: &str, driver: &str| {
        let input = of(so().fatbin(images, 3).needs(runtime));
        let evaluation = check(&input, &on(gpu, driver));
        only(&evaluation, Code::DriverTooOld).next_step.clone()
    };
    assert_eq!(
        step("T4", "sm_75", "libcudart.so.13", "R575"),
        "upgrade the driver of `t` to R580 or newer, or look for a build of `pkg` for CUDA 12, which starts on R575"
    );
    // Hopper is new in CUDA 11.8, so that CUDA 11 is a choice on R520
    assert_eq!(
        step("H100", "sm_90", "libcudart.so.12", "R520"),
        "upgrade the driver of `t` to 525.60.13 or newer, or look for a build of `pkg` for CUDA 11, which starts on R520"
    );
    // Blackwell is new in CUDA 12.8, and no driver before 570.86.15 knows it
    assert_eq!(
        step("B200", "sm_100", "libcudart.so.12", "R550"),
        "upgrade the driver of `t` to 570.86.15 or newer"
    );
    // R580 is the last branch for Pascal, and the first of CUDA 13
    assert_eq!(
        step("GTX 1080", "sm_61", "libcudart.so.13", "R570"),
        "upgrade the driver of `t` to R580, the last branch that drives it, \
         or look for a build of `pkg` for CUDA 12, which starts on R570"
    );
    assert_eq!(
        step("GTX 1080", "sm_61", "libcudart.so.12", "R515"),
        "upgrade the driver of `t` to 525.60.13 or newer, up to R580, the last branch that drives it, \
         or look for a build of `pkg` for CUDA 11, which starts on R515"
    );
    // R470 is the last branch for Kepler, and older than CUDA 12 takes
    assert_eq!(
        step("3.5", "sm_35", "libcudart.so.12", "R470"),
        "look for a build of `pkg` for CUDA 11, which starts on R470; no driver that new drives compute capability 3.5"
    );
}

#[test]
fn blocked_ptx_has_a_next_step_that_says_what_compiling_costs() {
    let input = of(so().fatbin("sm_50 compute_50@8.7", 3));
    let evaluation = check(&input, &on("H100", "R535"));
    let step = &only(&evaluation, Code::PtxTooNew).next_step;
    assert!(
        step.starts_with(
            "upgrade the driver of `t` to 570.26 or newer (it compiles the code at first use: a slow first start, and a cache \
             that must persist), or look for another build or version of `pkg` with code for sm_90"
        ),
        "{step}"
    );
    // PTX 9.1 is of R590, which has dropped Pascal
    let input = of(so().fatbin("sm_50 compute_50@9.1", 3));
    let evaluation = check(&input, &on("GTX 1080", "R580"));
    let step = &only(&evaluation, Code::PtxTooNew).next_step;
    assert!(step.starts_with("look for another build"), "{step}");
}
