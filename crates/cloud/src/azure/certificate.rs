//! Client certificates with which applications authenticate to Entra ID.

use aws_lc_rs::signature::RSA_PSS_SHA256;
use aws_lc_rs::{digest, rand};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use groma_diagnostics::io_reason;
use serde_json::json;

use super::pfx;
use super::settings::ClientSettings;
use crate::api::ApiClient;
use crate::error::TokenError;
use crate::jwt;
use crate::secret::Secret;

/// The lifetime of an assertion, in seconds. Entra ID accepts at most ten minutes.
const ASSERTION_LIFETIME: u64 = 600;

/// A PKCS #12 file with an RSA key and its certificate.
pub(super) struct Certificate {
    file: Vec<u8>,
    password: String,
}

impl Certificate {
    /// Reads the certificate that the settings or the environment name. Returns `None` if they name none.
    pub(super) fn read(client: &ClientSettings, api: &ApiClient) -> Result<Option<Self>, TokenError> {
        let inline = client.certificate.as_ref().map(Secret::reveal);
        let inline = api.or_variable(inline, &["ARM_CLIENT_CERTIFICATE"]).map(|text| {
            // Tools such as `base64` break lines, which the decoder would refuse.
            let decoded = BASE64_STANDARD.decode(text.split_whitespace().collect::<String>());
            decoded.map_err(|_| TokenError::setting("client_certificate must be a PKCS #12 file (.pfx) in Base64"))
        });
        let path = api.or_variable(client.certificate_path.as_deref(), &["ARM_CLIENT_CERTIFICATE_PATH"]);
        let from_file = path.map(|path| {
            std::fs::read(&path).map_err(|error| {
                TokenError::credentials(format!("cannot read the client certificate {path:?}: {}", io_reason(&error)))
            })
        });
        let file = match (inline.transpose()?, from_file.transpose()?) {
            // Equal ones are accepted, because a variable of the environment may repeat the setting of the block.
            (Some(inline), Some(from_file)) if inline != from_file => {
                return Err(TokenError::setting(
                    "client_certificate and client_certificate_path hold different certificates; set one of them",
                ));
            }
            (Some(file), _) | (None, Some(file)) => file,
            (None, None) => return Ok(None),
        };
        let password = client.certificate_password.as_ref().map(Secret::reveal);
        let password = api.or_variable(password, &["ARM_CLIENT_CERTIFICATE_PASSWORD"]).unwrap_or_default();
        Ok(Some(Self { file, password }))
    }

    /// Signs the client assertion of the application `client_id` for a token endpoint.
    pub(super) fn assertion(&self, client_id: &str, token_url: &str) -> Result<String, TokenError> {
        let unusable = |problem: String| {
            TokenError::credentials(format!(
                "cannot use the client certificate for Azure: {problem}; check client_certificate_path and \
                 client_certificate_password"
            ))
        };
        let pfx = pfx::read(&self.file, &self.password).map_err(|error| unusable(error.to_string()))?;
        let mut id = [0; 16];
        rand::fill(&mut id)
            .map_err(|_| TokenError::System("the operating system provides no random numbers".to_owned()))?;
        // Entra ID finds the registered certificate by this digest of its DER form.
        let thumbprint = digest::digest(&digest::SHA256, &pfx.certificate);
        let header = json!({ "alg": "PS256", "typ": "JWT", "x5t#S256": BASE64_URL_SAFE_NO_PAD.encode(thumbprint) });
        let now = jwt::unix_time();
        // The random `jti` makes each assertion unique, which protects it from replay.
        let claims = json!({
            "aud": token_url, "iss": client_id, "sub": client_id, "jti": BASE64_URL_SAFE_NO_PAD.encode(id), "nbf": now,
            "iat": now, "exp": now + ASSERTION_LIFETIME,
        });
        let signed = jwt::sign(&header, &claims, &pfx.key, &RSA_PSS_SHA256);
        signed.ok_or_else(|| unusable("its key cannot sign".to_owned()))
    }
}
