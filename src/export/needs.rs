//! What each artifact and each package needs on every compute capability, as the verdict has it.

use std::collections::BTreeMap;

use crate::Error;
use crate::compat::Driver;
use crate::cuda::ComputeCapability;
use crate::inventory::{Artifact, ArtifactKind, Inventory};
use crate::platform::{CpuArch, Os, Platform};
use crate::policy::{Date, FleetTarget, Policy};
use crate::rule::{Code, Level};
use crate::tables::Tables;
use crate::verdict::{
    EvaluateOptions, Evaluation, Finding, Floor, Mechanism, PackageName, Row, evaluate,
};

/// Whether code runs on GPUs of a compute capability, with a driver that is new enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runs {
    /// As machine code; or it holds no code of its own that needs a GPU.
    Natively,
    /// Some of it is compiled by the driver at first use.
    ByJit,
    /// NVIDIA does not promise that it does (Tegra against desktop chips).
    Unsure,
    /// It does not.
    No,
}

/// What is needed on GPUs of a compute capability.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OnCapability {
    /// The capability.
    pub cc: ComputeCapability,
    /// Whether the tables know it; one that they do not know stands for GPUs to come.
    pub known: bool,
    /// Whether it runs.
    pub runs: Runs,
    /// The highest floor of its drivers, where one is known.
    pub floor: Option<Floor>,
    /// The first package for which there is no code, and why, where it does not run.
    pub lacking: Option<(Option<PackageName>, String)>,
}

impl OnCapability {
    /// The floor, where content asks for it: that older drivers do not know the GPU is no matter of content.
    pub(super) fn of_content(&self) -> Option<&Floor> {
        let of_content = |floor: &&Floor| !matches!(floor.mechanism, Mechanism::Gpu(_));
        self.floor.as_ref().filter(of_content)
    }
}

/// What a package needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackageNeeds {
    /// The package; none for what no package owns.
    pub package: Option<PackageName>,
    /// On each capability that the tables know, rising.
    pub on: Vec<OnCapability>,
}

/// What an artifact needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// What reports call it.
    pub title: String,
    /// On each capability that was asked about, rising: the worst of its packages.
    pub on: Vec<OnCapability>,
    /// Its packages that hold device code or link CUDA.
    pub packages: Vec<PackageNeeds>,
    /// Whether it has device code of its own, so that it matters which GPU a machine has.
    pub has_device_code: bool,
    /// Whether it compiles device code at run time, which nobody can read here.
    pub compiles: bool,
    /// How much of it could not be read.
    pub problems: usize,
    /// Packages of which nothing is known: those of a lock file that were not read, or are built or chosen at install.
    pub unread: usize,
    /// Whose numbers its drivers have.
    pub os: Os,
}

impl Needs {
    /// Whether anything of CUDA was found in it: code, or a library that needs a driver.
    pub fn is_of_cuda(&self) -> bool {
        self.has_device_code || self.on.iter().any(|on| on.floor.is_some())
    }

    /// Whether more may be needed than was found.
    pub fn is_incomplete(&self) -> bool {
        self.problems > 0 || self.unread > 0
    }

    /// Whether it is for GPUs, and for none that the tables know.
    pub fn runs_nowhere(&self) -> bool {
        self.has_device_code && self.covered().next().is_none()
    }

    /// The capabilities that the tables know and that it runs on.
    pub fn covered(&self) -> impl Iterator<Item = &OnCapability> {
        let known = self.on.iter().filter(|on| on.known);
        known.filter(|on| on.runs != Runs::No)
    }
}

/// What each artifact of `inventory` needs, in its order. What images declare does not count: only what they hold.
///
/// # Errors
///
/// Where the tables know no compute capability.
pub fn needs(inventory: &Inventory, tables: &Tables) -> Result<Vec<Needs>, Error> {
    let mut undeclared = inventory.clone();
    for image in undeclared
        .artifacts
        .iter_mut()
        .filter_map(|artifact| artifact.image.as_mut())
    {
        // the last one of a name counts
        image.env.push("NVIDIA_DISABLE_REQUIRE=1".to_owned());
    }
    let policy = every_capability(tables)?;
    let options = EvaluateOptions {
        // there is nothing in the policy that ends
        today: Date::from_unix_seconds(0).ok_or_else(no_capability)?,
        fail_on_warn: false,
    };
    let evaluation = evaluate(&undeclared, &policy, tables, options);
    let artifacts = inventory.artifacts.iter().zip(inventory.titles());
    let of_artifact = |(index, (artifact, title))| {
        Asked {
            index,
            artifact,
            policy: &policy,
            tables,
            evaluation: &evaluation,
        }
        .needs(title)
    };
    Ok(artifacts.enumerate().map(of_artifact).collect())
}

fn no_capability() -> Error {
    Error::new(
        crate::ErrorKind::Data,
        "the tables know no compute capability",
    )
}

/// The minor number that stands for the GPUs of a major version that nobody knows.
const UNKNOWN_MINOR: u16 = 9;

