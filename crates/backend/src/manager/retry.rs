//! Waiting times between attempts.

use std::time::Duration;

/// Returns the pause before each further attempt to take a lock: 1, 2, 4, 8, then 16 seconds each.
pub(super) fn lock_pauses() -> impl Iterator<Item = Duration> {
    [1, 2, 4, 8].into_iter().chain(std::iter::repeat(16)).map(Duration::from_secs)
}

/// Returns the pauses between attempts to repeat a failed request of the manager.
pub(super) fn request_pauses() -> impl Iterator<Item = Duration> {
    [250, 1000, 3000].into_iter().map(Duration::from_millis)
}
