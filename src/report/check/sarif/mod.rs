//! SARIF 2.1.0, for code hosts and editors.
//!
//! Every finding is a result, waived ones too, which are suppressed and of the lowest level, since not all hosts know
//! suppressions. A host takes [`RESULTS_MAX`] results of a run and refuses more, so what is beyond is left out, those
//! of least weight, and a notification says how many. What could not be read is a notification too. Why a result has
//! its place says `place`, by what it is known again `key`.

mod model;
mod rules;

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::escape::{in_json, visible};
use crate::report::Checked;
use crate::report::counts::Tally;
use crate::report::text::plural;
use crate::rule::Code;
use crate::verdict::{Evaluation, Finding, Verdict};

use super::key::keys;
use super::place::{FilePlace, Places};
use super::words::{has_effect, judged_by, lines, ranked, subject, waived};
use model::{
    Artifact, ArtifactLocation, Base, Descriptor, Driver, Invocation, Location, Log,
    LogicalLocation, Message, Notification, PhysicalLocation, Region, ResultProperties, Run,
    RunProperties, RunResult, Suppression, Tool,
};

/// The results of a run that GitHub takes.
const RESULTS_MAX: usize = 25_000;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The name for the directory in which smgate ran.
const ROOT: &str = "%SRCROOT%";

/// Writes the report.
pub(in crate::report) fn write(checked: Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let log = Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [run(checked, RESULTS_MAX)],
    };
    let json = serde_json::to_string_pretty(&log).map_err(io::Error::other)?;
    writeln!(out, "{}", in_json(json))
}

fn run(checked: Checked<'_>, results_max: usize) -> Run {
    let evaluation = checked.evaluation;
    let places = Places::new(checked);
    let codes = rules::occurring(evaluation);
    let keys = keys(checked);
    let ranked = ranked(evaluation);
    let (taken, left) = ranked.split_at(ranked.len().min(results_max));
    let results = taken.iter().map(|(index, finding)| {
        let key = keys.get(*index).cloned().unwrap_or_default();
        result(finding, key, evaluation, &places, &codes)
    });
    let mut notifications = problems(evaluation, &places);
    // what the policy accepts, or cannot accept
    let unread = checked.inventory.is_unread()
        || evaluation.verdict == Verdict::Incomplete
        || evaluation
            .findings
            .iter()
            .any(|finding| finding.counts() && finding.level == crate::rule::Level::Incomplete);
    if !left.is_empty() {
        let left = left.iter().map(|(_, finding)| *finding);
        let tally = Tally::of(left.clone());
        let message = format!(
            "{} are not in this report, which holds {results_max}: {}",
            plural(left.count() as u64, "finding"),
            tally.words()
        );
        notifications.push(Notification {
            level: "warning",
            message: text(&message),
            descriptor: None,
            locations: Vec::new(),
        });
    }
    let (exit_code, exit_code_description) = exit(checked);
    Run {
        tool: Tool {
            driver: Driver {
                name: "smgate",
                version: env!("CARGO_PKG_VERSION"),
                semantic_version: env!("CARGO_PKG_VERSION"),
                information_uri: Some(env!("CARGO_PKG_REPOSITORY")).filter(|uri| !uri.is_empty()),
                rules: codes.iter().map(|code| rules::rule(*code)).collect(),
            },
        },
        invocations: [Invocation {
            execution_successful: !unread,
            exit_code,
            exit_code_description,
            tool_execution_notifications: notifications,
        }],
        original_uri_base_ids: BTreeMap::from([(
            ROOT,
            Base {
                description: text("the directory in which smgate ran"),
            },
        )]),
        artifacts: artifacts(checked, &places),
        results: results.collect(),
        column_kind: "unicodeCodePoints",
        properties: RunProperties {
            verdict: evaluation.verdict.id(),
            policy: judged_by(evaluation),
            tables: evaluation.tables.to_string(),
        },
    }
}

fn exit(checked: Checked<'_>) -> (u8, &'static str) {
    if checked.inventory.is_unread() {
        return (Verdict::CANNOT_JUDGE, "nothing could be read");
    }
    let verdict = checked.evaluation.verdict;
    let said = match verdict {
        Verdict::Pass => "everything was read and nothing is denied",
        Verdict::Fail => "the policy denies something",
        Verdict::Incomplete => "something could not be read, and nothing else failed",
    };
    (verdict.status(), said)
}

/// The files that were checked, each once.
fn artifacts(checked: Checked<'_>, places: &Places<'_>) -> Vec<Artifact> {
    let mut artifacts: BTreeMap<ArtifactLocation, Option<String>> = BTreeMap::new();
    for (index, artifact) in checked.inventory.artifacts.iter().enumerate() {
        if let Some(place) = places.of_input(index, None) {
            let sha256 = artifacts.entry(location_of(&place)).or_default();
            if sha256.is_none() {
                sha256.clone_from(&artifact.sha256);
            }
        }
    }
    let artifacts = artifacts.into_iter().map(|(location, sha256)| Artifact {
        location,
        roles: ["analysisTarget"],
        hashes: sha256.map(|hash| ("sha-256", hash)).into_iter().collect(),
    });
    artifacts.collect()
}

