//! Baselines: what is known is accepted, what is new is not.

use super::build::{Input, file, lib, wheel};
use super::{found, on, only, outcome};
use crate::policy::Policy;
use crate::problem::{Extent, ProblemKind};
use crate::rule::{Code, Level};
use crate::tables::Tables;
use crate::verdict::{Baseline, EvaluateOptions, Evaluation, Verdict, evaluate_new};

fn judge(inputs: &[Input], policy: &str, baseline: Option<&Baseline>) -> Evaluation {
    let tables = Tables::builtin();
    let policy = Policy::parse("smgate.yaml", policy, tables)
        .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let options = EvaluateOptions {
        today: "2027-01-15".parse().unwrap(),
        fail_on_warn: true,
    };
    let inventory = Input::inventory_of(inputs.iter().cloned());
    evaluate_new(&inventory, &policy, tables, options, baseline)
}

/// The baseline of what is there now, through its file.
fn baseline(inputs: &[Input], policy: &str) -> Baseline {
    let text = Baseline::of("known.json", &judge(inputs, policy, None))
        .to_json()
        .unwrap();
    Baseline::from_json("known.json", &text).unwrap()
}

/// Nothing for a B200 in `name`, and half of another library for nobody.
fn old(name: &str, version: &str) -> Input {
    wheel(name, version)
        .with(lib("m/a.so").fatbin("sm_80 sm_90", 10))
        .with(lib("m/b.so").fatbin("sm_80 sm_90", 3))
}

fn b200() -> String {
    on("B200", "R580")
}

#[test]
fn what_is_known_passes_and_what_is_new_fails() {
    let known = baseline(&[old("pkg", "1.0")], &b200());
    assert_eq!(known.len(), 2);
    let same = judge(&[old("pkg", "1.0")], &b200(), Some(&known));
    assert_eq!(outcome(&same), "pass");
    let waived = only(
        &judge(
            &[wheel("pkg", "1.0").with(lib("m/a.so").fatbin("sm_80 sm_90", 10))],
            &b200(),
            Some(&known),
        ),
        Code::NoKernelImage,
    )
    .waived
    .clone()
    .unwrap();
    assert_eq!(waived.reason, "known: it is in the baseline known.json");
    assert_eq!(waived.until, None);
    // a library that was not there
    let more = old("pkg", "1.0").with(lib("m/c.so").fatbin("sm_80", 1));
    let evaluation = judge(&[more], &b200(), Some(&known));
    assert_eq!(evaluation.verdict, Verdict::Fail);
    let new: Vec<_> = evaluation.findings.iter().filter(|f| f.counts()).collect();
    assert_eq!(new[0].library.as_deref(), Some("m/c.so"));
    // a target, and a GPU, that were not there
    for policy in [
        b200() + "  - {name: u, gpu: B200, driver: R580}\n",
        on("B200, RTX 5090", "R580"),
    ] {
        assert_eq!(
            judge(&[old("pkg", "1.0")], &policy, Some(&known)).verdict,
            Verdict::Fail
        );
    }
}

#[test]
fn order_versions_and_other_packages_do_not_matter() {
    let inputs = [old("pkg", "1.0"), old("other", "2.0")];
    let known = baseline(&inputs, &b200());
    let changed = [old("Other", "2.1"), old("pkg", "1.0.post1")];
    assert_eq!(outcome(&judge(&changed, &b200(), Some(&known))), "pass");
    // the file too is the same whatever the order
    let reversed = [old("other", "2.0"), old("pkg", "1.0")];
    let text = |inputs: &[Input]| {
        Baseline::of("known.json", &judge(inputs, &b200(), None))
            .to_json()
            .unwrap()
    };
    assert_eq!(text(&inputs), text(&reversed));
}

