//! The clouds of Azure and their URLs.

use crate::api::{ApiClient, ApiRequest, string};
use crate::error::TokenError;

/// The URLs of a cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AzureCloud {
    /// The base of token endpoints.
    pub login: String,
    /// The resource that tokens for Azure Resource Manager name.
    pub resource_manager: String,
    /// The domain of storage accounts, such as `core.windows.net`.
    pub storage_suffix: String,
    /// The resource that tokens for Key Vault name.
    pub vault: String,
    /// The resource that tokens for managed HSMs name.
    pub managed_hsm: String,
}

impl AzureCloud {
    /// The resource that tokens for storage accounts name, in every cloud.
    pub const STORAGE: &'static str = "https://storage.azure.com";

    fn new(login: &str, resource_manager: &str, storage_suffix: &str, vault: &str, managed_hsm: &str) -> Self {
        Self {
            login: format!("https://{login}"),
            resource_manager: format!("https://{resource_manager}"),
            storage_suffix: storage_suffix.to_owned(),
            vault: format!("https://{vault}"),
            managed_hsm: format!("https://{managed_hsm}"),
        }
    }

    /// Returns the cloud of this name.
    ///
    /// # Errors
    /// Fails if no cloud has the name.
    pub(super) fn named(name: &str) -> Result<Self, TokenError> {
        match name {
            "public" | "global" => Ok(Self::new(
                "login.microsoftonline.com",
                "management.azure.com",
                "core.windows.net",
                "vault.azure.net",
                "managedhsm.azure.net",
            )),
            "usgovernment" | "usgovernmentl4" => Ok(Self::new(
                "login.microsoftonline.us",
                "management.usgovcloudapi.net",
                "core.usgovcloudapi.net",
                "vault.usgovcloudapi.net",
                "managedhsm.usgovcloudapi.net",
            )),
            "china" => Ok(Self::new(
                "login.partner.microsoftonline.cn",
                "management.chinacloudapi.cn",
                "core.chinacloudapi.cn",
                "vault.azure.cn",
                "managedhsm.azure.cn",
            )),
            other => Err(TokenError::setting(format!(
                "environment must be \"public\", \"usgovernment\" or \"china\", not {other:?}"
            ))),
        }
    }

    /// Requests the URLs of a private cloud (Azure Stack) from its metadata host.
    pub(super) async fn described_by(host: &str, api: &ApiClient) -> Result<Self, TokenError> {
        let base = if host.contains("://") { host.to_owned() } else { format!("https://{host}") };
        let url = format!("{}/metadata/endpoints?api-version=2022-09-01", base.trim_end_matches('/'));
        let metadata = api.json(&ApiRequest::get(url)).await;
        let metadata = metadata
            .map_err(|error| error.context(format!("cannot read the cloud metadata from metadata_host {host:?}")))?;
        let suffix = |name: &str| string(&metadata["suffixes"], name);
        let vault = format!("https://{}", suffix("keyVaultDns")?);
        let managed_hsm = suffix("mhsmDns").map_or_else(|_| vault.clone(), |suffix| format!("https://{suffix}"));
        Ok(Self {
            login: string(&metadata["authentication"], "loginEndpoint")?,
            resource_manager: string(&metadata, "resourceManager").unwrap_or_default(),
            storage_suffix: suffix("storage").unwrap_or_default(),
            vault,
            managed_hsm,
        })
    }
}
