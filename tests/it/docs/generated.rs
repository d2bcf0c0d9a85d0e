//! Parts of pages that are made from the program: rules, commands, exit statuses, tables.
//!
//! They stand between `<!-- made: NAME -->` and `<!-- end: NAME -->`. `SMGATE_BLESS=1 cargo test --locked --test it docs`
//! writes them again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use smgate::cli::Exit;
use smgate::rule::Code;

use super::help::{self, Entry, Help};
use super::{Page, page, root, table};
use crate::support::text;

/// `page` with `made` between its markers of `name`.
fn with(page: &Page, name: &str, made: &str) -> String {
    let begin = format!("<!-- made: {name} -->\n");
    let end = format!("<!-- end: {name} -->");
    let parts = page.text.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some((before, after))
    });
    let (before, after) = parts.unwrap_or_else(|| panic!("{}: no {begin}", page.path));
    format!("{before}{begin}\n{}\n\n{end}{after}", made.trim())
}

/// Compares a part of a page with what it should be, or writes it.
fn is_fresh(path: &str, name: &str, made: &str) {
    let page = page(path);
    let fresh = with(&page, name, made);
    if std::env::var_os("SMGATE_BLESS").is_some() {
        fs::write(root().join(path), fresh).unwrap();
    } else {
        assert!(
            page.text == fresh,
            "`{name}` in {path} is not what the program says; \
             `SMGATE_BLESS=1 cargo test --locked --test it docs` writes it again"
        );
    }
}

/// A text as the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The first sentence of what a rule means.
fn first_sentence(code: Code) -> String {
    let (_, meaning) = code.page().split_once("## What it means\n").unwrap();
    let paragraph = meaning.trim().split("\n\n").next().unwrap();
    let line = paragraph.lines().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim_end_matches(['.', ':']).to_owned()
}

#[test]
fn the_page_of_rules_is_that_of_the_code() {
    let mut made = String::from(
        "| rule | default | what it says | how its page begins |\n| --- | --- | --- | --- |\n",
    );
    for code in Code::ALL {
        writeln!(
            made,
            "| [`{code}`](../src/rule/explain/{code}.md) | {} | {} | {} |",
            code.default_level(),
            cell(code.title()),
            cell(&first_sentence(*code)),
        )
        .unwrap();
    }
    is_fresh("docs/rules.md", "rules", &made);
}

/// The heading of a command, and the name by which it can be linked to.
fn heading(help: &Help) -> (String, String) {
    let name = format!("smgate {}", help.command);
    let name = name.trim();
    (format!("`{name}`"), name.replace(' ', "-"))
}

fn entries(made: &mut String, what: &str, entries: &[&Entry]) {
    if !entries.is_empty() {
        writeln!(made, "\n| {what} | meaning |\n| --- | --- |").unwrap();
        for entry in entries {
            writeln!(made, "| `{}` | {} |", cell(&entry.name), cell(&entry.text)).unwrap();
        }
    }
}

#[test]
fn the_page_of_commands_is_what_help_says() {
    let commands = help::commands();
    let is_shared = |entry: &Entry| {
        let having = commands.iter().filter(|help| help.options.contains(entry));
        having.count() > 2
    };
    let mut made = String::from("| command | what it does |\n| --- | --- |\n");
    for help in &commands {
        let (title, name) = heading(help);
        writeln!(made, "| [{title}](#{name}) | {} |", cell(&help.about)).unwrap();
    }
    for help in &commands {
        let about = help.about.trim_end_matches(['.', '?']);
        let end = if help.about.ends_with('?') { '?' } else { '.' };
        writeln!(made, "\n## {}\n\n{about}{end}\n", heading(help).0).unwrap();
        writeln!(made, "```text\nUsage: {}\n```", help.usage).unwrap();
        let arguments: Vec<&Entry> = help.arguments.iter().collect();
        entries(&mut made, "argument", &arguments);
        let own: Vec<&Entry> = help.options.iter().filter(|e| !is_shared(e)).collect();
        entries(&mut made, "option", &own);
        let shared = help.options.iter().filter(|entry| is_shared(entry));
        let shared: Vec<String> = shared
            .filter_map(|entry| super::options(&entry.name).pop_first())
            .filter(|option| option != "--help")
            .map(|option| format!("`{option}`"))
            .collect();
        if !shared.is_empty() {
            let list = shared.join(", ");
            writeln!(
                made,
                "\nAnd of the [shared options](#shared-options): {list}."
            )
            .unwrap();
        }
        if !help.after.is_empty() {
            writeln!(made, "\n```text\n{}\n```", help.after).unwrap();
        }
    }
    let mut shared: Vec<&Entry> = Vec::new();
    for entry in commands.iter().flat_map(|help| &help.options) {
        if is_shared(entry) && !shared.contains(&entry) {
            shared.push(entry);
        }
    }
    made.push_str("\n## Shared options\n");
    entries(&mut made, "option", &shared);
    is_fresh("docs/commands.md", "commands", &made);
}

