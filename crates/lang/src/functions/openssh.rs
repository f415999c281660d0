//! Private keys as `ssh-keygen` writes them, in the format of OpenSSH.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rsa::{BigUint, RsaPrivateKey};

const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END: &str = "-----END OPENSSH PRIVATE KEY-----";

/// The one key of a text that has an RSA key of this format, not sealed with a passphrase.
pub(super) fn rsa_private_key(text: &str) -> Option<RsaPrivateKey> {
    let (_, after) = text.split_once(BEGIN)?;
    let (body, _) = after.split_once(END)?;
    let body: String = body.split_ascii_whitespace().collect();
    let bytes = STANDARD.decode(body).ok()?;
    let mut file = Fields(bytes.strip_prefix(b"openssh-key-v1\0")?);
    let (cipher, derivation, _options) = (file.bytes()?, file.bytes()?, file.bytes()?);
    if cipher != b"none" || derivation != b"none" || file.number()? != 1 {
        return None;
    }
    let _public = file.bytes()?;
    let mut key = Fields(file.bytes()?);
    // The same number twice: with a passphrase it tells whether that was the right one.
    if key.number()? != key.number()? || key.bytes()? != b"ssh-rsa" {
        return None;
    }
    let (modulus, public, private) = (key.integer()?, key.integer()?, key.integer()?);
    let _coefficient = key.integer()?;
    let primes = vec![key.integer()?, key.integer()?];
    RsaPrivateKey::from_components(modulus, public, private, primes).ok()
}

/// Length-prefixed fields that are not read yet.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*number))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn integer(&mut self) -> Option<BigUint> {
        self.bytes().map(BigUint::from_bytes_be)
    }
}
