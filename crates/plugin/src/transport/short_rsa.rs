//! Verification of signatures by RSA keys that are shorter than TLS libraries accept.
//!
//! A Python library for providers generates keys of 1024 bits. An attacker who could forge their signatures would still
//! need access to a socket that only the user can open, so security does not depend on the key length here. That the
//! peer owns the key is verified nonetheless.

use rsa::pkcs8::DecodePublicKey;
use rsa::sha2::{Sha256, Sha384, Sha512};
use rsa::signature::Verifier;
use rsa::traits::PublicKeyParts;
use rsa::{RsaPublicKey, pkcs1v15, pss};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, SignatureScheme};

/// The minimum key size in bytes that TLS libraries accept.
const LIMIT: usize = 256;
/// The minimum key size in bytes that this module accepts.
const MIN_SIZE: usize = 128;

/// Verifies a signature by a short RSA key; `None` if it is invalid or the key is not a short RSA key.
pub(super) fn verify(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signature: &DigitallySignedStruct,
) -> Option<HandshakeSignatureValid> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let key = RsaPublicKey::from_public_key_der(&parsed.subject_public_key_info()).ok()?;
    let is_short = (MIN_SIZE..LIMIT).contains(&key.size());
    (is_short && is_valid(key, message, signature)).then(HandshakeSignatureValid::assertion)
}

