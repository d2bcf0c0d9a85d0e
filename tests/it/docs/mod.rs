//! The pages of the documentation say what the program does: what is generated is fresh, what is quoted works, and
//! every page can be found.

mod generated;
mod help;
mod links;
mod policy;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use smgate::limits::LimitHit;
use smgate::policy::Policy;
use smgate::rule::Code;

use crate::support::text;
use crate::support_cli::without_digest;

/// A page: its path from the root of the repository, with slashes, and what it says.
struct Page {
    path: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page(path: &str) -> Page {
    Page {
        path: path.to_owned(),
        text: text(&root().join(path)).replace("\r\n", "\n"),
    }
}

/// The README and every page below `docs/`, sorted.
fn pages() -> Vec<Page> {
    let mut pages = vec!["README.md".to_owned()];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "md") {
                pages.push(path.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 10, "{pages:?}");
    pages.iter().map(|path| page(path)).collect()
}

/// Rows of the first table below a heading, without its head: the cells of each.
fn table(page: &Page, heading: &str) -> Vec<Vec<String>> {
    let text = format!("\n{}", page.text);
    let (_, below) = text
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("{}: no `{heading}`", page.path));
    below
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            line.trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim().to_owned())
                .collect()
        })
        .collect()
}

/// The blocks of code of a language.
fn blocks<'t>(page: &'t Page, language: &str) -> Vec<&'t str> {
    let begin = format!("```{language}\n");
    let blocks = page.text.split(begin.as_str()).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap())
        .collect()
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
fn the_output_of_pages_is_what_the_program_prints() {
    let mut runs = 0;
    for page in pages() {
        for run in blocks(&page, "console") {
            runs += 1;
            let (command, printed) = run.split_once('\n').unwrap();
            let command = command.strip_prefix("$ smgate ").unwrap();
            let output = Command::new(env!("CARGO_BIN_EXE_smgate"))
                .current_dir(root())
                .args(command.split(' '))
                .output()
                .unwrap();
            let output = String::from_utf8(output.stdout).unwrap();
            assert_eq!(
                without_digest(&output),
                without_digest(printed),
                "{}: {command}",
                page.path
            );
        }
    }
    assert!(runs > 0);
}

/// Pages that are about other programs too, whose options they name.
const OF_OTHERS: [&str; 5] = [
    "docs/comparison.md",
    "docs/contributing.md",
    "docs/github-action.md",
    "docs/install.md",
    "docs/pre-commit.md",
];

#[test]
fn options_that_pages_describe_exist() {
    let existing = help::options();
    let mut described = BTreeSet::new();
    for page in pages() {
        if OF_OTHERS.contains(&page.path.as_str()) {
            continue;
        }
        // whole commands are tried beside the arguments
        for quoted in page.text.split('`').filter(|text| text.starts_with('-')) {
            let named = options(quoted);
            let unknown: Vec<&String> = named.difference(&existing).collect();
            assert!(
                unknown.is_empty(),
                "{} names {unknown:?}, which no command has",
                page.path
            );
            described.extend(named);
        }
    }
    let ordinary = BTreeSet::from(["--help".to_owned(), "--version".to_owned()]);
    let silent: Vec<&String> = existing.difference(&described).collect();
    assert!(
        silent.iter().all(|option| ordinary.contains(*option)),
        "no page names {silent:?}"
    );
}

#[test]
fn messages_about_limits_name_options_that_exist() {
    let existing = help::options();
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
    let existing = help::options();
    for code in Code::ALL {
        for line in code.page().lines().filter(|line| line.contains("smgate ")) {
            let named = options(line);
            assert!(named.is_subset(&existing), "{code}: {line}");
        }
    }
}

#[test]
fn every_preset_is_listed() {
    let page = page("docs/policy.md");
    for preset in Policy::presets() {
        let name = format!("`preset:{}`", preset.name);
        assert!(page.text.contains(&name), "{name}");
    }
}

#[test]
fn every_schema_is_listed() {
    let page = page("docs/json.md");
    for entry in fs::read_dir(root().join("src/report/schema")).unwrap() {
        let name = entry.unwrap().file_name();
        let link = format!("(../src/report/schema/{})", name.to_str().unwrap());
        assert!(page.text.contains(&link), "docs/json.md lacks {link}");
    }
}

#[test]
fn code_of_the_library_stands_where_it_is_compiled() {
    for page in pages() {
        let compiled = page.path == "docs/library.md";
        assert!(
            compiled || !page.text.contains("```rust"),
            "{}: only docs/library.md is compiled",
            page.path
        );
    }
}
