//! Rules about whole inputs: builds without GPU code, source distributions, headers that lie, unused
//! architectures, and what could not be read.

use super::build::{Input, dir, file, lib, sdist, wheel};
use super::{check, found, judge, on, only, outcome};
use crate::device::HostFormat;
use crate::problem::{Extent, ProblemKind};
use crate::rule::{Code, Level};
use crate::verdict::Verdict;

fn so() -> super::build::Lib {
    lib("torch/_C.so").fatbin("sm_80 sm_90", 3)
}

fn expecting(packages: &str) -> String {
    on("H100", "R580") + &format!("expect-gpu: [{packages}]\n")
}

#[test]
fn a_build_without_gpu_code_fails_where_the_policy_expects_some() {
    for (version, what) in [
        ("2.9.1", "a build without CUDA device code"),
        ("2.9.1+cu126", "a build without CUDA device code"),
        ("2.9.1+cpu", "a CPU build"),
        ("2.9.1+cpu.cxx11.abi", "a CPU build"),
        ("2.9.1+rocm6.4", "a ROCm build, for AMD GPUs"),
        ("2.9.1+xpu", "an XPU build, for Intel GPUs"),
    ] {
        let evaluation = check(&wheel("torch", version), &expecting("torch"));
        assert_eq!(outcome(&evaluation), "fail cpu-only-build", "{version}");
        let finding = only(&evaluation, Code::CpuOnlyBuild);
        assert_eq!(
            finding.message,
            format!("`torch` is {what}, and the policy expects GPU code")
        );
        assert!(finding.evidence[0].contains(version), "{finding:?}");
    }
    let rows: [(&str, Input, &str); 8] = [
        ("not expected", wheel("numpy", "2.4.6"), "pass"),
        ("with code", wheel("torch", "2.9.1").with(so()), "pass"),
        (
            "by pattern",
            wheel("vllm-flash", "1"),
            "fail cpu-only-build",
        ),
        (
            "in another spelling",
            wheel("Torch", "1"),
            "fail cpu-only-build",
        ),
        (
            "linking CUDA is no code",
            wheel("torch", "1").with(lib("torch/_C.so").needs("libcudart.so.12")),
            "fail cpu-only-build",
        ),
        (
            "code without kernels is none",
            wheel("torch", "1").with(lib("torch/_C.so").fatbin("sm_52+empty", 1)),
            "fail cpu-only-build",
        ),
        (
            "code to be linked first is none",
            wheel("torch", "1").with(
                lib("torch/libx.a")
                    .format(HostFormat::Ar)
                    .objects("rel_sm_90", 1),
            ),
            "fail cpu-only-build",
        ),
        (
            "built where it is installed",
            sdist("torch", "1"),
            "pass built-at-install",
        ),
    ];
    for (what, input, expected) in rows {
        let evaluation = check(&input, &expecting("torch, \"vllm*\""));
        assert_eq!(outcome(&evaluation), expected, "{what}");
    }
    // once, whatever the number of targets
    let two = expecting("torch").replace(
        "expect-gpu",
        "  - {name: u, gpu: A100, driver: R580}\nexpect-gpu",
    );
    let evaluation = check(&wheel("torch", "1"), &two);
    assert_eq!(found(&evaluation, Code::CpuOnlyBuild).len(), 1);
    assert!(
        evaluation
            .matrix
            .iter()
            .all(|row| row.verdict.id() == "fail")
    );
}

#[test]
fn an_expected_package_of_a_directory_has_a_row_without_any_library() {
    let site = dir("site-packages")
        .of("cupy", lib("cupy/a.so").fatbin("sm_80 sm_90", 3))
        .package("torch")
        .package("numpy");
    let evaluation = check(&site, &expecting("torch"));
    let names: Vec<_> = evaluation
        .matrix
        .iter()
        .map(|row| {
            (
                row.package.as_ref().unwrap().name.as_str(),
                row.verdict.id(),
            )
        })
        .collect();
    assert_eq!(names, [("cupy", "pass"), ("torch", "fail")]);
    assert_eq!(outcome(&evaluation), "fail cpu-only-build");
}

#[test]
fn a_source_distribution_is_said_to_be_built_at_install() {
    let evaluation = check(&sdist("flash_attn", "2.8.3"), &on("H100", "R580"));
    assert_eq!(outcome(&evaluation), "pass built-at-install");
    let finding = only(&evaluation, Code::BuiltAtInstall);
    assert_eq!(
        finding.package.as_ref().unwrap().to_string(),
        "flash_attn 2.8.3"
    );
    let evaluation = check(&wheel("flash_attn", "2.8.3"), &on("H100", "R580"));
    assert!(found(&evaluation, Code::BuiltAtInstall).is_empty());
}

