//! Requests to the JSON API of Cloud Storage.

use bytes::Bytes;
use groma_cloud::Secret;
use groma_cloud::api::{ApiClient, ApiRequest, url_encoded};
use groma_cloud::google::GoogleCredentials;
use groma_cloud::http::{Framing, HttpResponse, Method};
use md5::{Digest, Md5};
use serde_json::{Value as Json, json};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::settings::GcsEncryption;
use crate::error::StoreError;
use crate::stores::token_errors::token_error;

/// The largest state that is read.
const LIMIT: u64 = 4 << 30;

/// Separates the parts of an upload. It need not be absent from the state: the length of a part is not searched for in
/// JSON, whose lines never begin with it.
const BOUNDARY: &str = "groma-state-3e1b6f0c9d5a4b27";

/// The client of one bucket.
pub(super) struct Bucket {
    pub api: ApiClient,
    /// `None` for emulators.
    pub credentials: Option<GoogleCredentials>,
    pub base: String,
    pub name: String,
}

/// The content of an object with its generation.
pub(super) struct Object {
    pub bytes: Vec<u8>,
    pub generation: String,
}

/// The result of a conditional request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The object has this generation now; empty after a deletion.
    Done(String),
    /// The condition does not hold.
    Refused,
    /// The object of a deletion does not exist.
    Missing,
}

impl Bucket {
    pub fn location(&self, name: &str) -> String {
        format!("gs://{}/{name}", self.name)
    }

    fn objects_url(&self) -> String {
        format!("{}/storage/v1/b/{}/o", self.base, url_encoded(&self.name))
    }

    fn object_url(&self, name: &str) -> String {
        format!("{}/{}", self.objects_url(), url_encoded(name))
    }

    async fn send(&self, request: ApiRequest) -> Result<HttpResponse, StoreError> {
        let request = match &self.credentials {
            Some(credentials) => {
                let token: Secret =
                    credentials.token().await.map_err(|problem| token_error("Google Cloud", &problem))?;
                request.with_bearer_token(&token)
            }
            None => request,
        };
        self.api.send(&request).await.map_err(|problem| token_error("Cloud Storage", &problem))
    }

    /// Reads an object; `None` if it does not exist.
    pub async fn get(&self, name: &str, encryption: Option<&GcsEncryption>) -> Result<Option<Object>, StoreError> {
        let request = ApiRequest::get(format!("{}?alt=media", self.object_url(name))).with_limit(LIMIT);
        let response = self.send(with_customer_key(request, encryption)).await?;
        match response.status.as_u16() {
            200 => {
                let generation = response.header("x-goog-generation").unwrap_or_default().to_owned();
                Ok(Some(Object { generation, bytes: response.body }))
            }
            404 => {
                self.check_exists().await?;
                Ok(None)
            }
            _ => Err(self.failed(name, "storage.objects.get", "read the object", &response)),
        }
    }

    /// Tells a missing bucket from a missing object, which have the same status.
    async fn check_exists(&self) -> Result<(), StoreError> {
        let url = format!("{}?maxResults=1&fields=nextPageToken", self.objects_url());
        let response = self.send(ApiRequest::get(url)).await?;
        if response.status.as_u16() == 404 { Err(self.missing()) } else { Ok(()) }
    }

    /// Writes an object if it has this generation; 0 if it must not exist, `None` for any.
    pub async fn put(
        &self,
        name: &str,
        bytes: &Bytes,
        generation: Option<&str>,
        encryption: Option<&GcsEncryption>,
    ) -> Result<Outcome, StoreError> {
        let bucket = url_encoded(&self.name);
        let mut url =
            format!("{}/upload/storage/v1/b/{bucket}/o?uploadType=multipart&name={}", self.base, url_encoded(name));
        if let Some(generation) = generation {
            url.push_str(&format!("&ifGenerationMatch={generation}"));
        }
        if let Some(GcsEncryption::Kms(key)) = encryption {
            url.push_str(&format!("&kmsKeyName={}", url_encoded(key)));
        }
        // The service refuses an upload whose content does not have this digest.
        let metadata =
            json!({ "name": name, "contentType": "application/json", "md5Hash": STANDARD.encode(Md5::digest(bytes)) });
        let request = ApiRequest::new(Method::POST, url)
            .with_header("content-type", format!("multipart/related; boundary={BOUNDARY}"))
            .with_body(bytes.clone())
            .with_framing(multipart(&metadata));
        let response = self.send(with_customer_key(request, encryption)).await?;
        match response.status.as_u16() {
            200 => {
                let stored: Json = serde_json::from_slice(&response.body).unwrap_or_default();
                Ok(Outcome::Done(generation_of(&stored)))
            }
            412 => Ok(Outcome::Refused),
            // An upload needs no object, so only the bucket can be missing.
            404 => Err(self.missing()),
            _ => Err(self.failed(name, "storage.objects.create", "write the object", &response)),
        }
    }

