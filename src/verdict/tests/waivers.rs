//! Waivers: what they accept, when they end, what is said of those that do nothing.

use super::build::{Input, dir, lib, sdist, wheel};
use super::{check, found, on, only, outcome};
use crate::problem::{Extent, ProblemKind};
use crate::rule::{Code, Level};
use crate::verdict::Verdict;

/// torch 2.15.0: 1 of 33 fatbins of the linalg library covers `sm_75`.
fn torch() -> Input {
    wheel("torch", "2.15.0+cu132")
        .with(lib("torch/lib/libtorch_cuda.so").fatbin("sm_75 sm_80 sm_90", 400))
        .with(
            lib("torch/lib/libtorch_cuda_linalg.so")
                .fatbin("sm_75 sm_80", 1)
                .fatbin("sm_80 sm_90", 32),
        )
}

fn policy(waiver: &str) -> String {
    on("T4", "R580")
        + "levels: {partial-coverage: deny}\nwaivers:\n  - {reason: not called, "
        + waiver
        + "}\n"
}

#[test]
fn a_waiver_accepts_what_it_names_and_nothing_else() {
    for (waiver, expected) in [
        ("rule: partial-coverage, until: 2027-03-01", "pass"),
        (
            "rule: partial-coverage, package: torch, until: 2027-03-01",
            "pass",
        ),
        (
            "rule: partial-coverage, package: torch, version: \"2.15.*\", library: \"**/libtorch_cuda_linalg.so\", targets: [t], until: 2027-03-01",
            "pass",
        ),
        (
            "rule: partial-coverage, package: torch, version: \"2.16.*\", until: 2027-03-01",
            "fail partial-coverage waiver-unused",
        ),
        (
            "rule: partial-coverage, package: torchvision, until: 2027-03-01",
            "fail partial-coverage waiver-unused",
        ),
        (
            "rule: partial-coverage, library: \"**/libtorch_cuda.so\", until: 2027-03-01",
            "fail partial-coverage waiver-unused",
        ),
        (
            "rule: no-kernel-image, until: 2027-03-01",
            "fail partial-coverage waiver-unused",
        ),
        // through its last day
        ("rule: partial-coverage, until: 2027-01-15", "pass"),
        (
            "rule: partial-coverage, until: 2027-01-14",
            "fail partial-coverage waiver-expired",
        ),
        (
            "rule: link-only, until: 2027-01-14",
            "fail partial-coverage waiver-expired",
        ),
    ] {
        let evaluation = check(&torch(), &policy(waiver));
        assert_eq!(outcome(&evaluation), expected, "{waiver}");
    }
    let evaluation = check(
        &torch(),
        &policy("rule: partial-coverage, until: 2027-03-01"),
    );
    let finding = only(&evaluation, Code::PartialCoverage);
    let waived = finding.waived.as_ref().unwrap();
    assert_eq!(
        (waived.reason.as_str(), waived.until.as_deref()),
        ("not called", Some("2027-03-01"))
    );
    assert_eq!(evaluation.matrix[0].verdict, Verdict::Pass);
}

#[test]
fn a_waiver_is_for_the_targets_that_it_names() {
    let text = policy("rule: partial-coverage, targets: [t], until: 2027-03-01")
        .replace("levels", "  - {name: u, gpu: T4, driver: R580}\nlevels");
    let evaluation = check(&torch(), &text);
    assert_eq!(outcome(&evaluation), "fail partial-coverage");
    let verdicts: Vec<_> = evaluation.matrix.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail]);
}

#[test]
fn findings_about_waivers_are_about_the_policy() {
    let text = policy("rule: link-only, until: 2027-01-14")
        + "  - {rule: ptx-too-new, reason: old pool, until: 2027-02-01}\n";
    let evaluation = check(&torch(), &text);
    let expired = only(&evaluation, Code::WaiverExpired);
    assert_eq!(
        expired.message,
        "the waiver of `link-only` ended on 2027-01-14"
    );
    assert_eq!((expired.artifact, expired.level), (None, Level::Warn));
    assert!(
        expired.evidence[0].starts_with("smgate.yaml, line "),
        "{expired:?}"
    );
    assert!(
        expired
            .evidence
            .iter()
            .any(|line| line.contains("not called"))
    );
    let unused = only(&evaluation, Code::WaiverUnused);
    assert!(unused.message.contains("`ptx-too-new`"), "{unused:?}");
    let strict = text.replace("{partial-coverage: deny}", "{waiver-unused: deny}");
    let evaluation = check(&torch(), &strict);
    assert_eq!(evaluation.verdict, Verdict::Fail);
    assert_eq!(evaluation.matrix[0].verdict, Verdict::Pass);
}