fn is_valid(key: RsaPublicKey, message: &[u8], signed: &DigitallySignedStruct) -> bool {
    let signature = signed.signature();
    let padded = || pss::Signature::try_from(signature);
    let plain = || pkcs1v15::Signature::try_from(signature);
    let checked = match signed.scheme {
        SignatureScheme::RSA_PSS_SHA256 => {
            padded().and_then(|one| pss::VerifyingKey::<Sha256>::new(key).verify(message, &one))
        }
        SignatureScheme::RSA_PSS_SHA384 => {
            padded().and_then(|one| pss::VerifyingKey::<Sha384>::new(key).verify(message, &one))
        }
        SignatureScheme::RSA_PKCS1_SHA256 => {
            plain().and_then(|one| pkcs1v15::VerifyingKey::<Sha256>::new(key).verify(message, &one))
        }
        SignatureScheme::RSA_PKCS1_SHA384 => {
            plain().and_then(|one| pkcs1v15::VerifyingKey::<Sha384>::new(key).verify(message, &one))
        }
        SignatureScheme::RSA_PKCS1_SHA512 => {
            plain().and_then(|one| pkcs1v15::VerifyingKey::<Sha512>::new(key).verify(message, &one))
        }
        _ => return false,
    };
    checked.is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use rsa::pkcs8::DecodePrivateKey;
    use rsa::signature::{RandomizedSigner, SignatureEncoding, Signer as _};
    use rsa::{RsaPrivateKey, rand_core};
    use rustls::crypto::aws_lc_rs;
    use rustls::server::ResolvesServerCert;
    use rustls::sign::{CertifiedKey, Signer, SigningKey};
    use rustls::{ServerConfig, SignatureAlgorithm};
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    use super::*;
    use crate::transport::tls::{Identity, server_name};

    /// A key of 1024 bits that is used for nothing else.
    const KEY: &str = "\
MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMNW7g6u+HYbyfGkuOvxsz31OKh/TX0seHmcKQsO3LIK9z+h5ZebMw8lyOWqZz\
OuuJbFSfLfqSgsLdkDe1pTRXU+/+T9D4igg1zDCBrX4lbmf645pwHL4u2nKqQabbsFxnETPa1URyspBHKYLzi4QX/r64RtuP0T2gbgliXd2FbX\
AgMBAAECgYEAjsnipnUcRim2Cp9gVYiOf4Hbcr/rws5ZGnwePGkWxkbhyW/sxk+6mR4Dpm5TliHn6L46egEoQ6dXtESpTLOGFxGQmRHJsiDoEF\
FDWBXFPh6vRMbBSyyPgH/2G8THAVsnHfW2w5ZlfvibZ+1/5GnvVZSnYPhGNsVipCrXaAIdOtECQQDg9X8TRIIywAkCrx19RvmsBg1CTPAEHsM6\
4TQqAPFho9oOHvQVRDHJamRefYperphDCBt3/pn5n7Hb9gZzPD4LAkEA3ksmnobkYrNHTcy9ZLXTxo+KjeAlTq7RIYjZJKPyFQlOzKoNBR8um5\
mVG9K8/ioHtj4g2j5yutgdkBnUGn/l5QJAE0fXQV6Azjq5SvqZS3B227CVGFahx6ifUP+WSfdUuOqjOMycXOpAXiP5QEQARQcv06bxO8KdjdCL\
HPAkM2I5awJAMcvR7ec32ChjC7mWn63fr/ZNynRwxwyASqvWQM/9FdtM7KoXWpNepHqmHWJ69dDCg3+talZc6yAolzRCAGGwRQJAHTSTXOQcZ4\
lqApLojGLHpHkNJojKBHUglpF9qDf+tgVlGuuzpm63sHdVEXh3LG1o62QdbFVMBxIgdpgHyKhWkw==";

    fn key() -> RsaPrivateKey {
        RsaPrivateKey::from_pkcs8_der(&BASE64_STANDARD.decode(KEY).unwrap()).unwrap()
    }

    /// Not random at all: what is padded is of no interest here.
    struct Zeroes;

    impl rand_core::CryptoRng for Zeroes {}
    impl rand_core::RngCore for Zeroes {
        fn next_u32(&mut self) -> u32 {
            0
        }
        fn next_u64(&mut self) -> u64 {
            0
        }
        fn fill_bytes(&mut self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core::Error> {
            bytes.fill(0);
            Ok(())
        }
    }

    /// The key as the owner of a certificate.
    struct Owner {
        public: Vec<u8>,
    }

    impl Owner {
        fn new() -> Self {
            use rsa::pkcs1::EncodeRsaPublicKey;
            Self { public: key().to_public_key().to_pkcs1_der().unwrap().into_vec() }
        }
    }

    impl rcgen::PublicKeyData for Owner {
        fn der_bytes(&self) -> &[u8] {
            &self.public
        }
        fn algorithm(&self) -> &'static rcgen::SignatureAlgorithm {
            &rcgen::PKCS_RSA_SHA256
        }
    }

    impl rcgen::SigningKey for Owner {
        fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
            Ok(pkcs1v15::SigningKey::<Sha256>::new(key()).sign(message).to_vec())
        }
    }

    /// The key of a server, which may differ from the one in its certificate.
    #[derive(Debug)]
    struct Server {
        certificate: CertificateDer<'static>,
        truth: Truth,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Truth {
        HasTheKey,
        OnlyHasTheCertificate,
    }

    impl ResolvesServerCert for Server {
        fn resolve(&self, _: rustls::server::ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            let key: Arc<dyn SigningKey> = Arc::new(Signing(self.truth));
            Some(Arc::new(CertifiedKey::new(vec![self.certificate.clone()], key)))
        }
    }

    #[derive(Debug)]
    struct Signing(Truth);

    impl SigningKey for Signing {
        fn choose_scheme(&self, _: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
            Some(Box::new(Self(self.0)))
        }
        fn algorithm(&self) -> SignatureAlgorithm {
            SignatureAlgorithm::RSA
        }
    }

    impl Signer for Signing {
        fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
            let mut message = message.to_vec();
            if self.0 == Truth::OnlyHasTheCertificate {
                // A signature over another message, as a peer without the key would have to invent one.
                message.push(b'!');
            }
            Ok(pss::SigningKey::<Sha256>::new(key()).sign_with_rng(&mut Zeroes, &message).to_vec())
        }
        fn scheme(&self) -> SignatureScheme {
            SignatureScheme::RSA_PSS_SHA256
        }
    }

    async fn connects(truth: Truth) -> bool {
        let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = certificate.self_signed(&Owner::new()).unwrap().der().clone();
        let client = Identity::new().unwrap().client(certificate.to_vec()).unwrap();
        let server = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Server { certificate, truth }));
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(TlsAcceptor::from(Arc::new(server)).accept(theirs));
        TlsConnector::from(client).connect(server_name(), ours).await.is_ok()
    }

    #[tokio::test]
    async fn short_rsa_key_is_accepted_with_valid_signature() {
        assert_eq!(key().to_public_key().size(), MIN_SIZE);
        assert!(connects(Truth::HasTheKey).await);
        assert!(!connects(Truth::OnlyHasTheCertificate).await);
    }
}
