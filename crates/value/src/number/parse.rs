//! Numbers from decimal text.

use super::float::{MAX_EXPONENT, Parts, bits};
use super::{INTEGER_PRECISION, Number, Repr, TEXT_PRECISION};
use dashu_int::UBig;
use std::str::FromStr;

/// The text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a number is required")]
pub struct NumberParseError;

/// Decimal exponents beyond this are refused, so that a short text cannot become a huge one.
const MAX_DECIMAL_EXPONENT: i64 = 1_000_000;

impl Number {
    /// Reads a decimal such as `-12.5e3`, at 512 bits.
    ///
    /// # Errors
    /// If the text is not a number, or its exponent is absurd (beyond a million).
    pub fn parse(text: &str) -> Result<Number, NumberParseError> {
        Number::parse_at(text, TEXT_PRECISION)
    }

    /// Reads the digits of a whole number such as `-12`, at as many bits as it takes: 64 at least.
    ///
    /// # Errors
    /// If the text is anything else.
    pub fn parse_whole(text: &str) -> Result<Number, NumberParseError> {
        let (negative, whole) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        if whole.is_empty() || !whole.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(NumberParseError);
        }
        let mantissa = whole_number(&Digits { whole, fraction: "" })?;
        let precision = u32::try_from(bits(&mantissa)).map_err(|_| NumberParseError)?.max(INTEGER_PRECISION);
        Ok(Parts { negative: negative && !mantissa.is_zero(), mantissa, exponent: 0 }.exactly(precision))
    }

    /// Reads a decimal at this precision.
    pub(super) fn parse_at(text: &str, precision: u32) -> Result<Number, NumberParseError> {
        if let Some(value) = small_integer(text)
            && precision >= 64
            && let Ok(precision) = u16::try_from(precision)
        {
            return Ok(Number(Repr::Small { value, precision }));
        }
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "Inf" || rest == "inf" {
            return Ok(Number::infinite(negative));
        }
        let Unsigned { digits, fraction_digits, decimal_exponent, binary_exponent } = unsigned(rest)?;
        let mantissa = whole_number(&digits)?;
        let five = decimal_exponent - fraction_digits;
        if mantissa.is_zero() {
            return Ok(Parts { negative, mantissa, exponent: 0 }.exactly(precision));
        }
        let parts = Parts { negative, mantissa, exponent: five + binary_exponent };
        if five == 0 {
            return Ok(parts.rounded(precision));
        }
        Ok(scaled_by_five(parts, five, precision))
    }
}

impl FromStr for Number {
    type Err = NumberParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Number::parse(text)
    }
}

/// The digits before and after the point.
struct Digits<'a> {
    whole: &'a str,
    fraction: &'a str,
}

/// Returns the integer of all digits together.
fn whole_number(digits: &Digits<'_>) -> Result<UBig, NumberParseError> {
    /// So many digits fit a machine integer.
    const FEW: usize = 19;
    if digits.whole.len() + digits.fraction.len() <= FEW {
        let all = digits.whole.bytes().chain(digits.fraction.bytes());
        return Ok(UBig::from(all.fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'))));
    }
    format!("{}{}", digits.whole, digits.fraction).parse().map_err(|_| NumberParseError)
}

/// Plain digits of a machine integer, which are most numbers there are.
fn small_integer(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, bytes),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    match (negative, value) {
        (false, _) => Some(value),
        (true, 0) => None,
        (true, _) => Some(-value),
    }
}

struct Unsigned<'a> {
    digits: Digits<'a>,
    fraction_digits: i64,
    decimal_exponent: i64,
    binary_exponent: i64,
}

fn unsigned(text: &str) -> Result<Unsigned<'_>, NumberParseError> {
    let end = text.find(['e', 'E', 'p', 'P']).unwrap_or(text.len());
    let (significand, suffix) = text.split_at(end);
    let (whole, fraction) = significand.split_once('.').unwrap_or((significand, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
        return Err(NumberParseError);
    }
    let (mut decimal_exponent, mut binary_exponent) = (0, 0);
    if let Some(kind) = suffix.bytes().next() {
        let exponent = exponent(&suffix[1..])?;
        if kind.eq_ignore_ascii_case(&b'e') {
            decimal_exponent = limited(exponent, MAX_DECIMAL_EXPONENT)?;
        } else {
            binary_exponent = limited(exponent, MAX_EXPONENT)?;
        }
    }
    Ok(Unsigned {
        digits: Digits { whole, fraction },
        fraction_digits: fraction.len() as i64,
        decimal_exponent,
        binary_exponent,
    })
}

fn exponent(text: &str) -> Result<i64, NumberParseError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberParseError);
    }
    text.parse().map_err(|_| NumberParseError)
}

fn limited(exponent: i64, limit: i64) -> Result<i64, NumberParseError> {
    if exponent.abs() > limit { Err(NumberParseError) } else { Ok(exponent) }
}

/// `parts * 5^power`, rounded once, where the power of five itself has only 64 bits more than the result
/// beyond some 250 digits: numbers in that range must agree with Terraform's to the last bit.
fn scaled_by_five(parts: Parts, power: i64, precision: u32) -> Number {
    let number = parts.exactly(u32::MAX);
    let factor = power_of_five(power.unsigned_abs(), precision + 64);
    let scaled = if power < 0 { number.divide_at(&factor, precision) } else { number.multiply_at(&factor, precision) };
    scaled.unwrap_or(Number::ZERO)
}

fn power_of_five(power: u64, precision: u32) -> Number {
    const TABLE: u64 = 27;
    if power <= TABLE {
        return Number::from(5u64.pow(power as u32)).with_precision(precision);
    }
    let mut result = Number::from(5u64.pow(TABLE as u32)).with_precision(precision);
    let mut factor = Number::from(5u64).with_precision(precision + 64);
    let mut rest = power - TABLE;
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.multiply_at(&factor, precision).unwrap_or(result);
        }
        rest >>= 1;
        if rest > 0 {
            factor = factor.multiply_at(&factor, precision + 64).unwrap_or(factor);
        }
    }
    result
}
