//! Next steps of the report for people, each in full once: where a step has been said, a later finding refers to it.

use std::collections::BTreeMap;

use crate::verdict::Finding;

use super::group::{Group, name};

/// Where a step was said.
#[derive(Debug)]
struct Said<'e> {
    /// The number of the group.
    group: usize,
    /// The finding whose step it is.
    of: &'e Finding,
    head: String,
}

/// The steps that have been said so far.
#[derive(Debug, Default)]
pub(super) struct Steps<'e> {
    groups: usize,
    said: BTreeMap<&'e str, Said<'e>>,
}

impl<'e> Steps<'e> {
    /// The steps of the next group: the head of each, such as `next:`, and its text.
    pub(super) fn lines(&mut self, group: &Group<'e>) -> Vec<(String, String)> {
        self.groups += 1;
        let mut lines = Vec::new();
        for (index, step) in group.next_steps().into_iter().enumerate() {
            let head = match index {
                0 => "next:".to_owned(),
                _ => format!("next for {}:", name(step)),
            };
            let text = step.next_step.as_str();
            let reference = self
                .said
                .get(text)
                .and_then(|said| self.refer(said, &head, step));
            let shorter = reference.filter(|reference| reference.len() < text.len());
            if let Some(reference) = shorter {
                if reference == ABOVE
                    && let Some(said) = self.said.get_mut(text)
                {
                    said.group = self.groups;
                }
                lines.push((head, reference));
                continue;
            }
            let said = Said {
                group: self.groups,
                of: step,
                head: head.clone(),
            };
            self.said.insert(text, said);
            lines.push((head, text.to_owned()));
        }
        lines
    }

    /// How to refer to what was said: nothing but `as above` where that is the group before, of the same GPU.
    fn refer(&self, said: &Said<'e>, head: &str, step: &Finding) -> Option<String> {
        let whose = name(said.of);
        if said.group + 1 == self.groups && said.head == head && whose == name(step) {
            return Some(ABOVE.to_owned());
        }
        let library = said.of.library.as_ref()?;
        Some(format!("as above: {} of {whose}, {library}", said.of.code))
    }
}

const ABOVE: &str = "as above";
