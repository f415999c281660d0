//! Requests to the API, with signatures of version 1 in the query.

use std::time::SystemTime;

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use futures_util::future::BoxFuture;
use serde_json::Value as Json;

use super::signature;
use crate::api::{ApiClient, ApiRequest, url_encoded};
use crate::error::TokenError;
use crate::keys::{Keys, hex};

/// A request to the API.
#[derive(Clone, Debug)]
pub(super) struct RpcRequest {
    /// The host, or a URL.
    pub endpoint: String,
    /// The name of the action: `AssumeRole`.
    pub action: &'static str,
    /// The version of the API.
    pub version: &'static str,
    /// The parameters of the action.
    pub parameters: Vec<(&'static str, String)>,
}

impl RpcRequest {
    /// Sends the request, and parses the answer.
    pub fn send<'a>(&'a self, api: &'a ApiClient, keys: &'a Keys) -> BoxFuture<'a, Result<Json, TokenError>> {
        // Signed for each attempt: the service refuses a nonce that it has seen.
        api.json_of(move || Ok(ApiRequest::get(self.signed_url(keys, SystemTime::now(), &nonce()?)?)))
    }

    fn signed_url(&self, keys: &Keys, now: SystemTime, nonce: &str) -> Result<String, TokenError> {
        let wrong_clock = |_| TokenError::System("the clock of the system is wrong".to_owned());
        let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let time = DateTime::from_secs(seconds.try_into().unwrap_or_default());
        let time = time.fmt(Format::DateTime).map_err(wrong_clock)?;
        let mut pairs: Vec<(&str, &str)> = vec![
            ("AccessKeyId", &keys.id),
            ("Action", self.action),
            ("Format", "JSON"),
            ("SignatureMethod", "HMAC-SHA1"),
            ("SignatureNonce", nonce),
            ("SignatureVersion", "1.0"),
            ("Timestamp", &time),
            ("Version", self.version),
        ];
        pairs.extend(keys.token.as_ref().map(|token| ("SecurityToken", token.reveal())));
        pairs.extend(self.parameters.iter().map(|(name, value)| (*name, value.as_str())));
        let query = signed_query(pairs, keys.key.reveal());
        let base = match self.endpoint.split_once("://") {
            Some(_) => self.endpoint.trim_end_matches('/').to_owned(),
            None => format!("https://{}", self.endpoint),
        };
        Ok(format!("{base}/?{query}"))
    }
}

/// Returns the query with its signature.
fn signed_query(mut pairs: Vec<(&str, &str)>, key: &str) -> String {
    // The service sorts the parameters, too, before it checks the signature.
    pairs.sort_unstable();
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", url_encoded(name), url_encoded(value)));
    let query = pairs.collect::<Vec<_>>().join("&");
    let signature = signature(&format!("{key}&"), &format!("GET&%2F&{}", url_encoded(&query)));
    format!("Signature={}&{query}", url_encoded(&signature))
}

/// Returns a number that no other request has.
fn nonce() -> Result<String, TokenError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|_| TokenError::System("the system has no random numbers".to_owned()))?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_that_of_the_documentation() {
        // The example of the documentation of RPC signatures.
        let query = signed_query(
            vec![
                ("Timestamp", "2016-02-23T12:46:24Z"),
                ("Format", "XML"),
                ("AccessKeyId", "testid"),
                ("Action", "DescribeRegions"),
                ("SignatureMethod", "HMAC-SHA1"),
                ("SignatureNonce", "3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf"),
                ("Version", "2014-05-26"),
                ("SignatureVersion", "1.0"),
            ],
            "testsecret",
        );
        assert!(query.starts_with("Signature=OLeaidS1JvxuMvnyHOwuJ%2BuX5qY%3D&AccessKeyId=testid&"), "{query}");
    }
}
