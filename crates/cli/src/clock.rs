//! Timestamps in the format of RFC 3339.

use time::UtcDateTime;

/// Returns the current time in UTC, in seconds: `2026-01-31T12:34:56Z`.
pub fn now_in_seconds() -> String {
    format!("{}Z", date_and_time(UtcDateTime::now()))
}

/// Returns the current time in UTC, in microseconds: `2026-01-31T12:34:56.123456Z`.
pub fn now_in_microseconds() -> String {
    let now = UtcDateTime::now();
    format!("{}.{:06}Z", date_and_time(now), now.microsecond())
}

fn date_and_time(moment: UtcDateTime) -> String {
    let (year, month, day) = moment.to_calendar_date();
    let (hour, minute, second) = moment.as_hms();
    format!("{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", u8::from(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_leap_days() {
        let at = |seconds| date_and_time(UtcDateTime::from_unix_timestamp(seconds).unwrap());
        // 2000 is a leap year although it is divisible by 100.
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00");
        assert_eq!(at(1_795_257_000), "2026-11-21T10:30:00");
    }
}
