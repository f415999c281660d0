//! Hexadecimal digests and keyed digests.

use aws_lc_rs::{digest, hmac};

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn hmac(algorithm: hmac::Algorithm, key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(algorithm, key), text.as_bytes()).as_ref().to_vec()
}

pub(super) fn digest(algorithm: &'static digest::Algorithm, bytes: &[u8]) -> String {
    hex(digest::digest(algorithm, bytes).as_ref())
}
