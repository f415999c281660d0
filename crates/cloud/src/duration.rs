//! Durations of settings, such as `1h30m`.

use std::time::Duration;

/// Parses a duration in Go's syntax: decimal numbers, each with one of the units `ns`, `us`, `ms`, `s`, `m` and `h`. Returns `None` if it is
/// invalid, negative or longer than 500 years.
pub fn parse_duration(text: &str) -> Option<Duration> {
    /// The nanoseconds of 292 years, Go's limit, and some more.
    const LONGEST: u128 = 500 * 365 * 86_400 * 1_000_000_000;
    let (mut total, mut rest) = (0_u128, text);
    while !rest.is_empty() || text.is_empty() {
        // A number without a unit has no end here and makes the whole duration invalid, as in Go.
        let is_number = |character: char| character.is_ascii_digit() || character == '.';
        let (number, after) = rest.split_at(rest.find(|character| !is_number(character))?);
        let (unit, after) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        let scale: u128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        total = total.checked_add(scaled(number, scale)?).filter(|total| *total <= LONGEST)?;
        rest = after;
    }
    Some(Duration::from_nanos(u64::try_from(total).ok()?))
}

/// Multiplies a decimal number. Digits below one are dropped.
fn scaled(number: &str, scale: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let (mut total, mut digit_scale) = (whole.checked_mul(scale)?, scale);
    for digit in fraction.chars() {
        digit_scale /= 10;
        total += u128::from(digit.to_digit(10)?) * digit_scale;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_units() {
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
            assert_eq!(parse_duration(text), Some(Duration::from_micros(microseconds)), "{text}");
        }
        for wrong in ["", "s", "5", "5d", "-5s", "5 s", "é", "5sé", ".s", "1.2.3s", "18446744073709551615h", "5000000h"]
        {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }
}
