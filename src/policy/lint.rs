//! What is doubtful in a valid policy: drivers that cannot drive their GPUs, waivers that are over.
//!
//! Says what a check would say anyway, before there is anything to check.

use super::diag::{Diagnostics, Fault, Mistake};
use super::place::Place;
use super::target::{FleetTarget, is_windows_number};
use super::{Date, Policy};
use crate::compat::{Driver, Drives, Meets, first_driver};
use crate::cuda::{ComputeCapability, DriverSpec};
use crate::platform::Os;
use crate::tables::Tables;

impl Policy {
    /// What is doubtful on the day `today`; empty where nothing is.
    pub fn lint(&self, tables: &Tables, today: Date) -> Diagnostics {
        let mut doubts = Vec::new();
        for target in &self.targets {
            // which numbers and GPUs the machine that checks has is known there
            if let Some(place) = &target.driver_place
                && !target.is_host()
            {
                let faults = driver_faults(target, tables);
                doubts.extend(faults.into_iter().map(|fault| at(fault, place)));
            }
        }
        for waiver in &self.waivers {
            if waiver.expired(today) {
                let message = format!("the waiver of `{}` ended on {}", waiver.rule, waiver.until);
                let hint = "look at it again: set a new date with a reason, or remove the waiver";
                doubts.push(at(Fault::new(message).hint(hint), &waiver.until_place));
            }
        }
        Diagnostics::new(self.files.clone(), doubts).into_warnings()
    }
}

fn at(fault: Fault, place: &Place) -> Mistake {
    fault.at(&place.span).in_file(place.file)
}

/// What is wrong between the driver of a target and its platform and GPUs.
fn driver_faults(target: &FleetTarget, tables: &Tables) -> Vec<Fault> {
    let driver = target.known_driver(Os::Linux, tables);
    let Some(spec) = driver.spec() else {
        return Vec::new();
    };
    let mut faults = Vec::new();
    faults.extend(other_numbers(spec, &driver, tables));
    let mut seen: Vec<ComputeCapability> = Vec::new();
    for gpu in &target.gpus {
        if seen.contains(&gpu.cc) {
            continue;
        }
        seen.push(gpu.cc);
        let name = gpu.to_string();
        match driver.drives(gpu.cc) {
            Drives::Yes => {}
            Drives::Dropped(last) => {
                let message = format!("driver {spec} no longer drives {name}");
                let hint = format!("the last branch that does is {last}");
                faults.push(Fault::new(message).hint(hint));
            }
            Drives::Unknown => {
                let message = format!(
                    "driver {spec} is of no branch that is known: whether it drives {name} is not known"
                );
                let hint = "correct the number, or describe its branch in a file for `--tables`";
                faults.push(Fault::new(message).hint(hint));
            }
        }
        if let Some(first) = first_driver(gpu.cc, driver.os(), tables)
            && driver.meets(&first) == Meets::No
        {
            let message = format!("driver {spec} does not know {name} yet");
            let hint = format!("the first driver that does is {first}");
            faults.push(Fault::new(message).hint(hint));
        }
    }
    faults
}

/// A number of the other operating system's drivers.
fn other_numbers(spec: &DriverSpec, driver: &Driver<'_>, tables: &Tables) -> Option<Fault> {
    let DriverSpec::Exact(version) = spec else {
        return None;
    };
    let is_windows = is_windows_number(spec);
    match driver.os() {
        Os::Windows if !is_windows => {
            let fault = Fault::new(format!(
                "{version} has the form of a Linux driver, and the platform is Windows"
            ));
            Some(match tables.branch_of(version, Os::Linux) {
                Some(row) => fault.hint(format!(
                    "that is {}: write the branch, or the number that `nvidia-smi` shows on Windows",
                    row.branch
                )),
                None => fault.hint("write the number that `nvidia-smi` shows on Windows"),
            })
        }
        Os::Linux if is_windows => {
            // some Linux versions have two parts too: only numbers that no Linux branch has are said
            let row = tables.branch_of(version, Os::Windows)?;
            tables.branch_of(version, Os::Linux).is_none().then(|| {
                Fault::new(format!(
                    "{version} is the number of a Windows driver, and the platform is Linux"
                ))
                .hint(format!(
                    "that is {}: write the branch, or the Linux version",
                    row.branch
                ))
            })
        }
        _ => None,
    }
}
