//! Moments in RFC 3339 notation.

use thiserror::Error;
use time::{Date, Month, Time, UtcDateTime};

const NANOSECONDS: i64 = 1_000_000_000;

/// A moment together with the offset from UTC in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timestamp {
    /// Seconds since the Unix epoch, 1970-01-01T00:00:00Z.
    pub(super) seconds: i64,
    /// Nanoseconds within the second.
    pub(super) nanoseconds: i64,
    /// Seconds east of UTC.
    pub(super) offset: i64,
}

/// A moment taken apart in its own offset.
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) weekday: i64,
}

/// A day of the calendar, when it has that day.
fn date(year: i64, month: i64, day: i64) -> Option<Date> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    Date::from_calendar_date(year.try_into().ok()?, month, day.try_into().ok()?).ok()
}

/// The reason why a string is not a timestamp of RFC 3339.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum TimestampError {
    #[error("this is no timestamp of RFC 3339: it ends where the {0} should stand")]
    EndsBefore(&'static str),
    #[error("this is no timestamp of RFC 3339: {found:?} stands where the {expected} should be")]
    Unexpected { found: String, expected: &'static str },
    #[error("this is no timestamp of RFC 3339: the {0} is out of range")]
    OutOfRange(&'static str),
    #[error("this is no timestamp of RFC 3339: there is no 'T' between the date and the time")]
    NoTime,
    #[error("this is no timestamp of RFC 3339: it ends where \"{0}\" should stand")]
    EndsBeforeSeparator(char),
    #[error("this is no timestamp of RFC 3339: {found:?} stands where \"{expected}\" should be")]
    NoSeparator { found: String, expected: char },
    #[error("this is no timestamp of RFC 3339: {0:?} follows its end")]
    Trailing(String),
}

struct TimestampReader<'a> {
    rest: &'a str,
}

impl TimestampReader<'_> {
    fn unexpected(&self, expected: &'static str) -> TimestampError {
        TimestampError::Unexpected { found: self.rest.to_owned(), expected }
    }

    fn digits(&mut self, count: usize, what: &'static str) -> Result<i64, TimestampError> {
        if self.rest.is_empty() {
            return Err(TimestampError::EndsBefore(what));
        }
        let found = self.rest.get(..count).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(found) = found else {
            return Err(self.unexpected(what));
        };
        self.rest = self.rest.get(count..).unwrap_or_default();
        found.parse().map_err(|_| TimestampError::Unexpected { found: found.to_owned(), expected: what })
    }

    fn literal(&mut self, wanted: char) -> Result<(), TimestampError> {
        if let Some(rest) = self.rest.strip_prefix(wanted) {
            self.rest = rest;
            return Ok(());
        }
        Err(if wanted == 'T' {
            TimestampError::NoTime
        } else if self.rest.is_empty() {
            TimestampError::EndsBeforeSeparator(wanted)
        } else {
            TimestampError::NoSeparator { found: self.rest.to_owned(), expected: wanted }
        })
    }

    fn within(
        &mut self,
        count: usize,
        range: std::ops::RangeInclusive<i64>,
        what: &'static str,
    ) -> Result<i64, TimestampError> {
        let number = self.digits(count, what)?;
        if range.contains(&number) { Ok(number) } else { Err(TimestampError::OutOfRange(what)) }
    }

    fn fraction(&mut self) -> Result<i64, TimestampError> {
        let Some(rest) = self.rest.strip_prefix('.') else { return Ok(0) };
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return Err(self.unexpected("UTC offset"));
        }
        let (digits, rest) = rest.split_at(length);
        self.rest = rest;
        let nine: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
        Ok(nine.parse().unwrap_or(0))
    }

    fn offset(&mut self) -> Result<i64, TimestampError> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let sign = match self.rest.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            None => {
                return Err(TimestampError::EndsBefore("UTC offset"));
            }
            Some(_) => {
                return Err(self.unexpected("UTC offset"));
            }
        };
        self.rest = self.rest.get(1..).unwrap_or_default();
        let hours = self.within(2, 0..=23, "UTC offset")?;
        self.literal(':')?;
        let minutes = self.within(2, 0..=59, "UTC offset")?;
        Ok(sign * (hours * 3_600 + minutes * 60))
    }
}

