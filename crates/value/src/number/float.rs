//! The mechanics of binary floats: normalising and rounding.

use super::{Big, Form, Number, Repr};
use dashu_int::UBig;
use std::sync::Arc;

/// Binary exponents beyond this are refused when reading, so that a short text cannot fill the memory when printed.
pub(super) const MAX_EXPONENT: i64 = 1 << 22;

/// A finite number taken apart: `±mantissa * 2^exponent`.
pub(super) struct Parts {
    pub negative: bool,
    pub mantissa: UBig,
    pub exponent: i64,
}

impl Parts {
    /// The number of these parts at this precision, which is known to hold them.
    pub fn exactly(self, precision: u32) -> Number {
        let Parts { negative, mut mantissa, mut exponent } = self;
        match mantissa.trailing_zeros() {
            None => exponent = 0,
            Some(0) => {}
            Some(zeros) => {
                mantissa >>= zeros;
                exponent += zeros as i64;
            }
        }
        if let Some(value) = small(negative, &mantissa, exponent) {
            let precision = u16::try_from(precision).unwrap_or(u16::MAX);
            return Number(Repr::Small { value, precision });
        }
        Number(Repr::Big(Arc::new(Big { negative, precision, form: Form::Finite { mantissa, exponent } })))
    }

    /// The number of these parts, rounded to the precision: to nearest, ties to even.
    pub fn rounded(self, precision: u32) -> Number {
        self.rounded_with(precision, false)
    }

    /// As [`Parts::rounded`], where `remainder` tells that a little more follows after the mantissa.
    pub fn rounded_with(self, precision: u32, remainder: bool) -> Number {
        let excess = bits(&self.mantissa).saturating_sub(precision as usize);
        if excess == 0 {
            return self.exactly(precision);
        }
        let half = bit(&self.mantissa, excess - 1);
        let zeros = self.mantissa.trailing_zeros().unwrap_or(0);
        let below_half = remainder || zeros < excess - 1;
        let mut mantissa = &self.mantissa >> excess;
        if half && (below_half || bit(&mantissa, 0)) {
            mantissa += 1u8;
        }
        Parts { negative: self.negative, mantissa, exponent: self.exponent + excess as i64 }.exactly(precision)
    }
}

/// The value as a machine integer; the negative zero is none.
fn small(negative: bool, mantissa: &UBig, exponent: i64) -> Option<i64> {
    if mantissa.is_zero() {
        return (!negative).then_some(0);
    }
    if !(0..64).contains(&exponent) || bits(mantissa) + exponent as usize > 64 {
        return None;
    }
    let magnitude = u64::try_from(mantissa).ok()? << exponent;
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// The number of bits of a mantissa.
pub(super) fn bits(mantissa: &UBig) -> usize {
    use dashu_int::ops::BitTest;
    mantissa.bit_len()
}

/// One bit of a mantissa, counted from the lowest.
pub(super) fn bit(mantissa: &UBig, at: usize) -> bool {
    use dashu_int::ops::BitTest;
    mantissa.bit(at)
}

/// The float nearest to `mantissa * 2^exponent`, ties to even.
pub(super) fn nearest_f64(mantissa: &UBig, exponent: i64) -> f64 {
    let length = bits(mantissa) as i64;
    if length == 0 {
        return 0.0;
    }
    let top = length + exponent;
    if top > 1024 {
        return f64::INFINITY;
    }
    // Subnormal floats have fewer bits: the lowest bit of a float is at least 2^-1074.
    let keep = 53.min(top + 1074);
    if keep < 0 {
        return 0.0;
    }
    let excess = length - keep;
    let (kept, shift) = if excess <= 0 {
        (mantissa.clone(), exponent)
    } else {
        let excess = excess as usize;
        let mut kept = mantissa >> excess;
        let tie = mantissa.trailing_zeros() == Some(excess - 1);
        if bit(mantissa, excess - 1) && (!tie || bit(&kept, 0)) {
            kept += 1u8;
        }
        (kept, exponent + excess as i64)
    };
    let Ok(kept) = u64::try_from(&kept) else { return f64::INFINITY };
    scale(kept as f64, shift)
}

/// `value * 2^shift` in steps that stay exact: the result is known to be representable.
fn scale(mut value: f64, mut shift: i64) -> f64 {
    while shift > 1000 {
        value *= 2f64.powi(1000);
        shift -= 1000;
    }
    while shift < -1000 {
        value *= 2f64.powi(-1000);
        shift += 1000;
    }
    value * 2f64.powi(shift as i32)
}
