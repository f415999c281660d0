//! The settings of Azure credentials, as the `azurerm` provider and backend name them.

use crate::api::{ApiClient, ApiRequest, string};
use crate::environment::Environment;
use crate::error::TokenError;
use crate::http::ConnectionSettings;
use crate::secret::Secret;

/// The settings of credentials. Those that are `None` come from the environment variables of the `azurerm` provider.
#[derive(Clone, Debug, Default)]
pub struct AzureSettings {
    /// The directory of the identity.
    pub tenant_id: Option<String>,
    /// `public`, `usgovernment` or `china`.
    pub environment_name: Option<String>,
    /// The host that describes a private cloud.
    pub metadata_host: Option<String>,
    /// The application that authenticates.
    pub client: ClientSettings,
    /// Tokens of another identity provider.
    pub oidc: OidcSettings,
    /// The methods to use; `None` leaves the decision to `ARM_USE_...`.
    pub methods: AuthenticationMethods,
    /// The token endpoint of managed identities.
    pub msi_endpoint: Option<String>,
    /// Proxies, certificates and timeouts.
    pub connection: ConnectionSettings,
    /// The environment that unset settings come from.
    pub environment: Environment,
}

/// The application that authenticates, and its secret or certificate.
#[derive(Clone, Debug, Default)]
pub struct ClientSettings {
    /// The identifier of the application or the managed identity.
    pub id: Option<String>,
    /// A file with that identifier.
    pub id_file: Option<String>,
    /// The secret of the application.
    pub secret: Option<Secret>,
    /// A file with that secret.
    pub secret_file: Option<String>,
    /// A PKCS #12 file in Base64.
    pub certificate: Option<Secret>,
    /// The path of a PKCS #12 file.
    pub certificate_path: Option<String>,
    /// The password of the PKCS #12 file.
    pub certificate_password: Option<Secret>,
}

/// The token of another identity provider that Entra ID trusts.
#[derive(Clone, Debug, Default)]
pub struct OidcSettings {
    /// The token itself; it precedes the other sources.
    pub token: Option<Secret>,
    /// A file with the token.
    pub token_file: Option<String>,
    /// The URL at which a job of a pipeline gets its token.
    pub request_url: Option<String>,
    /// The bearer token for that URL.
    pub request_token: Option<Secret>,
    /// The service connection of Azure Pipelines whose token the job requests.
    pub service_connection: Option<String>,
}

/// The methods of authentication that settings switch on or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthenticationMethods {
    /// OpenID Connect, with a token of another identity provider.
    pub oidc: Option<bool>,
    /// The workload identity of a pod in AKS.
    pub aks_workload_identity: Option<bool>,
    /// The managed identity of the machine.
    pub managed_identity: Option<bool>,
    /// The user of the Azure CLI; on by default.
    pub cli: Option<bool>,
}

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
        // A URL instead of a host name reaches services without TLS, such as those of tests.
        let base = if host.contains("://") { host.to_owned() } else { format!("https://{host}") };
        let url = format!("{}/metadata/endpoints?api-version=2022-09-01", base.trim_end_matches('/'));
        let metadata = api.json(&ApiRequest::get(url)).await;
        let metadata = metadata
            .map_err(|error| error.context(format!("cannot read the cloud metadata from metadata_host {host:?}")))?;
        let suffix = |name: &str| string(&metadata["suffixes"], name);
        let vault = format!("https://{}", suffix("keyVaultDns")?);
        // Private clouds without managed HSMs leave the suffix out.
        let managed_hsm = suffix("mhsmDns").map_or_else(|_| vault.clone(), |suffix| format!("https://{suffix}"));
        Ok(Self {
            login: string(&metadata["authentication"], "loginEndpoint")?,
            // Optional, because a backend or key provider needs only some of the URLs.
            resource_manager: string(&metadata, "resourceManager").unwrap_or_default(),
            storage_suffix: suffix("storage").unwrap_or_default(),
            vault,
            managed_hsm,
        })
    }
}
