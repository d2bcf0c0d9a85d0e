//! The resolved form of a policy: every target with what it means, every level with where it comes from.
//!
//! For people who ask why a check judged as it did. Looks things up in the tables and judges nothing.

use std::fmt;

use serde::Serialize;

use super::diag::quote;
use super::place::{Place, Placed};
use super::target::FleetTarget;
use super::values::{either, list};
use super::waiver::WaiverSubject;
use super::{Date, Policy};
use crate::platform::{Os, Platform};
use crate::rule::{Code, Level};
use crate::tables::Tables;

/// The name of the form.
const SCHEMA: &str = "smgate/policy/1";
/// Where a value comes from that no file sets.
const DEFAULT: &str = "default";
/// What stands for the values of the machine that checks, which nobody looked at.
const HOST: &str = "that of the machine that checks";

/// A policy with everything that follows from it. As text for people, or serialized for programs.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Resolved {
    schema: &'static str,
    policy: String,
    files: Vec<String>,
    targets: Vec<TargetForm>,
    expect_gpu: Vec<String>,
    indexes: Vec<String>,
    allow_jit: Vec<String>,
    scopes: Vec<ScopeForm>,
    waivers: Vec<WaiverForm>,
}

#[derive(Debug, Clone, Serialize)]
struct TargetForm {
    name: String,
    from: Option<Place>,
    /// Whether it is the machine that checks; then that tells what is not given here.
    host: bool,
    gpus: Vec<GpuForm>,
    driver: Option<DriverForm>,
    platform: Option<Platform>,
    wsl: bool,
    tegra: &'static str,
    allow_jit: Vec<String>,
    python: Option<String>,
    glibc: Option<String>,
    levels: Vec<LevelForm>,
    thresholds: Vec<ThresholdForm>,
}

#[derive(Debug, Clone, Serialize)]
struct GpuForm {
    name: String,
    cc: String,
    key: &'static str,
    value: String,
    counts: Vec<u32>,
}

#[derive(Debug, Clone, Serialize)]
struct DriverForm {
    driver: String,
    /// The branch; none where the tables do not know one.
    branch: Option<String>,
    /// The CUDA version that it reports; none where the branch is not known.
    cuda: Option<String>,
    /// Whose numbers it has.
    numbers: &'static str,
}

#[derive(Debug, Clone, Serialize)]
struct LevelForm {
    rule: Code,
    level: Level,
    from: String,
}

#[derive(Debug, Clone, Serialize)]
struct ThresholdForm {
    threshold: &'static str,
    /// None where there is no such threshold.
    share: Option<f64>,
    from: String,
}

#[derive(Debug, Clone, Serialize)]
struct ScopeForm {
    from: Place,
    package: Option<String>,
    version: Option<String>,
    library: Option<String>,
    targets: Vec<String>,
    levels: Vec<LevelForm>,
    thresholds: Vec<ThresholdForm>,
}

#[derive(Debug, Clone, Serialize)]
struct WaiverForm {
    from: Place,
    rule: Code,
    package: Option<String>,
    version: Option<String>,
    library: Option<String>,
    targets: Vec<String>,
    reason: String,
    until: String,
    expired: bool,
}

impl Policy {
    /// What the policy means on the day `today`.
    pub fn resolved(&self, tables: &Tables, today: Date) -> Resolved {
        let texts =
            |patterns: &[super::PackagePattern]| patterns.iter().map(ToString::to_string).collect();
        let scopes = self.scopes.iter().map(|scope| ScopeForm {
            from: scope.place.clone(),
            package: scope.package.as_ref().map(ToString::to_string),
            version: scope.version.as_ref().map(ToString::to_string),
            library: scope.library.as_ref().map(ToString::to_string),
            targets: scope.targets.clone(),
            levels: scope
                .levels
                .iter()
                .map(|(rule, level)| level_form(*rule, *level, Some(&scope.place)))
                .collect(),
            thresholds: [
                ("main-library", &scope.thresholds.main_library),
                ("partial-coverage", &scope.thresholds.partial_coverage),
            ]
            .into_iter()
            .filter_map(|(name, set)| Some(threshold_form(name, Some(set.as_ref()?), None)))
            .collect(),
        });
        let waivers = self.waivers.iter().map(|waiver| WaiverForm {
            from: waiver.place.clone(),
            rule: waiver.rule,
            package: waiver.package.as_ref().map(ToString::to_string),
            version: waiver.version.as_ref().map(ToString::to_string),
            library: waiver.library.as_ref().map(ToString::to_string),
            targets: waiver.targets.clone(),
            reason: waiver.reason.clone(),
            until: waiver.until.to_string(),
            expired: waiver.expired(today),
        });
        Resolved {
            schema: SCHEMA,
            policy: self.origin.clone(),
            files: self.files.iter().map(|file| file.origin.clone()).collect(),
            targets: self
                .targets
                .iter()
                .map(|target| self.target_form(target, tables))
                .collect(),
            expect_gpu: texts(&self.expect_gpu),
            indexes: self.indexes.clone(),
            allow_jit: texts(&self.allow_jit),
            scopes: scopes.collect(),
            waivers: waivers.collect(),
        }
    }

