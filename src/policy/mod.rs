//! Policies: what code must run on, which findings count, and what is accepted.
//!
//! Text becomes a tree of spelled values (`yaml`), the tree becomes a valid [`Policy`] or a list of
//! every mistake ([`Diagnostics`]). A policy can be checked without an artifact: nothing here knows
//! packages, device code or verdicts, does I/O or looks at the clock. The schema is the one of the
//! README, version 1.

mod command_line;
mod date;
mod diag;
mod fields;
mod gpu;
mod init;
mod pattern;
mod presets;
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
pub use pattern::{LibraryGlob, PackagePattern, VersionPattern};
pub use presets::Preset;
pub use target::FleetTarget;
pub use waiver::{Waiver, WaiverSubject};

use crate::Error;
use crate::rule::{Code, Level};
use crate::tables::Tables;

use diag::{Fault, Mistake, Source};

/// A valid policy.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Policy {
    /// What code must run on, in file order, at least one.
    pub targets: Vec<FleetTarget>,
    /// From which share of a library on a finding counts.
    pub thresholds: Thresholds,
    /// The packages of which a build without GPU code is a failure.
    pub expect_gpu: Vec<PackagePattern>,
    /// What is accepted, in file order.
    pub waivers: Vec<Waiver>,
    origin: String,
    levels: BTreeMap<Code, Level>,
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
        if text.len() > Self::MAX_BYTES {
            let message = format!("the file is larger than {} bytes", Self::MAX_BYTES);
            let mistake = Mistake::new(0..0, message).hint("is this a policy?");
            return Err(Diagnostics::new(origin, Source::new(""), vec![mistake]));
        }
        let source = Source::new(text);
        let mut check = fields::Check {
            tables,
            source: &source,
            mistakes: Vec::new(),
        };
        let root = yaml::parse(source.as_str(), &mut check.mistakes);
        let policy = root.and_then(|root| check.policy(origin, &root));
        let mistakes = check.mistakes;
        policy.ok_or_else(|| Diagnostics::new(origin, source, mistakes))
    }

    /// Reads a policy from the bytes of a file.
    ///
    /// # Errors
    ///
    /// Every mistake of the file, not only the first.
    pub fn parse_bytes(origin: &str, bytes: &[u8], tables: &Tables) -> Result<Self, Diagnostics> {
        match str::from_utf8(bytes) {
            Ok(text) => Self::parse(origin, text, tables),
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let source = Source::new(str::from_utf8(valid).unwrap_or_default());
                let end = source.as_str().len();
                let message = "the file is not UTF-8 from here on";
                let mistake = Mistake::new(end..end, message).hint("save it as UTF-8");
                Err(Diagnostics::new(origin, source, vec![mistake]))
            }
        }
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
            waivers: Vec::new(),
            origin: Self::BY_HAND.to_owned(),
            levels: BTreeMap::new(),
        })
    }

    /// The presets that come with the program.
    pub fn presets() -> &'static [Preset] {
        presets::ALL
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

    /// The level of a rule: what the policy says, else the default.
    pub fn level(&self, code: Code) -> Level {
        self.levels
            .get(&code)
            .copied()
            .unwrap_or(code.default_level())
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
