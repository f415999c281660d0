//! Files with a private key and its certificate: PKCS #12, also called PFX.

mod der;
mod password;

use aws_lc_rs::signature::{KeyPair, RsaKeyPair};

use der::{Der, FIRST, FIRST_PLAIN, OBJECT, OCTETS, SEQUENCE};
use password::Password;

/// 1.2.840.113549.1.7.N, without N.
const CONTENT: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07];
const PLAIN: u8 = 1;
const SEALED: u8 = 6;
/// 1.2.840.113549.1.12.10.1.N, without N.
const BAG: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01];
const KEY: u8 = 1;
const SEALED_KEY: u8 = 2;
const CERTIFICATE: u8 = 3;

/// A key and its certificate.
pub(crate) struct KeyAndCertificate {
    pub(crate) key: RsaKeyPair,
    /// In DER.
    pub(crate) certificate: Vec<u8>,
}

/// What such a file holds.
#[derive(Default)]
struct Found {
    /// In PKCS #8.
    keys: Vec<Vec<u8>>,
    certificates: Vec<Vec<u8>>,
}

/// Reads a file that is sealed with a password, which may be empty.
///
/// # Errors
/// When it is none, or has another password, or nothing usable is in it. The text has no secrets.
pub(crate) fn read(bytes: &[u8], password: &str) -> Result<KeyAndCertificate, String> {
    let (content, sum) = outside(bytes).ok_or("it is no PKCS #12 file (.pfx, .p12)")?;
    let fits = |password: &Password| sum.is_none_or(|sum| fits(sum, content, password) != Some(false));
    let password = Password::ways(password).into_iter().find(fits).ok_or("its password is another one")?;
    let found = inside(content, &password).ok_or("what is sealed in it cannot be opened")?;
    let key = found.keys.iter().find_map(|key| RsaKeyPair::from_pkcs8(key).ok());
    let key = key.ok_or("there is no RSA key in it")?;
    let public = key.public_key().as_ref();
    let is_of_key = |certificate: &&Vec<u8>| certificate.windows(public.len()).any(|part| part == public);
    let certificate =
        found.certificates.iter().find(is_of_key).ok_or("there is no certificate of its key in it")?.clone();
    Ok(KeyAndCertificate { key, certificate })
}

/// The content, and what tells whether a password is right.
fn outside(bytes: &[u8]) -> Option<(&[u8], Option<Der<'_>>)> {
    let mut file = Der::new(bytes).inside(SEQUENCE)?;
    if file.number()? != 3 {
        return None;
    }
    let content = plain(&mut file.inside(SEQUENCE)?)?;
    Some((content, file.inside(SEQUENCE)))
}

/// The bytes of a content that is not sealed.
fn plain<'a>(content: &mut Der<'a>) -> Option<&'a [u8]> {
    (content.take(OBJECT)?.strip_prefix(CONTENT)? == [PLAIN]).then_some(())?;
    content.inside(FIRST)?.take(OCTETS)
}

fn fits(mut sum: Der<'_>, content: &[u8], password: &Password) -> Option<bool> {
    let mut digest = sum.inside(SEQUENCE)?;
    let algorithm = digest.inside(SEQUENCE)?;
    let (value, salt) = (digest.take(OCTETS)?, sum.take(OCTETS)?);
    password.fits(algorithm, value, salt, sum.number().unwrap_or(1), content)
}

fn inside(content: &[u8], password: &Password) -> Option<Found> {
    let mut found = Found::default();
    let mut parts = Der::new(content).inside(SEQUENCE)?;
    while !parts.is_empty() {
        let mut part = parts.inside(SEQUENCE)?;
        let kind = part;
        if let Some(bags) = plain(&mut part) {
            found.bags(bags, password)?;
        } else if { kind }.take(OBJECT)?.strip_prefix(CONTENT)? == [SEALED] {
            let mut part = kind;
            part.skip()?;
            found.bags(&sealed(part, password)?, password)?;
        }
    }
    Some(found)
}

/// What is in a part that is sealed as a whole.
fn sealed(mut part: Der<'_>, password: &Password) -> Option<Vec<u8>> {
    let mut data = part.inside(FIRST)?.inside(SEQUENCE)?;
    data.number()?;
    let mut content = data.inside(SEQUENCE)?;
    content.take(OBJECT)?;
    let algorithm = content.inside(SEQUENCE)?;
    password.open(algorithm, content.take(FIRST_PLAIN)?)
}

impl Found {
    /// Takes in what is in the bags that are of use.
    fn bags(&mut self, bags: &[u8], password: &Password) -> Option<()> {
        let mut bags = Der::new(bags).inside(SEQUENCE)?;
        while !bags.is_empty() {
            let mut bag = bags.inside(SEQUENCE)?;
            let kind = bag.take(OBJECT)?;
            let value = bag.take(FIRST)?;
            match kind.strip_prefix(BAG) {
                Some([KEY]) => self.keys.push(value.to_vec()),
                Some([SEALED_KEY]) => {
                    let mut sealed = Der::new(value).inside(SEQUENCE)?;
                    let algorithm = sealed.inside(SEQUENCE)?;
                    self.keys.push(password.open(algorithm, sealed.take(OCTETS)?)?);
                }
                Some([CERTIFICATE]) => {
                    let mut bag = Der::new(value).inside(SEQUENCE)?;
                    bag.take(OBJECT)?;
                    self.certificates.push(bag.inside(FIRST)?.take(OCTETS)?.to_vec());
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

    const MODERN: &[u8] = include_bytes!("../../tests/pfx/modern.pfx");
    const LEGACY: &[u8] = include_bytes!("../../tests/pfx/legacy.pfx");
    const OPEN: &[u8] = include_bytes!("../../tests/pfx/open.pfx");

    #[test]
    fn keys_and_certificates_are_read_however_they_are_sealed() {
        let certificates: Vec<Vec<u8>> = [(MODERN, "pass"), (LEGACY, "pass"), (OPEN, "")]
            .map(|(file, password)| read(file, password).map(|found| found.certificate).unwrap())
            .into();
        assert_eq!(certificates[0], certificates[1]);
        assert_eq!(certificates[0], certificates[2]);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let said = |bytes: &[u8], password: &str| read(bytes, password).map(|_| ()).unwrap_err();
        assert_eq!(said(MODERN, "word"), "its password is another one");
        assert_eq!(said(LEGACY, ""), "its password is another one");
        assert_eq!(said(b"-----BEGIN CERTIFICATE-----", ""), "it is no PKCS #12 file (.pfx, .p12)");
        for length in 0..OPEN.len() {
            assert!(read(&OPEN[..length], "").is_err(), "{length}");
        }
    }
}
