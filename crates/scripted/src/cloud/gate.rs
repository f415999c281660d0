//! The order of concurrent operations.
//!
//! A host may begin any operation whose predecessors have ended. The gate holds back every operation that has begun
//! until no further one arrives, then lets a single one take place, chosen by a seed. Thus an operation that the host
//! should have held back overtakes the operations that it should have waited for, whatever their speed.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time without an arrival after which the waiting operations are complete.
const QUIET: Duration = Duration::from_millis(12);

#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The ranks of waiting operations; the lowest goes first. The counter makes each unique.
    waiting: Vec<(u64, u64)>,
    arrived: u64,
    /// Whether an operation is taking place.
    busy: bool,
    /// The time of the last arrival or end.
    last: Option<Instant>,
}

impl Gate {
    /// Runs `operation` once it is its turn.
    pub(super) fn pass<T>(&self, rank: u64, operation: impl FnOnce() -> T) -> T {
        self.wait(rank);
        let result = operation();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.busy = false;
        state.last = Some(Instant::now());
        self.changed.notify_all();
        result
    }

    fn wait(&self, rank: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        let own = (rank, state.arrived);
        state.waiting.push(own);
        state.last = Some(Instant::now());
        self.changed.notify_all();
        loop {
            let quiet = state.last.map_or(QUIET, |last| last.elapsed());
            let is_first = state.waiting.iter().all(|other| own <= *other);
            if is_first && !state.busy && quiet >= QUIET {
                state.waiting.retain(|other| *other != own);
                state.busy = true;
                return;
            }
            let left = QUIET.saturating_sub(quiet).max(Duration::from_millis(1));
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Returns the rank of an operation: deletions first for every third seed, last for another, at random for the rest.
pub(super) fn rank(seed: u64, is_deletion: bool, text: &str) -> u64 {
    let random = text.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    }) >> 2;
    let preferred = match seed % 3 {
        0 => is_deletion,
        1 => !is_deletion,
        _ => true,
    };
    if preferred { random } else { random | 1 << 63 }
}
