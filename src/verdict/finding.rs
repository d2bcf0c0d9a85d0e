//! Findings: what a rule says about a subject, with evidence and one next step.

use crate::policy::{Place, WaiverSubject};
use crate::rule::{Code, Level};

/// A judgement of one rule about one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub code: Code,
    /// What the policy makes of it.
    pub level: Level,
    /// The artifact: an index into the inventory; none where the finding is about the policy.
    pub artifact: Option<usize>,
    /// The package, by name and version.
    pub package: Option<PackageName>,
    /// The library, by path.
    pub library: Option<String>,
    /// The line of the lock file, from 1 on.
    pub line: Option<u32>,
    /// The line of the policy, where the finding is about that.
    pub place: Option<Place>,
    /// The layer of the image that brought the library.
    pub layer: Option<FromLayer>,
    /// The fleet target, by name.
    pub target: Option<String>,
    /// The GPU of the target.
    pub gpu: Option<String>,
    /// One sentence: what is wrong.
    pub message: String,
    /// The facts that show it, most telling first.
    pub evidence: Vec<String>,
    /// One concrete thing to do.
    pub next_step: String,
    /// The waiver that accepts it.
    pub waived: Option<WaivedBy>,
}

/// A layer of an image as findings name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FromLayer {
    /// Its number, from 1.
    pub number: usize,
    /// How many the image has.
    pub of: usize,
    /// The digest of its bytes as stored.
    pub digest: Option<String>,
    /// The build step that made it, as the image's history has it.
    pub created_by: Option<String>,
}

/// A package as findings and rows name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageName {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
}

impl std::fmt::Display for PackageName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        match &self.version {
            Some(version) => write!(f, " {version}"),
            None => Ok(()),
        }
    }
}

/// Why a finding is accepted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaivedBy {
    /// The reason that the policy gives.
    pub reason: String,
    /// The last day on which it applies; none where the baseline accepts it.
    pub until: Option<String>,
}

impl Finding {
    /// A finding of `code` that says `message` and `next_step`; about nothing in particular yet.
    pub(super) fn new(
        code: Code,
        message: impl Into<String>,
        next_step: impl Into<String>,
    ) -> Self {
        Self {
            code,
            level: code.default_level(),
            artifact: None,
            package: None,
            library: None,
            line: None,
            place: None,
            layer: None,
            target: None,
            gpu: None,
            message: message.into(),
            evidence: Vec::new(),
            next_step: next_step.into(),
            waived: None,
        }
    }

    pub(super) fn library(mut self, path: &str) -> Self {
        self.library = Some(path.to_owned());
        self
    }

    pub(super) fn evidence(mut self, line: impl Into<String>) -> Self {
        self.evidence.push(line.into());
        self
    }

    /// About what stands there in the policy.
    pub(super) fn of_policy(mut self, place: &Place) -> Self {
        self.place = Some(place.clone());
        self.evidence(place.to_string())
    }

    /// What it is about, as policies tell findings apart.
    pub(super) fn subject(&self) -> WaiverSubject<'_> {
        let package = self.package.as_ref();
        WaiverSubject {
            package: package.map(|package| package.name.as_str()),
            version: package.and_then(|package| package.version.as_deref()),
            library: self.library.as_deref(),
            target: self.target.as_deref(),
        }
    }

    /// Whether it has an effect on the verdict.
    pub fn counts(&self) -> bool {
        self.waived.is_none()
    }
}
