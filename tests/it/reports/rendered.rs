//! The golden evaluation in each form, word for word, and what each form demands.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use super::{golden, report};
use crate::schema::assert_of_draft_7;
use crate::support::text;

/// A report without what other tests hold, or what changes with the facts: the digests of tables, pages of rules.
fn stable(report: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in report.lines() {
        let mut line = line.to_owned();
        while let Some(at) = digest_at(&line) {
            line.replace_range(at..at + 64, "DIGEST");
        }
        // each system has its own words
        let opened = "could not be opened: ";
        while let Some(from) = line.find(opened).map(|at| at + opened.len()) {
            let to = line[from..]
                .find(')')
                .map_or(line.len(), |at| from + at + 1);
            line.replace_range(from - 2..to, " (WHY)");
        }
        lines.push(line);
    }
    lines.join("\n")
}

fn digest_at(line: &str) -> Option<usize> {
    let is_hex = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
    line.as_bytes()
        .windows(64)
        .position(|window| window.iter().all(is_hex))
}

#[test]
fn github_shows_it_at_files_and_lines() {
    insta::assert_snapshot!(stable(&report(&golden(), "github")));
}

#[test]
fn gitlab_shows_it_at_files_and_lines() {
    let report = report(&golden(), "gitlab");
    let schema = text(&schemas().join("gitlab-code-quality.json"));
    let issues: Value = serde_json::from_str(&report).unwrap();
    assert_of_draft_7(&serde_json::from_str(&schema).unwrap(), &issues);
    insta::assert_snapshot!(stable(&report));
}

#[test]
fn markdown_shows_packages_and_targets() {
    insta::assert_snapshot!(stable(&report(&golden(), "markdown")));
}

#[test]
fn ndjson_is_a_line_for_each_artifact_and_one_for_all() {
    let report = report(&golden(), "ndjson");
    // the whole lines are those of `json`; what is of the line alone is its head
    let heads = report.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let count = |list: &str| line[list].as_array().map(Vec::len);
        format!(
            "{} {} {} {} {:?} {:?} {:?}",
            line["schema"],
            line["verdict"],
            line["kind"],
            line["artifact"]["input"],
            count("matrix"),
            count("findings"),
            count("problems"),
        )
    });
    insta::assert_snapshot!(heads.collect::<Vec<_>>().join("\n"));
}

#[test]
fn junit_is_a_suite_for_each_artifact_and_a_case_for_each_package_on_each_target() {
    insta::assert_snapshot!(stable(&report(&golden(), "junit")));
}

#[test]
fn sarif_has_results_at_files_and_lines() {
    let mut log: Value = serde_json::from_str(&report(&golden(), "sarif")).unwrap();
    for rule in log["runs"][0]["tool"]["driver"]["rules"]
        .as_array_mut()
        .unwrap()
    {
        *rule = rule["id"].clone();
    }
    for version in ["version", "semanticVersion"] {
        log["runs"][0]["tool"]["driver"][version] = "VERSION".into();
    }
    insta::assert_snapshot!(stable(&serde_json::to_string_pretty(&log).unwrap()));
}

pub(super) fn schemas() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/schemas")
}

/// The form that CI servers read, element by element: what may stand in what, and counts that are those of the cases.
#[test]
fn junit_is_well_formed_and_its_counts_are_right() {
    let report = report(&golden(), "junit");
    let mut reader = Reader::from_str(&report);
    reader.config_mut().check_end_names = true;
    let mut open: Vec<String> = Vec::new();
    let mut stated = [0_u64; 3];
    let mut counted = [0_u64; 3];
    loop {
        let event = reader.read_event().unwrap();
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Eof => break,
            Event::End(_) => {
                open.pop();
            }
            Event::Start(element) | Event::Empty(element) => {
                let name = String::from_utf8(element.name().as_ref().to_vec()).unwrap();
                let inside = open.last().map_or("", String::as_str);
                let parent = match name.as_str() {
                    "testsuites" => "",
                    "testsuite" => "testsuites",
                    "testcase" => "testsuite",
                    "failure" | "error" | "system-out" => "testcase",
                    other => panic!("`{other}`"),
                };
                assert_eq!(inside, parent, "{name}");
                let attribute = |name: &str| {
                    let value = element.try_get_attribute(name).unwrap();
                    value.map(|value| String::from_utf8(value.value.to_vec()).unwrap())
                };
                for absent in ["time", "timestamp", "uuid", "hostname"] {
                    assert_eq!(attribute(absent), None, "{name}");
                }
                let numbers = ["tests", "failures", "errors"];
                match name.as_str() {
                    "testsuites" => {
                        stated = numbers.map(|name| attribute(name).unwrap().parse().unwrap());
                    }
                    "testcase" => {
                        counted[0] += 1;
                        assert!(attribute("name").is_some() && attribute("classname").is_some());
                    }
                    "failure" => counted[1] += 1,
                    "error" => counted[2] += 1,
                    _ => {}
                }
                if !is_empty {
                    open.push(name);
                }
            }
            _ => {}
        }
    }
    assert_eq!(counted, stated);
    assert!(counted[1] >= 3 && counted[2] >= 1, "{counted:?}");
}
