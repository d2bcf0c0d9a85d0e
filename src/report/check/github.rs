//! Annotations of GitHub: workflow commands, which the runner reads from what a step prints.
//!
//! A step gets ten errors and ten warnings; the runner drops what is beyond. So findings that say the same are one
//! annotation, those that weigh most come first, and the last line, a notice, says how many there are no room for.

use std::io::{self, Write};

use crate::escape::{in_command, in_command_property, visible};
use crate::report::Checked;
use crate::report::counts::Tally;
use crate::report::group::{Group, name};
use crate::report::text::plural;
use crate::verdict::Evaluation;

use super::place::Places;
use super::words::{cannot_judge, evidence, groups, has_effect, judged_by, subject, verdict};

/// The annotations of a kind that a step gets.
const ANNOTATIONS_MAX: usize = 10;

/// Writes the commands.
pub(in crate::report) fn write(checked: Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let evaluation = checked.evaluation;
    let places = Places::new(checked);
    let groups = groups(evaluation).into_iter();
    let (errors, warnings): (Vec<Group<'_>>, Vec<Group<'_>>) =
        groups.partition(|group| has_effect(group.first, evaluation));
    if let Some(why) = cannot_judge(checked) {
        writeln!(out, "::error title=smgate::{}", in_command(why))?;
    }
    let mut left = Vec::new();
    for (command, noun, groups) in [("error", "error", errors), ("warning", "warning", warnings)] {
        for group in groups.iter().take(ANNOTATIONS_MAX) {
            write_annotation(command, group, evaluation, &places, out)?;
        }
        let more = groups.len().saturating_sub(ANNOTATIONS_MAX) as u64;
        if more > 0 {
            left.push(plural(more, &format!("more {noun}")));
        }
    }
    let left = match left.as_slice() {
        [] => String::new(),
        left => format!(
            "; {} without an annotation, of which a step gets {ANNOTATIONS_MAX} of a kind: the full report has them",
            left.join(" and ")
        ),
    };
    let text = format!(
        "{}: {} ({}){left}",
        verdict(checked),
        Tally::of(&evaluation.findings).words(),
        judged_by(evaluation)
    );
    writeln!(
        out,
        "::notice title=smgate::{}",
        in_command(&visible(&text))
    )
}

fn write_annotation(
    command: &str,
    group: &Group<'_>,
    evaluation: &Evaluation,
    places: &Places<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let finding = group.first;
    let mut properties = Vec::new();
    if let Some(place) = places.of(finding).first() {
        properties.push(("file", place.path.clone()));
        properties.extend(place.line.map(|line| ("line", line.to_string())));
    }
    let on = finding
        .target
        .as_ref()
        .map(|target| format!(" on {target}"));
    let title = format!("smgate {}{}", finding.code, on.unwrap_or_default());
    properties.push(("title", title));
    let properties: Vec<String> = properties
        .iter()
        .map(|(name, value)| format!("{name}={}", in_command_property(&visible(value))))
        .collect();
    let lines: Vec<String> = lines(group, evaluation)
        .iter()
        .map(|line| visible(line).into_owned())
        .collect();
    writeln!(
        out,
        "::{command} {}::{}",
        properties.join(","),
        in_command(&lines.join("\n"))
    )
}

fn lines(group: &Group<'_>, evaluation: &Evaluation) -> Vec<String> {
    let finding = group.first;
    let mut lines: Vec<String> = subject(finding, evaluation).into_iter().collect();
    lines.push(finding.message.clone());
    lines.extend(evidence(finding).map(|line| format!("- {line}")));
    lines.extend(group.same_elsewhere().map(|line| format!("- {line}")));
    for (index, step) in group.next_steps().iter().enumerate() {
        lines.push(match index {
            0 => format!("next: {}", step.next_step),
            _ => format!("next for {}: {}", name(step), step.next_step),
        });
    }
    lines
}
