//! Signatures of Azure Storage with an account key (Shared Key).

use std::time::SystemTime;

use aws_lc_rs::hmac;
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::api::ApiRequest;
use crate::error::TokenError;
use crate::http::Url;

/// A key of a storage account. `Debug` prints the account only.
#[derive(Clone)]
pub struct StorageKey {
    account: String,
    key: hmac::Key,
}

impl std::fmt::Debug for StorageKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StorageKey({})", self.account)
    }
}

impl StorageKey {
    /// Reads a key in the form of the portal: Base64.
    ///
    /// # Errors
    /// Fails if the key is not Base64.
    pub fn new(account: impl Into<String>, key: &str) -> Result<Self, TokenError> {
        let key = BASE64_STANDARD.decode(key.trim());
        let key = key.map_err(|_| TokenError::setting("the access key of the storage account is not valid Base64"))?;
        Ok(Self { account: account.into(), key: hmac::Key::new(hmac::HMAC_SHA256, &key) })
    }

    /// Adds the headers that sign a request. All other headers must be set before.
    ///
    /// # Errors
    /// Fails if the URL of the request is invalid.
    pub fn sign(&self, request: ApiRequest, now: SystemTime) -> Result<ApiRequest, TokenError> {
        let date = DateTime::from(now).fmt(Format::HttpDate);
        let date = date.map_err(|_| TokenError::System("the clock of the system is wrong".to_owned()))?;
        let request = request.with_header("x-ms-date", date);
        let text = self.string_to_sign(&request)?;
        let signature = BASE64_STANDARD.encode(hmac::sign(&self.key, text.as_bytes()));
        Ok(request.with_header("authorization", format!("SharedKey {}:{signature}", self.account)))
    }

    fn string_to_sign(&self, request: &ApiRequest) -> Result<String, TokenError> {
        const HEADERS: [&str; 11] = [
            "content-encoding",
            "content-language",
            "content-length",
            "content-md5",
            "content-type",
            "date",
            "if-modified-since",
            "if-match",
            "if-none-match",
            "if-unmodified-since",
            "range",
        ];
        let length = if request.body.is_empty() { String::new() } else { request.body.len().to_string() };
        let value = |name: &str| match name {
            "content-length" => length.clone(),
            _ => {
                let found = request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                found.map(|(_, value)| value.clone()).unwrap_or_default()
            }
        };
        let mut text = format!("{}\n", request.method);
        for name in HEADERS {
            text.push_str(&value(name));
            text.push('\n');
        }
        let mut own: Vec<(String, &str)> = request
            .headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
            .filter(|(name, _)| name.starts_with("x-ms-"))
            .collect();
        own.sort();
        for (name, value) in own {
            text.push_str(&format!("{name}:{value}\n"));
        }
        text.push_str(&self.resource(&request.url)?);
        Ok(text)
    }

    /// Returns the canonical form of the URL.
    fn resource(&self, url: &str) -> Result<String, TokenError> {
        let parsed = Url::parse(url);
        let url = parsed.map_err(|error| TokenError::Connection(format!("{url:?} is not a valid URL: {error}")))?;
        let mut text = format!("/{}{}", self.account, url.path());
        let mut query: Vec<(String, String)> =
            url.query_pairs().map(|(name, value)| (name.to_lowercase(), value.into_owned())).collect();
        query.sort();
        for (name, value) in query {
            text.push_str(&format!("\n{name}:{value}"));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::http::Method;

    #[test]
    fn signed_string_has_all_parts_in_order() {
        let key = StorageKey::new("acc", "c2VjcmV0").unwrap();
        let request = ApiRequest::new(Method::PUT, "https://acc.blob.core.windows.net/c/a%20b?comp=Metadata&B=x%2Fy")
            .with_header("content-type", "application/json")
            .with_header("If-Match", "\"0x1\"")
            .with_header("x-ms-version", "2023-11-03")
            .with_header("x-ms-lease-id", "id")
            .with_body("{}");
        let expected = "PUT\n\n\n2\n\napplication/json\n\n\n\"0x1\"\n\n\n\nx-ms-lease-id:id\nx-ms-version:2023-11-03\n\
                        /acc/c/a%20b\nb:x/y\ncomp:Metadata";
        assert_eq!(key.string_to_sign(&request).unwrap(), expected);
        let signed = key.sign(request, UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
        let header = |name: &str| signed.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value);
        assert_eq!(header("x-ms-date"), Some("Tue, 14 Nov 2023 22:13:20 GMT"));
        assert!(
            header("authorization").is_some_and(|value| value.starts_with("SharedKey acc:") && value.ends_with('='))
        );
        assert_eq!(format!("{key:?}"), "StorageKey(acc)");
        assert!(StorageKey::new("acc", "not base64!").is_err());
    }
}