    /// Deletes an object, if it has this generation.
    pub async fn delete(&self, name: &str, generation: Option<&str>) -> Result<Outcome, StoreError> {
        let condition = generation.map(|generation| format!("?ifGenerationMatch={generation}")).unwrap_or_default();
        let url = format!("{}{condition}", self.object_url(name));
        let response = self.send(ApiRequest::new(Method::DELETE, url)).await?;
        match response.status.as_u16() {
            200 | 204 => Ok(Outcome::Done(String::new())),
            404 => Ok(Outcome::Missing),
            412 => Ok(Outcome::Refused),
            _ => Err(self.failed(name, "storage.objects.delete", "delete the object", &response)),
        }
    }

    /// Lists the names of objects in a folder, without those of its subfolders.
    pub async fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.pages(folder, "delimiter=%2F&").await
    }

    /// Lists the names of objects in a folder and its subfolders.
    pub async fn list_all(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.pages(folder, "").await
    }

    async fn pages(&self, folder: &str, delimiter: &str) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let mut url = format!("{}?{delimiter}prefix={}", self.objects_url(), url_encoded(folder));
            if let Some(token) = &next {
                url.push_str(&format!("&pageToken={}", url_encoded(token)));
            }
            let response = self.send(ApiRequest::get(url)).await?;
            match response.status.as_u16() {
                200 => {}
                404 => return Err(self.missing()),
                _ => return Err(self.failed(folder, "storage.objects.list", "list the objects", &response)),
            }
            let page: Json = serde_json::from_slice(&response.body).unwrap_or_default();
            let items = page["items"].as_array().into_iter().flatten();
            names.extend(items.filter_map(|item| item["name"].as_str().map(str::to_owned)));
            next = page["nextPageToken"].as_str().filter(|token| !token.is_empty()).map(str::to_owned);
            if next.is_none() {
                return Ok(names);
            }
        }
    }

    fn missing(&self) -> StoreError {
        StoreError::NotFound {
            what: format!("the Cloud Storage bucket {:?}", self.name),
            advice: format!(
                "Check bucket, or create it, with versioning so that old states stay: gcloud storage buckets create gs://{0} && \
                 gcloud storage buckets update gs://{0} --versioning",
                self.name
            ),
        }
    }

    fn failed(&self, name: &str, permission: &str, action: &str, response: &HttpResponse) -> StoreError {
        let document: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let status = response.status.as_u16();
        let reason = match document["error"]["message"].as_str() {
            Some(message) => format!("HTTP status {status}: {}", message.trim_end_matches('.')),
            None => format!("HTTP status {status}"),
        };
        match status {
            401 => StoreError::Unauthenticated {
                service: "Cloud Storage".to_owned(),
                reason,
                advice: "The access token is wrong or has expired. Set credentials or GOOGLE_CREDENTIALS to a service account key, or \
                         run gcloud auth application-default login."
                    .to_owned(),
            },
            403 => StoreError::AccessDenied {
                resource: self.location(name),
                permission: Some(permission.to_owned()),
                reason,
                advice: format!(
                    "Grant a role with it on the bucket, roles/storage.objectUser for example: gcloud storage buckets \
                     add-iam-policy-binding gs://{} --role=roles/storage.objectUser --member=MEMBER",
                    self.name
                ),
            },
            413 => StoreError::TooLarge { location: self.location(name), reason },
            _ => StoreError::Service { service: "Cloud Storage".to_owned(), action: action.to_owned(), reason },
        }
    }
}

/// Reads the generation, which the API writes as a string because it has 64 bits.
fn generation_of(object: &Json) -> String {
    match &object["generation"] {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn with_customer_key(request: ApiRequest, encryption: Option<&GcsEncryption>) -> ApiRequest {
    match encryption {
        Some(GcsEncryption::Customer { key, digest }) => request
            .with_header("x-goog-encryption-algorithm", "AES256")
            .with_header("x-goog-encryption-key", key.reveal())
            .with_header("x-goog-encryption-key-sha256", digest),
        Some(GcsEncryption::OfBucket | GcsEncryption::Kms(_)) | None => request,
    }
}

/// Returns what surrounds the content in an upload with metadata.
fn multipart(metadata: &Json) -> Framing {
    let before = format!(
        "--{BOUNDARY}\r\ncontent-type: application/json\r\n\r\n{metadata}\r\n--{BOUNDARY}\r\ncontent-type: \
         application/json\r\n\r\n"
    );
    Framing { before: before.into(), after: format!("\r\n--{BOUNDARY}--\r\n").into() }
}
