//! Equality, order and hash of numbers by value; precision is ignored.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::float::Parts;
use super::{Form, Number, Repr, float};

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Small { value: a, .. }, Repr::Small { value: b, .. }) = (&self.0, &other.0) {
            return a.cmp(b);
        }
        self.sign().cmp(&other.sign()).then_with(|| match (self.sign(), self.parts(), other.parts()) {
            (0, ..) | (_, None, None) => Ordering::Equal,
            (sign, None, Some(_)) => sign.cmp(&0),
            (sign, Some(_), None) => 0.cmp(&sign),
            (sign, Some(a), Some(b)) => {
                let magnitude = {
                    let top = |parts: &Parts| float::bits(&parts.mantissa) as i64 + parts.exponent;
                    top(&a).cmp(&top(&b)).then_with(|| {
                        // The highest bits are equal, so each shift is at most the length of the longer mantissa.
                        let low = a.exponent.min(b.exponent);
                        let left = a.mantissa << (a.exponent - low) as usize;
                        let right = b.mantissa << (b.exponent - low) as usize;
                        left.cmp(&right)
                    })
                };
                if sign < 0 { magnitude.reverse() } else { magnitude }
            }
        })
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Small { value, .. } => value.hash(state),
            // Zero and negative zero are equal, so their hashes must be equal too.
            Repr::Big(_) if self.is_zero() => 0i64.hash(state),
            Repr::Big(big) => {
                big.negative.hash(state);
                match &big.form {
                    Form::Finite { mantissa, exponent } => {
                        mantissa.hash(state);
                        exponent.hash(state);
                    }
                    Form::Infinite => u64::MAX.hash(state),
                }
            }
        }
    }
}

impl Number {
    /// Whether `==` holds in an expression: fractions of different precision are equal if they print the same.
    pub fn equals(&self, other: &Number) -> bool {
        match (self.is_fraction(), other.is_fraction()) {
            // The same decimal is rounded differently at each precision, so the binary values of equal decimals can differ.
            (true, true) if self.precision() != other.precision() => {
                self.is_negative() == other.is_negative() && self.to_string() == other.to_string()
            }
            _ => self == other,
        }
    }

    /// Hashes consistently with [`Number::equals`].
    pub(crate) fn hash_as_text<H: Hasher>(&self, state: &mut H) {
        if self.is_fraction() {
            self.to_string().hash(state);
        } else {
            self.hash(state);
        }
    }

    fn is_fraction(&self) -> bool {
        !self.is_integer() && !self.is_infinite()
    }

    /// The sign: -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        if self.is_zero() {
            0
        } else if self.is_negative() {
            -1
        } else {
            1
        }
    }
}

impl Number {
    /// Rounds to an integer towards zero.
    #[must_use]
    pub fn truncate(&self) -> Number {
        match self.parts() {
            Some(parts) if parts.exponent < 0 => {
                let drop = usize::try_from(parts.exponent.unsigned_abs()).unwrap_or(usize::MAX);
                let mantissa = parts.mantissa >> drop;
                // A negative fraction above -1 truncates to zero, not to negative zero.
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
