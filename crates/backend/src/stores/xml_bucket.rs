//! Requests to a bucket in the protocol that OSS and COS share: keys in paths, answers in XML, headers with the prefix of the
//! service.

use std::future::Future;

use bytes::Bytes;
use groma_cloud::api::{ApiRequest, url_encoded};
use groma_cloud::http::{HttpResponse, Method};

use super::xml;
use crate::error::StoreError;

/// The largest state that is read.
const LIMIT: u64 = 4 << 30;

/// A service with this protocol, with the credentials of one configuration.
pub(super) trait XmlService: Sync {
    /// The name for messages: `Alibaba Cloud OSS`.
    const NAME: &'static str;
    /// The prefix of locations, permissions and headers: `oss`.
    const PREFIX: &'static str;
    /// The header with the access control of a written object.
    const ACL_HEADER: &'static str;
    /// The operation whose permission listing a bucket needs.
    const LIST_OPERATION: &'static str;

    /// Signs and sends a request for an object, or for the bucket with an empty key.
    fn send(
        &self,
        bucket: &str,
        key: &str,
        request: ApiRequest,
    ) -> impl Future<Output = Result<HttpResponse, StoreError>> + Send;

    /// Returns the header that records the MD5 digest of a written object.
    fn digest_header(bytes: &[u8]) -> (&'static str, String);

    /// Returns the error of a request that the service has refused for a reason with advice of its own.
    fn refused(&self, bucket: &str, refusal: &Refusal<'_>) -> Option<StoreError>;
}

/// A request that the service has refused.
pub(super) struct Refusal<'a> {
    pub status: u16,
    /// The code of the service: `NoSuchBucket`.
    pub code: &'a str,
    /// Status, code and message.
    pub reason: String,
    /// The body of the answer.
    pub document: &'a str,
    /// The location of the object.
    pub location: String,
    /// The permission that the request needs.
    pub permission: &'a str,
}

/// The client of one bucket.
pub(super) struct XmlBucket<S> {
    pub service: S,
    /// The URL of the bucket.
    pub base: String,
    pub name: String,
    pub acl: Option<String>,
    pub encryption: Encryption,
}

/// Whether objects are encrypted with keys of the service.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    Aes256,
    OfBucket,
}

/// Whether a write may replace an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Overwrite {
    Allowed,
    /// The write creates the object. In a bucket with versions, the services ignore this.
    Forbidden,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// There is an object already.
    Refused,
}

impl<S: XmlService> XmlBucket<S> {
    /// Returns the location of an object for messages.
    pub fn location(&self, key: &str) -> String {
        format!("{}://{}/{key}", S::PREFIX, self.name)
    }

    fn url(&self, key: &str) -> String {
        // Each path element is encoded alone, so that the slashes between them remain.
        let key = key.split('/').map(url_encoded).collect::<Vec<_>>().join("/");
        format!("{}/{key}", self.base)
    }

    async fn send(&self, key: &str, request: ApiRequest) -> Result<HttpResponse, StoreError> {
        self.service.send(&self.name, key, request).await
    }

    /// Reads an object; `None` if it does not exist.
    pub async fn response(&self, key: &str) -> Result<Option<HttpResponse>, StoreError> {
        let response = self.send(key, ApiRequest::get(self.url(key)).with_limit(LIMIT)).await?;
        match response.status.as_u16() {
            200 => Ok(Some(response)),
            // A missing bucket is an error: only a missing object means that the state is new.
            404 if code(&response).as_deref() != Some("NoSuchBucket") => Ok(None),
            _ => Err(self.failed(key, "GetObject", "read the object", &response)),
        }
    }

    /// Writes an object, unless it exists and must not be replaced. The request shares the memory of the bytes.
    pub async fn put(&self, key: &str, bytes: &Bytes, overwrite: Overwrite) -> Result<Outcome, StoreError> {
        let (name, digest) = S::digest_header(bytes);
        let mut request = ApiRequest::new(Method::PUT, self.url(key))
            .with_header("content-type", "application/json")
            .with_header(name, digest)
            .with_body(bytes.clone());
        if let Some(acl) = &self.acl {
            request = request.with_header(S::ACL_HEADER, acl);
        }
        if self.encryption == Encryption::Aes256 {
            request = request.with_header(&format!("x-{}-server-side-encryption", S::PREFIX), "AES256");
        }
        if overwrite == Overwrite::Forbidden {
            request = request.with_header(&format!("x-{}-forbid-overwrite", S::PREFIX), "true");
        }
        let response = self.send(key, request).await?;
        match response.status.as_u16() {
            200 => Ok(Outcome::Done),
            409 if overwrite == Overwrite::Forbidden => Ok(Outcome::Refused),
            _ => Err(self.failed(key, "PutObject", "write the object", &response)),
        }
    }

    /// Deletes an object. A missing one is not an error.
    pub async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let response = self.send(key, ApiRequest::new(Method::DELETE, self.url(key))).await?;
        match response.status.as_u16() {
            200 | 204 => Ok(()),
            404 if code(&response).as_deref() != Some("NoSuchBucket") => Ok(()),
            _ => Err(self.failed(key, "DeleteObject", "delete the object", &response)),
        }
    }

    /// Lists the keys that begin with `prefix`.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut keys = Vec::new();
        let mut marker: Option<String> = None;
        loop {
            let mut url = format!("{}/?prefix={}&max-keys=1000", self.base, url_encoded(prefix));
            if let Some(marker) = &marker {
                url.push_str(&format!("&marker={}", url_encoded(marker)));
            }
            let response = self.send("", ApiRequest::get(url)).await?;
            if response.status.as_u16() != 200 {
                return Err(self.failed(prefix, S::LIST_OPERATION, "list the objects", &response));
            }
            let document = String::from_utf8_lossy(&response.body);
            let found: Vec<String> = xml::elements(&document, "Key").into_iter().map(xml::unescaped).collect();
            let is_truncated = xml::text(&document, "IsTruncated").as_deref() == Some("true");
            // Listings are sorted, so the last key continues one whose answer has no marker.
            marker = xml::text(&document, "NextMarker").or_else(|| found.last().cloned()).filter(|_| is_truncated);
            keys.extend(found);
            if marker.is_none() {
                return Ok(keys);
            }
        }
    }

    fn failed(&self, key: &str, operation: &str, action: &str, response: &HttpResponse) -> StoreError {
        let status = response.status.as_u16();
        let document = String::from_utf8_lossy(&response.body);
        let code = xml::text(&document, "Code").unwrap_or_default();
        let message = xml::text(&document, "Message").unwrap_or_default();
        let reason = format!("HTTP status {status}: {code}: {message}").trim_end_matches([':', ' ', '.']).to_owned();
        let permission = format!("{}:{operation}", S::PREFIX);
        let refusal = Refusal {
            status,
            code: &code,
            reason,
            document: &document,
            location: self.location(key),
            permission: &permission,
        };
        self.service.refused(&self.name, &refusal).unwrap_or_else(|| StoreError::Service {
            service: S::NAME.to_owned(),
            action: action.to_owned(),
            reason: refusal.reason,
        })
    }
}

fn code(response: &HttpResponse) -> Option<String> {
    xml::text(&String::from_utf8_lossy(&response.body), "Code")
}
