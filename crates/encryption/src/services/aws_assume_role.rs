//! The roles that an `aws_kms` key provider assumes, and its restriction to certain accounts.

use super::arguments::{Argument, ArgumentType, ArgumentValues};
use super::aws_credential_chain::CredentialChain;
use super::aws_sts::{Sts, session_duration};
use super::network::{AwsKeys, ConnectionOptions, Network, or_variable};
use crate::error::KeyError;

/// The arguments of `assume_role`.
pub(super) const ROLE: &[Argument] = &[
    Argument::required("role_arn", ArgumentType::String),
    Argument::optional("duration", ArgumentType::String),
    Argument::optional("external_id", ArgumentType::String),
    Argument::optional("policy", ArgumentType::String),
    Argument::optional("policy_arns", ArgumentType::StringList),
    Argument::optional("session_name", ArgumentType::String),
    Argument::optional("tags", ArgumentType::Map),
    Argument::optional("transitive_tag_keys", ArgumentType::StringList),
];

/// The arguments of `assume_role_with_web_identity`.
pub(super) const WEB_IDENTITY_ROLE: &[Argument] = &[
    Argument::optional("role_arn", ArgumentType::String),
    Argument::optional("duration", ArgumentType::String),
    Argument::optional("policy", ArgumentType::String),
    Argument::optional("policy_arns", ArgumentType::StringList),
    Argument::optional("session_name", ArgumentType::String),
    Argument::optional("web_identity_token", ArgumentType::String),
    Argument::optional("web_identity_token_file", ArgumentType::String),
];

/// The arguments of `endpoints`.
pub(super) const ENDPOINTS: &[Argument] =
    &[Argument::optional("sts", ArgumentType::String), Argument::optional("iam", ArgumentType::Ignored)];

/// The roles to assume one after the other, and the accounts that they may lead to.
#[derive(Debug)]
pub(super) struct AssumedRoles {
    role: Option<ArgumentValues>,
    web_identity_role: Option<ArgumentValues>,
    allowed_accounts: Vec<String>,
    forbidden_accounts: Vec<String>,
    sts_region: Option<String>,
    sts_endpoint: Option<String>,
}

impl AssumedRoles {
    pub(super) fn new(arguments: &ArgumentValues, network: &dyn Network) -> Result<Self, KeyError> {
        let allowed_accounts = arguments.strings("allowed_account_ids");
        let forbidden_accounts = arguments.strings("forbidden_account_ids");
        if !allowed_accounts.is_empty() && !forbidden_accounts.is_empty() {
            return Err(KeyError::argument(
                "allowed_account_ids conflicts with forbidden_account_ids; set one of them",
            ));
        }
        let role = arguments.object("assume_role");
        let web_identity_role = arguments.object("assume_role_with_web_identity");
        // Only checks here: a mistake in the configuration must not wait for the first request.
        for role in role.iter().chain(&web_identity_role) {
            session_duration(role)?;
        }
        if let Some(role) = role {
            role.required_string("role_arn")?;
        }
        if web_identity_role.is_some_and(|role| {
            role.string("web_identity_token").is_some() && role.string("web_identity_token_file").is_some()
        }) {
            return Err(KeyError::argument(
                "web_identity_token conflicts with web_identity_token_file; set one of them",
            ));
        }
        let endpoint = arguments.object("endpoints").and_then(|endpoints| endpoints.string("sts"));
        let endpoint = or_variable(endpoint, network, &["AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"]);
        // OpenTofu accepts a host without a scheme here.
        let endpoint = endpoint.map(|url| if url.contains("://") { url } else { format!("https://{url}") });
        Ok(Self {
            role: role.cloned(),
            web_identity_role: web_identity_role.cloned(),
            allowed_accounts,
            forbidden_accounts,
            sts_region: arguments.string("sts_region"),
            sts_endpoint: endpoint,
        })
    }

    /// Returns the keys that sign requests: those of the last role, or of the credential chain if there is no role.
    pub(super) fn keys(
        &self,
        arguments: &ArgumentValues,
        region: &str,
        network: &dyn Network,
        connection: &ConnectionOptions,
    ) -> Result<AwsKeys, KeyError> {
        let region = self.sts_region.as_deref().unwrap_or(region);
        let sts = Sts { region, endpoint: self.sts_endpoint.as_deref(), network, connection };
        let mut keys = match &self.web_identity_role {
            Some(role) => sts.assume_role_with_web_identity(role)?,
            None => CredentialChain { arguments, network, sts: &sts }.keys()?,
        };
        if let Some(role) = &self.role {
            keys = sts.assume_role(role, &keys)?;
        }
        if !self.allowed_accounts.is_empty() || !self.forbidden_accounts.is_empty() {
            self.check_account(&sts.account_id(&keys)?)?;
        }
        Ok(keys)
    }

    fn check_account(&self, id: &str) -> Result<(), KeyError> {
        let is_in = |accounts: &[String]| accounts.iter().any(|account| account == id);
        if is_in(&self.forbidden_accounts) {
            return Err(KeyError::credentials(format!("forbidden_account_ids contains the AWS account {id}")));
        }
        if !self.allowed_accounts.is_empty() && !is_in(&self.allowed_accounts) {
            return Err(KeyError::credentials(format!("allowed_account_ids does not contain the AWS account {id}")));
        }
        Ok(())
    }
}
