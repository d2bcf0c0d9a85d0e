//! What a driver accepts: PTX ISA versions, codings of device code, floors.
//!
//! Rules of NVIDIA's compatibility documents: PTX ISA versions (CUDA compatibility guide; PTX ISA release
//! history), compression of fatbin entries (nvcc manual, `--compress-mode`), minor version compatibility. A
//! driver that is not given accepts everything.

use std::cmp::Ordering;

use crate::cuda::{ComputeCapability, DriverBranch, DriverSpec, PtxIsa, ToolkitVersion};
use crate::device::Coding;
use crate::platform::Os;
use crate::tables::{BranchRow, Tables};

/// A driver, or none that is known.
#[derive(Debug, Clone)]
pub struct Driver<'t> {
    tables: &'t Tables,
    spec: Option<DriverSpec>,
    /// Whose numbers the driver has: Windows also under WSL.
    os: Os,
}

/// Whether a driver meets a floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meets {
    /// It does.
    Yes,
    /// The driver is given as the branch of the floor: newer versions of it do.
    FromVersion,
    /// It does not.
    No,
}

/// Whether a driver drives a GPU, as far as drivers drop old ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drives {
    /// No branch up to this one dropped it.
    Yes,
    /// The last branch that does is this one, and the driver is newer.
    Dropped(DriverBranch),
    /// The driver is of no branch that is known, and may have dropped it.
    Unknown,
}

impl<'t> Driver<'t> {
    /// A driver with numbers of `os`; Windows drivers have other numbers than Linux drivers of a branch.
    pub fn new(spec: Option<DriverSpec>, os: Os, tables: &'t Tables) -> Self {
        Self { tables, spec, os }
    }

    /// A driver that is not given: it accepts everything.
    #[must_use]
    pub fn any(&self) -> Self {
        Self {
            spec: None,
            ..self.clone()
        }
    }

    /// Whose numbers it has.
    pub fn os(&self) -> Os {
        self.os
    }

    /// The version or branch, where one is given.
    pub fn spec(&self) -> Option<&DriverSpec> {
        self.spec.as_ref()
    }

