//! Words of whoever has a key, signed with it: what others call a JSON Web Token.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RsaEncoding, RsaKeyPair};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::Value as Json;

/// The word `claims`, signed as `header` says.
pub(super) fn signed(header: &Json, claims: &Json, pair: &RsaKeyPair, how: &'static dyn RsaEncoding) -> Option<String> {
    let part = |document: &Json| BASE64_URL_SAFE_NO_PAD.encode(document.to_string());
    let told = format!("{}.{}", part(header), part(claims));
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(how, &SystemRandom::new(), told.as_bytes(), &mut signature).ok()?;
    Some(format!("{told}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
}

/// The time, in seconds, as such words tell it.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}
