//! Base 64, as Terraform's functions read it.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

const ENGINE: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The bytes that `text` stands for: padding is required, line ends between the characters are not part of it.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\n', '\r']) {
        return ENGINE.decode(text.replace(['\n', '\r'], "")).ok();
    }
    ENGINE.decode(text).ok()
}
