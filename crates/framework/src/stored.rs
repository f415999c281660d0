//! Objects as they are stored: JSON of an older or the same schema.

use groma_provider::ProviderDiagnostic;
use groma_value::{Type, Value, json};

/// Reads a stored object of the type `ty`. Attributes that the type does not have are dropped; those that are missing are
/// null.
///
/// # Errors
///
/// The text is not JSON, or an attribute has a value of another type.
pub fn decode_stored(raw: &str, ty: &Type) -> Result<Value, ProviderDiagnostic> {
    let unreadable = |problem: &dyn std::fmt::Display| {
        ProviderDiagnostic::error(
            "Unable to Read Previously Saved State",
            format!(
                "The stored object does not fit the schema of its type: {problem}. An upgrade of its shape is missing."
            ),
        )
    };
    json::from_stored(raw.as_bytes(), ty).map_err(|problem| unreadable(&problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_attributes_are_dropped_and_new_ones_are_null() {
        let ty = Type::object([("a", Type::String), ("list", Type::list(Type::object([("x", Type::Number)])))]);
        let value = decode_stored(r#"{"gone": 1, "list": [{"x": 1, "y": 2}]}"#, &ty).unwrap();
        assert!(value.has_type(&ty));
        let object = value.as_object().unwrap();
        assert!(object.get("a").unwrap().is_null());
        assert_eq!(object.get("list").unwrap().as_slice().unwrap().len(), 1);
    }

    #[test]
    fn a_value_of_another_type_is_an_error_that_says_so() {
        let ty = Type::object([("a", Type::Number)]);
        let error = decode_stored(r#"{"a": []}"#, &ty).unwrap_err();
        assert_eq!(error.summary, "Unable to Read Previously Saved State");
        assert!(decode_stored("{", &ty).is_err());
    }
}
