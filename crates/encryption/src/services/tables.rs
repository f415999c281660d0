//! The arguments of the key management services, as in OpenTofu's `key_provider` blocks.

use super::arguments::{Argument, ArgumentType};

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
