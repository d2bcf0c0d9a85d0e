//! The JSON form of an evaluation: `smgate/check/1`. Fields may be added, none removed or changed.

use std::sync::Arc;

use serde::Serialize;

use crate::escape::in_json;
use crate::tables::Origin;
use crate::verdict::{Evaluation, Finding, Judged, MissingKernels, OnGpu, Row, Runs};

use super::counts::Counts;

const SCHEMA: &str = "smgate/check/1";

#[derive(Debug, Serialize)]
struct Document<'e> {
    schema: &'static str,
    verdict: &'static str,
    counts: Counts,
    policy: &'e str,
    tables: &'e Origin,
    artifacts: Vec<ArtifactForm<'e>>,
    #[serde(flatten)]
    said: Said<'e>,
}

/// What is said of some artifacts.
#[derive(Debug, Serialize)]
pub(super) struct Said<'e> {
    matrix: Vec<RowForm<'e>>,
    findings: Vec<FindingForm<'e>>,
    problems: Vec<ProblemForm<'e>>,
    missing_kernels: Option<Vec<MissingForm<'e>>>,
}

#[derive(Debug, Serialize)]
pub(super) struct ArtifactForm<'e> {
    input: &'e str,
    name: Option<&'e str>,
    version: Option<&'e str>,
    files: u64,
    with_device_code: u64,
    unopened: u64,
    left_out: u64,
    fetched: Option<FetchedForm<'e>>,
}

#[derive(Debug, Serialize)]
struct FetchedForm<'e> {
    size: u64,
    received: u64,
    hash: Option<&'e str>,
    verified: &'static str,
    whole: Option<&'e str>,
}

#[derive(Debug, Serialize)]
struct RowForm<'e> {
    artifact: &'e str,
    package: Option<&'e str>,
    version: Option<&'e str>,
    target: &'e str,
    verdict: &'static str,
    device_code: bool,
    compiles_at_run_time: bool,
    minimum_driver: Option<String>,
    minimum_driver_reason: Option<String>,
    runs: Option<&'static str>,
    gpus: Vec<OnGpuForm<'e>>,
    notes: &'e [String],
}

/// The package on one GPU of the target.
#[derive(Debug, Serialize)]
struct OnGpuForm<'e> {
    gpu: &'e str,
    compute_capability: String,
    runs: Option<&'static str>,
    libraries: Vec<LibraryForm<'e>>,
}

#[derive(Debug, Serialize)]
struct LibraryForm<'e> {
    library: &'e str,
    runs: &'static str,
    fatbins: u64,
    covered: u64,
    jit: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct FindingForm<'e> {
    code: &'static str,
    level: &'static str,
    artifact: Option<&'e str>,
    package: Option<&'e str>,
    version: Option<&'e str>,
    library: Option<&'e str>,
    line: Option<u32>,
    target: Option<&'e str>,
    gpu: Option<&'e str>,
    message: &'e str,
    evidence: &'e [String],
    layer: Option<LayerForm<'e>>,
    next_step: &'e str,
    waived: Option<WaivedForm<'e>>,
}

/// The layer of an image that brought the library.
#[derive(Debug, Serialize)]
struct LayerForm<'e> {
    number: usize,
    digest: Option<&'e str>,
    created_by: Option<&'e str>,
}

#[derive(Debug, Serialize)]
struct MissingForm<'e> {
    artifact: &'e str,
    package: Option<&'e str>,
    version: Option<&'e str>,
    library: &'e str,
    target: &'e str,
    gpu: &'e str,
    fatbins: u64,
    uncovered: u64,
    unnamed: u64,
    elsewhere: u64,
    kernels: &'e [Arc<str>],
}

#[derive(Debug, Serialize)]
struct WaivedForm<'e> {
    reason: &'e str,
    until: Option<&'e str>,
}

#[derive(Debug, Serialize)]
struct ProblemForm<'e> {
    artifact: &'e str,
    kind: &'static str,
    at: String,
    detail: &'e str,
    extent: &'static str,
    hint: &'static str,
}

/// The JSON form of `evaluation`.
pub(super) fn to_json(evaluation: &Evaluation) -> serde_json::Result<String> {
    let json = serde_json::to_string_pretty(&Document {
        schema: SCHEMA,
        verdict: evaluation.verdict.id(),
        counts: Counts::of(evaluation),
        policy: &evaluation.policy,
        tables: &evaluation.tables,
        artifacts: evaluation.artifacts.iter().map(artifact_form).collect(),
        said: Said::of(evaluation, |_| true, |_| true),
    })?;
    Ok(in_json(json))
}

impl<'e> Said<'e> {
    /// What is said of the artifacts that `wanted` takes, and the findings about those that `findings` takes.
    pub(super) fn of(
        evaluation: &'e Evaluation,
        wanted: impl Fn(usize) -> bool,
        findings: impl Fn(Option<usize>) -> bool,
    ) -> Self {
        let input = |index: usize| {
            evaluation
                .artifacts
                .get(index)
                .map(|artifact| artifact.input.as_str())
        };
        let rows = evaluation.matrix.iter().filter(|row| wanted(row.artifact));
        let artifacts = evaluation.artifacts.iter().enumerate();
        let artifacts = artifacts.filter(|(index, _)| wanted(*index));
        Self {
            matrix: rows.map(|row| row_form(row, input(row.artifact))).collect(),
            findings: finding_forms(evaluation, findings),
            problems: artifacts
                .flat_map(|(_, artifact)| problem_forms(artifact))
                .collect(),
            missing_kernels: evaluation.missing_kernels.as_ref().map(|missing| {
                let forms = missing.iter().filter(|missing| wanted(missing.artifact));
                forms
                    .map(|missing| missing_form(missing, input(missing.artifact)))
                    .collect()
            }),
        }
    }
}

