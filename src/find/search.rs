//! Which builds to read, so that the newest that runs is found with few of them.
//!
//! A pure function of what each build turns out to be. Builds of a series are numbered from the newest, 0, on. The
//! newest is read first. Where it does not run the 2nd, 4th, 8th … newest follow, until one runs or none older can;
//! between it and the oldest newer one that did not run, the gap is halved until it is none. A series may have holes:
//! what is found runs, and a newer build that was not read may run too.

use std::collections::BTreeMap;

/// What a build turned out to be for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It has code for the GPU.
    Native,
    /// It runs, after the driver has compiled it.
    Jit {
        /// Whether older builds may hold code for the GPU itself: this one holds code for newer GPUs.
        older_may_be_native: bool,
    },
    /// It does not run.
    Not,
    /// It does not run, and the GPU is newer than all code in it: older builds will not do.
    GpuTooNew,
    /// It holds no device code.
    NoCode,
    /// It could not be read.
    Unread,
}

impl Outcome {
    /// Whether it runs, whatever it takes.
    pub const fn runs(self) -> bool {
        matches!(self, Self::Native | Self::Jit { .. })
    }
}

/// What was found out about one series.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trail {
    /// What was read, by number.
    pub known: BTreeMap<usize, Outcome>,
    /// Whether more would have been read, had it been allowed.
    pub cut: bool,
}

/// What a search looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    Native,
    Runs,
}

impl Goal {
    fn is_met_by(self, outcome: Outcome) -> bool {
        match self {
            Self::Native => outcome == Outcome::Native,
            Self::Runs => outcome.runs(),
        }
    }
}

impl Trail {
    /// The newest build that has code for the GPU.
    pub fn native(&self) -> Option<usize> {
        self.newest(Goal::Native)
    }

    /// The newest build that the driver compiles, where no newer one has code for the GPU.
    pub fn jit(&self) -> Option<usize> {
        let newest = self.newest(Goal::Runs)?;
        (Some(newest) != self.native()).then_some(newest)
    }

    fn newest(&self, goal: Goal) -> Option<usize> {
        let mut known = self.known.iter();
        known
            .find(|(_, outcome)| goal.is_met_by(**outcome))
            .map(|(at, _)| *at)
    }

    /// The build to read next, of `count`; none where enough is known.
    fn next(&self, count: usize) -> Option<usize> {
        if count == 0 {
            return None;
        }
        if self.known.is_empty() {
            return Some(0);
        }
        self.towards(Goal::Native, count)
            .or_else(|| self.towards(Goal::Runs, count))
    }

    fn towards(&self, goal: Goal, count: usize) -> Option<usize> {
        let Some(end) = self.end(goal) else {
            // nothing runs yet: 0, 1, 3, 7, …
            let last = self.known.keys().next_back().copied()?;
            return (last + 1 < count).then(|| (2 * last + 1).min(count - 1));
        };
        let newer = self.known.range(..end).next_back();
        let newer = newer.map(|(at, _)| *at)?;
        (end - newer > 1).then(|| usize::midpoint(newer, end))
    }

    /// The newest build at which the search ends: it is one, or none older can be.
    fn end(&self, goal: Goal) -> Option<usize> {
        let mut seen_code = false;
        for (at, outcome) in &self.known {
            let ends = match outcome {
                outcome if goal.is_met_by(*outcome) => true,
                Outcome::Jit {
                    older_may_be_native,
                } => !older_may_be_native,
                Outcome::GpuTooNew => true,
                // before it had device code, it had none
                Outcome::NoCode => seen_code,
                Outcome::Native | Outcome::Not | Outcome::Unread => false,
            };
            if ends {
                return Some(*at);
            }
            seen_code |= matches!(outcome, Outcome::Not | Outcome::Jit { .. });
        }
        None
    }
}

