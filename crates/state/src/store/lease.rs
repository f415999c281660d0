//! Leases: locks and shared runs that end at a deadline unless their holders renew them.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::lock::rfc3339;

/// The time from a renewal to the deadline.
pub const LEASE: Duration = Duration::from_secs(60);

/// The interval between renewals.
pub const RENEWAL: Duration = Duration::from_secs(20);

/// The time after a deadline during which the holder still counts, because clocks of machines differ.
pub const TOLERANCE: Duration = Duration::from_secs(60);

/// The time at which a lease ends unless it is renewed. Its text has the form of RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(SystemTime);

impl Deadline {
    /// A deadline that has passed on every machine.
    pub const PASSED: Self = Self(SystemTime::UNIX_EPOCH);

    /// Returns the deadline of a lease that is taken or renewed at `now`.
    pub fn of_renewal(now: SystemTime) -> Self {
        Self(now + LEASE)
    }

    /// Returns the time by the clock of the holder.
    pub fn time(self) -> SystemTime {
        self.0
    }

    /// Whether the deadline has passed for certain, so that another process may take over.
    pub fn is_over(self, now: SystemTime) -> bool {
        now > self.0 + TOLERANCE
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&rfc3339(self.0))
    }
}

impl FromStr for Deadline {
    type Err = time::error::Parse;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(OffsetDateTime::parse(text, &Rfc3339)?.into()))
    }
}

impl Serialize for Deadline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Deadline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_is_over_after_its_tolerance() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_257_000);
        let deadline = Deadline::of_renewal(now);
        assert!(!deadline.is_over(now + LEASE + TOLERANCE));
        assert!(deadline.is_over(now + LEASE + TOLERANCE + Duration::from_secs(1)));
        assert!(Deadline::PASSED.is_over(now));
    }

    #[test]
    fn deadline_is_read_back_from_its_text() {
        let deadline = Deadline::of_renewal(SystemTime::UNIX_EPOCH + Duration::new(1_795_257_000, 5));
        assert_eq!(deadline.to_string(), "2026-11-21T10:31:00.000000005Z");
        assert_eq!(deadline.to_string().parse(), Ok(deadline));
        assert_eq!(serde_json::from_value::<Deadline>("2026-11-21T10:31:00.000000005Z".into()).unwrap(), deadline);
        assert!(serde_json::from_value::<Deadline>("soon".into()).is_err());
    }
}
