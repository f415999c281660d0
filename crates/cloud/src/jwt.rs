//! JSON Web Tokens (RFC 7519) signed with an RSA key.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RsaEncoding, RsaKeyPair};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::Value as Json;

/// Signs a token. `encoding` must match the `alg` of the header. Returns `None` if the key cannot sign.
pub(crate) fn sign(
    header: &Json,
    claims: &Json,
    key_pair: &RsaKeyPair,
    encoding: &'static dyn RsaEncoding,
) -> Option<String> {
    let encoded = |document: &Json| BASE64_URL_SAFE_NO_PAD.encode(document.to_string());
    let signing_input = format!("{}.{}", encoded(header), encoded(claims));
    // An RSA signature has the length of the modulus.
    let mut signature = vec![0; key_pair.public_modulus_len()];
    key_pair.sign(encoding, &SystemRandom::new(), signing_input.as_bytes(), &mut signature).ok()?;
    Some(format!("{signing_input}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
}

/// Returns the seconds since the Unix epoch, the unit of the claims `iat`, `nbf` and `exp`.
pub(crate) fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}
