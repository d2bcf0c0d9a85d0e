//! Errors, as the table has them.

use super::{Candidate, Fact, Found, Ground};
use crate::tables::{ApiError, ErrorRow, Tables};

/// Looks up a pasted text, a name or a number.
pub(super) fn error(pasted: &str, tables: &Tables) -> Found {
    let found = tables.errors(pasted);
    let Some((first, others)) = found.split_first() else {
        return Found::None {
            nearest: tables.nearest_errors(pasted.trim()),
        };
    };
    Found::One {
        name: first.row.id.clone(),
        facts: facts(first.row),
        others: others
            .iter()
            .map(|other| Candidate {
                name: other.row.id.clone(),
                cc: None,
                chip: None,
                pci: None,
            })
            .collect(),
    }
}

fn facts(row: &ErrorRow) -> Vec<Fact> {
    let ground = Ground::new(row.evidence, &row.sources, row.note.as_ref());
    let api = |error: &ApiError| format!("{} {}", error.number, error.name);
    let advice = Ground::new(row.advised, &row.advice, row.note.as_ref());
    let mut facts = vec![
        advice.noted(advice.one("meaning", &row.meaning)),
        advice.one("cause", &row.cause),
        advice.maybe("how-to-tell", row.tell.as_ref()),
        ground.many("runtime-error", row.runtime.iter().map(api)),
        ground.many("driver-error", row.driver.iter().map(api)),
    ];
    if let Some(was) = row.was {
        facts.push(ground.one("old-runtime-number", was));
    }
    facts.push(ground.many("texts", &row.texts));
    let rules =
        Ground::rule("the rules of `smgate check`; `smgate explain CODE` says what each sees");
    facts.push(rules.many("rules", &row.codes));
    facts
}
