//! Sources of Tencent Cloud keys.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::future::BoxFuture;
use groma_diagnostics::io_reason;
use serde_json::{Value as Json, json};

use super::tc3::TencentRequest;
use crate::api::{ApiClient, ApiRequest, string, url_encoded};
use crate::background;
use crate::environment::Environment;
use crate::error::TokenError;
use crate::http::ConnectionSettings;
use crate::keys::{KeyCache, Keys};
use crate::secret::Secret;

/// The settings of credentials.
#[derive(Clone, Debug, Default)]
pub struct TencentSettings {
    /// The ID of the key.
    pub secret_id: Option<String>,
    /// The secret part of the key.
    pub secret_key: Option<Secret>,
    /// The token of temporary keys.
    pub security_token: Option<Secret>,
    /// The role of this machine.
    pub cam_role: Option<String>,
    /// The directory with the profiles of `tccli`; `~/.tccli` if it is `None`.
    pub profiles: Option<String>,
    /// The profile; `default` if it is `None`.
    pub profile: Option<String>,
    /// The role that is assumed with these keys.
    pub role: Option<TencentRole>,
    /// The region of requests for the role.
    pub region: String,
    /// The domain of the API: `tencentcloudapi.com`.
    pub domain: String,
    /// The environment, for the home directory and proxies.
    pub environment: Environment,
}

/// A role to assume.
#[derive(Clone, Debug, Default)]
pub struct TencentRole {
    /// The ARN of the role.
    pub arn: String,
    /// The name of the session.
    pub session_name: String,
    /// The lifetime of the session in seconds.
    pub duration: u64,
    /// A policy that restricts the session, in JSON.
    pub policy: Option<String>,
    /// The shared secret with which another account protects its roles.
    pub external_id: Option<String>,
}

/// Credentials of Tencent Cloud. Clones share the keys, which are kept until shortly before they expire.
#[derive(Clone, Debug)]
pub struct TencentCredentials {
    inner: Arc<TencentInner>,
}

#[derive(Debug)]
struct TencentInner {
    settings: TencentSettings,
    api: ApiClient,
    kept: KeyCache,
}

impl TencentCredentials {
    /// Creates credentials. Sends no request yet.
    ///
    /// # Errors
    /// Fails if a setting of the connection is invalid.
    pub fn new(settings: TencentSettings) -> Result<Self, TokenError> {
        let api = ApiClient::new(ConnectionSettings::default(), settings.environment.clone())?;
        Ok(Self { inner: Arc::new(TencentInner { settings, api, kept: KeyCache::default() }) })
    }

    /// Returns the client of APIs with the settings of these credentials.
    pub fn api(&self) -> &ApiClient {
        &self.inner.api
    }

    /// Returns the present keys.
    pub(super) async fn keys(&self) -> Result<Keys, TokenError> {
        let inner = self.inner.clone();
        background::run(async move { inner.kept.keys(inner.load()).await }).await?
    }

    /// Sends a request to the API and returns the member `Response`.
    ///
    /// # Errors
    /// Fails if there are no keys, if no response arrives, or if it has no such member. An error of the service is in
    /// `Error.Code` of the result.
    pub fn call<'a>(&'a self, request: &'a TencentRequest) -> BoxFuture<'a, Result<Json, TokenError>> {
        Box::pin(async move {
            let keys = self.keys().await?;
            request.send(&self.inner.api, &keys).await
        })
    }
}

impl TencentInner {
    async fn load(&self) -> Result<Keys, TokenError> {
        let keys = self.base_keys().await?;
        match &self.settings.role {
            Some(role) => self.assumed(role, &keys).await,
            None => Ok(keys),
        }
    }

    async fn base_keys(&self) -> Result<Keys, TokenError> {
        let settings = &self.settings;
        if let (Some(id), Some(key)) = (&settings.secret_id, &settings.secret_key) {
            let token = settings.security_token.clone();
            return Ok(Keys { id: id.clone(), key: key.clone(), token, expires: None });
        }
        if let Some(role) = &settings.cam_role {
            return self.machine_keys(role).await;
        }
        let directory = settings.profiles.as_deref().unwrap_or("~/.tccli");
        let name = settings.profile.as_deref().unwrap_or("default");
        let path = settings.environment.expand_home(directory).join(format!("{name}.credential"));
        let content = std::fs::read(&path).map_err(|error| {
            TokenError::Missing(format!(
                "no Tencent Cloud keys found; set secret_id and secret_key, TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY, or run \
                 tccli configure ({}: {})",
                path.display(),
                io_reason(&error)
            ))
        })?;
        let document: Json = serde_json::from_slice(&content)
            .map_err(|_| TokenError::credentials(format!("the file {} is not JSON", path.display())))?;
        let token = document["token"].as_str().filter(|token| !token.is_empty()).map(Secret::new);
        Ok(Keys {
            id: string(&document, "secretId")?,
            key: Secret::new(string(&document, "secretKey")?),
            token,
            expires: None,
        })
    }

    async fn machine_keys(&self, role: &str) -> Result<Keys, TokenError> {
        let base = "http://metadata.tencentyun.com/latest/meta-data/cam/security-credentials";
        let request = ApiRequest::get(format!("{base}/{}", url_encoded(role))).with_attempts(1);
        temporary(&self.api.json(&request).await?)
    }

    async fn assumed(&self, role: &TencentRole, keys: &Keys) -> Result<Keys, TokenError> {
        let mut body =
            json!({ "RoleArn": role.arn, "RoleSessionName": role.session_name, "DurationSeconds": role.duration });
        if let Some(policy) = &role.policy {
            // The service wants the policy encoded as in a URL.
            body["Policy"] = json!(url_encoded(policy));
        }
        if let Some(id) = &role.external_id {
            body["ExternalId"] = json!(id);
        }
        let request = TencentRequest {
            service: "sts",
            host: format!("sts.{}", self.settings.domain),
            action: "AssumeRole",
            version: "2018-08-13",
            region: self.settings.region.clone(),
            body,
        };
        let answer = request.send(&self.api, keys).await?;
        if let Some(code) = answer["Error"]["Code"].as_str() {
            let message = answer["Error"]["Message"].as_str().unwrap_or_default();
            return Err(TokenError::credentials(format!("cannot assume the role {}: {code}: {message}", role.arn)));
        }
        let mut credentials = answer["Credentials"].clone();
        credentials["ExpiredTime"] = answer["ExpiredTime"].clone();
        temporary(&credentials)
    }
}

fn temporary(document: &Json) -> Result<Keys, TokenError> {
    let expires = document["ExpiredTime"].as_u64().map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    Ok(Keys {
        id: string(document, "TmpSecretId")?,
        key: Secret::new(string(document, "TmpSecretKey")?),
        token: Some(Secret::new(string(document, "Token")?)),
        expires,
    })
}
