//! Addition, subtraction, multiplication, division and remainder.

use super::float::{self, Parts};
use super::{INTEGER_PRECISION, Number, Repr, TEXT_PRECISION};
use dashu_int::UBig;
use dashu_int::ops::DivRem;
use std::cmp::Ordering;

/// Returns two machine integers and the result precision, if that can hold any integer of 64 bits exactly.
fn small_pair(a: &Number, b: &Number) -> Option<(i64, i64, u16)> {
    match (&a.0, &b.0) {
        (Repr::Small { value: x, precision: p }, Repr::Small { value: y, precision: q }) => {
            let precision = *p.max(q);
            // At a lower precision a machine integer would keep bits that the rounded result must not have.
            (u32::from(precision) >= INTEGER_PRECISION).then_some((*x, *y, precision))
        }
        _ => None,
    }
}

impl Number {
    /// Returns the sum, or `None` for infinities of opposite sign.
    pub fn add(&self, other: &Number) -> Option<Number> {
        if let Some((x, y, precision)) = small_pair(self, other)
            && let Some(value) = x.checked_add(y)
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        let precision = self.precision().max(other.precision());
        let (Some(a), Some(b)) = (self.parts(), other.parts()) else {
            // Only infinities have no parts, so at least one operand is infinite here.
            return match (self.is_infinite(), other.is_infinite()) {
                (true, true) if self.is_negative() != other.is_negative() => None,
                (true, _) => Some(self.clone()),
                _ => Some(other.clone()),
            };
        };
        Some(sum(a, b, precision))
    }

    /// Returns the difference, or `None` for infinities of equal sign.
    pub fn subtract(&self, other: &Number) -> Option<Number> {
        if let Some((x, y, precision)) = small_pair(self, other)
            && let Some(value) = x.checked_sub(y)
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        self.add(&other.negate())
    }

    /// Returns the negated number. Zero becomes negative zero, as in Terraform, where it is visible as `-0`.
    #[must_use]
    pub fn negate(&self) -> Number {
        match (&self.0, self.parts()) {
            // Machine integers have neither a negative zero nor a negation of the least integer.
            (Repr::Small { value, precision }, _) if *value != 0 && *value != i64::MIN => {
                Number(Repr::Small { value: -value, precision: *precision })
            }
            (_, Some(parts)) => Parts { negative: !parts.negative, ..parts }.exactly(self.precision()),
            (_, None) => Number::infinite(!self.is_negative()),
        }
    }

    /// Returns the absolute value.
    #[must_use]
    pub fn absolute(&self) -> Number {
        if self.is_negative() { self.negate() } else { self.clone() }
    }

    /// Returns the product, or `None` for zero times infinity.
    ///
    /// The precision grows to up to 512 bits if the exact product needs it.
    pub fn multiply(&self, other: &Number) -> Option<Number> {
        if let Some((x, y, precision)) = small_pair(self, other)
            && let Some(value) = x.checked_mul(y)
            // A product of zero and a negative number is negative zero, which a machine integer cannot hold.
            && (value != 0 || (x >= 0 && y >= 0))
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        let negative = self.is_negative() != other.is_negative();
        let (Some(a), Some(b)) = (self.parts(), other.parts()) else {
            return (!self.is_zero() && !other.is_zero()).then(|| Number::infinite(negative));
        };
        let product = Parts { negative, mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent }
            .rounded(TEXT_PRECISION);
        // Unlike sums and quotients, a product is not rounded to the precision of its operands if it needs more bits.
        let needed = product.mantissa_bits();
        Some(product.with_precision(self.precision().max(other.precision()).max(needed)))
    }

    /// Returns the quotient. Division by zero gives an infinity; `0 / 0` and infinity by infinity give `None`.
    pub fn divide(&self, other: &Number) -> Option<Number> {
        if let Some((x, y, precision)) = small_pair(self, other)
            // Zero by a negative number is negative zero, and a quotient with a remainder needs a fraction.
            && x != 0
            && let Some(0) = x.checked_rem(y)
            && let Some(value) = x.checked_div(y)
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        let negative = self.is_negative() != other.is_negative();
        let precision = self.precision().max(other.precision());
        match (self.parts(), other.parts()) {
            (None, None) => None,
            (None, Some(_)) => Some(Number::infinite(negative)),
            (Some(_), None) => Some(zero(negative, precision)),
            (Some(a), Some(b)) => match (a.mantissa.is_zero(), b.mantissa.is_zero()) {
                (true, true) => None,
                (true, false) => Some(zero(negative, precision)),
                (false, true) => Some(Number::infinite(negative)),
                (false, false) => Some(quotient(&a, &b, negative, precision)),
            },
        }
    }

