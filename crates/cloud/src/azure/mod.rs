//! Azure: access tokens of Entra ID.

mod certificate;
mod pfx;
mod settings;
mod shared_key;

pub use settings::{AuthenticationMethods, AzureCloud, AzureSettings, ClientSettings, OidcSettings};
pub use shared_key::StorageKey;

use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use certificate::Certificate;
use futures_util::future::BoxFuture;
use groma_diagnostics::io_reason;
use serde_json::{Map, Value as Json};
use tokio::sync::Mutex;

use crate::api::{AccessToken, ApiClient, ApiRequest, string, url_encoded};
use crate::background;
use crate::command_output::command_output;
use crate::error::TokenError;
use crate::http::Method;
use crate::secret::Secret;

/// The token endpoint of the Azure Instance Metadata Service, for managed identities.
const IMDS: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// The time that the Azure CLI may take; it may have to refresh its own token.
const CLI_TIMEOUT: Duration = Duration::from_secs(60);

/// The audience that Entra ID requires of tokens of other identity providers.
const FEDERATION_AUDIENCE: &str = "api://AzureADTokenExchange";

/// The credentials with which access tokens of Azure are requested.
///
/// Tokens are kept for each resource until shortly before they expire. Clones share them.
#[derive(Clone, Debug)]
pub struct AzureCredentials {
    inner: Arc<AzureInner>,
}

#[derive(Debug)]
struct AzureInner {
    settings: AzureSettings,
    api: ApiClient,
    kept: Mutex<HashMap<String, AccessToken>>,
}

impl AzureCredentials {
    /// Creates credentials. Sends no request yet.
    ///
    /// # Errors
    /// Fails if a setting of the connection is invalid.
    pub fn new(settings: AzureSettings) -> Result<Self, TokenError> {
        let api = ApiClient::new(settings.connection.clone(), settings.environment.clone())?;
        Ok(Self { inner: Arc::new(AzureInner { settings, api, kept: Mutex::default() }) })
    }

    /// Returns the client of APIs with the settings of these credentials.
    pub fn api(&self) -> &ApiClient {
        &self.inner.api
    }

    /// Returns the cloud of these credentials.
    ///
    /// # Errors
    /// Fails if the settings name an unknown cloud, or if the metadata host does not describe it.
    pub fn cloud(&self) -> BoxFuture<'_, Result<AzureCloud, TokenError>> {
        Box::pin(async move {
            let inner = self.inner.clone();
            background::run(async move { inner.cloud().await }).await?
        })
    }

    /// Returns an access token for a resource, such as [`AzureCloud::STORAGE`].
    ///
    /// # Errors
    /// Fails if there are no credentials, or if they are refused.
    pub fn token<'a>(&'a self, resource: &'a str) -> BoxFuture<'a, Result<Secret, TokenError>> {
        Box::pin(async move {
            let (inner, resource) = (self.inner.clone(), resource.to_owned());
            background::run(async move { inner.token(&resource).await }).await?
        })
    }

    /// Returns an access token for a resource that is chosen from those of the cloud, and blocks until it is there.
    ///
    /// # Errors
    /// Fails like [`Self::token`] and [`Self::cloud`].
    pub fn token_blocking(&self, resource: fn(&AzureCloud) -> &str) -> Result<Secret, TokenError> {
        let inner = self.inner.clone();
        background::block_on(async move {
            let cloud = inner.cloud().await?;
            inner.token(resource(&cloud)).await
        })?
    }
}

impl AzureInner {
    async fn token(&self, resource: &str) -> Result<Secret, TokenError> {
        // Held during the request, so that concurrent callers share one token.
        let mut kept = self.kept.lock().await;
        if let Some(token) = kept.get(resource).filter(|token| token.is_fresh()) {
            return Ok(token.secret.clone());
        }
        let token = self.request_token(resource).await?;
        kept.insert(resource.to_owned(), token.clone());
        Ok(token.secret)
    }

