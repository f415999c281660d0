//! Roles that settings name, assumed through AWS STS.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use aws_sdk_sts::Client;
use aws_sdk_sts::types::{AssumedRoleUser, Credentials as Issued, PolicyDescriptorType, Tag};
use groma_diagnostics::io_reason;

use super::settings::AssumeRole;
use crate::secret::Secret;

/// The limits of STS for the duration of a session.
const DURATIONS: std::ops::RangeInclusive<Duration> = Duration::from_secs(15 * 60)..=Duration::from_secs(12 * 60 * 60);

impl AssumeRole {
    /// Parses the duration of a session, in Go's syntax for durations: `1h30m`, `900s`. Returns `None` if it is
    /// invalid or not between 15 minutes and 12 hours.
    pub fn parse_duration(text: &str) -> Option<Duration> {
        let duration = groma_duration::parse_unsigned(text)?;
        DURATIONS.contains(&duration).then_some(duration)
    }
}

/// A provider of the keys of a role.
#[derive(Debug)]
pub(super) struct RoleProvider {
    /// A client with the keys that may assume the role.
    pub(super) sts: Client,
    pub(super) role: AssumeRole,
}

impl RoleProvider {
    async fn assume(&self) -> Result<Credentials, CredentialsError> {
        let role = &self.role;
        let tags = role.tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build());
        let tags = tags.collect::<Result<Vec<Tag>, _>>().map_err(CredentialsError::invalid_configuration)?;
        // STS rejects empty lists where it accepts absent ones.
        let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        let sent = self
            .sts
            .assume_role()
            .role_arn(&role.role_arn)
            .role_session_name(session_name(role.session_name.as_deref()))
            .set_external_id(role.external_id.clone())
            .set_duration_seconds(role.duration.map(|duration| duration.as_secs() as i32))
            .set_policy(role.policy.clone())
            .set_policy_arns(policies(&role.policy_arns))
            .set_tags((!tags.is_empty()).then_some(tags))
            .set_transitive_tag_keys(some(&role.transitive_tag_keys))
            .set_source_identity(role.source_identity.clone())
            .send()
            .await
            .map_err(CredentialsError::provider_error)?;
        issued(sent.credentials, sent.assumed_role_user)
    }
}

impl ProvideCredentials for RoleProvider {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.assume())
    }
}

/// A provider of the keys of a role that a token of another identity provider gives access to.
#[derive(Debug)]
pub(super) struct WebIdentityProvider {
    /// A client without keys: the token is the proof of identity.
    pub(super) sts: Client,
    pub(super) role_arn: String,
    pub(super) token: TokenSource,
    pub(super) session_name: Option<String>,
    pub(super) duration: Option<Duration>,
    pub(super) policy: Option<String>,
    pub(super) policy_arns: Vec<String>,
}

/// The source of a web identity token.
#[derive(Debug)]
pub(super) enum TokenSource {
    Inline(Secret),
    File(PathBuf),
}

impl WebIdentityProvider {
    async fn assume(&self) -> Result<Credentials, CredentialsError> {
        let token = match &self.token {
            TokenSource::Inline(token) => token.reveal().to_owned(),
            TokenSource::File(path) => std::fs::read_to_string(path).map_err(|error| {
                CredentialsError::invalid_configuration(format!(
                    "cannot read the web identity token in {}: {}",
                    path.display(),
                    io_reason(&error)
                ))
            })?,
        };
        let sent = self
            .sts
            .assume_role_with_web_identity()
            .role_arn(&self.role_arn)
            .role_session_name(session_name(self.session_name.as_deref()))
            // Files of tokens often end with a line break.
            .web_identity_token(token.trim())
            .set_duration_seconds(self.duration.map(|duration| duration.as_secs() as i32))
            .set_policy(self.policy.clone())
            .set_policy_arns(policies(&self.policy_arns))
            .send()
            .await
            .map_err(CredentialsError::provider_error)?;
        issued(sent.credentials, sent.assumed_role_user)
    }
}

impl ProvideCredentials for WebIdentityProvider {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.assume())
    }
}

/// Returns the configured name, or one with the time, so that sessions differ in CloudTrail.
fn session_name(configured: Option<&str>) -> String {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    configured.map_or_else(|| format!("groma-{seconds}"), str::to_owned)
}

fn policies(arns: &[String]) -> Option<Vec<PolicyDescriptorType>> {
    let described = arns.iter().map(|arn| PolicyDescriptorType::builder().arn(arn).build());
    (!arns.is_empty()).then(|| described.collect())
}

fn issued(keys: Option<Issued>, user: Option<AssumedRoleUser>) -> Result<Credentials, CredentialsError> {
    let keys = keys.ok_or_else(|| CredentialsError::unhandled("the response of AWS STS has no credentials"))?;
    let mut builder = Credentials::builder()
        .access_key_id(keys.access_key_id)
        .secret_access_key(keys.secret_access_key)
        .session_token(keys.session_token)
        .provider_name("AssumeRole");
    builder.set_expiry(SystemTime::try_from(keys.expiration).ok());
    // arn:aws:sts::123456789012:assumed-role/name/session
    if let Some(account) = user.as_ref().and_then(|user| user.arn().split(':').nth(4)) {
        builder = builder.account_id(account);
    }
    Ok(builder.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_duration_must_be_within_the_limits_of_sts() {
        let parsed = |text: &str| AssumeRole::parse_duration(text).map(|duration| duration.as_secs());
        assert_eq!((parsed("1h30m"), parsed("900s"), parsed("12h")), (Some(5400), Some(900), Some(43_200)));
        for wrong in
            ["", "15", "14m", "13h", "1d", "h", "-1h", "99999999999999999999h", "5124095576030432h", "1 h", "1é"]
        {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
