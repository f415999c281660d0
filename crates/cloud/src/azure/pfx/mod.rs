//! PKCS #12 (PFX) files with an RSA key and its certificate (RFC 7292).

mod der;
mod password;

use aws_lc_rs::signature::{KeyPair, RsaKeyPair};

use crate::error::TokenError;
use der::{CONTEXT_0, CONTEXT_0_PRIMITIVE, Der, OBJECT, OCTETS, SEQUENCE};
use password::Password;

/// 1.2.840.113549.1.7.N, without N.
const CONTENT: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07];
const DATA: u8 = 1;
const ENCRYPTED_DATA: u8 = 6;
/// 1.2.840.113549.1.12.10.1.N, without N.
const BAG: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01];
const KEY: u8 = 1;
const SHROUDED_KEY: u8 = 2;
const CERTIFICATE: u8 = 3;

/// An RSA key and its certificate.
pub(crate) struct KeyAndCertificate {
    pub(crate) key: RsaKeyPair,
    /// In DER.
    pub(crate) certificate: Vec<u8>,
}

/// The contents of a file.
#[derive(Default)]
struct Contents {
    /// In PKCS #8.
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

#[cfg(test)]
mod tests {
    use super::*;

    const MODERN: &[u8] = include_bytes!("../../../tests/pfx/modern.pfx");
    const LEGACY: &[u8] = include_bytes!("../../../tests/pfx/legacy.pfx");
    const OPEN: &[u8] = include_bytes!("../../../tests/pfx/open.pfx");

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
        for length in 0..OPEN.len() {
            assert!(read(&OPEN[..length], "").is_err(), "{length}");
        }
    }
}
