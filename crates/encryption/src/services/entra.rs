//! Access tokens of Entra ID, from the same sources as the `azurerm` provider.

use std::process::Command;
use std::time::Duration;

use groma_diagnostics::io_reason;
use serde_json::Value as Json;

use super::arguments::ArgumentValues;
use super::command_output::command_output;
use super::entra_certificate::Certificate;
use super::network::{Network, NetworkRequest, or_variable, request_json, string, url_encoded};
use crate::error::KeyError;

/// The token endpoint of the Azure Instance Metadata Service, for managed identities.
const IMDS: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// The time that the Azure CLI may take; it may have to refresh its own token.
const CLI_TIMEOUT: Duration = Duration::from_secs(60);

/// The audience that Entra ID requires of tokens of other identity providers.
const FEDERATION_AUDIENCE: &str = "api://AzureADTokenExchange";

/// The credentials that the arguments of an `azure_vault` key provider configure.
#[derive(Debug)]
pub(super) struct Entra {
    arguments: ArgumentValues,
    /// Whether the key is in a managed HSM, which needs a token for another resource than a vault.
    is_managed_hsm: bool,
}

/// The URLs of an Azure cloud.
struct Cloud {
    login: String,
    vault_resource: String,
    managed_hsm_resource: String,
}

impl Cloud {
    fn new(login: &str, vault_resource: &str, managed_hsm_resource: &str) -> Self {
        Self {
            login: login.to_owned(),
            vault_resource: vault_resource.to_owned(),
            managed_hsm_resource: managed_hsm_resource.to_owned(),
        }
    }

    /// Requests the URLs of a private cloud (Azure Stack) from its metadata host.
    fn from_metadata_host(host: &str, network: &dyn Network) -> Result<Self, KeyError> {
        let base = if host.contains("://") { host.to_owned() } else { format!("https://{host}") };
        let url = format!("{}/metadata/endpoints?api-version=2022-09-01", base.trim_end_matches('/'));
        let metadata = request_json(network, &NetworkRequest::get(url))
            .map_err(|error| error.context(format!("cannot read the cloud metadata from metadata_host {host:?}")))?;
        let suffix = |name: &str| string(&metadata["suffixes"], name).map(|suffix| format!("https://{suffix}"));
        let vault_resource = suffix("keyVaultDns")?;
        let managed_hsm_resource = suffix("mhsmDns").unwrap_or_else(|_| vault_resource.clone());
        Ok(Self { login: string(&metadata["authentication"], "loginEndpoint")?, vault_resource, managed_hsm_resource })
    }
}

impl Entra {
    /// Credentials for the vault or managed HSM at `host`.
    pub(super) fn new(arguments: &ArgumentValues, host: &str) -> Self {
        Self { arguments: arguments.clone(), is_managed_hsm: host.contains(".managedhsm.") }
    }

    /// Requests an access token with the first credentials that are configured: client certificate, OpenID Connect,
    /// client secret, AKS workload identity, managed identity, Azure CLI.
    pub(super) fn token(&self, network: &dyn Network) -> Result<String, KeyError> {
        let cloud = self.cloud(network)?;
        let resource = if self.is_managed_hsm { &cloud.managed_hsm_resource } else { &cloud.vault_resource };
        let flag = |name: &str, variable: &str| {
            self.arguments.bool(name).unwrap_or_else(|| network.variable(variable).as_deref() == Some("true"))
        };
        let client_token = |credential: &dyn Fn(&str, &str) -> Result<ClientCredential, KeyError>| {
            self.client_token(network, &cloud, resource, credential)
        };
        if let Some(certificate) = Certificate::read(&self.arguments, network)? {
            return client_token(&|client_id, token_url| {
                certificate.assertion(client_id, token_url).map(ClientCredential::Assertion)
            });
        }
        if flag("use_oidc", "ARM_USE_OIDC") {
            let assertion = self.oidc_token(network)?;
            return client_token(&|_, _| Ok(ClientCredential::Assertion(assertion.clone())));
        }
        let secret = self.value("client_secret", "ARM_CLIENT_SECRET", network)?;
        if let Some(secret) = secret {
            return client_token(&|_, _| Ok(ClientCredential::Secret(secret.clone())));
        }
        if flag("use_aks_workload_identity", "ARM_USE_AKS_WORKLOAD_IDENTITY") {
            let path = network.variable("AZURE_FEDERATED_TOKEN_FILE").ok_or_else(|| {
                KeyError::credentials("the environment variable AZURE_FEDERATED_TOKEN_FILE is not set")
            })?;
            let assertion = read(&path)?;
            return client_token(&|_, _| Ok(ClientCredential::Assertion(assertion.clone())));
        }
        if flag("use_msi", "ARM_USE_MSI") {
            return self.managed_identity_token(network, resource);
        }
        if self.arguments.bool("use_cli").unwrap_or(true) {
            return cli_token(resource, self.tenant_id(network));
        }
        Err(KeyError::credentials(
            "no Azure credentials are configured; set client_id and client_secret or client_certificate_path, use_oidc, \
             use_msi or use_cli",
        ))
    }

