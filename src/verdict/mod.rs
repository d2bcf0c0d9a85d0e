//! The verdict: an inventory judged against a policy, with the reason, the evidence and the next step.
//!
//! A pure function of inventory, policy, tables and today's date: no I/O, no clock. The rules of what runs
//! where are in `runs`, `driver` and `state`; what counts is in `coverage` and `package`.

mod artifact;
mod coverage;
mod driver;
mod finding;
mod floor;
mod package;
mod runs;
mod state;
#[cfg(test)]
mod tests;
mod waive;
mod words;

use std::collections::BTreeMap;

use crate::inventory::{Artifact, ArtifactKind, Inventory, Library, Seen};
use crate::policy::{Date, FleetTarget, Policy};
use crate::problem::Problem;
use crate::rule::{Code, Level};
use crate::tables::Tables;

use driver::{Driver, Meets};
use words::Subject;

pub use finding::{Finding, PackageName, WaivedBy};
pub use floor::{Floor, Mechanism, RuntimeVersion};
pub use runs::{Fit, cubin_fit, ptx_fit};
pub use state::State;

/// The result for something: worse is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing was found that the policy denies, and everything was read.
    Pass,
    /// Something could not be read, and nothing else failed.
    Incomplete,
    /// The policy denies something.
    Fail,
}

impl Verdict {
    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Incomplete => "incomplete",
            Self::Fail => "fail",
        }
    }

    fn of_level(level: Level, fail_on_warn: bool) -> Self {
        match level {
            Level::Deny => Self::Fail,
            Level::Warn if fail_on_warn => Self::Fail,
            Level::Incomplete => Self::Incomplete,
            Level::Warn | Level::Allow => Self::Pass,
        }
    }
}

/// One cell of the matrix: a package of an artifact on a fleet target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The artifact: an index into the inventory.
    pub artifact: usize,
    /// The package; none for what no package owns.
    pub package: Option<PackageName>,
    /// The fleet target, by name.
    pub target: String,
    /// The result.
    pub verdict: Verdict,
    /// The highest floor of its drivers, where one is known.
    pub minimum_driver: Option<Floor>,
    /// Whether the package has device code of its own.
    pub has_device_code: bool,
    /// Whether it carries device code of NVIDIA's libraries.
    pub has_foreign_code: bool,
    /// Whether it compiles device code at run time, which is not judged.
    pub compiles: bool,
    /// Remarks that are no findings, such as from which version of a branch on it runs.
    pub notes: Vec<String>,
}

/// An artifact as reports name it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judged {
    /// The input as the user named it.
    pub input: String,
    /// The package that it is, by name and version, where it is one.
    pub package: Option<PackageName>,
    /// How much was looked at.
    pub seen: Seen,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// Everything that a report needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The worst of all.
    pub verdict: Verdict,
    /// The name of the policy.
    pub policy: String,
    /// The artifacts, in the order of the command line.
    pub artifacts: Vec<Judged>,
    /// The results, by artifact, package and target in the order of the policy.
    pub matrix: Vec<Row>,
    /// The findings, waived ones too.
    pub findings: Vec<Finding>,
}

/// How to judge.
#[derive(Debug, Clone, Copy)]
pub struct EvaluateOptions {
    /// The day on which waivers are judged.
    pub today: Date,
    /// Whether warnings fail too.
    pub fail_on_warn: bool,
}

/// Judges `inventory` against `policy`.
pub fn evaluate(
    inventory: &Inventory,
    policy: &Policy,
    tables: &Tables,
    options: EvaluateOptions,
) -> Evaluation {
    let mut findings = Vec::new();
    let mut matrix = Vec::new();
    for (index, artifact) in inventory.artifacts.iter().enumerate() {
        let judge = Judge {
            index,
            artifact,
            policy,
            tables,
        };
        judge.artifact(&mut findings, &mut matrix);
    }
    waive::apply(policy, options.today, &mut findings);
    let order: BTreeMap<&str, usize> = policy
        .targets
        .iter()
        .enumerate()
        .map(|(index, target)| (target.name.as_str(), index))
        .collect();
    findings.sort_by_cached_key(|finding| sort_key(finding, &order));
    let mut verdict = Verdict::Pass;
    for finding in findings.iter().filter(|finding| finding.counts()) {
        let result = Verdict::of_level(finding.level, options.fail_on_warn);
        verdict = verdict.max(result);
        for row in matrix.iter_mut().filter(|row| concerns(finding, row)) {
            row.verdict = row.verdict.max(result);
        }
    }
    let artifacts = inventory.artifacts.iter().map(|artifact| Judged {
        input: artifact.input.clone(),
        package: artifact.name.clone().map(|name| PackageName {
            name,
            version: artifact.version.clone(),
        }),
        seen: artifact.seen,
        problems: artifact.problems.clone(),
    });
    Evaluation {
        verdict,
        policy: policy.origin().to_owned(),
        artifacts: artifacts.collect(),
        matrix,
        findings,
    }
}

