//! Operating systems and CPUs: what tags say, what libraries are, and which of them a target loads.

use super::build::{Input, dir, file, lib, so, wheel};
use super::{check, found, judge, on, only, outcome};
use crate::rule::Code;

fn policy(platform: &str) -> String {
    on("H100", "R580").replace("linux/amd64", platform)
}

fn assert_outcomes(rows: &[(&str, &Input, &str, &str)]) {
    for (what, input, platform, expected) in rows {
        let evaluation = check(input, &policy(platform));
        assert_eq!(
            outcome(&evaluation),
            *expected,
            "{what} on {platform}: {:#?}",
            evaluation.findings
        );
    }
}

/// What is said beside the first row.
fn row_notes(input: &Input, platform: &str) -> Vec<String> {
    check(input, &policy(platform)).matrix.swap_remove(0).notes
}

#[test]
fn tags_of_another_platform_are_a_mismatch() {
    let so = || lib("pkg/_C.so").fatbin("sm_80 sm_90", 3);
    let linux = wheel("pkg", "1.0").with(so());
    let arm = wheel("pkg", "1.0")
        .tags("linux/arm64")
        .with(so().machine("aarch64"));
    let windows = wheel("pkg", "1.0")
        .tags("windows/amd64")
        .with(so().windows());
    let both = wheel("pkg", "1.0")
        .tags("linux/amd64 linux/arm64")
        .with(so());
    let unknown = wheel("pkg", "1.0").tags("linux_riscv64").with(so());
    let pure = wheel("pkg", "1.0").tags("linux/amd64");
    assert_outcomes(&[
        ("linux", &linux, "linux/amd64", "pass"),
        ("linux", &linux, "linux/arm64", "fail platform-mismatch"),
        ("linux", &linux, "windows/amd64", "fail platform-mismatch"),
        ("arm", &arm, "linux/arm64", "pass"),
        ("arm", &arm, "linux/amd64", "fail platform-mismatch"),
        ("windows", &windows, "windows/amd64", "pass"),
        ("windows", &windows, "linux/amd64", "fail platform-mismatch"),
        ("both", &both, "linux/amd64", "pass"),
        ("unknown", &unknown, "linux/amd64", "fail platform-mismatch"),
        // without device code too: it does not install
        ("pure", &pure, "windows/amd64", "fail platform-mismatch"),
    ]);
    let finding = check(&unknown, &policy("linux/amd64"));
    let finding = only(&finding, Code::PlatformMismatch);
    assert!(finding.evidence[0].contains("linux_riscv64"), "{finding:?}");
    // the row says it too
    assert_eq!(
        row_notes(&linux, "windows/amd64"),
        ["built for linux/amd64"]
    );
    assert_eq!(
        row_notes(&both, "windows/amd64"),
        ["built for linux/amd64, linux/arm64"]
    );
    assert_eq!(
        row_notes(&unknown, "linux/amd64"),
        ["built for linux_riscv64"]
    );
    assert!(row_notes(&linux, "linux/amd64").is_empty());
    // what the wrong file needs is no advice
    let old = lib("pkg/_C.so").fatbin("sm_70", 3).needs("libcudart.so.13");
    let evaluation = check(
        &wheel("pkg", "1.0").with(old),
        &policy("windows/amd64").replace("R580", "R550"),
    );
    assert_eq!(outcome(&evaluation), "fail platform-mismatch");
    // a target that names no platform asks nothing
    let evaluation = check(
        &arm,
        &on("H100", "R580").replace("    platform: linux/amd64\n", ""),
    );
    assert_eq!(outcome(&evaluation), "pass");
}

// Tags are promises; what the loader meets is the library.
#[test]
fn a_library_for_another_cpu_is_a_mismatch_whatever_the_tags() {
    let so = || lib("pkg/_C.so").fatbin("sm_80 sm_90", 3);
    let mistagged = wheel("pkg", "1.0").with(so().machine("aarch64"));
    let any = wheel("pkg", "1.0").tags("").with(so().machine("aarch64"));
    let one_fits = wheel("pkg", "1.0")
        .with(so().machine("aarch64"))
        .with(lib("pkg/_D.so").fatbin("sm_80 sm_90", 3));
    let raw = wheel("pkg", "1.0").with(lib("pkg/k.cubin").bare("sm_90", 1).raw());
    let tree = dir("site-packages").of("pkg", so().machine("aarch64"));
    let one_file = file("libx.so").stray(so().machine("aarch64"));
    for (what, input) in [
        ("mistagged", &mistagged),
        ("any", &any),
        ("directory", &tree),
        ("file", &one_file),
    ] {
        assert_outcomes(&[(what, input, "linux/amd64", "fail platform-mismatch")]);
        let evaluation = check(input, &policy("linux/amd64"));
        let finding = only(&evaluation, Code::PlatformMismatch);
        assert!(
            finding.evidence[0].contains("is built for linux/arm64"),
            "{what}: {finding:?}"
        );
        let notes = row_notes(input, "linux/amd64");
        assert_eq!(notes, ["built for linux/arm64"], "{what}");
    }
    assert_outcomes(&[
        ("any", &any, "linux/arm64", "pass"),
        ("directory", &tree, "linux/arm64", "pass"),
        ("one fits", &one_fits, "linux/amd64", "pass"),
        ("no CPU at all", &raw, "linux/amd64", "pass"),
    ]);
}

