//! Durations in Go's syntax, such as `1h30m`: in the language, in flags and in arguments of providers and backends.

use std::time::Duration;

use thiserror::Error;

/// The reason why a string is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DurationError {
    /// The string has another form, or the duration is too long.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number has no unit.
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    /// A number has a unit that does not exist.
    #[error("time: unknown unit {unit:?} in duration {duration:?}")]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole duration.
        duration: String,
    },
}

/// Parses a duration that is not negative, such as `500ms`, `1.5h` or `1h30m`; `None` if it is invalid.
pub fn parse_unsigned(text: &str) -> Option<Duration> {
    let nanoseconds = parse_duration(text).ok()?;
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

/// Parses a duration such as `1h30m` or `-1.5s`, in nanoseconds.
///
/// # Errors
/// The text has another form, a number has no known unit, or the duration is longer than 292 years.
pub fn parse_duration(text: &str) -> Result<i64, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
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
            "" => return Err(DurationError::MissingUnit(text.to_owned())),
            _ => return Err(DurationError::UnknownUnit { unit: unit.to_owned(), duration: text.to_owned() }),
        };
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let mut part = whole.checked_mul(scale).ok_or_else(invalid)?;
        let mut digit_value = scale;
        for digit in fraction.bytes() {
            digit_value /= 10;
            part += i128::from(digit - b'0') * digit_value;
        }
        total = total.checked_add(part).ok_or_else(invalid)?;
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn durations_add_up() {
        assert_eq!(parse_duration("1h30m"), Ok(5_400 * SECOND));
        assert_eq!(parse_duration("-1.5s"), Ok(-1_500_000_000));
        assert_eq!(parse_duration("0"), Ok(0));
        for wrong in ["", "-", "1", "1d", "x", "1.2.3s", ".s", "9999999999h"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn unsigned_durations_are_numbers_with_units() {
        let valid = [
            ("500ms", 500_000),
            ("2s", 2_000_000),
            ("1h30m", 5_400_000_000),
            ("0.1s", 100_000),
            (".5m", 30_000_000),
            ("1.5h", 5_400_000_000),
            ("20us", 20),
            ("1s1s", 2_000_000),
        ];
        for (text, microseconds) in valid {
            assert_eq!(parse_unsigned(text), Some(Duration::from_micros(microseconds)), "{text}");
        }
        for wrong in ["", "s", "5", "5d", "-5s", "5 s", "é", "5sé", ".s", "1.2.3s", "18446744073709551615h", "5000000h"]
        {
            assert_eq!(parse_unsigned(wrong), None, "{wrong}");
        }
    }
}
