//! The clock of AWS: signatures carry the time, and AWS refuses those that are minutes off.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;

/// Differences below this are transfer times, not wrong clocks.
const TOLERATED_SECONDS: i64 = 240;

/// The difference between the clock of AWS and that of this machine, learned from refused requests.
#[derive(Debug, Default)]
pub(super) struct Clock {
    offset_seconds: AtomicI64,
}

impl Clock {
    /// Returns the time of AWS.
    pub(super) fn now(&self) -> SystemTime {
        let offset = self.offset_seconds.load(Ordering::Relaxed);
        let distance = Duration::from_secs(offset.unsigned_abs());
        let now = SystemTime::now();
        if offset < 0 { now.checked_sub(distance).unwrap_or(UNIX_EPOCH) } else { now + distance }
    }

    /// Learns from the `Date` header of a response that arrived now. Returns whether the clock was wrong so far.
    pub(super) fn learn(&self, date: Option<&str>) -> bool {
        let Some(there) = date.and_then(|date| DateTime::from_str(date, Format::HttpDate).ok()) else { return false };
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs() as i64);
        if (there.secs() - seconds(self.now())).abs() < TOLERATED_SECONDS {
            return false;
        }
        self.offset_seconds.store(there.secs() - seconds(SystemTime::now()), Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_clock_is_corrected_once() {
        let clock = Clock::default();
        assert!(!clock.learn(None) && !clock.learn(Some("yesterday")));
        let date = |time: SystemTime| DateTime::from(time).fmt(Format::HttpDate).unwrap();
        assert!(!clock.learn(Some(&date(SystemTime::now()))));
        let there = SystemTime::now() - Duration::from_secs(86_400);
        assert!(clock.learn(Some(&date(there))));
        let difference = SystemTime::now().duration_since(clock.now()).unwrap();
        assert!((86_395..86_405).contains(&difference.as_secs()), "{difference:?}");
        assert!(!clock.learn(Some(&date(there))));
    }
}
