//! Alibaba Cloud: keys, and the signatures of its object storage (OSS), of Tablestore and of its API.

mod credentials;
mod object_storage;
mod rpc;
mod tablestore;

pub use credentials::{AlibabaCredentials, AlibabaRole, AlibabaSettings};

use aws_lc_rs::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::keys::hmac;

/// Returns the signature of all these services: HMAC-SHA1, in Base64.
fn signature(key: &str, text: &str) -> String {
    STANDARD.encode(hmac(HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes(), text))
}
