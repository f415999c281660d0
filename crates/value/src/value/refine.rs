//! Refining unknown values, and the range that a value is known to be in.

use super::index::Length;
use super::kind::Kind;
use super::repr::{Repr, Unknown, Value};
use crate::refinement::{Bound, Refinement, RefinementError};
use crate::types::Type;
use std::sync::Arc;

/// Lists of a promised length become known lists of unknown elements up to this length.
const LONGEST_COLLAPSED_LIST: u64 = 100_000;

/// The known range of a value: everything if it is known, otherwise its type and refinement.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The type that the value is of.
    pub ty: Type,
    /// Whether the value is null.
    pub is_null: bool,
    /// The refinement of an unknown value.
    pub refinement: Refinement,
}

impl Value {
    /// An unknown value of a type about which more is known. It may turn out known: a null never, but a number
    /// between 2 and 2, or an empty list. A refinement that contradicts itself is dropped.
    pub fn refined(ty: Type, refinement: Refinement) -> Value {
        Value::unknown(ty).refine(refinement)
    }

    /// Narrows an unknown value. Contradictory refinements are ignored; see [`Value::try_refine`].
    #[must_use]
    pub fn refine(&self, refinement: Refinement) -> Value {
        self.try_refine(&refinement).unwrap_or_else(|_| self.clone())
    }

    /// The value, known not to be null. A null stays what it is.
    #[must_use]
    pub fn not_null(&self) -> Value {
        self.refine(Refinement::NOT_NULL)
    }

    /// The value with more known about it.
    ///
    /// # Errors
    /// If it is already known to be otherwise.
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
        let wanted = match &ty {
            Type::Dynamic => return Ok(self.clone()),
            Type::String => refinement.for_string(),
            Type::Number => refinement.for_number(),
            Type::List(_) | Type::Set(_) | Type::Map(_) => refinement.for_collection(),
            Type::Bool | Type::Object(_) | Type::Tuple(_) => refinement.for_any(),
        };
        let Kind::Unknown(current) = self.kind() else { return Ok(self.clone()) };
        let both = current.narrowed(&wanted)?;
        Ok(collapsed(ty, both).with_marks(self.marks()))
    }

    /// Returns the known range of the value without its marks.
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

    /// Whether the value is known not to be null, though it may be unknown.
    pub fn is_definitely_not_null(&self) -> bool {
        match self.kind() {
            Kind::Null => false,
            Kind::Unknown(refinement) => refinement.is_not_null(),
            _ => true,
        }
    }
}

impl Range {
    /// Whether a value lies in the range; `None` if that is not decided.
    pub fn includes(&self, value: &Value) -> Option<bool> {
        if self.is_null {
            return Some(value.is_null());
        }
        if value.is_null() {
            return Some(!self.refinement.is_not_null());
        }
        if !crate::convert::type_conforms(&value.ty(), &self.ty) {
            return Some(false);
        }
        allows(&self.refinement, value)
    }
}

/// Whether a refinement allows a value: no, or not known.
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
                value.held_length().is_some_and(|most| (most as u64) < refinement.least_length())
                    || refinement.greatest_length() == Some(0)
            }
            None => false,
        },
        Kind::Unknown(known) => known.narrowed(refinement).is_err(),
        Kind::Bool(_) | Kind::Tuple(_) | Kind::Object(_) => false,
    };
    refused.then_some(false)
}

/// The unknown value, or the known one if the refinement leaves only one.
fn collapsed(ty: Type, refinement: Refinement) -> Value {
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