    fn target_form(&self, target: &FleetTarget, tables: &Tables) -> TargetForm {
        let subject = WaiverSubject {
            target: Some(&target.name),
            ..WaiverSubject::default()
        };
        let levels = Code::ALL.iter().map(|rule| {
            let (level, place) = self.level_from(*rule, &subject);
            level_form(*rule, level, place)
        });
        let mut set = self.set_thresholds.clone();
        for scope in self.scopes.iter().filter(|scope| scope.matches(&subject)) {
            let over = scope.thresholds.clone();
            set.main_library = over.main_library.or(set.main_library);
            set.partial_coverage = over.partial_coverage.or(set.partial_coverage);
        }
        let default = super::Thresholds::default();
        TargetForm {
            name: target.name.clone(),
            from: target.place.clone(),
            host: target.is_host(),
            gpus: target
                .gpus
                .iter()
                .map(|gpu| GpuForm {
                    name: gpu.name.clone(),
                    cc: gpu.cc.to_string(),
                    key: gpu.given.key.id(),
                    value: gpu.given.text.clone(),
                    counts: gpu.given.counts.clone(),
                })
                .collect(),
            driver: driver_form(target, tables),
            platform: target.platform,
            wsl: target.wsl,
            tegra: target.tegra.id(),
            allow_jit: target.allow_jit.iter().map(ToString::to_string).collect(),
            python: target.python.clone(),
            glibc: target.glibc.clone(),
            levels: levels.collect(),
            thresholds: vec![
                threshold_form(
                    "main-library",
                    set.main_library.as_ref(),
                    Some(default.main_library),
                ),
                threshold_form(
                    "partial-coverage",
                    set.partial_coverage.as_ref(),
                    default.partial_coverage,
                ),
            ],
        }
    }
}

fn level_form(rule: Code, level: Level, place: Option<&Place>) -> LevelForm {
    LevelForm {
        rule,
        level,
        from: place.map_or_else(|| DEFAULT.to_owned(), ToString::to_string),
    }
}

fn threshold_form(
    threshold: &'static str,
    set: Option<&Placed<f64>>,
    default: Option<f64>,
) -> ThresholdForm {
    ThresholdForm {
        threshold,
        share: set.map(|set| set.value).or(default),
        from: set.map_or_else(|| DEFAULT.to_owned(), |set| set.place.to_string()),
    }
}

fn driver_form(target: &FleetTarget, tables: &Tables) -> Option<DriverForm> {
    let driver = target.known_driver(Os::Linux, tables);
    let spec = driver.spec()?;
    // only what the tables say: a number that none of them has stays without a branch
    let row = driver
        .known_branch()
        .and_then(|branch| tables.branch(branch));
    Some(DriverForm {
        driver: spec.to_string(),
        branch: row.map(|row| row.branch.to_string()),
        cuda: row.map(|row| row.cuda.to_string()),
        numbers: driver.os().id(),
    })
}

impl fmt::Display for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "policy {}", self.policy)?;
        for file in self.files.iter().skip(1) {
            writeln!(f, "  includes {file}")?;
        }
        for target in &self.targets {
            writeln!(f)?;
            write!(f, "{target}")?;
        }
        if !self.expect_gpu.is_empty() {
            writeln!(f, "\nexpect-gpu  {}", self.expect_gpu.join(", "))?;
        }
        if !self.indexes.is_empty() {
            writeln!(f, "\nindexes  {}", self.indexes.join(", "))?;
        }
        if !self.allow_jit.is_empty() {
            writeln!(f, "\nallow-jit  {}", self.allow_jit.join(", "))?;
        }
        for scope in &self.scopes {
            let about = about(
                scope.package.as_deref(),
                scope.version.as_deref(),
                scope.library.as_deref(),
                &scope.targets,
            );
            writeln!(f, "\nscope: {about}  ({})", scope.from)?;
            for level in &scope.levels {
                writeln!(f, "  {} {}", level.level, level.rule)?;
            }
            for threshold in &scope.thresholds {
                writeln!(f, "  {}", threshold.words())?;
            }
        }
        for waiver in &self.waivers {
            let about = about(
                waiver.package.as_deref(),
                waiver.version.as_deref(),
                waiver.library.as_deref(),
                &waiver.targets,
            );
            let ended = if waiver.expired {
                ", which is over"
            } else {
                ""
            };
            writeln!(f, "\nwaiver of {}: {about}  ({})", waiver.rule, waiver.from)?;
            writeln!(f, "  until {}{ended}: {}", waiver.until, waiver.reason)?;
        }
        Ok(())
    }
}

