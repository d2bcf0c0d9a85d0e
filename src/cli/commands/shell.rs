//! `smgate completions` and `smgate man`: both are made of the arguments themselves, so that neither can differ.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man as Page;

use crate::cli::args::{Args, Completions, Man};
use crate::cli::{Exit, Failure, Output};
use crate::escape::visible;
use crate::{Error, ErrorKind};

pub(in crate::cli) fn completions(args: &Completions, output: &Output) -> Result<Exit, Failure> {
    let mut command = Args::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    if args.shell == Shell::Fish {
        values_for_fish(&command, &mut script)?;
    }
    print(&script, output)
}

/// The values of arguments that are no options, which the generator for fish leaves out.
fn values_for_fish(command: &Command, script: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_name();
    for below in command.get_subcommands() {
        for argument in below.get_positionals() {
            let values: Vec<String> = argument
                .get_possible_values()
                .iter()
                .map(|value| value.get_name().to_owned())
                .collect();
            if !values.is_empty() {
                let (word, values) = (below.get_name(), values.join(" "));
                writeln!(
                    script,
                    "complete -c {name} -n \"__fish_{name}_using_subcommand {word}\" -f -a \"{values}\""
                )?;
            }
        }
    }
    Ok(())
}

pub(in crate::cli) fn man(args: &Man, output: &Output) -> Result<Exit, Failure> {
    let mut root = shown(Args::command()).disable_help_subcommand(true);
    // gives each command the name that its page has
    root.build();
    if let Some(dir) = &args.dir {
        fs::create_dir_all(dir).map_err(|error| cannot_write(dir, error))?;
        let mut names = Vec::new();
        write_all(&root, dir, &mut names)?;
        let mut stdout = output.stdout();
        for name in names {
            writeln!(stdout, "{name}")?;
        }
        stdout.flush()?;
        return Ok(Exit::Pass);
    }
    let mut command = &root;
    for word in &args.command {
        command = command
            .find_subcommand(word)
            .ok_or_else(|| no_page(command, word))?;
    }
    print(&rendered(&page(command))?, output)
}

/// A command of which the manual leaves out nothing: it takes options that the short help hides for hidden ones.
fn shown(command: Command) -> Command {
    let command = command.mut_args(|argument| argument.hide_short_help(false));
    let names: Vec<String> = command
        .get_subcommands()
        .map(|below| below.get_name().to_owned())
        .collect();
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, shown))
}

/// Writes the pages of a command and of those below it, and lists their names.
fn write_all(command: &Command, dir: &Path, names: &mut Vec<String>) -> Result<(), Failure> {
    let page = page(command);
    let name = page.get_filename();
    let path = dir.join(&name);
    fs::write(&path, rendered(&page)?).map_err(|error| cannot_write(&path, error))?;
    names.push(name);
    for below in command.get_subcommands() {
        write_all(below, dir, names)?;
    }
    Ok(())
}

fn print(text: &[u8], output: &Output) -> Result<Exit, Failure> {
    let mut stdout = output.stdout();
    stdout.write_all(text)?;
    stdout.flush()?;
    Ok(Exit::Pass)
}

fn page(command: &Command) -> Page {
    let source = concat!("smgate ", env!("CARGO_PKG_VERSION"));
    Page::new(command.clone())
        .source(source)
        .manual("Manual of smgate")
}

fn rendered(page: &Page) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(text)
}

fn no_page(above: &Command, word: &str) -> Error {
    let names: Vec<String> = above
        .get_subcommands()
        .map(|command| format!("`{}`", command.get_name()))
        .collect();
    let name = above.get_bin_name().unwrap_or_else(|| above.get_name());
    let error = Error::new(
        ErrorKind::Usage,
        format!("`{name}` has no command `{}`", visible(word)),
    );
    if names.is_empty() {
        error
    } else {
        error.with_hint(format!("it has {}", names.join(", ")))
    }
}

fn cannot_write(path: &Path, error: io::Error) -> Error {
    let message = format!(
        "`{}` could not be written",
        visible(&path.display().to_string())
    );
    Error::new(ErrorKind::Output, message).with_source(error)
}
