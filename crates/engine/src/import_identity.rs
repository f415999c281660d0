//! The `identity` argument of an import block, converted to the identity schema of the resource type.

use groma_diagnostics::Diagnostic;
use groma_provider::{IdentityImport, IdentitySchema};
use groma_value::{Type, Value, convert};

/// Converts a value to an identity schema. Missing optional attributes become null, and attributes outside of the schema are ignored, as
/// in every conversion to an object type.
///
/// # Errors
///
/// The value is null or not an object, an attribute has the wrong type, or a required attribute is missing.
pub(crate) fn read_identity(value: &Value, schema: &IdentitySchema) -> Result<Value, Diagnostic> {
    let (value, _) = value.unmark();
    if value.is_null() {
        return Err(unusable("The identity is null. Set the attributes that identify the real object."));
    }
    if !value.is_known() {
        return Ok(Value::unknown(schema.implied_type()));
    }
    let given = |name: &str| match (value.as_object(), value.as_map()) {
        (Some(object), _) => object.get(name).cloned(),
        (_, Some(map)) => map.get(name).cloned(),
        _ => None,
    };
    if !matches!(value.ty(), Type::Object(_) | Type::Map(_)) {
        return Err(wrong(
            "The identity must be an object with the identity attributes of the resource type.".to_owned(),
        ));
    }
    let mut attributes = Vec::with_capacity(schema.attributes.len());
    for (name, attribute) in &schema.attributes {
        let value = match given(name) {
            Some(given) => convert::convert(&given, &attribute.ty).map_err(|problem| {
                wrong(format!("The attribute {name:?} of the identity is invalid: {}.", problem.message))
            })?,
            None if attribute.import == IdentityImport::Required => {
                return Err(wrong(format!("The attribute {name:?} of the identity is missing.")));
            }
            None => Value::null(attribute.ty.clone()),
        };
        attributes.push((name.clone(), value));
    }
    Ok(Value::object(attributes))
}

/// Returns the error "Invalid import identity argument".
pub(crate) fn unusable(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Invalid import identity argument", detail)
}

fn wrong(detail: String) -> Diagnostic {
    Diagnostic::error("Incorrect value type", detail)
}
