//! Restriction of a provider to accounts.

use groma_cloud::aws::{AwsClient, AwsError, RequestError};
use groma_framework::ProviderDiagnostic;

use super::arguments::Arguments;

/// The accounts that a provider may work in. Off by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AccountRestriction {
    allowed: Vec<String>,
    forbidden: Vec<String>,
}

impl AccountRestriction {
    /// Reads `allowed_account_ids` and `forbidden_account_ids`.
    pub(super) fn of(block: &Arguments) -> Result<Self, ProviderDiagnostic> {
        let (allowed, forbidden) = (block.texts("allowed_account_ids"), block.texts("forbidden_account_ids"));
        if !allowed.is_empty() && !forbidden.is_empty() {
            return Err(ProviderDiagnostic::error(
                "Conflicting Account Restrictions",
                "The provider block has both allowed_account_ids and forbidden_account_ids. Remove one of them.",
            ));
        }
        Ok(Self { allowed, forbidden })
    }

    /// Checks the account of the credentials, which AWS STS tells. Sends no request without a restriction.
    pub(super) async fn check(&self, client: &AwsClient) -> Result<(), ProviderDiagnostic> {
        if *self == Self::default() {
            return Ok(());
        }
        let identity = client.caller_identity().await.map_err(|error| match error {
            RequestError::Client(error) => unusable(&error),
            error => ProviderDiagnostic::error(
                "Cannot Determine the AWS Account",
                format!(
                    "The account cannot be checked against allowed_account_ids and forbidden_account_ids: {error}."
                ),
            ),
        })?;
        self.verdict(&identity.account)
    }

    fn verdict(&self, account: &str) -> Result<(), ProviderDiagnostic> {
        let is_in = |accounts: &[String]| accounts.iter().any(|one| one == account);
        let problem = if is_in(&self.forbidden) {
            "forbidden_account_ids contains it"
        } else if !self.allowed.is_empty() && !is_in(&self.allowed) {
            "allowed_account_ids does not contain it"
        } else {
            return Ok(());
        };
        Err(ProviderDiagnostic::error(
            "AWS Account Not Allowed",
            format!(
                "The credentials belong to the AWS account {account}, and {problem}. Use credentials of another account."
            ),
        ))
    }
}

/// Returns the diagnostic for credentials or settings that cannot be used.
pub(super) fn unusable(error: &AwsError) -> ProviderDiagnostic {
    let summary = match error {
        AwsError::MissingCredentials(_) => "No valid credential sources found",
        AwsError::Credentials { .. } | AwsError::MissingProfile { .. } | AwsError::MfaRequired { .. } => {
            "AWS Credentials Unusable"
        }
        AwsError::MissingRegion => "Missing AWS Region",
        AwsError::SharedConfig(_) | AwsError::Setting(_) | AwsError::Http(_) | AwsError::Background(_) => {
            "Invalid AWS Provider Configuration"
        }
    };
    let text = error.to_string();
    let mut letters = text.chars();
    // The messages of the client are clauses; a diagnostic is a sentence.
    let first = letters.next().map_or_else(String::new, |letter| letter.to_uppercase().collect());
    let end = if text.ends_with('.') { "" } else { "." };
    ProviderDiagnostic::error(summary, format!("{first}{}{end}", letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_allowed_or_forbidden() {
        let restriction = |allowed: &[&str], forbidden: &[&str]| AccountRestriction {
            allowed: allowed.iter().map(|id| (*id).to_owned()).collect(),
            forbidden: forbidden.iter().map(|id| (*id).to_owned()).collect(),
        };
        assert!(restriction(&["1"], &[]).verdict("1").is_ok());
        assert!(restriction(&["1"], &[]).verdict("2").is_err_and(|problem| problem.detail.contains("account 2")));
        assert!(restriction(&[], &["1"]).verdict("2").is_ok());
        assert!(restriction(&[], &["1"]).verdict("1").is_err());
    }
}
