//! The identity that an import block gives: the attributes by which a provider knows an object.

use groma_diagnostics::Diagnostic;
use groma_provider::{IdentityImport, IdentitySchema};
use groma_value::{Type, Value, convert};

/// The identity in the shape of its schema, as far as it is known; attributes that are left out are null. Others than those of the schema are
/// passed over, as wherever a value becomes an object of a given type.
///
/// # Errors
///
/// It is null, of another type, or an attribute that it must have is missing.
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

/// That an identity cannot be used as it is.
pub(crate) fn unusable(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Invalid import identity argument", detail)
}

fn wrong(detail: String) -> Diagnostic {
    Diagnostic::error("Incorrect value type", detail)
}
