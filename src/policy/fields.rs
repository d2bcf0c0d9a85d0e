//! Reading maps, lists and single values out of the node tree, reporting every surprise on the way.
//!
//! Knows YAML shapes and keeps the list of mistakes; what the keys mean is decided by its callers.
//! Whoever gets nothing from here can rely on a mistake having been recorded.

use std::collections::BTreeMap;

use super::diag::{Fault, MOST, Mistake, Source, quote};
use super::place::Place;
use super::values::{list, nearest};
use super::yaml::{Node, Span, Value};
use crate::tables::Tables;

/// The keys that a map may have.
pub(super) struct Keys {
    /// What has these keys, for messages: "a target".
    pub(super) of: &'static str,
    /// The keys, in the order of the documentation.
    pub(super) valid: &'static [&'static str],
    /// Those that must be there.
    pub(super) required: &'static [&'static str],
}

/// A key with its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'n> {
    pub(super) key: &'n str,
    pub(super) key_span: &'n Span,
    pub(super) node: &'n Node,
    /// What cannot do without it, as in [`Keys::of`].
    needed_by: Option<&'static str>,
}

/// The fields of one map, each key once.
#[derive(Debug)]
pub(super) struct Fields<'n> {
    /// Where the map begins: its first key, or its opening brace.
    pub(super) start: Span,
    pub(super) list: Vec<Field<'n>>,
    /// Keys that unknown ones were probably meant to be.
    meant: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    pub(super) fn get(&self, key: &str) -> Option<Field<'n>> {
        self.list.iter().find(|field| field.key == key).copied()
    }

    /// Whether the key is there, perhaps misspelled.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some() || self.meant.contains(&key)
    }
}

/// A single value and its place.
pub(super) type Text<'n> = (&'n str, &'n Span);

/// The state of one validation.
pub(super) struct Check<'t> {
    pub(super) tables: &'t Tables,
    pub(super) source: &'t Source,
    /// The name of the file.
    pub(super) origin: &'t str,
    /// The file: an index into the files that were read.
    pub(super) file: usize,
    pub(super) mistakes: Vec<Mistake>,
}

