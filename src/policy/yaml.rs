//! YAML text to a small tree of nodes that keep their spelling and place.
//!
//! This is the only policy file that names the YAML crate, and it must not know what a policy is.
//! It reads parser events instead of deserializing, because a typed `serde` run stops at the first
//! mistake and turns an unquoted `10.0` into a number before anyone can see how it was written. The
//! parser is the one that `serde-saphyr` re-exports, so that policies and tables are read by the
//! same version of the same code.
//!
//! Format: YAML 1.2.2. Aliases are expanded within a budget; tags, merge keys and further documents
//! are refused.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, options};

use super::diag::Mistake;

/// Levels of nesting that a file may have; a policy needs four.
const DEPTH: usize = 32;
/// Memory that the tree may take, roughly in bytes; bounds what aliases can multiply.
const BUDGET: usize = 16 << 20;
/// What a node costs of the budget beside its text.
const NODE_COST: usize = 64;

/// Byte offsets into the text.
pub(super) type Span = Range<usize>;

/// One value of the file.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Where it stands. Of an alias, where the value that it repeats stands.
    pub(super) span: Span,
    /// What it holds.
    pub(super) value: Value,
}

/// What a node holds.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Nothing: an omitted value, `~` or `null` without quotes.
    Null,
    /// A single value as it is spelled, after quotes and escapes. Quoting never changes the
    /// meaning.
    Text(String),
    /// `[a, b]` or lines with dashes.
    List(Vec<Node>),
    /// Keys with values, in file order; keys may repeat and be of any kind.
    Map(Vec<(Node, Node)>),
    /// Something that was reported already and says nothing else.
    Broken,
}

impl Value {
    /// Whether nothing was written.
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// What kind of value this is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Text(_) | Self::Broken => "a single value",
            Self::List(_) => "a list",
            Self::Map(_) => "a map of keys",
        }
    }
}

/// A collection whose end has not been seen.
struct Open {
    start: usize,
    anchor: usize,
    cost_before: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map {
        entries: Vec<(Node, Node)>,
        key: Option<Node>,
    },
}

#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    root: Option<Node>,
    anchors: BTreeMap<usize, (Node, usize)>,
    cost: usize,
    documents: usize,
}

/// Reads one document. `None` if there is no tree to go on with; then a mistake says why.
pub(super) fn parse(text: &str, mistakes: &mut Vec<Mistake>) -> Option<Node> {
    let options = options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
    };
    let mut tree = Tree::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let step = event
            .map_err(|error| syntax(&error, text))
            .and_then(|(event, span)| {
                let place = span.byte_range().unwrap_or_default();
                tree.take(event, place, mistakes)
            });
        if let Err(mistake) = step {
            mistakes.push(mistake);
            return None;
        }
    }
    if tree.root.is_none() {
        mistakes.push(
            Mistake::new(0..0, "the policy is empty")
                .hint("`smgate policy init` writes one to start from"),
        );
    }
    tree.root
}

