//! Requests to object storage.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groma_cloud::alibaba::AlibabaCredentials;
use groma_cloud::api::{ApiRequest, url_encoded};
use groma_cloud::http::{HttpResponse, Method};
use md5::{Digest as _, Md5};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::error::StoreError;
use crate::stores::digests::{Object, md5};
use crate::stores::token_errors::token_error;
use crate::stores::xml;

/// The largest state that is read.
const LIMIT: u64 = 4 << 30;

/// The client of one bucket.
pub(super) struct Bucket {
    pub credentials: AlibabaCredentials,
    /// The URL of the bucket.
    pub base: String,
    pub name: String,
    pub acl: Option<String>,
    /// Whether objects are encrypted with keys of the service.
    pub encryption: Encryption,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    Aes256,
    OfBucket,
}

/// Whether a write may replace an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Overwrite {
    Allowed,
    Forbidden,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// There is an object already.
    Refused,
}

impl Bucket {
    pub fn location(&self, key: &str) -> String {
        format!("oss://{}/{key}", self.name)
    }

    fn url(&self, key: &str) -> String {
        // Each path element is encoded alone, so that the slashes between them remain.
        let key = key.split('/').map(url_encoded).collect::<Vec<_>>().join("/");
        format!("{}/{key}", self.base)
    }

    async fn send(&self, key: &str, request: ApiRequest) -> Result<HttpResponse, StoreError> {
        let failed = |problem| token_error("Alibaba Cloud OSS", &problem);
        // The signature covers the plain key, not its form in the URL.
        let resource = format!("/{}/{key}", self.name);
        let request = self.credentials.sign_object_request(request, &resource).await.map_err(failed)?;
        self.credentials.api().send(&request).await.map_err(failed)
    }

    /// Reads an object; `None` if it does not exist.
    pub async fn get(&self, key: &str) -> Result<Option<Object>, StoreError> {
        let response = self.send(key, ApiRequest::get(self.url(key)).with_limit(LIMIT)).await?;
        match response.status.as_u16() {
            200 => {
                let date = |name: &str| OffsetDateTime::parse(response.header(name)?, &Rfc2822).ok();
                let modified = date("last-modified");
                // Both times are the service's, so a wrong clock of this machine has no effect on the age.
                let age =
                    date("date").zip(modified).and_then(|(now, modified)| Duration::try_from(now - modified).ok());
                // OSS has no conditions on versions, so the digest of the content identifies a state.
                Ok(Some(Object { version: md5(&response.body), age, modified, note: None, bytes: response.body }))
            }
            // A missing bucket is an error: only a missing object means that the state is new.
            404 if code(&response).as_deref() != Some("NoSuchBucket") => Ok(None),
            _ => Err(self.failed(key, "oss:GetObject", "read the object", &response)),
        }
    }

    /// Writes an object, unless it exists and must not be replaced. The request shares the memory of the
    /// bytes.
    pub async fn put(&self, key: &str, bytes: &Bytes, overwrite: Overwrite) -> Result<Outcome, StoreError> {
        let mut request = ApiRequest::new(Method::PUT, self.url(key))
            .with_header("content-type", "application/json")
            .with_header("content-md5", STANDARD.encode(Md5::digest(bytes)))
            .with_body(bytes.clone());
        if let Some(acl) = &self.acl {
            request = request.with_header("x-oss-object-acl", acl);
        }
        if self.encryption == Encryption::Aes256 {
            request = request.with_header("x-oss-server-side-encryption", "AES256");
        }
        if overwrite == Overwrite::Forbidden {
            request = request.with_header("x-oss-forbid-overwrite", "true");
        }
        let response = self.send(key, request).await?;
        match response.status.as_u16() {
            200 => Ok(Outcome::Done),
            409 if overwrite == Overwrite::Forbidden => Ok(Outcome::Refused),
            _ => Err(self.failed(key, "oss:PutObject", "write the object", &response)),
        }
    }

    /// Deletes an object. A missing one is not an error.
    pub async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let response = self.send(key, ApiRequest::new(Method::DELETE, self.url(key))).await?;
        match response.status.as_u16() {
            200 | 204 => Ok(()),
            404 if code(&response).as_deref() != Some("NoSuchBucket") => Ok(()),
            _ => Err(self.failed(key, "oss:DeleteObject", "delete the object", &response)),
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
                return Err(self.failed(prefix, "oss:ListObjects", "list the objects", &response));
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

    fn failed(&self, key: &str, permission: &str, action: &str, response: &HttpResponse) -> StoreError {
        let status = response.status.as_u16();
        let code = code(response).unwrap_or_default();
        let document = String::from_utf8_lossy(&response.body);
        let message = xml::text(&document, "Message").unwrap_or_default();
        let reason = format!("HTTP status {status}: {code}: {message}").trim_end_matches([':', ' ', '.']).to_owned();
        let endpoint = xml::text(&document, "Endpoint");
        match (status, &*code) {
            (404, _) => StoreError::NotFound {
                what: format!("the OSS bucket {:?}", self.name),
                advice: format!(
                    "Check bucket and region, or create it, with versioning so that old states stay: ossutil mb oss://{0} && ossutil \
                     bucket-versioning --method put oss://{0} enabled",
                    self.name
                ),
            },
            // Only the answer for a bucket of another region names an endpoint.
            (403, "AccessDenied") if endpoint.is_some() => StoreError::InvalidArgument {
                argument: "region".to_owned(),
                reason: format!(
                    "the bucket {:?} is in another region; its endpoint is {}",
                    self.name,
                    endpoint.unwrap_or_default()
                ),
            },
            (403, "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "RequestTimeTooSkewed" | "SecurityTokenExpired")
            | (401, _) => StoreError::Unauthenticated {
                service: "Alibaba Cloud OSS".to_owned(),
                reason,
                advice: "Check access_key and secret_key, and the clock of this machine.".to_owned(),
            },
            (403, _) => StoreError::AccessDenied {
                resource: self.location(key),
                permission: Some(permission.to_owned()),
                reason,
                advice: format!(
                    "Grant oss:ListObjects on acs:oss:*:*:{0}, and oss:GetObject, oss:PutObject and oss:DeleteObject on \
                     acs:oss:*:*:{0}/*, in a RAM policy of the user or role.",
                    self.name
                ),
            },
            _ => StoreError::Service { service: "Alibaba Cloud OSS".to_owned(), action: action.to_owned(), reason },
        }
    }
}

fn code(response: &HttpResponse) -> Option<String> {
    xml::text(&String::from_utf8_lossy(&response.body), "Code")
}
