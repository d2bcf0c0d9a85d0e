//! Threads: jobs of very different size, the largest first, and jobs that make more jobs.

use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, PoisonError};

/// Something to do, and about how much it costs.
#[derive(Debug)]
struct Weighed<J> {
    weight: u64,
    job: J,
}

impl<J> PartialEq for Weighed<J> {
    fn eq(&self, other: &Self) -> bool {
        self.weight == other.weight
    }
}

impl<J> Eq for Weighed<J> {}

impl<J> PartialOrd for Weighed<J> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<J> Ord for Weighed<J> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.weight.cmp(&other.weight)
    }
}

struct Queue<J> {
    jobs: BinaryHeap<Weighed<J>>,
    /// Jobs that are being done, and may make more.
    busy: usize,
}

/// Adds jobs to a run.
pub(super) struct Adder<'q, J> {
    queue: &'q Mutex<Queue<J>>,
    wake: &'q Condvar,
}

impl<J> Adder<'_, J> {
    /// Adds a job that costs about `weight`.
    pub(super) fn add(&self, weight: u64, job: J) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.jobs.push(Weighed { weight, job });
        self.wake.notify_one();
    }
}

/// Does `jobs` and those that they add, on `threads` threads. Returns what each thread has gathered, in
/// no order: sort what matters.
pub(super) fn run<J: Send, S: Send>(
    threads: usize,
    jobs: Vec<(u64, J)>,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J, &Adder<'_, J>) + Sync,
) -> Vec<S> {
    let jobs = jobs
        .into_iter()
        .map(|(weight, job)| Weighed { weight, job })
        .collect();
    let queue = Mutex::new(Queue { jobs, busy: 0 });
    let wake = Condvar::new();
    let worker = || {
        let mut gathered = start();
        let adder = Adder {
            queue: &queue,
            wake: &wake,
        };
        while let Some(job) = take(&queue, &wake) {
            work(&mut gathered, job, &adder);
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.busy -= 1;
            if queue.busy == 0 && queue.jobs.is_empty() {
                wake.notify_all();
            }
        }
        gathered
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut gathered = vec![worker()];
        for other in others {
            match other.join() {
                Ok(state) => gathered.push(state),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        gathered
    })
}

/// The next job, or nothing where there is none left and none can come.
fn take<J>(queue: &Mutex<Queue<J>>, wake: &Condvar) -> Option<J> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(Weighed { job, .. }) = queue.jobs.pop() {
            queue.busy += 1;
            return Some(job);
        }
        if queue.busy == 0 {
            return None;
        }
        queue = wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_every_job_and_the_jobs_that_jobs_add() {
        for threads in [1, 2, 8] {
            let done = run(
                threads,
                vec![(3, 3_u32), (1, 1)],
                Vec::new,
                |done, n, adder| {
                    if n < 100 {
                        adder.add(u64::from(n), n * 10);
                    }
                    done.push(n);
                },
            );
            let mut done: Vec<u32> = done.into_iter().flatten().collect();
            done.sort_unstable();
            assert_eq!(done, [1, 3, 10, 30, 100, 300]);
        }
    }

    #[test]
    fn begins_with_the_largest() {
        let done = run(
            1,
            vec![(1, 'a'), (9, 'b'), (5, 'c')],
            Vec::new,
            |done, job, _| done.push(job),
        );
        assert_eq!(done.concat(), ['b', 'c', 'a']);
    }
}