    /// The branch, where the tables know it or one below it.
    pub fn branch(&self) -> Option<&'t BranchRow> {
        // what a newer driver accepts includes what an older one does
        let number = self.at_least()?;
        let mut known = self.tables.branches().iter().rev();
        known.find(|row| row.branch <= number)
    }

    /// Its branch, where the tables know it.
    pub fn known_branch(&self) -> Option<DriverBranch> {
        let row = match self.spec.as_ref()? {
            DriverSpec::Branch(branch) => self.tables.branch(*branch),
            DriverSpec::Exact(version) => self.tables.branch_of(version, self.os),
        };
        row.map(|row| row.branch)
    }

    /// Its branch; of a number that no branch is known to have, the newest branch that it must be above.
    pub fn at_least(&self) -> Option<DriverBranch> {
        match self.spec.as_ref()? {
            DriverSpec::Branch(branch) => Some(*branch),
            DriverSpec::Exact(version) => self
                .known_branch()
                .or_else(|| self.tables.branch_before(version.major(), self.os)),
        }
    }

    /// Whether it is newer than every driver that the tables know, so that nobody can say what it dropped.
    pub fn is_beyond_known(&self) -> bool {
        let newest = self.tables.branches().last().map(|row| row.branch);
        self.spec.is_some() && self.known_branch().is_none() && self.at_least() >= newest
    }

    /// Whether it drives GPUs of a capability, as far as drivers drop old ones. A driver that is not given does.
    pub fn drives(&self, cc: ComputeCapability) -> Drives {
        let Some(have) = self.at_least() else {
            return Drives::Yes;
        };
        let row = self.tables.capability(cc);
        // a number that no branch is known to have may be of any between two that are
        let between =
            !matches!(self.spec, Some(DriverSpec::Branch(_))) && self.known_branch().is_none();
        match row.and_then(|row| row.last_branch) {
            Some(last) if have > last => Drives::Dropped(last),
            Some(last) if have == last && between => Drives::Unknown,
            None if self.is_beyond_known() => Drives::Unknown,
            _ => Drives::Yes,
        }
    }

    /// The CUDA version that the driver reports, or one that it is at least.
    pub fn cuda(&self) -> Option<ToolkitVersion> {
        self.branch().map(|row| row.cuda)
    }

    /// Whether its compiler accepts PTX of `isa`.
    pub fn accepts_isa(&self, isa: Option<PtxIsa>) -> bool {
        if self.spec.is_none() {
            return true;
        }
        // PTX newer than every table is newer than every driver that the tables know
        let needed = isa.and_then(|isa| self.tables.ptx(isa)).map(|row| row.cuda);
        matches!((needed, self.cuda()), (Some(needed), Some(cuda)) if needed <= cuda)
    }

    /// The newest PTX that its compiler accepts; none where no driver is given.
    pub fn newest_isa(&self) -> Option<PtxIsa> {
        let cuda = self.cuda()?;
        let rows = self.tables.ptx_rows().iter();
        rows.filter(|row| row.cuda <= cuda).map(|row| row.isa).max()
    }

    /// Whether it unpacks payloads of `coding`.
    pub fn unpacks(&self, coding: Coding) -> bool {
        match self.coding_floor(coding) {
            _ if coding == Coding::Unknown => false,
            None => true,
            Some(floor) => self.meets(&floor) != Meets::No,
        }
    }

    /// The oldest driver that unpacks payloads of `coding`, where that is a floor of its own.
    pub fn coding_floor(&self, coding: Coding) -> Option<DriverSpec> {
        let floor = self.tables.compression_floor(coding.id(), self.os)?;
        Some(floor.driver.clone())
    }

    /// Whether it is `floor` or newer. A driver that is not given meets every floor.
    pub fn meets(&self, floor: &DriverSpec) -> Meets {
        let Some(spec) = &self.spec else {
            return Meets::Yes;
        };
        if let (DriverSpec::Exact(have), DriverSpec::Exact(need)) = (spec, floor) {
            return if have >= need { Meets::Yes } else { Meets::No };
        }
        let (Some(have), Some(need)) = (self.at_least(), self.number_of(floor)) else {
            return Meets::No;
        };
        match (have.cmp(&need), floor) {
            (Ordering::Greater, _) | (Ordering::Equal, DriverSpec::Branch(_)) => Meets::Yes,
            (Ordering::Equal, DriverSpec::Exact(_)) => Meets::FromVersion,
            (Ordering::Less, _) => Meets::No,
        }
    }

    fn number_of(&self, spec: &DriverSpec) -> Option<DriverBranch> {
        Self {
            spec: Some(spec.clone()),
            ..self.clone()
        }
        .at_least()
    }

    /// Which of two floors is higher.
    pub fn compare(&self, a: &DriverSpec, b: &DriverSpec) -> Ordering {
        match (a, b) {
            (DriverSpec::Exact(a), DriverSpec::Exact(b)) => a.cmp(b),
            // in one branch, an exact version says more
            _ => self.number_of(a).cmp(&self.number_of(b)).then_with(|| {
                matches!(a, DriverSpec::Exact(_)).cmp(&matches!(b, DriverSpec::Exact(_)))
            }),
        }
    }
}

