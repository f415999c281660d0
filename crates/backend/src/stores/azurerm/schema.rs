//! The arguments of the backend `azurerm`.

use std::sync::LazyLock;

use groma_value::Type;

use crate::schema::{Argument, BackendSchema, Product};

/// The variables with the service connection of Azure Pipelines, which the products name differently as arguments.
const SERVICE_CONNECTION: &[&str] = &[
    "ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID",
    "ARM_OIDC_AZURE_SERVICE_CONNECTION_ID",
    "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID",
];

/// Returns the argument schema.
pub(super) fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let groups = [object(), cloud(), application(), oidc(), methods()];
        BackendSchema::new(groups.into_iter().flatten())
    });
    &SCHEMA
}

fn text(name: &'static str, environment: &'static [&'static str]) -> Argument {
    Argument::optional(name, Type::String).env(environment)
}

fn flag(name: &'static str, environment: &'static [&'static str]) -> Argument {
    Argument::optional(name, Type::Bool).env(environment)
}

fn object() -> Vec<Argument> {
    vec![
        Argument::required("storage_account_name", Type::String),
        Argument::required("container_name", Type::String),
        Argument::required("key", Type::String),
        flag("snapshot", &["ARM_SNAPSHOT"]),
        text("access_key", &["ARM_ACCESS_KEY"]).sensitive(),
        text("sas_token", &["ARM_SAS_TOKEN"]).sensitive(),
        // The variable is misspelled in OpenTofu.
        text("encryption_scope", &["ARM_ENCYRPTION_SCOPE", "ARM_ENCRYPTION_SCOPE"]).only(Product::OpenTofu),
        text("customer_provided_key", &["ARM_CUSTOMER_PROVIDED_KEY"]).sensitive().only(Product::OpenTofu),
    ]
}

fn cloud() -> Vec<Argument> {
    vec![
        text("environment", &["ARM_ENVIRONMENT"]),
        text("metadata_host", &["ARM_METADATA_HOST"]),
        text("endpoint", &["ARM_ENDPOINT"]).deprecated("Set metadata_host instead."),
        text("resource_group_name", &[]),
        text("subscription_id", &["ARM_SUBSCRIPTION_ID"]),
        Argument::optional("timeout_seconds", Type::Number)
            .env(&["ARM_TIMEOUT_SECONDS"])
            .default("300")
            .only(Product::OpenTofu),
        flag("lookup_blob_endpoint", &["ARM_USE_DNS_ZONE_ENDPOINT"]).only(Product::Terraform),
    ]
}

fn application() -> Vec<Argument> {
    vec![
        text("tenant_id", &["ARM_TENANT_ID"]),
        text("client_id", &["ARM_CLIENT_ID"]),
        text("client_id_file_path", &["ARM_CLIENT_ID_FILE_PATH"]),
        text("client_secret", &["ARM_CLIENT_SECRET"]).sensitive(),
        text("client_secret_file_path", &["ARM_CLIENT_SECRET_FILE_PATH"]),
        text("client_certificate", &["ARM_CLIENT_CERTIFICATE"]).sensitive(),
        text("client_certificate_path", &["ARM_CLIENT_CERTIFICATE_PATH"]),
        text("client_certificate_password", &["ARM_CLIENT_CERTIFICATE_PASSWORD"]).sensitive(),
    ]
}

fn oidc() -> Vec<Argument> {
    vec![
        text("oidc_token", &["ARM_OIDC_TOKEN"]).sensitive(),
        text("oidc_token_file_path", &["ARM_OIDC_TOKEN_FILE_PATH", "AZURE_FEDERATED_TOKEN_FILE"]),
        text("oidc_request_url", &["ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL", "SYSTEM_OIDCREQUESTURI"]),
        text("oidc_request_token", &["ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "SYSTEM_ACCESSTOKEN"])
            .sensitive(),
        text("ado_pipeline_service_connection_id", SERVICE_CONNECTION).only(Product::Terraform),
        text("ado_service_connection_id", SERVICE_CONNECTION).only(Product::OpenTofu),
    ]
}

fn methods() -> Vec<Argument> {
    vec![
        flag("use_azuread_auth", &["ARM_USE_AZUREAD"]),
        flag("use_oidc", &["ARM_USE_OIDC"]),
        flag("use_msi", &["ARM_USE_MSI"]),
        text("msi_endpoint", &["ARM_MSI_ENDPOINT"])
            .deprecated("The endpoint of managed identities is known; remove the argument."),
        flag("use_aks_workload_identity", &["ARM_USE_AKS_WORKLOAD_IDENTITY"]),
        flag("use_cli", &["ARM_USE_CLI"]).default("true"),
    ]
}
