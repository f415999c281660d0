//! Arguments that hold version constraints.

use groma_diagnostics::Span;
use groma_hcl::Attribute;

use super::context::Decoding;
use super::literal;
use crate::version::Constraints;

const WRONG: &str = "Invalid version constraint";

/// A `version` or `required_version` argument.
pub(super) fn version_constraints(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    let text = literal::string_or(attribute, WRONG, decoding)?;
    parse_constraints(&text, attribute.expression.span, decoding)
}

/// The `version` argument of a module call.
pub(super) fn of_module(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    let text = literal::string_or(attribute, "Incorrect value type", decoding)?;
    parse_constraints(&text, attribute.expression.span, decoding)
}

/// Reads constraints out of `text`; what is none is reported at `span`.
pub(super) fn parse_constraints(text: &str, span: Span, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    match text.parse() {
        Ok(constraints) => Some(constraints),
        Err(error) => {
            decoding.error(
                span,
                WRONG,
                format!(
                    "This is no version constraint ({error}). Write one such as \">= 1.2.0, < 2.0.0\" or \"~> 1.2\"."
                ),
            );
            None
        }
    }
}
