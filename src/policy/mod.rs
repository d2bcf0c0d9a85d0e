//! Policies: what code must run on, which findings count, and what is accepted.
//!
//! Text becomes a tree of spelled values (`yaml`), the tree becomes what the file says (`validate`), files
//! become a valid [`Policy`] or a list of every mistake ([`Diagnostics`]). A policy can be checked without an
//! artifact: nothing here knows packages, device code or verdicts, does I/O or looks at the clock. The schema
//! is the one of `docs/policy.md`, version 1.

mod command_line;
mod date;
mod diag;
mod fields;
mod gpu;
mod host;
mod init;
mod lint;
mod load;
mod pattern;
mod place;
mod presets;
mod resolved;
mod scope;
mod target;
mod validate;
mod values;
mod waiver;
mod yaml;

use std::collections::BTreeMap;

pub use date::{Date, ParseDateError};
pub use diag::{Diagnostic, Diagnostics};
pub use gpu::{Given, GpuKey, TargetGpu};
pub use init::init;
pub use load::{IncludedFile, ReadInclude};
pub(crate) use pattern::normal_package;
pub use pattern::{LibraryGlob, PackagePattern, VersionPattern};
pub use place::Place;
pub use presets::Preset;
pub use resolved::Resolved;
pub use scope::Scope;
pub use target::{FleetTarget, Tegra};
pub use waiver::{Waiver, WaiverSubject};

use crate::Error;
use crate::rule::{Code, Level};
use crate::tables::Tables;

use diag::{Fault, File};
use place::Placed;
use validate::SetThresholds;

/// A valid policy.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Policy {
    /// What code must run on, in file order, at least one.
    pub targets: Vec<FleetTarget>,
    /// From which share of a library on a finding counts, where no scope says otherwise.
    pub thresholds: Thresholds,
    /// The packages of which a build without GPU code is a failure.
    pub expect_gpu: Vec<PackagePattern>,
    /// The package indexes that are asked, the main one first; none where that is left to options and configuration.
    pub indexes: Vec<String>,
    /// The packages that the driver may compile at first use, without `jit-only`.
    pub allow_jit: Vec<PackagePattern>,
    /// Levels and thresholds for a part of what is judged, in file order; the last one counts.
    pub scopes: Vec<Scope>,
    /// What is accepted, in file order.
    pub waivers: Vec<Waiver>,
    origin: String,
    levels: BTreeMap<Code, Placed<Level>>,
    set_thresholds: SetThresholds,
    files: Vec<File>,
}

/// Shares of the general fatbins of a library, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Below it, the main library of a package does not carry a target: `no-kernel-image` applies.
    pub main_library: f64,
    /// Below it, partial coverage is a failure rather than a warning.
    pub partial_coverage: Option<f64>,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            main_library: 0.5,
            partial_coverage: None,
        }
    }
}

impl Thresholds {
    /// Takes what is set in place of what was.
    fn apply(&mut self, set: &SetThresholds) {
        if let Some(share) = &set.main_library {
            self.main_library = share.value;
        }
        if let Some(share) = &set.partial_coverage {
            self.partial_coverage = Some(share.value);
        }
    }
}

impl Policy {
    /// The largest policy file that is read, in bytes.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Reads a policy. `origin` is the name of the file in messages.
    ///
    /// ```
    /// use smgate::policy::Policy;
    /// use smgate::rule::{Code, Level};
    /// use smgate::tables::Tables;
    ///
    /// let text = "version: 1\ntargets:\n  - name: prod\n    gpu: H100\nlevels: {jit-only: deny}\n";
    /// let policy = Policy::parse("smgate.yaml", text, Tables::builtin())?;
    /// assert_eq!(policy.level(Code::JitOnly), Level::Deny);
    ///
    /// let mistakes = Policy::parse("smgate.yaml", "version: 1\ntarget: []\n", Tables::builtin());
    /// assert!(mistakes.unwrap_err().render(false).contains("did you mean `targets`?"));
    /// # Ok::<(), smgate::policy::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Every mistake of the file, not only the first.
    pub fn parse(origin: &str, text: &str, tables: &Tables) -> Result<Self, Diagnostics> {
        Self::parse_bytes(origin, text.as_bytes(), tables)
    }

    /// Reads a policy from the bytes of a file. It may include presets, and no files.
    ///
    /// # Errors
    ///
    /// Every mistake of the file, not only the first.
    pub fn parse_bytes(origin: &str, bytes: &[u8], tables: &Tables) -> Result<Self, Diagnostics> {
        let mut none = |_: &str, _: &str| Err("other files are not read here".to_owned());
        Self::parse_with(origin, bytes, tables, &mut none)
    }

