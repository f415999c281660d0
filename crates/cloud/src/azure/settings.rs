//! The settings of Azure credentials, as the `azurerm` provider and backend name them.

use crate::environment::Environment;
use crate::http::ConnectionSettings;
use crate::secret::Secret;

/// The settings of credentials. What is `None` comes from the environment variables of the `azurerm` provider.
#[derive(Clone, Debug, Default)]
pub struct AzureSettings {
    /// The directory of the identity.
    pub tenant_id: Option<String>,
    /// `public`, `usgovernment` or `china`.
    pub environment_name: Option<String>,
    /// The host that describes a private cloud.
    pub metadata_host: Option<String>,
    /// The application.
    pub client: ClientSettings,
    /// Tokens of another identity provider.
    pub oidc: OidcSettings,
    /// The methods to use; `None` leaves the decision to `ARM_USE_...`.
    pub methods: AuthenticationMethods,
    /// The token endpoint of managed identities.
    pub msi_endpoint: Option<String>,
    /// Proxies, certificates and timeouts.
    pub connection: ConnectionSettings,
    /// The environment.
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
    /// The token.
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
    /// OpenID Connect.
    pub oidc: Option<bool>,
    /// The workload identity of a pod in AKS.
    pub aks_workload_identity: Option<bool>,
    /// The managed identity of the machine.
    pub managed_identity: Option<bool>,
    /// The user of the Azure CLI; on by default.
    pub cli: Option<bool>,
}
