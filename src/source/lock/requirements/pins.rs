//! Requirements that others pin: constraints, and the same package in another line.

use std::collections::{BTreeMap, BTreeSet};

use pep508_rs::{MarkerTree, VerbatimUrl};

use super::super::{Lock, Locked, Unlocked};
use super::entry::Entry;

/// Pins of one package that are put together with what asks for it; with more it stays unlocked.
const MOST_PINS: usize = 8;
/// The longest marker that is taken apart, in bytes.
const MARKER_MAX: usize = 2048;
/// Brackets in a marker that is taken apart: its parser calls itself for each.
const MOST_BRACKETS: usize = 40;

/// A requirement, and the line in the top file that it is from.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) entry: Entry,
    pub(super) line: u32,
}

/// Adds requirements to the lock: those that are pinned, by themselves or by a constraint, and those that are not.
pub(super) fn settle(lock: &mut Lock, found: Vec<Found>, constraints: &[Found]) {
    let mut pins: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for Found { entry, .. } in found.iter().chain(constraints) {
        if entry.pinned.is_some() {
            let markers = pins.entry(entry.name.clone()).or_default();
            markers.push(entry.marker.clone());
        }
    }
    let mut by_name: BTreeMap<&str, Vec<&Locked>> = BTreeMap::new();
    for Found { entry, .. } in constraints {
        if let Some(pinned) = &entry.pinned {
            by_name.entry(&entry.name).or_default().push(pinned);
        }
    }
    let mut pinned_once = BTreeSet::new();
    for Found { entry, line } in found {
        if let Some(package) = entry.pinned {
            lock.packages.push(package);
            continue;
        }
        let asked = (entry.name.clone(), entry.marker.clone());
        let is_new = pinned_once.insert(asked);
        let constrained = by_name.get(entry.name.as_str());
        let constrained = constrained.filter(|pins| is_new && pins.len() <= MOST_PINS);
        for pinned in constrained.into_iter().flatten() {
            let mut package = Locked::clone(pinned);
            package.line = line;
            package.condition.marker = both(entry.marker.as_deref(), package.condition.marker);
            lock.packages.push(package);
        }
        let none = Vec::new();
        let markers = pins.get(&entry.name).unwrap_or(&none);
        if let Left::Where(marker) = left_over(entry.marker, markers) {
            lock.unlocked.push(Unlocked {
                text: entry.text,
                line,
                marker,
            });
        }
    }
}

fn both(one: Option<&str>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("({one}) and ({other})")),
        (one, other) => other.or_else(|| one.map(str::to_owned)),
    }
}

/// What no pin answers of a requirement.
enum Left {
    Nothing,
    /// It stays unlocked where this marker holds; everywhere without one.
    Where(Option<String>),
}

/// Where a marker holds and none of others does. What is not understood is left over.
fn left_over(own: Option<String>, pins: &[Option<String>]) -> Left {
    let is_many = pins.len() > MOST_PINS;
    if !is_many && pins.iter().any(Option::is_none) {
        return Left::Nothing;
    }
    if is_many || pins.is_empty() {
        return Left::Where(own);
    }
    let left = || {
        let mut left = own.as_deref().map_or(Some(MarkerTree::TRUE), tree)?;
        for pin in pins {
            left.and(tree(pin.as_deref()?)?.negate());
        }
        Some(left)
    };
    match left() {
        Some(left) if left.is_false() => Left::Nothing,
        Some(left) => Left::Where(left.try_to_string()),
        None => Left::Where(own),
    }
}

fn tree(marker: &str) -> Option<MarkerTree> {
    let brackets = marker.bytes().filter(|b| *b == b'(').count();
    let is_fair = marker.len() <= MARKER_MAX && brackets <= MOST_BRACKETS;
    is_fair.then(|| MarkerTree::parse_str::<VerbatimUrl>(marker).ok())?
}
