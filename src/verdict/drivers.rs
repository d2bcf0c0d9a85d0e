//! What is wrong with the driver of a target, whatever the code.

use crate::compat::{Driver, Drives, Meets};
use crate::cuda::{DriverBranch, DriverSpec};
use crate::inventory::{Artifact, Library};
use crate::platform::Os;
use crate::policy::FleetTarget;
use crate::rule::Code;
use crate::tables::Tables;

use super::artifact::os_of;
use super::finding::Finding;
use super::floor::{Floor, Mechanism};
use super::words::{self, Subject};

/// What is wrong with the driver itself.
pub(super) fn findings(
    subject: Subject<'_>,
    driver: &Driver<'_>,
    libraries: &[&Library],
    floors: &[Floor],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    // blocked PTX and compression are said where they leave a library without code
    let own = floors.iter().filter(|floor| {
        matches!(
            floor.mechanism,
            Mechanism::Runtime(_)
                | Mechanism::Toolkit(_)
                | Mechanism::Gpu(_)
                | Mechanism::DeclaredByPackage(_)
        )
    });
    let unmet: Vec<&Floor> = own
        .filter(|floor| driver.meets(&floor.driver) == Meets::No)
        .collect();
    // of equals the first that holds device code tells a person most
    let holds_code = |floor: &Floor| {
        let culprit = floor.culprit.as_deref();
        libraries
            .iter()
            .any(|library| Some(&*library.path) == culprit && library.has_device_code())
    };
    let highest = unmet.iter().copied().reduce(|best, floor| {
        let more = driver
            .compare(&floor.driver, &best.driver)
            .then_with(|| holds_code(floor).cmp(&holds_code(best)));
        if more.is_gt() { floor } else { best }
    });
    if let Some(highest) = highest {
        findings.push(words::driver_too_old(subject, highest, &unmet));
    }
    let spec = driver.spec().map(ToString::to_string).unwrap_or_default();
    match driver.drives(subject.gpu.cc) {
        Drives::Yes => {}
        Drives::Dropped(last) => {
            findings.push(words::driver_dropped(subject, &spec, &last.to_string()));
        }
        Drives::Unknown => findings.push(words::driver_unknown(subject, &spec, driver)),
    }
    findings
}

/// The branch of `driver`, a driver of `target` or one that `artifact` needs there; of a number that no branch is known
/// to have, the newest that it must be above. Nothing where the tables do not say.
pub fn branch_on(
    driver: &DriverSpec,
    artifact: &Artifact,
    target: &FleetTarget,
    tables: &Tables,
) -> Option<DriverBranch> {
    let libraries: Vec<&Library> = artifact.libraries.iter().collect();
    let os = os_of(artifact, &libraries).unwrap_or(Os::Linux);
    let os = target.known_driver(os, tables).os();
    Driver::new(Some(driver.clone()), os, tables).at_least()
}

/// That a target names no driver.
pub(super) fn not_given(target: &FleetTarget) -> Finding {
    let message = format!(
        "target `{}` names no driver: floors are reported, and JIT is assumed to work",
        target.name
    );
    let next_step = "add the oldest driver of that pool: `driver: \"550.54.15\"` or `driver: R550` (`--driver` on the command line)";
    Finding::new(Code::DriverNotGiven, message, next_step)
}
