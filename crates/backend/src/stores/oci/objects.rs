//! Requests to Object Storage.

use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groma_cloud::api::{ApiClient, ApiRequest, url_encoded};
use groma_cloud::http::{HttpResponse, Method};
use groma_cloud::oracle::OracleCredentials;
use md5::{Digest, Md5};
use serde_json::Value as Json;

use super::settings::OciEncryption;
use crate::error::StoreError;
use crate::stores::token_errors::token_error;

/// The largest state that is read.
const LIMIT: u64 = 4 << 30;

/// The client of one bucket.
pub(super) struct Bucket {
    pub api: ApiClient,
    pub credentials: OracleCredentials,
    pub endpoint: String,
    pub namespace: String,
    pub name: String,
    pub encryption: OciEncryption,
}

/// The content of an object with its ETag.
pub(super) struct Object {
    pub bytes: Vec<u8>,
    pub etag: String,
}

/// The condition of a write or a deletion.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition<'a> {
    None,
    Absent,
    Matches(&'a str),
}

/// The result of a conditional request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The object has this ETag now; empty after a deletion.
    Done(String),
    /// The condition does not hold.
    Refused,
    /// The object of a deletion does not exist.
    Missing,
}

/// The answer of the service to a missing bucket, which may also be one that the user must not see.
const NO_BUCKET: &str = "BucketNotFound";

/// The answer of the service to identities that may not know whether something exists.
const NO_RIGHT: &str = "NotAuthorizedOrNotFound";

impl Bucket {
    pub fn location(&self, name: &str) -> String {
        format!("oci://{}/{}/{name}", self.namespace, self.name)
    }

    fn objects_url(&self) -> String {
        format!("{}/n/{}/b/{}/o", self.endpoint, url_encoded(&self.namespace), url_encoded(&self.name))
    }

    fn object_url(&self, name: &str) -> String {
        format!("{}/{}", self.objects_url(), url_encoded(name))
    }

    async fn send(&self, request: ApiRequest) -> Result<HttpResponse, StoreError> {
        let failed = |problem| token_error("Oracle Object Storage", &problem);
        let request = self.credentials.sign(request, SystemTime::now()).map_err(failed)?;
        self.api.send(&request).await.map_err(failed)
    }

    /// Reads an object; `None` if it does not exist.
    pub async fn get(&self, name: &str) -> Result<Option<Object>, StoreError> {
        let request = ApiRequest::get(self.object_url(name)).with_limit(LIMIT);
        let response = self.send(self.with_customer_key(request)).await?;
        match response.status.as_u16() {
            200 => {
                let etag = response.header("etag").unwrap_or_default().to_owned();
                Ok(Some(Object { etag, bytes: response.body }))
            }
            404 if ![NO_BUCKET, NO_RIGHT].contains(&&*code(&response)) => Ok(None),
            _ => Err(self.failed(name, "OBJECT_READ", "read the object", &response)),
        }
    }

    /// Writes a small object if the condition holds.
    pub async fn put(&self, name: &str, bytes: &[u8], condition: Condition<'_>) -> Result<Outcome, StoreError> {
        self.put_shared(name, &Bytes::copy_from_slice(bytes), condition).await
    }

    /// Writes an object if the condition holds. The request shares the memory of the
    /// bytes.
    pub async fn put_shared(&self, name: &str, bytes: &Bytes, condition: Condition<'_>) -> Result<Outcome, StoreError> {
        let mut request = ApiRequest::new(Method::PUT, self.object_url(name))
            .with_header("content-type", "application/json")
            .with_header("content-md5", STANDARD.encode(Md5::digest(bytes)))
            .with_body(bytes.clone());
        if let OciEncryption::Kms(key) = &self.encryption {
            request = request.with_header("opc-sse-kms-key-id", key);
        }
        let response = self.send(conditional(self.with_customer_key(request), condition)).await?;
        match response.status.as_u16() {
            200 => Ok(Outcome::Done(response.header("etag").unwrap_or_default().to_owned())),
            412 => Ok(Outcome::Refused),
            404 if matches!(condition, Condition::Matches(_)) && code(&response) != NO_BUCKET => Ok(Outcome::Refused),
            _ => Err(self.failed(name, "OBJECT_CREATE and OBJECT_OVERWRITE", "write the object", &response)),
        }
    }