fn concerns(finding: &Finding, row: &Row) -> bool {
    finding.artifact == Some(row.artifact)
        && (finding.package.is_none() || finding.package == row.package)
        && finding
            .target
            .as_ref()
            .is_none_or(|target| *target == row.target)
}

/// The order of reports: artifact, package, level, library, code, target in the order of the policy.
fn sort_key(finding: &Finding, order: &BTreeMap<&str, usize>) -> impl Ord + use<> {
    (
        finding.artifact.unwrap_or(usize::MAX),
        finding.package.clone(),
        std::cmp::Reverse(finding.level),
        finding.library.clone(),
        finding.code,
        finding
            .target
            .as_deref()
            .and_then(|target| order.get(target))
            .copied(),
        finding.gpu.clone(),
        finding.message.clone(),
    )
}

/// One artifact on its way to rows and findings.
struct Judge<'a> {
    index: usize,
    artifact: &'a Artifact,
    policy: &'a Policy,
    tables: &'a Tables,
}

impl Judge<'_> {
    fn artifact(&self, findings: &mut Vec<Finding>, matrix: &mut Vec<Row>) {
        let artifact = self.artifact;
        let mut add = |mut found: Finding, package: Option<&PackageName>| {
            found.artifact = Some(self.index);
            if found.package.is_none() {
                found.package = package.cloned();
            }
            let raised_by_threshold = found.level > found.code.default_level();
            if !raised_by_threshold {
                found.level = self.policy.level(found.code);
            }
            findings.push(found);
        };
        let own_package = artifact.name.clone().map(|name| PackageName {
            name,
            version: artifact.version.clone(),
        });
        // what lies in a wheel without others inside is that package's
        let alone = artifact.kind == ArtifactKind::Wheel && artifact.packages.len() <= 1;
        for problem in &artifact.problems {
            add(
                unreadable(problem, artifact),
                own_package.as_ref().filter(|_| alone),
            );
        }
        if let Some(found) = artifact::built_at_install(artifact) {
            add(found, own_package.as_ref());
        }
        if let Some(found) = artifact::unopened(artifact) {
            add(found, None);
        }
        for (package, libraries) in self.groups() {
            let name = package.as_ref();
            for found in artifact::header_mismatches(&libraries) {
                add(found, name);
            }
            if let Some(found) =
                artifact::unused_architectures(&libraries, self.policy, self.tables)
            {
                add(found, name);
            }
            let mut has_code = false;
            for target in &self.policy.targets {
                let (row, found) = self.row(name, &libraries, target);
                has_code |= row.has_device_code;
                for found in found {
                    add(found, name);
                }
                matrix.push(row);
            }
            if !has_code
                && let Some(package) = name
                && let Some(found) = artifact::cpu_only(package, artifact, self.policy)
            {
                add(found, name);
            }
        }
    }

    /// The packages that get a row, each with its libraries.
    fn groups(&self) -> Vec<(Option<PackageName>, Vec<&Library>)> {
        let artifact = self.artifact;
        let mut groups: BTreeMap<Option<usize>, Vec<&Library>> = BTreeMap::new();
        for library in &artifact.libraries {
            groups.entry(library.package).or_default().push(library);
        }
        for (index, package) in artifact.packages.iter().enumerate() {
            if self.policy.expects_gpu(&package.name) || artifact.packages.len() == 1 {
                groups.entry(Some(index)).or_default();
            }
        }
        if groups.is_empty() {
            groups.insert(None, Vec::new());
        }
        // what no package owns comes last
        let unowned = groups.remove(&None).map(|libraries| (None, libraries));
        let named = groups.into_iter().map(|(index, libraries)| {
            let package = index.and_then(|index| artifact.packages.get(index));
            (
                package.map(|package| PackageName {
                    name: package.name.clone(),
                    version: package.version.clone(),
                }),
                libraries,
            )
        });
        named.chain(unowned).collect()
    }

    /// One package on one target, GPU by GPU.
    fn row(
        &self,
        package: Option<&PackageName>,
        libraries: &[&Library],
        target: &FleetTarget,
    ) -> (Row, Vec<Finding>) {
        let driver = Driver::of(target, self.tables);
        let loaded = artifact::for_platform(libraries, target);
        let mut findings = Vec::new();
        let mut floors = Vec::new();
        let mut has_code = false;
        for gpu in &target.gpus {
            let subject = Subject {
                package,
                target,
                gpu,
                os: driver.os(),
                tables: self.tables,
            };
            let name = package.map(|package| package.name.as_str());
            let thresholds = &self.policy.thresholds;
            let mut on_gpu =
                package::judge(name, &loaded, subject, &driver, thresholds, self.tables);
            has_code |= on_gpu.has_code;
            findings.append(&mut on_gpu.findings);
            if on_gpu.has_code || !on_gpu.floors.is_empty() {
                on_gpu
                    .floors
                    .extend(floor::of_gpu(gpu.cc, driver.os(), self.tables));
                findings.extend(self.driver_findings(subject, &driver, &on_gpu.floors));
            }
            floors.append(&mut on_gpu.floors);
        }
        let uses_driver = !floors.is_empty();
        findings.extend(artifact::platform_mismatch(
            self.artifact,
            libraries,
            target,
        ));
        if uses_driver && driver.spec().is_none() {
            findings.push(driver_not_given(target));
        }
        for finding in &mut findings {
            finding.target.get_or_insert_with(|| target.name.clone());
        }
        let minimum_driver = floor::highest(&floors, &driver).cloned();
        let mut notes = Vec::new();
        if let Some(floor) = &minimum_driver
            && driver.meets(&floor.driver) == Meets::FromVersion
        {
            notes.push(format!("from {} on ({})", floor.driver, floor.mechanism));
        }
        let row = Row {
            artifact: self.index,
            package: package.cloned(),
            target: target.name.clone(),
            verdict: Verdict::Pass,
            minimum_driver,
            has_device_code: has_code,
            has_foreign_code: libraries
                .iter()
                .any(|library| library.code.iter().any(|code| !code.own)),
            compiles: libraries.iter().any(|library| library.compiler),
            notes,
        };
        (row, findings)
    }

    /// What is wrong with the driver itself.
    fn driver_findings(
        &self,
        subject: Subject<'_>,
        driver: &Driver<'_>,
        floors: &[Floor],
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        // blocked PTX and compression are said where they leave a library without code
        let own = floors.iter().filter(|floor| {
            matches!(
                floor.mechanism,
                Mechanism::Runtime(_) | Mechanism::Toolkit(_) | Mechanism::Gpu(_)
            )
        });
        let unmet: Vec<&Floor> = own
            .filter(|floor| driver.meets(&floor.driver) == Meets::No)
            .collect();
        let highest = unmet.iter().copied().reduce(|best, floor| {
            if driver.compare(&floor.driver, &best.driver).is_gt() {
                floor
            } else {
                best
            }
        });
        if let Some(highest) = highest {
            findings.push(words::driver_too_old(subject, highest, &unmet));
        }
        let last = self
            .tables
            .capability(subject.gpu.cc)
            .and_then(|row| row.last_branch);
        if let (Some(last), Some(have)) = (last, driver.branch_number())
            && have > last
        {
            let spec = driver.spec().map(ToString::to_string).unwrap_or_default();
            findings.push(words::driver_dropped(subject, &spec, &last.to_string()));
        }
        findings
    }
}

