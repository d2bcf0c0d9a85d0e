//! Tests of the arguments: what pages quote can be typed, and limits show their defaults.

use clap::error::ErrorKind;

use super::*;
use crate::rule::Code;
use crate::tables::Tables;

/// The commands of a page in Markdown: lines of blocks of code, and texts in backticks.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let line = trimmed
                .trim_start_matches("$ ")
                .trim_start_matches("- run: ");
            commands.push(line.split(" #").next().unwrap_or(line).to_owned());
            // output quotes commands as prose does
            commands.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        } else {
            commands.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    commands.retain(|command| command.starts_with("smgate "));
    commands
}

#[test]
fn every_command_that_a_page_quotes_can_be_typed() {
    let readme = ("README.md", include_str!("../../../README.md"));
    let install = ("install.md", include_str!("../../../docs/install.md"));
    let hooks = ("pre-commit.md", include_str!("../../../docs/pre-commit.md"));
    let pages = Code::ALL.iter().map(|code| (code.id(), code.page()));
    let folklore = ("folklore", crate::compat::FOLKLORE);
    let errors = Tables::builtin().error_rows().iter();
    let errors = errors.filter_map(|row| Some((row.id.as_str(), row.tell.as_deref()?)));
    let mut quoted = 0;
    for (name, page) in pages
        .chain([readme, install, hooks, folklore])
        .chain(errors)
    {
        for command in commands(page) {
            quoted += 1;
            // optional arguments stand in brackets
            let command = command.replace(['[', ']'], "");
            // what follows is for the shell, in a table with its bar escaped
            let command = [" > ", " | ", " \\| "]
                .iter()
                .fold(&command[..], |command, mark| {
                    command.split(mark).next().unwrap_or_default()
                });
            let words: Vec<&str> = command.split_whitespace().collect();
            match Args::try_parse_from(&words) {
                Ok(_) => {}
                // prose names a command without its inputs
                Err(error) if words.len() == 2 => {
                    assert_eq!(
                        error.kind(),
                        ErrorKind::MissingRequiredArgument,
                        "{name}: {command}"
                    );
                }
                Err(error) => panic!("{name}: {command}: {error}"),
            }
        }
    }
    assert!(quoted > 20, "only {quoted}");
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
