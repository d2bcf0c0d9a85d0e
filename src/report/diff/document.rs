//! The JSON form of a comparison: `smgate/diff/1`. Fields may be added, none removed or changed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::escape::in_json;
use crate::tables::Origin;
use crate::verdict::compare::{
    CodeKey, Compared, Comparison, Content, FindingChange, Outcome, PackageChange, Pair, Standing,
};

const SCHEMA: &str = "smgate/diff/1";

#[derive(Debug, Serialize)]
struct Document<'c> {
    schema: &'static str,
    worse: bool,
    incomplete: bool,
    policy: Option<&'c str>,
    tables: Option<&'c Origin>,
    pairs: Vec<PairForm<'c>>,
}

#[derive(Debug, Serialize)]
struct PairForm<'c> {
    before: Option<ArtifactForm<'c>>,
    after: Option<ArtifactForm<'c>>,
    worse: bool,
    packages: Vec<PackageForm<'c>>,
    unchanged_packages: u64,
    targets: Vec<TargetForm<'c>>,
    findings: Vec<FindingForm<'c>>,
}

#[derive(Debug, Serialize)]
struct ArtifactForm<'c> {
    input: &'c str,
    name: Option<&'c str>,
    version: Option<&'c str>,
    problems: u64,
}

#[derive(Debug, Serialize)]
struct PackageForm<'c> {
    before: Option<ContentForm<'c>>,
    after: Option<ContentForm<'c>>,
    code: Vec<CodeForm<'c>>,
    needs: Difference<'c>,
    libraries: Difference<'c>,
}

#[derive(Debug, Serialize)]
struct ContentForm<'c> {
    name: Option<&'c str>,
    version: Option<&'c str>,
    file: Option<&'c str>,
    code_bytes: u64,
    carried_code_bytes: u64,
    library_bytes: u64,
    toolkits: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CodeForm<'c> {
    form: &'static str,
    target: &'c str,
    own: bool,
    before_bytes: Option<u64>,
    after_bytes: Option<u64>,
}

/// What is on one side only.
#[derive(Debug, Serialize)]
struct Difference<'c> {
    added: Vec<&'c str>,
    removed: Vec<&'c str>,
}

#[derive(Debug, Serialize)]
struct TargetForm<'c> {
    package: Option<&'c str>,
    target: &'c str,
    before: Option<StandingForm>,
    after: Option<StandingForm>,
    worse: bool,
}

#[derive(Debug, Serialize)]
struct StandingForm {
    verdict: &'static str,
    minimum_driver: Option<String>,
    minimum_driver_reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct FindingForm<'c> {
    code: &'static str,
    level: &'static str,
    package: Option<&'c str>,
    target: Option<&'c str>,
    gpu: Option<&'c str>,
    before: u64,
    after: u64,
    new_in: &'c [String],
    gone_from: &'c [String],
    message: &'c str,
    next_step: &'c str,
    worse: bool,
}

/// The JSON form of `comparison`.
pub(in crate::report) fn to_json(comparison: &Comparison) -> serde_json::Result<String> {
    let fail_on_warn = comparison.fail_on_warn;
    let pairs = comparison.pairs.iter();
    let json = serde_json::to_string_pretty(&Document {
        schema: SCHEMA,
        worse: comparison.is_worse(),
        incomplete: comparison.incomplete,
        policy: comparison.policy.as_deref(),
        tables: comparison.tables.as_ref(),
        pairs: pairs.map(|pair| pair_form(pair, fail_on_warn)).collect(),
    })?;
    Ok(in_json(json))
}

fn pair_form(pair: &Pair, fail_on_warn: bool) -> PairForm<'_> {
    let findings = pair.findings.iter();
    PairForm {
        before: pair.before.as_ref().map(artifact_form),
        after: pair.after.as_ref().map(artifact_form),
        worse: pair.is_worse(fail_on_warn),
        packages: pair.packages.iter().map(package_form).collect(),
        unchanged_packages: pair.unchanged,
        targets: pair.outcomes.iter().map(target_form).collect(),
        findings: findings
            .map(|finding| finding_form(finding, fail_on_warn))
            .collect(),
    }
}

fn artifact_form(side: &Compared) -> ArtifactForm<'_> {
    let package = side.package.as_ref();
    ArtifactForm {
        input: &side.input,
        name: package.map(|package| package.name.as_str()),
        version: package.and_then(|package| package.version.as_deref()),
        problems: side.problems,
    }
}

fn package_form(change: &PackageChange) -> PackageForm<'_> {
    let mut code: BTreeMap<&CodeKey, (Option<u64>, Option<u64>)> = BTreeMap::new();
    for (key, bytes) in change.before.iter().flat_map(|side| &side.code) {
        code.entry(key).or_default().0 = Some(*bytes);
    }
    for (key, bytes) in change.after.iter().flat_map(|side| &side.code) {
        code.entry(key).or_default().1 = Some(*bytes);
    }
    let code = code
        .into_iter()
        .map(|(key, (before_bytes, after_bytes))| CodeForm {
            form: key.form.id(),
            target: &key.name,
            own: !key.carried,
            before_bytes,
            after_bytes,
        });
    PackageForm {
        before: change.before.as_ref().map(content_form),
        after: change.after.as_ref().map(content_form),
        code: code.collect(),
        needs: difference(change, |side| &side.needs),
        libraries: difference(change, |side| &side.libraries),
    }
}

fn content_form(content: &Content) -> ContentForm<'_> {
    ContentForm {
        name: content.name.as_deref(),
        version: content.version.as_deref(),
        file: content.file.as_deref(),
        code_bytes: content.code_bytes(false),
        carried_code_bytes: content.code_bytes(true),
        library_bytes: content.library_bytes,
        toolkits: content.toolkits.iter().map(ToString::to_string).collect(),
    }
}

fn difference(change: &PackageChange, of: fn(&Content) -> &BTreeSet<String>) -> Difference<'_> {
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    Difference {
        added: only(after, before, of),
        removed: only(before, after, of),
    }
}

/// The names that one side has and the other has not.
fn only<'c>(
    side: Option<&'c Content>,
    other: Option<&Content>,
    of: fn(&Content) -> &BTreeSet<String>,
) -> Vec<&'c str> {
    let has = |name: &String| other.is_some_and(|other| of(other).contains(name));
    let names = side.into_iter().flat_map(of);
    names
        .filter(|name| !has(name))
        .map(String::as_str)
        .collect()
}

fn target_form(outcome: &Outcome) -> TargetForm<'_> {
    TargetForm {
        package: outcome.package.as_deref(),
        target: &outcome.target,
        before: outcome.before.as_ref().map(standing_form),
        after: outcome.after.as_ref().map(standing_form),
        worse: outcome.is_worse(),
    }
}

fn standing_form(standing: &Standing) -> StandingForm {
    let floor = standing.minimum_driver.as_ref();
    StandingForm {
        verdict: standing.verdict.id(),
        minimum_driver: floor.map(|floor| floor.driver.to_string()),
        minimum_driver_reason: floor.map(|floor| floor.mechanism.to_string()),
    }
}

fn finding_form(finding: &FindingChange, fail_on_warn: bool) -> FindingForm<'_> {
    FindingForm {
        code: finding.code.id(),
        level: finding.level.id(),
        package: finding.package.as_deref(),
        target: finding.target.as_deref(),
        gpu: finding.gpu.as_deref(),
        before: finding.before,
        after: finding.after,
        new_in: &finding.new,
        gone_from: &finding.gone,
        message: &finding.message,
        next_step: &finding.next_step,
        worse: finding.is_worse(fail_on_warn),
    }
}
