//! Requests to the API, with signatures of version 3.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest::{self, SHA256};
use aws_lc_rs::hmac::HMAC_SHA256;
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use serde_json::Value as Json;

use crate::api::{ApiClient, ApiRequest};
use crate::error::TokenError;
use crate::http::Method;
use crate::keys::{Keys, hex, hmac};

/// A request to the API.
#[derive(Clone, Debug)]
pub struct TencentRequest {
    /// The service, as signatures name it: `tag`.
    pub service: &'static str,
    /// The host, or a URL for tests.
    pub host: String,
    /// The name of the action: `CreateTag`.
    pub action: &'static str,
    /// The version of the API.
    pub version: &'static str,
    /// The region of the request.
    pub region: String,
    /// The parameters of the action, in JSON.
    pub body: Json,
}

impl TencentRequest {
    /// Sends the request and returns the member `Response`.
    pub(super) async fn send(&self, api: &ApiClient, keys: &Keys) -> Result<Json, TokenError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut answer = api.json(&self.signed(keys, now)?).await?;
        match answer["Response"].take() {
            Json::Null => Err(TokenError::response("the response of the service has no Response")),
            response => Ok(response),
        }
    }

    fn signed(&self, keys: &Keys, now: u64) -> Result<ApiRequest, TokenError> {
        let (url, host) = match self.host.split_once("://") {
            Some((_, host)) => (self.host.clone(), host.to_owned()),
            None => (format!("https://{}", self.host), self.host.clone()),
        };
        let payload = self.body.to_string();
        let mut request = ApiRequest::json(Method::POST, format!("{url}/"), &self.body)
            .with_header("x-tc-action", self.action)
            .with_header("x-tc-version", self.version)
            .with_header("x-tc-region", &self.region)
            .with_header("x-tc-timestamp", now.to_string());
        if let Some(token) = &keys.token {
            request = request.with_header("x-tc-token", token.reveal());
        }
        let authorization = self.authorization(keys, &host, &payload, now)?;
        Ok(request.with_header("authorization", authorization))
    }

    fn authorization(&self, keys: &Keys, host: &str, payload: &str, now: u64) -> Result<String, TokenError> {
        let wrong_clock = || TokenError::System("the clock of the system is wrong".to_owned());
        let time = DateTime::from_secs(i64::try_from(now).map_err(|_| wrong_clock())?).fmt(Format::DateTime);
        let time = time.map_err(|_| wrong_clock())?;
        let date = time.split('T').next().unwrap_or_default();
        let canonical = format!(
            "POST\n/\n\ncontent-type:application/json\nhost:{host}\n\ncontent-type;host\n{}",
            digest(&SHA256, payload.as_bytes())
        );
        let scope = format!("{date}/{}/tc3_request", self.service);
        let text = format!("TC3-HMAC-SHA256\n{now}\n{scope}\n{}", digest(&SHA256, canonical.as_bytes()));
        let key = hmac(HMAC_SHA256, format!("TC3{}", keys.key.reveal()).as_bytes(), date);
        let key = hmac(HMAC_SHA256, &hmac(HMAC_SHA256, &key, self.service), "tc3_request");
        let signature = hex(&hmac(HMAC_SHA256, &key, &text));
        Ok(format!(
            "TC3-HMAC-SHA256 Credential={}/{scope}, SignedHeaders=content-type;host, Signature={signature}",
            keys.id
        ))
    }
}

pub(super) fn digest(algorithm: &'static digest::Algorithm, bytes: &[u8]) -> String {
    hex(digest::digest(algorithm, bytes).as_ref())
}
