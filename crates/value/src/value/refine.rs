//! Refining unknown values, and the range of values that a value may become.

use super::index::Length;
use super::kind::Kind;
use super::repr::{Repr, Unknown, Value};
use crate::refinement::{Bound, Refinement, RefinementError};
use crate::types::Type;
use std::sync::Arc;

/// The longest list of unknown elements that a list of known length becomes. Longer ones stay unknown to limit memory.
const LONGEST_COLLAPSED_LIST: u64 = 100_000;

/// The set of values that a value may become; a single value if it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The type of the value.
    pub ty: Type,
    /// Whether the value is known to be null.
    pub is_null: bool,
    /// The facts about the value, exact for known primitive values and collections.
    pub refinement: Refinement,
}

impl Value {
    /// Creates an unknown value with a refinement. The result is known if only one value satisfies the refinement, such
    /// as a number between 2 and 2, or an empty list. A contradictory refinement is dropped.
    pub fn refined(ty: Type, refinement: Refinement) -> Value {
        Value::unknown(ty).refine(refinement)
    }

    /// Adds facts to the value. Facts that contradict it are ignored; see [`Value::try_refine`].
    #[must_use]
    pub fn refine(&self, refinement: Refinement) -> Value {
        self.try_refine(&refinement).unwrap_or_else(|_| self.clone())
    }

    /// Refines the value as not null. A known null stays null.
    #[must_use]
    pub fn not_null(&self) -> Value {
        self.refine(Refinement::NOT_NULL)
    }

    /// Adds facts to the value.
    ///
    /// # Errors
    /// Fails if the facts contradict the value.
    pub fn try_refine(&self, refinement: &Refinement) -> Result<Value, RefinementError> {
        let ty = match &self.bare().0 {
            Repr::Unknown(unknown) => unknown.ty.clone(),
            Repr::Bare(simple) => simple.ty(),
            _ => {
                return if self.range().includes(self.bare()) != Some(false)
                    && allows(refinement, self.bare()) != Some(false)
                {
                    Ok(self.clone())
                } else {
                    Err(RefinementError)
                };
            }
        };
        let applicable = match &ty {
            // An unknown value of unknown type carries no refinements, as in Terraform.
            Type::Dynamic => return Ok(self.clone()),
            Type::String => refinement.for_string(),
            Type::Number => refinement.for_number(),
            Type::List(_) | Type::Set(_) | Type::Map(_) => refinement.for_collection(),
            Type::Bool | Type::Object(_) | Type::Tuple(_) => refinement.for_any(),
        };
        let Kind::Unknown(current) = self.kind() else { return Ok(self.clone()) };
        let both = current.narrowed(&applicable)?;
        Ok(collapsed(ty, both).with_marks(self.marks()))
    }

    /// Returns the range of the value, ignoring marks.
    pub fn range(&self) -> Range {
        let is_null = self.is_null();
        let refinement = match self.kind() {
            Kind::Unknown(refinement) => refinement.clone(),
            Kind::Null => Refinement::NONE,
            Kind::String(text) => Refinement::NOT_NULL.full_prefix(text),
            Kind::Number(number) => Refinement::NOT_NULL
                .lower_bound(Bound::inclusive(number.clone()))
                .upper_bound(Bound::inclusive(number.clone())),
            Kind::List(_) | Kind::Set(_) | Kind::Map(_) => match self.length() {
                Some(Length::Known(length)) => {
                    Refinement::NOT_NULL.minimum_length(length as u64).maximum_length(length as u64)
                }
                _ => Refinement::NOT_NULL,
            },
            Kind::Bool(_) | Kind::Tuple(_) | Kind::Object(_) => Refinement::NOT_NULL,
        };
        Range { ty: self.ty(), is_null, refinement }
    }

    /// Whether the value, known or not, cannot be null.
    pub fn is_definitely_not_null(&self) -> bool {
        match self.kind() {
            Kind::Null => false,
            Kind::Unknown(refinement) => refinement.is_not_null(),
            _ => true,
        }
    }
}

impl Range {
    /// Whether the range includes a value; `None` if undecided.
    pub fn includes(&self, value: &Value) -> Option<bool> {
        if self.is_null {
            return Some(value.is_null());
        }
        if value.is_null() {
            return Some(!self.refinement.is_not_null());
        }
        if !value.ty().conforms_to(&self.ty) {
            return Some(false);
        }
        allows(&self.refinement, value)
    }
}

/// Whether a refinement allows a value: `Some(false)` or undecided.
fn allows(refinement: &Refinement, value: &Value) -> Option<bool> {
    let refused = match value.kind() {
        Kind::Null => refinement.is_not_null(),
        Kind::String(text) => !text.starts_with(refinement.known_prefix()),
        Kind::Number(number) => {
            let below = refinement
                .lower()
                .is_some_and(|bound| number < &bound.value || (!bound.inclusive && *number == bound.value));
            let above = refinement
                .upper()
                .is_some_and(|bound| number > &bound.value || (!bound.inclusive && *number == bound.value));
            below || above
        }
        Kind::List(_) | Kind::Set(_) | Kind::Map(_) => match value.length() {
            Some(Length::Known(length)) => {
                (length as u64) < refinement.least_length()
                    || refinement.greatest_length().is_some_and(|greatest| length as u64 > greatest)
            }
            Some(Length::Unknown(_)) => {
                // Stored elements may merge but never split, so their number is an upper bound of the length.
                value.held_length().is_some_and(|most| (most as u64) < refinement.least_length())
                    || refinement.greatest_length() == Some(0)
            }
            None => false,
        },
        Kind::Unknown(known) => known.narrowed(refinement).is_err(),
        // No refinement but nullness applies to these, and they are not null here.
        Kind::Bool(_) | Kind::Tuple(_) | Kind::Object(_) => false,
    };
    refused.then_some(false)
}

/// Returns the unknown value, or the known one if only that satisfies the refinement.
fn collapsed(ty: Type, refinement: Refinement) -> Value {
    // A value that may be null has at least two possible values, so nothing collapses.
    if refinement.is_not_null() {
        if let (Type::Number, Some(number)) = (&ty, refinement.only_number()) {
            return Value::number(number.clone());
        }
        let length = refinement.greatest_length().filter(|greatest| *greatest == refinement.least_length());
        match (&ty, length) {
            (Type::List(element), Some(length)) if length <= LONGEST_COLLAPSED_LIST => {
                let unknown = Value::unknown((**element).clone());
                return Value::list_of(element.clone(), vec![unknown; length as usize]);
            }
            (Type::Set(element), Some(0)) => return Value::set_ordered(element.clone(), Vec::new()),
            (Type::Set(element), Some(1)) => {
                // Which element the set has is unknown, but that it has exactly one is not.
                return Value::set_ordered(element.clone(), vec![Value::unknown((**element).clone())]);
            }
            (Type::Map(element), Some(0)) => {
                return Value::map_of(element.clone(), std::iter::empty::<(crate::Name, Value)>());
            }
            _ => {}
        }
    }
    if refinement.is_empty() {
        return Value::unknown(ty);
    }
    Value(Repr::Unknown(Arc::new(Unknown { ty, refinement })))
}