impl Check<'_> {
    /// The place of something in the file.
    pub(super) fn place(&self, span: &Span) -> Place {
        Place {
            origin: self.origin.to_owned(),
            line: self.source.position(span.start).0,
            file: self.file,
            span: span.clone(),
        }
    }

    /// Records a mistake, unless there are so many that nobody reads more.
    pub(super) fn report(&mut self, mistake: Mistake) {
        if !self.is_full() {
            self.mistakes.push(mistake);
        }
    }

    fn is_full(&self) -> bool {
        self.mistakes.len() > MOST
    }

    /// The value, or a mistake at `span`. Reads nothing once there are too many mistakes: looking
    /// for the nearest spelling takes time, and a hostile file can ask for it a hundred thousand
    /// times.
    pub(super) fn accept<T>(
        &mut self,
        span: &Span,
        read: impl FnOnce() -> Result<T, Fault>,
    ) -> Option<T> {
        if self.is_full() {
            return None;
        }
        read().map_err(|fault| self.report(fault.at(span))).ok()
    }

    /// The value of an optional field.
    pub(super) fn value<T>(
        &mut self,
        field: Option<Field<'_>>,
        read: impl FnOnce(&str) -> Result<T, Fault>,
    ) -> Option<T> {
        let (text, span) = self.text(field?)?;
        self.accept(span, || read(text))
    }

    /// The fields of a map whose keys are known; unknown and repeated keys are mistakes.
    pub(super) fn known_fields<'n>(&mut self, node: &'n Node, keys: &Keys) -> Option<Fields<'n>> {
        let mut fields = self.fields(node, keys.of)?;
        self.keep_known(&mut fields, keys);
        Some(fields)
    }

    /// Drops the fields whose keys are not known, with a mistake for each.
    pub(super) fn keep_known(&mut self, fields: &mut Fields<'_>, keys: &Keys) {
        let mut meant = Vec::new();
        fields.list.retain(|field| {
            let known = keys.valid.contains(&field.key);
            if !known {
                self.accept(field.key_span, || {
                    Err::<(), _>(unknown_key(field.key, keys, &mut meant))
                });
            }
            known
        });
        fields.meant = meant;
        for field in &mut fields.list {
            field.needed_by = keys.required.contains(&field.key).then_some(keys.of);
        }
    }

    /// The fields of a map with any keys; repeated keys are mistakes.
    pub(super) fn fields<'n>(&mut self, node: &'n Node, of: &str) -> Option<Fields<'n>> {
        let entries = match &node.value {
            Value::Map(entries) => entries,
            Value::Broken => return None,
            other => {
                let message = format!(
                    "{of} is written as keys with values, and here is {}",
                    other.kind()
                );
                self.report(Mistake::new(node.span.clone(), message).hint("write `key: value`"));
                return None;
            }
        };
        let mut seen: BTreeMap<&str, &Span> = BTreeMap::new();
        let mut list = Vec::new();
        for (key, node) in entries {
            let Value::Text(text) = &key.value else {
                self.report(Mistake::new(key.span.clone(), "a key must be a word"));
                continue;
            };
            if let Some(first) = seen.get(text.as_str()) {
                self.report(
                    Mistake::new(key.span.clone(), format!("{} is given twice", quote(text)))
                        .also(first, "first given here")
                        .hint("remove one of them"),
                );
                continue;
            }
            seen.insert(text, &key.span);
            list.push(Field {
                key: text,
                key_span: &key.span,
                node,
                needed_by: None,
            });
        }
        let start = entries.first().map_or(&node.span, |(key, _)| &key.span);
        Some(Fields {
            start: start.clone(),
            list,
            meant: Vec::new(),
        })
    }

    /// A mistake about keys that have to be there.
    pub(super) fn missing(&mut self, fields: &Fields<'_>, of: &str, keys: &str, hint: &str) {
        let message = format!("{of} needs {keys}");
        self.report(Mistake::new(fields.start.clone(), message).hint(hint));
    }

    /// The single value of a field.
    pub(super) fn text<'n>(&mut self, field: Field<'n>) -> Option<Text<'n>> {
        match &field.node.value {
            Value::Null => {
                self.report(no_value(&field));
                None
            }
            _ => self.item(field.node, field.key),
        }
    }

    fn item<'n>(&mut self, node: &'n Node, key: &str) -> Option<Text<'n>> {
        match &node.value {
            Value::Text(text) => Some((text, &node.span)),
            Value::Broken => None,
            other => {
                let message = format!("`{key}` takes a single value here, not {}", other.kind());
                self.report(Mistake::new(node.span.clone(), message));
                None
            }
        }
    }

    /// The values of a field that takes one value or a list of them. An empty list is a mistake.
    pub(super) fn texts<'n>(&mut self, field: Field<'n>) -> Vec<Text<'n>> {
        match &field.node.value {
            Value::List(items) if items.is_empty() => {
                let message = format!("the list of `{}` is empty", field.key);
                self.report(
                    Mistake::new(field.node.span.clone(), message)
                        .hint("fill it, or remove the key"),
                );
                Vec::new()
            }
            Value::List(items) => items
                .iter()
                .filter_map(|item| self.item(item, field.key))
                .collect(),
            _ => self.text(field).into_iter().collect(),
        }
    }

    /// The items of a field that must be a list; nothing at all counts as an empty one.
    pub(super) fn items<'n>(&mut self, field: Field<'n>, example: &str) -> Option<&'n [Node]> {
        match &field.node.value {
            Value::List(items) => Some(items),
            Value::Null => Some(&[]),
            Value::Broken => None,
            other => {
                let message = format!("`{}` is a list, and here is {}", field.key, other.kind());
                self.report(
                    Mistake::new(field.node.span.clone(), message)
                        .hint(format!("begin each of its items with a dash: `{example}`")),
                );
                None
            }
        }
    }
}

fn no_value(field: &Field<'_>) -> Mistake {
    let hint = match field.needed_by {
        Some(of) => format!("give it one: {of} needs `{}`", field.key),
        None => "give it one, or remove the key".to_owned(),
    };
    let message = format!("`{}` has no value", field.key);
    Mistake::new(field.key_span.clone(), message).hint(hint)
}

fn unknown_key(key: &str, keys: &Keys, meant: &mut Vec<&'static str>) -> Fault {
    let fault = Fault::new(format!("{} is not a key of {}", quote(key), keys.of));
    if key == "<<" {
        return fault.hint("merge keys are not supported: write the keys out");
    }
    if let Some(nearest) = nearest(key, keys.valid.iter().copied()) {
        meant.push(nearest);
        return fault.hint(format!("did you mean `{nearest}`?"));
    }
    fault.hint(format!(
        "the keys of {} are {}",
        keys.of,
        list(keys.valid.iter().map(|key| format!("`{key}`")))
    ))
}
