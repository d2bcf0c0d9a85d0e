//! The rules that occur, with the pages that explain them.

use std::collections::BTreeSet;

use crate::rule::{Code, Level};
use crate::verdict::Evaluation;

use super::model::{Configuration, Help, Message, Rule, RuleProperties};

/// The codes of the findings, in the order of the table of codes.
pub(super) fn occurring(evaluation: &Evaluation) -> Vec<Code> {
    let occur: BTreeSet<Code> = evaluation.findings.iter().map(|one| one.code).collect();
    let codes = Code::ALL.iter().copied();
    codes.filter(|code| occur.contains(code)).collect()
}

pub(super) fn rule(code: Code) -> Rule {
    let page = body(code.page());
    Rule {
        id: code.id(),
        short_description: text(code.title()),
        full_description: text(&first_paragraph(page)),
        help: Help {
            text: plain(page),
            markdown: page,
        },
        default_configuration: Configuration {
            level: level(code.default_level()),
        },
        properties: RuleProperties {
            tags: &["cuda", "gpu", "compatibility"],
        },
    }
}

/// The level of what stops the gate.
pub(super) const ERROR: &str = "error";

/// The level that a code host shows. What could not be read stops the gate as what is denied does.
pub(super) const fn level(level: Level) -> &'static str {
    match level {
        Level::Deny | Level::Incomplete => ERROR,
        Level::Warn => "warning",
        Level::Allow => "note",
    }
}

/// A page without the name of the rule, which stands above it.
fn body(page: &'static str) -> &'static str {
    let body = page.split_once("\n\n").map(|(_, body)| body);
    body.unwrap_or(page).trim_end()
}

fn first_paragraph(page: &str) -> String {
    let mut paragraphs = page.split("\n\n").map(str::trim);
    let first = paragraphs.find(|paragraph| !paragraph.starts_with('#'));
    plain(&first.unwrap_or_default().replace('\n', " "))
}

/// A page without the signs of markdown that a reader of text stumbles over.
fn plain(page: &str) -> String {
    let lines = page.lines().filter(|line| !line.starts_with("```"));
    let lines = lines.map(|line| match line.strip_prefix("## ") {
        Some(heading) => format!("{heading}:"),
        None => line.replace('`', ""),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn text(text: &str) -> Message {
    Message {
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What GitHub shows cut: 1024 characters of a description.
    #[test]
    fn every_page_gives_a_description_of_one_paragraph_and_a_help_text() {
        for code in Code::ALL {
            let rule = rule(*code);
            let full = &rule.full_description.text;
            assert!(
                !full.is_empty() && !full.contains(['`', '\n', '#']),
                "{full}"
            );
            assert!(full.chars().count() <= 1024, "{code}: {}", full.len());
            assert!(rule.help.markdown.contains("## What it means"), "{code}");
            assert!(rule.help.text.contains("What it means:"), "{code}");
            assert!(rule.help.text.contains("What to do:"), "{code}");
        }
    }
}
