//! `azure_vault`: a key in Azure Key Vault, or in a managed HSM, wraps locally generated keys.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use groma_cloud::Environment;
use groma_cloud::api::{ApiRequest, bytes, string};
use groma_cloud::azure::{
    AuthenticationMethods, AzureCloud, AzureCredentials, AzureSettings, ClientSettings, OidcSettings,
};
use groma_cloud::http::Method;
use groma_encryption::{ArgumentValues, GeneratedKey, KeyError, KeyService};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::requests::{encode_metadata, key_error, random_key, request_json};

const API_VERSION: &str = "7.4";

/// The largest allowed `key_length`, in bytes. With RSA, the limit of the service is lower still.
const MAXIMUM_KEY_LENGTH: i64 = 1024;

#[derive(Debug)]
pub(super) struct AzureVault {
    credentials: AzureCredentials,
    /// The resource that tokens name: a managed HSM needs another one than a vault.
    resource: fn(&AzureCloud) -> &str,
    vault_uri: String,
    key_name: String,
    key_length: usize,
    algorithm: &'static str,
}

/// The metadata in an encrypted file, in OpenTofu's format.
#[derive(Serialize, Deserialize)]
struct KeyMetadata {
    ciphertext: String,
    iv: Option<String>,
    authentication_tag: Option<String>,
    additional_authenticated_data: Option<String>,
    #[serde(default)]
    key_version: String,
    #[serde(default)]
    algo: String,
}

impl AzureVault {
    pub(super) fn new(arguments: &ArgumentValues, environment: Environment) -> Result<Self, KeyError> {
        // Vaults have RSA keys; symmetric ones exist in managed HSMs only, hence the switch.
        let is_symmetric = arguments.bool("symmetric").unwrap_or(false);
        let algorithm = match (is_symmetric, arguments.number("symmetric_key_size")) {
            (false, _) => "RSA-OAEP-256",
            (true, Some(128)) => "A128GCM",
            (true, Some(192)) => "A192GCM",
            (true, Some(256)) => "A256GCM",
            (true, _) => return Err(KeyError::Argument("symmetric_key_size must be 128, 192 or 256".to_owned())),
        };
        let key_length = arguments.number("key_length").unwrap_or_default();
        if !(1..=MAXIMUM_KEY_LENGTH).contains(&key_length) {
            return Err(KeyError::Argument(format!(
                "key_length must be from 1 to {MAXIMUM_KEY_LENGTH} bytes, not {key_length}"
            )));
        }
        let (vault_uri, key_name) =
            (arguments.required_string("vault_uri")?, arguments.required_string("vault_key_name")?);
        let host = host_of(&vault_uri).ok_or_else(|| {
            KeyError::Argument(format!(
                "vault_uri must be a URL such as https://NAME.vault.azure.net, not {vault_uri:?}"
            ))
        })?;
        // The rule of the service. Checking it here also keeps "/" and "?" out of the URL.
        if !(key_name.len() <= 127 && key_name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')) {
            return Err(KeyError::Argument(
                "vault_key_name must consist of 1 to 127 letters, digits and hyphens".to_owned(),
            ));
        }
        Ok(Self {
            credentials: AzureCredentials::new(settings(arguments, environment)).map_err(key_error)?,
            // The host tells the two kinds of services apart in every cloud.
            resource: if host.contains(".managedhsm.") { |cloud| &cloud.managed_hsm } else { |cloud| &cloud.vault },
            key_name,
            key_length: usize::try_from(key_length).unwrap_or_default(),
            algorithm,
            vault_uri: vault_uri.trim_end_matches('/').to_owned(),
        })
    }

    /// Calls an operation of the key; `path` is the operation, after the version of the key if that matters.
    fn call(&self, path: &str, document: &Json) -> Result<Json, KeyError> {
        // Without a version in the path the service uses the newest one, which is right for encryption.
        let url = format!("{}/keys/{}{path}?api-version={API_VERSION}", self.vault_uri, self.key_name);
        let token = self.credentials.token_blocking(self.resource).map_err(key_error)?;
        let request = ApiRequest::json(Method::POST, url, document).with_bearer_token(&token);
        request_json(self.credentials.api(), request)
    }
}

