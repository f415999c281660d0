//! Rounding of numbers to integers.

use super::Number;
use super::float::Parts;
use std::cmp::Ordering;

impl Number {
    /// Rounds to an integer towards zero.
    #[must_use]
    pub fn truncate(&self) -> Number {
        match self.parts() {
            Some(parts) if parts.exponent < 0 => {
                let drop = usize::try_from(parts.exponent.unsigned_abs()).unwrap_or(usize::MAX);
                let mantissa = parts.mantissa >> drop;
                let negative = parts.negative && !mantissa.is_zero();
                Parts { negative, mantissa, exponent: 0 }.exactly(self.precision())
            }
            Some(parts) if parts.mantissa.is_zero() => {
                Parts { negative: false, mantissa: parts.mantissa, exponent: 0 }.exactly(self.precision())
            }
            _ => self.clone(),
        }
    }

    /// Returns the largest integer not above the number.
    #[must_use]
    pub fn floor(&self) -> Number {
        self.stepped(Ordering::Greater, &Number::ONE.negate())
    }

    /// Returns the smallest integer not below the number.
    #[must_use]
    pub fn ceil(&self) -> Number {
        self.stepped(Ordering::Less, &Number::ONE)
    }

    /// Truncates, and adds `step` if the truncated number compares to the number as `side`.
    fn stepped(&self, side: Ordering, step: &Number) -> Number {
        let whole = self.truncate();
        if whole.cmp(self) != side {
            return whole;
        }
        whole.add(step).unwrap_or(whole).with_precision(self.precision())
    }
}
