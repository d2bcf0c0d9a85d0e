//! Tests of the arguments: limits show their defaults, and a short help is one.

#[cfg(feature = "registry")]
mod quoted;

use super::*;

#[test]
fn the_help_shows_the_default_of_every_limit() {
    use clap::CommandFactory as _;
    let mut command = Args::command();
    for name in ["check", "inspect"] {
        let help = command.find_subcommand_mut(name).unwrap();
        let help = help.render_long_help().to_string();
        // as wrapped for no terminal
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for default in ["1T", "300", "1000000", "64M", "6", "8G", "256M"] {
            let shown = format!("[default: {default}]");
            assert!(help.contains(&shown), "{name} lacks {shown}");
        }
        assert!(help.contains("at most 8"), "{name}");
    }
}

/// Each command with the words that lead to it.
fn every_command(command: &clap::Command, path: &str, into: &mut Vec<(String, clap::Command)>) {
    into.push((path.to_owned(), command.clone()));
    for below in command.get_subcommands() {
        every_command(below, &format!("{path} {}", below.get_name()), into);
    }
}

fn commands_of_the_program() -> Vec<(String, clap::Command)> {
    let mut commands = Vec::new();
    let program = <Args as clap::CommandFactory>::command();
    every_command(&program, "smgate", &mut commands);
    commands
}

#[test]
fn the_short_help_of_a_command_fits_a_screen_and_leaves_limits_out() {
    for (path, command) in commands_of_the_program() {
        let mut command = command.term_width(80);
        let short = command.render_help().to_string();
        assert!(short.lines().count() <= 50, "{path}:\n{short}");
        assert!(!short.contains("Limits:"), "{path}");
        for line in short.lines() {
            assert!(line.chars().count() <= 80, "{path}: {line}");
        }
    }
}