/// A target for each compute capability of the tables, one for the unknown ones of each major version, and one for
/// the major version after all.
fn every_capability(tables: &Tables) -> Result<Policy, Error> {
    // one that has another number today is asked about by that
    let today = tables.capabilities().iter();
    let today = today.filter(|row| row.renamed_to.is_none());
    let known: Vec<ComputeCapability> = today.map(|row| row.cc).collect();
    let names: Vec<String> = known.iter().map(ToString::to_string).collect();
    let mut policy = Policy::for_targets(&names, None, None, tables)?;
    let model = policy.targets.last().cloned().ok_or_else(no_capability)?;
    let majors = known.iter().map(|cc| cc.major);
    let mut unknown: Vec<ComputeCapability> = majors
        .map(|major| ComputeCapability::new(major, UNKNOWN_MINOR))
        .filter(|cc| !known.contains(cc))
        .collect();
    unknown.extend(
        known
            .last()
            .map(|cc| ComputeCapability::new(cc.major + 1, 0)),
    );
    unknown.dedup();
    for cc in unknown {
        let mut target: FleetTarget = model.clone();
        target.name = cc.to_string();
        for gpu in &mut target.gpus {
            gpu.cc = cc;
            gpu.name = format!("compute capability {cc}");
        }
        policy.targets.push(target);
    }
    policy
        .targets
        .sort_by_key(|target| target.gpus.first().map(|gpu| gpu.cc));
    Ok(policy)
}

/// An artifact that the verdict was asked about.
struct Asked<'a> {
    index: usize,
    artifact: &'a Artifact,
    policy: &'a Policy,
    tables: &'a Tables,
    evaluation: &'a Evaluation,
}

impl Asked<'_> {
    fn needs(&self, title: String) -> Needs {
        let rows = self.evaluation.matrix.iter();
        let rows: Vec<&Row> = rows.filter(|row| row.artifact == self.index).collect();
        let mut findings: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for finding in &self.evaluation.findings {
            if let Some(target) = &finding.target
                && finding.artifact == Some(self.index)
            {
                findings.entry(target).or_default().push(finding);
            }
        }
        let mut by_package: BTreeMap<Option<&PackageName>, Vec<&Row>> = BTreeMap::new();
        for row in &rows {
            by_package
                .entry(row.package.as_ref())
                .or_default()
                .push(row);
        }
        let of_cuda = |rows: &[&Row]| {
            rows.iter()
                .any(|row| row.has_device_code || row.minimum_driver.is_some())
        };
        let packages = by_package.into_iter().filter(|(_, rows)| of_cuda(rows));
        let packages = packages.map(|(package, rows)| PackageNeeds {
            package: package.cloned(),
            on: self
                .on(&rows, &findings)
                .into_iter()
                .filter(|on| on.known)
                .collect(),
        });
        Needs {
            title,
            on: self.on(&rows, &findings),
            packages: packages.collect(),
            has_device_code: rows.iter().any(|row| row.has_device_code),
            compiles: rows.iter().any(|row| row.compiles),
            problems: self.artifact.problems.len(),
            unread: self.unread(),
            os: self.os(),
        }
    }

    /// Packages of which nothing is known: a file that was not read, or is built at install, or is chosen there.
    fn unread(&self) -> usize {
        if self.artifact.kind == ArtifactKind::Sdist {
            return 1;
        }
        self.artifact.lock.as_ref().map_or(0, |lock| {
            let packages = lock.packages.iter();
            let unknown = packages.filter(|package| !package.content.is_known());
            unknown.count() + lock.unlocked.len()
        })
    }

    /// Whether no machine that the artifact is for has such GPUs: Tegra chips have Arm cores.
    fn is_elsewhere(&self, cc: ComputeCapability) -> bool {
        let platforms = &self.artifact.platforms;
        let arm = |platform: &Platform| platform.arch == CpuArch::Arm64;
        let is_tegra = self.tables.capability(cc).is_some_and(|row| row.tegra);
        is_tegra && !platforms.is_empty() && !platforms.iter().any(arm)
    }

    /// Windows, where nothing of it is for another system.
    fn os(&self) -> Os {
        let platforms = &self.artifact.platforms;
        let windows = platforms.iter().all(|platform| platform.os == Os::Windows);
        if windows && !platforms.is_empty() {
            Os::Windows
        } else {
            Os::Linux
        }
    }

    fn on(&self, rows: &[&Row], findings: &BTreeMap<&str, Vec<&Finding>>) -> Vec<OnCapability> {
        let targets = self.policy.targets.iter();
        let of_target = |target: &FleetTarget| {
            let cc = target.gpus.first()?.cc;
            if self.is_elsewhere(cc) {
                return None;
            }
            let rows = rows.iter().filter(|row| row.target == target.name);
            let driver = Driver::new(None, self.os(), self.tables);
            let mut on = OnCapability {
                cc,
                known: self.tables.capability(cc).is_some(),
                runs: Runs::Natively,
                floor: None,
                lacking: None,
            };
            for row in rows {
                let of_row = findings.get(target.name.as_str()).into_iter().flatten();
                for finding in of_row.filter(|finding| finding.package == row.package) {
                    let runs = runs(finding);
                    on.runs = on.runs.max(runs);
                    if runs == Runs::No && on.lacking.is_none() {
                        on.lacking = Some((row.package.clone(), finding.message.clone()));
                    }
                }
                let higher = |floor: &&Floor| {
                    on.floor.as_ref().is_none_or(|highest| {
                        driver.compare(&floor.driver, &highest.driver).is_gt()
                    })
                };
                if let Some(floor) = row.minimum_driver.as_ref().filter(higher) {
                    on.floor = Some(floor.clone());
                }
            }
            Some(on)
        };
        targets.filter_map(of_target).collect()
    }
}

/// What a finding says of whether code runs.
fn runs(finding: &Finding) -> Runs {
    match finding.code {
        Code::NoKernelImage | Code::PtxTooNew | Code::CompressionNeedsDriver
            if finding.level == Level::Deny =>
        {
            Runs::No
        }
        Code::TegraCompatibilityUnsure => Runs::Unsure,
        Code::JitOnly => Runs::ByJit,
        _ => Runs::Natively,
    }
}
