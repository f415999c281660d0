//! Powers and logarithms, bit-identical to Terraform's.
//!
//! Both use hardware floats. The last bit depends on the algorithm, and a plan that Terraform made must verify here, so
//! the platform's math library cannot be used. The algorithms are those of Go's math package: the logarithm from
//! FreeBSD's msun, the exponential by Shibata with fused multiply-add.

use super::Number;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E};

const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

impl Number {
    /// Raises the number to a power, at 53 bits of precision; `None` if the result is NaN.
    pub fn power(&self, exponent: &Number) -> Option<Number> {
        Number::from_f64(power(self.to_f64(), exponent.to_f64()))
    }

    /// Returns the logarithm to a base, at 53 bits of precision; `None` if the result is NaN.
    pub fn logarithm(&self, base: &Number) -> Option<Number> {
        Number::from_f64(logarithm(self.to_f64()) / logarithm(base.to_f64()))
    }
}

/// Splits a float so that `value = fraction * 2^exponent` with `0.5 <= |fraction| < 1`, like C's `frexp`.
fn split(value: f64) -> (f64, i32) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    let (normal, shift) = if value.abs() < f64::MIN_POSITIVE { (value * 2f64.powi(52), -52) } else { (value, 0) };
    let bits = normal.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    (f64::from_bits(bits & !(0x7ff << 52) | (1022 << 52)), exponent + shift)
}

/// Returns `fraction * 2^exponent`, rounded once, like C's `ldexp`.
fn join(fraction: f64, exponent: i32) -> f64 {
    if fraction == 0.0 || !fraction.is_finite() {
        return fraction;
    }
    let (fraction, shift) = split(fraction);
    let exponent = exponent.saturating_add(shift);
    if exponent < -1074 {
        return 0f64.copysign(fraction);
    }
    if exponent > 1024 {
        return f64::INFINITY.copysign(fraction);
    }
    if exponent < -1021 {
        // Subnormal: scale in two exact steps so that only the last one rounds.
        return fraction * 2f64.powi(exponent + 53) * 2f64.powi(-53);
    }
    fraction * 2.0 * 2f64.powi(exponent - 1)
}

fn logarithm(value: f64) -> f64 {
    const TERMS: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    if value.is_nan() || value == f64::INFINITY {
        return value;
    }
    if value < 0.0 {
        return f64::NAN;
    }
    if value == 0.0 {
        return f64::NEG_INFINITY;
    }
    // The original does not normalize subnormal inputs here, and its results show it.
    let bits = value.to_bits();
    let mut fraction = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 1022 << 52);
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    if fraction < FRAC_1_SQRT_2 {
        fraction *= 2.0;
        exponent -= 1;
    }
    let f = fraction - 1.0;
    let k = f64::from(exponent);
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2 * (TERMS[0] + s4 * (TERMS[2] + s4 * (TERMS[4] + s4 * TERMS[6])));
    let even = s4 * (TERMS[1] + s4 * (TERMS[3] + s4 * TERMS[5]));
    let r = odd + even;
    let half_square = 0.5 * f * f;
    k * LN_2_HIGH - ((half_square - (s * (half_square + r) + k * LN_2_LOW)) - f)
}

fn exponential(value: f64) -> f64 {
    const LARGEST: f64 = 709.782_712_893_384;
    const UPPER: f64 = 0.693_147_180_559_662_956_511_601_805_686_950_683_593_75;
    const LOWER: f64 = 0.282_352_905_630_315_771_225_884_481_750_134_360_255_254_120_68e-12;
    const TERMS: [f64; 8] = [
        2.480_158_730_158_73e-5,
        1.984_126_984_126_984e-4,
        1.388_888_888_888_889e-3,
        8.333_333_333_333_333e-3,
        4.166_666_666_666_666_4e-2,
        1.666_666_666_666_666_6e-1,
        0.5,
        1.0,
    ];
    debug_assert!((UPPER + LOWER - LN_2).abs() < 1e-15);
    if !value.is_finite() {
        return if value == f64::NEG_INFINITY { 0.0 } else { value };
    }
    if value > LARGEST {
        return f64::INFINITY;
    }
    let k = (value * LOG2_E).round_ties_even();
    if k < -1075.0 {
        return 0.0;
    }
    // Reduced by 1/16; the four squarings below, of which the last one is in the return value, undo it.
    let mut x = (-k).mul_add(LOWER, (-k).mul_add(UPPER, value)) * 0.0625;
    let series = TERMS[1..].iter().fold(TERMS[0], |sum, term| x.mul_add(sum, *term));
    x *= series;
    for _ in 0..3 {
        x *= x + 2.0;
    }
    join((x + 2.0).mul_add(x, 1.0), k as i32)
}

fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 0.0 || base == 1.0 {
        return 1.0;
    }
    if exponent == 1.0 {
        return base;
    }
    if base.is_nan() || exponent.is_nan() {
        return f64::NAN;
    }
    // Powers of zero and infinity follow IEEE 754 on every platform.
    if base == 0.0 || base.is_infinite() || exponent.is_infinite() {
        return base.powf(exponent);
    }
    if exponent == 0.5 {
        return base.sqrt();
    }
    if exponent == -0.5 {
        return 1.0 / base.sqrt();
    }
    let mut whole = exponent.abs().trunc();
    let mut part = exponent.abs() - whole;
    if part != 0.0 && base < 0.0 {
        return f64::NAN;
    }
    if whole >= 2f64.powi(63) {
        return match (base == -1.0, (base.abs() < 1.0) == (exponent > 0.0)) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => f64::INFINITY,
        };
    }
    let mut result = 1.0;
    if part != 0.0 {
        if part > 0.5 {
            part -= 1.0;
            whole += 1.0;
        }
        result = exponential(part * logarithm(base));
    }
    by_squaring(base, whole as i64, result, exponent < 0.0)
}

/// Returns `start * base^count`, or its reciprocal. Powers of two are accumulated separately to avoid intermediate
/// overflow.
fn by_squaring(base: f64, mut count: i64, start: f64, inverse: bool) -> f64 {
    let mut result = start;
    let mut result_exponent = 0i32;
    let (mut square, mut square_exponent) = split(base);
    while count != 0 {
        if square_exponent.abs() > 1 << 12 {
            // The result overflows or underflows whatever follows.
            result_exponent += square_exponent;
            break;
        }
        if count & 1 == 1 {
            result *= square;
            result_exponent += square_exponent;
        }
        square *= square;
        square_exponent <<= 1;
        if square < 0.5 {
            square += square;
            square_exponent -= 1;
        }
        count >>= 1;
    }
    if inverse { join(1.0 / result, -result_exponent) } else { join(result, result_exponent) }
}