    /// Requests an access token with the first credentials that are configured: client certificate, OpenID Connect,
    /// client secret, AKS workload identity, managed identity, Azure CLI.
    async fn request_token(&self, resource: &str) -> Result<AccessToken, TokenError> {
        let (settings, methods) = (&self.settings, &self.settings.methods);
        let flag = |flag: Option<bool>, variable: &str| {
            flag.unwrap_or_else(|| self.api.variable(variable).as_deref() == Some("true"))
        };
        // The order is that of the `azurerm` provider: a method further down is used only if none above it is
        // configured.
        if let Some(certificate) = Certificate::read(&settings.client, &self.api)? {
            return self.client_token(resource, &ClientCredential::Certificate(certificate)).await;
        }
        if flag(methods.oidc, "ARM_USE_OIDC") {
            let assertion = self.oidc_token().await?;
            return self.client_token(resource, &ClientCredential::Assertion(assertion)).await;
        }
        let secret = settings.client.secret.as_ref().map(Secret::reveal);
        if let Some(secret) = self.value(secret, settings.client.secret_file.as_deref(), "ARM_CLIENT_SECRET")? {
            return self.client_token(resource, &ClientCredential::Secret(secret)).await;
        }
        if flag(methods.aks_workload_identity, "ARM_USE_AKS_WORKLOAD_IDENTITY") {
            let path = self.api.variable("AZURE_FEDERATED_TOKEN_FILE").ok_or_else(|| {
                TokenError::credentials("the environment variable AZURE_FEDERATED_TOKEN_FILE is not set")
            })?;
            return self.client_token(resource, &ClientCredential::Assertion(read(&path)?)).await;
        }
        if flag(methods.managed_identity, "ARM_USE_MSI") {
            return self.managed_identity_token(resource).await;
        }
        // The Azure CLI needs no configuration, so it comes last.
        if methods.cli.unwrap_or(true) {
            return cli_token(resource, self.tenant_id()).await;
        }
        Err(TokenError::credentials(
            "no Azure credentials are configured; set client_id and client_secret or client_certificate_path, use_oidc, \
             use_msi or use_cli",
        ))
    }

    async fn cloud(&self) -> Result<AzureCloud, TokenError> {
        let host = self.settings.metadata_host.as_deref();
        // A private cloud has no name in the table below, so the host that describes it precedes the name.
        if let Some(host) = self.api.or_variable(host, &["ARM_METADATA_HOSTNAME", "ARM_METADATA_HOST"]) {
            return AzureCloud::described_by(&host, &self.api).await;
        }
        let name = self.api.or_variable(self.settings.environment_name.as_deref(), &["ARM_ENVIRONMENT"]);
        AzureCloud::named(name.as_deref().unwrap_or("public"))
    }

    /// Returns the value of a setting or an environment variable, or the content of the file that the other setting or
    /// `VARIABLE_FILE_PATH` names.
    fn value(&self, value: Option<&str>, path: Option<&str>, variable: &str) -> Result<Option<String>, TokenError> {
        if let Some(value) = self.api.or_variable(value, &[variable]) {
            return Ok(Some(value));
        }
        self.api.or_variable(path, &[&format!("{variable}_FILE_PATH")]).map(|path| read(&path)).transpose()
    }

    fn client_id(&self) -> Result<Option<String>, TokenError> {
        let client = &self.settings.client;
        self.value(client.id.as_deref(), client.id_file.as_deref(), "ARM_CLIENT_ID")
    }

    fn tenant_id(&self) -> Option<String> {
        self.api.or_variable(self.settings.tenant_id.as_deref(), &["ARM_TENANT_ID", "AZURE_TENANT_ID"])
    }

    /// Requests the token of an application (OAuth 2.0 client credentials grant).
    async fn client_token(&self, resource: &str, credential: &ClientCredential) -> Result<AccessToken, TokenError> {
        let missing = |name: &str| TokenError::setting(format!("set {name:?} to authenticate to Azure"));
        let tenant_id = self.tenant_id().ok_or_else(|| missing("tenant_id"))?;
        let client_id = self.client_id()?.or_else(|| self.api.variable("AZURE_CLIENT_ID"));
        let client_id = client_id.ok_or_else(|| missing("client_id"))?;
        // The AKS webhook sets this variable for the cloud that the cluster is in.
        let login = match self.api.variable("AZURE_AUTHORITY_HOST") {
            Some(login) => login,
            None => self.cloud().await?.login,
        };
        let url = format!("{}/{}/oauth2/v2.0/token", login.trim_end_matches('/'), url_encoded(&tenant_id));
        // `.default` requests the permissions that the application was granted; other scopes need a signed-in user.
        let scope = format!("{}/.default", resource.trim_end_matches('/'));
        let assertion = match credential {
            ClientCredential::Secret(_) => None,
            ClientCredential::Assertion(assertion) => Some(assertion.clone()),
            ClientCredential::Certificate(certificate) => Some(certificate.assertion(&client_id, &url)?),
        };
        let mut fields = vec![("grant_type", "client_credentials"), ("client_id", &client_id), ("scope", &scope)];
        match (credential, &assertion) {
            (ClientCredential::Secret(secret), _) => fields.push(("client_secret", secret)),
            (_, assertion) => {
                fields.push(("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"));
                fields.extend(assertion.as_deref().map(|assertion| ("client_assertion", assertion)));
            }
        }
        AccessToken::in_response(&self.api.json(&ApiRequest::form(url, &fields)).await?, "access_token")
    }

