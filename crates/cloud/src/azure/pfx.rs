//! PKCS #12 (PFX) files with an RSA key and its certificate (RFC 7292).

mod password;

use aws_lc_rs::signature::{KeyPair, RsaKeyPair};
use password::Password;

use crate::error::TokenError;

/// The prefix of content types: 1.2.840.113549.1.7.N, without N.
const CONTENT: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07];
const DATA: u8 = 1;
const ENCRYPTED_DATA: u8 = 6;
/// The prefix of bag types: 1.2.840.113549.1.12.10.1.N, without N.
const BAG: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01];
const KEY: u8 = 1;
const SHROUDED_KEY: u8 = 2;
const CERTIFICATE: u8 = 3;

/// An RSA key and its certificate.
pub(crate) struct KeyAndCertificate {
    pub(crate) key: RsaKeyPair,
    /// The certificate in DER.
    pub(crate) certificate: Vec<u8>,
}

/// The contents of a file.
#[derive(Default)]
struct Contents {
    /// The private keys in PKCS #8.
    keys: Vec<Vec<u8>>,
    certificates: Vec<Vec<u8>>,
}

/// Reads a file that is encrypted with a password, which may be empty.
///
/// # Errors
/// Fails if the file is no PKCS #12 file, if the password is wrong, or if the file has no RSA key or no certificate
/// for it.
pub(crate) fn read(bytes: &[u8], password: &str) -> Result<KeyAndCertificate, TokenError> {
    let invalid = |problem: &str| TokenError::credentials(problem);
    let (content, mac) = outer(bytes).ok_or_else(|| invalid("it is not a PKCS #12 file (.pfx, .p12)"))?;
    // An unknown MAC algorithm is no reason to refuse: decryption below fails with a wrong password, too.
    let fits = |password: &Password| mac.is_none_or(|mac| verify_mac(mac, content, password) != Some(false));
    let password = Password::encodings(password).into_iter().find(fits);
    let password = password.ok_or_else(|| invalid("the password is wrong"))?;
    let contents = decrypt(content, &password).ok_or_else(|| invalid("its content cannot be decrypted"))?;
    // Keys of other types may precede the RSA key, which is the only type that Entra ID accepts here.
    let key = contents.keys.iter().find_map(|key| RsaKeyPair::from_pkcs8(key).ok());
    let key = key.ok_or_else(|| invalid("it has no RSA key"))?;
    // The certificate embeds the encoded public key. Finding it needs no X.509 parser.
    let public = key.public_key().as_ref();
    let is_of_key = |certificate: &&Vec<u8>| certificate.windows(public.len()).any(|window| window == public);
    let certificate = contents.certificates.iter().find(is_of_key).cloned();
    let certificate = certificate.ok_or_else(|| invalid("it has no certificate for its key"))?;
    Ok(KeyAndCertificate { key, certificate })
}

/// Reads the outer structure: the content, and the MAC that verifies it with the password.
fn outer(bytes: &[u8]) -> Option<(&[u8], Option<Der<'_>>)> {
    let mut file = Der::new(bytes).inside(SEQUENCE)?;
    // RFC 7292 defines version 3 and no later one.
    if file.number()? != 3 {
        return None;
    }
    let content = plain(&mut file.inside(SEQUENCE)?)?;
    Some((content, file.inside(SEQUENCE)))
}

/// Returns the bytes of a content of type `data`, which is not encrypted.
fn plain<'a>(content: &mut Der<'a>) -> Option<&'a [u8]> {
    (content.take(OBJECT)?.strip_prefix(CONTENT)? == [DATA]).then_some(())?;
    content.inside(CONTEXT_0)?.take(OCTETS)
}

/// Verifies the MAC. Returns `None` if its algorithm is unknown.
fn verify_mac(mut mac: Der<'_>, content: &[u8], password: &Password) -> Option<bool> {
    let mut digest = mac.inside(SEQUENCE)?;
    let algorithm = digest.inside(SEQUENCE)?;
    let (value, salt) = (digest.take(OCTETS)?, mac.take(OCTETS)?);
    password.verify_mac(algorithm, value, salt, mac.number().unwrap_or(1), content)
}

fn decrypt(content: &[u8], password: &Password) -> Option<Contents> {
    let mut found = Contents::default();
    let mut parts = Der::new(content).inside(SEQUENCE)?;
    while !parts.is_empty() {
        let mut part = parts.inside(SEQUENCE)?;
        // A copy of the reader, because `plain` consumes the content type.
        let kind = part;
        if let Some(bags) = plain(&mut part) {
            found.bags(bags, password)?;
        } else if { kind }.take(OBJECT)?.strip_prefix(CONTENT)? == [ENCRYPTED_DATA] {
            let mut part = kind;
            part.skip()?;
            found.bags(&decrypted(part, password)?, password)?;
        }
    }
    Some(found)
}

