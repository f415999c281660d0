//! Decoding of version constraints.

use groma_diagnostics::{Diagnostic, DiagnosticKind, Span};
use groma_hcl::Attribute;

use super::context::Decoding;
use super::literal;
use crate::version::{Constraints, VersionError};

const WRONG: &str = "Invalid version constraint";

/// Summaries for a configuration that requires another product version, as in each product.
pub(super) const UNSUPPORTED_TERRAFORM: &str = "Unsupported Terraform Core version";
pub(super) const UNSUPPORTED_OPENTOFU: &str = "Incompatible module";

/// The error about a configuration for another version.
pub(super) fn unsupported(summary: &str, detail: String) -> Diagnostic {
    Diagnostic::error(summary, detail).of_kind(DiagnosticKind::UnsupportedVersion)
}

/// Decodes the `required_version` argument.
pub(super) fn version_constraints(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    let text = literal::string_or(attribute, WRONG, decoding)?;
    parse_constraints(&text, attribute.expression.span, decoding)
}

/// Whether the constraints contain a pre-release, which is not allowed for product versions. The parser drops a
/// trailing dash, so the source text is checked, too.
pub(super) fn name_prerelease(constraints: &Constraints, attribute: &Attribute) -> bool {
    let text = attribute.expression.as_static_string().unwrap_or_default();
    let has_bare_dash = text.split(',').any(|constraint| constraint.trim_end().ends_with('-'));
    has_bare_dash || constraints.iter().any(|constraint| constraint.version.is_prerelease())
}

/// Creates the error for a pre-release in the constraints on `product`.
pub(super) fn prerelease(product: &str, span: Span) -> Diagnostic {
    let detail = format!(
        "Constraints on the version of {product} cannot contain a pre-release, because a pre-release satisfies the constraints of its \
         release. Remove the dash and everything after it."
    );
    Diagnostic::error("Invalid required_version constraint", detail).at(span)
}

/// Decodes the `version` argument of a provider block.
pub(super) fn of_provider(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    let text = literal::string_or(attribute, WRONG, decoding)?;
    parse_of_provider(&text, attribute.expression.span, decoding)
}

/// Decodes the `version` argument of a module call.
pub(super) fn of_module(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    let text = literal::template_or(attribute, "Incorrect value type", decoding)?;
    parse_constraints(&text, attribute.expression.span, decoding)
}

fn parse_constraints(text: &str, span: Span, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    found(text.parse(), span, decoding)
}

/// Parses constraints on the version of a provider; reports errors at `span`.
pub(super) fn parse_of_provider(text: &str, span: Span, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    found(Constraints::of_provider(text), span, decoding)
}

fn found(
    constraints: Result<Constraints, VersionError>,
    span: Span,
    decoding: &mut Decoding<'_>,
) -> Option<Constraints> {
    let error = match constraints {
        Ok(constraints) => return Some(constraints),
        Err(error) => error,
    };
    let detail = format!(
        "This is not a valid version constraint ({error}). Write one such as \">= 1.2.0, < 2.0.0\" or \"~> 1.2\"."
    );
    decoding.error(span, WRONG, detail);
    None
}
