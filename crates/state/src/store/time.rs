//! Points in time as text.

use std::time::SystemTime;

use time::UtcDateTime;

/// `2026-01-31T12:34:56.123456789Z`.
pub(super) fn rfc3339(moment: SystemTime) -> String {
    let moment = UtcDateTime::from(moment);
    let (year, month, day) = moment.to_calendar_date();
    let (hour, minute, second, nanosecond) = moment.as_hms_nano();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanosecond:09}Z")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn dates_are_right_over_leap_years() {
        let at = |seconds| rfc3339(UNIX_EPOCH + Duration::new(seconds, 5));
        assert_eq!(at(0), "1970-01-01T00:00:00.000000005Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000000005Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59.000000005Z");
        assert_eq!(at(1_795_257_000), "2026-11-21T10:30:00.000000005Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000000005Z");
    }
}
