//! The node tree of a file to a valid policy, with every mistake of the file.
//!
//! Knows the schema of policies, version 1, at its top level; targets and waivers are checked
//! beside their types.

use std::collections::{BTreeMap, BTreeSet};

use super::diag::{Mistake, quote};
use super::fields::{Check, Field, Fields, Keys};
use super::pattern::PackagePattern;
use super::target::FleetTarget;
use super::values;
use super::yaml::{Node, Span};
use super::{Policy, Thresholds};
use crate::rule::{Code, Level};

/// The version of policies that this release reads.
const VERSION: u64 = 1;

const KEYS: Keys = Keys {
    of: "a policy",
    valid: &[
        "version",
        "targets",
        "levels",
        "thresholds",
        "expect-gpu",
        "waivers",
    ],
};

const THRESHOLDS: Keys = Keys {
    of: "`thresholds`",
    valid: &["main-library", "partial-coverage"],
};

impl Check<'_> {
    /// The policy, if no mistake was recorded.
    pub(super) fn policy(&mut self, origin: &str, root: &Node) -> Option<Policy> {
        let mut fields = self.fields(root, KEYS.of)?;
        let version = fields.get("version");
        // The keys of another version are not ours to judge.
        if version.is_some_and(|field| self.is_other_version(field)) {
            return None;
        }
        self.keep_known(&mut fields, &KEYS);
        if !fields.has("version") {
            let hint = format!("write `version: {VERSION}`");
            self.missing(&fields, "a policy", "`version`", &hint);
        }
        let (targets, names) = self.targets(&fields);
        let levels = fields
            .get("levels")
            .map(|field| self.levels(field))
            .unwrap_or_default();
        let thresholds = fields
            .get("thresholds")
            .map(|field| self.thresholds(field))
            .unwrap_or_default();
        let expect_gpu = fields
            .get("expect-gpu")
            .map(|field| self.expect_gpu(field))
            .unwrap_or_default();
        let mut waivers = Vec::new();
        if let Some(field) = fields.get("waivers") {
            for node in self
                .items(field, "- rule: partial-coverage")
                .unwrap_or_default()
            {
                waivers.extend(self.waiver(node, names.as_ref()));
            }
        }
        self.mistakes.is_empty().then(|| Policy {
            origin: origin.to_owned(),
            targets,
            thresholds,
            expect_gpu,
            waivers,
            levels,
        })
    }

    /// Whether this is a policy of a version that this release does not read.
    fn is_other_version(&mut self, field: Field<'_>) -> bool {
        let Some((text, span)) = self.text(field) else {
            return false;
        };
        let hint = format!("write `version: {VERSION}`");
        match text.parse::<u64>() {
            Ok(VERSION) => false,
            Ok(other) => {
                let message = format!(
                    "this is a policy of version {other}, and this smgate reads version {VERSION}"
                );
                let hint = format!("use a newer smgate, or {hint} and only its keys");
                self.report(Mistake::new(span.clone(), message).hint(hint));
                true
            }
            Err(_) => {
                let message = format!("{} is not a version of policies", quote(text));
                self.report(Mistake::new(span.clone(), message).hint(hint));
                false
            }
        }
    }

    /// The targets, and the names of all of them where the list could be read.
    fn targets(&mut self, fields: &Fields<'_>) -> (Vec<FleetTarget>, Option<BTreeSet<String>>) {
        let hint = "say what the code must run on: `- name: prod-h100` and `gpu: H100`";
        let Some(field) = fields.get("targets") else {
            if !fields.has("targets") {
                self.missing(fields, "a policy", "`targets`", hint);
            }
            return (Vec::new(), None);
        };
        let Some(items) = self.items(field, "- name: prod-h100") else {
            return (Vec::new(), None);
        };
        if items.is_empty() {
            let message = "`targets` is empty, so nothing would be judged";
            self.report(Mistake::new(field.key_span.clone(), message).hint(hint));
        }
        let mut targets = Vec::new();
        let mut names: BTreeMap<String, &Span> = BTreeMap::new();
        for node in items {
            let checked = self.target(node);
            targets.extend(checked.target);
            let Some((name, span)) = checked.name else {
                continue;
            };
            if let Some(first) = names.get(&name) {
                let message = format!("two targets are called {}", quote(&name));
                self.report(
                    Mistake::new(span.clone(), message)
                        .also(first, "first used here")
                        .hint("reports and waivers tell targets apart by their names"),
                );
            } else {
                names.insert(name, span);
            }
        }
        (targets, Some(names.into_keys().collect()))
    }

    fn levels(&mut self, field: Field<'_>) -> BTreeMap<Code, Level> {
        let mut levels = BTreeMap::new();
        if field.node.value.is_null() {
            return levels;
        }
        let Some(fields) = self.fields(field.node, "`levels`") else {
            return levels;
        };
        for field in fields.list {
            let code = self.accept(field.key_span, || values::code(field.key));
            let text = self.text(field);
            if let (Some(code), Some((text, span))) = (code, text)
                && let Some(level) = self.accept(span, || values::level(code, text))
            {
                levels.insert(code, level);
            }
        }
        levels
    }

    fn thresholds(&mut self, field: Field<'_>) -> Thresholds {
        let mut thresholds = Thresholds::default();
        if field.node.value.is_null() {
            return thresholds;
        }
        if let Some(fields) = self.known_fields(field.node, &THRESHOLDS) {
            if let Some(share) = self.value(fields.get("main-library"), values::share) {
                thresholds.main_library = share;
            }
            thresholds.partial_coverage = self.value(fields.get("partial-coverage"), values::share);
        }
        thresholds
    }

    fn expect_gpu(&mut self, field: Field<'_>) -> Vec<PackagePattern> {
        if field.node.value.is_null() {
            return Vec::new();
        }
        let texts = self.texts(field);
        texts
            .into_iter()
            .filter_map(|(text, span)| self.accept(span, || PackagePattern::new(text)))
            .collect()
    }
}
