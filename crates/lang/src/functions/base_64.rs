//! Base 64, as Terraform's functions read it.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

const ENGINE: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Decodes `text`: padding is required, line breaks between the characters are ignored.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\n', '\r']) {
        return ENGINE.decode(text.replace(['\n', '\r'], "")).ok();
    }
    ENGINE.decode(text).ok()
}
