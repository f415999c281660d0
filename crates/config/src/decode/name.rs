//! Checks of names that authors choose.

use groma_address::{Name, is_identifier};
use groma_diagnostics::Span;
use groma_hcl::Label;

use super::context::Decoding;

/// Rule for names, as the end of a message.
pub(super) const RULE: &str =
    "Names must begin with a letter or underscore, and may contain only letters, digits, underscores and dashes.";

const PROVIDER_RULE: &str = "Provider names may contain only letters, digits and single dashes between them.";

/// Reports a label that is not an identifier; `what` completes the summary: `Invalid resource name`. The file becomes
/// incomplete, because references use the name that the author meant.
pub(super) fn check(label: &Label, what: &str, decoding: &mut Decoding<'_>) {
    if !is_identifier(&label.value) {
        decoding.error(label.span, format!("Invalid {what}"), RULE);
        // Reference checks would report every use of the intended name.
        decoding.incomplete = true;
    }
}

/// Whether a local provider name is valid and in lower case; reports errors. Underscores are not allowed, because the
/// name may become part of a source address.
pub(super) fn provider_name(local_name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    implied_provider_name(local_name, span, decoding) && is_lower_case(local_name, span, decoding)
}

/// Whether a name that serves as a whole source address is valid; reports errors. Upper case is allowed, since
/// addresses are normalized.
pub(super) fn provider_type(name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    looks_like_provider(name, "Invalid provider name", span, decoding)
}

fn is_lower_case(local_name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    let normal = local_name.to_lowercase();
    if *normal != **local_name {
        decoding.error(
            span,
            "Invalid provider local name",
            format!("Provider names must be in lower case: use {normal:?} instead of {local_name:?}."),
        );
        return false;
    }
    true
}

/// Whether an implied provider name is valid, in any case; reports errors. Resource types may contain upper-case
/// letters.
pub(super) fn implied_provider_name(local_name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    looks_like_provider(local_name, "Invalid provider local name", span, decoding)
}

fn looks_like_provider(name: &Name, summary: &str, span: Span, decoding: &mut Decoding<'_>) -> bool {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-');
    if is_name && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--") {
        return true;
    }
    decoding.error(span, summary, format!("{name:?} is not a valid provider name. {PROVIDER_RULE}"));
    false
}
