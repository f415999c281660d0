//! Requests to services, from synchronous key providers.

use groma_cloud::api::{ApiClient, ApiRequest};
use groma_cloud::{TokenError, background};
use groma_encryption::KeyError;
use serde::Serialize;
use serde_json::Value as Json;

/// Sends a request and parses the response as JSON.
pub(crate) fn request_json(api: &ApiClient, request: ApiRequest) -> Result<Json, KeyError> {
    let api = api.clone();
    // Key providers are called from synchronous code that reads and writes files.
    let answer = background::block_on(async move { api.json(&request).await });
    answer.map_err(|error| KeyError::System(error.to_string()))?.map_err(key_error)
}

/// Translates an error of the client.
pub(crate) fn key_error(error: TokenError) -> KeyError {
    match error {
        TokenError::Setting(problem) => KeyError::Argument(problem),
        TokenError::Missing(problem) | TokenError::Credentials(problem) => KeyError::Credentials(problem),
        TokenError::Connection(problem) => KeyError::Connection(problem),
        TokenError::Rejected { status, message } => KeyError::Rejected { status, message },
        TokenError::Response(problem) => KeyError::Response(problem),
        TokenError::Program(problem) => KeyError::Program(problem),
        TokenError::System(problem) => KeyError::System(problem),
        TokenError::Context(step, cause) => KeyError::Context(step, Box::new(key_error(*cause))),
    }
}

/// Encodes the metadata for a file.
pub(crate) fn encode_metadata(metadata: &impl Serialize) -> Result<Vec<u8>, KeyError> {
    serde_json::to_vec(metadata).map_err(|error| KeyError::System(format!("cannot encode the key metadata: {error}")))
}

/// Generates a key of this length.
pub(crate) fn random_key(length: usize) -> Result<Vec<u8>, KeyError> {
    let mut key = vec![0; length];
    aws_lc_rs::rand::fill(&mut key)
        .map_err(|_| KeyError::System("the operating system provides no random numbers".to_owned()))?;
    Ok(key)
}
