//! Arbitrary-precision numbers with the precision rules of Terraform.
//!
//! A number is a binary floating-point number of any size with an explicit mantissa precision in bits: numbers parsed
//! from text have 512, integers from Rust code 64, and numbers from hardware floats 53.
//! A result has the larger precision of its operands and is rounded to nearest, ties to even. Printing gives the
//! shortest decimal that parses to the same number at that precision.

mod arithmetic;
mod compare;
mod float;
mod leading;
mod parse;
mod print;
mod transcendental;

pub use parse::NumberParseError;

use dashu_int::UBig;
use float::Parts;
use std::sync::Arc;

/// The precision of numbers parsed from text, in bits.
pub const TEXT_PRECISION: u32 = 512;
/// The precision of numbers converted from machine integers, in bits.
pub const INTEGER_PRECISION: u32 = 64;
/// The precision of numbers converted from hardware floats, in bits.
pub const FLOAT_PRECISION: u32 = 53;

/// A number of any size, or an infinity. Numbers that fit an `i64` need no allocation.
#[derive(Clone)]
pub struct Number(Repr);

#[derive(Clone)]
enum Repr {
    /// Every number that an `i64` can hold, except negative zero.
    Small {
        value: i64,
        precision: u16,
    },
    Big(Arc<Big>),
}

struct Big {
    negative: bool,
    precision: u32,
    form: Form,
}

enum Form {
    /// `mantissa * 2^exponent`; the mantissa is odd, or zero for negative zero. Normalized so that equal numbers have
    /// equal parts.
    Finite {
        mantissa: UBig,
        exponent: i64,
    },
    Infinite,
}

impl Number {
    /// Zero, as a machine integer.
    pub const ZERO: Number = Number(Repr::Small { value: 0, precision: INTEGER_PRECISION as u16 });
    /// One, as a machine integer.
    pub const ONE: Number = Number(Repr::Small { value: 1, precision: INTEGER_PRECISION as u16 });

    /// Positive infinity. Expressions never evaluate to it, but plugins may send it.
    pub fn infinity() -> Number {
        Number::infinite(false)
    }

    /// Negative infinity. Expressions never evaluate to it, but plugins may send it.
    pub fn negative_infinity() -> Number {
        Number::infinite(true)
    }

