//! Conversion between types, and unification of several types to one.
//!
//! A conversion is found from the types alone ([`Conversion::find`]) and then applied to values. Safe conversions
//! succeed for every value; unsafe ones (string to number, map to object) can fail.

mod apply;
mod collect;
mod find;
mod mismatch;
mod unify;

pub(crate) use collect::read_element_type;
pub use find::{Conversion, Safety};
pub use mismatch::mismatch;
pub use unify::{unify, unify_safe};

use std::fmt;

use crate::path::Path;
use crate::types::Type;
use crate::value::{Kind, Value};

/// Converts a value to a type. Marks stay where they are; unknown values and nulls take on the type.
///
/// # Errors
/// The part that cannot be converted, with the reason in Terraform's words.
pub fn convert(value: &Value, ty: &Type) -> Result<Value, ConversionError> {
    // Most values already have the type, so the common case comes before any search for a conversion.
    if value.has_type(ty) {
        return Ok(value.clone());
    }
    let given = value.ty();
    // Optional attributes exist only in type constraints. The type of a value has none, so they cannot take part.
    let want = ty.without_optional_attributes();
    if given == want {
        return Ok(value.clone());
    }
    let conversion = Conversion::find(&given, ty, Safety::Unsafe)
        .ok_or_else(|| ConversionError::new(Path::root(), mismatch(&given, ty)))?;
    conversion.apply(value)
}

/// A value or one of its parts that cannot be converted to the required type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionError {
    /// The part that cannot be converted, relative to the converted value.
    pub path: Path,
    /// The reason in Terraform's words, such as "a number is required".
    pub message: String,
}

impl ConversionError {
    pub(super) fn new(path: Path, message: impl Into<String>) -> Self {
        ConversionError { path, message: message.into() }
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConversionError {}

/// Whether a value conforms to `want` without conversion. Objects are compared attribute by attribute, because
/// computing the type of a large object costs more than the comparison.
pub(crate) fn value_conforms(value: &Value, want: &Type) -> bool {
    match (value.bare().kind(), want) {
        (_, Type::Dynamic) => true,
        (Kind::Object(object), Type::Object(ty)) => {
            object.len() == ty.len()
                && object
                    .iter()
                    .zip(ty.iter())
                    .all(|((name, value), (wanted, ty))| name == wanted && value_conforms(value, ty))
        }
        _ => value.has_type(want) || value.ty().conforms_to(want),
    }
}

/// Checks that a value conforms to a type without conversion; dynamic parts accept anything.
///
/// # Errors
/// The path of every mismatch with a message.
pub fn conforms(value: &Value, ty: &Type) -> Result<(), Vec<(Path, String)>> {
    let given = value.ty();
    if given.conforms_to(ty) {
        return Ok(());
    }
    let mut problems = Vec::new();
    explain(&given, ty, &Path::root(), &mut problems);
    Err(problems)
}

fn explain(given: &Type, want: &Type, path: &Path, problems: &mut Vec<(Path, String)>) {
    match (given, want) {
        _ if given.conforms_to(want) => {}
        (Type::Object(a), Type::Object(b)) => {
            for (name, _) in a.iter().filter(|(name, _)| b.attribute(name).is_none()) {
                problems.push((path.clone(), format!("unsupported attribute {name:?}")));
            }
            for (name, want) in b.iter() {
                match a.attribute(name) {
                    Some(given) => explain(given, want, &path.clone().attribute(name.clone()), problems),
                    None => problems.push((path.clone(), format!("missing required attribute {name:?}"))),
                }
            }
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() != b.len() => {
            problems.push((path.clone(), format!("{} elements are required, but got {}", b.len(), a.len())));
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            for (at, (given, want)) in a.iter().zip(b.iter()).enumerate() {
                explain(given, want, &path.clone().position(at), problems);
            }
        }
        // The types alone do not say which element is wrong, so the path has an unknown index.
        (Type::List(a), Type::List(b)) => explain(a, b, &path.clone().index(Value::unknown(Type::Number)), problems),
        (Type::Map(a), Type::Map(b)) => explain(a, b, &path.clone().index(Value::unknown(Type::String)), problems),
        (Type::Set(a), Type::Set(b)) => explain(a, b, &path.clone().index(Value::unknown((**a).clone())), problems),
        _ => problems
            .push((path.clone(), format!("{} required, but received {}", want.friendly_name(), given.friendly_name()))),
    }
}
