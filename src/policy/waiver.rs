//! Waivers: findings and problems that are accepted, for a reason, until a day.
//!
//! Says what a waiver means; whether it was used and what becomes of a finding is decided in
//! `verdict`.

use std::collections::BTreeSet;

use super::date::{Date, ParseDateError};
use super::diag::{Fault, Mistake, quote};
use super::fields::{Check, Fields, Keys};
use super::pattern::{LibraryGlob, PackagePattern, VersionPattern};
use super::place::Place;
use super::values;
use super::yaml::{Node, Span};
use crate::rule::Code;

/// An accepted finding.
#[derive(Debug, Clone)]
pub struct Waiver {
    /// The rule whose findings it accepts.
    pub rule: Code,
    /// The packages that it is about; all of them if there is none.
    pub package: Option<PackagePattern>,
    /// The versions that it is about. Only beside a package.
    pub version: Option<VersionPattern>,
    /// The libraries that it is about, by their path inside the package.
    pub library: Option<LibraryGlob>,
    /// The names of the targets that it is about; all of them if empty.
    pub targets: Vec<String>,
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which it applies.
    pub until: Date,
    /// Where it begins.
    pub place: Place,
    /// Where `until` is.
    pub(super) until_place: Place,
}

/// What a finding is about, as far as waivers can tell findings apart.
#[derive(Debug, Clone, Copy, Default)]
pub struct WaiverSubject<'a> {
    /// The package, by the name in its metadata.
    pub package: Option<&'a str>,
    /// The version of the package.
    pub version: Option<&'a str>,
    /// The member of the package.
    pub library: Option<&'a str>,
    /// The name of the fleet target.
    pub target: Option<&'a str>,
}

impl WaiverSubject<'_> {
    /// Whether it has everything that is named: a pattern for libraries does not mean a package as a whole.
    pub(super) fn is_named(
        &self,
        package: Option<&PackagePattern>,
        version: Option<&VersionPattern>,
        library: Option<&LibraryGlob>,
        targets: &[String],
    ) -> bool {
        package.is_none_or(|p| self.package.is_some_and(|name| p.matches(name)))
            && version.is_none_or(|p| self.version.is_some_and(|version| p.matches(version)))
            && library.is_none_or(|p| self.library.is_some_and(|member| p.matches(member)))
            && (targets.is_empty()
                || self
                    .target
                    .is_some_and(|name| targets.iter().any(|t| t == name)))
    }
}

impl Waiver {
    /// Whether it means a finding of `rule` about `subject`, whatever the day.
    ///
    /// What the waiver names, the subject must have: a waiver for a library does not accept a
    /// finding about a package as a whole.
    pub fn matches(&self, rule: Code, subject: &WaiverSubject<'_>) -> bool {
        let (package, version) = (self.package.as_ref(), self.version.as_ref());
        self.rule == rule
            && subject.is_named(package, version, self.library.as_ref(), &self.targets)
    }

    /// Whether it no longer applies on the day `today`.
    pub fn expired(&self, today: Date) -> bool {
        today > self.until
    }
}

const KEYS: Keys = Keys {
    of: "a waiver",
    valid: &[
        "rule", "package", "version", "library", "targets", "reason", "until",
    ],
    required: &["rule", "reason", "until"],
};

/// A target that is named, and where.
pub(super) type Named = (String, Span);

impl Check<'_> {
    /// Reports a `version` of which nobody knows what it is the version of.
    pub(super) fn version_has_its_package(&mut self, fields: &Fields<'_>) {
        if let Some(version) = fields.get("version")
            && !fields.has("package")
        {
            let message = "`version` says nothing without `package`";
            self.report(
                Mistake::new(version.key_span.clone(), message)
                    .hint("add `package`, or remove `version`"),
            );
        }
    }

    /// The names of targets in a list of them.
    pub(super) fn named_targets(
        &mut self,
        fields: &Fields<'_>,
        named: &mut Vec<Named>,
    ) -> Vec<String> {
        let Some(field) = fields.get("targets") else {
            return Vec::new();
        };
        let texts = self.texts(field);
        named.extend(
            texts
                .iter()
                .map(|(text, span)| ((*text).to_owned(), (*span).clone())),
        );
        texts.into_iter().map(|(text, _)| text.to_owned()).collect()
    }

    /// Checks one waiver. The targets that it names are added to `named`: whether there are such is not known
    /// before all files are read.
    pub(super) fn waiver(&mut self, node: &Node, named: &mut Vec<Named>) -> Option<Waiver> {
        let fields = self.known_fields(node, &KEYS)?;
        let missing: Vec<String> = KEYS
            .required
            .iter()
            .filter(|key| !fields.has(key))
            .map(|key| format!("`{key}`"))
            .collect();
        if !missing.is_empty() {
            let hint = "say what is accepted, why, and when to look at it again: \
                        `rule: jit-only`, `reason: \"short jobs only\"`, `until: 2027-03-01`";
            self.missing(&fields, "a waiver", &values::list(missing), hint);
        }
        let rule = self.value(fields.get("rule"), waivable);
        let package = self.value(fields.get("package"), PackagePattern::new);
        let version = self.value(fields.get("version"), VersionPattern::new);
        let library = self.value(fields.get("library"), LibraryGlob::new);
        let reason = self.value(fields.get("reason"), reason);
        let until = self.value(fields.get("until"), until);
        self.version_has_its_package(&fields);
        let targets = self.named_targets(&fields, named);
        let until_place = self.place(fields.get("until").map_or(&fields.start, |f| &f.node.span));
        Some(Waiver {
            rule: rule?,
            package,
            version,
            library,
            targets,
            reason: reason?,
            until: until?,
            place: self.place(&fields.start),
            until_place,
        })
    }
}