#[test]
fn what_is_worse_or_more_than_known_is_new() {
    let half = |covered, all| {
        [wheel("pkg", "1.0")
            .with(lib("m/a.so").fatbin("sm_90 sm_100", 100))
            .with(
                lib("m/b.so")
                    .fatbin("sm_90 sm_100", covered)
                    .fatbin("sm_80 sm_90", all - covered),
            )]
    };
    let policy = b200() + "thresholds: {partial-coverage: 0.5}\n";
    let known = baseline(&half(8, 10), &policy);
    assert_eq!(outcome(&judge(&half(6, 10), &policy, Some(&known))), "pass");
    // below the threshold it is denied, and a warning was known
    assert_eq!(
        outcome(&judge(&half(4, 10), &policy, Some(&known))),
        "fail baseline-unused partial-coverage"
    );
}

#[test]
fn entries_that_occur_no_longer_are_reported() {
    let known = baseline(&[old("pkg", "1.0")], &b200());
    let fixed = wheel("pkg", "1.1").with(lib("m/a.so").fatbin("sm_90 sm_100", 10));
    let evaluation = judge(&[fixed], &b200(), Some(&known));
    let unused = only(&evaluation, Code::BaselineUnused);
    assert_eq!(unused.level, Level::Warn);
    assert_eq!(
        unused.evidence,
        [
            "no-kernel-image: pkg, m/a.so, t, B200 (10.0)",
            "no-kernel-image: pkg, m/b.so, t, B200 (10.0)"
        ]
    );
    let quiet = judge(&[old("pkg", "1.0")], &b200(), Some(&known));
    assert!(found(&quiet, Code::BaselineUnused).is_empty());
    let allowed = b200() + "levels: {baseline-unused: allow}\n";
    let evaluation = judge(&[wheel("pkg", "1.1")], &allowed, Some(&known));
    assert_eq!(evaluation.verdict, Verdict::Pass);
}

#[test]
fn what_could_not_be_read_is_never_known() {
    let broken = || {
        [wheel("pkg", "1.0")
            .with(lib("m/a.so").fatbin("sm_100", 3))
            .problem(ProblemKind::Io, "m/b.so", None, Extent::Member)]
    };
    let known = baseline(&broken(), &b200());
    assert!(known.is_empty());
    let evaluation = judge(&broken(), &b200(), Some(&known));
    assert_eq!(evaluation.verdict, Verdict::Incomplete);
    let forged = r#"{"schema": "smgate/baseline/1", "findings": [{"package": "pkg", "input": null,
        "library": "m/b.so", "rule": "unreadable", "target": null, "gpu": null, "level": "incomplete", "count": 1}]}"#;
    let error = Baseline::from_json("known.json", forged).unwrap_err();
    assert!(error.to_string().contains("never in a baseline"), "{error}");
}

#[test]
fn waived_findings_and_remarks_are_not_written_down() {
    let waived = b200() + "waivers: [{rule: no-kernel-image, reason: known, until: 2027-03-01}]\n";
    assert!(baseline(&[old("pkg", "1.0")], &waived).is_empty());
    // `unused-architectures` is only listed
    assert!(
        baseline(
            &[wheel("pkg", "1.0").with(lib("m/a.so").fatbin("sm_80 sm_100", 3))],
            &b200()
        )
        .is_empty()
    );
}

#[test]
fn inputs_that_are_no_package_are_known_by_their_file_name() {
    let input = |path: &str| [file(path).stray(lib("libx.so").fatbin("sm_90", 1))];
    let known = baseline(&input("build/libx.so"), &b200());
    assert_eq!(
        outcome(&judge(&input("out/libx.so"), &b200(), Some(&known))),
        "pass"
    );
    assert_eq!(
        judge(&input("out/liby.so"), &b200(), Some(&known)).verdict,
        Verdict::Fail
    );
}

#[test]
fn texts_that_are_no_baseline_are_refused() {
    for (text, part) in [
        ("", "line 1"),
        ("[]", "line 1"),
        (
            r#"{"schema": "smgate/baseline/2", "findings": []}"#,
            "smgate/baseline/2",
        ),
        (
            r#"{"schema": "smgate/baseline/1", "findings": [{"rule": "x"}]}"#,
            "x",
        ),
    ] {
        let error = Baseline::from_json("known.json", text).unwrap_err();
        assert!(error.to_string().contains(part), "{text}: {error}");
        assert!(error.hint().is_some());
    }
}
