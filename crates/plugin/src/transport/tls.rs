//! TLS with pinned certificates: each side accepts exactly the certificate from the handshake.
//!
//! The usual certificate checks do not apply: Go plugins present CA certificates as their own, and no certificate is
//! signed by another. Pinning the certificate replaces chains, names and validity periods; that the peer owns its key
//! is verified as usual.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme,
};

use super::short_rsa;

/// The ALPN protocol ID of HTTP/2, which Go clients require.
const ALPN: &[u8] = b"h2";

/// Our certificate and its key, generated for a single connection.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    pem: String,
}

/// A failure to create or use a certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// Our certificate could not be generated.
    #[error("cannot generate a certificate: {0}")]
    Own(#[from] rcgen::Error),
    /// The TLS configuration failed.
    #[error("cannot set up TLS: {0}")]
    Setup(#[from] Error),
    /// The peer's certificate cannot be decoded.
    #[error("invalid certificate in {name}", name = super::handshake::CLIENT_CERTIFICATE)]
    Peer,
}

impl Identity {
    /// Generates a key (P-256, which every peer supports) and a self-signed certificate.
    pub fn new() -> Result<Self, TlsError> {
        // Generated per connection, so that no key is ever stored.
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
        let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()])?;
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "localhost");
        parameters.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature, rcgen::KeyUsagePurpose::KeyAgreement];
        parameters.extended_key_usages =
            vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth, rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = parameters.self_signed(&key)?;
        Ok(Self { certificate: certificate.der().clone(), key: key.serialize_der(), pem: certificate.pem() })
    }

    /// Returns the certificate in PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the certificate in DER.
    pub fn der(&self) -> &[u8] {
        &self.certificate
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.clone()).into()
    }

    /// Creates the configuration for connecting to the server with the certificate `server` (DER).
    pub fn client(&self, server: Vec<u8>) -> Result<Arc<ClientConfig>, TlsError> {
        let crypto = Arc::new(aws_lc_rs::default_provider());
        let pinned = Pinned { certificate: server.into(), crypto: Arc::clone(&crypto) };
        let mut config = ClientConfig::builder_with_provider(crypto)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(pinned))
            // Mutual TLS prevents other local users from calling the plugin, which holds credentials.
            .with_client_auth_cert(vec![self.certificate.clone()], self.key())?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Arc::new(config))
    }

    /// Creates the configuration for serving only the client with the certificate `client` (DER).
    pub fn server(&self, client: CertificateDer<'static>) -> Result<Arc<ServerConfig>, TlsError> {
        let crypto = Arc::new(aws_lc_rs::default_provider());
        let pinned = Pinned { certificate: client, crypto: Arc::clone(&crypto) };
        let mut config = ServerConfig::builder_with_provider(crypto)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(Arc::new(pinned))
            .with_single_cert(vec![self.certificate.clone()], self.key())?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Arc::new(config))
    }
}

/// Parses the first certificate of a PEM string.
pub(crate) fn certificate_of_pem(pem: &str) -> Result<CertificateDer<'static>, TlsError> {
    CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| TlsError::Peer)
}

/// Returns the server name for TLS, which both sides ignore.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into())
}

/// The signature verification of one TLS version.
type Check = fn(
    &[u8],
    &CertificateDer<'_>,
    &DigitallySignedStruct,
    &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error>;

/// A verifier that accepts exactly one certificate.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    crypto: Arc<CryptoProvider>,
}

impl Pinned {
    fn accept(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        // Certificates are public, so no constant-time comparison is needed.
        if presented.as_ref() == self.certificate.as_ref() {
            return Ok(());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    /// Verifies a handshake signature with `check`, falling back to short RSA keys.
    fn signature(
        &self,
        check: Check,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        check(message, certificate, signature, &self.crypto.signature_verification_algorithms)
            .or_else(|refused| short_rsa::verify(message, certificate, signature).ok_or(refused))
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.crypto.signature_verification_algorithms.supported_schemes()
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        presented: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.accept(presented).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(verify_tls12_signature, message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(verify_tls13_signature, message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

impl ClientCertVerifier for Pinned {
    // No hints: the client has only one certificate to present.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        presented: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.accept(presented).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(verify_tls12_signature, message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(verify_tls13_signature, message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}
