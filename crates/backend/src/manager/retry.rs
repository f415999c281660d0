//! Repetitions of requests, and the waiting times between attempts.

use std::time::Duration;

use super::clock::Clock;
use crate::error::StoreError;

/// Returns the pause before each further attempt to take a lock: 1, 2, 4, 8, then 16 seconds each.
pub(super) fn lock_pauses() -> impl Iterator<Item = Duration> {
    [1, 2, 4, 8].into_iter().chain(std::iter::repeat(16)).map(Duration::from_secs)
}

/// Returns the pauses between attempts to repeat a failed request of the manager.
pub(super) fn request_pauses() -> impl Iterator<Item = Duration> {
    [250, 1000, 3000].into_iter().map(Duration::from_millis)
}

/// Sends a request whose repetition changes nothing, and repeats it after failures of the network or the service.
pub(super) fn repeated<T>(clock: &dyn Clock, request: impl Fn() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let mut pauses = request_pauses();
    loop {
        match request() {
            Err(problem @ (StoreError::Network { .. } | StoreError::Service { .. })) => match pauses.next() {
                Some(pause) => clock.sleep(pause),
                None => return Err(problem),
            },
            result => return result,
        }
    }
}
