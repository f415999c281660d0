//! Tokens of hosts for remote backends: those that provider and module registries get, too.

use groma_backend::{HostTokens, StoreError, StoreFuture};
use groma_cloud::Secret;
use groma_install::credentials::Credentials;

/// The credentials of the environment, the CLI configuration and the credentials helper.
pub(super) struct InstalledTokens(pub Credentials);

impl HostTokens for InstalledTokens {
    fn token<'a>(&'a self, hostname: &'a str) -> StoreFuture<'a, Option<Secret>> {
        Box::pin(async move {
            let token = self.0.token(hostname).await.map_err(|problem| StoreError::Unauthenticated {
                service: hostname.to_owned(),
                reason: problem.to_string(),
                advice: "Repair or remove credentials_helper in the CLI configuration.".to_owned(),
            })?;
            // A helper that is configured and missing matters only to a host without another token.
            match (token, self.0.lacking()) {
                (Some(token), _) => Ok(Some(Secret::new(token.secret()))),
                (None, None) => Ok(None),
                (None, Some(why)) => Err(StoreError::Unauthenticated {
                    service: hostname.to_owned(),
                    reason: "no token is configured".to_owned(),
                    advice: why.to_owned(),
                }),
            }
        })
    }
}
