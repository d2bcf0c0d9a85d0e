//! Hostile and damaged input: whatever the bytes are, the reader ends, soon, in little memory, and never
//! passes over device code in silence.

mod bare;
mod chunks;
mod compilers;
mod cost;
mod fatbins;
mod hosts;
mod limits;
mod mutation;
mod truncation;

use std::time::{Duration, Instant};

/// Runs `work` and holds that it ends in `limit`: ten times and more of what it takes here without
/// optimisation, so that only a cost that grows out of proportion fails.
fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    let took = begin.elapsed();
    assert!(
        took < limit,
        "took {took:?}, and {limit:?} is far more than enough"
    );
    result
}
