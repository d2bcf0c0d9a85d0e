//! Waivers applied to findings: what is accepted, what is past its date, what matches nothing.

use crate::policy::{Date, Policy};
use crate::rule::Code;

use super::finding::{Finding, WaivedBy};

/// Marks the findings that a waiver of `policy` accepts on the day `today`, and adds findings about the
/// waivers themselves.
pub(super) fn apply(policy: &Policy, today: Date, findings: &mut Vec<Finding>) {
    let mut about_waivers = Vec::new();
    for waiver in &policy.waivers {
        let matching: Vec<&mut Finding> = findings
            .iter_mut()
            .filter(|finding| waiver.matches(finding.code, &finding.subject()))
            .collect();
        let (rule, until) = (waiver.rule, waiver.until);
        if waiver.expired(today) {
            let message = format!("the waiver of `{rule}` ended on {until}");
            let next_step = "look at it again: set a new date with a reason, or remove the waiver";
            let finding = Finding::new(Code::WaiverExpired, message, next_step)
                .of_policy(&waiver.place)
                .evidence(format!("its reason was: {}", waiver.reason))
                .evidence(match matching.len() {
                    1 => "1 finding would match".to_owned(),
                    n => format!("{n} findings would match"),
                });
            about_waivers.push(finding);
        } else if matching.is_empty() {
            let message = format!("the waiver of `{rule}` matches no finding");
            let next_step =
                "remove it, or check its package, library and targets for a wrong spelling";
            let finding = Finding::new(Code::WaiverUnused, message, next_step);
            about_waivers.push(finding.of_policy(&waiver.place));
        } else {
            for finding in matching {
                let waived = WaivedBy {
                    reason: waiver.reason.clone(),
                    until: Some(until.to_string()),
                };
                finding.waived.get_or_insert(waived);
            }
        }
    }
    for finding in &mut about_waivers {
        finding.level = policy.level(finding.code);
    }
    findings.extend(about_waivers);
}
