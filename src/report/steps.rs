//! Next steps of the report for people, each in full once: where a step has been said, a later finding refers to it.

use std::collections::BTreeMap;

use crate::rule::Code;
use crate::verdict::Finding;

use super::group::{Group, name};

/// A step of a rule for a GPU or target: what stands under another name is not looked for there.
type Key<'e> = (&'e str, Code, String);

/// Where a step was said.
#[derive(Debug)]
struct Said<'e> {
    /// The number of the group.
    group: usize,
    library: Option<&'e str>,
    head: String,
}

/// The steps that have been said so far.
#[derive(Debug, Default)]
pub(super) struct Steps<'e> {
    groups: usize,
    said: BTreeMap<Key<'e>, Said<'e>>,
}

impl<'e> Steps<'e> {
    /// The steps of the next group: the head of each, such as `next:`, and its text.
    pub(super) fn lines(&mut self, group: &Group<'e>) -> Vec<(String, String)> {
        self.groups += 1;
        let steps = group.next_steps().into_iter().enumerate();
        steps.map(|(index, step)| self.line(index, step)).collect()
    }

    fn line(&mut self, index: usize, step: &'e Finding) -> (String, String) {
        let (text, name) = (step.next_step.as_str(), name(step));
        let head = match index {
            0 => "next:".to_owned(),
            _ => format!("next for {name}:"),
        };
        let key = (text, step.code, name);
        let Some(said) = self.said.get_mut(&key) else {
            let said = Said {
                group: self.groups,
                library: step.library.as_deref(),
                head: head.clone(),
            };
            self.said.insert(key, said);
            return (head, text.to_owned());
        };
        if said.group + 1 == self.groups && said.head == head {
            said.group = self.groups;
            return (head, "as above".to_owned());
        }
        let place = said
            .library
            .map(|library| format!("as above: {} of {}, {library}", key.1, key.2));
        // a short one is said again
        let place = place.filter(|place| place.len() < text.len());
        (head, place.unwrap_or_else(|| text.to_owned()))
    }
}
