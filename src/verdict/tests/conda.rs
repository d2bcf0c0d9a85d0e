//! What conda packages declare and claim. Build strings and dependencies are those of public packages.

use super::build::{Input, conda, lib, wheel};
use super::{check, on, only, outcome};
use crate::rule::Code;

impl Input {
    /// What the package needs.
    fn depends(self, spec: &str) -> Self {
        self.says(|facts| facts.depends.push(spec.to_owned()))
    }

    /// What the package wants of what is there.
    fn constrains(self, spec: &str) -> Self {
        self.says(|facts| facts.constrains.push(spec.to_owned()))
    }
}

/// A library of this toolkit that needs this runtime.
fn so(toolkit: &str, runtime: &str) -> super::build::Lib {
    let so = lib("lib/a.so").fatbin("sm_80 sm_90", 3).toolkit(toolkit);
    if runtime.is_empty() {
        so
    } else {
        so.needs(runtime)
    }
}

fn minimum(input: &Input, driver: &str) -> (String, Option<String>) {
    let evaluation = check(input, &on("H100", driver));
    let row = &evaluation.matrix[0];
    let floor = row.minimum_driver.as_ref();
    let floor = floor.map(|floor| format!("{} for {}", floor.driver, floor.mechanism));
    (outcome(&evaluation), floor)
}

#[test]
fn the_driver_that_a_package_declares_is_a_floor() {
    let twelve = || conda("cupy-core", "14.0.1", "py313h0_0").with(so("12.9", "libcudart.so.12"));
    // CUDA 12.9 is R575 (NVIDIA's release notes, table of drivers); CUDA 12 starts on 525.60.13
    let declared = Some("R575 for the package's `__cuda >=12.9`".to_owned());
    for input in [
        twelve().depends("__cuda >=12.9"),
        twelve().constrains("__cuda >=12.9"),
        twelve()
            .depends("__cuda >=12.0")
            .constrains("__cuda >=12.9"),
    ] {
        assert_eq!(
            minimum(&input, "R580"),
            ("pass".to_owned(), declared.clone())
        );
        let (outcome, floor) = minimum(&input, "R550");
        assert_eq!((&*outcome, &floor), ("fail driver-too-old", &declared));
    }
    // a weaker declaration leaves what the code needs
    let weak = twelve().depends("__cuda >=12.0");
    let (outcome, floor) = minimum(&weak, "R550");
    assert_eq!(outcome, "pass");
    assert!(
        floor
            .unwrap()
            .starts_with("525.60.13 for the CUDA 12 runtime")
    );
    let none = twelve().depends("__cuda");
    assert_eq!(minimum(&none, "R550").0, "pass");
}

#[test]
fn a_package_without_code_declares_a_driver_too() {
    // cuda-version of conda-forge constrains its major version
    let meta = conda("cuda-version", "13.0", "h0_3").constrains("__cuda >=13");
    let (outcome, floor) = minimum(&meta, "R550");
    assert_eq!(outcome, "fail driver-too-old");
    assert_eq!(floor.unwrap(), "R580 for the package's `__cuda >=13`");
    assert_eq!(minimum(&meta, "R580").0, "pass");
}

#[test]
fn a_cuda_version_that_no_table_knows_is_said_to_be_unknown() {
    let input = conda("a", "1", "0").depends("__cuda >=99.1");
    let evaluation = check(&input, &on("H100", "R580"));
    let row = &evaluation.matrix[0];
    assert!(row.minimum_driver.is_none());
    let note = "it declares `__cuda >=99.1`, and no table knows which driver supports CUDA 99.1";
    assert_eq!(row.notes, [note]);
}