    /// Returns the remainder of the division truncated towards zero, which has the sign of `self`.
    /// A modulus of zero returns `self`; infinities give `None`.
    pub fn modulo(&self, other: &Number) -> Option<Number> {
        // This case precedes the one of infinities: an infinity modulo zero is the infinity itself.
        if other.is_zero() {
            return Some(self.clone());
        }
        if self.is_infinite() || other.is_infinite() {
            return None;
        }
        if let Some((x, y, _)) = small_pair(self, other)
            && let Repr::Small { precision, .. } = self.0
            && u32::from(precision) >= INTEGER_PRECISION
            && let Some(value) = x.checked_rem(y)
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        let whole = self.divide(other)?.truncate();
        // Terraform stores the integer quotient in a copy of the dividend, which has the dividend's
        // precision.
        let precision = self.precision();
        let whole = whole.with_precision(precision);
        let product = other.multiply_at(&whole, precision)?;
        let (a, b) = (self.parts()?, product.negate().parts()?);
        Some(sum(a, b, precision))
    }

    /// Returns the product of finite numbers, rounded to `precision` bits.
    pub(super) fn multiply_at(&self, other: &Number, precision: u32) -> Option<Number> {
        let (a, b) = (self.parts()?, other.parts()?);
        let negative = a.negative != b.negative;
        Some(
            Parts { negative, mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent }.rounded(precision),
        )
    }

    /// Returns the quotient of finite, nonzero numbers, rounded to `precision` bits.
    pub(super) fn divide_at(&self, other: &Number, precision: u32) -> Option<Number> {
        let (a, b) = (self.parts()?, other.parts()?);
        (!a.mantissa.is_zero() && !b.mantissa.is_zero()).then(|| quotient(&a, &b, a.negative != b.negative, precision))
    }

    /// The number of significant bits of the mantissa.
    fn mantissa_bits(&self) -> u32 {
        match self.parts() {
            Some(parts) => {
                let zeros = parts.mantissa.trailing_zeros().unwrap_or(0);
                (float::bits(&parts.mantissa) - zeros) as u32
            }
            None => 0,
        }
    }
}

fn zero(negative: bool, precision: u32) -> Number {
    Parts { negative, mantissa: UBig::ZERO, exponent: 0 }.exactly(precision)
}

/// Adds two finite numbers. The result is negative zero only if both operands are.
fn sum(a: Parts, b: Parts, precision: u32) -> Number {
    if a.mantissa.is_zero() && b.mantissa.is_zero() {
        return zero(a.negative && b.negative, precision);
    }
    if a.mantissa.is_zero() {
        return b.rounded(precision);
    }
    if b.mantissa.is_zero() {
        return a.rounded(precision);
    }
    let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let shift = high.exponent - low.exponent;
    let top_gap = shift + float::bits(&high.mantissa) as i64 - float::bits(&low.mantissa) as i64;
    let reach = i64::from(precision) + float::bits(&high.mantissa) as i64 + 8;
    let (high_mantissa, low_mantissa, exponent) = if top_gap > reach {
        // The smaller operand is beyond the rounding position. It can only break a tie, so a single distant bit
        // replaces it instead of a shift by possibly millions of bits.
        let shift = reach as usize;
        (high.mantissa << shift, UBig::ONE, high.exponent - reach)
    } else {
        (high.mantissa << shift as usize, low.mantissa, low.exponent)
    };
    let (negative, mantissa) = if high.negative == low.negative {
        (high.negative, high_mantissa + low_mantissa)
    } else {
        match high_mantissa.cmp(&low_mantissa) {
            Ordering::Equal => return zero(false, precision),
            Ordering::Greater => (high.negative, high_mantissa - low_mantissa),
            Ordering::Less => (low.negative, low_mantissa - high_mantissa),
        }
    };
    Parts { negative, mantissa, exponent }.rounded(precision)
}

/// Divides two finite, nonzero numbers.
fn quotient(a: &Parts, b: &Parts, negative: bool, precision: u32) -> Number {
    // Two bits more than the precision: one to round, and one because the quotient may have one bit less than expected.
    let wanted = precision as usize + 2 + float::bits(&b.mantissa);
    let shift = wanted.saturating_sub(float::bits(&a.mantissa));
    let (mantissa, remainder) = (&a.mantissa << shift).div_rem(&b.mantissa);
    Parts { negative, mantissa, exponent: a.exponent - b.exponent - shift as i64 }
        .rounded_with(precision, !remainder.is_zero())
}
