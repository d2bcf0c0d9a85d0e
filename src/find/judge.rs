//! What one build, as it was scanned, is for each target.

use crate::cuda::ComputeCapability;
use crate::device::ImageKind;
use crate::inventory::{Artifact, Inventory};
use crate::policy::{Date, FleetTarget, Policy};
use crate::rule::{Code, Level};
use crate::tables::Tables;
use crate::verdict::{EvaluateOptions, Evaluation, Finding, Verdict, evaluate};

use super::search::Outcome;

/// A build judged for a target.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) outcome: Outcome,
    /// Why it does not run, or could not be read.
    pub(super) why: Option<Why>,
    /// The oldest driver that starts it, where that is known.
    pub(super) minimum_driver: Option<String>,
    /// Rules that warn of it where it runs, each once; without what its kind says.
    pub(super) warnings: Vec<Code>,
}

/// Why a build does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Why {
    /// The rule; none where it has no device code.
    pub code: Option<Code>,
    /// One sentence.
    pub message: String,
}

/// Judges builds for the targets of a policy.
#[derive(Debug)]
pub(super) struct Judges<'p> {
    policy: &'p Policy,
    /// The same, in which no package may be compiled at first use without a word.
    strict: Policy,
    tables: &'p Tables,
    options: EvaluateOptions,
}

impl<'p> Judges<'p> {
    pub(super) fn new(policy: &'p Policy, tables: &'p Tables, today: Date) -> Self {
        let mut strict = policy.clone();
        strict.allow_jit.clear();
        for target in &mut strict.targets {
            target.allow_jit.clear();
        }
        let fail_on_warn = false;
        let options = EvaluateOptions {
            today,
            fail_on_warn,
        };
        Self {
            policy,
            strict,
            tables,
            options,
        }
    }

    /// The build in `inventory`, an artifact for each environment, for each target of the policy that gets it.
    pub(super) fn judge(&self, inventory: &Inventory) -> Vec<Option<Judged>> {
        let judge = |policy| evaluate(inventory, policy, self.tables, self.options);
        let (judged, strict) = (judge(self.policy), judge(&self.strict));
        let targets = self.policy.targets.iter();
        let of_target = |target: &FleetTarget| {
            let mut rows = judged.matrix.iter().filter(|row| row.target == target.name);
            let index = rows.next()?.artifact;
            let artifact = inventory.artifacts.get(index)?;
            Some(of_target(artifact, index, target, &judged, &strict))
        };
        targets.map(of_target).collect()
    }
}

fn of_target(
    artifact: &Artifact,
    index: usize,
    target: &FleetTarget,
    judged: &Evaluation,
    strict: &Evaluation,
) -> Judged {
    let rows = judged.matrix.iter();
    let rows = rows.filter(|row| row.artifact == index && row.target == target.name);
    let verdict = rows.clone().map(|row| row.verdict).max();
    let verdict = verdict.unwrap_or(Verdict::Incomplete);
    let has_code = rows
        .clone()
        .any(|row| row.has_device_code || row.has_unloadable_code || row.compiles);
    let floors = rows.filter_map(|row| row.minimum_driver.as_ref());
    let minimum_driver = floors.map(|floor| floor.driver.to_string()).next_back();
    let findings: Vec<&Finding> = about(judged, index, target).collect();
    let is_jit = about(strict, index, target).any(|finding| finding.code == Code::JitOnly);
    let denied = |level: Level| {
        let mut of_level = findings.iter().filter(|finding| finding.level == level);
        of_level
            .clone()
            .find(|finding| finding.code != Code::CpuOnlyBuild)
            .or(of_level.next())
            .map(|finding| Why {
                code: Some(finding.code),
                message: finding.message.clone(),
            })
    };
    let (outcome, why) = match verdict {
        _ if !has_code && artifact.problems.is_empty() && verdict != Verdict::Incomplete => {
            let message = "no CUDA device code of its own".to_owned();
            (
                Outcome::NoCode,
                Some(Why {
                    code: None,
                    message,
                }),
            )
        }
        Verdict::Fail => {
            let too_new = findings.iter().any(|finding| {
                finding.code == Code::NoKernelImage
                    && finding.level == Level::Deny
                    && is_newer_than_all(finding, target, artifact)
            });
            let outcome = if too_new {
                Outcome::GpuTooNew
            } else {
                Outcome::Not
            };
            (outcome, denied(Level::Deny))
        }
        Verdict::Incomplete => (Outcome::Unread, denied(Level::Incomplete)),
        Verdict::Pass if is_jit => {
            let newest = newest(artifact, |kind| kind == ImageKind::Cubin);
            let older_may_be_native = target
                .gpus
                .iter()
                .any(|gpu| newest.is_some_and(|newest| newest > gpu.cc));
            (
                Outcome::Jit {
                    older_may_be_native,
                },
                None,
            )
        }
        Verdict::Pass => (Outcome::Native, None),
    };
    Judged {
        outcome,
        why,
        minimum_driver,
        warnings: warnings(&findings),
    }
}

/// The findings that count of an artifact for a target.
fn about<'e>(
    judged: &'e Evaluation,
    index: usize,
    target: &'e FleetTarget,
) -> impl Iterator<Item = &'e Finding> {
    judged.findings.iter().filter(move |finding| {
        let of_target = finding
            .target
            .as_ref()
            .is_none_or(|name| *name == target.name);
        finding.counts() && finding.artifact == Some(index) && of_target
    })
}

/// Rules that warn, without those that are said in another way: that it is compiled, and that the target has no driver.
fn warnings(findings: &[&Finding]) -> Vec<Code> {
    let said = [Code::JitOnly, Code::DriverNotGiven];
    let warned = findings
        .iter()
        .filter(|finding| finding.level == Level::Warn && !said.contains(&finding.code));
    let mut codes: Vec<Code> = warned.map(|finding| finding.code).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// Whether the GPU that a finding is about is newer than all code that the package has of its own.
fn is_newer_than_all(finding: &Finding, target: &FleetTarget, artifact: &Artifact) -> bool {
    let newest = newest(artifact, |_| true);
    let mut gpus = target.gpus.iter().filter(|gpu| {
        let named = |name: &String| *name == gpu.name || *name == gpu.to_string();
        finding.gpu.as_ref().is_none_or(named)
    });
    gpus.any(|gpu| newest.is_some_and(|newest| newest < gpu.cc))
}

/// The newest capability that code of the package's own is for; none where there is code of unknown targets.
fn newest(artifact: &Artifact, of_kind: fn(ImageKind) -> bool) -> Option<ComputeCapability> {
    let codes = artifact.libraries.iter().flat_map(|library| &library.code);
    let images = codes
        .filter(|code| code.own)
        .flat_map(|code| &code.class.images)
        .filter(|image| of_kind(image.key.kind));
    let targets: Option<Vec<_>> = images.map(|image| image.key.target).collect();
    targets?.into_iter().map(|target| target.cc).max()
}
