//! The time of the state manager.

use std::time::{Duration, SystemTime};

/// A clock, which tests replace by a simulated one.
pub(super) trait Clock: Send + Sync {
    /// Returns the time of this machine.
    fn now(&self) -> SystemTime;

    /// Blocks the thread.
    fn sleep(&self, pause: Duration);

    /// Returns a random number.
    fn random(&self) -> u64;
}

/// The clock of the system.
pub(super) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, pause: Duration) {
        std::thread::sleep(pause);
    }

    fn random(&self) -> u64 {
        groma_state::random_bits()
    }
}