    fn cloud(&self, network: &dyn Network) -> Result<Cloud, KeyError> {
        let host = or_variable(
            self.arguments.string("metadata_host"),
            network,
            &["ARM_METADATA_HOSTNAME", "ARM_METADATA_HOST"],
        );
        if let Some(host) = host {
            return Cloud::from_metadata_host(&host, network);
        }
        let name = or_variable(self.arguments.string("environment"), network, &["ARM_ENVIRONMENT"]);
        match name.as_deref().unwrap_or("public") {
            "public" | "global" => Ok(Cloud::new(
                "https://login.microsoftonline.com",
                "https://vault.azure.net",
                "https://managedhsm.azure.net",
            )),
            "usgovernment" | "usgovernmentl4" => Ok(Cloud::new(
                "https://login.microsoftonline.us",
                "https://vault.usgovcloudapi.net",
                "https://managedhsm.usgovcloudapi.net",
            )),
            "china" => Ok(Cloud::new(
                "https://login.partner.microsoftonline.cn",
                "https://vault.azure.cn",
                "https://managedhsm.azure.cn",
            )),
            other => Err(KeyError::argument(format!(
                "environment must be \"public\", \"usgovernment\" or \"china\", not {other:?}"
            ))),
        }
    }

    /// Returns the value of an argument or an environment variable, or the content of the file that `NAME_file_path`
    /// or `VARIABLE_FILE_PATH` names.
    fn value(&self, name: &str, variable: &str, network: &dyn Network) -> Result<Option<String>, KeyError> {
        if let Some(value) = or_variable(self.arguments.string(name), network, &[variable]) {
            return Ok(Some(value));
        }
        let path = self.arguments.string(&format!("{name}_file_path"));
        or_variable(path, network, &[&format!("{variable}_FILE_PATH")]).map(|path| read(&path)).transpose()
    }

    fn tenant_id(&self, network: &dyn Network) -> Option<String> {
        or_variable(self.arguments.string("tenant_id"), network, &["ARM_TENANT_ID", "AZURE_TENANT_ID"])
    }

    /// Requests the token of an application (OAuth 2.0 client credentials grant). `credential` gets the client ID and
    /// the URL of the token endpoint, which an assertion must name.
    fn client_token(
        &self,
        network: &dyn Network,
        cloud: &Cloud,
        resource: &str,
        credential: &dyn Fn(&str, &str) -> Result<ClientCredential, KeyError>,
    ) -> Result<String, KeyError> {
        let missing = |name: &str| KeyError::argument(format!("set {name:?} to authenticate to Azure"));
        let tenant_id = self.tenant_id(network).ok_or_else(|| missing("tenant_id"))?;
        let client_id = self.value("client_id", "ARM_CLIENT_ID", network)?;
        let client_id =
            client_id.or_else(|| network.variable("AZURE_CLIENT_ID")).ok_or_else(|| missing("client_id"))?;
        let scope = format!("{resource}/.default");
        let fields = [("grant_type", "client_credentials"), ("client_id", &client_id), ("scope", &scope)];
        // The AKS webhook sets this variable for the cloud that the cluster is in.
        let login = network.variable("AZURE_AUTHORITY_HOST").unwrap_or_else(|| cloud.login.clone());
        let url = format!("{}/{}/oauth2/v2.0/token", login.trim_end_matches('/'), url_encoded(&tenant_id));
        let credential = credential(&client_id, &url)?;
        let request = NetworkRequest::form(url, &[&fields[..], &credential.fields()].concat());
        string(&request_json(network, &request)?, "access_token")
    }

