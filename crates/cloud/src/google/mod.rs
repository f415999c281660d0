//! Google Cloud: access tokens.

mod federation;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::future::BoxFuture;
use groma_diagnostics::io_reason;
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;

use crate::api::{AccessToken, ApiClient, ApiRequest, string, url_encoded};
use crate::environment::Environment;
use crate::error::TokenError;
use crate::http::{ConnectionSettings, Method};
use crate::secret::Secret;
use crate::{background, jwt};

/// The lifetime of an assertion, in seconds. Google accepts at most one hour.
const ASSERTION_LIFETIME: u64 = 3600;

/// The settings of credentials. Those that are `None` come from the environment and the files of `gcloud`.
#[derive(Clone, Debug, Default)]
pub struct GoogleSettings {
    /// The path of a credentials file, or its content.
    pub credentials: Option<Secret>,
    /// An access token, which precedes everything else.
    pub access_token: Option<Secret>,
    /// The service account to impersonate.
    pub impersonate_service_account: Option<String>,
    /// The accounts over which it is impersonated.
    pub delegates: Vec<String>,
    /// The OAuth scopes of tokens.
    pub scopes: Vec<String>,
    /// Proxies, certificates and timeouts.
    pub connection: ConnectionSettings,
    /// The environment that unset settings come from.
    pub environment: Environment,
}

/// Credentials of Google Cloud: Application Default Credentials, or those that the settings name.
///
/// Tokens are kept until shortly before they expire. Clones share them.
#[derive(Clone, Debug)]
pub struct GoogleCredentials {
    inner: Arc<GoogleInner>,
}

#[derive(Debug)]
struct GoogleInner {
    settings: GoogleSettings,
    api: ApiClient,
    kept: Mutex<Option<AccessToken>>,
}

impl GoogleCredentials {
    /// Creates credentials. Sends no request yet.
    ///
    /// # Errors
    /// Fails if a setting of the connection is invalid.
    pub fn new(settings: GoogleSettings) -> Result<Self, TokenError> {
        let api = ApiClient::new(settings.connection.clone(), settings.environment.clone())?;
        Ok(Self { inner: Arc::new(GoogleInner { settings, api, kept: Mutex::new(None) }) })
    }

    /// Returns the client of APIs with the settings of these credentials.
    pub fn api(&self) -> &ApiClient {
        &self.inner.api
    }

    /// Returns an access token: of the configured account, or of the service account that it impersonates.
    ///
    /// # Errors
    /// Fails if there are no credentials, or if they are refused.
    pub fn token(&self) -> BoxFuture<'_, Result<Secret, TokenError>> {
        Box::pin(async move {
            let inner = self.inner.clone();
            background::run(async move { inner.token().await }).await?
        })
    }

    /// Returns an access token and blocks until it is there.
    ///
    /// # Errors
    /// Fails like [`Self::token`].
    pub fn token_blocking(&self) -> Result<Secret, TokenError> {
        let inner = self.inner.clone();
        background::block_on(async move { inner.token().await })?
    }
}

impl GoogleInner {
    async fn token(&self) -> Result<Secret, TokenError> {
        // Held during the request, so that concurrent callers share one token.
        let mut kept = self.kept.lock().await;
        if let Some(token) = kept.as_ref().filter(|token| token.is_fresh()) {
            return Ok(token.secret.clone());
        }
        let token = self.request_token().await?;
        *kept = Some(token.clone());
        Ok(token.secret)
    }

    async fn request_token(&self) -> Result<AccessToken, TokenError> {
        let token = self.base_token().await?;
        // The second variable is that of the GCS backend.
        let variables = ["GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT"];
        let setting = self.settings.impersonate_service_account.as_deref();
        let Some(account) = self.api.or_variable(setting, &variables) else {
            return Ok(token);
        };
        let delegates = &self.settings.delegates;
        let delegates: Vec<String> =
            delegates.iter().map(|account| format!("projects/-/serviceAccounts/{account}")).collect();
        let base = self.api.variable("GOOGLE_IAM_CREDENTIALS_CUSTOM_ENDPOINT");
        let base = base.unwrap_or_else(|| "https://iamcredentials.googleapis.com/v1/".to_owned());
        let base = base.trim_end_matches('/');
        let url = format!("{base}/projects/-/serviceAccounts/{account}:generateAccessToken");
        let document = json!({ "scope": self.settings.scopes, "delegates": delegates });
        let request = ApiRequest::json(Method::POST, url, &document).with_bearer_token(&token.secret);
        impersonated(&self.api.json(&request).await?)
    }