/// Searches series of these lengths in turns, so that the newest of each is read first. `judge` says what a build of a
/// series is, both by number; nothing where no more may be read.
pub fn search(
    counts: &[usize],
    judge: &mut dyn FnMut(usize, usize) -> Option<Outcome>,
) -> Vec<Trail> {
    let mut trails = vec![Trail::default(); counts.len()];
    loop {
        let mut moved = false;
        for (series, (trail, count)) in trails.iter_mut().zip(counts).enumerate() {
            if trail.cut {
                continue;
            }
            let Some(build) = trail.next(*count) else {
                continue;
            };
            match judge(series, build) {
                Some(outcome) => {
                    trail.known.insert(build, outcome);
                    moved = true;
                }
                None => trail.cut = true,
            }
        }
        if !moved {
            return trails;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLDER: Outcome = Outcome::Jit {
        older_may_be_native: true,
    };
    const NEWER: Outcome = Outcome::Jit {
        older_may_be_native: false,
    };

    /// One letter a build, newest first.
    fn series(text: &str) -> Vec<Outcome> {
        let outcomes = text.chars().map(|letter| match letter {
            'n' => Outcome::Native,
            'j' => OLDER,
            'k' => NEWER,
            '-' => Outcome::Not,
            '>' => Outcome::GpuTooNew,
            '0' => Outcome::NoCode,
            '?' => Outcome::Unread,
            other => panic!("{other}"),
        });
        outcomes.collect()
    }

    /// What is read of one series, in order, and what comes of it.
    fn one(text: &str) -> (Vec<usize>, Trail) {
        let builds = series(text);
        let mut read = Vec::new();
        let mut trails = search(&[builds.len()], &mut |_, build| {
            read.push(build);
            Some(builds[build])
        });
        (read, trails.pop().unwrap())
    }

    fn found(text: &str) -> (Vec<usize>, Option<usize>, Option<usize>) {
        let (read, trail) = one(text);
        assert!(!trail.cut);
        (read, trail.native(), trail.jit())
    }

    #[test]
    fn where_the_newest_runs_nothing_else_is_read() {
        assert_eq!(found("nnnnnnnn"), (vec![0], Some(0), None));
        assert_eq!(found("n"), (vec![0], Some(0), None));
        assert_eq!(found(""), (vec![], None, None));
    }

    #[test]
    fn the_newest_that_runs_is_found_by_leaps_and_halves() {
        // 0, 1, 3 and 7 fail, 15 runs; then 11, 9, 10
        let text = format!("{}{}", "-".repeat(10), "n".repeat(30));
        assert_eq!(
            found(&text),
            (vec![0, 1, 3, 7, 15, 11, 9, 10], Some(10), None)
        );
    }

    #[test]
    fn every_place_of_the_edge_is_found_exactly_where_the_series_has_no_holes() {
        for count in 1..40 {
            for edge in 0..=count {
                let text = format!("{}{}", "-".repeat(edge), "n".repeat(count - edge));
                let (read, native, jit) = found(&text);
                assert_eq!(native, (edge < count).then_some(edge), "{text}");
                assert_eq!(jit, None);
                assert!(read.len() <= 12, "{text}: {read:?}");
                let mut once = read.clone();
                once.sort_unstable();
                once.dedup();
                assert_eq!(once.len(), read.len(), "{text}: {read:?}");
            }
        }
    }

    #[test]
    fn where_the_gpu_is_newer_than_all_code_no_older_build_is_read() {
        assert_eq!(found(">>>>>>>>"), (vec![0], None, None));
        assert_eq!(found("kkkkkkkk"), (vec![0], None, Some(0)));
    }

    #[test]
    fn what_runs_lies_between_too_new_a_driver_and_too_old_code() {
        // 0, 1 and 3 fail, 7 has no code for the GPU yet: 5 runs, 4 does not
        assert_eq!(
            found("-----nn>>>>>"),
            (vec![0, 1, 3, 7, 5, 4], Some(5), None)
        );
        assert_eq!(found("--->>>"), (vec![0, 1, 3, 2], None, None));
    }

    #[test]
    fn a_build_that_the_driver_compiles_counts_and_an_older_native_one_is_looked_for() {
        // native from 6 on, compiled from 2 on
        assert_eq!(
            found("--jjjjnnnn"),
            (vec![0, 1, 3, 7, 5, 6, 2], Some(6), Some(2))
        );
        assert_eq!(found("jjjj"), (vec![0, 1, 3], None, Some(0)));
        assert_eq!(found("jn"), (vec![0, 1], Some(1), Some(0)));
        assert_eq!(found("--kk"), (vec![0, 1, 3, 2], None, Some(2)));
    }

    #[test]
    fn holes_are_passed_over_and_what_is_found_runs() {
        // the newest that runs is 3; 4 is a hole that is not read
        assert_eq!(found("---n-nnn"), (vec![0, 1, 3, 2], Some(3), None));
        // halving lands in a hole: what is found runs, and is not the newest
        assert_eq!(found("--nn-n-n"), (vec![0, 1, 3, 2], Some(2), None));
        assert_eq!(found("----n-nn"), (vec![0, 1, 3, 7, 5, 6], Some(6), None));
    }

    #[test]
    fn what_cannot_be_read_counts_as_not_running_and_stops_nothing() {
        assert_eq!(found("?nnn"), (vec![0, 1], Some(1), None));
        assert_eq!(found("????"), (vec![0, 1, 3], None, None));
    }

    #[test]
    fn builds_from_before_there_was_device_code_end_the_leaps() {
        assert_eq!(found("---n00000"), (vec![0, 1, 3, 2], Some(3), None));
        assert_eq!(found("--nnn00000"), (vec![0, 1, 3, 2], Some(2), None));
        assert_eq!(found("-----n0000"), (vec![0, 1, 3, 7, 5, 4], Some(5), None));
        // newer builds without any are passed over
        assert_eq!(found("00nn"), (vec![0, 1, 3, 2], Some(2), None));
    }

    #[test]
    fn the_newest_of_every_series_comes_first_and_a_limit_cuts_what_is_left() {
        let both = [series("----------"), series("-n")];
        let mut read = Vec::new();
        let mut left = 5;
        let trails = search(&[10, 2], &mut |series, build| {
            if left == 0 {
                return None;
            }
            left -= 1;
            read.push((series, build));
            Some(both[series][build])
        });
        assert_eq!(read, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 3)]);
        assert_eq!((trails[0].native(), trails[0].cut), (None, true));
        assert_eq!((trails[1].native(), trails[1].cut), (Some(1), false));
    }
}