fn waivable(text: &str) -> Result<Code, Fault> {
    let code = values::code(text)?;
    if code.is_about_policy() {
        return Err(Fault::new(format!(
            "`{code}` is about the policy itself and cannot be waived"
        ))
        .hint(format!(
            "set its level instead: `levels: {{{code}: allow}}`"
        )));
    }
    Ok(code)
}

fn reason(text: &str) -> Result<String, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::new("`reason` is empty").hint("say why the finding is accepted"));
    }
    Ok(text.trim().to_owned())
}

fn until(text: &str) -> Result<Date, Fault> {
    text.parse().map_err(|error: ParseDateError| {
        let fault = Fault::new(format!("{} is not a date", quote(text)));
        fault.hint(error.to_string())
    })
}

pub(super) fn unknown_target(text: &str, names: &BTreeSet<&str>) -> Fault {
    let fault = Fault::new(format!(
        "no target of this policy is called {}",
        quote(text)
    ));
    match values::nearest(text, names.iter().copied()) {
        Some(name) => fault.hint(format!("did you mean {}?", quote(name))),
        None if names.len() <= 10 => fault.hint(format!(
            "its targets are {}",
            values::list(names.iter().map(|name| quote(name)))
        )),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            origin: "smgate.yaml".to_owned(),
            line: 1,
            file: 0,
            span: 0..0,
        }
    }

    fn waiver() -> Waiver {
        Waiver {
            rule: Code::PartialCoverage,
            package: PackagePattern::new("torch").ok(),
            version: VersionPattern::new("2.15.*").ok(),
            library: LibraryGlob::new("**/libtorch_cuda_linalg.so").ok(),
            targets: vec!["t4-pool".to_owned()],
            reason: "not called".to_owned(),
            until: "2027-03-01".parse().unwrap(),
            place: place(),
            until_place: place(),
        }
    }

    const SUBJECT: WaiverSubject<'_> = WaiverSubject {
        package: Some("Torch"),
        version: Some("2.15.0+cu132"),
        library: Some("torch/lib/libtorch_cuda_linalg.so"),
        target: Some("t4-pool"),
    };

    #[test]
    fn a_waiver_needs_everything_that_it_names() {
        let waiver = waiver();
        assert!(waiver.matches(Code::PartialCoverage, &SUBJECT));
        assert!(!waiver.matches(Code::NoKernelImage, &SUBJECT));
        for other in [
            WaiverSubject {
                package: Some("torchvision"),
                ..SUBJECT
            },
            WaiverSubject {
                version: Some("2.16.0"),
                ..SUBJECT
            },
            WaiverSubject {
                library: Some("torch/lib/libtorch_cuda.so"),
                ..SUBJECT
            },
            WaiverSubject {
                target: Some("prod"),
                ..SUBJECT
            },
            WaiverSubject {
                package: None,
                ..SUBJECT
            },
            WaiverSubject {
                version: None,
                ..SUBJECT
            },
            WaiverSubject {
                library: None,
                ..SUBJECT
            },
            WaiverSubject {
                target: None,
                ..SUBJECT
            },
            WaiverSubject::default(),
        ] {
            assert!(!waiver.matches(Code::PartialCoverage, &other), "{other:?}");
        }
    }

    #[test]
    fn a_waiver_that_names_nothing_means_everything() {
        let waiver = Waiver {
            package: None,
            version: None,
            library: None,
            targets: vec![],
            ..waiver()
        };
        assert!(waiver.matches(Code::PartialCoverage, &SUBJECT));
        assert!(waiver.matches(Code::PartialCoverage, &WaiverSubject::default()));
    }

    #[test]
    fn a_waiver_applies_through_its_last_day() {
        let waiver = waiver();
        for (today, expired) in [
            ("2027-02-28", false),
            ("2027-03-01", false),
            ("2027-03-02", true),
        ] {
            assert_eq!(waiver.expired(today.parse().unwrap()), expired, "{today}");
        }
    }
}
