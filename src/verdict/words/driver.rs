//! The sentences of driver findings.

use std::collections::{BTreeMap, BTreeSet};

use super::Subject;
use crate::compat::{Driver, Drives, Meets};
use crate::cuda::DriverSpec;
use crate::rule::Code;
use crate::verdict::finding::Finding;
use crate::verdict::floor::{Floor, Mechanism};

/// The driver is below a floor.
pub(in crate::verdict) fn driver_too_old(
    subject: Subject<'_>,
    floor: &Floor,
    others: &[&Floor],
) -> Finding {
    let target = &subject.target.name;
    let have = subject
        .target
        .driver
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let verb = match floor.mechanism {
        Mechanism::Gpu(_) => "need",
        _ => "needs",
    };
    let message = format!(
        "{} {verb} driver {} or newer, `{target}` has {have}",
        floor.mechanism, floor.driver
    );
    let build = older_build(subject, floor);
    let next_step = match (upgrade(subject, &floor.driver), build) {
        (Some(upgrade), Some(build)) => format!("{upgrade}, or {build}"),
        (Some(upgrade), None) => upgrade,
        (None, Some(build)) => format!("{build}; no driver that new drives {}", subject.gpu_name()),
        (None, None) => format!(
            "choose a newer GPU: no driver that new drives {}",
            subject.gpu_name()
        ),
    };
    let mut finding = subject.finding(Code::DriverTooOld, message, next_step);
    let mut needs: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for floor in others {
        let need = format!("{} or newer for {}", floor.driver, floor.mechanism);
        let paths = needs.entry(need).or_default();
        paths.extend(floor.culprit.as_deref());
    }
    // a single need of a single file is what the message says
    if needs.len() == 1 && needs.values().all(|paths| paths.len() <= 1) {
        needs.clear();
    }
    for (need, paths) in needs {
        finding = finding.evidence(match named(&paths) {
            Some(names) => format!("{need}: {names}"),
            None => need,
        });
    }
    finding.library.clone_from(&floor.culprit);
    finding
}

/// `upgrade the driver of `t4` to R580 or newer`, up to the last branch that drives the GPU; none where a driver that
/// new has dropped it.
pub(super) fn upgrade(subject: Subject<'_>, driver: &DriverSpec) -> Option<String> {
    let upgraded = Driver::new(Some(driver.clone()), subject.os, subject.tables);
    if let Drives::Dropped(_) = upgraded.drives(subject.gpu.cc) {
        return None;
    }
    let capability = subject.tables.capability(subject.gpu.cc);
    let bound = match capability.and_then(|row| row.last_branch) {
        None => " or newer".to_owned(),
        Some(last) if *driver == DriverSpec::Branch(last) => {
            ", the last branch that drives it".to_owned()
        }
        Some(last) => format!(" or newer, up to {last}, the last branch that drives it"),
    };
    Some(format!(
        "upgrade the driver of `{}` to {driver}{bound}",
        subject.target.name
    ))
}

/// A build that the driver starts: of the newest CUDA major version below the one that asks for more, of which the
/// runtime starts there and a toolkit makes code for the GPU.
fn older_build(subject: Subject<'_>, floor: &Floor) -> Option<String> {
    let (Mechanism::Runtime(asks) | Mechanism::Toolkit(asks)) = floor.mechanism else {
        return None;
    };
    let (driver, tables) = (subject.driver(), subject.tables);
    let makes = |major: u32| {
        let row = tables.sm(subject.sm())?;
        let first = row.first_toolkit?.major <= major;
        let last = row.last_toolkit.is_none_or(|last| major <= last.major);
        (first && last).then_some(())
    };
    let starts = |major: u32| {
        let floor = tables.runtime_floor(major, subject.os)?;
        (driver.meets(&floor.driver) != Meets::No).then_some(())
    };
    let mut older = (1..asks.major).rev();
    let major = older.find(|major| starts(*major).and(makes(*major)).is_some())?;
    Some(format!(
        "look for a build of {} for CUDA {major}, which starts on {}",
        subject.what(),
        driver.spec()?
    ))
}

/// Paths beside what they have in common; none where there is none.
fn named(paths: &BTreeSet<&str>) -> Option<String> {
    const SHOWN: usize = 4;
    let shown: Vec<String> = paths
        .iter()
        .take(SHOWN)
        .map(|path| format!("`{path}`"))
        .collect();
    let more = paths.len().saturating_sub(SHOWN);
    match (shown.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(shown.join(", ")),
        (false, more) => Some(format!("{} and {more} more", shown.join(", "))),
    }
}

/// The driver no longer drives the GPU.
pub(in crate::verdict) fn driver_dropped(subject: Subject<'_>, have: &str, last: &str) -> Finding {
    let message = format!(
        "driver {have} no longer drives {}: the last branch that does is {last}",
        subject.gpu_name()
    );
    let next_step = format!(
        "keep `{}` on a driver of {last}, or choose a newer GPU",
        subject.target.name
    );
    subject.finding(Code::DriverDroppedGpu, message, next_step)
}

/// Nobody can say whether the driver drives the GPU.
pub(in crate::verdict) fn driver_unknown(
    subject: Subject<'_>,
    have: &str,
    driver: &Driver<'_>,
) -> Finding {
    let gpu = subject.gpu_name();
    let newest = subject.tables.branches().last();
    let newest = newest.map(|row| row.branch.to_string()).unwrap_or_default();
    let message = if driver.is_beyond_known() {
        format!(
            "driver {have} is newer than {newest}, the newest branch that is known: whether it still drives {gpu} is \
             not known"
        )
    } else {
        format!(
            "driver {have} is of no branch that is known: whether it still drives {gpu} is not known"
        )
    };
    let next_step = format!(
        "correct the driver of `{}`; if it is right, look the GPU up in the list of supported products of that driver, \
         and describe its branch in a file for `--tables`",
        subject.target.name
    );
    subject.finding(Code::DriverUnknown, message, next_step)
}
