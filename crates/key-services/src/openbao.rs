//! `openbao`: the transit secrets engine of OpenBao, or of Vault, generates data keys and decrypts them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groma_cloud::Environment;
use groma_cloud::api::{ApiClient, ApiRequest, bytes, string, url_encoded};
use groma_cloud::http::{ConnectionSettings, Method};
use groma_encryption::{ArgumentValues, GeneratedKey, KeyError, KeyService};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::requests::{encode_metadata, key_error, request_json};

/// The default of OpenBao's own client.
const DEFAULT_ADDRESS: &str = "https://127.0.0.1:8200";

#[derive(Debug)]
pub(super) struct OpenBao {
    api: ApiClient,
    arguments: ArgumentValues,
    key_name: String,
    key_bits: i64,
    engine_path: String,
    associated_data: Option<String>,
}

/// The metadata in an encrypted file, in OpenTofu's format.
#[derive(Serialize, Deserialize)]
struct KeyMetadata {
    /// The server's ciphertext (`vault:v1:...`), encoded in Base64 once more.
    ciphertext: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    associated_data: String,
}

impl OpenBao {
    pub(super) fn new(arguments: &ArgumentValues, environment: Environment) -> Result<Self, KeyError> {
        // Zero counts as unset, as in OpenTofu.
        let key_length = arguments.number("key_length").filter(|length| *length != 0).unwrap_or(32);
        if ![16, 32, 64].contains(&key_length) {
            return Err(KeyError::Argument(format!("key_length must be 16, 32 or 64 bytes, not {key_length}")));
        }
        let associated_data = arguments.string("associated_data");
        if associated_data.as_ref().is_some_and(|data| BASE64_STANDARD.decode(data).is_err()) {
            return Err(KeyError::Argument("associated_data is not valid Base64".to_owned()));
        }
        let engine_path = arguments.string("transit_engine_path").unwrap_or_else(|| "transit".to_owned());
        // The engine may be mounted below several path segments, so the slashes stay.
        let segments = engine_path.split('/').filter(|segment| !segment.is_empty()).map(url_encoded);
        Ok(Self {
            key_name: arguments.required_string("key_name")?,
            key_bits: key_length * 8,
            engine_path: segments.collect::<Vec<String>>().join("/"),
            associated_data,
            arguments: arguments.clone(),
            api: ApiClient::new(ConnectionSettings::default(), environment).map_err(key_error)?,
        })
    }

    /// Calls an operation of the engine and returns the `data` of its response.
    fn call(&self, operation: &str, mut document: Json, associated_data: Option<&str>) -> Result<Json, KeyError> {
        let environment = self.api.environment();
        let variable = |names: &[&str]| environment.first(names).map(str::to_owned);
        let address = self.arguments.string("address").or_else(|| variable(&["BAO_ADDR", "VAULT_ADDR"]));
        let address = address.unwrap_or_else(|| DEFAULT_ADDRESS.to_owned());
        // Vault's variables come second: OpenBao is a fork and accepts both names.
        let token = self.arguments.string("token").or_else(|| variable(&["BAO_TOKEN", "VAULT_TOKEN"]));
        // `bao login` stores its token in this file, under Vault's name.
        let token = token.or_else(|| {
            let stored = std::fs::read_to_string(environment.home()?.join(".vault-token")).ok()?;
            Some(stored.trim().to_owned()).filter(|token| !token.is_empty())
        });
        if let Some(data) = associated_data {
            document["associated_data"] = data.into();
        }
        let (base, engine, key) = (address.trim_end_matches('/'), &self.engine_path, url_encoded(&self.key_name));
        let url = format!("{base}/v1/{engine}/{operation}/{key}");
        // OpenBao's agent and proxy refuse requests without this header, as a protection from request forgery.
        let mut request = ApiRequest::json(Method::PUT, url, &document).with_header("x-vault-request", "true");
        if let Some(token) = token {
            request = request.with_header("x-vault-token", token);
        }
        if let Some(namespace) = variable(&["BAO_NAMESPACE", "VAULT_NAMESPACE"]) {
            request = request.with_header("x-vault-namespace", namespace);
        }
        let mut answer = request_json(&self.api, request)?;
        // A response without data becomes null, in which the fields are reported as missing.
        Ok(answer.get_mut("data").map(Json::take).unwrap_or_default())
    }
}

impl KeyService for OpenBao {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        let answer =
            self.call("datakey/plaintext", json!({ "bits": self.key_bits }), self.associated_data.as_deref())?;
        let metadata = KeyMetadata {
            ciphertext: BASE64_STANDARD.encode(string(&answer, "ciphertext").map_err(key_error)?),
            associated_data: self.associated_data.clone().unwrap_or_default(),
        };
        Ok(GeneratedKey { key: bytes(&answer, "plaintext").map_err(key_error)?, metadata: encode_metadata(&metadata)? })
    }

    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        let Some(metadata) = metadata.and_then(|metadata| serde_json::from_slice::<KeyMetadata>(metadata).ok()) else {
            return Ok(None);
        };
        let ciphertext =
            BASE64_STANDARD.decode(&metadata.ciphertext).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(ciphertext) = ciphertext.filter(|text| !text.is_empty()) else { return Ok(None) };
        // The recorded data, not the configured one: decryption needs what the key was generated with.
        let associated_data = Some(metadata.associated_data.as_str()).filter(|data| !data.is_empty());
        let answer = self.call("decrypt", json!({ "ciphertext": ciphertext }), associated_data)?;
        bytes(&answer, "plaintext").map(Some).map_err(key_error)
    }
}
