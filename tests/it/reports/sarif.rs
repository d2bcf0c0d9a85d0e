//! SARIF against the schema of its authors, and what code hosts ask for beside it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::rendered::schemas;
use super::{INPUTS, check, everything, golden, report};
use crate::schema::assert_of_draft_7;
use crate::support::text;
use crate::support_cli::Place;

fn assert_valid(log: &Value) {
    let schema = text(&schemas().join("sarif-schema-2.1.0.json"));
    assert_of_draft_7(&serde_json::from_str(&schema).unwrap(), log);
}

fn log(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).unwrap();
    assert_valid(&log);
    log
}

fn results(log: &Value) -> &Vec<Value> {
    log["runs"][0]["results"].as_array().unwrap()
}

#[test]
fn every_finding_is_a_result_with_its_rule_and_a_key_of_its_own() {
    let place = golden();
    let log = log(&report(&place, "sarif"));
    let whole = everything(&place);
    let findings = whole["findings"].as_array().unwrap();
    assert_eq!(results(&log).len(), findings.len());
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    let mut keys = BTreeSet::new();
    for result in results(&log) {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let prints = &result["partialFingerprints"];
        assert_eq!(prints["smgate/v1"], prints["primaryLocationLineHash"]);
        assert!(keys.insert(prints["smgate/v1"].as_str().unwrap()));
    }
    // the message of every finding is that of a result of its level
    for finding in findings {
        let level = match finding["level"].as_str().unwrap() {
            _ if !finding["waived"].is_null() => "note",
            "deny" | "incomplete" => "error",
            "warn" => "warning",
            _ => "note",
        };
        let message = finding["message"].as_str().unwrap();
        assert!(
            results(&log).iter().any(|result| {
                result["level"] == level
                    && result["ruleId"] == finding["code"]
                    && result["message"]["text"]
                        .as_str()
                        .unwrap()
                        .contains(message)
                    && result["suppressions"].is_array() == finding["waived"].is_object()
            }),
            "{finding}"
        );
    }
    let suppressed = results(&log)
        .iter()
        .find(|result| result["suppressions"].is_array());
    let suppression = &suppressed.unwrap()["suppressions"][0];
    assert_eq!(suppression["kind"], "external");
    assert_eq!(
        suppression["justification"],
        "waived until 2027-03-01: not called, see [notes]"
    );
}

#[test]
fn results_that_weigh_most_come_first() {
    let log = log(&report(&golden(), "sarif"));
    let weights = results(&log).iter().map(|result| {
        let level = result["properties"]["level"].as_str().unwrap();
        let order = ["deny", "incomplete", "warn", "allow"];
        let weight = order.iter().position(|one| *one == level).unwrap();
        (result["suppressions"].is_array(), weight)
    });
    let weights: Vec<(bool, usize)> = weights.collect();
    assert!(weights.is_sorted(), "{weights:?}");
}

#[test]
fn every_result_is_at_a_file_that_is_there() {
    let place = golden();
    let log = log(&report(&place, "sarif"));
    for result in results(&log) {
        let physical = &result["locations"][0]["physicalLocation"];
        let location = &physical["artifactLocation"];
        assert_eq!(location["uriBaseId"], "%SRCROOT%", "{result}");
        let uri = location["uri"].as_str().unwrap();
        assert!(uri.is_ascii() && !uri.contains(' '), "{uri}");
        let path = uri.replace("%20", " ").replace("%C3%BC", "\u{fc}");
        let path = place.path().join(path);
        assert!(path.exists(), "{uri}");
        if let Some(line) = physical["region"]["startLine"].as_u64() {
            let lines = text(&path).lines().count() as u64;
            assert!((1..=lines).contains(&line), "{uri} {line}");
        }
    }
    // of an image and of the policy it is a line of the policy, of a lock file its own
    let at = |wanted: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let found = results(&log).iter().filter(|result| wanted(result));
        let places = found.map(|result| {
            let physical = &result["locations"][0]["physicalLocation"];
            let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
            format!("{uri}:{}", physical["region"]["startLine"])
        });
        places.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let of_image = |result: &Value| {
        let logical = &result["locations"][0]["logicalLocations"][0];
        let name = logical["fullyQualifiedName"].as_str().unwrap_or_default();
        name.starts_with("multi ") && result["properties"]["target"] == "t4-pool"
    };
    assert_eq!(at(&of_image), ["smgate.yaml:3"]);
    assert_eq!(
        at(&|result| result["ruleId"] == "waiver-unused"),
        ["smgate.yaml:9"]
    );
    assert_eq!(
        at(&|result| result["ruleId"] == "no-file-for-target"),
        ["sub/pylock.toml:4"]
    );
    assert_eq!(
        at(&|result| {
            let logical = &result["locations"][0]["logicalLocations"][0];
            logical["name"] == "lib/a b.so"
        }),
        ["gr%C3%BCn%20tree/lib/a%20b.so:null"]
    );
}

