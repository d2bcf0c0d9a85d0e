//! The README says what the program does: its tables are those of the code, its options exist.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use smgate::cli::Exit;
use smgate::limits::LimitHit;
use smgate::policy::Policy;
use smgate::rule::Code;
use smgate::tables::Tables;

use crate::support::text;
use crate::support_cli::without_digest;

fn readme() -> String {
    text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"))
}

/// Rows of the first table below a heading, without its head: the cells of each.
fn table(readme: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, below) = readme
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("no `{heading}`"));
    below
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        })
        .collect()
}

/// The blocks of code of a language.
fn blocks<'t>(readme: &'t str, language: &str) -> Vec<&'t str> {
    let begin = format!("```{language}\n");
    let blocks = readme.split(begin.as_str()).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

fn help() -> String {
    let commands = [
        "check",
        "diff",
        "find",
        "inspect",
        "explain",
        "facts",
        "policy init",
        "policy lint",
        "policy show",
    ];
    let help = commands.map(|command| {
        let output = Command::new(env!("CARGO_BIN_EXE_smgate"))
            .args(command.split(' '))
            .arg("--help")
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}");
        String::from_utf8(output.stdout).unwrap()
    });
    help.join("\n")
}

/// Long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let mut options = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let before = text[..at].chars().next_back();
        let name: String = text[at + 2..]
            .chars()
            .take_while(|c| c.is_ascii_lowercase() || *c == '-')
            .collect();
        let starts = before.is_none_or(|c| c.is_whitespace() || "`'\"(/=".contains(c));
        if starts && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            options.insert(format!("--{name}"));
        }
    }
    options
}

#[test]
fn the_output_of_the_readme_is_what_the_program_prints() {
    let readme = readme();
    let runs = blocks(&readme, "console");
    assert!(!runs.is_empty());
    for run in runs {
        let (command, printed) = run.split_once('\n').unwrap();
        let command = command.strip_prefix("$ smgate ").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_smgate"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(command.split(' '))
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            without_digest(&output),
            without_digest(printed),
            "{command}"
        );
    }
}

#[test]
fn the_table_of_rules_is_that_of_the_code() {
    let written = table(&readme(), "Rules");
    let rules: Vec<Vec<String>> = Code::ALL
        .iter()
        .map(|code| {
            vec![
                format!("`{code}`"),
                code.default_level().to_string(),
                code.title().to_owned(),
            ]
        })
        .collect();
    assert_eq!(written, rules);
}

#[test]
fn the_table_of_exit_statuses_is_that_of_the_code() {
    let written: Vec<String> = table(&readme(), "Exit status")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    let statuses: Vec<String> = Exit::ALL
        .iter()
        .map(|exit| exit.status().to_string())
        .collect();
    assert_eq!(written, statuses);
}

#[test]
fn every_option_is_described_and_every_described_option_exists() {
    let readme = readme();
    // options of other programs stand on lines that name these
    let other = |line: &str| {
        ["cargo ", "pip ", "python3 ", "cuobjdump"]
            .iter()
            .any(|word| line.contains(word))
    };
    let lines: Vec<&str> = readme
        .lines()
        .map(|line| match line.split_once(" -- ") {
            Some((_, ours)) if line.starts_with("cargo run") => ours,
            _ if other(line) => "",
            _ => line,
        })
        .collect();
    let described = options(&lines.join("\n"));
    let existing = options(&help());
    let unknown: Vec<&String> = described.difference(&existing).collect();
    assert!(
        unknown.is_empty(),
        "the README names {unknown:?}, which no command has"
    );
    let ordinary = BTreeSet::from(["--help".to_owned(), "--version".to_owned()]);
    let silent: Vec<&String> = existing
        .difference(&described)
        .filter(|option| !ordinary.contains(*option))
        .collect();
    assert!(silent.is_empty(), "the README does not name {silent:?}");
}

#[test]
fn messages_about_limits_name_options_that_exist() {
    let existing = options(&help());
    let hits = [
        LimitHit::Unpacked(1),
        LimitHit::Ratio(1),
        LimitHit::Members(1),
        LimitHit::Metadata(1),
        LimitHit::Spool(1),
        LimitHit::Depth(1),
    ];
    for hit in hits {
        let message = hit.to_string();
        let named = options(&message);
        assert!(!named.is_empty() && named.is_subset(&existing), "{message}");
    }
}

#[test]
fn pages_of_rules_name_options_that_exist() {
    let existing = options(&help());
    for code in Code::ALL {
        for line in code.page().lines().filter(|line| line.contains("smgate ")) {
            let named = options(line);
            assert!(named.is_subset(&existing), "{code}: {line}");
        }
    }
}

#[test]
fn the_policy_of_the_readme_is_valid() {
    let readme = readme();
    let policies = blocks(&readme, "yaml");
    assert!(!policies.is_empty());
    for policy in policies {
        // what is commented out must be valid too
        let whole = policy.replace("\n# ", "\n");
        for text in [policy, &whole] {
            if let Err(mistakes) = Policy::parse("README.md", text, Tables::builtin()) {
                panic!("{}", mistakes.render(false));
            }
        }
        let whole = Policy::parse("README.md", &whole, Tables::builtin()).unwrap();
        assert_eq!(whole.waivers.len(), 1);
    }
}

#[test]
fn every_preset_is_listed() {
    let readme = readme();
    for preset in Policy::presets() {
        let name = format!("`preset:{}`", preset.name);
        assert!(readme.contains(&name), "{name}");
    }
}

#[test]
fn files_that_the_readme_links_to_exist() {
    let readme = readme();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for link in readme.split("](").skip(1) {
        let link = link.split(')').next().unwrap();
        if !link.contains("://") && !link.starts_with('#') {
            assert!(root.join(link).exists(), "{link}");
        }
    }
}
