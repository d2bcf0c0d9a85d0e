//! A report in markdown, for the comment on a pull request or the summary of a step.
//!
//! GitHub takes 65,536 characters of a comment and refuses more, so the report stays below that. What weighs most
//! comes first and is kept longest: whole findings become lines, then lines are left out, and a sentence says how
//! many. Long names and sentences are cut, so that none takes the room of others. All foreign text goes through
//! `crate::escape`.

mod short;
mod table;

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use crate::escape::{code_span, in_markdown, summary_line};
use crate::report::Checked;
use crate::report::counts::Tally;
use crate::report::group::{Group, name};
use crate::report::text::plural;
use crate::rule::Level;
use crate::verdict::{Evaluation, Finding, Verdict};

use super::words::{
    cannot_judge, evidence, groups, judged_by, ranked, subject_parts, verdict, waived,
};
use short::Short;

/// Bytes of a report; characters are fewer.
const BYTES_MAX: usize = 65_000;
/// Of these, for the table.
const TABLE_BYTES: usize = 20_000;
/// Of these, for sentences about what is left out, and for what stands below.
const TAIL_BYTES: usize = 3_000;
/// Bytes of a foldable part beyond which evidence and next steps are only counted.
const PART_BYTES: usize = 8_000;

/// Writes the report.
pub(in crate::report) fn write(checked: Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(text(checked, BYTES_MAX).as_bytes())
}

fn text(checked: Checked<'_>, bytes_max: usize) -> String {
    let evaluation = checked.evaluation;
    let short = Short::default();
    let only = match evaluation.artifacts.as_slice() {
        [only] => format!("{}: ", code_span(&short.name(&only.input))),
        _ => String::new(),
    };
    let not_judged = cannot_judge(checked);
    let symbol = match not_judged {
        Some(_) => symbol(Verdict::Incomplete),
        None => symbol(evaluation.verdict),
    };
    let mut text = format!(
        "## {symbol} smgate: {}\n\n{only}{} ({})\n",
        verdict(checked),
        Tally::of(&evaluation.findings).words(),
        in_markdown(&short.name(&judged_by(evaluation))),
    );
    if let Some(why) = not_judged {
        add(&mut text, format_args!("\n**{why}**\n"));
    }
    let targets = checked.policy.targets.iter();
    let targets: Vec<&str> = targets.map(|target| target.name.as_str()).collect();
    table::write(
        evaluation,
        &targets,
        TABLE_BYTES.min(bytes_max / 3),
        &short,
        &mut text,
    );
    let budget = bytes_max.saturating_sub(TAIL_BYTES);
    write_findings(evaluation, budget, &short, &mut text);
    write_waived(evaluation, budget, &short, &mut text);
    if short.is_used() {
        text.push_str("\nLong names and sentences are cut, at `…`; the other reports of smgate have all of them.\n");
    }
    if !evaluation.findings.is_empty() {
        text.push_str("\n`smgate explain RULE` says more of a rule, such as `no-kernel-image`.\n");
    }
    let tables = evaluation.tables.to_string();
    add(
        &mut text,
        format_args!("\n{}\n", in_markdown(&short.line(&tables))),
    );
    text
}

fn add(text: &mut String, more: fmt::Arguments<'_>) {
    let _infallible = text.write_fmt(more);
}

fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✅",
        Verdict::Incomplete => "❓",
        Verdict::Fail => "❌",
    }
}

fn symbol_of(level: Level) -> &'static str {
    match level {
        Level::Deny => "❌",
        Level::Incomplete => "❓",
        Level::Warn => "⚠️",
        Level::Allow => "ℹ️",
    }
}

/// Each group as a foldable part where there is room, as a line where there is less.
fn write_findings(evaluation: &Evaluation, budget: usize, short: &Short, text: &mut String) {
    let groups = groups(evaluation);
    if groups.is_empty() {
        return;
    }
    text.push_str("\n### Findings\n");
    let forms = groups.iter().map(|group| {
        (
            folded(group, evaluation, short),
            item(group.first, evaluation, short),
        )
    });
    let forms: Vec<(String, String)> = forms.collect();
    let room = budget.saturating_sub(text.len());
    // as many as leave room for a line of each of the others, and half of the room where those have none
    let mut all: usize = forms.iter().map(|(_, line)| line.len()).sum();
    let mut used = 0;
    let mut whole = 0;
    for (folded, line) in &forms {
        all = all - line.len() + folded.len();
        used += folded.len();
        if all > room && used > room / 2 {
            break;
        }
        whole += 1;
    }
    let (folded, lines) = forms.split_at(whole);
    for (folded, _) in folded {
        text.push_str(folded);
    }
    let mut left: Vec<&Finding> = Vec::new();
    if !lines.is_empty() {
        text.push_str("\nIn short, as there is no room for more:\n\n");
        for ((_, line), group) in lines.iter().zip(groups.iter().skip(whole)) {
            // a shorter one may fit
            if text.len() + line.len() > budget {
                left.extend(std::iter::once(group.first).chain(group.others.iter().copied()));
            } else {
                text.push_str(line);
            }
        }
    }
    if !left.is_empty() {
        add(
            text,
            format_args!(
                "\nNot shown, as there is no room: {}. The other reports of smgate have all.\n",
                Tally::of(left).words()
            ),
        );
    }
}