#[test]
fn a_claim_is_a_mismatch_only_where_all_code_speaks_against_it() {
    let twelve = || so("12.9", "libcudart.so.12");
    let in_13 = || so("13.0", "");
    let package = |build: &str| conda("p", "1.0", build);
    let mismatch = "pass claim-mismatch";
    for (what, input, expected) in [
        ("as claimed", package("cuda129_h0_0").with(twelve()), "pass"),
        (
            "another minor version",
            package("cuda124_h0_0").with(twelve()),
            "pass",
        ),
        (
            "another major version",
            package("cuda130_h0_0").with(twelve()),
            mismatch,
        ),
        (
            "by toolkit",
            package("cuda129_h0_0").with(in_13()),
            mismatch,
        ),
        (
            "one library of two fits",
            package("cuda129_h0_0")
                .with(twelve())
                .with(lib("lib/b.so").fatbin("sm_90", 1).toolkit("13.0")),
            "pass",
        ),
        (
            "nothing is known",
            package("cuda129_h0_0").with(lib("lib/a.so").fatbin("sm_90", 1)),
            "pass",
        ),
        ("no code", package("cuda129_h0_0"), "pass"),
        (
            "no claim",
            package("py313h28b6081_0").with(twelve()),
            "pass",
        ),
        ("CPU", package("cpu_generic_py314_h0_4"), "pass"),
        (
            "CPU with code",
            package("cpu_generic_py314_h0_4").with(twelve()),
            mismatch,
        ),
        (
            "CPU with code of NVIDIA's",
            package("cpu_generic_py314_h0_4").with(twelve().carried("cublas")),
            "pass",
        ),
        (
            "CPU by dependency",
            package("py3_0")
                .depends("pytorch-mutex 1.0 cpu")
                .with(twelve()),
            mismatch,
        ),
        (
            "dependency",
            package("py3_0")
                .depends("cuda-version >=13,<14")
                .with(twelve()),
            mismatch,
        ),
        (
            "dependency that allows it",
            package("py3_0")
                .depends("cuda-version >=11.8,<13")
                .with(twelve()),
            "pass",
        ),
        (
            "old",
            package("py310_cu116")
                .depends("cudatoolkit >=11.6,<11.7")
                .with(so("11.6", "libcudart.so.11.0")),
            "pass",
        ),
    ] {
        let evaluation = check(&input, &on("H100", "R580"));
        assert_eq!(
            outcome(&evaluation),
            expected,
            "{what}: {:#?}",
            evaluation.findings
        );
    }
    let evaluation = check(&package("cuda130_h0_0").with(twelve()), &on("H100", "R580"));
    let finding = only(&evaluation, Code::ClaimMismatch);
    assert_eq!(
        finding.message,
        "its build string `cuda130_h0_0` is not what it holds: code for CUDA 12"
    );
    assert_eq!(
        finding.evidence,
        ["`lib/a.so` needs the runtime of CUDA 12"]
    );
    // a wheel claims nothing of the kind
    let wheel = wheel("p", "1.0").with(twelve());
    assert_eq!(outcome(&check(&wheel, &on("H100", "R580"))), "pass");
}

#[test]
fn a_cpu_build_where_gpu_code_is_expected_is_called_one() {
    let policy = on("H100", "R580") + "expect-gpu: [pytorch]\n";
    for (input, what) in [
        (
            conda("pytorch", "2.10.0", "cpu_mkl_py314_h0_104"),
            "a conda CPU build",
        ),
        (
            conda("pytorch", "2.1.0", "py3.9_0").depends("pytorch-mutex 1.0 cpu"),
            "a conda CPU build",
        ),
        (
            conda("pytorch", "2.1.0", "py3.9_0"),
            "a build without CUDA device code",
        ),
    ] {
        let evaluation = check(&input, &policy);
        assert_eq!(outcome(&evaluation), "fail cpu-only-build");
        let finding = only(&evaluation, Code::CpuOnlyBuild);
        let message = format!("`pytorch` is {what}, and the policy expects GPU code");
        assert_eq!(finding.message, message);
        assert!(
            finding.next_step.contains("`pytorch=*=cuda*`"),
            "{finding:?}"
        );
    }
}

#[test]
fn the_subdir_of_another_platform_is_a_mismatch() {
    let input = conda("p", "1.0", "cuda129_0").with(so("12.9", ""));
    let policy = on("H100", "R580").replace("linux/amd64", "linux/arm64");
    let evaluation = check(&input, &policy);
    assert_eq!(outcome(&evaluation), "fail platform-mismatch");
    let finding = only(&evaluation, Code::PlatformMismatch);
    assert_eq!(finding.evidence, ["its `subdir` is linux-64"]);
}
