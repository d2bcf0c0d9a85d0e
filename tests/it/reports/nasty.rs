//! Names that want to be markup, commands, links or other cells, through the real binary and back. Random ones are in
//! the tests of `report`.

use serde_json::Value;

use super::check;
use crate::support_cli::{FORMATS, Place, library, wheel};

/// Names of members, each of which would be something in one of the forms.
const NAMES: &[&str] = &[
    "x\n::error::pwned.so",
    "x\r\n::set-output name=a::b.so",
    "%0A::warning::x.so",
    "a|b|c.so",
    "a\\|b.so",
    "`a`b``.so",
    "<img src=x onerror=alert(1)>.so",
    "</details></summary><script>.so",
    "[x](https://evil.example).so",
    "![x](https://evil.example).so",
    "@maintainer #1 https://evil.example www.evil.example.so",
    "]]><failure message=\"x\">&amp;.so",
    "a,line=1,title=x::y.so",
    "\u{0}\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{fffe}\u{ffff}\u{feff}.so",
    "**b** _i_ ~s~ $m$ &lt;.so",
    "- x\n# y\n1. z.so",
    "gr\u{fc}n \u{1f600} \u{203a} x.so",
];

fn place() -> (Place, String) {
    let place = Place::new();
    let mut file = wheel("nasty", "1.0");
    for (index, name) in NAMES.iter().enumerate() {
        // of other sizes, so that none is a copy of another
        file = file.member(&format!("nasty/{name}"), library(&[("sm_80", index + 1)]));
    }
    let input = file.write(&place);
    let name = "t `|<b>@x](y)::%";
    place.write(
        "smgate.yaml",
        format!("version: 1\ntargets:\n  - {{name: '{name}', gpu: H100, driver: R580}}\n"),
    );
    (place, input)
}

/// Findings, and those of them that are no remarks.
fn findings(place: &Place, input: &str) -> (usize, usize) {
    let report = check(place, "json", &[input], &[]).json();
    let findings = report["findings"].as_array().unwrap();
    let remarks = findings.iter().filter(|one| one["level"] == "allow");
    (findings.len(), findings.len() - remarks.count())
}

#[test]
fn no_form_holds_a_character_that_a_terminal_obeys() {
    let (place, input) = place();
    assert!(findings(&place, &input).1 >= NAMES.len());
    for format in FORMATS {
        let run = check(&place, format, &[&input], &[]);
        assert_eq!(run.status, 1, "{format}: {run:?}");
        let wrong = |c: char| {
            c != '\n'
                && (c.is_control()
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
        };
        assert!(!run.stdout.contains(wrong), "{format}: {:?}", run.stdout);
    }
}

#[test]
fn forms_of_json_say_the_same_whatever_the_names() {
    let (place, input) = place();
    let (count, shown) = findings(&place, &input);
    let gitlab: Value =
        serde_json::from_str(&check(&place, "gitlab", &[&input], &[]).stdout).unwrap();
    assert_eq!(gitlab.as_array().unwrap().len(), shown);
    let sarif: Value =
        serde_json::from_str(&check(&place, "sarif", &[&input], &[]).stdout).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), count);
    for result in results {
        let text = result["message"]["text"].as_str().unwrap();
        assert!(!text.contains("]("), "a link of SARIF: {text}");
    }
    let lines = check(&place, "ndjson", &[&input], &[]).stdout;
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn no_name_begins_a_command() {
    let (place, input) = place();
    let text = check(&place, "github", &[&input], &[]).stdout;
    for line in text.lines() {
        let rest = ["::error ", "::warning ", "::notice "]
            .iter()
            .find_map(|command| line.strip_prefix(command));
        // the properties are ours, and none is there twice
        let (properties, _) = rest
            .unwrap_or_else(|| panic!("{line}"))
            .split_once("::")
            .unwrap();
        let names: Vec<&str> = properties
            .split(',')
            .map(|property| property.split_once('=').unwrap().0)
            .collect();
        assert!(
            [
                &["file", "line", "title"][..],
                &["file", "title"],
                &["title"]
            ]
            .contains(&&names[..]),
            "{line}"
        );
    }
    assert_eq!(text.matches("::error ").count(), 10, "{text}");
}

#[test]
fn no_name_ends_an_element() {
    let (place, input) = place();
    let text = check(&place, "junit", &[&input], &[]).stdout;
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut elements = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(element) => {
                elements.push(String::from_utf8(element.name().as_ref().to_vec()).unwrap());
            }
            _ => {}
        }
    }
    assert_eq!(elements, ["testsuites", "testsuite", "testcase", "failure"]);
}
