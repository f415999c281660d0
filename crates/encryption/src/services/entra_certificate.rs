//! Applications that prove to Entra ID with a certificate who they are.

use aws_lc_rs::signature::RSA_PSS_SHA256;
use aws_lc_rs::{digest, rand};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use groma_diagnostics::io_reason;
use serde_json::json;

use super::given::Given;
use super::network::{Network, or_variable};
use super::word;
use crate::pfx;

/// How long a proof is good, in seconds.
const ASSERTED: u64 = 600;

/// A key with its certificate, as a file holds them.
pub(super) struct Certificate {
    file: Vec<u8>,
    password: String,
}

impl Certificate {
    /// The one that is given, or that the environment names.
    pub(super) fn given(given: &Given, network: &dyn Network) -> Result<Option<Self>, String> {
        let named = |name: &str, variable: &str| or_variable(given.text(name), network, &[variable]);
        let content = named("client_certificate", "ARM_CLIENT_CERTIFICATE").map(|text| {
            let decoded = BASE64_STANDARD.decode(text.split_whitespace().collect::<String>());
            decoded.map_err(|_| "client_certificate has to be a PKCS #12 file (.pfx) in Base64".to_owned())
        });
        let read = named("client_certificate_path", "ARM_CLIENT_CERTIFICATE_PATH").map(|path| {
            std::fs::read(&path).map_err(|problem| {
                format!(
                    "the file {path:?} with the certificate cannot be read: {problem}",
                    problem = io_reason(&problem)
                )
            })
        });
        let file = match (content.transpose()?, read.transpose()?) {
            (Some(content), Some(read)) if content != read => {
                return Err("client_certificate and client_certificate_path are different ones; give only one of them"
                    .to_owned());
            }
            (Some(file), _) | (None, Some(file)) => file,
            (None, None) => return Ok(None),
        };
        let password = named("client_certificate_password", "ARM_CLIENT_CERTIFICATE_PASSWORD").unwrap_or_default();
        Ok(Some(Self { file, password }))
    }

    /// The word of `client` for whoever gives tokens at `place`.
    pub(super) fn assertion(&self, client: &str, place: &str) -> Result<String, String> {
        let unusable = |problem: &str| {
            format!(
                "the client certificate for Azure cannot be used: {problem}; see client_certificate_path and client_certificate_password"
            )
        };
        let found = pfx::read(&self.file, &self.password).map_err(|problem| unusable(&problem))?;
        let mut id = [0; 16];
        rand::fill(&mut id).map_err(|_| unusable("the system gave no random numbers"))?;
        let print = digest::digest(&digest::SHA256, &found.certificate);
        let header = json!({ "alg": "PS256", "typ": "JWT", "x5t#S256": BASE64_URL_SAFE_NO_PAD.encode(print) });
        let now = word::now();
        let claims = json!({
            "aud": place, "iss": client, "sub": client, "jti": BASE64_URL_SAFE_NO_PAD.encode(id), "nbf": now, "iat": now,
            "exp": now + ASSERTED,
        });
        word::signed(&header, &claims, &found.key, &RSA_PSS_SHA256).ok_or_else(|| unusable("its key signs nothing"))
    }
}
