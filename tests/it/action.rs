//! The GitHub Action: what `action.yml`, `action.sh`, their page and the workflows say of each other, and how the script
//! behaves on a runner.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::support::text;

#[cfg(feature = "registry")]
mod download;
mod log;
mod run;
mod runner;
mod verdict;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "what is not compared must be there all the same")]
pub(crate) struct Action {
    name: String,
    description: String,
    author: String,
    branding: BTreeMap<String, String>,
    inputs: BTreeMap<String, Input>,
    outputs: BTreeMap<String, Output>,
    runs: Runs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    description: String,
    required: bool,
    default: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    description: String,
    value: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Runs {
    using: String,
    steps: Vec<ActionStep>,
}

/// A step of the action: it runs a script, and uses no other action.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionStep {
    id: String,
    shell: String,
    run: String,
    env: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Workflow {
    jobs: BTreeMap<String, Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    #[serde(default)]
    steps: Vec<JobStep>,
}

#[derive(Debug, Deserialize)]
struct JobStep {
    id: Option<String>,
    uses: Option<String>,
    run: Option<String>,
    #[serde(default)]
    with: BTreeMap<String, serde_json::Value>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn script() -> String {
    text(&root().join("action.sh"))
}

fn page() -> String {
    text(&root().join("docs/github-action.md"))
}

pub(crate) fn action() -> Action {
    serde_saphyr::from_str(&text(&root().join("action.yml"))).unwrap()
}

/// The variable by which the script gets an input.
pub(crate) fn variable(input: &str) -> String {
    format!(
        "SMGATE_ACTION_{}",
        input.to_ascii_uppercase().replace('-', "_")
    )
}

/// The workflows of the documentation: file name and content.
fn workflows() -> Vec<(String, String)> {
    let directory = root().join("docs/workflows");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, text(path))
        })
        .collect()
}

/// Rows of the table below a heading of a page: the cells of each.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let lines = below.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let cells = row.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

/// Words that stand behind `before` in a text.
fn behind(text: &str, before: &str) -> BTreeSet<String> {
    let found = text.split(before).skip(1).map(|rest| {
        let word = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c));
        word.collect()
    });
    found.collect()
}

#[test]
fn inputs_reach_the_script_by_its_environment_alone() {
    let action = action();
    assert_eq!(action.runs.using, "composite");
    let [step] = &action.runs.steps[..] else {
        panic!("one step is the whole of it");
    };
    assert_eq!(
        (step.id.as_str(), step.shell.as_str()),
        ("gate", "bash"),
        "outputs name the step"
    );
    assert_eq!(step.run, "bash \"$GITHUB_ACTION_PATH/action.sh\"");
    let expected: BTreeMap<String, String> = action
        .inputs
        .keys()
        .map(|name| (variable(name), format!("${{{{ inputs.{name} }}}}")))
        .collect();
    assert_eq!(step.env, expected);
}

#[test]
fn the_script_reads_every_input_and_no_other() {
    let script = script();
    let mut read: BTreeSet<String> = script
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let reader = words.next().unwrap();
            let (Some(upper), Some(name), None) = (words.next(), words.next(), words.next()) else {
                return None;
            };
            if !["input", "switch"].contains(&reader) {
                return None;
            }
            assert_eq!(format!("SMGATE_ACTION_{upper}"), variable(name), "{line}");
            Some(name.to_owned())
        })
        .collect();
    for name in ["inputs", "targets", "args"] {
        assert!(script.contains(&format!("${{{}:-}}", variable(name))));
        read.insert(name.to_owned());
    }
    let declared: BTreeSet<String> = action().inputs.into_keys().collect();
    assert_eq!(read, declared);
}

#[test]
fn every_output_is_written_by_the_script() {
    let action = action();
    for (name, output) in &action.outputs {
        assert_eq!(
            output.value,
            format!("${{{{ steps.gate.outputs.{name} }}}}"),
            "{name}"
        );
    }
    let declared: BTreeSet<String> = action.outputs.into_keys().collect();
    let written: BTreeSet<String> = script()
        .lines()
        .flat_map(|line| behind(&format!("; {}", line.trim()), "; output "))
        .chain(behind(&script(), "then output "))
        .collect();
    assert_eq!(written, declared);
}

