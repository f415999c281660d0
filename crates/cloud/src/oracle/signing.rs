//! HTTP signatures of Oracle Cloud.

use std::time::SystemTime;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::RSA_PKCS1_SHA256;
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::credentials::OracleCredentials;
use crate::api::ApiRequest;
use crate::error::TokenError;
use crate::http::Url;

impl OracleCredentials {
    /// Adds the headers that sign a request to Object Storage, whose bodies are not part of signatures.
    ///
    /// # Errors
    /// Fails if the URL of the request is invalid, or if the key cannot sign.
    pub fn sign(&self, request: ApiRequest, now: SystemTime) -> Result<ApiRequest, TokenError> {
        let date = DateTime::from(now).fmt(Format::HttpDate);
        let date = date.map_err(|_| TokenError::System("the clock of the system is wrong".to_owned()))?;
        let text = string_to_sign(&request, &date)?;
        let mut signature = vec![0; self.key.public_modulus_len()];
        let signed = self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature);
        signed.map_err(|_| TokenError::System("the API key cannot sign".to_owned()))?;
        let authorization = format!(
            "Signature version=\"1\",headers=\"date (request-target) host\",keyId=\"{}\",algorithm=\"rsa-sha256\",signature=\"{}\"",
            self.key_id.reveal(),
            BASE64_STANDARD.encode(signature)
        );
        Ok(request.with_header("date", date).with_header("authorization", authorization))
    }
}

fn string_to_sign(request: &ApiRequest, date: &str) -> Result<String, TokenError> {
    let parsed = Url::parse(&request.url);
    let url =
        parsed.map_err(|error| TokenError::Connection(format!("{:?} is not a valid URL: {error}", request.url)))?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let method = request.method.as_str().to_ascii_lowercase();
    let host = url.host_str().unwrap_or_default();
    Ok(format!("date: {date}\n(request-target): {method} {}{query}\nhost: {host}{port}", url.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Method;

    #[test]
    fn signed_string_has_date_target_and_host() {
        let request = ApiRequest::new(Method::PUT, "https://h.example/n/ns/b/B/o/a%2Fb?x=%20y");
        let text = string_to_sign(&request, "Thu, 05 Jan 2014 21:31:40 GMT").unwrap();
        let expected =
            "date: Thu, 05 Jan 2014 21:31:40 GMT\n(request-target): put /n/ns/b/B/o/a%2Fb?x=%20y\nhost: h.example";
        assert_eq!(text, expected);
    }
}
