//! Names that authors choose.

use groma_address::{Name, is_identifier};
use groma_diagnostics::Span;
use groma_hcl::Label;

use super::context::Decoding;

/// The rule for names, as the end of a message.
pub(super) const RULE: &str =
    "Names begin with a letter or an underscore; letters, digits, underscores and dashes may follow.";

const PROVIDER_RULE: &str = "Names of providers have letters and digits, and single dashes between them.";

/// Reports an invalid label; `what` is the middle of the summary: `Invalid resource name`. References use the
/// name that it should have.
pub(super) fn check(label: &Label, what: &str, decoding: &mut Decoding<'_>) {
    if !is_identifier(&label.value) {
        decoding.error(label.span, format!("Invalid {what}"), RULE);
        decoding.incomplete = true;
    }
}

/// Reports a local provider name that is none, or not in lower case. Unlike other names it has no underscores: it may become a part of
/// the provider's address.
pub(super) fn provider_name(local_name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    implied_provider_name(local_name, span, decoding) && is_lower_case(local_name, span, decoding)
}

/// Reports a provider name that is a whole address or invalid; addresses are in lower case.
pub(super) fn provider_type(name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    looks_like_provider(name, "Invalid provider name", span, decoding)
}

fn is_lower_case(local_name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    let normal = local_name.to_lowercase();
    if *normal != **local_name {
        decoding.error(
            span,
            "Invalid provider local name",
            format!("Provider names are written in lower case: {normal:?} instead of {local_name:?}."),
        );
        return false;
    }
    true
}

/// Reports a name that cannot be a provider's, whatever its case: resource types that imply one may be in upper case.
pub(super) fn implied_provider_name(local_name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    looks_like_provider(local_name, "Invalid provider local name", span, decoding)
}

fn looks_like_provider(name: &Name, summary: &str, span: Span, decoding: &mut Decoding<'_>) -> bool {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-');
    if is_name && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--") {
        return true;
    }
    decoding.error(span, summary, format!("{name:?} is no provider name. {PROVIDER_RULE}"));
    false
}
