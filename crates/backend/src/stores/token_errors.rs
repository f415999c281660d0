//! Errors of credentials of clouds as errors of stores.

use groma_cloud::TokenError;

use crate::error::StoreError;

/// Returns the reason why there is no access token, or no response, as an error of the store.
pub(super) fn token_error(service: &str, problem: &TokenError) -> StoreError {
    let mut cause = problem;
    while let TokenError::Context(_, inner) = cause {
        cause = inner;
    }
    match cause {
        TokenError::Connection(_) | TokenError::System(_) => {
            StoreError::Network { service: service.to_owned(), reason: problem.to_string() }
        }
        // The text of these says what to set or to run.
        _ => StoreError::Unauthenticated {
            service: service.to_owned(),
            reason: problem.to_string(),
            advice: String::new(),
        },
    }
}