// tensorflow 2.20.0: 1,149 PTX entries filed as compute_90 whose text says sm_90a.
#[test]
fn headers_that_lie_are_said_and_not_believed() {
    let tensorflow = wheel("tensorflow", "2.20.0").with(lib("tensorflow/libx.so").filed_under(
        "compute_90@8.0",
        "compute_90a@8.0",
        1149,
    ));
    let evaluation = check(&tensorflow, &on("B200", "R580"));
    assert_eq!(
        outcome(&evaluation),
        "fail no-kernel-image ptx-header-mismatch"
    );
    let finding = only(&evaluation, Code::PtxHeaderMismatch);
    assert!(
        finding.message.starts_with("1149 device images"),
        "{}",
        finding.message
    );
    assert_eq!(
        finding.evidence,
        ["1149 ptx: header says compute_90 with PTX 8.0, the code is compute_90a with PTX 8.0"]
    );
    assert_eq!(finding.target, None);
    let evaluation = check(&tensorflow, &on("H100", "R580"));
    assert_eq!(outcome(&evaluation), "pass jit-only ptx-header-mismatch");
    // in a library of NVIDIA's that it carries: not the package's business
    let carried = wheel("pkg", "1.0").with(
        lib("pkg/libnvjpeg.so.12")
            .filed_under("sm_80", "sm_90", 1)
            .carried("nvjpeg"),
    );
    assert_eq!(outcome(&check(&carried, &on("H100", "R580"))), "pass");
}

#[test]
fn unused_architectures_are_counted_in_megabytes_of_machine_code() {
    let input = wheel("pkg", "1.0").with(
        lib("pkg/a.so")
            .fatbin("sm_70", 1)
            .bytes(3_000_000)
            .fatbin("sm_80", 1)
            .bytes(5_000_000)
            .fatbin("sm_90", 1)
            .bytes(2_000_000)
            .fatbin("compute_90@8.0", 1)
            .bytes(9_000_000),
    );
    let evaluation = check(&input, &on("H100", "R580"));
    let finding = only(&evaluation, Code::UnusedArchitectures);
    assert_eq!(
        finding.message,
        "8.0 MB of 10.0 MB of machine code is for GPUs that no target has"
    );
    assert_eq!(finding.evidence, ["sm_70: 3.0 MB", "sm_80: 5.0 MB"]);
    assert_eq!(
        (finding.level, evaluation.verdict.id()),
        (Level::Allow, "pass")
    );
    // used by one target of several; what may run there is used
    let evaluation = check(&input, &on("H100, A10, V100", "R550"));
    assert!(found(&evaluation, Code::UnusedArchitectures).is_empty());
    let evaluation = check(&input, &on("9.0, 8.7, 7.2", "R550"));
    assert!(found(&evaluation, Code::UnusedArchitectures).is_empty());
}

fn damaged() -> Input {
    wheel("torch", "2.9.1").with(so()).problem(
        ProblemKind::MalformedFatbin,
        "torch/_D.so",
        Some(0x10),
        Extent::Part,
    )
}

// SEMANTICS.md: what could not be read makes the verdict incomplete, unless the policy accepts it.
#[test]
fn what_could_not_be_read_is_incomplete_by_default() {
    for (levels, expected) in [
        ("", "incomplete unreadable"),
        (
            "levels: {unreadable: incomplete}\n",
            "incomplete unreadable",
        ),
        ("levels: {unreadable: warn}\n", "pass unreadable"),
        ("levels: {unreadable: deny}\n", "fail unreadable"),
    ] {
        let evaluation = check(&damaged(), &(on("H100", "R580") + levels));
        assert_eq!(outcome(&evaluation), expected, "{levels}");
        assert_eq!(evaluation.matrix[0].verdict, evaluation.verdict);
    }
    let evaluation = check(&damaged(), &on("H100", "R580"));
    let finding = only(&evaluation, Code::Unreadable);
    assert_eq!(finding.package.as_ref().unwrap().name, "torch");
    assert_eq!(finding.library.as_deref(), Some("torch/_D.so"));
    assert_eq!(finding.message, "it is cut");
    assert_eq!(
        finding.evidence,
        ["malformed-fatbin at torch/_D.so @0x10; not seen: part of the file"]
    );
}