impl Tree {
    fn take(
        &mut self,
        event: Event<'_>,
        place: Span,
        mistakes: &mut Vec<Mistake>,
    ) -> Result<(), Mistake> {
        if let Some(tag) = event.tag() {
            mistakes.push(
                Mistake::new(
                    place.clone(),
                    format!(
                        "the tag {} has no meaning here",
                        super::diag::quote(&tag.original())
                    ),
                )
                .hint("remove it; a text that starts with `!` needs quotes"),
            );
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Mistake::new(
                        place,
                        "a policy is one YAML document, and here a second begins",
                    )
                    .hint("remove the `---`, or keep the policies in two files"));
                }
            }
            Event::Scalar(text, style, anchor, _) => {
                self.spend(NODE_COST + text.len(), &place)?;
                let null = style == ScalarStyle::Plain
                    && matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL");
                let value = if null {
                    Value::Null
                } else {
                    Value::Text(text.into_owned())
                };
                let cost = self.cost;
                self.attach(Node { span: place, value }, anchor, cost);
            }
            Event::Alias(anchor) => {
                let Some((node, cost)) = self.anchors.get(&anchor) else {
                    return Err(Mistake::new(
                        place,
                        "this alias repeats the value that it stands in",
                    )
                    .hint("write the value out"));
                };
                let (node, cost) = (node.clone(), *cost);
                self.spend(cost, &place)?;
                self.attach(node, 0, 0);
            }
            Event::UnresolvedAlias(_) => {
                self.spend(NODE_COST, &place)?;
                mistakes.push(
                    Mistake::new(
                        place.clone(),
                        "an unquoted `*` begins an alias, and no anchor has this name",
                    )
                    .hint("put the pattern in quotes: \"**/lib*.so\""),
                );
                let value = Value::Broken;
                self.attach(Node { span: place, value }, 0, 0);
            }
            Event::SequenceStart(_, anchor, _) => {
                self.enter(&place, anchor, Items::List(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, _) => {
                let entries = Vec::new();
                self.enter(&place, anchor, Items::Map { entries, key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(place.end),
            _ => {}
        }
        Ok(())
    }

    fn spend(&mut self, cost: usize, place: &Span) -> Result<(), Mistake> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > BUDGET {
            return Err(Mistake::new(
                place.clone(),
                "the file holds too many values, or its aliases multiply to too many",
            )
            .hint("split the policy, or write repeated values out"));
        }
        Ok(())
    }

    fn enter(&mut self, place: &Span, anchor: usize, items: Items) -> Result<(), Mistake> {
        let cost_before = self.cost;
        self.spend(NODE_COST, place)?;
        self.open.push(Open {
            start: place.start,
            anchor,
            cost_before,
            items,
        });
        Ok(())
    }

    fn leave(&mut self, end: usize) {
        let Some(open) = self.open.pop() else { return };
        let value = match open.items {
            Items::List(items) => Value::List(items),
            Items::Map { entries, .. } => Value::Map(entries),
        };
        let span = open.start..end.max(open.start);
        let cost = self.cost.saturating_sub(open.cost_before);
        self.attach(Node { span, value }, open.anchor, cost);
    }

    /// Puts a finished node where it belongs, and remembers it if it has an anchor.
    fn attach(&mut self, node: Node, anchor: usize, cost: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), cost));
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.root = Some(node),
            Some(Items::List(items)) => items.push(node),
            Some(Items::Map { entries, key }) => match key.take() {
                None => *key = Some(node),
                Some(key) => entries.push((key, node)),
            },
        }
    }
}

/// A syntax error in our words where they help more than the parser's.
fn syntax(error: &ScanError, text: &str) -> Mistake {
    let start = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let len = text
        .get(start..)
        .and_then(|rest| rest.chars().next())
        .map_or(0, char::len_utf8);
    let hint = match error.kind() {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => "indent with spaces, never with tabs",
        ErrorKind::UnclosedQuotedScalar => "a quote is opened and never closed",
        ErrorKind::MappingValueNotAllowed => {
            "a text with `: ` in it needs quotes; or a line above lacks its `:`, or is indented otherwise"
        }
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping => {
            "a bracket or brace is opened and never closed, or a comma is missing"
        }
        ErrorKind::UnexpectedCharacter { .. } | ErrorKind::MissingAnchorOrAliasName => {
            "a text that starts with a special character needs quotes"
        }
        ErrorKind::RecursionLimitExceeded => "a policy needs four levels of nesting",
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation => {
            "keys of one map start in the same column"
        }
        _ => "the other mistakes of the file can be found once it is valid YAML",
    };
    let reason = if *error.kind() == ErrorKind::RecursionLimitExceeded {
        format!("nested deeper than {DEPTH} levels")
    } else {
        error.info()
    };
    Mistake::new(start..start + len, format!("not valid YAML: {reason}")).hint(hint)
}

#[cfg(test)]
mod tests;
