//! The sentences of driver findings.

use std::collections::{BTreeMap, BTreeSet};

use super::Subject;
use crate::compat::Driver;
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
        Mechanism::Gpu(_) => "is",
        _ => "needs",
    };
    let message = format!(
        "{} {verb} driver {}, `{target}` has {have}",
        floor.mechanism, floor.driver
    );
    let next_step = format!(
        "upgrade the driver of `{target}` to {} or newer",
        floor.driver
    );
    let mut finding = subject.finding(Code::DriverTooOld, message, next_step);
    let mut needs: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for floor in others {
        let need = format!("{} or newer for {}", floor.driver, floor.mechanism);
        let paths = needs.entry(need).or_default();
        paths.extend(floor.culprit.as_deref());
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
        "keep `{}` on a driver of {last}, or replace the GPU",
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