fn driver_not_given(target: &FleetTarget) -> Finding {
    let message = format!(
        "target `{}` names no driver: floors are reported, and JIT is assumed to work",
        target.name
    );
    let next_step = "add the oldest driver of that pool: `driver: \"550.54.15\"` or `driver: R550` (`--driver` on the command line)";
    Finding::new(Code::DriverNotGiven, message, next_step)
}

fn unreadable(problem: &Problem, artifact: &Artifact) -> Finding {
    let whole_file = || {
        let file = artifact.kind == ArtifactKind::File;
        file.then(|| {
            artifact
                .input
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned()
        })
    };
    let mut finding = Finding::new(
        Code::Unreadable,
        problem.detail.clone(),
        problem.kind.hint(),
    )
    .evidence(format!("{} ({} not seen)", problem.kind, extent(problem)));
    finding.library = problem.at.path().or_else(whole_file);
    match problem.at.byte() {
        Some(offset) => finding.evidence(format!("at offset {offset:#x}")),
        None => finding,
    }
}

fn extent(problem: &Problem) -> &'static str {
    match problem.extent {
        crate::Extent::Part => "part of the file",
        crate::Extent::Member => "the file",
        crate::Extent::RestOfArchive => "the rest of the archive",
        crate::Extent::Artifact => "the artifact",
    }
}
