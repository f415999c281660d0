//! TLS where each side accepts exactly one certificate: the one it was told in the handshake.
//!
//! The usual checks of certificates do not fit here: Go's plugins present certificates of an authority as their own, and
//! nobody signs anybody's. That the peer holds the key of the certificate is checked as ever; that it is the very
//! certificate of the handshake takes the place of chains, names and dates.

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

/// What gRPC is called in TLS; Go's clients insist on it.
const ALPN: &[u8] = b"h2";

/// Our own certificate and its key, made for one connection.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    pem: String,
}

/// A certificate could not be made or used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// The own certificate could not be made.
    #[error("a certificate could not be made: {0}")]
    Own(#[from] rcgen::Error),
    /// TLS could not be set up.
    #[error("TLS could not be set up: {0}")]
    Setup(#[from] Error),
    /// The peer's certificate cannot be read.
    #[error("the certificate in {name} cannot be read", name = super::handshake::CLIENT_CERTIFICATE)]
    Peer,
}

impl Identity {
    /// Makes a key (P-256, which every peer knows) and a certificate for it.
    pub fn new() -> Result<Self, TlsError> {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
        let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()])?;
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "localhost");
        parameters.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature, rcgen::KeyUsagePurpose::KeyAgreement];
        parameters.extended_key_usages =
            vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth, rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = parameters.self_signed(&key)?;
        Ok(Self { certificate: certificate.der().clone(), key: key.serialize_der(), pem: certificate.pem() })
    }

    /// The certificate as PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The certificate as DER.
    pub fn der(&self) -> &[u8] {
        &self.certificate
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.clone()).into()
    }

    /// How to connect to the server that has the certificate `server` (DER).
    pub fn client(&self, server: Vec<u8>) -> Result<Arc<ClientConfig>, TlsError> {
        let crypto = Arc::new(aws_lc_rs::default_provider());
        let pinned = Pinned { certificate: server.into(), crypto: Arc::clone(&crypto) };
        let mut config = ClientConfig::builder_with_provider(crypto)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(pinned))
            .with_client_auth_cert(vec![self.certificate.clone()], self.key())?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Arc::new(config))
    }

    /// How to serve the client that has the certificate `client` (DER), and nobody else.
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

/// The first certificate of a PEM text.
pub(crate) fn certificate_of_pem(pem: &str) -> Result<CertificateDer<'static>, TlsError> {
    CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| TlsError::Peer)
}

/// The name that both sides are known by.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into())
}

/// Checks a signature of a handshake.
type Check = fn(
    &[u8],
    &CertificateDer<'_>,
    &DigitallySignedStruct,
    &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error>;

/// Accepts one certificate.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    crypto: Arc<CryptoProvider>,
}

impl Pinned {
    fn accept(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        if presented.as_ref() == self.certificate.as_ref() {
            return Ok(());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    /// Whether the holder of the certificate's key signed the message, which `check` does for one version of TLS.
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
