//! `aws_kms`: AWS Key Management Service generates data keys and decrypts them.

use std::collections::BTreeMap;

use groma_cloud::Environment;
use groma_cloud::api::{bytes, string};
use groma_cloud::aws::{
    AssumeRole, AwsClient, AwsKeys, AwsRequest, AwsService, AwsSettings, IpStack, MetadataService, RequestError,
    WebIdentityRole, WebIdentityToken,
};
use groma_cloud::http::{ConnectionSettings, TlsVerification};
use groma_encryption::{ArgumentValues, GeneratedKey, KeyError, KeyService};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::requests::{encode_metadata, key_error};

/// The key specs for which `GenerateDataKey` returns keys that AES-GCM can use.
const KEY_SPECS: [&str; 2] = ["AES_256", "AES_128"];

#[derive(Debug)]
pub(super) struct AwsKms {
    client: AwsClient,
    key_id: String,
    key_spec: String,
    encryption_context: BTreeMap<String, String>,
    allowed_accounts: Vec<String>,
    forbidden_accounts: Vec<String>,
}

/// The metadata in an encrypted file, in OpenTofu's format.
#[derive(Serialize, Deserialize)]
struct KeyMetadata {
    ciphertext_blob: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    encryption_context: BTreeMap<String, String>,
}

impl AwsKms {
    pub(super) fn new(arguments: &ArgumentValues, environment: Environment) -> Result<Self, KeyError> {
        let key_spec = arguments.required_string("key_spec")?;
        if !KEY_SPECS.contains(&key_spec.as_str()) {
            return Err(KeyError::Argument(format!("key_spec must be {}, not {key_spec:?}", KEY_SPECS.join(" or "))));
        }
        let accounts = |name: &str| arguments.strings(name);
        let (allowed_accounts, forbidden_accounts) =
            (accounts("allowed_account_ids"), accounts("forbidden_account_ids"));
        if !allowed_accounts.is_empty() && !forbidden_accounts.is_empty() {
            return Err(KeyError::Argument(
                "allowed_account_ids conflicts with forbidden_account_ids; set one of them".to_owned(),
            ));
        }
        let client = AwsClient::new(aws_settings(arguments, environment)?);
        Ok(Self {
            client: client.map_err(|error| KeyError::Argument(error.to_string()))?,
            key_id: arguments.required_string("kms_key_id")?,
            key_spec,
            encryption_context: arguments.map("encryption_context"),
            allowed_accounts,
            forbidden_accounts,
        })
    }

    /// Calls an operation of the service.
    fn call(&self, operation: &'static str, document: &Json) -> Result<Json, KeyError> {
        // Before every call, because the credentials may change between them; without either list it costs no request.
        self.check_account()?;
        // The target has the historical name of the KMS API.
        let body = document.to_string().into_bytes();
        let request = AwsRequest::json(AwsService::KMS, "TrentService", operation, "1.1", body);
        let answer = self.client.send_blocking(request).map_err(request_error)?;
        serde_json::from_slice(&answer.body)
            .map_err(|_| KeyError::Response("the response of the service is not JSON".to_owned()))
    }

    /// Checks that the keys belong to an account which the configuration allows.
    fn check_account(&self) -> Result<(), KeyError> {
        if self.allowed_accounts.is_empty() && self.forbidden_accounts.is_empty() {
            return Ok(());
        }
        let id = self.client.caller_identity_blocking().map_err(request_error)?.account;
        if self.forbidden_accounts.contains(&id) {
            return Err(KeyError::Credentials(format!("forbidden_account_ids contains the AWS account {id}")));
        }
        if !self.allowed_accounts.is_empty() && !self.allowed_accounts.contains(&id) {
            return Err(KeyError::Credentials(format!("allowed_account_ids does not contain the AWS account {id}")));
        }
        Ok(())
    }
}

/// Translates an error of the client, which already names the operation and the service.
fn request_error(error: RequestError) -> KeyError {
    match error {
        RequestError::Client(error) => KeyError::Credentials(error.to_string()),
        RequestError::Network { .. } => KeyError::Connection(error.to_string()),
        _ => {
            let status = error.status().unwrap_or_default();
            KeyError::Rejected { status, message: Some(error.to_string()) }
        }
    }
}

impl KeyService for AwsKms {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        let mut document = json!({ "KeyId": self.key_id, "KeySpec": self.key_spec });
        if !self.encryption_context.is_empty() {
            document["EncryptionContext"] = json!(self.encryption_context);
        }
        let answer = self.call("GenerateDataKey", &document)?;
        let metadata = KeyMetadata {
            ciphertext_blob: string(&answer, "CiphertextBlob").map_err(key_error)?,
            encryption_context: self.encryption_context.clone(),
        };
        Ok(GeneratedKey { key: bytes(&answer, "Plaintext").map_err(key_error)?, metadata: encode_metadata(&metadata)? })
    }

    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        let metadata = metadata.and_then(|metadata| serde_json::from_slice::<KeyMetadata>(metadata).ok());
        let Some(metadata) = metadata.filter(|metadata| !metadata.ciphertext_blob.is_empty()) else { return Ok(None) };
        // The key ID is optional for symmetric keys, but with it AWS refuses ciphertexts of any other key.
        let mut document = json!({ "KeyId": self.key_id, "CiphertextBlob": metadata.ciphertext_blob });
        // The recorded context, not the configured one: decryption needs the one that the key was generated with.
        if !metadata.encryption_context.is_empty() {
            document["EncryptionContext"] = json!(metadata.encryption_context);
        }
        bytes(&self.call("Decrypt", &document)?, "Plaintext").map(Some).map_err(key_error)
    }
}

