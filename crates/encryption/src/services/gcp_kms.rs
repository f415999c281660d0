//! `gcp_kms`: a key in Google Cloud Key Management Service wraps locally generated keys.

use std::sync::Arc;

use aws_lc_rs::rand;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::arguments::{Argument, ArgumentType, ArgumentValues};
use super::google_credentials::GoogleCredentials;
use super::network::{Network, NetworkRequest, bytes, request_json, string};
use crate::error::KeyError;
use crate::key_provider::{GeneratedKey, KeyService, encode_metadata};

pub(super) const ARGUMENTS: &[Argument] = &[
    Argument::required("kms_encryption_key", ArgumentType::String),
    Argument::required("key_length", ArgumentType::Number),
    Argument::optional("additional_authenticated_data", ArgumentType::String),
    Argument::optional("credentials", ArgumentType::String),
    Argument::optional("access_token", ArgumentType::String),
    Argument::optional("impersonate_service_account", ArgumentType::String),
    Argument::optional("impersonate_service_account_delegates", ArgumentType::StringList),
];

/// The URL of the service, unless `GOOGLE_KMS_CUSTOM_ENDPOINT` is set.
const ENDPOINT: &str = "https://cloudkms.googleapis.com/v1/";

/// The limit of the service for additional authenticated data, in bytes.
const MAXIMUM_ADDITIONAL_DATA: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct GcpKms {
    network: Arc<dyn Network>,
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
    pub(super) fn new(arguments: &ArgumentValues, network: Arc<dyn Network>) -> Result<Self, KeyError> {
        let key_length = arguments.number("key_length").unwrap_or_default();
        let key_length = usize::try_from(key_length)
            .ok()
            .filter(|length| (1..=1024).contains(length))
            .ok_or_else(|| KeyError::argument(format!("key_length must be from 1 to 1024 bytes, not {key_length}")))?;
        let additional_data = arguments.string("additional_authenticated_data");
        match additional_data.as_ref().map(|data| BASE64_STANDARD.decode(data)) {
            Some(Err(_)) => return Err(KeyError::argument("additional_authenticated_data is not valid Base64")),
            Some(Ok(data)) if data.len() > MAXIMUM_ADDITIONAL_DATA => {
                return Err(KeyError::argument("additional_authenticated_data is longer than 64 KiB"));
            }
            _ => {}
        }
        Ok(Self {
            key_name: arguments.required_string("kms_encryption_key")?,
            key_length,
            additional_data,
            credentials: GoogleCredentials::new(arguments),
            network,
        })
    }

    /// Calls a method of the key.
    fn call(&self, method: &str, mut document: Json) -> Result<Json, KeyError> {
        if let Some(data) = &self.additional_data {
            document["additionalAuthenticatedData"] = data.as_str().into();
        }
        let endpoint = self.network.variable("GOOGLE_KMS_CUSTOM_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        let url = format!("{}/{}:{method}", endpoint.trim_end_matches('/'), self.key_name.trim_matches('/'));
        let token = self.credentials.token(&*self.network)?;
        request_json(&*self.network, &NetworkRequest::json("POST", url, &document).with_bearer_token(&token))
    }
}

impl KeyService for GcpKms {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        let mut key = vec![0; self.key_length];
        rand::fill(&mut key).map_err(|_| KeyError::random_numbers())?;
        let answer = self.call("encrypt", json!({ "plaintext": BASE64_STANDARD.encode(&key) }))?;
        let metadata = encode_metadata(&KeyMetadata { ciphertext: string(&answer, "ciphertext")? })?;
        Ok(GeneratedKey { key, metadata })
    }

    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        let metadata = metadata.and_then(|metadata| serde_json::from_slice::<KeyMetadata>(metadata).ok());
        let Some(metadata) = metadata.filter(|metadata| !metadata.ciphertext.is_empty()) else { return Ok(None) };
        bytes(&self.call("decrypt", json!({ "ciphertext": metadata.ciphertext }))?, "plaintext").map(Some)
    }
}