impl Timestamp {
    /// Reads RFC 3339; the message of an error says which part is at fault.
    pub(super) fn parse(text: &str) -> Result<Self, TimestampError> {
        let mut reader = TimestampReader { rest: text };
        let year = reader.digits(4, "year")?;
        reader.literal('-')?;
        let month = reader.within(2, 1..=12, "month")?;
        reader.literal('-')?;
        let day = reader.digits(2, "day of month")?;
        let date = date(year, month, day).ok_or(TimestampError::OutOfRange("day of month"))?;
        reader.literal('T')?;
        let hour = reader.within(2, 0..=23, "hour")?;
        reader.literal(':')?;
        let minute = reader.within(2, 0..=59, "minute")?;
        reader.literal(':')?;
        let second = reader.within(2, 0..=59, "second")?;
        let nanoseconds = reader.fraction()?;
        let offset = reader.offset()?;
        if !reader.rest.is_empty() {
            return Err(TimestampError::Trailing(reader.rest.to_owned()));
        }
        let midnight = UtcDateTime::new(date, Time::MIDNIGHT).unix_timestamp();
        let local = midnight + hour * 3_600 + minute * 60 + second;
        Ok(Self { seconds: local - offset, nanoseconds, offset })
    }

    /// The moment `seconds` after 1970, in UTC.
    pub(super) fn utc(seconds: i64) -> Self {
        Self { seconds, nanoseconds: 0, offset: 0 }
    }

    /// The moment `duration` later (nanoseconds; negative is earlier), in the same offset.
    pub(super) fn add(self, duration: i64) -> Self {
        let nanoseconds = self.nanoseconds + duration.rem_euclid(NANOSECONDS);
        let seconds = self.seconds + duration.div_euclid(NANOSECONDS) + nanoseconds.div_euclid(NANOSECONDS);
        Self { seconds, nanoseconds: nanoseconds.rem_euclid(NANOSECONDS), offset: self.offset }
    }

    /// Returns the instant, which orders timestamps regardless of their offsets.
    pub(super) fn instant(self) -> (i64, i64) {
        (self.seconds, self.nanoseconds)
    }

    pub(super) fn civil(self) -> Civil {
        // A year before 10000 and a duration of nanoseconds never leave the calendar.
        let moment = UtcDateTime::from_unix_timestamp(self.seconds + self.offset).unwrap_or(UtcDateTime::MAX);
        let (year, month, day) = moment.to_calendar_date();
        let (hour, minute, second) = moment.as_hms();
        Civil {
            year: year.into(),
            month: u8::from(month).into(),
            day: day.into(),
            hour: hour.into(),
            minute: minute.into(),
            second: second.into(),
            weekday: moment.weekday().number_days_from_sunday().into(),
        }
    }

    pub(super) fn offset_text(self, separator: &str) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }

    pub(super) fn zone(self) -> String {
        if self.offset == 0 { "Z".to_owned() } else { self.offset_text(":") }
    }

    /// RFC 3339 with whole seconds.
    pub(super) fn rfc3339(self) -> String {
        let Civil { year, month, day, hour, minute, second, .. } = self.civil();
        // The sign of a year before the first is none of its four digits.
        let sign = if year < 0 { "-" } else { "" };
        let year = year.unsigned_abs();
        format!("{sign}{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{}", self.zone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_convert_to_days_and_back() {
        for days in (-800_000..3_000_000).step_by(37) {
            let seconds = days * 86_400;
            let Civil { year, month, day, .. } = Timestamp::utc(seconds).civil();
            let found = date(year, month, day).map(|date| UtcDateTime::new(date, Time::MIDNIGHT).unix_timestamp());
            assert_eq!(found, Some(seconds), "{year}-{month}-{day}");
        }
        assert_eq!(date(2023, 2, 29), None);
        assert_eq!(date(2024, 13, 1), None);
    }

    #[test]
    fn a_timestamp_keeps_its_offset() {
        let moment = Timestamp::parse("2017-11-22T23:59:01-02:30").unwrap();
        assert_eq!(moment.add(59 * NANOSECONDS).rfc3339(), "2017-11-23T00:00:00-02:30");
        assert_eq!(moment.instant(), Timestamp::parse("2017-11-23T02:29:01Z").unwrap().instant());
        assert_eq!(Timestamp::utc(0).rfc3339(), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn wrong_timestamps_name_the_part() {
        for (text, part) in [
            ("", "year"),
            ("2018", "-"),
            ("2018-13-01T00:00:00Z", "month"),
            ("2018-02-30T00:00:00Z", "day"),
            ("2018-01-02 15:04:05Z", "'T'"),
            ("2018-01-02T25:00:00Z", "hour"),
            ("2018-01-02T15:04:05", "offset"),
            ("é", "year"),
        ] {
            let problem = Timestamp::parse(text).unwrap_err();
            assert!(problem.to_string().contains(part), "{text}: {problem}");
        }
    }
}
