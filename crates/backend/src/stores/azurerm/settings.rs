//! The settings of the backend `azurerm`, checked and converted for the clients.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_cloud::Secret;
use groma_cloud::azure::{
    AuthenticationMethods, AzureCredentials, AzureSettings, ClientSettings, OidcSettings, StorageKey,
};
use sha2::{Digest, Sha256};

use super::access::{Access, KeyLookup};
use crate::error::StoreError;
use crate::host::Host;
use crate::schema::{Origin, Settings};
use crate::stores::token_errors::token_error;

/// The name of a blob container in an account.
pub(super) struct Names {
    pub account: String,
    pub container: String,
    pub key: String,
}

impl Names {
    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        let account = settings.required("storage_account_name");
        let is_account = (3..=24).contains(&account.len())
            && account.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !is_account {
            let reason = "it must have 3 to 24 lower-case letters and digits";
            return Err(invalid("storage_account_name", reason));
        }
        let container = settings.required("container_name");
        let is_container = (3..=63).contains(&container.len())
            && container.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !container.starts_with('-')
            && !container.ends_with('-')
            && !container.contains("--");
        // Every account may have this container, whose name has a form of its own.
        if !is_container && container != "$root" {
            let reason = "it must have 3 to 63 lower-case letters, digits and single hyphens, and begin and end with a letter or digit";
            return Err(invalid("container_name", reason));
        }
        let key = settings.required("key");
        if key.split('/').any(|part| matches!(part, "." | "..")) {
            return Err(invalid("key", "it must not contain the path elements \".\" and \"..\""));
        }
        Ok(Self { account: account.to_owned(), container: container.to_owned(), key: key.to_owned() })
    }
}

/// The encryption of blobs besides that of the account.
pub(super) enum AzureEncryption {
    OfAccount,
    /// An encryption scope of the account.
    Scope(String),
    /// A key that each request carries, in Base64, with the Base64 of its SHA-256 digest.
    Customer {
        key: Secret,
        digest: String,
    },
}

impl AzureEncryption {
    pub fn new(settings: &Settings) -> Result<Self, StoreError> {
        match (settings.text("encryption_scope"), settings.text("customer_provided_key")) {
            (Some(_), Some(_)) => Err(invalid("customer_provided_key", "it excludes \"encryption_scope\"")),
            (Some(scope), None) => Ok(Self::Scope(scope.to_owned())),
            (None, None) => Ok(Self::OfAccount),
            (None, Some(text)) => {
                let key = STANDARD.decode(text).ok().filter(|key| key.len() == 32);
                let key = key.ok_or_else(|| invalid("customer_provided_key", "it must be 32 bytes in Base64"))?;
                Ok(Self::Customer { key: Secret::new(text), digest: STANDARD.encode(Sha256::digest(key)) })
            }
        }
    }
}

/// Returns the address of an emulator or a private endpoint, where the variable of the Azure CLI names one for this account.
pub(super) fn service_endpoint(host: &Host, account: &str) -> Option<String> {
    let url = host.environment.get("AZURE_STORAGE_SERVICE_ENDPOINT")?;
    let (_, rest) = url.split_once("://")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    // Emulators name the account in the path, private links in the host.
    let is_of_account = authority.split('.').next() == Some(account) || path.split('/').next() == Some(account);
    is_of_account.then(|| url.trim_end_matches('/').to_owned())
}

/// Returns the way in which requests to the account are authorized: the first of access key, SAS token and Entra ID.
pub(super) fn access(settings: &Settings) -> Result<Access, StoreError> {
    let account = settings.required("storage_account_name");
    if let Some(key) = settings.text("access_key") {
        let key = StorageKey::new(account, key).map_err(|problem| invalid("access_key", problem.to_string()))?;
        return Ok(Access::Key(key));
    }
    if let Some(token) = settings.text("sas_token") {
        // Tokens are often copied together with the question mark of the query.
        return Ok(Access::Sas(Secret::new(token.trim_start_matches('?'))));
    }
    if settings.flag("use_azuread_auth") {
        return Ok(Access::Entra);
    }
    let needed = |name: &str| {
        settings.text(name).map(str::to_owned).ok_or_else(|| {
            let reason =
                "it is required to look the access key up; set it, or set use_azuread_auth = true, which needs no key";
            invalid(name, reason)
        })
    };
    let resource_group = needed("resource_group_name")?;
    Ok(Access::LookedUp(KeyLookup::new(needed("subscription_id")?, resource_group, account)))
}

/// Creates the credentials of Entra ID.
pub(super) fn credentials(settings: &Settings, host: &Host) -> Result<AzureCredentials, StoreError> {
    let text = |name| settings.text(name).map(str::to_owned);
    let secret = |name| settings.text(name).map(Secret::new);
    // A value of the configuration decides; otherwise the client reads the variable itself.
    let method = |name| (settings.origin(name) != Origin::Unset).then(|| settings.flag(name));
    AzureCredentials::new(AzureSettings {
        tenant_id: text("tenant_id"),
        environment_name: text("environment").map(current_name),
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
            service_connection: text("ado_pipeline_service_connection_id")
                .or_else(|| text("ado_service_connection_id")),
        },
        methods: AuthenticationMethods {
            oidc: method("use_oidc"),
            aks_workload_identity: method("use_aks_workload_identity"),
            managed_identity: method("use_msi"),
            cli: method("use_cli"),
        },
        msi_endpoint: text("msi_endpoint"),
        environment: host.environment.for_clouds(),
        ..AzureSettings::default()
    })
    .map_err(|problem| token_error("Azure", &problem))
}

/// Returns the present name of a cloud for one of its older names, which OpenTofu accepts.
fn current_name(name: String) -> String {
    match &*name {
        "global" | "canary" => "public".to_owned(),
        "dod" | "usgovernmentl4" | "usgovernmentl5" => "usgovernment".to_owned(),
        _ => name,
    }
}

fn invalid(argument: &str, reason: impl Into<String>) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Environment;

    #[test]
    fn service_endpoint_must_be_that_of_the_account() {
        let found = |url: &str| {
            let environment = Environment::of([("AZURE_STORAGE_SERVICE_ENDPOINT", url)]);
            service_endpoint(&Host { environment, ..Host::default() }, "acc")
        };
        assert_eq!(found("http://127.0.0.1:10000/acc/").as_deref(), Some("http://127.0.0.1:10000/acc"));
        assert_eq!(found("https://acc.blob.example/").as_deref(), Some("https://acc.blob.example"));
        assert_eq!((found("https://other.blob.example"), found("http://127.0.0.1:1/other")), (None, None));
    }
}
