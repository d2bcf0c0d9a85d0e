//! One line of JSON for each artifact, for whoever gathers the checks of many: `smgate/check-artifact/1`.
//!
//! Each line stands for itself, so that it can be stored, routed and joined without the others. The last line,
//! `smgate/check-summary/1`, says what belongs to no artifact and how many lines there are: without it the output was
//! cut. Fields may be added, none removed or changed.

use std::io::{self, Write};

use serde::Serialize;

use crate::escape::in_json;
use crate::report::Checked;
use crate::report::document::{ArtifactForm, FindingForm, Said, artifact_form, finding_forms};
use crate::tables::Origin;
use crate::verdict::Verdict;

const ARTIFACT: &str = "smgate/check-artifact/1";
const SUMMARY: &str = "smgate/check-summary/1";

#[derive(Debug, Serialize)]
struct ArtifactLine<'e> {
    schema: &'static str,
    verdict: &'static str,
    policy: &'e str,
    tables: &'e Origin,
    kind: &'static str,
    sha256: Option<&'e str>,
    artifact: ArtifactForm<'e>,
    #[serde(flatten)]
    said: Said<'e>,
}

#[derive(Debug, Serialize)]
struct SummaryLine<'e> {
    schema: &'static str,
    verdict: &'static str,
    policy: &'e str,
    tables: &'e Origin,
    artifacts: u64,
    pass: u64,
    incomplete: u64,
    fail: u64,
    findings: Vec<FindingForm<'e>>,
}

/// Writes the lines.
pub(in crate::report) fn write(checked: Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let evaluation = checked.evaluation;
    for (index, artifact) in evaluation.artifacts.iter().enumerate() {
        let inventoried = checked.inventory.artifacts.get(index);
        let line = ArtifactLine {
            schema: ARTIFACT,
            verdict: artifact.verdict.id(),
            policy: &evaluation.policy,
            tables: &evaluation.tables,
            kind: artifact.kind.id(),
            sha256: inventoried.and_then(|artifact| artifact.sha256.as_deref()),
            artifact: artifact_form(artifact),
            said: Said::of(evaluation, |of| of == index, |of| of == Some(index)),
        };
        write_line(&line, out)?;
    }
    let count = |verdict: Verdict| {
        let artifacts = evaluation.artifacts.iter();
        artifacts.filter(|one| one.verdict == verdict).count() as u64
    };
    let summary = SummaryLine {
        schema: SUMMARY,
        verdict: evaluation.verdict.id(),
        policy: &evaluation.policy,
        tables: &evaluation.tables,
        artifacts: evaluation.artifacts.len() as u64,
        pass: count(Verdict::Pass),
        incomplete: count(Verdict::Incomplete),
        fail: count(Verdict::Fail),
        findings: finding_forms(evaluation, |of| of.is_none()),
    };
    write_line(&summary, out)
}

fn write_line(line: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let json = serde_json::to_string(line).map_err(io::Error::other)?;
    writeln!(out, "{}", in_json(json))
}
