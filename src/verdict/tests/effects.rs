//! What a policy makes of findings: levels, `--fail-on warn`, and the order of everything.

use super::build::{Input, dir, lib, wheel};
use super::{check, judge, on, outcome};
use crate::inventory::Inventory;
use crate::policy::Policy;
use crate::problem::{Extent, ProblemKind};
use crate::rule::{Code, Level};
use crate::tables::Tables;
use crate::verdict::{EvaluateOptions, Evaluation, Verdict, evaluate};

fn jit() -> Input {
    wheel("pkg", "1.0").with(lib("pkg/a.so").fatbin("sm_70 compute_70@7.0", 3))
}

fn failing_on_warn(inventory: &Inventory, policy: &str) -> Evaluation {
    let policy = Policy::parse("smgate.yaml", policy, Tables::builtin()).unwrap();
    let options = EvaluateOptions {
        today: "2027-01-15".parse().unwrap(),
        fail_on_warn: true,
    };
    evaluate(inventory, &policy, Tables::builtin(), options)
}

#[test]
fn levels_of_the_policy_replace_the_defaults() {
    for (levels, expected) in [
        ("", "pass jit-only"),
        ("levels: {jit-only: deny}\n", "fail jit-only"),
        ("levels: {jit-only: allow}\n", "pass"),
        ("levels: {no-kernel-image: allow}\n", "pass jit-only"),
    ] {
        let evaluation = check(&jit(), &(on("H100", "R580") + levels));
        assert_eq!(outcome(&evaluation), expected, "{levels}");
    }
    let lacking = wheel("pkg", "1.0").with(lib("pkg/a.so").fatbin("sm_70 sm_80", 3));
    for (levels, expected) in [
        ("", "fail no-kernel-image"),
        ("levels: {no-kernel-image: warn}\n", "pass no-kernel-image"),
        ("levels: {no-kernel-image: allow}\n", "pass"),
    ] {
        let evaluation = check(&lacking, &(on("H100", "R580") + levels));
        assert_eq!(outcome(&evaluation), expected, "{levels}");
    }
}

// A threshold of the policy denies even where partial coverage as such is only noted.
#[test]
fn a_missed_threshold_denies_whatever_the_level_of_the_rule() {
    let input = wheel("pkg", "1.0").with(
        lib("pkg/a.so")
            .fatbin("sm_80 sm_90", 8)
            .fatbin("sm_80 sm_86", 2),
    );
    for (policy, expected) in [
        (
            "thresholds: {partial-coverage: 0.8}\n",
            "pass partial-coverage",
        ),
        (
            "thresholds: {partial-coverage: 0.9}\n",
            "fail partial-coverage",
        ),
        (
            "thresholds: {partial-coverage: 0.9}\nlevels: {partial-coverage: allow}\n",
            "fail partial-coverage",
        ),
        (
            "thresholds: {partial-coverage: 0.8}\nlevels: {partial-coverage: allow}\n",
            "pass",
        ),
        (
            "levels: {partial-coverage: deny}\n",
            "fail partial-coverage",
        ),
    ] {
        let evaluation = check(&input, &(on("H100", "R580") + policy));
        assert_eq!(outcome(&evaluation), expected, "{policy}");
    }
}

#[test]
fn warnings_fail_where_the_run_says_so() {
    let inventory = jit().inventory();
    let evaluation = failing_on_warn(&inventory, &on("H100", "R580"));
    assert_eq!(outcome(&evaluation), "fail jit-only");
    assert_eq!(evaluation.matrix[0].verdict, Verdict::Fail);
    let remark = wheel("pkg", "1.0").with(lib("pkg/a.so").fatbin("sm_80 sm_90", 3));
    let evaluation = failing_on_warn(&remark.inventory(), &on("H100", "R580"));
    assert_eq!(outcome(&evaluation), "pass", "remarks are no warnings");
    let allowed = on("H100", "R580") + "levels: {jit-only: allow}\n";
    let evaluation = failing_on_warn(&inventory, &allowed);
    assert_eq!(outcome(&evaluation), "pass");
    // a warning about the policy itself fails the run and no row
    let unused = on("H100", "R580")
        + "levels: {jit-only: allow}\nwaivers: [{rule: link-only, reason: r, until: 2027-03-01}]\n";
    let evaluation = failing_on_warn(&inventory, &unused);
    assert_eq!(outcome(&evaluation), "fail waiver-unused");
    assert_eq!(evaluation.matrix[0].verdict, Verdict::Pass);
}

