//! YAML text to a tree of nodes that keep their spelling and line.
//!
//! The parser is the one that `serde-saphyr` re-exports, as for policies. Its events are read instead of
//! deserializing, because a version must stay `1.10` and everything needs its line. Values of keys that nobody
//! asks for are dropped while they are read, so a lock of 10 MB does not become a tree of 100.
//!
//! Format: YAML 1.2.2. One document; aliases are expanded within a budget; merge keys, and one key twice in a map,
//! are refused, since readers take them differently.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_saphyr::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, options};

/// Levels of nesting that a file may have; lock files need six.
const DEPTH: usize = 32;
/// Nodes that aliases may add.
const MOST_COPIES: usize = 100_000;
/// Keys of a map up to which a second one of a name is looked for one by one.
const FEW_KEYS: usize = 24;

/// One value of the file.
#[derive(Debug, Clone)]
pub(super) struct Node<'t> {
    /// The line where it begins, from 1 on.
    pub(super) line: u32,
    /// What it holds.
    pub(super) value: Value<'t>,
}

/// What a node holds.
#[derive(Debug, Clone)]
pub(super) enum Value<'t> {
    /// Nothing: an omitted value, `~` or `null` without quotes.
    Null,
    /// A single value as it is spelled, after quotes and escapes.
    Text(Cow<'t, str>),
    /// `[a, b]` or lines with dashes.
    List(Vec<Node<'t>>),
    /// Keys with values, in file order. Keys are texts.
    Map(Vec<(Node<'t>, Node<'t>)>),
    /// The value of a key that nobody asked for.
    Skipped,
}

impl<'t> Node<'t> {
    /// The value of a key, where this is a map that has it and it is not null.
    pub(super) fn get(&self, key: &str) -> Option<&Node<'t>> {
        let found = self.entries().iter().find(|(k, _)| k.text() == Some(key));
        found
            .map(|(_, value)| value)
            .filter(|value| !matches!(value.value, Value::Null))
    }

    /// A single value, as it is spelled.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The single value of a key.
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// The items of a list; none of what is no list.
    pub(super) fn items(&self) -> &[Node<'t>] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The keys and values of a map; none of what is no map.
    pub(super) fn entries(&self) -> &[(Node<'t>, Node<'t>)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// What kind of value this is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Text(_) | Value::Skipped => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a map of keys",
        }
    }

    fn count(&self) -> usize {
        1 + match &self.value {
            Value::List(items) => items.iter().map(Node::count).sum(),
            Value::Map(entries) => entries.iter().map(|(k, v)| k.count() + v.count()).sum(),
            _ => 0,
        }
    }
}

/// Why a text is not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The line, from 1 on.
    pub(super) line: u32,
    /// What is wrong there.
    pub(super) what: String,
}

/// Reads one document. Values of the keys in `skip` are dropped wherever they are.
pub(super) fn parse<'t>(text: &'t str, skip: &[&str]) -> Result<Node<'t>, Fault> {
    let options = options! {
        emit_comments: false,
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
    };
    let mut tree = Tree {
        skip,
        open: Vec::new(),
        root: None,
        anchors: BTreeMap::new(),
        copies: 0,
        dropping: 0,
        documents: 0,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        tree.take(event, line(span.start.line()))?;
    }
    tree.root.ok_or_else(|| Fault {
        line: 1,
        what: "the file is empty".to_owned(),
    })
}

fn line(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX).max(1)
}

fn syntax(error: &ScanError) -> Fault {
    let what = match error.kind() {
        ErrorKind::RecursionLimitExceeded => format!("nested deeper than {DEPTH} levels"),
        _ => format!("not valid YAML: {}", error.info()),
    };
    Fault {
        line: line(error.marker().line()),
        what,
    }
}

/// A collection whose end has not been seen.
struct Open<'t> {
    line: u32,
    anchor: usize,
    items: Items<'t>,
}

enum Items<'t> {
    List(Vec<Node<'t>>),
    Map {
        entries: Vec<(Node<'t>, Node<'t>)>,
        key: Option<Node<'t>>,
    },
}

struct Tree<'t, 's> {
    skip: &'s [&'s str],
    open: Vec<Open<'t>>,
    root: Option<Node<'t>>,
    anchors: BTreeMap<usize, Node<'t>>,
    copies: usize,
    /// Levels of nesting of a value that is dropped.
    dropping: usize,
    documents: usize,
}

