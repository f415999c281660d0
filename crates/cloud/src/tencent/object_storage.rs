//! Signatures of object storage (COS).

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY;
use aws_lc_rs::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY;
use futures_util::future::BoxFuture;

use super::credentials::TencentCredentials;
use super::tc3::digest;
use crate::api::{ApiRequest, url_encoded};
use crate::error::TokenError;
use crate::keys::{Keys, hex, hmac};

/// The seconds for which a signature is valid.
const LIFETIME: u64 = 900;

impl TencentCredentials {
    /// Adds the headers that sign a request to object storage. All other headers must be set before.
    ///
    /// # Errors
    /// Fails if there are no keys, or if the URL of the request is invalid.
    pub fn sign(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiRequest, TokenError>> {
        Box::pin(async move {
            let keys = self.keys().await?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let request = match &keys.token {
                Some(token) => request.with_header("x-cos-security-token", token.reveal()),
                None => request,
            };
            let authorization = authorization(&request, &keys, now)?;
            Ok(request.with_header("authorization", authorization))
        })
    }
}

fn authorization(request: &ApiRequest, keys: &Keys, now: u64) -> Result<String, TokenError> {
    let url = request.parsed_url()?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = format!("{}{port}", url.host_str().unwrap_or_default());
    let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let headers = headers.filter(|(name, _)| name.starts_with("x-cos-")).chain([("host", host.as_str())]);
    let (header_names, headers) = canonical(headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let query = url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned()));
    let (query_names, query) = canonical(query);
    let path = decoded(url.path());
    let method = request.method.as_str().to_ascii_lowercase();
    let time = format!("{};{}", now.saturating_sub(60), now + LIFETIME);
    let http = digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{method}\n{path}\n{query}\n{headers}\n").as_bytes());
    let key = hex(&hmac(HMAC_SHA1_FOR_LEGACY_USE_ONLY, keys.key.reveal().as_bytes(), &time));
    let signature = hex(&hmac(HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes(), &format!("sha1\n{time}\n{http}\n")));
    Ok(format!(
        "q-sign-algorithm=sha1&q-ak={}&q-sign-time={time}&q-key-time={time}&q-header-list={header_names}&q-url-param-list={query_names}\
         &q-signature={signature}",
        keys.id
    ))
}

/// Returns the sorted names, and the sorted pairs, in the forms that are signed.
fn canonical(pairs: impl Iterator<Item = (String, String)>) -> (String, String) {
    let mut pairs: Vec<(String, String)> =
        pairs.map(|(name, value)| (url_encoded(&name).to_lowercase(), url_encoded(&value))).collect();
    pairs.sort();
    let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    let texts: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (names.join(";"), texts.join("&"))
}

/// Decodes the percent signs of a path: signatures have it as the service sees it.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_sorted_and_encoded() {
        let pairs = [("x-cos-B", "1 2"), ("host", "h"), ("Prefix", "a/b")];
        let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (names, texts) = canonical(pairs);
        assert_eq!(names, "host;prefix;x-cos-b");
        assert_eq!(texts, "host=h&prefix=a%2Fb&x-cos-b=1%202");
        assert_eq!(decoded("/a%2Fb%/%C3%A9"), "/a/b%/é");
    }
}
