//! Problems of a run, bounded in number and in the bytes of their text: an archive of archives can be made to
//! have millions, each with a name of 64 KiB.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::locator::Locator;
use crate::problem::{Extent, Problem, ProblemKind};

/// Collects problems from all threads. Which are kept depends on their order alone, not on who came first.
#[derive(Debug)]
pub(super) struct Problems {
    most: usize,
    most_text: usize,
    held: Mutex<Held>,
}

/// A problem of the input with this index.
type Keyed = (usize, Problem);

#[derive(Debug, Default)]
struct Held {
    /// Each with how often it was found: metadata is read before it is read again as a member.
    kept: BTreeMap<Keyed, u64>,
    text: usize,
    /// The first that had no room. Whatever is not before it has none either.
    cut: Option<Keyed>,
    /// How many were left out, by input.
    left_out: BTreeMap<usize, u64>,
}

impl Problems {
    pub(super) fn new() -> Self {
        Self::bounded(10_000, 16 << 20)
    }

    fn bounded(most: usize, most_text: usize) -> Self {
        Self {
            most,
            most_text,
            held: Mutex::default(),
        }
    }

    /// Adds problems of the `artifact`th input.
    pub(super) fn add(&self, artifact: usize, problems: Vec<Problem>) {
        if problems.is_empty() {
            return;
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for problem in problems {
            held.add((artifact, problem));
            while held.kept.len() > self.most || held.text > self.most_text {
                held.leave_out_last();
            }
        }
    }

    /// The problems of each of `inputs` that has some, sorted. Where some were left out, one more says so.
    pub(super) fn finish(self, inputs: &[Locator]) -> BTreeMap<usize, Vec<Problem>> {
        let (mut found, left_out, rule) = self.drain();
        for (artifact, count) in left_out {
            let Some(at) = inputs.get(artifact) else {
                continue;
            };
            let more = left_out_problem(count, "of this input", &rule, at);
            found.entry(artifact).or_default().push(more);
        }
        found
    }

    /// The problems of each part of what is at `root`, sorted, and one more where some were left out.
    pub(super) fn finish_parts(
        self,
        root: &Locator,
    ) -> (BTreeMap<usize, Vec<Problem>>, Option<Problem>) {
        let (found, left_out, rule) = self.drain();
        let count: u64 = left_out.into_values().sum();
        let more = (count > 0).then(|| left_out_problem(count, "of this layer", &rule, root));
        (found, more)
    }

    fn drain(self) -> (BTreeMap<usize, Vec<Problem>>, BTreeMap<usize, u64>, String) {
        let rule = format!(
            "{} of them, with {} bytes of text",
            self.most, self.most_text
        );
        let held = self.held.into_inner();
        let held = held.unwrap_or_else(PoisonError::into_inner);
        let mut found: BTreeMap<usize, Vec<Problem>> = BTreeMap::new();
        for (artifact, problem) in held.kept.into_keys() {
            found.entry(artifact).or_default().push(problem);
        }
        (found, held.left_out, rule)
    }
}

fn left_out_problem(count: u64, of: &str, rule: &str, at: &Locator) -> Problem {
    let detail = format!("{count} more problems {of} are not listed: a run lists {rule}");
    Problem::new(
        ProblemKind::LimitExceeded,
        at.clone(),
        Extent::Artifact,
        detail,
    )
}

impl Held {
    fn add(&mut self, keyed: Keyed) {
        if self.cut.as_ref().is_some_and(|cut| keyed >= *cut) {
            *self.left_out.entry(keyed.0).or_default() += 1;
            return;
        }
        let text = text_of(&keyed.1);
        let count = self.kept.entry(keyed).or_insert(0);
        if *count == 0 {
            self.text += text;
        }
        *count += 1;
    }

    fn leave_out_last(&mut self) {
        if let Some((keyed, count)) = self.kept.pop_last() {
            self.text -= text_of(&keyed.1);
            *self.left_out.entry(keyed.0).or_default() += count;
            self.cut = Some(keyed);
        }
    }
}

fn text_of(problem: &Problem) -> usize {
    problem.at.to_string().len() + problem.detail.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(index: usize) -> Locator {
        Locator::root(index, format!("in{index}"))
    }

    fn problem(index: usize, detail: &str) -> Problem {
        Problem::new(ProblemKind::Io, input(index), Extent::Part, detail)
    }

    /// What is kept of problems that come in this order, as details by input.
    fn kept(problems: Problems, found: &[(usize, &str)]) -> Vec<Vec<String>> {
        for (index, detail) in found {
            problems.add(*index, vec![problem(*index, detail)]);
        }
        let found = problems.finish(&[input(0), input(1)]);
        let details = |problems: Vec<Problem>| {
            let details = problems.into_iter().map(|problem| problem.detail);
            details
                .map(|detail| detail.split(':').next().unwrap().to_owned())
                .collect()
        };
        found.into_values().map(details).collect()
    }

    #[test]
    fn keeps_the_first_in_order_whatever_comes_first() {
        let found = [(0, "a"), (0, "b"), (0, "b"), (0, "c"), (1, "a"), (1, "b")];
        let more = |count| format!("{count} more problems of this input are not listed");
        let expected = [vec!["a".to_owned(), "b".to_owned(), more(1)], vec![more(2)]];
        for turn in 0..found.len() {
            let mut turned = found;
            turned.rotate_left(turn);
            assert_eq!(kept(Problems::bounded(2, 1000), &turned), expected);
            turned.reverse();
            assert_eq!(kept(Problems::bounded(2, 1000), &turned), expected);
        }
    }

    #[test]
    fn counts_the_bytes_of_addresses_and_details() {
        let long = "x".repeat(50);
        // `in0` and one letter are four bytes each
        let found = [(0, "a"), (0, "b"), (0, long.as_str()), (0, "y")];
        let mut expected = vec!["a".to_owned(), "b".to_owned()];
        let all = kept(Problems::bounded(9, 65), &found);
        assert_eq!(
            all,
            [[expected.clone(), vec![long.clone(), "y".to_owned()]].concat()]
        );
        expected.push("2 more problems of this input are not listed".to_owned());
        for turn in 0..found.len() {
            let mut turned = found;
            turned.rotate_left(turn);
            assert_eq!(kept(Problems::bounded(9, 60), &turned), [expected.clone()]);
        }
    }
}
