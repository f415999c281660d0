//! Delays between attempts: exponential backoff with jitter.

use std::time::Duration;

/// Exponential backoff with full jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The upper bound of the first delay; each later bound is twice as long.
    pub first: Duration,
    /// The upper bound of all delays.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), longest: Duration::from_secs(20) }
    }
}

impl Backoff {
    /// Returns the delay after attempt number `attempt` (from 0): a random part of its bound, so that clients which
    /// failed together do not return together.
    pub fn delay(&self, attempt: u32) -> Duration {
        self.bound(attempt).mul_f64(random_share())
    }

    fn bound(&self, attempt: u32) -> Duration {
        // A shift by 32 or more would be zero or an overflow, so it counts as the maximum.
        self.first.saturating_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX)).min(self.longest)
    }
}

/// Returns a random number between 0 and 1.
pub fn random_share() -> f64 {
    let mut bytes = [0_u8; 4];
    // Without random numbers of the system, the middle of the range is used.
    if getrandom::fill(&mut bytes).is_err() {
        return 0.5;
    }
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_to_their_limit_and_are_spread() {
        let backoff = Backoff { first: Duration::from_millis(100), longest: Duration::from_secs(2) };
        assert_eq!(backoff.bound(0), Duration::from_millis(100));
        assert_eq!(backoff.bound(3), Duration::from_millis(800));
        // Far beyond the bits of the factor: the shift must not overflow.
        assert_eq!(backoff.bound(60), Duration::from_secs(2));
        let delays: Vec<Duration> = (0..200).map(|_| backoff.delay(3)).collect();
        assert!(delays.iter().all(|delay| *delay <= Duration::from_millis(800)));
        assert!(delays.iter().any(|delay| *delay < Duration::from_millis(400)));
        assert!(delays.iter().any(|delay| *delay > Duration::from_millis(400)));
    }
}