    /// Returns the token of another identity provider: from a setting, a file, or the endpoint that GitHub Actions and
    /// Azure Pipelines offer to their jobs.
    async fn oidc_token(&self) -> Result<String, TokenError> {
        let oidc = &self.settings.oidc;
        let token = oidc.token.as_ref().map(Secret::reveal);
        if let Some(token) = self.value(token, oidc.token_file.as_deref(), "ARM_OIDC_TOKEN")? {
            return Ok(token);
        }
        let url = self.api.or_variable(
            oidc.request_url.as_deref(),
            &["ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL", "SYSTEM_OIDCREQUESTURI"],
        );
        let token = oidc.request_token.as_ref().map(Secret::reveal);
        let token = self
            .api
            .or_variable(token, &["ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "SYSTEM_ACCESSTOKEN"]);
        let (Some(url), Some(token)) = (url, token) else {
            return Err(TokenError::credentials(
                "use_oidc requires oidc_token, oidc_token_file_path, or oidc_request_url with oidc_request_token",
            ));
        };
        // The URL of GitHub Actions has a query of its own.
        let separator = if url.contains('?') { '&' } else { '?' };
        // Azure Pipelines issues a token for a service connection, on a request with a body.
        if let Some(connection) = &oidc.service_connection {
            let query = format!("api-version=7.1&serviceConnectionId={}", url_encoded(connection));
            let request = ApiRequest::json(Method::POST, format!("{url}{separator}{query}"), &Json::Object(Map::new()));
            return string(&self.api.json(&request.with_bearer_token(&token.into())).await?, "oidcToken");
        }
        let request = ApiRequest::get(format!("{url}{separator}audience={}", url_encoded(FEDERATION_AUDIENCE)));
        string(&self.api.json(&request.with_bearer_token(&token.into())).await?, "value")
    }

    async fn managed_identity_token(&self, resource: &str) -> Result<AccessToken, TokenError> {
        let endpoint = self.api.or_variable(self.settings.msi_endpoint.as_deref(), &["ARM_MSI_ENDPOINT"]);
        // A machine may have several identities; the client ID selects one.
        let client_id = self.client_id()?;
        let client_id = client_id.map_or_else(String::new, |id| format!("&client_id={}", url_encoded(&id)));
        let endpoint = endpoint.unwrap_or_else(|| IMDS.to_owned());
        let url = format!("{endpoint}?api-version=2018-02-01&resource={}{client_id}", url_encoded(resource));
        // The service refuses requests without this header, as a protection from request forgery.
        let answer = self.api.json(&ApiRequest::get(url).with_header("metadata", "true")).await?;
        AccessToken::in_response(&answer, "access_token")
    }
}

/// The proof of an application's identity.
enum ClientCredential {
    Secret(String),
    /// A token of an identity provider that Entra ID trusts.
    Assertion(String),
    /// The certificate with which the application signs its own token.
    Certificate(Certificate),
}

fn read(path: &str) -> Result<String, TokenError> {
    let content = std::fs::read_to_string(path)
        .map_err(|error| TokenError::credentials(format!("cannot read the file {path:?}: {}", io_reason(&error))))?;
    Ok(content.trim().to_owned())
}

/// Returns the token of the user who is logged in to the Azure CLI.
async fn cli_token(resource: &str, tenant_id: Option<String>) -> Result<AccessToken, TokenError> {
    let mut command = Command::new("az");
    command.args(["account", "get-access-token", "--output", "json", "--resource", resource]);
    if let Some(tenant_id) = tenant_id {
        command.args(["--tenant", &tenant_id]);
    }
    let printed = command_output(command, CLI_TIMEOUT).await.map_err(|error| {
        TokenError::program(format!(
            "cannot get a token from the Azure CLI: {error}; run az login, or set the arguments of other credentials"
        ))
    })?;
    let answer: Json =
        serde_json::from_slice(&printed).map_err(|_| TokenError::response("the output of az is not JSON"))?;
    // Older versions of the CLI print only a local time without a time zone; their tokens are used once.
    let expires = answer["expires_on"].as_u64().map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    Ok(AccessToken { expires, ..AccessToken::new(string(&answer, "accessToken")?) })
}
