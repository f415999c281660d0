//! The settings of an AWS client, as provider and backend blocks have them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::service::AwsService;
use crate::environment::Environment;
use crate::http::ConnectionSettings;
use crate::secret::Secret;

/// The settings of a client. Those that are `None` or empty come from the environment and the shared configuration
/// files.
#[derive(Clone, Debug, Default)]
pub struct AwsSettings {
    /// Static keys. They precede every other source.
    pub keys: Option<super::AwsKeys>,
    /// The profile of the shared files. It precedes keys in the environment, `AWS_PROFILE` does not.
    pub profile: Option<String>,
    /// The region of requests.
    pub region: Option<String>,
    /// Files in the form of `~/.aws/config`, instead of that one. Files that do not exist count as empty.
    pub config_files: Vec<PathBuf>,
    /// Files in the form of `~/.aws/credentials`, instead of that one. Files that do not exist count as empty.
    pub credentials_files: Vec<PathBuf>,
    /// The role that is assumed first, with the token of another identity provider.
    pub web_identity_role: Option<WebIdentityRole>,
    /// The roles to assume one after the other.
    pub roles: Vec<AssumeRole>,
    /// Endpoints by the service's [`AwsService::settings_key`]: URLs, or host names that are reached by HTTPS.
    pub endpoints: BTreeMap<String, String>,
    /// The region of requests to STS, if it differs from `region`.
    pub sts_region: Option<String>,
    /// The endpoint variants: FIPS, dual-stack.
    pub stack: IpStack,
    /// The instance metadata service.
    pub metadata: MetadataService,
    /// Proxies, certificates and timeouts. Proxies that are not set come from the environment.
    pub connection: ConnectionSettings,
    /// The maximum number of attempts of a request; 3 by default.
    pub attempts: Option<u32>,
    /// Words for the end of the `User-Agent` header.
    pub user_agent: Vec<String>,
    /// The environment that unset settings come from.
    pub environment: Environment,
}

/// The endpoint variants of the services. `None` leaves the decision to `AWS_USE_FIPS_ENDPOINT`,
/// `AWS_USE_DUALSTACK_ENDPOINT` and the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpStack {
    /// Whether endpoints with FIPS 140 validated cryptography are used.
    pub fips: Option<bool>,
    /// Whether endpoints with IPv4 and IPv6 addresses are used.
    pub dual_stack: Option<bool>,
}

/// The instance metadata service (IMDS).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataService {
    /// Whether the service is used. `None` leaves the decision to `AWS_EC2_METADATA_DISABLED`.
    pub enabled: Option<bool>,
    /// The URL of the service.
    pub endpoint: Option<String>,
    /// `IPv4` or `IPv6`.
    pub endpoint_mode: Option<String>,
}

/// A role to assume (`sts:AssumeRole`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssumeRole {
    /// The ARN of the role.
    pub role_arn: String,
    /// The name of the session; one with the time by default.
    pub session_name: Option<String>,
    /// The shared secret with which another account protects its roles.
    pub external_id: Option<String>,
    /// The lifetime of the session.
    pub duration: Option<Duration>,
    /// A policy that restricts the session, in JSON.
    pub policy: Option<String>,
    /// Managed policies that restrict the session.
    pub policy_arns: Vec<String>,
    /// The tags of the session.
    pub tags: BTreeMap<String, String>,
    /// The keys of tags that later roles inherit.
    pub transitive_tag_keys: Vec<String>,
    /// The identity that sessions of this chain carry in CloudTrail.
    pub source_identity: Option<String>,
}

/// A role to assume with a token of another identity provider (`sts:AssumeRoleWithWebIdentity`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebIdentityRole {
    /// The ARN of the role; `AWS_ROLE_ARN` if it is `None`.
    pub role_arn: Option<String>,
    /// The token that proves the identity.
    pub token: WebIdentityToken,
    /// The name of the session; `AWS_ROLE_SESSION_NAME`, or one with the time by default.
    pub session_name: Option<String>,
    /// The lifetime of the session.
    pub duration: Option<Duration>,
    /// A policy that restricts the session, in JSON.
    pub policy: Option<String>,
    /// Managed policies that restrict the session.
    pub policy_arns: Vec<String>,
}

/// The source of a web identity token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebIdentityToken {
    /// A token in the configuration.
    Inline(Secret),
    /// A file, which is read again for each session, because other programs renew it.
    File(PathBuf),
    /// The file that `AWS_WEB_IDENTITY_TOKEN_FILE` names.
    Environment,
}

impl AwsSettings {
    /// Returns the endpoint of a service in these settings.
    pub(super) fn endpoint(&self, service: AwsService) -> Option<&str> {
        self.endpoints.get(&service.settings_key()).map(String::as_str).filter(|url| !url.is_empty())
    }

    /// Returns the environment in which the credential chain of AWS finds these settings.
    pub(super) fn chain_environment(&self) -> Environment {
        let mut environment = self.environment.clone();
        if self.profile.is_some() {
            // In the chain keys of the environment precede any profile.
            environment = environment.without(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]);
        }
        // The chain itself calls these two services, and only its environment can redirect it.
        for service in [AwsService::STS, AwsService::SSO] {
            if let Some(url) = self.endpoint(service) {
                environment = environment.with(&service.endpoint_variable(), with_scheme(url));
            }
        }
        let metadata = &self.metadata;
        if let Some(enabled) = metadata.enabled {
            environment = environment.with("AWS_EC2_METADATA_DISABLED", (!enabled).to_string());
        }
        let variables = [
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", &metadata.endpoint),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", &metadata.endpoint_mode),
        ];
        for (name, value) in variables {
            if let Some(value) = value {
                environment = environment.with(name, value.clone());
            }
        }
        environment
    }
}

/// Adds the scheme of endpoints that are given as host names.
pub(super) fn with_scheme(url: &str) -> String {
    if url.contains("://") { url.to_owned() } else { format!("https://{url}") }
}