    /// Reads a policy from the bytes of a file, and the files that it includes with `read`.
    ///
    /// # Errors
    ///
    /// Every mistake of the files, not only the first.
    pub fn parse_with(
        origin: &str,
        bytes: &[u8],
        tables: &Tables,
        read: &mut ReadInclude<'_>,
    ) -> Result<Self, Diagnostics> {
        load::load(origin, bytes, tables, read)
    }

    /// The origin of targets that are given one by one.
    pub const BY_HAND: &str = "--target";

    /// A policy for targets that are given one by one: names of GPUs, compute capabilities, PCI ids or
    /// cloud instance types.
    ///
    /// # Errors
    ///
    /// A usage error that names the nearest spelling.
    pub fn for_targets(
        targets: &[impl AsRef<str>],
        driver: Option<&str>,
        platform: Option<&str>,
        tables: &Tables,
    ) -> Result<Self, Error> {
        Ok(Self {
            targets: command_line::targets(targets, driver, platform, tables)
                .map_err(Fault::into_usage_error)?,
            thresholds: Thresholds::default(),
            expect_gpu: Vec::new(),
            indexes: Vec::new(),
            allow_jit: Vec::new(),
            scopes: Vec::new(),
            waivers: Vec::new(),
            origin: Self::BY_HAND.to_owned(),
            levels: BTreeMap::new(),
            set_thresholds: SetThresholds::default(),
            files: Vec::new(),
        })
    }

    /// The presets that come with the program.
    pub fn presets() -> &'static [Preset] {
        presets::ALL
    }

    /// The error that there is no preset of this name, which names those that there are.
    pub fn unknown_preset(name: &str) -> Error {
        presets::unknown(name).into_error(crate::ErrorKind::Policy)
    }

    /// A preset by its name; `None` if there is none of that name.
    pub fn preset(name: &str, tables: &Tables) -> Option<Result<Self, Diagnostics>> {
        let preset = presets::ALL.iter().find(|preset| preset.name == name)?;
        Some(Self::parse(&format!("preset:{name}"), preset.text, tables))
    }

    /// Where the policy comes from: the name of its file, `preset:NAME`, or `--target`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The level of a rule where no scope says otherwise: what the policy says, else the default.
    pub fn level(&self, code: Code) -> Level {
        self.levels
            .get(&code)
            .map_or(code.default_level(), |level| level.value)
    }

    /// The level of a rule for a subject: that of `allow-jit`, of the last scope that sets it, of the policy,
    /// the default.
    pub fn level_for(&self, code: Code, subject: &WaiverSubject<'_>) -> Level {
        if code == Code::JitOnly && self.allows_jit(subject) {
            return Level::Allow;
        }
        self.level_from(code, subject).0
    }

    /// The level of a rule for a subject without `allow-jit`, and where it is set; nowhere if it is the default.
    fn level_from(&self, code: Code, subject: &WaiverSubject<'_>) -> (Level, Option<&Place>) {
        let matching = self
            .scopes
            .iter()
            .rev()
            .filter(|scope| scope.matches(subject));
        let mut set =
            matching.filter_map(|scope| Some((*scope.levels.get(&code)?, Some(&scope.place))));
        let of_policy = || {
            self.levels
                .get(&code)
                .map(|level| (level.value, Some(&level.place)))
        };
        set.next()
            .or_else(of_policy)
            .unwrap_or((code.default_level(), None))
    }

    /// Whether the subject may be compiled by the driver at first use.
    fn allows_jit(&self, subject: &WaiverSubject<'_>) -> bool {
        let target = self
            .targets
            .iter()
            .find(|target| Some(target.name.as_str()) == subject.target);
        let here = target
            .map(|target| target.allow_jit.as_slice())
            .unwrap_or_default();
        let mut patterns = self.allow_jit.iter().chain(here);
        subject
            .package
            .is_some_and(|package| patterns.any(|pattern| pattern.matches(package)))
    }

    /// The thresholds for a subject: those of the last scope that sets each, of the policy, the defaults.
    pub fn thresholds_for(&self, subject: &WaiverSubject<'_>) -> Thresholds {
        let mut thresholds = self.thresholds;
        for scope in self.scopes.iter().filter(|scope| scope.matches(subject)) {
            thresholds.apply(&scope.thresholds);
        }
        thresholds
    }

    /// Whether a build of this package without GPU code is a failure.
    pub fn expects_gpu(&self, package: &str) -> bool {
        self.expect_gpu
            .iter()
            .any(|pattern| pattern.matches(package))
    }
}

#[cfg(test)]
mod tests;