impl<'t> Tree<'t, '_> {
    fn take(&mut self, event: Event<'t>, line: u32) -> Result<(), Fault> {
        let fault = |what: &str| Fault {
            line,
            what: what.to_owned(),
        };
        if self.is_dropped() {
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) => self.dropping += 1,
                Event::SequenceEnd | Event::MappingEnd => {
                    self.dropping = self.dropping.saturating_sub(1);
                }
                _ => {}
            }
            if self.dropping == 0 {
                let value = Value::Skipped;
                return self.attach(Node { line, value }, 0);
            }
            return Ok(());
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(fault("a second YAML document begins, and a lock is one"));
                }
            }
            Event::Scalar(text, style, anchor, _) => {
                let null = style == ScalarStyle::Plain
                    && matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL");
                let value = if null { Value::Null } else { Value::Text(text) };
                return self.attach(Node { line, value }, anchor);
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).ok_or_else(|| {
                    fault("this alias repeats the value that it stands in, or one that is not read")
                })?;
                self.copies += node.count();
                if self.copies > MOST_COPIES {
                    return Err(fault("aliases multiply to too many values"));
                }
                let node = node.clone();
                return self.attach(node, 0);
            }
            Event::SequenceStart(_, anchor, _) => self.open.push(Open {
                line,
                anchor,
                items: Items::List(Vec::new()),
            }),
            Event::MappingStart(_, anchor, _) => self.open.push(Open {
                line,
                anchor,
                items: Items::Map {
                    entries: Vec::new(),
                    key: None,
                },
            }),
            Event::SequenceEnd | Event::MappingEnd => return self.leave(),
            _ => {}
        }
        Ok(())
    }

    /// Whether the next value is one that nobody asked for.
    fn is_dropped(&self) -> bool {
        let key = match self.open.last().map(|open| &open.items) {
            Some(Items::Map { key: Some(key), .. }) => key.text(),
            _ => None,
        };
        self.dropping > 0 || key.is_some_and(|key| self.skip.contains(&key))
    }

    fn leave(&mut self) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let value = match open.items {
            Items::List(items) => Value::List(items),
            Items::Map { entries, .. } => {
                refuse_twice(&entries)?;
                Value::Map(entries)
            }
        };
        let line = open.line;
        self.attach(Node { line, value }, open.anchor)
    }

    /// Puts a finished node where it belongs, and remembers it if it has an anchor.
    fn attach(&mut self, node: Node<'t>, anchor: usize) -> Result<(), Fault> {
        if anchor != 0 {
            self.copies += node.count();
            self.anchors.insert(anchor, node.clone());
        }
        let line = node.line;
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.root = Some(node),
            Some(Items::List(items)) => items.push(node),
            Some(Items::Map { entries, key }) => match (key.take(), node.text()) {
                (Some(key), _) => entries.push((key, node)),
                (None, Some("<<")) => {
                    let what = "the merge key `<<` is not read: write the values out".to_owned();
                    return Err(Fault { line, what });
                }
                (None, Some(_)) => *key = Some(node),
                (None, None) => {
                    let what = format!("a key is a text, not {}", node.kind());
                    return Err(Fault { line, what });
                }
            },
        }
        Ok(())
    }
}

/// A key twice in one map: some readers take the first, some the last.
fn refuse_twice(entries: &[(Node<'_>, Node<'_>)]) -> Result<(), Fault> {
    let twice = |key: &Node<'_>| Fault {
        line: key.line,
        what: format!(
            "the key `{}` is here a second time",
            key.text().unwrap_or_default()
        ),
    };
    if entries.len() <= FEW_KEYS {
        for (at, (key, _)) in entries.iter().enumerate() {
            if entries.iter().take(at).any(|(k, _)| k.text() == key.text()) {
                return Err(twice(key));
            }
        }
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    for (key, _) in entries {
        if !seen.insert(key.text()) {
            return Err(twice(key));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn fault(text: &str) -> (u32, String) {
        let fault = parse(text, &[]).unwrap_err();
        (fault.line, fault.what)
    }

    #[test]
    fn values_keep_their_spelling_and_line() {
        let root = parse(
            "# c\r\nv: 1.10\r\nlist:\r\n- 'a'\r\n- ~\r\nn: null\r\n",
            &[],
        )
        .unwrap();
        assert_eq!(root.text_of("v"), Some("1.10"));
        assert_eq!(root.get("v").unwrap().line, 2);
        assert!(root.get("n").is_none() && root.get("x").is_none());
        let lines: Vec<_> = root
            .get("list")
            .unwrap()
            .items()
            .iter()
            .map(|i| i.line)
            .collect();
        assert_eq!(lines, [4, 5]);
    }

    #[test]
    fn what_nobody_asks_for_is_dropped_with_all_that_is_in_it() {
        let text = "a:\n  depends: [x, {y: [z]}]\n  k: 1\ndepends: w\nb:\n  depends: []\n  k: 2\n";
        let root = parse(text, &["depends"]).unwrap();
        assert_eq!(root.get("a").unwrap().text_of("k"), Some("1"));
        assert_eq!(root.get("b").unwrap().text_of("k"), Some("2"));
        assert!(matches!(root.get("depends").unwrap().value, Value::Skipped));
    }

    #[test]
    fn aliases_are_values_and_bombs_are_refused() {
        let root = parse("a: &x {k: 1}\nb: *x\n", &[]).unwrap();
        assert_eq!(root.get("b").unwrap().text_of("k"), Some("1"));
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for n in 1..12 {
            let of = n - 1;
            let refs = vec![format!("*a{of}"); 10].join(",");
            writeln!(bomb, "a{n}: &a{n} [{refs}]").unwrap();
        }
        assert_eq!(fault(&bomb).1, "aliases multiply to too many values");
        assert_eq!(fault("a: &x [*x]").0, 1);
    }

    #[test]
    fn what_readers_take_differently_is_refused() {
        assert_eq!(
            fault("a: 1\nb: 2\na: 3\n"),
            (3, "the key `a` is here a second time".into())
        );
        assert_eq!(fault("a: 1\n---\nb: 1\n").0, 2);
        assert_eq!(fault("a: {k: 1}\nb:\n  <<: {}\n").0, 3);
        assert_eq!(fault("[a]: 1\n"), (1, "a key is a text, not a list".into()));
        assert_eq!(fault(""), (1, "the file is empty".into()));
        assert!(fault("a: 1\nb: [\n").0 > 1);
        let mut many = (0..40).fold(String::new(), |many, n| format!("{many}k{n}: 1\n"));
        many.push_str("k7: 2\n");
        assert_eq!(fault(&many).0, 41);
        assert_eq!(
            fault(&"[".repeat(10_000)),
            (1, "nested deeper than 32 levels".into())
        );
    }
}