    /// Returns the token of another identity provider: from an argument, a file, or the endpoint that GitHub Actions
    /// and Azure Pipelines offer to their jobs.
    fn oidc_token(&self, network: &dyn Network) -> Result<String, KeyError> {
        if let Some(token) = self.value("oidc_token", "ARM_OIDC_TOKEN", network)? {
            return Ok(token);
        }
        let argument = |name: &str, variables: &[&str]| or_variable(self.arguments.string(name), network, variables);
        let url = argument("oidc_request_url", &["ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL"]);
        let token = argument("oidc_request_token", &["ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"]);
        let (Some(url), Some(token)) = (url, token) else {
            return Err(KeyError::credentials(
                "use_oidc requires oidc_token, oidc_token_file_path, or oidc_request_url with oidc_request_token",
            ));
        };
        let separator = if url.contains('?') { '&' } else { '?' };
        let request = NetworkRequest::get(format!("{url}{separator}audience={}", url_encoded(FEDERATION_AUDIENCE)));
        string(&request_json(network, &request.with_bearer_token(&token))?, "value")
    }

    fn managed_identity_token(&self, network: &dyn Network, resource: &str) -> Result<String, KeyError> {
        let endpoint = or_variable(self.arguments.string("msi_endpoint"), network, &["ARM_MSI_ENDPOINT"]);
        // A machine may have several identities; the client ID selects one.
        let client_id = self.value("client_id", "ARM_CLIENT_ID", network)?;
        let client_id = client_id.map_or_else(String::new, |id| format!("&client_id={}", url_encoded(&id)));
        let endpoint = endpoint.unwrap_or_else(|| IMDS.to_owned());
        let url = format!("{endpoint}?api-version=2018-02-01&resource={}{client_id}", url_encoded(resource));
        string(&request_json(network, &NetworkRequest::get(url).with_header("metadata", "true"))?, "access_token")
    }
}

/// The proof of an application's identity.
enum ClientCredential {
    Secret(String),
    /// A signed JSON Web Token: of the application itself, or of an identity provider that Entra ID trusts.
    Assertion(String),
}

impl ClientCredential {
    /// Returns the form fields of a token request.
    fn fields(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Secret(secret) => vec![("client_secret", secret)],
            Self::Assertion(assertion) => vec![
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", assertion),
            ],
        }
    }
}

fn read(path: &str) -> Result<String, KeyError> {
    let content = std::fs::read_to_string(path)
        .map_err(|error| KeyError::credentials(format!("cannot read the file {path:?}: {}", io_reason(&error))))?;
    Ok(content.trim().to_owned())
}

/// Returns the token of the user who is logged in to the Azure CLI.
fn cli_token(resource: &str, tenant_id: Option<String>) -> Result<String, KeyError> {
    let mut command = Command::new("az");
    command.args(["account", "get-access-token", "--output", "json", "--resource", resource]);
    if let Some(tenant_id) = tenant_id {
        command.args(["--tenant", &tenant_id]);
    }
    let printed = command_output(command, CLI_TIMEOUT).map_err(|error| {
        KeyError::program(format!(
            "cannot get a token from the Azure CLI: {error}; run az login, or set the arguments of other credentials"
        ))
    })?;
    let answer: Json =
        serde_json::from_slice(&printed).map_err(|_| KeyError::response("the output of az is not JSON"))?;
    string(&answer, "accessToken")
}
