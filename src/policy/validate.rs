//! The node tree of one file to what it says, with every mistake of the file.
//!
//! Knows the schema of policies, version 1, at its top level; targets, scopes and waivers are checked
//! beside their types. What files say together is put together in `load`.

use std::collections::BTreeMap;

use super::diag::{Mistake, quote};
use super::fields::{Check, Field, Fields, Keys};
use super::pattern::PackagePattern;
use super::place::Placed;
use super::scope::Scope;
use super::target::FleetTarget;
use super::values;
use super::waiver::{Named, Waiver};
use super::yaml::{Node, Span};
use crate::rule::{Code, Level};

/// The version of policies that this release reads.
const VERSION: u64 = 1;

const KEYS: Keys = Keys {
    of: "a policy",
    valid: &[
        "version",
        "include",
        "targets",
        "levels",
        "thresholds",
        "expect-gpu",
        "indexes",
        "allow-jit",
        "scopes",
        "waivers",
    ],
    required: &["version"],
};

/// What to do where a policy has no targets.
pub(super) const WRITE_TARGETS: &str =
    "say what the code must run on: `- name: prod-h100` and `gpu: H100`";

const THRESHOLDS: Keys = Keys {
    of: "`thresholds`",
    valid: &["main-library", "partial-coverage"],
    required: &[],
};

/// What one file says.
#[derive(Debug)]
pub(super) struct Part {
    /// Where its map begins.
    pub(super) start: Span,
    /// The files that it includes.
    pub(super) includes: Vec<Named>,
    /// Whether it has a list of targets, perhaps a wrong one.
    pub(super) has_targets: bool,
    /// Whether the names of all its targets could be read.
    pub(super) names_known: bool,
    pub(super) targets: Vec<FleetTarget>,
    pub(super) levels: BTreeMap<Code, Placed<Level>>,
    pub(super) thresholds: SetThresholds,
    pub(super) expect_gpu: Vec<PackagePattern>,
    pub(super) indexes: Vec<String>,
    pub(super) allow_jit: Vec<PackagePattern>,
    pub(super) scopes: Vec<Scope>,
    pub(super) waivers: Vec<Waiver>,
    /// The targets that its scopes and waivers name.
    pub(super) named: Vec<Named>,
}

impl Part {
    /// The names of its targets.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.name.as_str())
    }
}

/// The thresholds that are set, each with its place.
#[derive(Debug, Clone, Default)]
pub(super) struct SetThresholds {
    pub(super) main_library: Option<Placed<f64>>,
    pub(super) partial_coverage: Option<Placed<f64>>,
}

impl Check<'_> {
    /// What the file says; nothing if it cannot be read at all.
    pub(super) fn part(&mut self, root: &Node) -> Option<Part> {
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
        let mut includes = Vec::new();
        if let Some(field) = fields.get("include") {
            let texts = self.texts(field);
            includes.extend(
                texts
                    .into_iter()
                    .map(|(text, span)| (text.to_owned(), span.clone())),
            );
        }
        let targets = self.targets(&fields);
        let names_known = targets.is_some();
        let mut named = Vec::new();
        let scopes = self.each(&fields, "scopes", "- package: torch", |check, node| {
            check.scope(node, &mut named)
        });
        let waivers = self.each(
            &fields,
            "waivers",
            "- rule: partial-coverage",
            |check, node| check.waiver(node, &mut named),
        );
        Some(Part {
            includes,
            has_targets: fields.has("targets"),
            names_known,
            targets: targets.unwrap_or_default(),
            levels: self.levels(fields.get("levels")),
            thresholds: self.thresholds(fields.get("thresholds")),
            expect_gpu: self.packages(fields.get("expect-gpu")),
            indexes: self.indexes(fields.get("indexes")),
            allow_jit: self.packages(fields.get("allow-jit")),
            scopes,
            waivers,
            named,
            start: fields.start,
        })
    }

    /// Addresses of package indexes, the main one first.
    fn indexes(&mut self, field: Option<Field<'_>>) -> Vec<String> {
        let Some(field) = field else {
            return Vec::new();
        };
        let mut indexes = Vec::new();
        for (text, span) in self.texts(field) {
            indexes.extend(self.accept(span, || values::index(text)));
        }
        indexes
    }

    /// What `read` makes of the items of a list; nothing at all counts as an empty one.
    fn each<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        example: &str,
        mut read: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Vec<T> {
        let items = fields.get(key).and_then(|field| self.items(field, example));
        let items = items.unwrap_or_default().iter();
        items.filter_map(|node| read(self, node)).collect()
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

    /// The targets; nothing where the list could not be read.
    fn targets(&mut self, fields: &Fields<'_>) -> Option<Vec<FleetTarget>> {
        let Some(field) = fields.get("targets") else {
            // perhaps misspelled: then its names are not known
            return (!fields.has("targets")).then(Vec::new);
        };
        let items = self.items(field, "- name: prod-h100")?;
        if items.is_empty() {
            let message = "`targets` is empty, so nothing would be judged";
            self.report(Mistake::new(field.key_span.clone(), message).hint(WRITE_TARGETS));
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
        Some(targets)
    }

    pub(super) fn levels(&mut self, field: Option<Field<'_>>) -> BTreeMap<Code, Placed<Level>> {
        let mut levels = BTreeMap::new();
        let Some(field) = field.filter(|field| !field.node.value.is_null()) else {
            return levels;
        };
        let Some(fields) = self.fields(field.node, "`levels`") else {
            return levels;
        };
        for field in fields.list {
            let code = self.accept(field.key_span, || values::code(field.key));
            let text = self.text(field);
            if let (Some(code), Some((text, span))) = (code, text)
                && let Some(value) = self.accept(span, || values::level(code, text))
            {
                let place = self.place(field.key_span);
                levels.insert(code, Placed { value, place });
            }
        }
        levels
    }

    pub(super) fn thresholds(&mut self, field: Option<Field<'_>>) -> SetThresholds {
        let Some(field) = field.filter(|field| !field.node.value.is_null()) else {
            return SetThresholds::default();
        };
        let Some(fields) = self.known_fields(field.node, &THRESHOLDS) else {
            return SetThresholds::default();
        };
        let mut share = |key: &str| {
            let field = fields.get(key)?;
            let value = self.value(Some(field), values::share)?;
            let place = self.place(field.key_span);
            Some(Placed { value, place })
        };
        SetThresholds {
            main_library: share("main-library"),
            partial_coverage: share("partial-coverage"),
        }
    }

    /// The package names of a field that takes one or a list of them.
    pub(super) fn packages(&mut self, field: Option<Field<'_>>) -> Vec<PackagePattern> {
        let Some(field) = field.filter(|field| !field.node.value.is_null()) else {
            return Vec::new();
        };
        let texts = self.texts(field);
        texts
            .into_iter()
            .filter_map(|(text, span)| self.accept(span, || PackagePattern::new(text)))
            .collect()
    }
}
