//! The JSON form of what `find` found: `smgate/find/1`. Fields may be added, none removed or changed.

use serde::Serialize;

use crate::escape::in_json;
use crate::find::{Available, Failing, Found, OfSeries, OnTarget, Running};
use crate::rule::Code;
use crate::tables::Origin;

const SCHEMA: &str = "smgate/find/1";

#[derive(Debug, Serialize)]
struct Document<'f> {
    schema: &'static str,
    requirement: &'f str,
    name: &'f str,
    runs: &'static str,
    policy: &'f str,
    tables: &'f Origin,
    read: u64,
    most: u64,
    fetched_bytes: u64,
    indexes: Vec<IndexForm<'f>>,
    environments: Vec<EnvironmentForm<'f>>,
    targets: Vec<TargetForm<'f>>,
}

#[derive(Debug, Serialize)]
struct IndexForm<'f> {
    address: &'f str,
    option: &'static str,
}

#[derive(Debug, Serialize)]
struct EnvironmentForm<'f> {
    environment: &'f str,
    builds: u64,
    yanked: u64,
    pre_releases: u64,
    without_cuda: u64,
    source_only: u64,
    no_file: u64,
}

#[derive(Debug, Serialize)]
struct TargetForm<'f> {
    target: &'f str,
    gpus: &'f [String],
    driver: Option<&'f str>,
    environment: usize,
    runs: &'static str,
    series: Vec<SeriesForm<'f>>,
}

#[derive(Debug, Serialize)]
struct SeriesForm<'f> {
    index: usize,
    label: Option<&'f str>,
    builds: u64,
    read: u64,
    cut: bool,
    unread: bool,
    gpu_too_new: bool,
    native: Option<RunningForm<'f>>,
    jit: Option<RunningForm<'f>>,
    newest: Option<FailingForm<'f>>,
}

#[derive(Debug, Serialize)]
struct RunningForm<'f> {
    version: &'f str,
    file: &'f str,
    size: Option<u64>,
    minimum_driver: Option<&'f str>,
    warnings: Vec<&'static str>,
    pip: &'f str,
    uv: &'f str,
}

#[derive(Debug, Serialize)]
struct FailingForm<'f> {
    version: &'f str,
    file: &'f str,
    read: bool,
    code: Option<&'static str>,
    message: Option<&'f str>,
    minimum_driver: Option<&'f str>,
}

/// The JSON form of `found`.
pub(in crate::report) fn to_json(found: &Found) -> serde_json::Result<String> {
    let indexes = found.indexes.iter().map(|(address, how)| IndexForm {
        address,
        option: how.id(),
    });
    let json = serde_json::to_string_pretty(&Document {
        schema: SCHEMA,
        requirement: &found.requirement,
        name: &found.name,
        runs: found.worst().id(),
        policy: &found.policy,
        tables: &found.tables,
        read: found.read,
        most: found.most,
        fetched_bytes: found.fetched,
        indexes: indexes.collect(),
        environments: found.environments.iter().map(environment_form).collect(),
        targets: found.targets.iter().map(target_form).collect(),
    })?;
    Ok(in_json(json))
}

fn environment_form(available: &Available) -> EnvironmentForm<'_> {
    let passed = available.passed;
    EnvironmentForm {
        environment: &available.environment,
        builds: available.builds,
        yanked: passed.yanked,
        pre_releases: passed.pre_releases,
        without_cuda: passed.without_cuda,
        source_only: passed.source_only,
        no_file: passed.no_file,
    }
}

fn target_form(target: &OnTarget) -> TargetForm<'_> {
    TargetForm {
        target: &target.name,
        gpus: &target.gpus,
        driver: target.driver.as_deref(),
        environment: target.environment,
        runs: target.runs().id(),
        series: target.series.iter().map(series_form).collect(),
    }
}

fn series_form(series: &OfSeries) -> SeriesForm<'_> {
    SeriesForm {
        index: series.index,
        label: series.label.as_deref(),
        builds: series.builds,
        read: series.read,
        cut: series.cut,
        unread: series.unread,
        gpu_too_new: series.gpu_too_new,
        native: series.native.as_ref().map(running_form),
        jit: series.jit.as_ref().map(running_form),
        newest: series.newest.as_ref().map(failing_form),
    }
}

fn running_form(running: &Running) -> RunningForm<'_> {
    RunningForm {
        version: &running.version,
        file: &running.file,
        size: running.size,
        minimum_driver: running.minimum_driver.as_deref(),
        warnings: running.warnings.iter().map(|code| code.id()).collect(),
        pip: &running.install.pip,
        uv: &running.install.uv,
    }
}

fn failing_form(failing: &Failing) -> FailingForm<'_> {
    let why = failing.why.as_ref();
    FailingForm {
        version: &failing.version,
        file: &failing.file,
        read: failing.is_read,
        code: why.and_then(|why| why.code).map(Code::id),
        message: why.map(|why| why.message.as_str()),
        minimum_driver: failing.minimum_driver.as_deref(),
    }
}
