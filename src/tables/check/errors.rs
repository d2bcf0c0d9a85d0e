//! Invariants of the table of errors.

use std::collections::BTreeSet;

use super::super::Tables;
use super::super::errors::Pattern;
use super::Broken;

/// How many literal bytes a fragment must have to say anything.
const SAYING: usize = 12;

/// Errors are sorted; numbers and names are of one row; each row can be recognised, and by its own texts.
pub(super) fn errors(tables: &Tables, broken: &mut Broken) {
    let rows = &tables.error_table().rows;
    broken.rising("errors", rows.iter().map(|row| &row.id));
    broken.sourced(
        rows.iter()
            .map(|row| (&row.id, row.sources.as_slice(), row.note.as_ref())),
    );
    broken.sourced(
        rows.iter()
            .map(|row| (&row.id, row.advice.as_slice(), None)),
    );
    let mut numbers = BTreeSet::new();
    let mut names = BTreeSet::new();
    for row in rows {
        let id = &row.id;
        let (runtime, driver) = (row.runtime.as_ref(), row.driver.as_ref());
        for (interface, api) in [("runtime", runtime), ("driver", driver)] {
            let Some(api) = api else { continue };
            let own = numbers.insert((interface, api.number)) && names.insert(api.name.as_str());
            broken.unless(own, || {
                format!("`{id}`: {} {} is of another row too", api.number, api.name)
            });
        }
        let old = row.was.is_none_or(|was| numbers.insert(("old", was)));
        broken.unless(old, || {
            format!("`{id}`: its old number is of another row too")
        });
        let recognisable = runtime.is_some() || driver.is_some() || !row.texts.is_empty();
        broken.unless(recognisable, || {
            format!("`{id}` has neither number nor text")
        });
        broken.unless(!row.meaning.is_empty() && !row.cause.is_empty(), || {
            format!("`{id}` does not say what it means")
        });
        for text in &row.texts {
            let sample = text.replace("{n}", "7").replace("{v}", "7.7");
            let sample = sample.replace("{w}", "x").replace("{*}", "x y");
            broken.unless(Pattern::new(text).literal() >= SAYING, || {
                format!("`{id}`: `{text}` says too little")
            });
            let found = tables.errors(&sample);
            broken.unless(
                found.first().is_some_and(|first| first.row.id == *id),
                || format!("`{id}`: `{text}` is first of another row"),
            );
        }
    }
}