/// Returns the settings of the client.
///
/// # Errors
/// Fails if an argument is invalid: a mistake in the configuration must not wait for the first request.
pub(crate) fn aws_settings(arguments: &ArgumentValues, environment: Environment) -> Result<AwsSettings, KeyError> {
    let text = |name: &str| arguments.string(name);
    let paths = |name: &str| arguments.strings(name).into_iter().map(Into::into).collect();
    let keys = text("access_key").zip(text("secret_key"));
    let mode = text("ec2_metadata_service_endpoint_mode");
    // The SDK would report another value only when it reaches the metadata service.
    if let Some(mode) = mode.as_ref().filter(|mode| !["IPv4", "IPv6"].contains(&mode.as_str())) {
        return Err(KeyError::Argument(format!(
            "ec2_metadata_service_endpoint_mode must be \"IPv4\" or \"IPv6\", not {mode:?}"
        )));
    }
    let sts = arguments.object("endpoints").and_then(|endpoints| endpoints.string("sts"));
    let bundle = text("custom_ca_bundle");
    // The argument counts retries, and the client counts attempts.
    let attempts = arguments.number("max_retries").and_then(|retries| u32::try_from(retries).ok()?.checked_add(1));
    Ok(AwsSettings {
        keys: keys.map(|(id, secret)| AwsKeys::new(id, secret, text("token"))),
        profile: text("profile"),
        region: text("region"),
        config_files: paths("shared_config_files"),
        credentials_files: paths("shared_credentials_files"),
        web_identity_role: arguments.object("assume_role_with_web_identity").map(web_identity).transpose()?,
        roles: arguments.object("assume_role").map(assume_role).transpose()?.into_iter().collect(),
        endpoints: sts.map(|url| ("sts".to_owned(), url)).into_iter().collect(),
        sts_region: text("sts_region"),
        stack: IpStack {
            fips: arguments.bool("use_fips_endpoint"),
            dual_stack: arguments.bool("use_dualstack_endpoint"),
        },
        metadata: MetadataService {
            // False leaves the decision to AWS_EC2_METADATA_DISABLED, as if it were not set.
            enabled: arguments.bool("skip_metadata_api_check").filter(|skips| *skips).map(|_| false),
            endpoint: text("ec2_metadata_service_endpoint"),
            endpoint_mode: mode,
        },
        connection: ConnectionSettings {
            http_proxy: text("http_proxy"),
            https_proxy: text("https_proxy"),
            no_proxy: text("no_proxy"),
            ca_bundle: bundle.map(|path| environment.expand_home(&path)),
            tls_verification: match arguments.bool("insecure") {
                Some(true) => TlsVerification::Disabled,
                _ => TlsVerification::Enabled,
            },
            ..ConnectionSettings::default()
        },
        attempts,
        environment,
        ..AwsSettings::default()
    })
}

fn assume_role(role: &ArgumentValues) -> Result<AssumeRole, KeyError> {
    Ok(AssumeRole {
        role_arn: role.required_string("role_arn")?,
        session_name: role.string("session_name"),
        external_id: role.string("external_id"),
        duration: duration(role)?,
        policy: role.string("policy"),
        policy_arns: role.strings("policy_arns"),
        tags: role.map("tags"),
        transitive_tag_keys: role.strings("transitive_tag_keys"),
        source_identity: None,
    })
}

fn web_identity(role: &ArgumentValues) -> Result<WebIdentityRole, KeyError> {
    let token = match (role.string("web_identity_token"), role.string("web_identity_token_file")) {
        (Some(_), Some(_)) => {
            return Err(KeyError::Argument(
                "web_identity_token conflicts with web_identity_token_file; set one of them".to_owned(),
            ));
        }
        (Some(token), None) => WebIdentityToken::Inline(token.into()),
        (None, Some(path)) => WebIdentityToken::File(path.into()),
        (None, None) => WebIdentityToken::Environment,
    };
    Ok(WebIdentityRole {
        role_arn: role.string("role_arn"),
        token,
        session_name: role.string("session_name"),
        duration: duration(role)?,
        policy: role.string("policy"),
        policy_arns: role.strings("policy_arns"),
    })
}

fn duration(role: &ArgumentValues) -> Result<Option<std::time::Duration>, KeyError> {
    let Some(text) = role.string("duration") else { return Ok(None) };
    AssumeRole::parse_duration(&text).map(Some).ok_or_else(|| {
        KeyError::Argument(format!("duration must be from 15m to 12h, for example \"1h\" or \"1h30m\", not {text:?}"))
    })
}
