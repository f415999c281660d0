//! PKCS #12 (PFX) files with an RSA key and its certificate (RFC 7292).

use aws_lc_rs::signature::{KeyPair, RsaKeyPair};
use p12_keystore::{Pkcs12Archive, error::Error};

use crate::error::TokenError;

/// An RSA key and its certificate.
pub(crate) struct KeyAndCertificate {
    pub(crate) key: RsaKeyPair,
    /// The certificate in DER.
    pub(crate) certificate: Vec<u8>,
}

/// Reads a file that is encrypted with a password, which may be empty.
///
/// # Errors
/// Fails if the file is no PKCS #12 file, if the password is wrong, or if the file has no RSA key or no certificate
/// for it.
pub(crate) fn read(bytes: &[u8], password: &str) -> Result<KeyAndCertificate, TokenError> {
    let invalid = |problem: &str| TokenError::credentials(problem);
    let archive = Pkcs12Archive::from_pkcs12(bytes, password).map_err(|error| match error {
        Error::DerError(_) | Error::InvalidVersion => invalid("it is not a PKCS #12 file (.pfx, .p12)"),
        Error::MacError(_) | Error::Pkcs5Error(_) | Error::UnpadError => invalid("the password is wrong"),
        other => TokenError::credentials(format!("its content cannot be decrypted: {other}")),
    })?;
    // Keys of other types may precede the RSA key, which is the only type that Entra ID accepts here.
    let key = archive.keys.iter().find_map(|bag| RsaKeyPair::from_pkcs8(bag.key.as_der()).ok());
    let key = key.ok_or_else(|| invalid("it has no RSA key"))?;
    // The certificate embeds the encoded public key, and some programs write no attribute that ties the two.
    let public = key.public_key().as_ref();
    let is_of_key = |certificate: &&[u8]| certificate.windows(public.len()).any(|window| window == public);
    let certificate = archive.certs.iter().map(|bag| bag.cert.as_der()).find(is_of_key);
    let certificate = certificate.ok_or_else(|| invalid("it has no certificate for its key"))?;
    Ok(KeyAndCertificate { key, certificate: certificate.to_vec() })
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
