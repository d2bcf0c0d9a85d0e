//! How many transfers go on at once.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Transfers at once: more get no more out of one line, and servers turn their clients away.
const AT_ONCE: usize = 4;
/// The longest wait for another to end. Who waits longer goes on: two transfers of one reader must not wait for each
/// other.
const WAIT: Duration = Duration::from_secs(20);

/// Places for transfers.
#[derive(Debug, Clone)]
pub(super) struct Slots(Arc<(Mutex<usize>, Condvar)>);

/// A transfer's place, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot(Slots);

impl Default for Slots {
    fn default() -> Self {
        Self(Arc::new((Mutex::new(0), Condvar::new())))
    }
}

impl Slots {
    /// Waits for a place.
    pub(super) fn take(&self) -> Slot {
        let (taken, wake) = &*self.0;
        let taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, _late) = wake
            .wait_timeout_while(taken, WAIT, |taken| *taken >= AT_ONCE)
            .unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Slot(self.clone())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let (taken, wake) = &*self.0.0;
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_sub(1);
        wake.notify_one();
    }
}
