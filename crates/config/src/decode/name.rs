//! Names that authors choose.

use groma_address::is_identifier;
use groma_hcl::Label;

use super::Decoding;

/// What a name may look like, for the end of a message.
pub(super) const RULE: &str =
    "Names begin with a letter or an underscore; letters, digits, underscores and dashes may follow.";

/// Reports a label that is no name; `what` is the middle of the summary: `Invalid resource name`.
pub(super) fn check(label: &Label, what: &str, decoding: &mut Decoding<'_>) {
    if !is_identifier(&label.value) {
        decoding.error(label.span, format!("Invalid {what}"), RULE);
    }
}