/// Decrypts a content of type `encryptedData`.
fn decrypted(mut part: Der<'_>, password: &Password) -> Option<Vec<u8>> {
    let mut data = part.inside(CONTEXT_0)?.inside(SEQUENCE)?;
    // The version, 0 or 2, makes no difference for the fields that are read here.
    data.number()?;
    let mut content = data.inside(SEQUENCE)?;
    content.take(OBJECT)?;
    let algorithm = content.inside(SEQUENCE)?;
    password.decrypt(algorithm, content.take(CONTEXT_0_PRIMITIVE)?)
}

impl Contents {
    /// Adds the keys and certificates in a sequence of bags. Ignores other bags, such as revocation lists.
    fn bags(&mut self, bags: &[u8], password: &Password) -> Option<()> {
        let mut bags = Der::new(bags).inside(SEQUENCE)?;
        while !bags.is_empty() {
            let mut bag = bags.inside(SEQUENCE)?;
            let kind = bag.take(OBJECT)?;
            let value = bag.take(CONTEXT_0)?;
            match kind.strip_prefix(BAG) {
                Some([KEY]) => self.keys.push(value.to_vec()),
                Some([SHROUDED_KEY]) => {
                    let mut shrouded = Der::new(value).inside(SEQUENCE)?;
                    let algorithm = shrouded.inside(SEQUENCE)?;
                    self.keys.push(password.decrypt(algorithm, shrouded.take(OCTETS)?)?);
                }
                Some([CERTIFICATE]) => {
                    let mut bag = Der::new(value).inside(SEQUENCE)?;
                    bag.take(OBJECT)?;
                    self.certificates.push(bag.inside(CONTEXT_0)?.take(OCTETS)?.to_vec());
                }
                _ => {}
            }
        }
        Some(())
    }
}

/// The remaining bytes of a DER encoding.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

/// The tags of the elements that occur in PKCS #12 files.
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// The context-specific tag 0, constructed and primitive.
const CONTEXT_0: u8 = 0xA0;
const CONTEXT_0_PRIMITIVE: u8 = 0x80;

impl<'a> Der<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the tag of the next element.
    fn next_tag(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// Reads the content of the next element, if it has this tag.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, rest) = self.0.split_first()?;
        let (first, mut rest) = rest.split_first()?;
        // Long form: the low bits count the bytes of the length. Files over 4 GiB do not occur.
        let mut length = usize::from(*first);
        if length >= 0x80 {
            let (digits, after) = rest.split_at_checked(length & 0x7F)?;
            // Without digits the length is indefinite, which DER forbids.
            if digits.is_empty() || digits.len() > 4 {
                return None;
            }
            length = digits.iter().fold(0, |length, digit| (length << 8) | usize::from(*digit));
            rest = after;
        }
        let (content, rest) = rest.split_at_checked(length)?;
        if *found != tag {
            return None;
        }
        // Only now, so that a reader with another tag can try the same element.
        self.0 = rest;
        Some(content)
    }

    /// Reads the content of the next element, whatever its tag.
    fn skip(&mut self) -> Option<&'a [u8]> {
        self.take(self.next_tag()?)
    }

    /// Reads the next element, if it has this tag, and returns a reader of its content.
    fn inside(&mut self, tag: u8) -> Option<Self> {
        self.take(tag).map(Self)
    }

    /// Reads a non-negative integer.
    fn number(&mut self) -> Option<u32> {
        let digits = self.take(INTEGER)?;
        // Five bytes, because a number with the high bit set has a leading zero. Negative numbers are refused.
        let is_small = !digits.is_empty() && digits.len() <= 5 && digits[0] < 0x80;
        let number = digits.iter().fold(0_u64, |number, digit| (number << 8) | u64::from(*digit));
        u32::try_from(number).ok().filter(|_| is_small)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODERN: &[u8] = include_bytes!("../../tests/pfx/modern.pfx");
    const LEGACY: &[u8] = include_bytes!("../../tests/pfx/legacy.pfx");
    const OPEN: &[u8] = include_bytes!("../../tests/pfx/open.pfx");

    #[test]
    fn legacy_modern_and_unencrypted_files_are_read() {
        let certificates: Vec<Vec<u8>> = [(MODERN, "pass"), (LEGACY, "pass"), (OPEN, "")]
            .map(|(file, password)| read(file, password).map(|found| found.certificate).unwrap())
            .into();
        assert_eq!(certificates[0], certificates[1]);
        assert_eq!(certificates[0], certificates[2]);
    }

    #[test]
    fn wrong_passwords_and_damaged_files_are_reported() {
        let problem = |bytes: &[u8], password: &str| read(bytes, password).map(|_| ()).unwrap_err().to_string();
        assert_eq!(problem(MODERN, "word"), "the password is wrong");
        assert_eq!(problem(LEGACY, ""), "the password is wrong");
        assert_eq!(problem(b"-----BEGIN CERTIFICATE-----", ""), "it is not a PKCS #12 file (.pfx, .p12)");
        // Truncation at every byte: each length in the encoding is checked against the remaining bytes.
        for length in 0..OPEN.len() {
            assert!(read(&OPEN[..length], "").is_err(), "{length}");
        }
    }
}
