//! Key management services: the key providers `aws_kms`, `gcp_kms`, `azure_vault` and `openbao`.
//!
//! This crate defines their arguments. The command line passes in the [`KeyServices`] that calls them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::error::KeyError;
use crate::key_provider::KeyService;

/// The key management services that this process can reach.
pub trait KeyServices: fmt::Debug + Send + Sync {
    /// Creates a key provider of one of the types in [`SERVICES`]. Sends no request yet.
    ///
    /// # Errors
    /// Fails if an argument is missing or invalid, or if the type is unknown.
    fn open(&self, provider_type: &str, arguments: &ArgumentValues) -> Result<Arc<dyn KeyService>, KeyError>;
}

/// A declared argument of a key provider.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// The name, as in OpenTofu's `key_provider` block.
    pub name: &'static str,
    /// The type that a value is converted to.
    pub ty: ArgumentType,
    /// Whether a configuration must set it.
    pub need: Need,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentType {
    /// A string; an empty one counts as unset.
    String,
    /// A whole number, such as a key length.
    Number,
    /// A boolean; numbers and strings are converted.
    Bool,
    /// A map of strings.
    Map,
    /// A list of strings.
    StringList,
    /// An object, or a nested block, with arguments of its own.
    Object(&'static [Argument]),
    /// Accepted for compatibility and ignored, because it configures something that this client does not do.
    Ignored,
    /// Known from OpenTofu but rejected; holds the advice that the error message gives.
    Unsupported(&'static str),
}

/// Whether an argument must be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A configuration without the argument is an error.
    Required,
    /// The argument has a default, or an environment variable can set it.
    Optional,
}

impl Argument {
    pub(crate) const fn required(name: &'static str, ty: ArgumentType) -> Self {
        Self { name, ty, need: Need::Required }
    }

    pub(crate) const fn optional(name: &'static str, ty: ArgumentType) -> Self {
        Self { name, ty, need: Need::Optional }
    }
}

/// The values of arguments by name. `Debug` prints names only, because values may be secrets.
#[derive(Clone, Default)]
pub struct ArgumentValues(BTreeMap<String, ArgumentValue>);

/// The value of an argument.
#[derive(Clone)]
pub enum ArgumentValue {
    /// The value of an [`ArgumentType::String`].
    String(String),
    /// The value of an [`ArgumentType::Number`].
    Number(i64),
    /// The value of an [`ArgumentType::Bool`].
    Bool(bool),
    /// The value of an [`ArgumentType::Map`].
    Map(BTreeMap<String, String>),
    /// The value of an [`ArgumentType::StringList`].
    StringList(Vec<String>),
    /// The value of an [`ArgumentType::Object`].
    Object(ArgumentValues),
}

impl fmt::Debug for ArgumentValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl FromIterator<(String, ArgumentValue)> for ArgumentValues {
    fn from_iter<I: IntoIterator<Item = (String, ArgumentValue)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl ArgumentValues {
    /// Returns a string; an empty one counts as unset, as in OpenTofu.
    pub fn string(&self, name: &str) -> Option<String> {
        match self.0.get(name) {
            Some(ArgumentValue::String(string)) if !string.is_empty() => Some(string.clone()),
            _ => None,
        }
    }

    /// Returns a string that must be set and not empty.
    ///
    /// # Errors
    /// Fails if it is not.
    pub fn required_string(&self, name: &str) -> Result<String, KeyError> {
        self.string(name).ok_or_else(|| KeyError::argument(format!("{name} must not be empty")))
    }

    /// Returns a whole number.
    pub fn number(&self, name: &str) -> Option<i64> {
        match self.0.get(name) {
            Some(ArgumentValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns a boolean, or `None` if it is not set.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            Some(ArgumentValue::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// Returns the values of an object.
    pub fn object(&self, name: &str) -> Option<&Self> {
        match self.0.get(name) {
            Some(ArgumentValue::Object(values)) => Some(values),
            _ => None,
        }
    }

    /// Returns a map of strings; an empty one if it is not set.
    pub fn map(&self, name: &str) -> BTreeMap<String, String> {
        match self.0.get(name) {
            Some(ArgumentValue::Map(map)) => map.clone(),
            _ => BTreeMap::new(),
        }
    }

    /// Returns a list of strings; an empty one if it is not set.
    pub fn strings(&self, name: &str) -> Vec<String> {
        match self.0.get(name) {
            Some(ArgumentValue::StringList(strings)) => strings.clone(),
            _ => Vec::new(),
        }
    }
}

/// The types of the key providers that are network services.
pub const SERVICES: [&str; 4] = ["aws_kms", "azure_vault", "gcp_kms", "openbao"];

/// Returns the arguments of a key provider of this type, or `None` if the type is not one of [`SERVICES`].
pub fn service_arguments(provider_type: &str) -> Option<&'static [Argument]> {
    match provider_type {
        "aws_kms" => Some(AWS_KMS),
        "azure_vault" => Some(AZURE_VAULT),
        "gcp_kms" => Some(GCP_KMS),
        "openbao" => Some(OPENBAO),
        _ => None,
    }
}

const AWS_KMS: &[Argument] = &[
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
    Argument::optional("max_retries", ArgumentType::Number),
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

/// The arguments of `assume_role`.
const ROLE: &[Argument] = &[
    Argument::required("role_arn", ArgumentType::String),
    Argument::optional("duration", ArgumentType::String),
    Argument::optional("external_id", ArgumentType::String),
    Argument::optional("policy", ArgumentType::String),
    Argument::optional("policy_arns", ArgumentType::StringList),
    Argument::optional("session_name", ArgumentType::String),
    Argument::optional("tags", ArgumentType::Map),
    Argument::optional("transitive_tag_keys", ArgumentType::StringList),
];

/// The arguments of `assume_role_with_web_identity`.
const WEB_IDENTITY_ROLE: &[Argument] = &[
    Argument::optional("role_arn", ArgumentType::String),
    Argument::optional("duration", ArgumentType::String),
    Argument::optional("policy", ArgumentType::String),
    Argument::optional("policy_arns", ArgumentType::StringList),
    Argument::optional("session_name", ArgumentType::String),
    Argument::optional("web_identity_token", ArgumentType::String),
    Argument::optional("web_identity_token_file", ArgumentType::String),
];

/// The arguments of `endpoints`.
const ENDPOINTS: &[Argument] =
    &[Argument::optional("sts", ArgumentType::String), Argument::optional("iam", ArgumentType::Ignored)];

const AZURE_VAULT: &[Argument] = &[
    Argument::required("vault_uri", ArgumentType::String),
    Argument::required("vault_key_name", ArgumentType::String),
    Argument::required("key_length", ArgumentType::Number),
    Argument::optional("symmetric", ArgumentType::Bool),
    Argument::optional("symmetric_key_size", ArgumentType::Number),
    Argument::optional("tenant_id", ArgumentType::String),
    Argument::optional("environment", ArgumentType::String),
    Argument::optional("client_id", ArgumentType::String),
    Argument::optional("client_id_file_path", ArgumentType::String),
    Argument::optional("client_secret", ArgumentType::String),
    Argument::optional("client_secret_file_path", ArgumentType::String),
    Argument::optional("use_oidc", ArgumentType::Bool),
    Argument::optional("oidc_token", ArgumentType::String),
    Argument::optional("oidc_token_file_path", ArgumentType::String),
    Argument::optional("oidc_request_url", ArgumentType::String),
    Argument::optional("oidc_request_token", ArgumentType::String),
    Argument::optional("use_aks_workload_identity", ArgumentType::Bool),
    Argument::optional("use_msi", ArgumentType::Bool),
    Argument::optional("msi_endpoint", ArgumentType::String),
    Argument::optional("use_cli", ArgumentType::Bool),
    Argument::optional("subscription_id", ArgumentType::Ignored),
    Argument::optional("metadata_host", ArgumentType::String),
    Argument::optional("client_certificate", ArgumentType::String),
    Argument::optional("client_certificate_password", ArgumentType::String),
    Argument::optional("client_certificate_path", ArgumentType::String),
];

const GCP_KMS: &[Argument] = &[
    Argument::required("kms_encryption_key", ArgumentType::String),
    Argument::required("key_length", ArgumentType::Number),
    Argument::optional("additional_authenticated_data", ArgumentType::String),
    Argument::optional("credentials", ArgumentType::String),
    Argument::optional("access_token", ArgumentType::String),
    Argument::optional("impersonate_service_account", ArgumentType::String),
    Argument::optional("impersonate_service_account_delegates", ArgumentType::StringList),
];

const OPENBAO: &[Argument] = &[
    Argument::required("key_name", ArgumentType::String),
    Argument::optional("address", ArgumentType::String),
    Argument::optional("token", ArgumentType::String),
    Argument::optional("key_length", ArgumentType::Number),
    Argument::optional("transit_engine_path", ArgumentType::String),
    Argument::optional("associated_data", ArgumentType::String),
];