// lietorch and thundersvm are tagged `any` and carry libraries for one platform or several.
#[test]
fn a_wheel_for_any_platform_is_judged_by_the_libraries_that_the_target_loads() {
    let any = wheel("pkg", "1.0")
        .tags("")
        .with(lib("pkg/libx.so").fatbin("sm_80 sm_90", 3))
        .with(lib("pkg/x.dll").fatbin("sm_70 sm_80", 300).windows())
        .with(lib("pkg/k.cubin").bare("sm_90", 1).raw());
    assert_outcomes(&[
        ("any", &any, "linux/amd64", "pass"),
        ("any", &any, "windows/amd64", "fail no-kernel-image"),
        ("any", &any, "linux/arm64", "fail platform-mismatch"),
    ]);
    // of no known platform: all of them are judged
    let evaluation = check(
        &any,
        &on("H100", "R580").replace("    platform: linux/amd64\n", ""),
    );
    assert_eq!(
        only(&evaluation, Code::NoKernelImage).library.as_deref(),
        Some("pkg/x.dll")
    );
}

#[test]
fn every_target_is_asked_for_its_platform() {
    let input = wheel("pkg", "1.0").with(lib("pkg/_C.so").fatbin("sm_80 sm_90", 3));
    let policy = "version: 1\ntargets:\n\
        \x20 - {name: a, gpu: H100, driver: R580, platform: linux/amd64}\n\
        \x20 - {name: b, gpu: GH200, driver: R580, platform: linux/arm64}\n";
    let evaluation = check(&input, policy);
    let rows: Vec<_> = evaluation
        .matrix
        .iter()
        .map(|row| (row.target.as_str(), row.verdict.id()))
        .collect();
    assert_eq!(rows, [("a", "pass"), ("b", "fail")]);
    assert_eq!(found(&evaluation, Code::PlatformMismatch).len(), 1);
}

// CUDA 12 needs 525.60.13 on Linux and 528.33 on Windows (release notes): 527.41 is newer than the one only.
#[test]
fn a_wheel_for_windows_is_judged_by_windows_numbers_where_the_target_names_no_platform() {
    let so = lib("pkg/_C.pyd")
        .windows()
        .fatbin("sm_90", 3)
        .needs("cudart64_12.dll");
    let input = wheel("pkg", "1.0").tags("windows/amd64").with(so);
    let without = on("H100", "527.41").replace("    platform: linux/amd64\n", "");
    let evaluation = check(&input, &without);
    assert_eq!(outcome(&evaluation), "fail driver-too-old");
    assert_eq!(
        evaluation.matrix[0].notes,
        ["driver numbers are those of Windows, which it is built for"]
    );
}

#[test]
fn a_wheel_for_another_python_is_a_mismatch_where_the_target_names_its_python() {
    let of = |tags: &str| {
        wheel("pkg", "1.0")
            .python(tags)
            .with(lib("pkg/_C.so").fatbin("sm_80 sm_90", 3))
    };
    let policy = |python: &str| on("H100", "R580") + python;
    for (tags, python, expected) in [
        ("cp312-cp312", "    python: \"3.12\"\n", "pass"),
        (
            "cp311-cp311",
            "    python: \"3.12\"\n",
            "fail platform-mismatch",
        ),
        ("cp310-cp310 cp312-cp312", "    python: \"3.12\"\n", "pass"),
        ("cp38-abi3", "    python: \"3.12\"\n", "pass"),
        (
            "cp314-cp314",
            "    python: 3.14t\n",
            "fail platform-mismatch",
        ),
        // unquoted, 3.10 is no number
        ("cp310-cp310", "    python: 3.10\n", "pass"),
        ("cp311-cp311", "", "pass"),
        // a wheel without tags says nothing
        ("", "    python: \"3.12\"\n", "pass"),
    ] {
        let evaluation = check(&of(tags), &policy(python));
        assert_eq!(outcome(&evaluation), expected, "{tags} {python}");
    }
    let evaluation = check(&of("cp311-cp311"), &policy("    python: \"3.12\"\n"));
    let mismatch = only(&evaluation, Code::PlatformMismatch);
    assert_eq!(mismatch.message, "built for another Python than 3.12");
    assert_eq!(mismatch.evidence, ["its tags name cp311-cp311"]);
}

