//! Commands that pages and the help quote can be typed, with all features of the program.

use std::path::Path;

use clap::error::ErrorKind;

use super::super::*;
use super::commands_of_the_program;
use crate::rule::Code;
use crate::tables::Tables;

/// What may stand before a command in a block of code: a prompt, keys of YAML, a command that is piped into it.
const BEFORE: [&str; 6] = ["$ ", "- ", "run: ", "entry: ", "script: ", "if "];

/// The commands of a page in Markdown: lines of blocks of code, and texts in backticks.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in page.replace("\\\n", " ").lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            in_block = !in_block;
            continue;
        }
        if in_block {
            for part in trimmed.split(" | ") {
                let mut command = part.trim();
                while let Some(rest) = BEFORE.iter().find_map(|word| command.strip_prefix(word)) {
                    command = rest;
                }
                commands.push(command.split(" #").next().unwrap_or(command).to_owned());
            }
        }
        // output quotes commands as prose does
        commands.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    commands.retain(|command| command.starts_with("smgate "));
    commands
}

/// The words of a command as a shell splits them, up to what is no longer part of it.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, c) if c.is_whitespace() => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    assert_eq!(quote, None, "{command}");
    words.retain(|word| !word.is_empty());
    let end = |word: &String| {
        ["|", "\\|", "||", "&&", ">", ">>", "2>", ";", "2>&1"].contains(&word.as_str())
    };
    let end = words.iter().position(end).unwrap_or(words.len());
    words.truncate(end);
    words
}

fn is_placeholder(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_uppercase())
}

/// The README and the pages below `docs/`: their names and texts.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open = vec![root.join("README.md"), root.join("docs")];
    let mut pages = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|suffix| suffix == "md") {
            let file = std::fs::File::open(&path).unwrap();
            let (text, more) = crate::limits::read_capped(file, 1 << 20).unwrap();
            assert!(!more, "{}", path.display());
            pages.push((path.display().to_string(), String::from_utf8(text).unwrap()));
        }
    }
    assert!(pages.len() > 10, "{}", pages.len());
    pages
}

#[test]
fn every_command_that_a_page_quotes_can_be_typed() {
    let rules = Code::ALL.iter().map(|code| (code.id(), code.page()));
    let folklore = ("folklore", crate::compat::FOLKLORE);
    let errors = Tables::builtin().error_rows().iter();
    let errors = errors.filter_map(|row| Some((row.id.as_str(), row.tell.as_deref()?)));
    let fixed = rules.chain([folklore]).chain(errors);
    let fixed = fixed.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let mut quoted = 0;
    for (name, page) in fixed.chain(pages()) {
        for command in commands(&page) {
            quoted += 1;
            // optional arguments stand in brackets
            let words = words(&command.replace(['[', ']'], ""));
            match Args::try_parse_from(&words) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::DisplayHelp => {}
                // a word in capitals stands for a value, or for a command
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::InvalidValue | ErrorKind::InvalidSubcommand
                    ) && words.iter().any(|word| is_placeholder(word)) => {}
                // prose names a command without its inputs
                Err(error) if words.len() == 2 => {
                    assert!(
                        matches!(
                            error.kind(),
                            ErrorKind::MissingRequiredArgument
                                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                        ),
                        "{name}: {command}"
                    );
                }
                Err(error) => panic!("{name}: {command}: {error}"),
            }
        }
    }
    assert!(quoted > 100, "only {quoted}");
}

#[test]
fn a_quoted_command_is_split_as_a_shell_does() {
    let expected = ["smgate", "find", "torch", "--target", "GTX 1060"];
    assert_eq!(
        words("smgate find torch --target \"GTX 1060\" || true"),
        expected
    );
    let page = "```sh\n$ docker save x | smgate check - # all\n- run: smgate check \\\n    a.whl\n```\n`smgate host` says\n";
    let expected = ["smgate check - ", "smgate check      a.whl", "smgate host"];
    assert_eq!(commands(page), expected.map(|c| c.trim_end().to_owned()));
}

#[test]
fn every_command_has_examples_in_its_long_help_that_can_be_typed() {
    let alone = [
        "smgate cache dir",
        "smgate cache size",
        "smgate cache clear",
    ];
    for (path, command) in commands_of_the_program() {
        if alone.contains(&path.as_str()) {
            continue;
        }
        let text = command.get_after_long_help().map(ToString::to_string);
        let text = text.unwrap_or_else(|| panic!("`{path} --help` has no examples"));
        let (_, examples) = text.split_once("Examples:\n").unwrap();
        let examples = examples.lines().map(str::trim_start);
        let typed = examples.flat_map(|line| line.split(" | "));
        let typed: Vec<&str> = typed.filter(|line| line.starts_with("smgate ")).collect();
        assert!(typed.iter().any(|line| line.starts_with(&path)), "{path}");
        for line in typed {
            let words = line
                .split(' ')
                .take_while(|word| !["<", ">"].contains(word));
            if let Err(error) = Args::try_parse_from(words) {
                panic!("{path}: `{line}`: {error}");
            }
        }
    }
}
