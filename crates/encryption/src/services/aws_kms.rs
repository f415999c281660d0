//! `aws_kms`: AWS Key Management Service generates data keys and decrypts them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::arguments::{Argument, ArgumentType, ArgumentValues};
use super::aws_assume_role::{AssumedRoles, ENDPOINTS, ROLE, WEB_IDENTITY_ROLE};
use super::aws_sigv4::signed;
use super::network::{
    ConnectionOptions, Network, NetworkRequest, TlsVerification, bytes, in_home, or_variable, request_json_with, string,
};
use crate::error::KeyError;
use crate::key_provider::{GeneratedKey, KeyService, encode_metadata};

pub(super) const ARGUMENTS: &[Argument] = &[
    Argument::required("kms_key_id", ArgumentType::String),
    Argument::required("key_spec", ArgumentType::String),
    Argument::optional("encryption_context", ArgumentType::Map),
    Argument::optional("region", ArgumentType::String),
    Argument::optional("profile", ArgumentType::String),
    Argument::optional("access_key", ArgumentType::String),
    Argument::optional("secret_key", ArgumentType::String),
    Argument::optional("token", ArgumentType::String),
    Argument::optional("use_fips_endpoint", ArgumentType::Bool),
    Argument::optional("use_dualstack_endpoint", ArgumentType::Bool),
    Argument::optional("max_retries", ArgumentType::Ignored),
    Argument::optional("retry_mode", ArgumentType::Ignored),
    Argument::optional("skip_credentials_validation", ArgumentType::Ignored),
    Argument::optional("skip_requesting_account_id", ArgumentType::Ignored),
    Argument::optional("skip_metadata_api_check", ArgumentType::Bool),
    Argument::optional("sts_region", ArgumentType::String),
    Argument::optional("allowed_account_ids", ArgumentType::StringList),
    Argument::optional("forbidden_account_ids", ArgumentType::StringList),
    Argument::optional("assume_role", ArgumentType::Object(ROLE)),
    Argument::optional("assume_role_with_web_identity", ArgumentType::Object(WEB_IDENTITY_ROLE)),
    Argument::optional("endpoints", ArgumentType::Object(ENDPOINTS)),
    Argument::optional("custom_ca_bundle", ArgumentType::String),
    Argument::optional("http_proxy", ArgumentType::String),
    Argument::optional("https_proxy", ArgumentType::String),
    Argument::optional("no_proxy", ArgumentType::String),
    Argument::optional("insecure", ArgumentType::Bool),
    Argument::optional("shared_config_files", ArgumentType::StringList),
    Argument::optional("shared_credentials_files", ArgumentType::StringList),
    Argument::optional("ec2_metadata_service_endpoint", ArgumentType::String),
    Argument::optional("ec2_metadata_service_endpoint_mode", ArgumentType::String),
];

/// The key specs for which `GenerateDataKey` returns keys that AES-GCM can use.
const KEY_SPECS: [&str; 2] = ["AES_256", "AES_128"];

#[derive(Debug)]
pub(super) struct AwsKms {
    network: Arc<dyn Network>,
    arguments: ArgumentValues,
    key_id: String,
    key_spec: String,
    encryption_context: BTreeMap<String, String>,
    roles: AssumedRoles,
    connection: ConnectionOptions,
}

/// The metadata in an encrypted file, in OpenTofu's format.
#[derive(Serialize, Deserialize)]
struct KeyMetadata {
    ciphertext_blob: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    encryption_context: BTreeMap<String, String>,
}

impl AwsKms {
    pub(super) fn new(arguments: &ArgumentValues, network: Arc<dyn Network>) -> Result<Self, KeyError> {
        let key_spec = arguments.required_string("key_spec")?;
        if !KEY_SPECS.contains(&key_spec.as_str()) {
            return Err(KeyError::argument(format!("key_spec must be {}, not {key_spec:?}", KEY_SPECS.join(" or "))));
        }
        Ok(Self {
            key_id: arguments.required_string("kms_key_id")?,
            key_spec,
            encryption_context: arguments.map("encryption_context"),
            roles: AssumedRoles::new(arguments, &*network)?,
            connection: connection_options(arguments, &*network),
            arguments: arguments.clone(),
            network,
        })
    }