/// Returns the settings of the credentials.
fn settings(arguments: &ArgumentValues, environment: Environment) -> AzureSettings {
    let (text, flag) = (|name: &str| arguments.string(name), |name: &str| arguments.bool(name));
    let secret = |name: &str| arguments.string(name).map(Into::into);
    AzureSettings {
        tenant_id: text("tenant_id"),
        environment_name: text("environment"),
        metadata_host: text("metadata_host"),
        client: ClientSettings {
            id: text("client_id"),
            id_file: text("client_id_file_path"),
            secret: secret("client_secret"),
            secret_file: text("client_secret_file_path"),
            certificate: secret("client_certificate"),
            certificate_path: text("client_certificate_path"),
            certificate_password: secret("client_certificate_password"),
        },
        oidc: OidcSettings {
            token: secret("oidc_token"),
            token_file: text("oidc_token_file_path"),
            request_url: text("oidc_request_url"),
            request_token: secret("oidc_request_token"),
            service_connection: None,
        },
        methods: AuthenticationMethods {
            oidc: flag("use_oidc"),
            aks_workload_identity: flag("use_aks_workload_identity"),
            managed_identity: flag("use_msi"),
            cli: flag("use_cli"),
        },
        msi_endpoint: text("msi_endpoint"),
        environment,
        ..AzureSettings::default()
    }
}

/// Returns the host of an HTTP URL.
fn host_of(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    rest.split(['/', ':', '?', '#']).next().filter(|host| !host.is_empty())
}

impl KeyService for AzureVault {
    fn generate(&self) -> Result<GeneratedKey, KeyError> {
        let key = random_key(self.key_length)?;
        let document = json!({ "alg": self.algorithm, "value": BASE64_URL_SAFE_NO_PAD.encode(&key) });
        let answer = self.call("/encrypt", &document)?;
        // Only symmetric algorithms have these fields. OpenTofu stores them in standard Base64.
        let optional = |name: &str| match answer[name].as_str() {
            Some(_) => bytes(&answer, name).map(|bytes| Some(BASE64_STANDARD.encode(bytes))).map_err(key_error),
            None => Ok(None),
        };
        // A key ID is https://VAULT/keys/NAME/VERSION. Emulators may omit it; then the newest version decrypts.
        let id = string(&answer, "kid").unwrap_or_default();
        let version = id.split_once("/keys/").and_then(|(_, rest)| rest.split('/').nth(1)).unwrap_or_default();
        let metadata = encode_metadata(&KeyMetadata {
            ciphertext: BASE64_STANDARD.encode(bytes(&answer, "value").map_err(key_error)?),
            iv: optional("iv")?,
            authentication_tag: optional("tag")?,
            additional_authenticated_data: optional("aad")?,
            key_version: version.to_owned(),
            algo: self.algorithm.to_owned(),
        })?;
        Ok(GeneratedKey { key, metadata })
    }

    fn recover(&self, metadata: Option<&[u8]>) -> Result<Option<Vec<u8>>, KeyError> {
        let metadata = metadata.and_then(|metadata| serde_json::from_slice::<KeyMetadata>(metadata).ok());
        let Some(metadata) = metadata.filter(|metadata| !metadata.ciphertext.is_empty()) else { return Ok(None) };
        let Some(value) = to_url_safe(&metadata.ciphertext) else { return Ok(None) };
        // The recorded version and algorithm, not the current ones: the key may have been rotated or replaced since.
        let algorithm = if metadata.algo.is_empty() { self.algorithm } else { &metadata.algo };
        let mut document = json!({ "alg": algorithm, "value": value });
        let fields = [
            ("iv", metadata.iv),
            ("tag", metadata.authentication_tag),
            ("aad", metadata.additional_authenticated_data),
        ];
        for (name, field) in fields {
            // RSA has none of these fields, and the service refuses empty ones.
            if let Some(field) = field.as_deref().and_then(to_url_safe).filter(|field| !field.is_empty()) {
                document[name] = field.into();
            }
        }
        let version =
            if metadata.key_version.is_empty() { String::new() } else { format!("/{}", metadata.key_version) };
        bytes(&self.call(&format!("{version}/decrypt"), &document)?, "value").map(Some).map_err(key_error)
    }
}

/// Converts standard Base64 to the URL-safe alphabet of the service.
fn to_url_safe(base64: &str) -> Option<String> {
    BASE64_STANDARD.decode(base64).ok().map(|bytes| BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
