//! Leading digits of very large and very small numbers from an interval approximation, without computing all digits.

use super::float::bits;
use dashu_int::UBig;

/// An interval of positive numbers: from `low * 2^exponent` to `(low + width) * 2^exponent`.
#[derive(Clone)]
struct Interval {
    low: UBig,
    width: UBig,
    exponent: i64,
}

/// Returns the first `count` digits of `mantissa * 2^exponent` as ASCII and the number of digits before the decimal
/// point. Returns `None` if the approximation cannot determine them. `mantissa` must not be zero.
pub(super) fn leading_digits(mantissa: &UBig, exponent: i64, count: usize) -> Option<(Vec<u8>, i64)> {
    // The estimate of the integer digits can be off by one, so one more digit is computed.
    let length = bits(mantissa) as i64 + exponent;
    let before = (length as f64 * std::f64::consts::LOG10_2).ceil() as i64;
    let wanted = count as i64 + 1;
    let scale = wanted - before;
    let kept = bits(mantissa) + count * 4 + 64;
    let value = Interval { low: mantissa.clone(), width: UBig::ZERO, exponent };
    let scaled = value.times(&power_of_ten(scale, kept), kept);
    let (low, high) = (scaled.whole(&scaled.low), scaled.whole(&(&scaled.low + &scaled.width)));
    // Digits on which both ends of the interval agree are digits of the number.
    let (mut low, high) = (low.to_string().into_bytes(), high.to_string().into_bytes());
    let point = before + low.len() as i64 - wanted;
    if low.len() != high.len() || low.get(..count)? != high.get(..count)? {
        return None;
    }
    low.truncate(count);
    Some((low, point))
}

/// Returns an interval around `10^power`, by repeated squaring.
fn power_of_ten(power: i64, kept: usize) -> Interval {
    let mut result = Interval { low: UBig::ONE, width: UBig::ZERO, exponent: 0 };
    let mut square = match power {
        0.. => Interval { low: UBig::from(10u8), width: UBig::ZERO, exponent: 0 },
        // One tenth, rounded down.
        _ => Interval { low: (UBig::ONE << kept) / UBig::from(10u8), width: UBig::ONE, exponent: -(kept as i64) },
    };
    let mut rest = power.unsigned_abs();
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.times(&square, kept);
        }
        rest >>= 1;
        if rest > 0 {
            square = square.times(&square, kept);
        }
    }
    result
}

impl Interval {
    /// Multiplies two intervals and keeps at most `kept` bits of the lower end.
    fn times(&self, other: &Interval, kept: usize) -> Interval {
        let low = &self.low * &other.low;
        let width = &self.low * &other.width + &other.low * &self.width + &self.width * &other.width;
        let exponent = self.exponent + other.exponent;
        let excess = bits(&low).saturating_sub(kept);
        if excess == 0 {
            return Interval { low, width, exponent };
        }
        // Truncation at both ends moves the upper end by less than two units.
        Interval { low: low >> excess, width: (width >> excess) + UBig::from(2u8), exponent: exponent + excess as i64 }
    }

    /// Returns the integer part of `value * 2^exponent`.
    fn whole(&self, value: &UBig) -> UBig {
        let shift = self.exponent.unsigned_abs() as usize;
        if self.exponent >= 0 { value << shift } else { value >> shift }
    }
}
