//! What holds of each fatbin on the GPUs of the targets, for those who ask for everything.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::inventory::{Artifact, Library};
use crate::verdict::{State, fatbins};

use super::checked::Checked;
use super::images::images;
use super::style::Styles;
use super::text::{listed, plural, wrapped};
use super::{HumanOptions, visible};

/// How many fatbins of one kind have a state, by target.
type States = BTreeMap<String, BTreeMap<&'static str, u64>>;

/// Writes a part for each library of the artifact at `index` that has code of its own.
pub(super) fn write(
    checked: Checked<'_>,
    index: usize,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(artifact) = checked.inventory.artifacts.get(index) else {
        return Ok(());
    };
    let rows = checked.evaluation.matrix.iter();
    let targets = rows.filter(|row| row.artifact == index);
    let targets: BTreeSet<&str> = targets.map(|row| row.target.as_str()).collect();
    for library in &artifact.libraries {
        let kinds = kinds(checked, artifact, library, &targets);
        if kinds.is_empty() {
            continue;
        }
        writeln!(out)?;
        writeln!(out, "{}", styles.bold(visible(&library.path)))?;
        for ((general, images), states) in &kinds {
            let of_target = states.values().map(|states| states.values().sum::<u64>());
            let count = of_target.max().unwrap_or_default();
            let kind = if *general { "general" } else { "single-target" };
            let text = format!("{}: {images}", plural(count, &format!("{kind} fatbin")));
            writeln!(out, "  {}", wrapped(&visible(&text), 2, options.width))?;
            for (said, targets) in by_state(states) {
                let text = format!("{said}: {}", listed(&targets));
                writeln!(out, "    {}", wrapped(&visible(&text), 4, options.width))?;
            }
        }
    }
    Ok(())
}

/// The fatbins of a library by what they hold, and their states by target.
fn kinds(
    checked: Checked<'_>,
    artifact: &Artifact,
    library: &Library,
    targets: &BTreeSet<&str>,
) -> BTreeMap<(bool, String), States> {
    let mut kinds: BTreeMap<(bool, String), States> = BTreeMap::new();
    for target in &checked.policy.targets {
        if !targets.contains(target.name.as_str()) {
            continue;
        }
        for gpu in &target.gpus {
            let name = match target.gpus.as_slice() {
                [_] => target.name.clone(),
                _ => format!("{} on {gpu}", target.name),
            };
            for unit in fatbins(artifact, library, target, gpu, checked.tables) {
                let states = kinds
                    .entry((unit.general, images(&unit.classes)))
                    .or_default();
                let counts = states.entry(name.clone()).or_default();
                *counts.entry(said(unit.state)).or_default() += unit.count;
            }
        }
    }
    kinds
}

/// Targets of which the same holds, in the order of the words.
fn by_state(states: &States) -> BTreeMap<String, Vec<String>> {
    let mut by_state: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (target, counts) in states {
        let said = match counts.iter().next() {
            Some((only, _)) if counts.len() == 1 => (*only).to_owned(),
            _ => {
                let each = counts.iter().map(|(said, count)| format!("{count} {said}"));
                each.collect::<Vec<_>>().join(", ")
            }
        };
        by_state.entry(said).or_default().push(target.clone());
    }
    by_state
}

fn said(state: State) -> &'static str {
    match state {
        State::Native => "machine code",
        State::Jit => "compiled by the driver",
        State::Unsure => "machine code, not promised to run",
        State::JitBlocked => "PTX that is too new for the driver",
        State::CodingBlocked => "code that the driver cannot unpack",
        State::LinkOnly => "LTO-IR only, to be linked",
        State::None => "no code",
    }
}