#[test]
fn verdicts_are_ordered_pass_incomplete_fail() {
    assert!(Verdict::Pass < Verdict::Incomplete && Verdict::Incomplete < Verdict::Fail);
    for (level, fail_on_warn, expected) in [
        (Level::Allow, false, Verdict::Pass),
        (Level::Warn, false, Verdict::Pass),
        (Level::Incomplete, false, Verdict::Incomplete),
        (Level::Deny, false, Verdict::Fail),
        (Level::Allow, true, Verdict::Pass),
        (Level::Warn, true, Verdict::Fail),
        (Level::Incomplete, true, Verdict::Incomplete),
        (Level::Deny, true, Verdict::Fail),
    ] {
        assert_eq!(Verdict::of_level(level, fail_on_warn), expected, "{level}");
    }
}

#[test]
fn a_finding_counts_for_its_package_and_target_only() {
    let site = dir("site-packages")
        .of("a", lib("a/a.so").fatbin("sm_80 sm_90", 3))
        .of("b", lib("b/b.so").fatbin("sm_70 sm_80", 3));
    let policy = on("H100", "R580") + "  - {name: u, gpu: A100, driver: R580}\n";
    let evaluation = check(&site, &policy);
    let rows: Vec<_> = evaluation
        .matrix
        .iter()
        .map(|row| {
            let package = row.package.as_ref().unwrap().name.as_str();
            (package, row.target.as_str(), row.verdict.id())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("a", "t", "pass"),
            ("a", "u", "pass"),
            ("b", "t", "fail"),
            ("b", "u", "pass"),
        ]
    );
    // what could not be read may belong to any of them
    let damaged = site.problem(ProblemKind::Io, "c.so", None, Extent::Member);
    let evaluation = check(&damaged, &policy);
    let verdicts: Vec<_> = evaluation
        .matrix
        .iter()
        .map(|row| row.verdict.id())
        .collect();
    assert_eq!(verdicts, ["incomplete", "incomplete", "fail", "incomplete"]);
}

// README, JSON: equal inputs give equal bytes. Sorted by argument, package, level, library, code, target as listed.
#[test]
fn findings_come_in_the_order_of_reports() {
    let first = wheel("pkg", "1.0")
        .with(lib("pkg/b.so").fatbin("sm_70 compute_70@7.0", 9))
        .with(lib("pkg/a.so").fatbin("sm_70 sm_80", 3));
    let second = wheel("other", "1.0").with(lib("a.so").fatbin("sm_70 sm_80", 3));
    let policy = on("H100, B200", "") + "  - {name: s, gpu: H200}\n";
    let evaluation = judge(&Input::inventory_of([first, second]), &policy);
    let order: Vec<(usize, Code, &str, &str)> = evaluation
        .findings
        .iter()
        .filter(|finding| finding.level > Level::Allow)
        .map(|finding| {
            (
                finding.artifact.unwrap(),
                finding.code,
                finding.target.as_deref().unwrap_or_default(),
                finding.gpu.as_deref().unwrap_or_default(),
            )
        })
        .collect();
    let lacks = Code::NoKernelImage;
    assert_eq!(
        order,
        [
            (0, lacks, "t", "B200 (10.0)"),
            (0, lacks, "t", "H100 (9.0)"),
            (0, lacks, "s", "H200 (9.0)"),
            (0, Code::DriverNotGiven, "t", ""),
            (0, Code::DriverNotGiven, "s", ""),
            (0, Code::JitOnly, "t", "B200 (10.0)"),
            (0, Code::JitOnly, "t", "H100 (9.0)"),
            (0, Code::JitOnly, "s", "H200 (9.0)"),
            (1, lacks, "t", "B200 (10.0)"),
            (1, lacks, "t", "H100 (9.0)"),
            (1, lacks, "s", "H200 (9.0)"),
            (1, Code::DriverNotGiven, "t", ""),
            (1, Code::DriverNotGiven, "s", ""),
        ]
    );
    let rows: Vec<_> = evaluation
        .matrix
        .iter()
        .map(|row| (row.artifact, row.target.as_str()))
        .collect();
    assert_eq!(
        rows,
        [(0, "t"), (0, "s"), (1, "t"), (1, "s")],
        "as the policy lists them"
    );
}

#[test]
fn every_finding_says_what_to_do() {
    let inputs = [
        jit(),
        wheel("pkg", "1.0").with(lib("pkg/a.so").fatbin("sm_70 sm_80+zstd", 3)),
        wheel("pkg", "1.0").with(lib("pkg/a.so").fatbin("sm_90a", 3).needs("libcudart.so.13")),
    ];
    for input in inputs {
        for (gpu, driver) in [
            ("H100", "R450"),
            ("B200", ""),
            ("8.7", "R535"),
            ("10.7", "R535"),
        ] {
            for finding in check(&input, &on(gpu, driver)).findings {
                assert!(!finding.message.is_empty() && !finding.next_step.is_empty());
                let text = format!("{} {}", finding.message, finding.next_step);
                assert!(!text.contains("  ") && !text.ends_with('.'), "{text}");
            }
        }
    }
}