#[test]
fn two_waivers_may_accept_one_finding() {
    let text = policy("rule: partial-coverage, until: 2027-03-01")
        + "  - {rule: partial-coverage, package: torch, reason: again, until: 2027-02-01}\n";
    let evaluation = check(&torch(), &text);
    assert_eq!(outcome(&evaluation), "pass", "neither is unused");
    let waived = only(&evaluation, Code::PartialCoverage)
        .waived
        .as_ref()
        .unwrap();
    assert_eq!(waived.reason, "not called", "the first of the file");
}

// SEMANTICS.md: a problem can only be accepted by policy, with `unreadable: warn` or a waiver with a reason.
#[test]
fn a_problem_is_waived_by_package_and_library() {
    let damaged = || {
        wheel("torch", "2.9.1")
            .with(lib("torch/lib/a.so").fatbin("sm_80 sm_90", 3))
            .problem(
                ProblemKind::MalformedFatbin,
                "torch/lib/b.so",
                Some(0x4_98c7),
                Extent::Part,
            )
    };
    let waived = |waiver: &str| {
        let text = on("H100", "R580")
            + "waivers:\n  - {rule: unreadable, reason: known, "
            + waiver
            + ", until: 2027-03-01}\n";
        outcome(&check(&damaged(), &text))
    };
    for waiver in [
        "package: torch",
        "package: torch, version: \"2.9.*\", library: \"torch/lib/b.so\"",
        "library: b.so",
        "library: \"**/b.so\"",
    ] {
        assert_eq!(waived(waiver), "pass", "{waiver}");
    }
    for waiver in [
        "package: numpy",
        "library: a.so",
        "library: \"**/b.so\", targets: [t]",
    ] {
        assert_eq!(
            waived(waiver),
            "incomplete unreadable waiver-unused",
            "{waiver}"
        );
    }
    // a problem of the archive as a whole is no library's
    let whole = wheel("torch", "2.9.1").problem(ProblemKind::Truncated, "", None, Extent::Artifact);
    let text = on("H100", "R580")
        + "waivers:\n  - {rule: unreadable, library: \"**\", reason: r, until: 2027-03-01}\n";
    assert_eq!(
        outcome(&check(&whole, &text)),
        "incomplete unreadable waiver-unused"
    );
}

#[test]
fn a_nested_member_and_an_odd_name_are_waived_by_the_name_that_reports_show() {
    for (member, offset, library) in [
        ("inner.whl › x/a.so", Some(0x10), "**/a.so"),
        ("x/a.so @0xzz", None, "x/a.so @0xzz"),
        ("x/a @0x10.so", Some(0x20), "x/a @0x10.so"),
    ] {
        let input =
            wheel("pkg", "1.0").problem(ProblemKind::CorruptData, member, offset, Extent::Member);
        let evaluation = check(&input, &on("H100", "R580"));
        let shown = only(&evaluation, Code::Unreadable).library.clone();
        let text = on("H100", "R580")
            + "waivers:\n  - {rule: unreadable, library: \""
            + library
            + "\", reason: r, until: 2027-03-01}\n";
        assert_eq!(
            outcome(&check(&input, &text)),
            "pass",
            "{member}: {shown:?}"
        );
    }
}

#[test]
fn rules_of_other_kinds_are_waived_too() {
    let text = |rule: &str| {
        on("H100", "R580")
            + "expect-gpu: [\"*\"]\nlevels: {built-at-install: deny}\nwaivers:\n  - {rule: "
            + rule
            + ", package: pkg, reason: r, until: 2027-03-01}\n"
    };
    for (rule, input) in [
        ("built-at-install", sdist("pkg", "1.0")),
        ("cpu-only-build", wheel("pkg", "1.0")),
        (
            "platform-mismatch",
            wheel("pkg", "1.0")
                .tags("windows/amd64")
                .with(lib("a.dll").windows().fatbin("sm_80 sm_90", 1)),
        ),
        (
            "driver-too-old",
            wheel("pkg", "1.0").with(
                lib("a.so")
                    .fatbin("sm_80 sm_90", 1)
                    .needs("libcudart.so.14"),
            ),
        ),
    ] {
        let evaluation = check(&input, &text(rule));
        // no runtime of CUDA 14 is known, so that last waiver has nothing to accept
        let expected = if rule == "driver-too-old" {
            "pass waiver-unused"
        } else {
            "pass"
        };
        assert_eq!(outcome(&evaluation), expected, "{rule}");
    }
}

#[test]
fn a_waiver_covers_every_gpu_of_a_target_and_every_package_that_fits() {
    let site = dir("site-packages")
        .of("mypkg-a", lib("a/a.so").fatbin("sm_70 sm_80", 3))
        .of("mypkg-b", lib("b/b.so").fatbin("sm_70 sm_80", 3));
    let text = on("H100, B200", "R580")
        + "waivers:\n  - {rule: no-kernel-image, package: \"mypkg-*\", reason: r, until: 2027-03-01}\n";
    let evaluation = check(&site, &text);
    assert_eq!(outcome(&evaluation), "pass");
    assert_eq!(found(&evaluation, Code::NoKernelImage).len(), 4);
}