/// The oldest driver that knows GPUs of a capability, where one is known: a version on Linux, else a branch.
pub fn first_driver(cc: ComputeCapability, os: Os, tables: &Tables) -> Option<DriverSpec> {
    let first = tables.capability(cc)?.first_driver.as_ref()?;
    let exact = first.linux.clone().filter(|_| os == Os::Linux);
    exact
        .map(DriverSpec::Exact)
        .or(first.branch.map(DriverSpec::Branch))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(spec: &str, os: Os) -> Driver<'static> {
        Driver::new(Some(spec.parse().unwrap()), os, Tables::builtin())
    }

    fn floor(text: &str) -> DriverSpec {
        text.parse().unwrap()
    }

    // Expected values: RULES.md 2.3 and 4.5, which quote NVIDIA's tables.
    #[test]
    fn ptx_is_accepted_up_to_the_cuda_version_of_the_branch() {
        for (spec, isa, accepts) in [
            ("535.104.05", "8.2", true),
            ("535.104.05", "8.3", false),
            ("535.104.05", "8.7", false),
            ("570.86.15", "8.7", true),
            ("570.86.15", "8.8", false),
            ("R565", "8.6", true),
            ("R560", "8.6", false),
            ("R550", "8.4", true),
            ("580.65.06", "9.0", true),
            ("R999", "9.5", true),
            ("580.65.06", "99.0", false),
        ] {
            let isa: PtxIsa = isa.parse().unwrap();
            assert_eq!(
                driver(spec, Os::Linux).accepts_isa(Some(isa)),
                accepts,
                "{spec} and {isa}"
            );
        }
    }

    #[test]
    fn a_branch_meets_a_floor_in_it_from_that_version_on() {
        for (spec, need, meets) in [
            ("550.54.15", "550.54.14", Meets::Yes),
            ("550.54.10", "550.54.14", Meets::No),
            ("R550", "550.54.14", Meets::FromVersion),
            ("R570", "550.54.14", Meets::Yes),
            ("R545", "550.54.14", Meets::No),
            ("R580", "R580", Meets::Yes),
            ("580.65.06", "R580", Meets::Yes),
            ("575.57.08", "R580", Meets::No),
        ] {
            assert_eq!(
                driver(spec, Os::Linux).meets(&floor(need)),
                meets,
                "{spec} against {need}"
            );
        }
    }

    #[test]
    fn windows_numbers_are_of_other_branches() {
        let driver = driver("551.61", Os::Windows);
        assert_eq!(driver.at_least(), Some(DriverBranch(550)));
        assert_eq!(driver.cuda().unwrap().to_string(), "12.4");
        assert_eq!(driver.meets(&floor("528.33")), Meets::Yes);
        assert_eq!(driver.meets(&floor("R570")), Meets::No);
    }

    // drivers.yaml: Windows numbers of R595 end at 597 and those of R610 begin at 610; R620 is the newest branch.
    #[test]
    fn a_number_of_no_known_branch_is_above_the_one_before_it_and_no_more() {
        use Os::{Linux, Windows};
        for (spec, os, at_least, beyond) in [
            ("999.1", Windows, 620, true),
            ("621.10", Windows, 620, true),
            ("620.70", Windows, 620, false),
            ("600.10", Windows, 595, false),
            // no branch is called by these Windows numbers: R615 begins at 616, R590 at 591
            ("615.10", Windows, 610, false),
            ("590.10", Windows, 580, false),
            ("999.10.01", Linux, 620, true),
            ("621.10.01", Linux, 620, true),
            ("620.70.06", Linux, 620, false),
            ("585.10.01", Linux, 580, false),
            ("R999", Linux, 999, true),
            ("R620", Linux, 620, false),
        ] {
            let driver = driver(spec, os);
            assert_eq!(driver.at_least(), Some(DriverBranch(at_least)), "{spec}");
            assert_eq!(driver.is_beyond_known(), beyond, "{spec} on {os}");
        }
        let newer = driver("999.1", Windows);
        assert_eq!(newer.meets(&floor("R620")), Meets::Yes);
        assert_eq!(newer.meets(&floor("R621")), Meets::No);
        assert!(newer.unpacks(Coding::Zstd));
        assert!(newer.accepts_isa(Some("9.5".parse().unwrap())));
        assert_eq!(
            driver("600.10", Windows).cuda().unwrap().to_string(),
            "13.2"
        );
    }

    // archs.yaml: R580 is the last branch for 7.0 and below; none is for 7.5 and above.
    #[test]
    fn a_driver_of_no_known_branch_may_have_dropped_a_gpu() {
        use Os::{Linux, Windows};
        let dropped = Drives::Dropped(DriverBranch(580));
        for (spec, os, cc, drives) in [
            ("R580", Linux, "6.1", Drives::Yes),
            ("R590", Linux, "6.1", dropped),
            ("R999", Linux, "6.1", dropped),
            ("999.1", Windows, "6.1", dropped),
            ("585.10", Windows, "6.1", Drives::Unknown),
            ("585.10.01", Linux, "6.1", Drives::Unknown),
            ("585.10.01", Linux, "7.5", Drives::Yes),
            ("582.10", Windows, "6.1", Drives::Yes),
            ("591.44", Windows, "6.1", dropped),
            ("R620", Linux, "7.5", Drives::Yes),
            ("R999", Linux, "7.5", Drives::Unknown),
            ("999.10.01", Linux, "7.5", Drives::Unknown),
            ("999.1", Windows, "12.0", Drives::Unknown),
            ("600.10", Windows, "7.5", Drives::Yes),
        ] {
            let found = driver(spec, os).drives(cc.parse().unwrap());
            assert_eq!(found, drives, "{spec} on {os} and {cc}");
        }
        let not_given = Driver::new(None, Linux, Tables::builtin());
        assert_eq!(not_given.drives("6.1".parse().unwrap()), Drives::Yes);
    }

    #[test]
    fn zstd_needs_a_driver_of_cuda_12_4() {
        assert!(driver("550.54.14", Os::Linux).unpacks(Coding::Zstd));
        assert!(driver("R550", Os::Linux).unpacks(Coding::Zstd));
        assert!(!driver("535.104.05", Os::Linux).unpacks(Coding::Zstd));
        assert!(driver("525.60.13", Os::Linux).unpacks(Coding::Lz4));
        assert!(!driver("580.65.06", Os::Linux).unpacks(Coding::Unknown));
    }
}
