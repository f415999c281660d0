//! Formatting numbers as decimals.

use super::float::{self, Parts};
use super::leading::leading_digits;
use super::{Number, Repr};
use dashu_int::UBig;
use std::fmt;

/// The binary exponent above which exact decimal expansion is too slow, and leading digits are approximated first.
const FAR: u64 = 4096;

/// A positive decimal: `0.d1d2d3… * 10^exponent`, digits in ASCII without trailing zeros.
struct Decimal {
    digits: Vec<u8>,
    exponent: i64,
}

impl Number {
    /// Appends the `Display` form, without the formatting machinery for small non-negative integers.
    pub(crate) fn push_to(&self, text: &mut String) {
        use fmt::Write;
        match self.0 {
            Repr::Small { value: value @ 0.., precision } if 64 - value.leading_zeros() <= u32::from(precision) => {
                push_digits(value, text);
            }
            // Writing into a string cannot fail.
            _ => write!(text, "{self}").unwrap_or_default(),
        }
    }
}

fn push_digits(value: i64, text: &mut String) {
    if value >= 10 {
        push_digits(value / 10, text);
    }
    text.push(char::from(b'0' + (value % 10) as u8));
}

impl fmt::Display for Number {
    /// Writes the shortest decimal that parses to this number at its precision, never in exponent form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Repr::Small { value, precision } = &self.0
            && 64 - value.unsigned_abs().leading_zeros() <= u32::from(*precision)
        {
            return fmt::Display::fmt(value, f);
        }
        let sign = if self.is_negative() { "-" } else { "" };
        let Some(parts) = self.parts() else {
            return f.write_str(if self.is_negative() { "-Inf" } else { "+Inf" });
        };
        if parts.mantissa.is_zero() {
            return write!(f, "{sign}0");
        }
        if let Some(short) = self.short_text() {
            return f.write_str(&short);
        }
        write!(f, "{sign}{}", shortest(&parts, self.precision()).plain())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}p{}", self.precision())
    }
}

impl Number {
    /// Formats with at most ten significant digits, in exponent form for very large or small numbers.
    /// Sets with structured elements are ordered by this text, as in Terraform.
    pub(crate) fn to_short_general(&self) -> String {
        const DIGITS: usize = 10;
        let sign = if self.is_negative() { "-" } else { "" };
        let Some(parts) = self.parts() else {
            return if self.is_negative() { "-Inf".into() } else { "+Inf".into() };
        };
        if let Repr::Small { value, .. } = &self.0
            && value.unsigned_abs() < 10_000_000_000
        {
            return value.to_string();
        }
        if parts.mantissa.is_zero() {
            return format!("{sign}0");
        }
        let mut decimal = Decimal::beginning(&parts.mantissa, parts.exponent, DIGITS + 2);
        decimal.round(DIGITS);
        let point = decimal.exponent - 1;
        // Go's %g switches to exponent form at the precision, or at the digit count if that reaches the point.
        let have = decimal.digits.len() as i64;
        let limit = if DIGITS as i64 > have && have >= decimal.exponent { have } else { DIGITS as i64 };
        if point < -4 || point >= limit {
            let (first, rest) = decimal.text().split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            let exponent_sign = if point < 0 { '-' } else { '+' };
            return format!("{sign}{first}{dot}{rest}e{exponent_sign}{:02}", point.abs());
        }
        format!("{sign}{}", decimal.plain())
    }

    /// Formats a fraction through the shortest decimal of the nearest hardware float, if that parses to this number.
    /// This covers most fractions in use.
    fn short_text(&self) -> Option<String> {
        let near = self.to_f64();
        let magnitude = near.abs();
        if !(1e-9..1e15).contains(&magnitude) {
            return None;
        }
        let text = format!("{near}");
        let read = Number::parse_at(&text, self.precision()).ok()?;
        (read == *self).then_some(text)
    }
}

impl Decimal {
    /// Returns the exact decimal of `mantissa * 2^exponent`.
    fn of(mantissa: &UBig, exponent: i64) -> Decimal {
        let (text, point) = if exponent >= 0 {
            let text = (mantissa << exponent as usize).to_string();
            let length = text.len() as i64;
            (text, length)
        } else {
            let zeros = mantissa.trailing_zeros().unwrap_or(0).min(exponent.unsigned_abs() as usize);
            let shift = exponent.unsigned_abs() as usize - zeros;
            let text = ((mantissa >> zeros) * UBig::from(5u8).pow(shift)).to_string();
            let length = text.len() as i64;
            (text, length - shift as i64)
        };
        let mut digits = text.into_bytes();
        trim(&mut digits);
        Decimal { digits, exponent: point }
    }

    /// Returns the decimal of `mantissa * 2^exponent`, exact in at least the first `count` digits. If digits are
    /// omitted, a final nonzero digit represents them, so that rounding sees that the number is not a tie.
    fn beginning(mantissa: &UBig, exponent: i64, count: usize) -> Decimal {
        if exponent.unsigned_abs() > FAR.max(8 * count as u64)
            && let Some((mut digits, exponent)) = leading_digits(mantissa, exponent, count)
        {
            // The omitted digits are not all zero, so the last digit must prevent a false tie.
            digits.push(b'1');
            return Decimal { digits, exponent };
        }
        Decimal::of(mantissa, exponent)
    }

