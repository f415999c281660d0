//! TLS of database connections, with the verification that `sslmode` selects.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::config::Target;
use crate::error::StoreError;

/// The use of TLS, from `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsMode {
    Off,
    /// If the server has it; unverified.
    Preferred,
    /// Required, but any certificate is accepted.
    Unverified,
    /// The certificate comes from a known authority, whatever its name.
    VerifyAuthority,
    /// The certificate comes from a known authority and names the host.
    VerifyFull,
}

/// Creates the TLS connector of a target.
///
/// # Errors
/// Files of certificates or keys cannot be read.
pub(super) fn connector(target: &Target) -> Result<MakeRustlsConnect, StoreError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let invalid = |problem: rustls::Error| StoreError::InvalidArgument {
        argument: "conn_str".to_owned(),
        reason: format!("its TLS settings cannot be used: {problem}"),
    };
    let verifier: Arc<dyn ServerCertVerifier> = match target.tls {
        TlsMode::Off | TlsMode::Preferred | TlsMode::Unverified => {
            Arc::new(LenientVerifier { provider: Arc::clone(&provider), authority: None })
        }
        TlsMode::VerifyAuthority | TlsMode::VerifyFull => {
            let roots = Arc::new(roots(target.authorities.as_deref())?);
            let strict = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                .build()
                .map_err(|problem| invalid(rustls::Error::General(problem.to_string())))?;
            if target.tls == TlsMode::VerifyFull {
                strict
            } else {
                Arc::new(LenientVerifier { provider: Arc::clone(&provider), authority: Some(strict) })
            }
        }
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(invalid)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match &target.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|problem| unreadable(key, &problem.to_string()))?;
            builder.with_client_auth_cert(certificates(certificate)?, key).map_err(invalid)?
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let failed = |problem: rustls::pki_types::pem::Error| unreadable(path, &problem.to_string());
    CertificateDer::pem_file_iter(path).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
}

fn unreadable(path: &Path, reason: &str) -> StoreError {
    StoreError::InvalidArgument {
        argument: "conn_str".to_owned(),
        reason: format!("the file {} cannot be used: {reason}", path.display()),
    }
}

/// Returns the authorities of a file, or those of the system.
fn roots(file: Option<&Path>) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) => roots.add_parsable_certificates(certificates(path)?),
        None => roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs),
    };
    Ok(roots)
}

/// Accepts certificates that a strict verification refuses: all of them, or those of another host.
#[derive(Debug)]
struct LenientVerifier {
    provider: Arc<CryptoProvider>,
    /// Verifies the authority; none if any certificate is accepted.
    authority: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        match authority.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The chain is verified before the name is compared.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
