//! Conversion between types, and unification of several types to one.
//!
//! A conversion is found from the types alone ([`Conversion::find`]) and then applied to values. Safe conversions
//! succeed for every value; unsafe ones (string to number, map to object) can fail.

mod apply;
mod collect;
mod conform;
mod error;
mod find;
mod mismatch;
mod replace;
mod unify;

pub(crate) use collect::read_element_type;
pub use conform::conforms;
pub(crate) use conform::value_conforms;
pub use error::ConversionError;
pub use find::{Conversion, Safety};
pub use mismatch::mismatch;
pub use unify::{unify, unify_safe};

use crate::path::Path;
use crate::types::Type;
use crate::value::Value;

/// Converts a value to a type. Marks stay where they are; unknown values and nulls take on the type.
///
/// # Errors
/// The part that cannot be converted, with the reason in Terraform's words.
pub fn convert(value: &Value, ty: &Type) -> Result<Value, ConversionError> {
    if value.has_type(ty) {
        return Ok(value.clone());
    }
    let given = value.ty();
    let want = ty.without_optional_attributes();
    if given == want {
        return Ok(value.clone());
    }
    let conversion = Conversion::find(&given, ty, Safety::Unsafe)
        .ok_or_else(|| ConversionError::new(Path::root(), mismatch(&given, ty)))?;
    conversion.apply(value)
}
