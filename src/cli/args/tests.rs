//! Tests of the arguments: what pages quote can be typed, and limits show their defaults.

use std::path::Path;

use clap::error::ErrorKind;

use super::*;
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
            let text = std::fs::read_to_string(&path).unwrap();
            pages.push((path.display().to_string(), text));
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
fn the_help_shows_the_default_of_every_limit() {
    use clap::CommandFactory as _;
    let mut command = Args::command();
    for name in ["check", "inspect"] {
        let help = command.find_subcommand_mut(name).unwrap();
        let help = help.render_help().to_string();
        // as wrapped for no terminal
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for default in ["1T", "300", "1000000", "64M", "6", "8G", "256M"] {
            let shown = format!("[default: {default}]");
            assert!(help.contains(&shown), "{name} lacks {shown}");
        }
        assert!(help.contains("at most 8"), "{name}");
    }
}
