//! The words and the order that several of the reports share.

use std::cmp::Reverse;

use crate::report::Checked;
use crate::report::group::{Group, gather};
use crate::report::human::layer_line;
use crate::rule::{Code, Level};
use crate::verdict::{Evaluation, Finding, Verdict};

/// The findings of an evaluation with their place in it, those first that weigh most; else in the order of reports.
pub(super) fn ranked(evaluation: &Evaluation) -> Vec<(usize, &Finding)> {
    let mut findings: Vec<(usize, &Finding)> = evaluation.findings.iter().enumerate().collect();
    findings.sort_by_key(|(_, finding)| Reverse((finding.counts(), finding.level)));
    findings
}

/// Whether a finding changes the verdict: under `--fail-on warn` a warning does.
pub(super) fn has_effect(finding: &Finding, evaluation: &Evaluation) -> bool {
    finding.counts() && Verdict::of_level(finding.level, evaluation.fail_on_warn) != Verdict::Pass
}

/// What is to be said where nothing could be read and so nothing judged, and no finding says so as an error.
pub(super) fn cannot_judge(checked: Checked<'_>) -> Option<&'static str> {
    let evaluation = checked.evaluation;
    let mut findings = evaluation.findings.iter();
    let is_said = findings.any(|finding| has_effect(finding, evaluation));
    (checked.inventory.is_unread() && !is_said).then_some(
        "nothing could be read, so nothing could be judged, whatever the policy accepts; next: look at what was given",
    )
}

/// The findings that have an effect or a warning, those of an artifact that say the same gathered; those first that weigh
/// most.
pub(super) fn groups(evaluation: &Evaluation) -> Vec<Group<'_>> {
    let shown = evaluation.findings.iter();
    let shown = shown.filter(|finding| finding.counts() && finding.level > Level::Allow);
    // said of every package, it is of the policy
    let (of_policy, shown): (Vec<&Finding>, Vec<&Finding>) =
        shown.partition(|finding| finding.code == Code::DriverNotGiven);
    let of_artifacts = shown.chunk_by(|one, next| one.artifact == next.artifact);
    let mut groups: Vec<Group<'_>> = of_artifacts.flat_map(gather).collect();
    groups.extend(gather(&of_policy));
    groups.sort_by_key(|group| Reverse(group.first.level));
    groups
}

/// The word for the verdict, as people read it.
pub(super) fn verdict(checked: Checked<'_>) -> &'static str {
    match checked.evaluation.verdict {
        _ if cannot_judge(checked).is_some() => "NOT JUDGED",
        Verdict::Pass => "PASS",
        Verdict::Incomplete => "INCOMPLETE",
        Verdict::Fail => "FAIL",
    }
}

/// By what it was judged: `policy smgate.yaml`.
pub(super) fn judged_by(evaluation: &Evaluation) -> String {
    if evaluation.has_targets_by_hand() {
        "targets of the command line".to_owned()
    } else {
        format!("policy {}", evaluation.policy)
    }
}

/// What a finding is about: `torch 2.9.1 › torch/lib/a.so`; the input where that is no package; nothing of the policy.
pub(super) fn subject(finding: &Finding, evaluation: &Evaluation) -> Option<String> {
    let parts = subject_parts(finding, evaluation);
    (!parts.is_empty()).then(|| parts.join(" › "))
}

/// The same in its parts.
pub(super) fn subject_parts(finding: &Finding, evaluation: &Evaluation) -> Vec<String> {
    let artifact = finding
        .artifact
        .and_then(|index| evaluation.artifacts.get(index));
    let of = match &finding.package {
        Some(package) => Some(package.to_string()),
        None => artifact.map(|artifact| artifact.input.clone()),
    };
    of.into_iter().chain(finding.library.clone()).collect()
}

/// The evidence of a finding, and the layer that brought what it is about.
pub(super) fn evidence(finding: &Finding) -> impl Iterator<Item = String> + '_ {
    let layer = finding.layer.as_ref().map(layer_line);
    finding.evidence.iter().cloned().chain(layer)
}

/// Why a finding is accepted: `waived until 2027-03-01: not called`.
pub(super) fn waived(finding: &Finding) -> Option<String> {
    let waived = finding.waived.as_ref()?;
    Some(match &waived.until {
        Some(until) => format!("waived until {until}: {}", waived.reason),
        None => waived.reason.clone(),
    })
}

/// All of a finding, line by line: what it says, why it is accepted, what shows it, what to do.
pub(super) fn lines(finding: &Finding) -> Vec<String> {
    let mut lines = vec![finding.message.clone()];
    lines.extend(waived(finding));
    lines.extend(evidence(finding).map(|line| format!("- {line}")));
    lines.push(format!("next: {}", finding.next_step));
    lines
}