    /// Deletes an object if the condition holds.
    pub async fn delete(&self, name: &str, condition: Condition<'_>) -> Result<Outcome, StoreError> {
        let request = ApiRequest::new(Method::DELETE, self.object_url(name));
        let response = self.send(conditional(request, condition)).await?;
        match response.status.as_u16() {
            200 | 204 => Ok(Outcome::Done(String::new())),
            412 => Ok(Outcome::Refused),
            404 if code(&response) != NO_BUCKET => Ok(Outcome::Missing),
            _ => Err(self.failed(name, "OBJECT_DELETE", "delete the object", &response)),
        }
    }

    /// Lists the names of objects that begin with `prefix`.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        let mut next = String::new();
        loop {
            let start = if next.is_empty() { String::new() } else { format!("&start={}", url_encoded(&next)) };
            let url = format!("{}?limit=1000&prefix={}{start}", self.objects_url(), url_encoded(prefix));
            let response = self.send(ApiRequest::get(url)).await?;
            if response.status.as_u16() != 200 {
                return Err(self.failed(prefix, "OBJECT_INSPECT", "list the objects", &response));
            }
            let page: Json = serde_json::from_slice(&response.body).unwrap_or_default();
            let objects = page["objects"].as_array().into_iter().flatten();
            names.extend(objects.filter_map(|object| object["name"].as_str().map(str::to_owned)));
            page["nextStartWith"].as_str().unwrap_or_default().clone_into(&mut next);
            if next.is_empty() {
                return Ok(names);
            }
        }
    }

    fn with_customer_key(&self, request: ApiRequest) -> ApiRequest {
        match &self.encryption {
            OciEncryption::Customer { key, digest } => request
                .with_header("opc-sse-customer-algorithm", "AES256")
                .with_header("opc-sse-customer-key", key.reveal())
                .with_header("opc-sse-customer-key-sha256", digest),
            OciEncryption::OfBucket | OciEncryption::Kms(_) => request,
        }
    }

    fn failed(&self, name: &str, permission: &str, action: &str, response: &HttpResponse) -> StoreError {
        let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let status = response.status.as_u16();
        let code = document["code"].as_str().unwrap_or_default();
        let message = document["message"].as_str().unwrap_or_default();
        let reason = format!("HTTP status {status}: {code}: {message}").trim_end_matches([':', ' ', '.']).to_owned();
        match (status, code) {
            (404, NO_BUCKET) => StoreError::NotFound {
                what: format!("the bucket {:?} in the namespace {:?}", self.name, self.namespace),
                advice: format!(
                    "Check bucket, namespace and region, or create it: oci os bucket create --name {} --compartment-id OCID \
                     --versioning Enabled. The service gives the same answer to identities that may not see the bucket.",
                    self.name
                ),
            },
            (401, _) => StoreError::Unauthenticated {
                service: "Oracle Object Storage".to_owned(),
                reason,
                advice: "Check tenancy_ocid, user_ocid, fingerprint and the API key, and the clock of this machine."
                    .to_owned(),
            },
            (403 | 404, _) => StoreError::AccessDenied {
                resource: self.location(name),
                permission: Some(permission.to_owned()),
                reason,
                advice: format!(
                    "Let an administrator add a policy: allow group GROUP to manage objects in compartment COMPARTMENT where \
                     target.bucket.name = '{}'",
                    self.name
                ),
            },
            (413, _) => StoreError::TooLarge { location: self.location(name), reason },
            _ => StoreError::Service { service: "Oracle Object Storage".to_owned(), action: action.to_owned(), reason },
        }
    }
}

fn code(response: &HttpResponse) -> String {
    let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    document["code"].as_str().unwrap_or_default().to_owned()
}

fn conditional(request: ApiRequest, condition: Condition<'_>) -> ApiRequest {
    match condition {
        Condition::None => request,
        Condition::Absent => request.with_header("if-none-match", "*"),
        Condition::Matches(etag) => request.with_header("if-match", etag),
    }
}