/// The findings about the artifacts that `wanted` takes; those about the policy are about none.
pub(super) fn finding_forms(
    evaluation: &Evaluation,
    wanted: impl Fn(Option<usize>) -> bool,
) -> Vec<FindingForm<'_>> {
    let findings = evaluation.findings.iter();
    let findings = findings.filter(|finding| wanted(finding.artifact));
    findings
        .map(|finding| {
            let artifact = finding
                .artifact
                .and_then(|index| evaluation.artifacts.get(index));
            finding_form(finding, artifact.map(|artifact| artifact.input.as_str()))
        })
        .collect()
}

pub(super) fn artifact_form(artifact: &Judged) -> ArtifactForm<'_> {
    ArtifactForm {
        input: &artifact.input,
        name: artifact
            .package
            .as_ref()
            .map(|package| package.name.as_str()),
        version: artifact
            .package
            .as_ref()
            .and_then(|package| package.version.as_deref()),
        files: artifact.seen.files,
        with_device_code: artifact.seen.with_device_code,
        unopened: artifact.seen.unopened,
        left_out: artifact.seen.left_out,
        fetched: artifact.fetched.as_ref().map(|fetched| FetchedForm {
            size: fetched.size,
            received: fetched.received,
            hash: fetched.hash.as_deref(),
            verified: fetched.verified.id(),
            whole: fetched.whole.as_deref(),
        }),
    }
}

fn problem_forms(artifact: &Judged) -> impl Iterator<Item = ProblemForm<'_>> {
    artifact.problems.iter().map(|problem| ProblemForm {
        artifact: &artifact.input,
        kind: problem.kind.id(),
        at: problem.at.to_string(),
        detail: &problem.detail,
        extent: problem.extent.id(),
        hint: problem.kind.hint(),
    })
}

fn row_form<'e>(row: &'e Row, artifact: Option<&'e str>) -> RowForm<'e> {
    RowForm {
        artifact: artifact.unwrap_or_default(),
        package: row.package.as_ref().map(|package| package.name.as_str()),
        version: row
            .package
            .as_ref()
            .and_then(|package| package.version.as_deref()),
        target: &row.target,
        verdict: row.verdict.id(),
        device_code: row.has_device_code,
        compiles_at_run_time: row.compiles,
        minimum_driver: row
            .minimum_driver
            .as_ref()
            .map(|floor| floor.driver.to_string()),
        minimum_driver_reason: row
            .minimum_driver
            .as_ref()
            .map(|floor| floor.mechanism.to_string()),
        runs: row.runs().map(Runs::id),
        gpus: row.gpus.iter().map(on_gpu_form).collect(),
        notes: &row.notes,
    }
}

fn on_gpu_form(on: &OnGpu) -> OnGpuForm<'_> {
    let libraries = on.libraries.iter().map(|one| LibraryForm {
        library: &one.library,
        runs: one.runs.id(),
        fatbins: one.fatbins,
        covered: one.covered,
        jit: one.jit,
    });
    OnGpuForm {
        gpu: &on.gpu,
        compute_capability: on.cc.to_string(),
        runs: on.runs.map(Runs::id),
        libraries: libraries.collect(),
    }
}

fn finding_form<'e>(finding: &'e Finding, artifact: Option<&'e str>) -> FindingForm<'e> {
    FindingForm {
        code: finding.code.id(),
        level: finding.level.id(),
        artifact,
        package: finding
            .package
            .as_ref()
            .map(|package| package.name.as_str()),
        version: finding
            .package
            .as_ref()
            .and_then(|package| package.version.as_deref()),
        library: finding.library.as_deref(),
        line: finding.line,
        target: finding.target.as_deref(),
        gpu: finding.gpu.as_deref(),
        message: &finding.message,
        evidence: &finding.evidence,
        layer: finding.layer.as_ref().map(|layer| LayerForm {
            number: layer.number,
            digest: layer.digest.as_deref(),
            created_by: layer.created_by.as_deref(),
        }),
        next_step: &finding.next_step,
        waived: finding.waived.as_ref().map(|waived| WaivedForm {
            reason: &waived.reason,
            until: waived.until.as_deref(),
        }),
    }
}

fn missing_form<'e>(found: &'e MissingKernels, artifact: Option<&'e str>) -> MissingForm<'e> {
    let package = found.package.as_ref();
    let missing = &found.missing;
    MissingForm {
        artifact: artifact.unwrap_or_default(),
        package: package.map(|package| package.name.as_str()),
        version: package.and_then(|package| package.version.as_deref()),
        library: &found.library,
        target: &found.target,
        gpu: &found.gpu,
        fatbins: missing.fatbins,
        uncovered: missing.uncovered,
        unnamed: missing.unnamed,
        elsewhere: missing.elsewhere,
        kernels: &missing.kernels,
    }
}