    /// Converts a hardware float; `None` for NaN.
    pub fn from_f64(value: f64) -> Option<Number> {
        if value.is_nan() {
            return None;
        }
        if value.is_infinite() {
            return Some(Number::infinite(value < 0.0));
        }
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let biased = (bits >> 52) & 0x7ff;
        let (mantissa, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased as i64 - 1075) };
        Some(
            Parts { negative: value.is_sign_negative(), mantissa: UBig::from(mantissa), exponent }
                .exactly(FLOAT_PRECISION),
        )
    }

    /// The precision of the mantissa in bits, which results and printing depend on.
    pub fn precision(&self) -> u32 {
        match &self.0 {
            Repr::Small { precision, .. } => u32::from(*precision),
            Repr::Big(big) => big.precision,
        }
    }

    /// Whether this is a finite number without a fraction.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Small { .. } => true,
            Repr::Big(big) => match &big.form {
                Form::Finite { exponent, .. } => *exponent >= 0,
                Form::Infinite => false,
            },
        }
    }

    /// Returns the number that a round trip through a plan file or the plugin protocol gives, if it differs: those
    /// formats have no negative zero, and store 64-bit integers exactly even when the precision is lower.
    pub fn after_round_trip(&self) -> Option<Number> {
        match self.0 {
            Repr::Small { value, precision } => {
                let loses_digits = u32::from(precision) < INTEGER_PRECISION && value.unsigned_abs() >> precision != 0;
                loses_digits.then(|| Number::from(value))
            }
            Repr::Big(_) => (self.is_zero() && self.is_negative()).then_some(Number::ZERO),
        }
    }

    /// Whether the number is zero, positive or negative.
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Repr::Small { value, .. } => *value == 0,
            Repr::Big(big) => matches!(&big.form, Form::Finite { mantissa, .. } if mantissa.is_zero()),
        }
    }

    /// Whether the number is negative, including negative zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small { value, .. } => *value < 0,
            Repr::Big(big) => big.negative,
        }
    }

    /// Whether this is positive or negative infinity.
    pub fn is_infinite(&self) -> bool {
        matches!(&self.0, Repr::Big(big) if matches!(big.form, Form::Infinite))
    }

    /// The number as an `i64`, if it is an integer in range.
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small { value, .. } => Some(*value),
            Repr::Big(_) => self.is_zero().then_some(0),
        }
    }

    /// The number as a `u64`, if it is an integer in range.
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Small { value, .. } => u64::try_from(*value).ok(),
            Repr::Big(_) => {
                if self.is_zero() {
                    return Some(0);
                }
                if self.is_negative() || !self.is_integer() {
                    return None;
                }
                u64::try_from(self.to_integer_magnitude()?).ok()
            }
        }
    }

    /// The number as a `usize`, if it is an integer in range.
    pub fn to_usize(&self) -> Option<usize> {
        self.to_u64().and_then(|value| usize::try_from(value).ok())
    }

    /// The nearest hardware float; out-of-range numbers become infinity or zero.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Repr::Small { value, .. } => *value as f64,
            Repr::Big(big) => {
                let magnitude = match &big.form {
                    Form::Infinite => f64::INFINITY,
                    Form::Finite { mantissa, exponent } => float::nearest_f64(mantissa, *exponent),
                };
                if big.negative { -magnitude } else { magnitude }
            }
        }
    }

    /// The hardware float equal to this number, if one exists.
    pub fn to_f64_exact(&self) -> Option<f64> {
        let near = self.to_f64();
        (Number::from_f64(near)? == *self).then_some(near)
    }

    /// Rounds the mantissa to `precision` bits.
    #[must_use]
    pub fn with_precision(&self, precision: u32) -> Number {
        match self.parts() {
            Some(parts) => parts.rounded(precision.max(1)),
            None => self.clone(),
        }
    }

    fn infinite(negative: bool) -> Number {
        Number(Repr::Big(Arc::new(Big { negative, precision: INTEGER_PRECISION, form: Form::Infinite })))
    }

    /// Sign, mantissa and exponent; `None` for infinities.
    fn parts(&self) -> Option<Parts> {
        match &self.0 {
            Repr::Small { value, .. } => {
                Some(Parts { negative: *value < 0, mantissa: UBig::from(value.unsigned_abs()), exponent: 0 })
            }
            Repr::Big(big) => match &big.form {
                Form::Finite { mantissa, exponent } => {
                    Some(Parts { negative: big.negative, mantissa: mantissa.clone(), exponent: *exponent })
                }
                Form::Infinite => None,
            },
        }
    }

    /// Returns all digits of an integer in a base from 2 to 36, without the sign; `None` for other numbers. Printing,
    /// in contrast, stops at the digits that distinguish the number at its precision and continues with zeros.
    pub fn integer_digits(&self, base: u8) -> Option<String> {
        let magnitude = self.to_integer_magnitude().filter(|_| self.is_integer() && (2..=36).contains(&base))?;
        Some(magnitude.in_radix(base).to_string())
    }

    /// The absolute value of an integer, unless its exponent exceeds the parsing limit.
    fn to_integer_magnitude(&self) -> Option<UBig> {
        let parts = self.parts()?;
        let shift = usize::try_from(parts.exponent).ok().filter(|shift| *shift <= float::MAX_EXPONENT as usize)?;
        Some(parts.mantissa << shift)
    }
}

macro_rules! from_integers {
    ($($small:ty),*) => {$(
        impl From<$small> for Number {
            fn from(value: $small) -> Number {
                Number(Repr::Small { value: i64::from(value), precision: INTEGER_PRECISION as u16 })
            }
        }
    )*};
}
from_integers!(i8, i16, i32, i64, u8, u16, u32);

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Parts { negative: false, mantissa: UBig::from(value), exponent: 0 }.exactly(INTEGER_PRECISION)
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Number {
        Number::from(value as u64)
    }
}

impl From<isize> for Number {
    fn from(value: isize) -> Number {
        Number::from(value as i64)
    }
}
