//! Points in time as programs read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Now in UTC, to the second: `2026-01-31T12:34:56Z`.
pub fn now_in_seconds() -> String {
    format!("{}Z", date_and_time(since_epoch()))
}

/// Now in UTC, to the microsecond: `2026-01-31T12:34:56.123456Z`.
pub fn now_in_microseconds() -> String {
    let since = since_epoch();
    format!("{}.{:06}Z", date_and_time(since), since.subsec_micros())
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn date_and_time(since: Duration) -> String {
    let seconds = since.as_secs();
    let (year, month, day) = civil_date(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

/// The date of a day counted from 1 January 1970, in the Gregorian calendar with years that begin in March.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day_of_year - (153 * shifted_month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(date_and_time(Duration::from_secs(951_782_400)), "2000-02-29T00:00:00");
        assert_eq!(date_and_time(Duration::from_secs(1_795_257_000)), "2026-11-21T10:30:00");
    }
}