// A policy may accept that a part was not read; a wheel of which nothing was read is never a pass.
#[test]
fn accepting_what_is_unreadable_passes_no_artifact_that_nobody_read() {
    let accepting = on("H100", "R580") + "levels: {unreadable: warn}\n";
    let cut = wheel("torch", "1")
        .problem(ProblemKind::Truncated, "", None, Extent::Artifact)
        .unread();
    let evaluation = check(&cut, &accepting);
    assert_eq!(outcome(&evaluation), "incomplete unreadable");
    assert_eq!(evaluation.matrix[0].verdict.id(), "incomplete");
    let waived =
        on("H100", "R580") + "waivers: [{rule: unreadable, reason: r, until: 2027-03-01}]\n";
    assert_eq!(check(&cut, &waived).verdict.id(), "incomplete");
}

// Order: pass < incomplete < fail.
#[test]
fn a_failure_beside_something_unreadable_is_a_failure() {
    let evaluation = check(&damaged(), &on("B200", "R580"));
    assert_eq!(outcome(&evaluation), "fail no-kernel-image unreadable");
    let nothing = wheel("torch", "1").problem(ProblemKind::Truncated, "", None, Extent::Artifact);
    let evaluation = check(&nothing, &on("H100", "R580"));
    assert_eq!(outcome(&evaluation), "incomplete unreadable");
    let finding = only(&evaluation, Code::Unreadable);
    assert_eq!(finding.library, None);
    assert_eq!(
        finding.evidence,
        ["truncated at torch-1; not seen: the artifact"]
    );
    let evaluation = check(&nothing, &expecting("torch"));
    assert_eq!(evaluation.verdict.id(), "fail");
    assert_eq!(
        only(&evaluation, Code::CpuOnlyBuild).message,
        "`torch` is without CUDA device code in what could be read of it, and the policy expects GPU code"
    );
}

#[test]
fn a_problem_of_a_single_file_names_the_file() {
    let one =
        file("build/x.fatbin").problem(ProblemKind::MalformedFatbin, "", Some(0), Extent::Part);
    let evaluation = check(&one, &on("H100", "R580"));
    assert_eq!(
        only(&evaluation, Code::Unreadable).library.as_deref(),
        Some("x.fatbin")
    );
}

#[test]
fn an_archive_that_is_named_and_not_opened_is_not_judged() {
    let evaluation = check(&file("x.tar.bz2").unopened(1), &on("H100", "R580"));
    assert_eq!(outcome(&evaluation), "incomplete unreadable");
    let sources_alone = dir("dist").unopened(10);
    let evaluation = check(&sources_alone, &on("H100", "R580"));
    assert_eq!(
        outcome(&evaluation),
        "incomplete unreadable",
        "10 of 10 files"
    );
    for quiet in [
        wheel("pkg", "1.0").unopened(3),
        dir("site-packages").unopened(3),
        file("x.so"),
    ] {
        assert_eq!(outcome(&check(&quiet, &on("H100", "R580"))), "pass");
    }
}

#[test]
fn each_input_is_judged_by_itself() {
    let good = wheel("good", "1.0").with(lib("good/a.so").fatbin("sm_80 sm_90", 3));
    let bad = wheel("bad", "1.0").with(lib("bad/a.so").fatbin("sm_70 sm_80", 3));
    let inventory = Input::inventory_of([bad, damaged(), good]);
    let evaluation = judge(&inventory, &on("H100", "R580"));
    let rows: Vec<_> = evaluation
        .matrix
        .iter()
        .map(|row| row.verdict.id())
        .collect();
    assert_eq!(rows, ["fail", "incomplete", "pass"]);
    assert_eq!(evaluation.verdict.id(), "fail");
    let inputs: Vec<_> = evaluation
        .artifacts
        .iter()
        .map(|judged| judged.input.as_str())
        .collect();
    assert_eq!(inputs, ["bad-1.0", "torch-2.9.1", "good-1.0"]);
}

#[test]
fn a_machine_that_nobody_looked_at_passes_nothing() {
    let input = wheel("p", "1.0").with(lib("a.so").fatbin("sm_90", 3));
    let evaluation = check(
        &input,
        "version: 1\ntargets: [{name: t, gpu: H100, platform: linux/amd64}, {name: here, host: true}]\n\
         levels: {driver-not-given: allow}\n",
    );
    let verdicts: Vec<Verdict> = evaluation.matrix.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Incomplete]);
    assert_eq!(evaluation.verdict, Verdict::Incomplete);
}
