//! Refinements: facts about a value that is not known yet.

use crate::Name;
use crate::number::Number;

/// One end of a numeric range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The number at the end of the range.
    pub value: Number,
    /// Whether the range includes `value`.
    pub inclusive: bool,
}

impl Bound {
    /// Returns an end that the range includes.
    pub fn inclusive(value: impl Into<Number>) -> Bound {
        Bound { value: value.into(), inclusive: true }
    }

    /// Returns an end that the range excludes.
    pub fn exclusive(value: impl Into<Number>) -> Bound {
        Bound { value: value.into(), inclusive: false }
    }
}

/// The refinement of an unknown value: facts that will hold when it becomes known. A refinement only narrows.
///
/// Facts that do not apply to the type of the value, such as a prefix of a number, are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Refinement {
    not_null: bool,
    prefix: Option<Name>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    minimum_length: u64,
    maximum_length: Option<u64>,
}

/// The error of combining contradictory refinements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value contradicts its refinement")]
pub struct RefinementError;

impl Refinement {
    /// The refinement without any facts.
    pub const NONE: Refinement =
        Refinement { not_null: false, prefix: None, lower: None, upper: None, minimum_length: 0, maximum_length: None };

    /// The refinement of values that are not null.
    pub const NOT_NULL: Refinement = Refinement { not_null: true, ..Refinement::NONE };

    /// Adds that the value is not null.
    #[must_use]
    pub fn not_null(mut self) -> Self {
        self.not_null = true;
        self
    }

    /// Adds a string prefix, shortened so that no following text can change it by normalization, because a combining
    /// character could follow its last letter.
    #[must_use]
    pub fn prefix(self, prefix: &str) -> Self {
        self.full_prefix(&crate::text::safe_prefix(prefix))
    }

    /// Adds a string prefix without shortening it. The text that follows must not combine with its last character.
    #[must_use]
    pub fn full_prefix(mut self, prefix: &str) -> Self {
        let prefix = crate::text::normalized(prefix);
        self.prefix = (!prefix.is_empty()).then(|| Name::from(prefix.as_ref()));
        self
    }

    /// Adds a lower bound of the number. Negative infinity is no bound.
    #[must_use]
    pub fn lower_bound(mut self, bound: Bound) -> Self {
        self.lower = (!(bound.value.is_infinite() && bound.value.is_negative())).then_some(bound);
        self
    }

    /// Adds an upper bound of the number. Positive infinity is no bound.
    #[must_use]
    pub fn upper_bound(mut self, bound: Bound) -> Self {
        self.upper = (!bound.value.is_infinite() || bound.value.is_negative()).then_some(bound);
        self
    }

    /// Adds a minimum number of elements of the collection.
    #[must_use]
    pub fn minimum_length(mut self, length: u64) -> Self {
        self.minimum_length = length;
        self
    }

    /// Adds a maximum number of elements of the collection.
    #[must_use]
    pub fn maximum_length(mut self, length: u64) -> Self {
        // Terraform's upper bound for unbounded lengths is the largest `int`, so that value means no limit here too.
        self.maximum_length = (length < i64::MAX as u64).then_some(length);
        self
    }

    /// Whether the refinement contains no facts.
    pub fn is_empty(&self) -> bool {
        *self == Refinement::NONE
    }

    /// Whether the value is known not to be null.
    pub fn is_not_null(&self) -> bool {
        self.not_null
    }

    /// The known prefix of the string; empty if none is known.
    pub fn known_prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or_default()
    }

    /// The lower bound of the number.
    pub fn lower(&self) -> Option<&Bound> {
        self.lower.as_ref()
    }

    /// The upper bound of the number.
    pub fn upper(&self) -> Option<&Bound> {
        self.upper.as_ref()
    }

    /// The minimum number of elements; zero if none is known.
    pub fn least_length(&self) -> u64 {
        self.minimum_length
    }

    /// The maximum number of elements, if known.
    pub fn greatest_length(&self) -> Option<u64> {
        self.maximum_length
    }

    /// Returns the refinement with the facts of both.
    ///
    /// # Errors
    /// Fails if the refinements contradict each other.
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

    /// Whether no value satisfies the refinement.
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

    /// The only number within the bounds, if there is exactly one.
    pub(crate) fn only_number(&self) -> Option<&Number> {
        match (&self.lower, &self.upper) {
            (Some(lower), Some(upper)) if lower.inclusive && upper.inclusive && lower.value == upper.value => {
                Some(&lower.value)
            }
            _ => None,
        }
    }

    /// Returns only the facts about strings and nullness.
    pub(crate) fn for_string(&self) -> Refinement {
        Refinement { not_null: self.not_null, prefix: self.prefix.clone(), ..Refinement::NONE }
    }

    /// Returns only the facts about numbers and nullness.
    pub(crate) fn for_number(&self) -> Refinement {
        Refinement { not_null: self.not_null, lower: self.lower.clone(), upper: self.upper.clone(), ..Refinement::NONE }
    }

    /// Returns only the facts about collections and nullness.
    pub(crate) fn for_collection(&self) -> Refinement {
        Refinement {
            not_null: self.not_null,
            minimum_length: self.minimum_length,
            maximum_length: self.maximum_length,
            ..Refinement::NONE
        }
    }

    /// Returns only the fact about nullness.
    pub(crate) fn for_any(&self) -> Refinement {
        Refinement { not_null: self.not_null, ..Refinement::NONE }
    }
}

/// Returns the tighter of two bounds; `closer` is whether the first number is further inside than the second.
fn tighter(old: &Option<Bound>, new: &Option<Bound>, closer: fn(&Number, &Number) -> bool) -> Option<Bound> {
    match (old, new) {
        (Some(old), Some(new)) => {
            let new_wins = closer(&new.value, &old.value) || (new.value == old.value && !new.inclusive);
            Some(if new_wins { new.clone() } else { old.clone() })
        }
        (one, None) | (None, one) => one.clone(),
    }
}
