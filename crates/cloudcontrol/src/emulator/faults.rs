//! Faults on demand (CC-62): shares of calls that are throttled, fail in the service, or end badly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::api::{ApiError, Fault};

/// The frequency of injected faults: shares between 0 and 1, drawn from the seed in the order of calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Faults {
    /// Calls refused because there are too many.
    pub throttling: f64,
    /// Calls that end with an error of the service's own.
    pub server_errors: f64,
    /// Requests that are taken and fail later, before they changed anything.
    pub failures: f64,
    /// Connections dropped without an answer; on a port only.
    pub drops: f64,
    /// The time for which a new object exists and cannot be read.
    pub consistency: Duration,
    /// The seed of the random source.
    pub seed: u64,
}

/// The faults of an emulator at work.
#[derive(Debug, Default)]
pub struct InjectedFault {
    faults: Faults,
    drawn: AtomicU64,
}

impl InjectedFault {
    /// Faults as wished for, from the first call on.
    pub fn new(faults: Faults) -> Self {
        Self { faults, drawn: AtomicU64::new(0) }
    }

    /// Refuses the call, if it is its turn.
    pub fn refuse(&self) -> Result<(), ApiError> {
        if self.hits(self.faults.throttling) {
            return Err(ApiError::new(Fault::Throttling, "Rate exceeded"));
        }
        if self.hits(self.faults.server_errors) {
            return Err(ApiError::new(Fault::ServiceInternalError, "Internal error, as asked for"));
        }
        Ok(())
    }

    /// Whether a request that is about to start will fail.
    pub fn fails(&self) -> bool {
        self.hits(self.faults.failures)
    }

    /// Whether the connection of a call is dropped.
    pub fn drops(&self) -> bool {
        self.hits(self.faults.drops)
    }

    fn hits(&self, share: f64) -> bool {
        if share <= 0.0 {
            return false;
        }
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        // SplitMix64: well spread over consecutive numbers.
        let mut mixed = self.faults.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let drawn = (mixed >> 11) as f64 / (1u64 << 53) as f64;
        drawn < share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cc_62_faults_come_at_their_rate_and_the_same_each_time() {
        let count = |seed| {
            let damage_cases = InjectedFault::new(Faults { throttling: 0.25, seed, ..Faults::default() });
            (0..4_000).map(|_| damage_cases.refuse().is_err()).collect::<Vec<_>>()
        };
        let hits = count(1).into_iter().filter(|hit| *hit).count();
        assert!((900..1_100).contains(&hits), "{hits}");
        assert_eq!(count(2), count(2));
        assert!(InjectedFault::default().refuse().is_ok());
    }
}