#[test]
fn what_is_installed_is_what_a_release_has() {
    let release = text(&root().join(".github/workflows/release.yml"));
    let triple = |name: &String| name.split('-').count() > 2;
    let built: BTreeSet<String> = behind(&release, "target: ")
        .into_iter()
        .filter(triple)
        .collect();
    let known: BTreeSet<String> = behind(&script(), "target=")
        .into_iter()
        .filter(triple)
        .collect();
    assert!(!built.is_empty());
    assert_eq!(known, built);
}

#[test]
fn the_tables_of_the_page_are_those_of_the_action() {
    let (action, page) = (action(), page());
    let inputs: BTreeSet<Vec<String>> = action
        .inputs
        .iter()
        .map(|(name, input)| {
            let default = match input.default.as_deref() {
                None if input.required => "required".to_owned(),
                None | Some("") => String::new(),
                Some(value) => format!("`{value}`"),
            };
            vec![format!("`{name}`"), default, input.description.clone()]
        })
        .collect();
    assert_eq!(
        table(&page, "Inputs").into_iter().collect::<BTreeSet<_>>(),
        inputs
    );
    let outputs: BTreeSet<Vec<String>> = action
        .outputs
        .iter()
        .map(|(name, output)| vec![format!("`{name}`"), output.description.clone()])
        .collect();
    assert_eq!(
        table(&page, "Outputs").into_iter().collect::<BTreeSet<_>>(),
        outputs
    );
}

#[test]
fn workflows_use_inputs_and_outputs_that_exist_and_pin_every_action() {
    let action = action();
    let files = workflows();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["image.yml", "lock.yml", "nightly.yml", "wheel.yml"]);
    for (file, text) in &files {
        let workflow: Workflow = serde_saphyr::from_str(text).unwrap();
        let mut gates = 0;
        for step in workflow.jobs.values().flat_map(|job| &job.steps) {
            assert!(
                step.run.as_ref().is_none_or(|run| !run.contains("${{")),
                "{file}: an expression in a script"
            );
            let Some(uses) = &step.uses else { continue };
            let (used, commit) = uses.split_once('@').unwrap();
            assert!(
                commit.len() == 40 && commit.bytes().all(|c| c.is_ascii_hexdigit()),
                "{file}: {uses}"
            );
            assert!(text.contains(&format!("{uses} # v")), "{file}: {uses}");
            if used != "OWNER/smgate" {
                continue;
            }
            gates += 1;
            let id = step.id.as_deref().unwrap_or("gate");
            assert_eq!(id, "gate", "{file}");
            for name in step.with.keys() {
                assert!(action.inputs.contains_key(name), "{file}: {name}");
            }
        }
        assert_eq!(gates, 1, "{file}");
        for name in behind(text, "steps.gate.outputs.") {
            assert!(action.outputs.contains_key(&name), "{file}: {name}");
        }
        assert!(text.contains("\npermissions: {}\n"), "{file}");
        assert_eq!(
            text.matches("timeout-minutes:").count(),
            workflow.jobs.len(),
            "{file}"
        );
        assert!(page().contains(&format!("(workflows/{file})")), "{file}");
    }
}

#[test]
fn examples_of_the_page_use_inputs_that_exist() {
    let (action, page) = (action(), page());
    let mut seen = 0;
    for block in page.split("```yaml\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let steps: Vec<JobStep> = serde_saphyr::from_str(block).unwrap();
        let ours = steps.iter().filter(|step| {
            step.uses
                .as_ref()
                .is_some_and(|uses| uses.contains("smgate"))
        });
        for step in ours {
            seen += 1;
            for name in step.with.keys() {
                assert!(action.inputs.contains_key(name), "{name}");
            }
        }
    }
    assert!(seen > 0);
}