    /// Requests the token of the account itself, without impersonation.
    async fn base_token(&self) -> Result<AccessToken, TokenError> {
        let setting = self.settings.access_token.as_ref().map(Secret::reveal);
        if let Some(token) = self.api.or_variable(setting, &["GOOGLE_OAUTH_ACCESS_TOKEN"]) {
            return Ok(AccessToken::new(token));
        }
        match self.credentials()? {
            Some(credentials) => token_for(&credentials, &self.settings.scopes, &self.api).await,
            None => metadata_server_token(&self.settings.scopes, &self.api).await,
        }
    }

    /// Reads the credentials document. `credentials` and `GOOGLE_CREDENTIALS` hold a path or the document itself.
    /// Returns `None` if nothing is configured and `gcloud` has stored nothing.
    fn credentials(&self) -> Result<Option<Json>, TokenError> {
        let unreadable = |path: &Path, problem: &str| {
            TokenError::credentials(format!(
                "cannot read the Google Cloud credentials in {}: {problem}",
                path.display()
            ))
        };
        let setting = self.settings.credentials.as_ref().map(Secret::reveal);
        let value = self.api.or_variable(setting, &["GOOGLE_CREDENTIALS"]);
        // No path begins with a brace, so the setting can hold either.
        if let Some(content) = value.as_ref().filter(|value| value.trim_start().starts_with('{')) {
            let invalid = |_| TokenError::setting("credentials must be valid JSON or the path of a file");
            return serde_json::from_str(content).map(Some).map_err(invalid);
        }
        let path = match value.or_else(|| self.api.variable("GOOGLE_APPLICATION_CREDENTIALS")) {
            Some(path) => self.api.in_home(&path),
            // The file that `gcloud auth application-default login` writes. Its absence is no error: the metadata
            // server is next.
            None => {
                let directory = self.api.variable("CLOUDSDK_CONFIG").map(PathBuf::from);
                let directory = directory.or_else(|| Some(self.settings.environment.home()?.join(".config/gcloud")));
                let path = directory.map(|directory| directory.join("application_default_credentials.json"));
                match path.filter(|path| path.is_file()) {
                    Some(path) => path,
                    None => return Ok(None),
                }
            }
        };
        let content = std::fs::read(&path).map_err(|error| unreadable(&path, &io_reason(&error)))?;
        serde_json::from_slice(&content).map(Some).map_err(|_| unreadable(&path, "the file is not JSON"))
    }
}

/// Requests a token with a credentials document, by its `type`.
async fn token_for(credentials: &Json, scopes: &[String], api: &ApiClient) -> Result<AccessToken, TokenError> {
    let token_uri = credentials["token_uri"].as_str().unwrap_or("https://oauth2.googleapis.com/token").to_owned();
    let field = |name: &str| field(credentials, name);
    let request = match field("type")? {
        "service_account" => {
            let key_id = credentials["private_key_id"].as_str();
            let assertion = assertion(field("client_email")?, key_id, field("private_key")?, &token_uri, scopes)?;
            ApiRequest::form(
                token_uri,
                &[("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", &assertion)],
            )
        }
        "authorized_user" => ApiRequest::form(
            token_uri,
            &[
                ("grant_type", "refresh_token"),
                ("client_id", field("client_id")?),
                ("client_secret", field("client_secret")?),
                ("refresh_token", field("refresh_token")?),
            ],
        ),
        "external_account" => return federation::token(credentials, scopes, api).await,
        "external_account_authorized_user" => {
            let url = field("token_url")?.to_owned();
            let basic = BASE64_STANDARD.encode(format!("{}:{}", field("client_id")?, field("client_secret")?));
            ApiRequest::form(url, &[("grant_type", "refresh_token"), ("refresh_token", field("refresh_token")?)])
                .with_header("authorization", format!("Basic {basic}"))
        }
        // Boxed, because the future contains itself: the source credentials may be of any type, this one included.
        "impersonated_service_account" => return Box::pin(impersonated_token(credentials, scopes, api)).await,
        other => {
            return Err(TokenError::credentials(format!(
                "Google Cloud credentials of type {other:?} are not supported; set GOOGLE_OAUTH_ACCESS_TOKEN to a token \
                 instead"
            )));
        }
    };
    AccessToken::in_response(&api.json(&request).await?, "access_token")
}

