//! The first digits of very large and very small numbers, without working out all the others.

use super::float::bits;
use dashu_int::UBig;

/// A positive number between `low * 2^exponent` and `(low + width) * 2^exponent`.
#[derive(Clone)]
struct Near {
    low: UBig,
    width: UBig,
    exponent: i64,
}

/// Returns the first `count` digits of `mantissa * 2^exponent` in ASCII, and the number of digits before the point; `None` if that takes
/// more than an approximation. The mantissa is not zero.
pub(super) fn leading_digits(mantissa: &UBig, exponent: i64, count: usize) -> Option<(Vec<u8>, i64)> {
    // The estimated number of digits before the point, off by at most one; one digit more than needed is computed.
    let length = bits(mantissa) as i64 + exponent;
    let before = (length as f64 * std::f64::consts::LOG10_2).ceil() as i64;
    let wanted = count as i64 + 1;
    let scale = wanted - before;
    let kept = bits(mantissa) + count * 4 + 64;
    let value = Near { low: mantissa.clone(), width: UBig::ZERO, exponent };
    let scaled = value.times(&power_of_ten(scale, kept), kept);
    let (low, high) = (scaled.whole(&scaled.low), scaled.whole(&(&scaled.low + &scaled.width)));
    // If both ends of the known interval start with the same digits, so does the number.
    let (mut low, high) = (low.to_string().into_bytes(), high.to_string().into_bytes());
    let point = before + low.len() as i64 - wanted;
    if low.len() != high.len() || low.get(..count)? != high.get(..count)? {
        return None;
    }
    low.truncate(count);
    Some((low, point))
}

/// `10^power`, by squaring.
fn power_of_ten(power: i64, kept: usize) -> Near {
    let mut result = Near { low: UBig::ONE, width: UBig::ZERO, exponent: 0 };
    let mut square = match power {
        0.. => Near { low: UBig::from(10u8), width: UBig::ZERO, exponent: 0 },
        // A tenth, rounded down.
        _ => Near { low: (UBig::ONE << kept) / UBig::from(10u8), width: UBig::ONE, exponent: -(kept as i64) },
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

impl Near {
    /// The product, of which no more bits are kept.
    fn times(&self, other: &Near, kept: usize) -> Near {
        let low = &self.low * &other.low;
        let width = &self.low * &other.width + &other.low * &self.width + &self.width * &other.width;
        let exponent = self.exponent + other.exponent;
        let excess = bits(&low).saturating_sub(kept);
        if excess == 0 {
            return Near { low, width, exponent };
        }
        // What is cut off at both ends makes it a little wider.
        Near { low: low >> excess, width: (width >> excess) + UBig::from(2u8), exponent: exponent + excess as i64 }
    }

    /// The whole part of `value * 2^exponent`.
    fn whole(&self, value: &UBig) -> UBig {
        let shift = self.exponent.unsigned_abs() as usize;
        if self.exponent >= 0 { value << shift } else { value >> shift }
    }
}
