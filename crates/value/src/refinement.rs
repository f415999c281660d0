//! Refinements: partial knowledge of unknown values.

use crate::Name;
use crate::number::Number;

/// One end of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The bound of the range.
    pub value: Number,
    /// Whether the end itself belongs to the range.
    pub inclusive: bool,
}

impl Bound {
    /// An end that belongs to the range.
    pub fn inclusive(value: impl Into<Number>) -> Bound {
        Bound { value: value.into(), inclusive: true }
    }

    /// An end that does not belong to the range.
    pub fn exclusive(value: impl Into<Number>) -> Bound {
        Bound { value: value.into(), inclusive: false }
    }
}

/// The known properties of an unknown value. Refinements only become narrower: no operation loses one.
///
/// Statements about a kind of value that it turns out not to be are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Refinement {
    not_null: bool,
    prefix: Option<Name>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    minimum_length: u64,
    maximum_length: Option<u64>,
}

/// Two statements about a value that cannot both be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value contradicts what was promised about it")]
pub struct RefinementError;

impl Refinement {
    /// The refinement without any property.
    pub const NONE: Refinement =
        Refinement { not_null: false, prefix: None, lower: None, upper: None, minimum_length: 0, maximum_length: None };

    /// The value is not null.
    pub const NOT_NULL: Refinement = Refinement { not_null: true, ..Refinement::NONE };

    /// Adds: the value is not null.
    #[must_use]
    pub fn not_null(mut self) -> Self {
        self.not_null = true;
        self
    }

    /// Adds a known prefix of the string, shortened to the part that following characters cannot change
    /// (a letter at its end could yet get an accent).
    #[must_use]
    pub fn prefix(self, prefix: &str) -> Self {
        self.full_prefix(&crate::text::safe_prefix(prefix))
    }

    /// Adds: the string starts with exactly this text. What follows must not combine with its last character.
    #[must_use]
    pub fn full_prefix(mut self, prefix: &str) -> Self {
        let prefix = crate::text::normalized(prefix);
        self.prefix = (!prefix.is_empty()).then(|| Name::from(prefix.as_ref()));
        self
    }

    /// Adds: the number is not below this.
    #[must_use]
    pub fn lower_bound(mut self, bound: Bound) -> Self {
        self.lower = (!(bound.value.is_infinite() && bound.value.is_negative())).then_some(bound);
        self
    }

    /// Adds: the number is not above this.
    #[must_use]
    pub fn upper_bound(mut self, bound: Bound) -> Self {
        self.upper = (!bound.value.is_infinite() || bound.value.is_negative()).then_some(bound);
        self
    }

    /// Adds: the collection has at least this many elements.
    #[must_use]
    pub fn minimum_length(mut self, length: u64) -> Self {
        self.minimum_length = length;
        self
    }

    /// Adds: the collection has at most this many elements.
    #[must_use]
    pub fn maximum_length(mut self, length: u64) -> Self {
        self.maximum_length = (length < i64::MAX as u64).then_some(length);
        self
    }

    /// Whether nothing is promised.
    pub fn is_empty(&self) -> bool {
        *self == Refinement::NONE
    }

    /// Whether the value is promised not to be null.
    pub fn is_not_null(&self) -> bool {
        self.not_null
    }

    /// The text that the string starts with; empty if none is promised.
    pub fn known_prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or_default()
    }

    /// The lower end of the number's range.
    pub fn lower(&self) -> Option<&Bound> {
        self.lower.as_ref()
    }

    /// The upper end of the number's range.
    pub fn upper(&self) -> Option<&Bound> {
        self.upper.as_ref()
    }

    /// The least number of elements.
    pub fn least_length(&self) -> u64 {
        self.minimum_length
    }

    /// The greatest number of elements, if one is promised.
    pub fn greatest_length(&self) -> Option<u64> {
        self.maximum_length
    }

    /// Combines both refinements.
    ///
    /// # Errors
    /// If they contradict each other.
    pub fn narrowed(&self, other: &Refinement) -> Result<Refinement, RefinementError> {
        let (short, long) = if self.known_prefix().len() <= other.known_prefix().len() {
            (&self.prefix, &other.prefix)
        } else {
            (&other.prefix, &self.prefix)
        };
        if let (Some(short), Some(long)) = (short, long)
            && !long.starts_with(short.as_str())
        {
            return Err(RefinementError);
        }
        let both = Refinement {
            not_null: self.not_null || other.not_null,
            prefix: long.clone(),
            lower: tighter(&self.lower, &other.lower, |new, old| new > old),
            upper: tighter(&self.upper, &other.upper, |new, old| new < old),
            minimum_length: self.minimum_length.max(other.minimum_length),
            maximum_length: match (self.maximum_length, other.maximum_length) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
        };
        if both.is_contradictory() { Err(RefinementError) } else { Ok(both) }
    }

    /// Whether no value can be like this.
    pub fn is_contradictory(&self) -> bool {
        if self.maximum_length.is_some_and(|maximum| maximum < self.minimum_length) {
            return true;
        }
        match (&self.lower, &self.upper) {
            (Some(lower), Some(upper)) if lower.inclusive && upper.inclusive => lower.value > upper.value,
            (Some(lower), Some(upper)) => lower.value >= upper.value,
            _ => false,
        }
    }

    /// The only number that the bounds leave, if they leave only one.
    pub(crate) fn only_number(&self) -> Option<&Number> {
        match (&self.lower, &self.upper) {
            (Some(lower), Some(upper)) if lower.inclusive && upper.inclusive && lower.value == upper.value => {
                Some(&lower.value)
            }
            _ => None,
        }
    }

    /// Only the statements about strings, besides nullness.
    pub(crate) fn for_string(&self) -> Refinement {
        Refinement { not_null: self.not_null, prefix: self.prefix.clone(), ..Refinement::NONE }
    }

    /// Only the statements about numbers, besides nullness.
    pub(crate) fn for_number(&self) -> Refinement {
        Refinement { not_null: self.not_null, lower: self.lower.clone(), upper: self.upper.clone(), ..Refinement::NONE }
    }

    /// Only the statements about collections, besides nullness.
    pub(crate) fn for_collection(&self) -> Refinement {
        Refinement {
            not_null: self.not_null,
            minimum_length: self.minimum_length,
            maximum_length: self.maximum_length,
            ..Refinement::NONE
        }
    }

    /// Only the statement about nullness.
    pub(crate) fn for_any(&self) -> Refinement {
        Refinement { not_null: self.not_null, ..Refinement::NONE }
    }
}

/// The bound that leaves less, where `closer` tells whether a bound lies further inside.
fn tighter(old: &Option<Bound>, new: &Option<Bound>, closer: fn(&Number, &Number) -> bool) -> Option<Bound> {
    match (old, new) {
        (Some(old), Some(new)) => {
            let new_wins = closer(&new.value, &old.value) || (new.value == old.value && !new.inclusive);
            Some(if new_wins { new.clone() } else { old.clone() })
        }
        (one, None) | (None, one) => one.clone(),
    }
}
