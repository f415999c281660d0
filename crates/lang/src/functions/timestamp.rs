//! Moments in RFC 3339 notation, durations, and date patterns.

use std::fmt::Write as _;

use time::{Date, Month, Time, UtcDateTime};

const NANOSECONDS: i64 = 1_000_000_000;

/// A moment together with the offset from UTC in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub(super) seconds: i64,
    /// Nanoseconds within the second.
    pub(super) nanoseconds: i64,
    /// Seconds east of UTC.
    pub(super) offset: i64,
}

/// A moment taken apart in its own offset.
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    weekday: i64,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A day of the calendar, when it has that day.
fn date(year: i64, month: i64, day: i64) -> Option<Date> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    Date::from_calendar_date(year.try_into().ok()?, month, day.try_into().ok()?).ok()
}

fn out_of_range(what: &str) -> String {
    format!("this is no timestamp of RFC 3339: the {what} is out of range")
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn digits(&mut self, count: usize, what: &str) -> Result<i64, String> {
        if self.rest.is_empty() {
            return Err(format!("this is no timestamp of RFC 3339: it ends where the {what} should stand"));
        }
        let found = self.rest.get(..count).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(found) = found else {
            return Err(format!("this is no timestamp of RFC 3339: {:?} stands where the {what} should be", self.rest));
        };
        self.rest = self.rest.get(count..).unwrap_or_default();
        found
            .parse()
            .map_err(|_| format!("this is no timestamp of RFC 3339: {found:?} stands where the {what} should be"))
    }

    fn literal(&mut self, wanted: char) -> Result<(), String> {
        if let Some(rest) = self.rest.strip_prefix(wanted) {
            self.rest = rest;
            return Ok(());
        }
        Err(if wanted == 'T' {
            "this is no timestamp of RFC 3339: there is no 'T' between the date and the time".to_owned()
        } else if self.rest.is_empty() {
            format!("this is no timestamp of RFC 3339: it ends where {:?} should stand", wanted.to_string())
        } else {
            format!("this is no timestamp of RFC 3339: {:?} stands where {:?} should be", self.rest, wanted.to_string())
        })
    }

    fn within(&mut self, count: usize, range: std::ops::RangeInclusive<i64>, what: &str) -> Result<i64, String> {
        let number = self.digits(count, what)?;
        if range.contains(&number) { Ok(number) } else { Err(out_of_range(what)) }
    }

    fn fraction(&mut self) -> Result<i64, String> {
        let Some(rest) = self.rest.strip_prefix('.') else { return Ok(0) };
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return Err(format!(
                "this is no timestamp of RFC 3339: {:?} stands where the UTC offset should be",
                self.rest
            ));
        }
        let (digits, rest) = rest.split_at(length);
        self.rest = rest;
        let nine: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
        Ok(nine.parse().unwrap_or(0))
    }

    fn offset(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let sign = match self.rest.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            None => {
                return Err("this is no timestamp of RFC 3339: it ends where the UTC offset should stand".to_owned());
            }
            Some(_) => {
                return Err(format!(
                    "this is no timestamp of RFC 3339: {:?} stands where the UTC offset should be",
                    self.rest
                ));
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
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text };
        let year = reader.digits(4, "year")?;
        reader.literal('-')?;
        let month = reader.within(2, 1..=12, "month")?;
        reader.literal('-')?;
        let day = reader.digits(2, "day of month")?;
        let date = date(year, month, day).ok_or_else(|| out_of_range("day of month"))?;
        reader.literal('T')?;
        let hour = reader.within(2, 0..=23, "hour")?;
        reader.literal(':')?;
        let minute = reader.within(2, 0..=59, "minute")?;
        reader.literal(':')?;
        let second = reader.within(2, 0..=59, "second")?;
        let nanoseconds = reader.fraction()?;
        let offset = reader.offset()?;
        if !reader.rest.is_empty() {
            return Err(format!("this is no timestamp of RFC 3339: {:?} follows its end", reader.rest));
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

    /// What orders moments regardless of their offsets.
    pub(super) fn instant(self) -> (i64, i64) {
        (self.seconds, self.nanoseconds)
    }

    fn civil(self) -> Civil {
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

    fn offset_text(self, separator: &str) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }

    fn zone(self) -> String {
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

    /// Renders by a pattern of letter runs (`YYYY-MM-DD`) and quoted text.
    pub(super) fn format(self, pattern: &str) -> Result<String, String> {
        let civil = self.civil();
        let mut out = String::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            if first == '\'' {
                rest = quoted(rest, &mut out)?;
                continue;
            }
            let letter = first.is_ascii_alphabetic();
            let end = rest
                .find(|next: char| if letter { next != first } else { next == '\'' || next.is_ascii_alphabetic() })
                .unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            if letter {
                self.verb(token, &civil, &mut out)?
            } else {
                out.push_str(token)
            }
            rest = after;
        }
        Ok(out)
    }

    fn verb(self, token: &str, civil: &Civil, out: &mut String) -> Result<(), String> {
        let invalid = |allowed: &str| Err(format!("invalid date format verb {token:?}: {allowed}"));
        let number = |number: i64, allowed: &str, out: &mut String| {
            match token.len() {
                1 => push(out, format_args!("{number}")),
                2 => push(out, format_args!("{number:02}")),
                _ => return invalid(allowed),
            }
            Ok(())
        };
        match token.as_bytes().first() {
            Some(b'Y') => match token.len() {
                2 => push(out, format_args!("{:02}", civil.year % 100)),
                4 => push(out, format_args!("{:04}", civil.year)),
                _ => return invalid("a year is either \"YY\" or \"YYYY\""),
            },
            Some(b'M') => match token.len() {
                3 | 4 => out.push_str(name(&MONTHS, civil.month - 1, token.len())),
                _ => number(civil.month, "a month is \"M\", \"MM\", \"MMM\", or \"MMMM\"", out)?,
            },
            Some(b'D') => number(civil.day, "a day of the month is either \"D\" or \"DD\"", out)?,
            Some(b'E') => match token.len() {
                3 | 4 => out.push_str(name(&WEEKDAYS, civil.weekday, token.len())),
                _ => return invalid("a day of the week is either \"EEE\" or \"EEEE\""),
            },
            Some(b'h') => number(civil.hour, "the 24-hour clock is either \"h\" or \"hh\"", out)?,
            Some(b'H') => number((civil.hour + 11) % 12 + 1, "the 12-hour clock is either \"H\" or \"HH\"", out)?,
            Some(half @ (b'A' | b'a')) => {
                if token.len() != 2 {
                    let letter = char::from(*half);
                    return invalid(&format!("it is written \"{letter}{letter}\""));
                }
                out.push_str(match (civil.hour < 12, half) {
                    (true, b'A') => "AM",
                    (true, _) => "am",
                    (false, b'A') => "PM",
                    (false, _) => "pm",
                });
            }
            Some(b'm') => number(civil.minute, "a minute is either \"m\" or \"mm\"", out)?,
            Some(b's') => number(civil.second, "a second is either \"s\" or \"ss\"", out)?,
            Some(b'Z') => match token.len() {
                1 => out.push_str(&self.zone()),
                3 if self.offset == 0 => out.push_str("UTC"),
                3 | 4 => out.push_str(&self.offset_text("")),
                5 => out.push_str(&self.offset_text(":")),
                _ => return invalid("a timezone is Z, ZZZ, ZZZZ, or ZZZZZ"),
            },
            _ => return Err(format!("invalid date format verb {token:?}")),
        }
        Ok(())
    }
}

/// The name at `index`: whole, or the first three letters.
fn name(names: &[&'static str], index: i64, letters: usize) -> &'static str {
    let name = usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or_default();
    if letters == 3 { name.get(..3).unwrap_or(name) } else { name }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

/// Copies a quoted literal to `out` and gives what follows it; two quotes in a row stand for one, and at the end of the pattern they end
/// the literal too.
fn quoted<'a>(text: &'a str, out: &mut String) -> Result<&'a str, String> {
    if let Some(rest) = text.strip_prefix("''") {
        out.push('\'');
        return Ok(rest);
    }
    let mut rest = text.get(1..).unwrap_or_default();
    loop {
        let Some(end) = rest.find('\'') else { return Err("unterminated literal '".to_owned()) };
        let (literal, after) = rest.split_at(end);
        out.push_str(literal);
        match after.strip_prefix("''") {
            Some(more) => {
                out.push('\'');
                if more.is_empty() {
                    return Ok(more);
                }
                rest = more;
            }
            None => return Ok(after.get(1..).unwrap_or_default()),
        }
    }
}

/// Reads a duration such as `1h30m` or `-1.5s`, in nanoseconds.
pub fn parse_duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let number_length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, after) = rest.split_at(number_length);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') || number.len() > 30 {
            return Err(invalid());
        }
        let unit_length = after.find(|next: char| next == '.' || next.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_length);
        let scale: i128 = match unit {
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "" => return Err(format!("time: missing unit in duration {text:?}")),
            _ => return Err(format!("time: unknown unit {unit:?} in duration {text:?}")),
        };
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let mut part = whole.checked_mul(scale).ok_or_else(invalid)?;
        let mut place = scale;
        for digit in fraction.bytes() {
            place /= 10;
            part += i128::from(digit - b'0') * place;
        }
        total = total.checked_add(part).ok_or_else(invalid)?;
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_survive_the_way_to_days_and_back() {
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
    fn patterns_know_all_verbs() {
        let moment = Timestamp::parse("2018-01-02T15:04:05+01:00").unwrap();
        let shown =
            moment.format("EEEE, DD-MMM-YY hh:mm:ss ZZZ 'o''clock' H aa AA D M MM MMMM YYYY EEE ZZZZ ZZZZZ Z").unwrap();
        assert_eq!(
            shown,
            "Tuesday, 02-Jan-18 15:04:05 +0100 o'clock 3 pm PM 2 1 01 January 2018 Tue +0100 +01:00 +01:00"
        );
        assert!(moment.format("YYY").is_err());
        assert!(moment.format("'open").is_err());
        assert!(moment.format("q").is_err());
    }

    #[test]
    fn durations_add_up() {
        assert_eq!(parse_duration("1h30m"), Ok(5_400 * NANOSECONDS));
        assert_eq!(parse_duration("-1.5s"), Ok(-1_500_000_000));
        assert_eq!(parse_duration("0"), Ok(0));
        for wrong in ["", "-", "1", "1d", "x", "1.2.3s", ".s", "9999999999h"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
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
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