/// Returns a required string field of a credentials document.
fn field<'a>(credentials: &'a Json, name: &str) -> Result<&'a str, TokenError> {
    let field = credentials[name].as_str();
    field.ok_or_else(|| TokenError::credentials(format!("the Google Cloud credentials have no {name}")))
}

/// Requests the token of a service account with the `source_credentials` of an account that may impersonate it.
async fn impersonated_token(credentials: &Json, scopes: &[String], api: &ApiClient) -> Result<AccessToken, TokenError> {
    let url = field(credentials, "service_account_impersonation_url")?;
    let token = token_for(&credentials["source_credentials"], scopes, api).await?;
    let delegates = credentials["delegates"].as_array().cloned().unwrap_or_default();
    let request = ApiRequest::json(Method::POST, url, &json!({ "scope": scopes, "delegates": delegates }));
    impersonated(&api.json(&request.with_bearer_token(&token.secret)).await?)
}

/// Reads the token of an impersonated account in a response of the IAM Credentials API.
fn impersonated(answer: &Json) -> Result<AccessToken, TokenError> {
    let expires = answer["expireTime"].as_str().and_then(|time| DateTime::from_str(time, Format::DateTime).ok());
    let expires = expires.and_then(|time| SystemTime::try_from(time).ok());
    Ok(AccessToken { expires, ..AccessToken::new(string(answer, "accessToken")?) })
}

/// Signs the assertion with which a service account requests a token.
fn assertion(
    email: &str,
    key_id: Option<&str>,
    key: &str,
    audience: &str,
    scopes: &[String],
) -> Result<String, TokenError> {
    let unusable = || TokenError::credentials("cannot use the private_key in the Google Cloud credentials");
    // The PEM header and footer are dropped; Google's keys are always PKCS #8.
    let base64: String = key.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    let der = BASE64_STANDARD.decode(base64).map_err(|_| unusable())?;
    let key_pair = RsaKeyPair::from_pkcs8(&der).map_err(|_| unusable())?;
    let now = jwt::unix_time();
    let mut header = json!({ "alg": "RS256", "typ": "JWT" });
    if let Some(id) = key_id {
        header["kid"] = id.into();
    }
    let scope = scopes.join(" ");
    let claims = json!({ "iss": email, "scope": scope, "aud": audience, "iat": now, "exp": now + ASSERTION_LIFETIME });
    jwt::sign(&header, &claims, &key_pair, &RSA_PKCS1_SHA256).ok_or_else(unusable)
}

/// Requests the token of the machine's service account. Outside of Google Cloud, the error reports missing
/// credentials, because the metadata server is the last source.
async fn metadata_server_token(scopes: &[String], api: &ApiClient) -> Result<AccessToken, TokenError> {
    let host = api.variable("GCE_METADATA_HOST").unwrap_or_else(|| "metadata.google.internal".to_owned());
    let scopes = url_encoded(&scopes.join(","));
    let url = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token?scopes={scopes}");
    // The server rejects requests without this header, as a protection from request forgery.
    let request = ApiRequest::get(url).with_header("metadata-flavor", "Google").with_attempts(1);
    // One attempt only: on other machines the host name does not resolve, and waiting would not help.
    let answer = api.json(&request).await;
    answer.and_then(|answer| AccessToken::in_response(&answer, "access_token")).map_err(|error| {
        TokenError::Missing(format!(
            "no Google Cloud credentials found; set \"credentials\" or the environment variable \
             GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login ({error})"
        ))
    })
}