    fn at(&self, index: usize) -> u8 {
        self.digits.get(index).copied().unwrap_or(b'0')
    }

    /// Rounds to `count` digits: to nearest, ties to even.
    fn round(&mut self, count: usize) {
        let Some(next) = self.digits.get(count).copied() else { return };
        let up = if next == b'5' && count + 1 == self.digits.len() {
            count > 0 && self.at(count - 1) % 2 == 1
        } else {
            next >= b'5'
        };
        if up { self.round_up(count) } else { self.round_down(count) }
    }

    fn round_down(&mut self, count: usize) {
        self.digits.truncate(count);
        trim(&mut self.digits);
    }

    fn round_up(&mut self, count: usize) {
        self.digits.truncate(count);
        while self.digits.last() == Some(&b'9') {
            self.digits.pop();
        }
        match self.digits.last_mut() {
            Some(last) => *last += 1,
            None => {
                self.digits.push(b'1');
                self.exponent += 1;
            }
        }
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.digits).unwrap_or_default()
    }

    /// The decimal without an exponent.
    fn plain(&self) -> String {
        let digits = self.text();
        if self.exponent <= 0 {
            return format!("0.{}{digits}", "0".repeat(self.exponent.unsigned_abs() as usize));
        }
        let point = self.exponent as usize;
        if point >= digits.len() {
            return format!("{digits}{}", "0".repeat(point - digits.len()));
        }
        let (whole, fraction) = digits.split_at(point);
        format!("{whole}.{fraction}")
    }
}

fn trim(digits: &mut Vec<u8>) {
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
}

/// Returns the shortest decimal that lies between the halfway points to the adjacent numbers at this precision.
fn shortest(parts: &Parts, precision: u32) -> Decimal {
    // Enough digits to distinguish any two adjacent numbers.
    let count = precision as usize * 31 / 100 + 8;
    let mut decimal = Decimal::beginning(&parts.mantissa, parts.exponent, count);
    // Widen the mantissa to one bit more than the precision, so that its lowest bit is half a unit in the last place.
    let length = float::bits(&parts.mantissa);
    let wanted = precision as usize + 1;
    let widened = match length.checked_sub(wanted) {
        // Only zeros are cut off here: the number fits its precision.
        Some(excess) => &parts.mantissa >> excess,
        None => &parts.mantissa << (wanted - length),
    };
    let exponent = parts.exponent + length as i64 - wanted as i64;
    let lower = Decimal::beginning(&(&widened - UBig::ONE), exponent, count);
    let upper = Decimal::beginning(&(&widened + UBig::ONE), exponent, count);
    // By ties-to-even, the halfway points parse to this number only if its mantissa is even.
    let inclusive = !float::bit(&widened, 1);
    for index in 0..decimal.digits.len() {
        let (low, mid, high) = (lower.at(index), decimal.at(index), upper.at(index));
        let down = low != mid || (inclusive && index + 1 == lower.digits.len());
        let up = mid != high && (inclusive || mid + 1 < high || index + 1 < upper.digits.len());
        match (down, up) {
            (true, true) => decimal.round(index + 1),
            (true, false) => decimal.round_down(index + 1),
            (false, true) => decimal.round_up(index + 1),
            (false, false) => continue,
        }
        break;
    }
    decimal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_digits_agree_with_exact_expansion() {
        let mut mantissa = UBig::from(0x9e37_79b9_7f4a_7c15_u64);
        for (round, exponent) in [4097i64, -4097, 5000, -5003, 9999, -12345, 20011, -20021].into_iter().enumerate() {
            mantissa = &mantissa * &mantissa + UBig::from(round);
            mantissa >>= float::bits(&mantissa).saturating_sub(512);
            for count in [12, 40, 170] {
                let exact = Decimal::of(&mantissa, exponent);
                let (digits, point) = leading_digits(&mantissa, exponent, count).expect("no doubt about them");
                assert_eq!((&digits[..], point), (&exact.digits[..count], exact.exponent), "{exponent} {count}");
            }
        }
    }

    #[test]
    fn printing_gives_the_shortest_decimal() {
        for (text, digits, zeros) in [("661e611561", "661", 611_561), ("1e5000", "1", 5000), ("-25e6000", "-25", 6000)]
        {
            let printed = Number::parse(text).map(|number| number.to_string()).unwrap_or_default();
            assert!(
                printed
                    .strip_prefix(digits)
                    .is_some_and(|rest| rest.len() == zeros && rest.bytes().all(|one| one == b'0'))
            );
        }
        let small = Number::parse("-37e-5000").map(|number| number.to_string()).unwrap_or_default();
        let zeros = small.strip_prefix("-0.").and_then(|rest| rest.strip_suffix("37")).unwrap_or_default();
        assert!(zeros.len() == 4998 && zeros.bytes().all(|one| one == b'0'));
    }
}
