//! Names that authors choose.

use groma_address::{Name, is_identifier};
use groma_diagnostics::Span;
use groma_hcl::Label;

use super::context::Decoding;

/// What a name may look like, for the end of a message.
pub(super) const RULE: &str =
    "Names begin with a letter or an underscore; letters, digits, underscores and dashes may follow.";

/// Reports a label that is no name; `what` is the middle of the summary: `Invalid resource name`.
pub(super) fn check(label: &Label, what: &str, decoding: &mut Decoding<'_>) {
    if !is_identifier(&label.value) {
        decoding.error(label.span, format!("Invalid {what}"), RULE);
    }
}

/// Reports a local provider name that is no name, or not in lower case.
pub(super) fn provider_name(local_name: &Name, span: Span, decoding: &mut Decoding<'_>) -> bool {
    let normal = local_name.to_lowercase();
    if !is_identifier(local_name) {
        decoding.error(span, "Invalid provider local name", format!("{local_name:?} is no provider name. {}", RULE));
        return false;
    }
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
