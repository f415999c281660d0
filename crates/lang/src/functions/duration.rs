//! Durations such as `1h30m`.

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

/// Reads a duration such as `1h30m` or `-1.5s`, in nanoseconds.
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
}
