//! `gcp_kms`: a key in Google Cloud Key Management Service wraps locally generated keys.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_cloud::Environment;
use groma_cloud::api::{ApiRequest, bytes, string};
use groma_cloud::google::{GoogleCredentials, GoogleSettings};
use groma_cloud::http::Method;
use groma_encryption::{ArgumentValues, GeneratedKey, KeyError, KeyService};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::requests::{encode_metadata, key_error, random_key, request_json};

/// The OAuth scope of the tokens.
const SCOPE: &str = "https://www.googleapis.com/auth/cloudkms";

/// The URL of the service, unless `GOOGLE_KMS_CUSTOM_ENDPOINT` is set.
const ENDPOINT: &str = "https://cloudkms.googleapis.com/v1/";

/// The limit of the service for additional authenticated data, in bytes.
const MAXIMUM_ADDITIONAL_DATA: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct GcpKms {
    credentials: GoogleCredentials,
    key_name: String,
    key_length: usize,
    additional_data: Option<String>,
}

/// The metadata in an encrypted file, in OpenTofu's format.
#[derive(Serialize, Deserialize)]
struct KeyMetadata {
    ciphertext: String,
}

impl GcpKms {
    pub(super) fn new(arguments: &ArgumentValues, environment: Environment) -> Result<Self, KeyError> {
        let key_length = arguments.number("key_length").unwrap_or_default();
        let key_length = usize::try_from(key_length)
            .ok()
            .filter(|length| (1..=1024).contains(length))
            .ok_or_else(|| KeyError::Argument(format!("key_length must be from 1 to 1024 bytes, not {key_length}")))?;
        let additional_data = arguments.string("additional_authenticated_data");
        match additional_data.as_ref().map(|data| BASE64_STANDARD.decode(data)) {
            Some(Err(_)) => {
                return Err(KeyError::Argument("additional_authenticated_data is not valid Base64".to_owned()));
            }
            Some(Ok(data)) if data.len() > MAXIMUM_ADDITIONAL_DATA => {
                return Err(KeyError::Argument("additional_authenticated_data is longer than 64 KiB".to_owned()));
            }
            _ => {}
        }
        let credentials = GoogleCredentials::new(GoogleSettings {
            credentials: arguments.string("credentials").map(Into::into),
            access_token: arguments.string("access_token").map(Into::into),
            impersonate_service_account: arguments.string("impersonate_service_account"),
            delegates: arguments.strings("impersonate_service_account_delegates"),
            scopes: vec![SCOPE.to_owned()],
            environment,
            ..GoogleSettings::default()
        });
        Ok(Self {
            key_name: arguments.required_string("kms_encryption_key")?,
            key_length,
            additional_data,
            credentials: credentials.map_err(key_error)?,
        })
    }

    /// Calls a method of the key.
    fn call(&self, method: &str, mut document: Json) -> Result<Json, KeyError> {
        // OpenTofu does not record these data in the file, so the configured ones must fit.
        if let Some(data) = &self.additional_data {
            document["additionalAuthenticatedData"] = data.as_str().into();
        }
        // The variable of Terraform's Google provider, with which tests reach an emulator.
        let endpoint = self.credentials.api().environment().get("GOOGLE_KMS_CUSTOM_ENDPOINT").unwrap_or(ENDPOINT);
        let url = format!("{}/{}:{method}", endpoint.trim_end_matches('/'), self.key_name.trim_matches('/'));
        let token = self.credentials.token_blocking().map_err(key_error)?;
        let request = ApiRequest::json(Method::POST, url, &document).with_bearer_token(&token);
        request_json(self.credentials.api(), request)
    }
}

impl KeyService for GcpKms {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        let key = random_key(self.key_length)?;
        let answer = self.call("encrypt", json!({ "plaintext": BASE64_STANDARD.encode(&key) }))?;
        let metadata = encode_metadata(&KeyMetadata { ciphertext: string(&answer, "ciphertext").map_err(key_error)? })?;
        Ok(GeneratedKey { key, metadata })
    }

    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        let metadata = metadata.and_then(|metadata| serde_json::from_slice::<KeyMetadata>(metadata).ok());
        let Some(metadata) = metadata.filter(|metadata| !metadata.ciphertext.is_empty()) else { return Ok(None) };
        bytes(&self.call("decrypt", json!({ "ciphertext": metadata.ciphertext }))?, "plaintext")
            .map(Some)
            .map_err(key_error)
    }
}