#[test]
fn the_exit_statuses_of_commands_are_what_help_says() {
    let mut made = String::from("| command | exit status |\n| --- | --- |\n");
    for help in help::commands() {
        if let Some((_, status)) = help.after.split_once("Exit status: ") {
            let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(made, "| `smgate {}` | {} |", help.command, cell(&status)).unwrap();
        }
    }
    is_fresh("docs/exit-codes.md", "exit-codes", &made);
}

#[test]
fn the_table_of_exit_statuses_is_that_of_the_code() {
    let rows = table(&page("docs/exit-codes.md"), "# Exit status");
    let written: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    let statuses = Exit::ALL.iter().map(|exit| exit.status().to_string());
    assert_eq!(written, statuses.collect::<Vec<String>>());
}

/// One file of tables: what it says of itself, its day, its lists with the number of their rows.
struct Table {
    about: String,
    as_of: String,
    sources: usize,
    lists: Vec<(String, usize)>,
}

fn parse_table(text: &str) -> Table {
    let comment = text.lines().map_while(|line| line.strip_prefix("# "));
    let comment = comment.collect::<Vec<_>>().join(" ");
    let end = comment.find(". ").unwrap_or(comment.len());
    let mut table = Table {
        about: comment[..end].trim_end_matches('.').to_owned(),
        as_of: String::new(),
        sources: 0,
        lists: Vec::new(),
    };
    let mut key = "";
    for line in text.lines() {
        let is_key = line.starts_with(|c: char| c.is_ascii_lowercase());
        if is_key {
            let value;
            (key, value) = line.split_once(':').unwrap();
            if key == "as_of" {
                value.trim().trim_matches('\'').clone_into(&mut table.as_of);
            } else if value.is_empty() && key != "sources" {
                table.lists.push((key.to_owned(), 0));
            }
        } else if key == "sources" && line.starts_with("  ") {
            table.sources += 1;
        } else if line.starts_with("- ") {
            table.lists.last_mut().unwrap().1 += 1;
        }
    }
    table
}

#[test]
fn the_counts_of_tables_are_those_of_the_tables() {
    let mut tables = BTreeMap::new();
    for entry in fs::read_dir(root().join("src/tables")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|suffix| suffix == "yaml") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            tables.insert(name, parse_table(&text(&path).replace("\r\n", "\n")));
        }
    }
    let mut made = String::from(
        "| table | holds | rows | sources | as of |\n| --- | --- | --- | --- | --- |\n",
    );
    for (name, table) in tables {
        assert!(!table.as_of.is_empty() && table.sources > 0, "{name}");
        let lists: Vec<String> = table
            .lists
            .iter()
            .filter(|(_, rows)| *rows > 0)
            .map(|(key, rows)| format!("`{key}` {rows}"))
            .collect();
        writeln!(
            made,
            "| [{name}](../src/tables/{name}) | {} | {} | {} | {} |",
            cell(&table.about),
            lists.join(", "),
            table.sources,
            table.as_of
        )
        .unwrap();
    }
    is_fresh("docs/facts.md", "tables", &made);
}
