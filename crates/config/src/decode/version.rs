//! Arguments that hold version constraints.

use groma_diagnostics::{Diagnostic, DiagnosticKind, Span};
use groma_hcl::Attribute;

use super::context::Decoding;
use super::literal;
use crate::version::{Constraints, VersionError};

const WRONG: &str = "Invalid version constraint";

/// Summaries of the errors about a configuration for another version, as each product has them.
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

/// Whether constraints on the product's version name a pre-release, which is not allowed.
pub(super) fn name_prerelease(constraints: &Constraints, attribute: &Attribute) -> bool {
    let text = attribute.expression.as_static_string().unwrap_or_default();
    let has_bare_dash = text.split(',').any(|constraint| constraint.trim_end().ends_with('-'));
    has_bare_dash || constraints.iter().any(|constraint| constraint.version.is_prerelease())
}

/// That they do, for `product`.
pub(super) fn prerelease(product: &str, span: Span) -> Diagnostic {
    let detail = format!(
        "What a pre-release of {product} may run is what its release may run, so that no constraint names one: leave out what stands \
         behind the dash."
    );
    Diagnostic::error("Invalid required_version constraint", detail).at(span)
}

/// The `version` argument of a provider block.
pub(super) fn of_provider(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    let text = literal::string_or(attribute, WRONG, decoding)?;
    parse_of_provider(&text, attribute.expression.span, decoding)
}

/// The `version` argument of a module call.
pub(super) fn of_module(attribute: &Attribute, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    let text = literal::template_or(attribute, "Incorrect value type", decoding)?;
    parse_constraints(&text, attribute.expression.span, decoding)
}

fn parse_constraints(text: &str, span: Span, decoding: &mut Decoding<'_>) -> Option<Constraints> {
    found(text.parse(), span, decoding)
}

/// Reads constraints on the version of a provider out of `text`; what is none is reported at `span`.
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
    let detail =
        format!("This is no version constraint ({error}). Write one such as \">= 1.2.0, < 2.0.0\" or \"~> 1.2\".");
    decoding.error(span, WRONG, detail);
    None
}
