//! Requests to object storage.

use bytes::Bytes;
use groma_cloud::api::{ApiRequest, url_encoded};
use groma_cloud::http::{HttpResponse, Method};
use groma_cloud::tencent::TencentCredentials;
use md5::{Digest, Md5};

use crate::error::StoreError;
use crate::stores::token_errors::token_error;
use crate::stores::xml;

/// The largest state that is read.
const LIMIT: u64 = 4 << 30;

/// The client of one bucket.
pub(super) struct Bucket {
    pub credentials: TencentCredentials,
    pub base: String,
    pub name: String,
    pub acl: String,
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
        format!("cos://{}/{key}", self.name)
    }

    fn url(&self, key: &str) -> String {
        let key = key.split('/').map(url_encoded).collect::<Vec<_>>().join("/");
        format!("{}/{key}", self.base)
    }

    async fn send(&self, request: ApiRequest) -> Result<HttpResponse, StoreError> {
        let failed = |problem| token_error("Tencent COS", &problem);
        let request = self.credentials.sign(request).await.map_err(failed)?;
        self.credentials.api().send(&request).await.map_err(failed)
    }

    /// Reads an object and checks its digest; `None` if it does not exist.
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let response = self.send(ApiRequest::get(self.url(key)).with_limit(LIMIT)).await?;
        match response.status.as_u16() {
            200 => {
                let computed = md5(&response.body);
                match response.header("x-cos-meta-md5") {
                    Some(recorded) if recorded != computed => Err(StoreError::InvalidData {
                        location: self.location(key),
                        reason: format!("its digest is {computed}, and its metadata says {recorded}"),
                        advice: "Restore an earlier version of the object, if the bucket has versions.".to_owned(),
                    }),
                    // An object that somebody uploaded by hand has no digest, which is no reason to refuse it.
                    _ => Ok(Some(response.body)),
                }
            }
            404 if code(&response).as_deref() != Some("NoSuchBucket") => Ok(None),
            _ => Err(self.failed(key, "cos:GetObject", "read the object", &response)),
        }
    }

    /// Writes a small object, unless it exists and must not be replaced.
    pub async fn put(&self, key: &str, bytes: &[u8], overwrite: Overwrite) -> Result<Outcome, StoreError> {
        self.put_shared(key, &Bytes::copy_from_slice(bytes), overwrite).await
    }

    /// Writes an object, unless it exists and must not be replaced. The request shares the memory of the
    /// bytes.
    pub async fn put_shared(&self, key: &str, bytes: &Bytes, overwrite: Overwrite) -> Result<Outcome, StoreError> {
        let mut request = ApiRequest::new(Method::PUT, self.url(key))
            .with_header("content-type", "application/json")
            .with_header("x-cos-meta-md5", md5(bytes))
            .with_header("x-cos-acl", &self.acl)
            .with_body(bytes.clone());
        if self.encryption == Encryption::Aes256 {
            request = request.with_header("x-cos-server-side-encryption", "AES256");
        }
        if overwrite == Overwrite::Forbidden {
            request = request.with_header("x-cos-forbid-overwrite", "true");
        }
        let response = self.send(request).await?;
        match response.status.as_u16() {
            200 => Ok(Outcome::Done),
            409 if overwrite == Overwrite::Forbidden => Ok(Outcome::Refused),
            _ => Err(self.failed(key, "cos:PutObject", "write the object", &response)),
        }
    }

    /// Deletes an object. A missing one is not an error.
    pub async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let response = self.send(ApiRequest::new(Method::DELETE, self.url(key))).await?;
        match response.status.as_u16() {
            200 | 204 => Ok(()),
            404 if code(&response).as_deref() != Some("NoSuchBucket") => Ok(()),
            _ => Err(self.failed(key, "cos:DeleteObject", "delete the object", &response)),
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
            let response = self.send(ApiRequest::get(url)).await?;
            if response.status.as_u16() != 200 {
                return Err(self.failed(prefix, "cos:GetBucket", "list the objects", &response));
            }
            let document = String::from_utf8_lossy(&response.body);
            let found: Vec<String> = xml::elements(&document, "Key").into_iter().map(xml::unescaped).collect();
            let is_truncated = xml::text(&document, "IsTruncated").as_deref() == Some("true");
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
        let message = xml::text(&String::from_utf8_lossy(&response.body), "Message").unwrap_or_default();
        let reason = format!("HTTP status {status}: {code}: {message}").trim_end_matches([':', ' ', '.']).to_owned();
        match (status, &*code) {
            (404, _) => StoreError::NotFound {
                what: format!("the COS bucket {:?}", self.name),
                advice: format!(
                    "Check bucket (with its number, as NAME-APPID) and region, or create it in the console or with coscli mb cos://{}",
                    self.name
                ),
            },
            (403, "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "RequestTimeTooSkewed") | (401, _) => {
                StoreError::Unauthenticated {
                    service: "Tencent COS".to_owned(),
                    reason,
                    advice: "Check secret_id and secret_key, and the clock of this machine.".to_owned(),
                }
            }
            (403, _) => StoreError::AccessDenied {
                resource: self.location(key),
                permission: Some(permission.to_owned()),
                reason,
                advice: "Grant it in the policy of the bucket or of the user (CAM). Locks also need tag:CreateTag, tag:DescribeTags and \
                         tag:DeleteTag."
                    .to_owned(),
            },
            _ => StoreError::Service { service: "Tencent COS".to_owned(), action: action.to_owned(), reason },
        }
    }
}

fn code(response: &HttpResponse) -> Option<String> {
    xml::text(&String::from_utf8_lossy(&response.body), "Code")
}

pub(super) fn md5(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
