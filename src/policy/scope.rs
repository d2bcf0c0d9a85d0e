//! Scopes: levels and thresholds for some packages, libraries or targets only.
//!
//! A scope says what it is about as a waiver does. Of several scopes that set the same thing for the same
//! subject the last one counts.

use std::collections::BTreeMap;

use super::fields::{Check, Keys};
use super::pattern::{LibraryGlob, PackagePattern, VersionPattern};
use super::place::Place;
use super::validate::SetThresholds;
use super::waiver::{Named, WaiverSubject};
use super::yaml::Node;
use crate::rule::{Code, Level};

/// Levels and thresholds for a part of what is judged.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The packages that it is about; all of them if there is none.
    pub package: Option<PackagePattern>,
    /// The versions that it is about. Only beside a package.
    pub version: Option<VersionPattern>,
    /// The libraries that it is about, by their path inside the package.
    pub library: Option<LibraryGlob>,
    /// The names of the targets that it is about; all of them if empty.
    pub targets: Vec<String>,
    /// The levels that it sets.
    pub levels: BTreeMap<Code, Level>,
    /// Where it begins.
    pub place: Place,
    pub(super) thresholds: SetThresholds,
}

impl Scope {
    /// Whether it is about `subject`: what the scope names, the subject must have.
    pub fn matches(&self, subject: &WaiverSubject<'_>) -> bool {
        let (package, version) = (self.package.as_ref(), self.version.as_ref());
        subject.is_named(package, version, self.library.as_ref(), &self.targets)
    }
}

const KEYS: Keys = Keys {
    of: "a scope",
    valid: &[
        "package",
        "version",
        "library",
        "targets",
        "levels",
        "thresholds",
    ],
    required: &[],
};

impl Check<'_> {
    /// Checks one scope. The targets that it names are added to `named`.
    pub(super) fn scope(&mut self, node: &Node, named: &mut Vec<Named>) -> Option<Scope> {
        let fields = self.known_fields(node, &KEYS)?;
        let has = |keys: &[&str]| keys.iter().any(|key| fields.has(key));
        if !has(&["package", "library", "targets"]) {
            let hint = "say what it is about, or move its levels to the top: `package: torch`";
            self.missing(
                &fields,
                "a scope",
                "`package`, `library` or `targets`",
                hint,
            );
        }
        if !has(&["levels", "thresholds"]) {
            let hint = "say what holds there: `levels: {jit-only: deny}`";
            self.missing(&fields, "a scope", "`levels` or `thresholds`", hint);
        }
        self.version_has_its_package(&fields);
        let levels = self.levels(fields.get("levels"));
        Some(Scope {
            package: self.value(fields.get("package"), PackagePattern::new),
            version: self.value(fields.get("version"), VersionPattern::new),
            library: self.value(fields.get("library"), LibraryGlob::new),
            targets: self.named_targets(&fields, named),
            levels: levels
                .into_iter()
                .map(|(code, level)| (code, level.value))
                .collect(),
            thresholds: self.thresholds(fields.get("thresholds")),
            place: self.place(&fields.start),
        })
    }
}
