//! Conversion between types, and finding a type that several can be converted to.
//!
//! A conversion is first looked for among the types alone ([`Conversion::find`]) and then applied to values. Safe ones
//! cannot fail for any value; unsafe ones (text to number, a map to an object) may.

mod apply;
mod collect;
mod conform;
mod error;
mod find;
mod mismatch;
mod replace;
mod unify;

pub(crate) use collect::read_element_type;
pub(crate) use conform::value_conforms;
pub use conform::{conforms, type_conforms};
pub use error::ConversionError;
pub use find::{Conversion, Safety};
pub use mismatch::mismatch;
pub use unify::{unify, unify_safe};

use crate::path::Path;
use crate::types::Type;
use crate::value::Value;

/// The value as one of this type. Marks stay on what they are on; unknowns and nulls take the type over.
///
/// # Errors
/// If the value cannot be of that type: where, and what is wrong in the words of Terraform.
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
