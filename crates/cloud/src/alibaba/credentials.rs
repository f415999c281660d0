//! Sources of Alibaba Cloud keys.

use std::sync::Arc;
use std::time::SystemTime;

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use groma_diagnostics::io_reason;
use serde_json::Value as Json;

use super::rpc::RpcRequest;
use crate::api::{ApiClient, ApiRequest, string, url_encoded};
use crate::background;
use crate::environment::Environment;
use crate::error::TokenError;
use crate::http::{ConnectionSettings, Method};
use crate::keys::{KeyCache, Keys};
use crate::secret::Secret;

/// The address of the metadata of machines.
const METADATA: &str = "http://100.100.100.200/latest";

/// The settings of credentials.
#[derive(Clone, Debug, Default)]
pub struct AlibabaSettings {
    /// The ID of the key.
    pub access_key: Option<String>,
    /// The secret part of the key.
    pub secret_key: Option<Secret>,
    /// The token of temporary keys.
    pub security_token: Option<Secret>,
    /// The role of this machine.
    pub ecs_role: Option<String>,
    /// The file with profiles; `~/.aliyun/config.json` if it is `None`.
    pub profiles: Option<String>,
    /// The profile. Without one, the file is not read.
    pub profile: Option<String>,
    /// The role that is assumed with these keys. It precedes the role of the profile.
    pub role: Option<AlibabaRole>,
    /// The region of requests for the role.
    pub region: Option<String>,
    /// The host of the service that assumes roles, or a URL; `sts.aliyuncs.com` if it is `None`.
    pub sts_endpoint: Option<String>,
    /// The environment, for the home directory and proxies.
    pub environment: Environment,
}

/// A role to assume.
#[derive(Clone, Debug, Default)]
pub struct AlibabaRole {
    /// The ARN of the role.
    pub arn: String,
    /// The name of the session.
    pub session_name: Option<String>,
    /// The lifetime of the session in seconds: an hour if it is `None`.
    pub duration: Option<u64>,
    /// A policy that restricts the session, in JSON.
    pub policy: Option<String>,
}

/// Credentials of Alibaba Cloud. Clones share the keys, which are kept until shortly before they expire.
#[derive(Clone, Debug)]
pub struct AlibabaCredentials {
    inner: Arc<AlibabaInner>,
}

#[derive(Debug)]
struct AlibabaInner {
    settings: AlibabaSettings,
    profile: Json,
    api: ApiClient,
    kept: KeyCache,
}

impl AlibabaCredentials {
    /// Creates credentials, and reads the profile. Sends no request yet.
    ///
    /// # Errors
    /// The file with the profile cannot be read, or a setting of the connection is invalid.
    pub fn new(settings: AlibabaSettings) -> Result<Self, TokenError> {
        let api = ApiClient::new(ConnectionSettings::default(), settings.environment.clone())?;
        let profile = profile(&settings)?;
        Ok(Self { inner: Arc::new(AlibabaInner { settings, profile, api, kept: KeyCache::default() }) })
    }

    /// Returns the region of the settings, or else of the profile.
    pub fn region(&self) -> Option<&str> {
        self.inner.settings.region.as_deref().or_else(|| self.inner.of_profile("region_id"))
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
}

/// Reads the selected profile; null without one.
fn profile(settings: &AlibabaSettings) -> Result<Json, TokenError> {
    let Some(name) = &settings.profile else { return Ok(Json::Null) };
    let path = settings.environment.expand_home(settings.profiles.as_deref().unwrap_or("~/.aliyun/config.json"));
    let content = std::fs::read(&path).map_err(|error| {
        TokenError::Missing(format!(
            "the file with the profile {name:?} cannot be read ({}: {}); run aliyun configure --profile {name}, or set \
             shared_credentials_file",
            path.display(),
            io_reason(&error)
        ))
    })?;
    let mut document: Json = serde_json::from_slice(&content)
        .map_err(|_| TokenError::credentials(format!("the file {} is not JSON", path.display())))?;
    let mut profiles = document["profiles"].as_array_mut().into_iter().flatten();
    let found = profiles.find(|profile| profile["name"] == **name).map(Json::take);
    found.ok_or_else(|| TokenError::Missing(format!("the file {} has no profile {name:?}", path.display())))
}

impl AlibabaInner {
    /// Returns a text of the profile that is not empty.
    fn of_profile(&self, name: &str) -> Option<&str> {
        self.profile[name].as_str().filter(|text| !text.is_empty())
    }

    /// Whether the profile has this mode.
    fn has_mode(&self, mode: &str) -> bool {
        self.profile["mode"] == mode
    }

