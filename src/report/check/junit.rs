//! A report of tests: a suite for each artifact, a case for each package on each target.
//!
//! A case fails where something is denied and is an error where something could not be read. What is said of an
//! artifact as a whole, and of the policy, is a case of its own, so that it is said once. There is no time in it.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::escape::visible;
use crate::report::Checked;
use crate::rule::Level;
use crate::verdict::{Evaluation, Finding, Judged, Row, RowIndex, Verdict};

use super::words::{cannot_judge, has_effect, judged_by, lines, subject};

/// Findings of a case.
type Findings<'e> = Vec<&'e Finding>;

/// Writes the report.
pub(in crate::report) fn write(checked: Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let evaluation = checked.evaluation;
    let index = RowIndex::new(&evaluation.matrix);
    let mut of_rows: Vec<Findings<'_>> = vec![Vec::new(); evaluation.matrix.len()];
    let mut of_artifacts: Vec<Findings<'_>> = vec![Vec::new(); evaluation.artifacts.len()];
    let mut of_policy = Vec::new();
    for finding in &evaluation.findings {
        let is_of_a_part = finding.package.is_some() || finding.target.is_some();
        let mut rows = index.concerned(finding).filter(|_| is_of_a_part).peekable();
        if rows.peek().is_none() {
            let of = finding
                .artifact
                .and_then(|index| of_artifacts.get_mut(index));
            of.unwrap_or(&mut of_policy).push(finding);
        }
        for row in rows {
            if let Some(of_row) = of_rows.get_mut(row) {
                of_row.push(finding);
            }
        }
    }
    let mut report = Report::new("smgate");
    for (at, artifact) in evaluation.artifacts.iter().enumerate() {
        let mut suite = TestSuite::new(shown(&artifact.input));
        let rows = evaluation.matrix.iter().zip(&of_rows);
        let rows: Vec<_> = rows.filter(|(row, _)| row.artifact == at).collect();
        let whole = of_artifacts.get(at).into_iter().flatten();
        let whole: Findings<'_> = whole.copied().filter(|one| is_shown(one)).collect();
        if rows.is_empty() || !whole.is_empty() {
            suite.add_test_case(case_of_artifact(
                artifact,
                &whole,
                rows.is_empty(),
                evaluation,
            ));
        }
        for (row, findings) in rows {
            suite.add_test_case(case_of_row(row, artifact, findings, evaluation));
        }
        report.add_test_suite(suite);
    }
    if !of_policy.is_empty() {
        let mut suite = TestSuite::new(shown(&judged_by(evaluation)));
        for finding in of_policy {
            let findings = &[finding][..];
            let verdict = worst(findings, evaluation);
            let place = finding.place.as_ref().map(|place| format!(" ({place})"));
            let name = format!("{}{}", finding.code, place.unwrap_or_default());
            suite.add_test_case(case(&name, "policy", verdict, findings, evaluation));
        }
        report.add_test_suite(suite);
    }
    if let Some(why) = cannot_judge(checked) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("unreadable");
        status.set_message(why);
        let mut suite = TestSuite::new("smgate");
        suite.add_test_case(TestCase::new("all inputs", status));
        report.add_test_suite(suite);
    }
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(without_skipped(&text).as_bytes())
}

/// The report without the count of skipped cases at its root, where the schema that Jenkins checks by has none. No
/// case is ever skipped.
fn without_skipped(text: &str) -> String {
    text.replacen(" skipped=\"0\"", "", 1)
}

/// A package on a target.
fn case_of_row(
    row: &Row,
    artifact: &Judged,
    findings: &[&Finding],
    evaluation: &Evaluation,
) -> TestCase {
    let package = match &row.package {
        Some(package) => package.to_string(),
        None => "files of no package".to_owned(),
    };
    let name = format!("{package} on {}", row.target);
    case(&name, &artifact.input, row.verdict, findings, evaluation)
}

/// What is said of an artifact as a whole; all of it where it has no packages.
fn case_of_artifact(
    artifact: &Judged,
    findings: &[&Finding],
    is_all: bool,
    evaluation: &Evaluation,
) -> TestCase {
    let verdict = if is_all {
        artifact.verdict
    } else {
        worst(findings, evaluation)
    };
    let name = "the input as a whole";
    case(name, &artifact.input, verdict, findings, evaluation)
}

/// Remarks are not for CI.
fn is_shown(finding: &Finding) -> bool {
    finding.level > Level::Allow
}

fn worst(findings: &[&Finding], evaluation: &Evaluation) -> Verdict {
    let counted = findings.iter().filter(|finding| finding.counts());
    counted
        .map(|finding| Verdict::of_level(finding.level, evaluation.fail_on_warn))
        .max()
        .unwrap_or(Verdict::Pass)
}

fn case(
    name: &str,
    class: &str,
    verdict: Verdict,
    findings: &[&Finding],
    evaluation: &Evaluation,
) -> TestCase {
    let fails = |finding: &&Finding| has_effect(finding, evaluation);
    let (mut failing, other): (Findings<'_>, Findings<'_>) =
        findings.iter().copied().partition(fails);
    failing.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    let mut status = match verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Incomplete => TestCaseStatus::non_success(NonSuccessKind::Error),
        Verdict::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    if verdict != Verdict::Pass {
        if let Some(first) = failing.first() {
            status.set_type(first.code.id());
            let more = match failing.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            status.set_message(shown(&format!("{}{more}", first.message)));
            status.set_description(text(&failing, evaluation));
        } else {
            // of the artifact as a whole, or of the machine that checks
            status.set_type("incomplete");
            status.set_message(
                "what it holds could not be judged: see the case of the input as a whole",
            );
        }
    }
    let mut case = TestCase::new(shown(name), status);
    case.set_classname(shown(class));
    let other: Findings<'_> = other.into_iter().filter(|one| is_shown(one)).collect();
    if !other.is_empty() {
        case.set_system_out(text(&other, evaluation));
    }
    case
}

/// All that findings say.
fn text(findings: &[&Finding], evaluation: &Evaluation) -> String {
    let mut text: Vec<String> = Vec::new();
    for finding in findings {
        let line = finding.line.map(|line| format!(" (line {line})"));
        let about = subject(finding, evaluation).map(|about| format!(" {about}"));
        if !text.is_empty() {
            text.push(String::new());
        }
        text.push(shown(&format!(
            "{} {}{}{}",
            finding.level,
            finding.code,
            about.unwrap_or_default(),
            line.unwrap_or_default()
        )));
        text.extend(lines(finding).iter().map(|line| shown(line)));
    }
    text.join("\n")
}

fn shown(text: &str) -> String {
    visible(text).into_owned()
}
