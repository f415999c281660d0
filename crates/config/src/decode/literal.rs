//! Arguments that the language wants constant.

use std::sync::Arc;

use groma_diagnostics::{Diagnostic, Diagnostics};
use groma_hcl::{Attribute, Expression};
use groma_lang::evaluate_constant;
use groma_value::{Type, Value, convert};

use super::{Decoding, syntax};

/// The value of an expression without references and function calls.
pub(crate) fn constant(expression: &Expression) -> Result<Value, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let value = evaluate_constant(expression, &mut diagnostics);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(value) }
}

/// The text of a string argument; null counts as not written.
pub(super) fn string(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Arc<str>> {
    if let Some(text) = attribute.expression.as_static_string() {
        return Some(text);
    }
    typed(&attribute.expression, &Type::String, decoding)?.as_str().map(Arc::from)
}

/// The value of an argument that is true or false.
pub(super) fn boolean(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<bool> {
    let value = typed(&attribute.expression, &Type::Bool, decoding)?;
    if value.is_null() {
        decoding.error(
            attribute.expression.span,
            "Unsuitable value type",
            "Write true or false here; null is neither.",
        );
    }
    value.as_bool()
}

fn typed(expression: &Expression, ty: &Type, decoding: &mut Decoding<'_>) -> Option<Value> {
    if syntax::is_invalid(expression) {
        return None;
    }
    let value = match constant(expression) {
        Ok(value) => value,
        Err(diagnostics) => {
            decoding.diagnostics.append(diagnostics);
            return None;
        }
    };
    match convert::convert(&value, ty) {
        Ok(value) => Some(value),
        Err(error) => {
            decoding.report(
                Diagnostic::error("Unsuitable value type", format!("This value does not fit: {}.", error.message))
                    .at(expression.span),
            );
            None
        }
    }
}

/// Reports an expression that is constant already and no truth value; others are for later.
pub(super) fn check_boolean(expression: &Expression, decoding: &mut Decoding<'_>) {
    if constant(expression).is_ok() {
        typed(expression, &Type::Bool, decoding);
    }
}
