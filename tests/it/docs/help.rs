//! What `--help` of the program says, taken apart.

use std::collections::BTreeSet;
use std::process::Command;

/// The help of one command.
pub(super) struct Help {
    /// Its words: `policy init`; empty for the program.
    pub(super) command: String,
    pub(super) about: String,
    pub(super) usage: String,
    pub(super) arguments: Vec<Entry>,
    pub(super) options: Vec<Entry>,
    /// What stands behind the options: examples, exit status.
    pub(super) after: String,
    subcommands: Vec<String>,
}

/// An argument or an option.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// As it is typed: `--target <GPU>`.
    pub(super) name: String,
    pub(super) text: String,
}

/// The help of every command, in the order in which the program lists them.
pub(super) fn commands() -> Vec<Help> {
    let mut open = vec![String::new()];
    let mut all = Vec::new();
    while let Some(command) = open.pop() {
        let help = Help::of(&command);
        let below = help.subcommands.iter().rev();
        open.extend(below.map(|name| format!("{command} {name}").trim().to_owned()));
        all.push(help);
    }
    assert!(all.len() > 8, "{}", all.len());
    all
}

/// Every long option of every command.
pub(super) fn options() -> BTreeSet<String> {
    let entries = commands().into_iter().flat_map(|help| help.options);
    entries
        .flat_map(|entry| super::options(&entry.name))
        .collect()
}

impl Help {
    fn of(command: &str) -> Self {
        let output = Command::new(env!("CARGO_BIN_EXE_smgate"))
            .args(command.split_whitespace())
            .arg("--help")
            .env_remove("COLUMNS")
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}");
        let text = String::from_utf8(output.stdout).unwrap();
        Self::parse(command, &text.replace("\r\n", "\n").replace(".exe ", " "))
    }

    fn parse(command: &str, text: &str) -> Self {
        let (about, rest) = text.split_once("\nUsage: ").unwrap();
        let (usage, rest) = rest.split_once('\n').unwrap();
        let mut help = Self {
            command: command.to_owned(),
            about: sentences(about),
            usage: usage.to_owned(),
            arguments: Vec::new(),
            options: Vec::new(),
            after: String::new(),
            subcommands: Vec::new(),
        };
        let mut section = "";
        let mut lines = rest.lines().peekable();
        while let Some(line) = lines.next() {
            let indent = line.len() - line.trim_start().len();
            if line.is_empty() {
            } else if indent == 0 && line.ends_with(':') && line != "Examples:" {
                section = line;
            } else if indent == 0 {
                let after: Vec<&str> = [line].into_iter().chain(lines.by_ref()).collect();
                help.after = after.join("\n");
            } else if section == "Commands:" {
                let name = line.split_whitespace().next().unwrap();
                if indent == 2 && name != "help" {
                    help.subcommands.push(name.to_owned());
                }
            } else {
                assert!(indent < 8, "{command}: {line}");
                let mut body = String::new();
                while let Some(line) = lines.next_if(|l| l.is_empty() || l.starts_with("        "))
                {
                    body.push_str(line.trim_end());
                    body.push('\n');
                }
                let entry = Entry {
                    name: line.trim().to_owned(),
                    text: sentence(&body),
                };
                if section == "Arguments:" {
                    help.arguments.push(entry);
                } else {
                    help.options.push(entry);
                }
            }
        }
        help
    }
}

/// The description of an option as one line: its text, its values and its default.
fn sentence(body: &str) -> String {
    let (text, rest) = body.split_once("Possible values:").unwrap_or((body, ""));
    let mut line = sentences(text);
    let (values, default) = rest.split_once("[default: ").unwrap_or((rest, ""));
    let values: Vec<String> = format!(" {}", one_line(values))
        .split(" - ")
        .skip(1)
        .map(|value| match value.split_once(':') {
            Some((value, meaning)) => format!("`{value}` ({})", meaning.trim()),
            None => format!("`{value}`"),
        })
        .collect();
    if !values.is_empty() {
        line = format!("{line}: {}", values.join(", "));
    }
    match default.split_once(']') {
        Some((default, _)) => format!("{line} [default: {default}]"),
        None => line,
    }
}

/// The paragraphs of a text as sentences of one line.
fn sentences(text: &str) -> String {
    let mut line = String::new();
    for paragraph in text.split("\n\n").map(one_line) {
        if !line.is_empty() && !paragraph.is_empty() {
            line.push_str(if line.ends_with(['.', '?', ':']) {
                " "
            } else {
                ". "
            });
        }
        line.push_str(&paragraph);
    }
    line
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