fn folded(group: &Group<'_>, evaluation: &Evaluation, short: &Short) -> String {
    let finding = group.first;
    let mut text = format!(
        "\n<details><summary>{}",
        head(finding, evaluation, short, |name| {
            summary_line(&format!("`{}`", name.replace('`', "'")))
        })
    );
    add(
        &mut text,
        format_args!(
            ": {}</summary>\n\n",
            summary_line(&short.sentence(&finding.message))
        ),
    );
    let mut left = 0_u64;
    let mut push = |part: String, bytes_max: usize| {
        if text.len() + part.len() > bytes_max {
            left += 1;
        } else {
            text.push_str(&part);
        }
    };
    for line in evidence(finding) {
        let line = format!("- {}\n", in_markdown(&short.sentence(&line)));
        push(line, PART_BYTES / 2);
    }
    for line in same_elsewhere(group, short) {
        push(format!("- {}\n", in_markdown(&line)), PART_BYTES / 2);
    }
    for (index, step) in group.next_steps().iter().enumerate() {
        let (of, bytes_max) = if index == 0 {
            (String::new(), usize::MAX)
        } else {
            let of = in_markdown(&short.name(&name(step)));
            (format!(" for {of}"), PART_BYTES)
        };
        let step = in_markdown(&short.sentence(&step.next_step));
        push(format!("\n**Next{of}:** {step}\n"), bytes_max);
    }
    if left > 0 {
        let more = plural(left, "more line");
        add(
            &mut text,
            format_args!("\n{more} of this in the other reports.\n"),
        );
    }
    text.push_str("\n</details>\n");
    text
}

/// Of what else the same is true, where each name is cut by itself: a long one hides no other.
fn same_elsewhere(group: &Group<'_>, short: &Short) -> Vec<String> {
    let cut = |finding: &Finding| {
        let mut finding = finding.clone();
        finding.library = finding
            .library
            .map(|library| short.name(&library).into_owned());
        finding
    };
    let first = cut(group.first);
    let others: Vec<Finding> = group.others.iter().copied().map(cut).collect();
    let copies: Vec<_> = group.copies.iter().map(|path| short.name(path)).collect();
    let group = Group {
        first: &first,
        others: others.iter().collect(),
        copies: copies.iter().map(AsRef::as_ref).collect(),
    };
    group.same_elsewhere().collect()
}

/// Of what kind it is, and what it is about.
fn head(
    finding: &Finding,
    evaluation: &Evaluation,
    short: &Short,
    code: impl Fn(&str) -> String,
) -> String {
    let mut head = format!(
        "{} {} {}",
        symbol_of(finding.level),
        finding.level,
        code(finding.code.id())
    );
    let subject = subject_parts(finding, evaluation);
    let subject: Vec<_> = subject.iter().map(|part| short.name(part)).collect();
    if !subject.is_empty() {
        add(&mut head, format_args!(" {}", code(&subject.join(" › "))));
    }
    if let Some(line) = finding.line {
        add(&mut head, format_args!(" (line {line})"));
    }
    if let Some(target) = &finding.target {
        add(&mut head, format_args!(" on {}", code(&short.name(target))));
    }
    head
}

/// A finding as an item of a list.
fn item(finding: &Finding, evaluation: &Evaluation, short: &Short) -> String {
    let waived = waived(finding).map(|why| format!(" ({})", short.line(&why)));
    format!(
        "- {}: {}\n",
        head(finding, evaluation, short, code_span),
        in_markdown(&format!(
            "{}{}",
            short.line(&finding.message),
            waived.unwrap_or_default()
        ))
    )
}

fn write_waived(evaluation: &Evaluation, budget: usize, short: &Short, text: &mut String) {
    let waived = ranked(evaluation).into_iter();
    let waived: Vec<&Finding> = waived
        .map(|(_, finding)| finding)
        .filter(|finding| !finding.counts())
        .collect();
    if waived.is_empty() {
        return;
    }
    let count = plural(waived.len() as u64, "waived finding");
    add(
        text,
        format_args!("\n<details><summary>{count}</summary>\n\n"),
    );
    let mut left = 0;
    for finding in &waived {
        let item = item(finding, evaluation, short);
        if text.len() + item.len() > budget {
            left += 1;
        } else {
            text.push_str(&item);
        }
    }
    if left > 0 {
        add(text, format_args!("- and {left} more\n"));
    }
    text.push_str("\n</details>\n");
}
