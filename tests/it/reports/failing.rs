//! What makes the exit status is an error in the reports of code hosts: warnings that fail, and inputs of which nothing
//! could be read.

use serde_json::Value;

use super::check;
use crate::support_cli::{Place, Run, library, simple, wheel};

fn value(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

/// A wheel of which nothing can be read, and a policy that makes `level` of that.
fn cut(level: &str) -> (Place, String) {
    let place = Place::new();
    let file = simple("cut", &[("sm_90", 3)]);
    let name = file.file_name();
    let whole = file.build();
    place.write(&name, &whole[..whole.len() / 2]);
    let policy = format!(
        "version: 1\ntargets: [{{name: h100, gpu: H100, driver: R580}}]\nlevels: {{unreadable: {level}}}\n"
    );
    place.write("smgate.yaml", policy);
    (place, name)
}

#[test]
fn where_nothing_was_read_the_run_of_sarif_was_not_successful_whatever_the_policy_accepts() {
    for level in ["warn", "incomplete", "deny"] {
        for more in [&[][..], &["--fail-on", "warn"]] {
            let (place, input) = cut(level);
            let run = check(&place, "sarif", &[&input], more);
            assert_eq!(run.status, 2, "{level} {more:?}");
            let log = value(&run);
            let invocation = &log["runs"][0]["invocations"][0];
            assert_eq!(invocation["exitCode"], 2);
            assert_eq!(invocation["executionSuccessful"], false, "{level} {more:?}");
        }
    }
}

#[test]
fn where_nothing_was_read_and_the_policy_accepts_that_an_error_says_so() {
    let (place, input) = cut("warn");
    let run = check(&place, "github", &[&input], &[]);
    assert_eq!(run.status, 2);
    let errors = super::commands(&run.stdout, "error");
    assert_eq!(errors.len(), 1, "{}", run.stdout);
    assert!(errors[0].contains("nothing could be read"), "{errors:?}");
    let issues = value(&check(&place, "gitlab", &[&input], &[]));
    let issues = issues.as_array().unwrap();
    let critical = issues.iter().filter(|one| one["severity"] == "critical");
    let critical: Vec<&Value> = critical.collect();
    assert_eq!(critical.len(), 1, "{issues:?}");
    assert_eq!(critical[0]["location"]["path"], input.as_str());
    let said = critical[0]["description"].as_str().unwrap();
    assert!(said.starts_with("nothing could be read"), "{said}");
    let junit = check(&place, "junit", &[&input], &[]).stdout;
    assert!(junit.contains("errors=\"1\""), "{junit}");
    let markdown = check(&place, "markdown", &[&input], &[]).stdout;
    assert!(
        markdown.starts_with("## ❓ smgate: NOT JUDGED\n")
            && markdown.contains("\n**nothing could be read"),
        "{markdown}"
    );
    // where a finding says it as an error, it is said once
    let (place, input) = cut("deny");
    let text = check(&place, "github", &[&input], &[]).stdout;
    assert_eq!(super::commands(&text, "error").len(), 1, "{text}");
    assert!(!text.contains("nothing could be judged"), "{text}");
}

#[test]
fn a_warning_that_fails_is_an_error_in_every_form() {
    let place = Place::new();
    let input = wheel("warned", "1.0")
        .member("warned/_C.so", library(&[("sm_80 compute_80@8.0", 1)]))
        .write(&place);
    let targets = ["--target", "H100", "--driver", "R580"];
    let levels = |more: &[&str]| {
        let more = [&targets[..], more].concat();
        let issues = value(&check(&place, "gitlab", &[&input], &more));
        let severities = issues.as_array().unwrap().iter();
        let severities = severities.map(|one| one["severity"].as_str().unwrap().to_owned());
        let log = value(&check(&place, "sarif", &[&input], &more));
        let results = log["runs"][0]["results"].as_array().unwrap().iter();
        let results = results.filter(|one| one["properties"]["level"] == "warn");
        let results = results.map(|one| one["level"].as_str().unwrap().to_owned());
        let github = check(&place, "github", &[&input], &more).stdout;
        (
            severities.collect::<Vec<_>>(),
            results.collect::<Vec<_>>(),
            super::commands(&github, "error").len(),
        )
    };
    let of = |one: &str| vec![one.to_owned()];
    assert_eq!(levels(&[]), (of("minor"), of("warning"), 0));
    assert_eq!(
        levels(&["--fail-on", "warn"]),
        (of("critical"), of("error"), 1)
    );
}