// PEP 600: `manylinux_2_28` runs on glibc 2.28 and newer, `manylinux2014` is `manylinux_2_17`; PEP 656: musl is another
// C library
#[test]
fn a_wheel_for_a_newer_glibc_is_a_mismatch_where_the_target_names_its_glibc() {
    let of = |tags: &str| {
        wheel("pkg", "1.0")
            .written(tags)
            .with(lib("pkg/_C.so").fatbin("sm_80 sm_90", 3))
    };
    let policy = |glibc: &str| on("H100", "R580") + glibc;
    let (old, rhel8) = ("    glibc: \"2.17\"\n", "    glibc: \"2.28\"\n");
    for (tags, glibc, expected) in [
        ("manylinux_2_28_x86_64", rhel8, "pass"),
        ("manylinux_2_28_x86_64", old, "fail platform-mismatch"),
        ("manylinux_2_34_x86_64", rhel8, "fail platform-mismatch"),
        // numbers, not texts: 2.5 is older than 2.17
        ("manylinux_2_5_x86_64", old, "pass"),
        ("manylinux2014_x86_64", old, "pass"),
        (
            "manylinux2014_x86_64",
            "    glibc: 2.12\n",
            "fail platform-mismatch",
        ),
        ("manylinux1_x86_64", old, "pass"),
        // one tag is enough, and that of another CPU is none
        ("manylinux_2_17_x86_64 manylinux_2_28_x86_64", old, "pass"),
        (
            "manylinux_2_17_aarch64 manylinux_2_28_x86_64",
            old,
            "fail platform-mismatch",
        ),
        ("musllinux_1_2_x86_64", rhel8, "fail platform-mismatch"),
        ("manylinux_2_28_x86_64 musllinux_1_2_x86_64", rhel8, "pass"),
        // no claim, and no question
        ("linux_x86_64", old, "pass"),
        ("", old, "pass"),
        ("manylinux_2_99_x86_64", "", "pass"),
    ] {
        let evaluation = check(&of(tags), &policy(glibc));
        assert_eq!(outcome(&evaluation), expected, "{tags} {glibc}");
    }
    let evaluation = check(
        &of("manylinux_2_27_x86_64 manylinux_2_28_x86_64"),
        &policy(old),
    );
    let mismatch = only(&evaluation, Code::PlatformMismatch);
    assert_eq!(
        mismatch.message,
        "built for another C library than glibc 2.17: glibc 2.27 or newer"
    );
    assert_eq!(
        mismatch.evidence,
        ["its tags name manylinux_2_27_x86_64, manylinux_2_28_x86_64"]
    );
    // what is installed makes no such claim
    let tree = dir("site-packages").of("pkg", lib("pkg/_C.so").fatbin("sm_80 sm_90", 3));
    assert_eq!(outcome(&check(&tree, &policy(old))), "pass");
    // a Windows pool has no glibc to ask for
    let windows = wheel("pkg", "1.0")
        .tags("windows/amd64")
        .written("win_amd64")
        .with(lib("pkg/_C.pyd").windows().fatbin("sm_80 sm_90", 3));
    let policy = policy(old).replace("linux/amd64", "windows/amd64");
    assert_eq!(outcome(&check(&windows, &policy)), "pass");
}

#[test]
fn of_several_wheels_of_a_version_a_target_is_judged_on_those_that_it_would_install() {
    let wheel = |tags: &str, machine: &str, python: &str, images: &str| {
        let input = wheel("pkg", "1.0").tags(tags).python(python);
        let library = so().machine(machine).fatbin(images, 1);
        input.with(library).inventory()
    };
    let policy = "version: 1
targets:
  - {name: arm, cc: 9.0, driver: R580, platform: linux/arm64, python: \"3.12\"}
  - {name: amd, cc: 9.0, driver: R580, platform: linux/amd64, python: \"3.12\"}
";
    let amd = wheel("linux/amd64", "x86_64", "cp312-cp312", "sm_80 sm_90");
    let arm = wheel("linux/arm64", "aarch64", "cp312-cp312", "sm_80 sm_90");
    let old = wheel("linux/amd64", "x86_64", "cp311-cp311", "sm_80 sm_86");
    let together = |inventories: &[&crate::inventory::Inventory]| {
        let mut all = crate::inventory::Inventory::default();
        for one in inventories {
            all.artifacts.extend(one.artifacts.iter().cloned());
        }
        let evaluation = judge(&all, policy);
        let rows = evaluation.matrix.iter();
        let rows: Vec<String> = rows
            .map(|row| format!("{}{} {}", row.artifact, row.target, row.verdict.id()))
            .collect();
        rows.join(", ")
    };
    assert_eq!(together(&[&amd]), "0arm fail, 0amd pass");
    assert_eq!(together(&[&amd, &arm]), "0amd pass, 1arm pass");
    assert_eq!(together(&[&old, &amd, &arm]), "1amd pass, 2arm pass");
    // of another version it would not be installed instead
    let mut newer = arm.clone();
    newer.artifacts[0].version = Some("1.1".to_owned());
    assert_eq!(
        together(&[&amd, &newer]),
        "0arm fail, 0amd pass, 1arm pass, 1amd fail"
    );
}