    fn region(&self) -> Result<String, KeyError> {
        or_variable(self.arguments.string("region"), &*self.network, &["AWS_REGION", "AWS_DEFAULT_REGION"]).ok_or_else(
            || KeyError::argument("no AWS region is set; set \"region\" or the environment variable AWS_REGION"),
        )
    }

    /// Returns the URL of the service in a region.
    fn endpoint(&self, region: &str) -> String {
        if let Some(url) = or_variable(None, &*self.network, &["AWS_ENDPOINT_URL_KMS", "AWS_ENDPOINT_URL"]) {
            return url;
        }
        let is_set = |name: &str, variable: &str| {
            self.arguments.bool(name).unwrap_or_else(|| self.network.variable(variable).as_deref() == Some("true"))
        };
        let service = if is_set("use_fips_endpoint", "AWS_USE_FIPS_ENDPOINT") { "kms-fips" } else { "kms" };
        let is_dual_stack = is_set("use_dualstack_endpoint", "AWS_USE_DUALSTACK_ENDPOINT");
        let domain = match (region.starts_with("cn-"), is_dual_stack) {
            (true, true) => "api.amazonwebservices.com.cn",
            (true, false) => "amazonaws.com.cn",
            (false, true) => "api.aws",
            (false, false) => "amazonaws.com",
        };
        format!("https://{service}.{region}.{domain}/")
    }

    /// Calls an operation of the service.
    fn call(&self, operation: &str, document: Json) -> Result<Json, KeyError> {
        let region = self.region()?;
        let endpoint = self.endpoint(&region);
        // The signature covers the path. The client sends "/" for a URL without a path, so sign that.
        let url = if endpoint.matches('/').count() < 3 { format!("{endpoint}/") } else { endpoint };
        let request = NetworkRequest {
            method: "POST",
            url,
            headers: vec![
                ("content-type".to_owned(), "application/x-amz-json-1.1".to_owned()),
                // The historical name of the KMS API.
                ("x-amz-target".to_owned(), format!("TrentService.{operation}")),
            ],
            body: document.to_string().into_bytes(),
        };
        let keys = self.roles.keys(&self.arguments, &region, &*self.network, &self.connection)?;
        request_json_with(&*self.network, &signed(request, "kms", &region, &keys)?, &self.connection)
    }
}

fn connection_options(arguments: &ArgumentValues, network: &dyn Network) -> ConnectionOptions {
    let ca_bundle = or_variable(arguments.string("custom_ca_bundle"), network, &["AWS_CA_BUNDLE"]);
    let is_insecure = arguments.bool("insecure").unwrap_or(false);
    ConnectionOptions {
        http_proxy: arguments.string("http_proxy"),
        https_proxy: arguments.string("https_proxy"),
        no_proxy: arguments.string("no_proxy"),
        ca_bundle: ca_bundle.map(|path| in_home(&path, network)),
        tls_verification: if is_insecure { TlsVerification::Disabled } else { TlsVerification::Enabled },
        timeout: None,
    }
}

impl KeyService for AwsKms {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        let mut document = json!({ "KeyId": self.key_id, "KeySpec": self.key_spec });
        if !self.encryption_context.is_empty() {
            document["EncryptionContext"] = json!(self.encryption_context);
        }
        let answer = self.call("GenerateDataKey", document)?;
        let metadata = KeyMetadata {
            ciphertext_blob: string(&answer, "CiphertextBlob")?,
            encryption_context: self.encryption_context.clone(),
        };
        Ok(GeneratedKey { key: bytes(&answer, "Plaintext")?, metadata: encode_metadata(&metadata)? })
    }

    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        let metadata = metadata.and_then(|metadata| serde_json::from_slice::<KeyMetadata>(metadata).ok());
        let Some(metadata) = metadata.filter(|metadata| !metadata.ciphertext_blob.is_empty()) else { return Ok(None) };
        let mut document = json!({ "KeyId": self.key_id, "CiphertextBlob": metadata.ciphertext_blob });
        // The recorded context, not the configured one: decryption needs the one that the key was generated with.
        if !metadata.encryption_context.is_empty() {
            document["EncryptionContext"] = json!(metadata.encryption_context);
        }
        bytes(&self.call("Decrypt", document)?, "Plaintext").map(Some)
    }
}
