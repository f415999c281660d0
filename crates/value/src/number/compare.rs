//! Equality, order and hash of numbers by value; precision is ignored.

use super::float;
use super::{Form, Number, Repr};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

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
                    let top = |parts: &float::Parts| float::bits(&parts.mantissa) as i64 + parts.exponent;
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