/// What could not be read, whatever the policy makes of it.
fn problems(evaluation: &Evaluation, places: &Places<'_>) -> Vec<Notification> {
    let artifacts = evaluation.artifacts.iter().enumerate();
    let notifications = artifacts.flat_map(|(index, artifact)| {
        artifact.problems.iter().map(move |problem| {
            let message = format!(
                "{}: {}; next: {}",
                problem.at,
                problem.detail,
                problem.kind.hint()
            );
            let place = places.of_problem(index, problem);
            Notification {
                level: "error",
                message: text(&message),
                descriptor: Some(Descriptor {
                    id: problem.kind.id(),
                }),
                locations: vec![Location {
                    physical_location: place.as_ref().map(physical),
                    logical_locations: vec![logical(&problem.at.to_string())],
                    message: None,
                }],
            }
        })
    });
    notifications.collect()
}

fn result(
    finding: &Finding,
    key: String,
    evaluation: &Evaluation,
    places: &Places<'_>,
    codes: &[Code],
) -> RunResult {
    let mut found = places.of(finding).into_iter();
    let about = about(finding, evaluation);
    let location = Location {
        physical_location: found.next().as_ref().map(physical),
        logical_locations: about.iter().map(|name| logical(name)).collect(),
        message: None,
    };
    let related = found.map(|place| Location {
        physical_location: Some(physical(&place)),
        logical_locations: Vec::new(),
        message: Some(text("the target in the policy")),
    });
    let mut said: Vec<String> = subject(finding, evaluation)
        .into_iter()
        .chain(finding.target.as_ref().map(|target| format!("on {target}")))
        .collect();
    said = match said.as_slice() {
        [] => Vec::new(),
        said => vec![said.join(" ")],
    };
    said.extend(lines(finding));
    let level = match finding.level {
        _ if has_effect(finding, evaluation) => rules::ERROR,
        level if finding.counts() => rules::level(level),
        _ => "note",
    };
    let rule = codes.iter().position(|code| *code == finding.code);
    RunResult {
        rule_id: finding.code.id(),
        rule_index: rule.unwrap_or_default(),
        level,
        message: Message {
            text: said
                .iter()
                .map(|line| shown(line))
                .collect::<Vec<_>>()
                .join("\n"),
        },
        locations: vec![location],
        related_locations: related.collect(),
        partial_fingerprints: BTreeMap::from([
            // the only one that GitHub compares
            ("primaryLocationLineHash", key.clone()),
            ("smgate/v1", key),
        ]),
        suppressions: suppressions(finding),
        properties: ResultProperties {
            level: finding.level.id(),
            package: finding
                .package
                .as_ref()
                .map(|package| shown(&package.to_string())),
            target: finding.target.as_deref().map(shown),
            gpu: finding.gpu.as_deref().map(shown),
        },
    }
}

fn suppressions(finding: &Finding) -> Vec<Suppression> {
    let waived = waived(finding).map(|why| Suppression {
        kind: "external",
        status: "accepted",
        justification: shown(&why),
    });
    waived.into_iter().collect()
}

/// The full name of what a finding is about: `app.whl › lib/a.so`; nothing of the policy.
fn about(finding: &Finding, evaluation: &Evaluation) -> Option<String> {
    let artifact = evaluation.artifacts.get(finding.artifact?)?;
    let package = finding.package.as_ref();
    // its file is its name already
    let package = package.filter(|_| artifact.package.is_none());
    let parts = [
        Some(artifact.input.clone()),
        package.map(ToString::to_string),
        finding.library.clone(),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" › "))
}

fn logical(name: &str) -> LogicalLocation {
    let last = name.rsplit_once(" › ").map(|(_, last)| last);
    LogicalLocation {
        name: shown(last.unwrap_or(name)),
        fully_qualified_name: shown(name),
        kind: last.map(|_| "module"),
    }
}

fn physical(place: &FilePlace) -> PhysicalLocation {
    PhysicalLocation {
        artifact_location: location_of(place),
        region: place.line.map(|line| Region { start_line: line }),
    }
}

fn location_of(place: &FilePlace) -> ArtifactLocation {
    ArtifactLocation {
        uri: place.uri(),
        uri_base_id: (!place.is_absolute()).then_some(ROOT),
    }
}

fn text(text: &str) -> Message {
    Message { text: shown(text) }
}

/// Text that makes no link: SARIF has some in plain messages.
fn shown(text: &str) -> String {
    visible(text).replace("](", "] (")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::check::tests::Case;
    use crate::rule::Level;

    #[test]
    fn what_does_not_fit_is_of_the_least_weight_and_is_counted() {
        let mut case = Case::new();
        let of = |case: &Case, level: Level| {
            let found = case.evaluation.findings.iter();
            found.filter(|one| one.level == level).count()
        };
        let denied = of(&case, Level::Deny);
        let remarks = of(&case, Level::Allow) + 20;
        let first = case.evaluation.findings[0].clone();
        for _ in 0..20 {
            let mut remark = first.clone();
            remark.level = Level::Allow;
            case.evaluation.findings.insert(0, remark);
        }
        let all = case.evaluation.findings.len();
        let run = run(case.checked(), 3);
        assert_eq!(run.results.len(), 3);
        assert!(denied >= 1);
        let shown = run
            .results
            .iter()
            .filter(|one| one.properties.level == "deny");
        assert_eq!(shown.count(), denied.min(3));
        let notifications = &run.invocations[0].tool_execution_notifications;
        let said = &notifications.last().unwrap().message.text;
        assert!(
            said.starts_with(&format!(
                "{} findings are not in this report, which holds 3: ",
                all - 3
            )),
            "{said}"
        );
        assert!(said.contains(&format!("{remarks} remarks")), "{said}");
    }

    #[test]
    fn text_makes_no_link_of_sarif() {
        assert_eq!(shown("[a](https://x.example)"), "[a] (https://x.example)");
    }
}