#[test]
fn the_exit_status_and_what_was_not_read_are_those_of_the_run() {
    let place = golden();
    for (inputs, status, successful) in [
        (INPUTS, 1, false),
        (&INPUTS[..1], 1, true),
        (&INPUTS[1..2], 0, true),
        (&INPUTS[3..4], 2, false),
        (&[INPUTS[1], INPUTS[3]], 3, false),
    ] {
        let more = ["--target", "H100", "--driver", "R580"];
        let run = check(&place, "sarif", inputs, &more);
        assert_eq!(run.status, status, "{inputs:?}");
        let log = log(&run.stdout);
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["exitCode"], status);
        assert_eq!(invocation["executionSuccessful"], successful, "{inputs:?}");
        let notifications = invocation["toolExecutionNotifications"].as_array().unwrap();
        let whole = check(&place, "json", inputs, &more).json();
        let problems = whole["problems"].as_array().unwrap();
        assert_eq!(notifications.len(), problems.len());
        for (notification, problem) in notifications.iter().zip(problems) {
            assert_eq!(notification["descriptor"]["id"], problem["kind"]);
            let text = notification["message"]["text"].as_str().unwrap();
            assert!(text.contains(problem["detail"].as_str().unwrap()), "{text}");
        }
    }
}

#[test]
fn files_have_their_digests() {
    let place = golden();
    let log = log(&report(&place, "sarif"));
    let artifacts = log["runs"][0]["artifacts"].as_array().unwrap();
    let wheel = artifacts.iter().find(|one| {
        one["location"]["uri"]
            .as_str()
            .unwrap()
            .starts_with("dist/bad")
    });
    let bytes = crate::support::read(&place.path().join(INPUTS[0]));
    assert_eq!(
        wheel.unwrap()["hashes"]["sha-256"],
        crate::support::image::hex(&bytes)
    );
    assert!(
        !artifacts
            .iter()
            .any(|one| one["location"]["uri"].as_str().unwrap().contains("multi"))
    );
}

#[test]
fn without_a_policy_an_image_is_at_its_layout_and_no_path_is_made_up() {
    let place = golden();
    for input in ["oci-dir:multi", "multi", "oci-dir:multi:1.0"] {
        let run = check(&place, "sarif", &[input], &["--target", "T4"]);
        let log = log(&run.stdout);
        for result in results(&log) {
            let location = &result["locations"][0];
            let at = &location["physicalLocation"]["artifactLocation"]["uri"];
            assert_eq!(at, "multi", "{input}: {location}");
            assert!(location["logicalLocations"][0]["name"].is_string());
        }
        assert!(!results(&log).is_empty());
    }
    // of a saved one, whose layout is elsewhere
    let saved = place.run(&["inspect", "--format", "json", "oci-dir:multi"]);
    let elsewhere = Place::new();
    elsewhere.write("saved.json", &saved.stdout);
    let inputs = ["--inventory", "saved.json"];
    let run = check(&elsewhere, "sarif", &inputs, &["--target", "T4"]);
    let log = log(&run.stdout);
    for result in results(&log) {
        assert!(
            result["locations"][0]["physicalLocation"].is_null(),
            "{result}"
        );
    }
    assert!(!results(&log).is_empty());
}
