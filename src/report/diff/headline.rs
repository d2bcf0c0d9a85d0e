//! One line for a pair: what is compared, and what changes for GPUs.

use crate::verdict::Floor;
use crate::verdict::compare::{CodeKey, Compared, Content, Outcome, PackageChange, Pair};
use crate::verdict::megabytes;

use super::{listed, plural};

/// Packages whose targets are named in one line.
const NAMED: usize = 3;

/// The line.
pub(super) fn of(pair: &Pair) -> String {
    match (&pair.before, &pair.after) {
        (Some(before), Some(after)) => {
            let effects = effects(pair);
            format!("{}: {}", both(before, after), effects.join("; "))
        }
        (None, Some(only)) => format!("new: {}", label(only)),
        (Some(only), None) => format!("gone: {}", label(only)),
        (None, None) => String::new(),
    }
}

fn both(before: &Compared, after: &Compared) -> String {
    let name = |side: &Compared| side.package.as_ref().map(|package| package.name.clone());
    let version = |side: &Compared| side.package.as_ref()?.version.clone();
    match (name(before), version(before), version(after)) {
        (Some(same), Some(from), Some(to)) if name(after).as_ref() == Some(&same) && from != to => {
            format!("{same} {from} -> {to}")
        }
        _ if label(before) == label(after) && before.package.is_some() => label(after),
        _ if label(before) == label(after) => format!("{} -> {}", before.input, after.input),
        _ => format!("{} -> {}", label(before), label(after)),
    }
}

fn label(side: &Compared) -> String {
    let file = side.input.rsplit(['/', '\\']).next();
    let package = side.package.as_ref().map(ToString::to_string);
    package.unwrap_or_else(|| file.unwrap_or_default().to_owned())
}

fn effects(pair: &Pair) -> Vec<String> {
    let mut effects = Vec::new();
    let packages = || pair.packages.iter().filter(|change| change.is_about_gpus());
    // where an artifact is one package, its name stands before
    let several = pair.packages.len() as u64 + pair.unchanged > 1;
    if several {
        effects.extend(counted(pair));
    }
    let mut more = 0_u64;
    for change in packages() {
        let targets = lost_and_gained(change);
        match (&targets, several) {
            (None, _) => {}
            (Some(_), true) if effects.len() > NAMED => more += 1,
            (Some(targets), true) => effects.push(format!("{} {targets}", name(change))),
            (Some(targets), false) => effects.push(targets.clone()),
        }
    }
    if more > 0 {
        effects.push(format!("and so do {}", plural(more, "more package")));
    }
    let bytes = |change: &PackageChange, after: bool| {
        let side = if after { &change.after } else { &change.before };
        let code = side.iter();
        code.map(|content| {
            content
                .code_bytes(false)
                .saturating_add(content.code_bytes(true))
        })
        .fold(0, u64::saturating_add)
    };
    let sum = |after: bool| {
        packages()
            .map(|change| bytes(change, after))
            .fold(0, u64::saturating_add)
    };
    effects.extend(difference(sum(false), sum(true)).map(|text| format!("{text} of device code")));
    if let ([change], false) = (pair.packages.as_slice(), several) {
        effects.extend(newest_toolkit(change));
    }
    effects.extend(drivers(&pair.outcomes));
    if effects.is_empty() {
        effects.push("nothing changes for GPUs".to_owned());
    }
    effects
}

/// How many packages are other ones, new or gone.
fn counted(pair: &Pair) -> Option<String> {
    let count = |wanted: fn(&PackageChange) -> bool| {
        pair.packages.iter().filter(|change| wanted(change)).count() as u64
    };
    let parts = [
        (
            count(|change| change.before.is_some() && change.after.is_some()),
            "changed",
        ),
        (count(|change| change.before.is_none()), "new"),
        (count(|change| change.after.is_none()), "gone"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let first = parts.first_mut()?;
    let (count, what) = first.split_once(' ')?;
    let noun = if count == "1" { "package" } else { "packages" };
    *first = format!("{count} {noun} {what}");
    Some(parts.join(", "))
}

/// What a package is called: its name after, or before where it is gone.
pub(super) fn name(change: &PackageChange) -> &str {
    let sides = [&change.after, &change.before];
    let mut names = sides
        .into_iter()
        .flatten()
        .filter_map(|side| side.name.as_deref());
    names.next().unwrap_or("files of no package")
}

/// `loses sm_50; gains sm_120`.
fn lost_and_gained(change: &PackageChange) -> Option<String> {
    let (lost, gained) = change.targets();
    let said = |what: &str, targets: &[&CodeKey]| {
        let names: Vec<String> = targets.iter().map(|key| key.name.clone()).collect();
        (!names.is_empty()).then(|| format!("{what} {}", listed(&names)))
    };
    let parts = [said("loses", &lost), said("gains", &gained)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `+143.0 MB`; nothing where it rounds to none.
pub(super) fn difference(before: u64, after: u64) -> Option<String> {
    let text = megabytes(before.abs_diff(after));
    let sign = if after < before { '-' } else { '+' };
    (text != megabytes(0)).then(|| format!("{sign}{text}"))
}

/// `CUDA 12.8 -> 13.0`, where the toolkits differ.
pub(super) fn toolkits(change: &PackageChange) -> Option<String> {
    let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
    if before.toolkits == after.toolkits || before.toolkits.is_empty() || after.toolkits.is_empty()
    {
        return None;
    }
    let names = |content: &Content| {
        let names = content.toolkits.iter().map(ToString::to_string);
        names.collect::<Vec<_>>().join(", ")
    };
    Some(format!("CUDA {} -> {}", names(before), names(after)))
}

/// `CUDA 12.8 -> 13.0`, where the newest toolkit is another one: it decides on the driver.
fn newest_toolkit(change: &PackageChange) -> Option<String> {
    let before = change.before.as_ref()?.toolkits.last()?;
    let after = change.after.as_ref()?.toolkits.last()?;
    (before != after).then(|| format!("CUDA {before} -> {after}"))
}

/// `needs driver 525.60.13 -> 580.65.06`, with the targets where it is not so for all.
fn drivers(outcomes: &[Outcome]) -> Option<String> {
    let mut floors: (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut targets: Vec<String> = Vec::new();
    let mut all: Vec<&str> = Vec::new();
    for outcome in outcomes {
        add(&mut all, outcome.target.as_str());
        let Some((before, after)) = outcome.floors() else {
            continue;
        };
        let spec = |floor: Option<&Floor>| {
            floor.map_or_else(|| "any".to_owned(), |floor| floor.driver.to_string())
        };
        if spec(before) != spec(after) {
            add(&mut floors.0, spec(before));
            add(&mut floors.1, spec(after));
            add(&mut targets, outcome.target.clone());
        }
    }
    let one_of = |floors: &[String]| floors.join(" or ");
    let on = if targets.len() < all.len() {
        format!(" on {}", listed(&targets))
    } else {
        String::new()
    };
    match (floors.0.len(), floors.1.len()) {
        (0, _) | (_, 0) => None,
        (1..=2, 1..=2) => Some(format!(
            "needs driver {} -> {}{on}",
            one_of(&floors.0),
            one_of(&floors.1)
        )),
        _ => {
            let count = plural(targets.len() as u64, "target");
            Some(format!("needs other drivers on {count}"))
        }
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}