/// What a scope or waiver names.
fn about(
    package: Option<&str>,
    version: Option<&str>,
    library: Option<&str>,
    targets: &[String],
) -> String {
    let named = [
        ("package", package),
        ("version", version),
        ("library", library),
    ];
    let named = named
        .into_iter()
        .filter_map(|(what, name)| Some(format!("{what} {}", quote(name?))));
    let mut parts: Vec<String> = named.collect();
    if !targets.is_empty() {
        let names = targets.iter().map(|name| quote(name));
        parts.push(format!("on {}", list(names)));
    }
    if parts.is_empty() {
        return "everything".to_owned();
    }
    parts.join(" ")
}

impl ThresholdForm {
    fn words(&self) -> String {
        let share = self
            .share
            .map_or_else(|| "not set".to_owned(), |share| share.to_string());
        format!("{} {share}", self.threshold)
    }
}

impl fmt::Display for TargetForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.from {
            Some(place) => writeln!(f, "target {}  ({place})", quote(&self.name))?,
            None => writeln!(f, "target {}", quote(&self.name))?,
        }
        for gpu in &self.gpus {
            let counts = match gpu.counts.as_slice() {
                [] => String::new(),
                [1] => ", 1 GPU".to_owned(),
                counts => format!(", {} GPUs", either(counts.iter().map(ToString::to_string))),
            };
            let given = quote(&format!("{}: {}", gpu.key, gpu.value));
            writeln!(
                f,
                "  gpu         {}, compute capability {}  ({given}{counts})",
                gpu.name, gpu.cc
            )?;
        }
        // what the machine that checks tells is not known here
        let not_given = if self.host {
            writeln!(f, "  gpu         {HOST}  (`host: true`)")?;
            HOST
        } else {
            "not given"
        };
        match &self.driver {
            None => writeln!(f, "  driver      {not_given}")?,
            Some(driver) => {
                let known = match (&driver.branch, &driver.cuda) {
                    (Some(branch), Some(cuda)) => format!("branch {branch}, CUDA {cuda}"),
                    _ => "of no branch that is known".to_owned(),
                };
                let windows = if driver.numbers == Os::Windows.id() {
                    ", a Windows number"
                } else {
                    ""
                };
                writeln!(f, "  driver      {}  ({known}{windows})", driver.driver)?;
            }
        }
        let wsl = if self.wsl { ", WSL" } else { "" };
        match self.platform {
            Some(platform) => writeln!(f, "  platform    {platform}{wsl}")?,
            None => writeln!(f, "  platform    {not_given}")?,
        }
        if self.tegra != super::Tegra::default().id() {
            writeln!(f, "  tegra       {}", self.tegra)?;
        }
        for (what, value) in [("python", &self.python), ("glibc", &self.glibc)] {
            if let Some(value) = value {
                writeln!(f, "  {what:<12}{value}")?;
            }
        }
        if !self.allow_jit.is_empty() {
            writeln!(f, "  allow-jit   {}", self.allow_jit.join(", "))?;
        }
        for level in [Level::Deny, Level::Incomplete, Level::Warn, Level::Allow] {
            let rules = self.levels.iter().filter(|form| form.level == level);
            let rules = rules.map(|form| {
                if form.from == DEFAULT {
                    form.rule.to_string()
                } else {
                    format!("{} ({})", form.rule, form.from)
                }
            });
            let rules: Vec<String> = rules.collect();
            if !rules.is_empty() {
                writeln!(f, "  {:<12}{}", level.id(), rules.join(", "))?;
            }
        }
        for threshold in &self.thresholds {
            writeln!(
                f,
                "  threshold   {}  ({})",
                threshold.words(),
                threshold.from
            )?;
        }
        Ok(())
    }
}
