//! A code quality report of GitLab: the part of Code Climate's form that its merge requests show.
//!
//! An issue needs a path of the repository and a fingerprint of its own. What has no effect is left out: a merge
//! request is no place for remarks.

use std::io::{self, Write};

use serde::Serialize;

use crate::escape::{in_json, visible};
use crate::report::Checked;
use crate::rule::{Code, Level};
use crate::verdict::{Evaluation, Finding};

use super::key::{keys, of_run};
use super::place::{FilePlace, Places};
use super::words::{cannot_judge, evidence, has_effect, ranked, subject, waived};

#[derive(Debug, Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Debug, Serialize)]
struct Lines {
    begin: u32,
}

/// Writes the report.
pub(in crate::report) fn write(checked: Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let evaluation = checked.evaluation;
    let places = Places::new(checked);
    let keys = keys(checked);
    let findings = ranked(evaluation).into_iter();
    let findings = findings.filter(|(_, finding)| finding.level > Level::Allow);
    let issues = findings.map(|(index, finding)| {
        let place = places.of(finding).into_iter().next();
        Issue {
            description: description(finding, evaluation),
            check_name: finding.code.id(),
            fingerprint: keys.get(index).cloned().unwrap_or_default(),
            severity: severity(finding, evaluation),
            location: location(place, || {
                subject(finding, evaluation).unwrap_or_else(|| evaluation.policy.clone())
            }),
        }
    });
    let nothing = cannot_judge(checked).map(|why| Issue {
        description: why.to_owned(),
        check_name: Code::Unreadable.id(),
        fingerprint: of_run("nothing could be read"),
        severity: CRITICAL,
        location: location(places.of_some_input(None), || evaluation.policy.clone()),
    });
    let issues: Vec<Issue> = nothing.into_iter().chain(issues).collect();
    let json = serde_json::to_string_pretty(&issues).map_err(io::Error::other)?;
    writeln!(out, "{}", in_json(json))
}

/// What is shown in place of a path where there is none is what was checked.
fn location(place: Option<FilePlace>, checked: impl FnOnce() -> String) -> Location {
    let place = place.unwrap_or_else(|| FilePlace {
        path: checked(),
        line: None,
    });
    Location {
        path: visible(&place.path).into_owned(),
        lines: Lines {
            begin: place.line.unwrap_or(1),
        },
    }
}

/// The severity of what fails.
const CRITICAL: &str = "critical";

fn severity(finding: &Finding, evaluation: &Evaluation) -> &'static str {
    match finding.level {
        _ if !finding.counts() => "info",
        Level::Incomplete => "major",
        _ if has_effect(finding, evaluation) => CRITICAL,
        Level::Warn | Level::Deny => "minor",
        Level::Allow => "info",
    }
}

/// One line: it is all that GitLab shows.
fn description(finding: &Finding, evaluation: &Evaluation) -> String {
    let subject = subject(finding, evaluation);
    let target = finding.target.as_ref().map(|name| format!("on `{name}`"));
    let about: Vec<String> = subject.into_iter().chain(target).collect();
    let about = match about.as_slice() {
        [] => String::new(),
        about => format!("{}: ", about.join(" ")),
    };
    let waived = waived(finding).map(|why| format!(" ({why})"));
    let seen = match finding.code {
        // of which the message is that of many
        Code::Unreadable => evidence(finding).collect::<Vec<_>>().join("; "),
        _ => evidence(finding).next().unwrap_or_default(),
    };
    let seen = match seen.as_str() {
        "" => String::new(),
        seen => format!(" ({seen})"),
    };
    let text = format!(
        "{about}{}{}{seen}; next: {}",
        finding.message,
        waived.unwrap_or_default(),
        finding.next_step
    );
    visible(&text).into_owned()
}