    async fn load(&self) -> Result<Keys, TokenError> {
        let keys = self.base_keys().await?;
        match self.role() {
            Some(role) => self.assumed(&role, &keys).await,
            None => Ok(keys),
        }
    }

    async fn base_keys(&self) -> Result<Keys, TokenError> {
        let settings = &self.settings;
        // As in the peers, each part comes from the settings or else from the profile.
        let has_keys = !self.has_mode("EcsRamRole");
        let of_profile = |name| self.of_profile(name).filter(|_| has_keys).map(str::to_owned);
        let id = settings.access_key.clone().or_else(|| of_profile("access_key_id"));
        let key = settings.secret_key.clone().or_else(|| of_profile("access_key_secret").map(Secret::new));
        if let (Some(id), Some(key)) = (id, key) {
            let of_profile = self.of_profile("sts_token").filter(|_| self.has_mode("StsToken")).map(Secret::new);
            return Ok(Keys { id, key, token: settings.security_token.clone().or(of_profile), expires: None });
        }
        let of_profile = self.of_profile("ram_role_name").filter(|_| self.has_mode("EcsRamRole"));
        match settings.ecs_role.as_deref().or(of_profile) {
            Some(role) => self.machine_keys(role).await,
            None => Err(TokenError::Missing(
                "no Alibaba Cloud keys found; set ALICLOUD_ACCESS_KEY and ALICLOUD_SECRET_KEY, profile (ALICLOUD_PROFILE), or \
                 ecs_role_name on a machine with a role"
                    .to_owned(),
            )),
        }
    }

    async fn machine_keys(&self, role: &str) -> Result<Keys, TokenError> {
        let failed =
            |error: TokenError| error.context(format!("cannot read the keys of the role {role} of this machine"));
        let url = format!("{METADATA}/meta-data/ram/security-credentials/{}", url_encoded(role));
        // On machines of others, nothing answers at this address, so the request is not repeated.
        let mut request = ApiRequest::get(url).with_attempts(1);
        let token = ApiRequest::new(Method::PUT, format!("{METADATA}/api/token"))
            .with_header("x-aliyun-ecs-metadata-token-ttl-seconds", "300")
            .with_attempts(1);
        // Machines in hardened mode require the token. Others may not know it.
        if let Ok(answer) = self.api.send(&token).await
            && answer.status.is_success()
        {
            request = request.with_header("x-aliyun-ecs-metadata-token", String::from_utf8_lossy(&answer.body).trim());
        }
        let document = self.api.json(&request).await.map_err(failed)?;
        temporary(&document).map_err(failed)
    }

    fn role(&self) -> Option<AlibabaRole> {
        let of_profile = self.of_profile("ram_role_arn").filter(|_| self.has_mode("RamRoleArn"));
        self.settings.role.clone().or_else(|| {
            Some(AlibabaRole {
                arn: of_profile?.to_owned(),
                session_name: self.of_profile("ram_session_name").map(str::to_owned),
                duration: self.profile["expired_seconds"].as_u64().filter(|seconds| *seconds > 0),
                policy: None,
            })
        })
    }

    async fn assumed(&self, role: &AlibabaRole, keys: &Keys) -> Result<Keys, TokenError> {
        let mut parameters = vec![
            ("RoleArn", role.arn.clone()),
            ("RoleSessionName", role.session_name.clone().unwrap_or_else(|| "groma".to_owned())),
            ("DurationSeconds", role.duration.unwrap_or(3600).to_string()),
        ];
        parameters.extend(role.policy.clone().map(|policy| ("Policy", policy)));
        let request = RpcRequest {
            endpoint: self.settings.sts_endpoint.clone().unwrap_or_else(|| "sts.aliyuncs.com".to_owned()),
            action: "AssumeRole",
            version: "2015-04-01",
            parameters,
        };
        let failed = |error: TokenError| error.context(format!("cannot assume the role {}", role.arn));
        let answer = request.send(&self.api, keys).await.map_err(failed)?;
        temporary(&answer["Credentials"]).map_err(failed)
    }
}

fn temporary(document: &Json) -> Result<Keys, TokenError> {
    let expires = document["Expiration"].as_str();
    // Keys without a readable time of expiry are used until the end of the run.
    let expires = expires.and_then(|text| DateTime::from_str(text, Format::DateTime).ok());
    Ok(Keys {
        id: string(document, "AccessKeyId")?,
        key: Secret::new(string(document, "AccessKeySecret")?),
        token: Some(Secret::new(string(document, "SecurityToken")?)),
        expires: expires.and_then(|time| SystemTime::try_from(time).ok()),
    })
}
