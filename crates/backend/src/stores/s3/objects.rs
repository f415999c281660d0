//! The objects of a bucket: states, lock files, listings.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groma_cloud::aws::{AwsClient, AwsRequest, AwsResponse, RequestError};
use groma_cloud::http::Method;
use md5::Md5;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::errors::Subject;
use super::settings::{Checksum, ObjectSettings, S3Encryption};
use super::state_note::HEADER;
use crate::error::StoreError;
use crate::stores::digests::Object;
use crate::stores::xml;

/// The largest state that is read.
const LIMIT: u64 = 4 << 30;

/// S3 refuses one of two writes that meet; the repetition of the other then finds out which condition holds.
const RACE_ATTEMPTS: u32 = 6;
const RACE_PAUSE: Duration = Duration::from_millis(50);

/// The largest number of objects that one request deletes.
const BATCH: usize = 1000;

/// The objects of one bucket.
pub(super) struct Objects {
    pub client: AwsClient,
    pub settings: ObjectSettings,
}

/// The condition of a write or a deletion.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition<'a> {
    None,
    /// No object has the key.
    Absent,
    /// The object has this ETag.
    Matches(&'a str),
    /// The object that is copied has this ETag.
    SourceMatches(&'a str),
}

/// The outcome of a conditional request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The object has this ETag now; empty after a deletion.
    Done(String),
    /// The condition does not hold.
    Refused,
}

/// One page of a listing.
pub(super) struct Page {
    pub objects: Vec<Listed>,
    /// The common beginnings of keys up to the delimiter.
    pub prefixes: Vec<String>,
    pub next: Option<String>,
}

/// An object of a listing.
pub(super) struct Listed {
    pub key: String,
    pub etag: String,
}

/// An object to delete: any version, or only the one with this ETag.
#[derive(Clone, Copy)]
struct Deletion<'a> {
    key: &'a str,
    etag: Option<&'a str>,
}

impl Objects {
    /// Returns the location of an object for messages.
    pub fn location(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.settings.bucket)
    }

    fn request(&self, method: Method, operation: &'static str, key: &str) -> AwsRequest {
        AwsRequest::s3(method, operation, &self.settings.bucket, key, self.settings.style)
    }

    fn failed(&self, key: &str, action: &'static str, problem: &RequestError) -> StoreError {
        let location = self.location(key);
        Subject { service: "S3", location: &location, container: &self.settings.bucket, action }.error(problem)
    }

    /// Reads an object; `None` if it does not exist.
    pub async fn get(&self, key: &str) -> Result<Option<Object>, StoreError> {
        let request = self.with_customer_key(self.request(Method::GET, "GetObject", key)).with_limit(LIMIT);
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(problem) if is_missing(&problem) => return Ok(None),
            Err(problem) => return Err(self.failed(key, "read the object", &problem)),
        };
        let date = |name: &str| OffsetDateTime::parse(response.header(name)?, &Rfc2822).ok();
        let modified = date("last-modified");
        let age = date("date").zip(modified).and_then(|(now, modified)| Duration::try_from(now - modified).ok());
        let note = response.header(HEADER).map(str::to_owned);
        Ok(Some(Object { version: etag(&response), age, modified, note, bytes: response.body }))
    }

    /// Returns the ETag of an object; `None` if it does not exist.
    pub async fn etag(&self, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self.head(key).await?.map(|response| etag(&response)))
    }

    /// Returns the headers of an object; `None` if it does not exist.
    async fn head(&self, key: &str) -> Result<Option<AwsResponse>, StoreError> {
        let request = self.with_customer_key(self.request(Method::HEAD, "HeadObject", key));
        match self.client.send(request).await {
            Ok(response) => Ok(Some(response)),
            Err(problem) if is_missing(&problem) => Ok(None),
            Err(problem) => Err(self.failed(key, "read the object", &problem)),
        }
    }

    /// Writes a small object if the condition holds.
    pub async fn put(
        &self,
        key: &str,
        bytes: &[u8],
        tags: &[(String, String)],
        condition: Condition<'_>,
    ) -> Result<Outcome, StoreError> {
        self.put_shared(key, &Bytes::copy_from_slice(bytes), tags, None, condition).await
    }

    /// Writes an object with a note in its metadata, if the condition holds. The request shares the memory of the bytes.
    pub async fn put_shared(
        &self,
        key: &str,
        bytes: &Bytes,
        tags: &[(String, String)],
        note: Option<&str>,
        condition: Condition<'_>,
    ) -> Result<Outcome, StoreError> {
        let mut request = self.with_headers(self.request(Method::PUT, "PutObject", key), bytes, tags);
        if let Some(note) = note {
            request = request.with_header(HEADER, note);
        }
        let written = self.conditional(key, "write the object", request.with_body(bytes.clone()), condition).await?;
        match written.map(|response| etag(&response)) {
            // The next write needs the ETag, which some compatible services do not return.
            Some(etag) if etag.is_empty() => Ok(Outcome::Done(self.etag(key).await?.unwrap_or_default())),
            Some(etag) => Ok(Outcome::Done(etag)),
            None => Ok(Outcome::Refused),
        }
    }

    /// Replaces the metadata of an object that has this ETag, and leaves its content as it is. One of the values must
    /// belong to the caller alone: it tells the copy of a request whose answer was lost from that of another run.
    pub async fn replace_metadata(
        &self,
        key: &str,
        etag: &str,
        metadata: &[(&'static str, &str)],
        tags: &[(String, String)],
    ) -> Result<Outcome, StoreError> {
        const ACTION: &str = "change the metadata of the object";
        let source = format!("{}/{key}", self.settings.bucket);
        // The header is a path: its slashes are not encoded.
        let source = source.split('/').map(groma_cloud::api::url_encoded).collect::<Vec<_>>().join("/");
        let request = self.with_metadata(self.request(Method::PUT, "CopyObject", key), tags);
        let request = self
            .with_source_key(request)
            .with_header("x-amz-copy-source", source)
            .with_header("x-amz-metadata-directive", "REPLACE")
            .with_header("x-amz-tagging-directive", "REPLACE");
        let request = metadata.iter().fold(request, |request, (name, value)| request.with_header(*name, *value));
        // With the condition, the copy cannot bring back a state that another run has replaced.
        if let Some(response) = self.conditional(key, ACTION, request, Condition::SourceMatches(etag)).await? {
            return copied(&response, ACTION).map(Outcome::Done);
        }
        let found = self.head(key).await?;
        let is_own = |found: &AwsResponse| metadata.iter().all(|(name, value)| found.header(name) == Some(*value));
        // The ETag of an encrypted object changes with each copy, so a repetition after a lost answer is refused.
        Ok(found.filter(is_own).map_or(Outcome::Refused, |found| Outcome::Done(self::etag(&found))))
    }

    /// Deletes an object if the condition holds. A missing one is not an error.
    pub async fn delete(&self, key: &str, condition: Condition<'_>) -> Result<Outcome, StoreError> {
        // Repeated by the caller: after a lost answer, the repetition finds no object, which is no refusal then.
        let request = self.request(Method::DELETE, "DeleteObject", key).with_attempts(1);
        let deleted = self.conditional(key, "delete the object", request, condition).await?;
        Ok(deleted.map_or(Outcome::Refused, |_| Outcome::Done(String::new())))
    }

    /// Deletes objects, up to 1,000 in one request. Missing ones are no error.
    pub async fn delete_all(&self, keys: &[String]) -> Result<(), StoreError> {
        for keys in keys.chunks(BATCH) {
            match keys {
                [key] => self.delete(key, Condition::None).await.map(|_| ())?,
                keys => self.delete_batch(keys).await?,
            }
        }
        Ok(())
    }

    async fn delete_batch(&self, keys: &[String]) -> Result<(), StoreError> {
        let deletions: Vec<_> = keys.iter().map(|key| Deletion { key, etag: None }).collect();
        // Deleting each of the objects that stay says why they do.
        self.delete_each(&self.send_batch(&deletions).await?).await
    }

    /// Deletes `last` if it has this ETag, and with the same request `keys` and the `possible` objects, which rarely exist. Returns the outcome for `last`, and which of `keys` stay, because this identity may not delete them for example. The caller
    /// repeats failures of the network, because after a lost answer `last` is no longer there.
    pub async fn delete_with(
        &self,
        keys: &[String],
        possible: &[String],
        last: &str,
        etag: &str,
    ) -> Result<(Outcome, Vec<String>), StoreError> {
        let any = keys.iter().chain(possible).map(|key| Deletion { key, etag: None });
        let deletions: Vec<_> = any.chain([Deletion { key: last, etag: Some(etag) }]).collect();
        let failed = self.send_batch(&deletions).await?;
        let mut staying = Vec::new();
        // One by one, where the service has no such request: then only those that exist.
        for key in keys.iter().filter(|key| failed.contains(key)) {
            if self.delete(key, Condition::None).await.is_err() {
                staying.push(key.clone());
            }
        }
        let outcome = match failed.iter().any(|key| key == last) {
            false => Outcome::Done(String::new()),
            true => self.delete(last, Condition::Matches(etag)).await?,
        };
        Ok((outcome, staying))
    }

    /// Deletes up to 1,000 objects with one request. Returns the keys of those that stay: all of them, if a compatible service does not
    /// have this request.
    async fn send_batch(&self, deletions: &[Deletion<'_>]) -> Result<Vec<String>, StoreError> {
        let body = batch(deletions);
        let request = self.request(Method::POST, "DeleteObjects", "").with_query("delete", "").with_attempts(1);
        // S3 refuses this request without a checksum of its body.
        let request = request
            .with_header("content-type", "application/xml")
            .with_header("content-md5", STANDARD.encode(Md5::digest(&body)))
            .with_body(body.into_bytes());
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(problem) if matches!(problem.status(), Some(400 | 405 | 501)) => {
                return Ok(deletions.iter().map(|deletion| deletion.key.to_owned()).collect());
            }
            Err(problem) => {
                let first = deletions.first().map_or("", |deletion| deletion.key);
                return Err(self.failed(first, "delete the objects", &problem));
            }
        };
        let document = String::from_utf8_lossy(&response.body).into_owned();
        Ok(xml::elements(&document, "Error").into_iter().filter_map(|error| xml::text(error, "Key")).collect())
    }

    async fn delete_each(&self, keys: &[String]) -> Result<(), StoreError> {
        for key in keys {
            self.delete(key, Condition::None).await?;
        }
        Ok(())
    }

    /// Sends a request under a condition; `None` if the condition does not hold.
    async fn conditional(
        &self,
        key: &str,
        action: &'static str,
        request: AwsRequest,
        condition: Condition<'_>,
    ) -> Result<Option<AwsResponse>, StoreError> {
        let sent = match condition {
            Condition::None => request.clone(),
            Condition::Absent => request.clone().with_header("if-none-match", "*"),
            Condition::Matches(etag) => request.clone().with_header("if-match", etag),
            Condition::SourceMatches(etag) => request.clone().with_header("x-amz-copy-source-if-match", etag),
        };
        let mut races = 0;
        loop {
            let problem = match self.client.send(sent.clone()).await {
                Ok(response) => return Ok(Some(response)),
                Err(problem) => problem,
            };
            match problem.status() {
                Some(412) => return Ok(None),
                // The object that should match is gone.
                Some(404)
                    if matches!(condition, Condition::Matches(_) | Condition::SourceMatches(_))
                        && is_missing(&problem) =>
                {
                    return Ok(None);
                }
                Some(409) if races < RACE_ATTEMPTS && !matches!(condition, Condition::None) => {
                    tokio::time::sleep(RACE_PAUSE * 2_u32.pow(races)).await;
                    races += 1;
                }
                Some(501) if !matches!(condition, Condition::None) => {
                    return self.checked_before(key, action, request, condition).await;
                }
                _ => return Err(self.failed(key, action, &problem)),
            }
        }
    }

    /// Sends a request to a service without conditional requests: checks the condition by reading, a moment before.
    async fn checked_before(
        &self,
        key: &str,
        action: &'static str,
        request: AwsRequest,
        condition: Condition<'_>,
    ) -> Result<Option<AwsResponse>, StoreError> {
        let found = self.etag(key).await?;
        let holds = match condition {
            Condition::None => true,
            Condition::Absent => found.is_none(),
            Condition::Matches(etag) | Condition::SourceMatches(etag) => found.as_deref() == Some(etag),
        };
        if !holds {
            return Ok(None);
        }
        let sent = self.client.send(request).await;
        sent.map(Some).map_err(|problem| self.failed(key, action, &problem))
    }

    /// Lists keys that begin with `prefix`, from the beginning or after a page.
    pub async fn list(&self, prefix: &str, delimiter: Option<char>, after: Option<&str>) -> Result<Page, StoreError> {
        let mut request = self.request(Method::GET, "ListObjectsV2", "").with_query("list-type", "2");
        request = request.with_query("max-keys", "1000").with_query("prefix", prefix);
        if let Some(delimiter) = delimiter {
            request = request.with_query("delimiter", delimiter.to_string());
        }
        if let Some(token) = after {
            request = request.with_query("continuation-token", token);
        }
        let response = self.client.send(request).await;
        let response = response.map_err(|problem| self.failed(prefix, "list the objects", &problem))?;
        let document = String::from_utf8_lossy(&response.body);
        let prefixes = xml::elements(&document, "CommonPrefixes");
        Ok(Page {
            objects: xml::elements(&document, "Contents").into_iter().filter_map(listed).collect(),
            prefixes: prefixes.into_iter().filter_map(|element| xml::text(element, "Prefix")).collect(),
            next: xml::text(&document, "NextContinuationToken"),
        })
    }

    fn with_headers(&self, request: AwsRequest, bytes: &[u8], tags: &[(String, String)]) -> AwsRequest {
        let mut request = self.with_metadata(request, tags);
        if self.settings.checksum == Checksum::Sha256 {
            // Buckets with Object Lock refuse writes without a checksum.
            request = request
                .with_header("x-amz-checksum-sha256", STANDARD.encode(Sha256::digest(bytes)))
                .with_header("x-amz-sdk-checksum-algorithm", "SHA256");
        }
        request
    }

    /// Adds the headers of a written object that do not depend on its content.
    fn with_metadata(&self, request: AwsRequest, tags: &[(String, String)]) -> AwsRequest {
        let mut request = self.with_customer_key(request).with_header("content-type", "application/json");
        if let Some(acl) = &self.settings.acl {
            request = request.with_header("x-amz-acl", acl);
        }
        if !tags.is_empty() {
            let encode = groma_cloud::api::url_encoded;
            let tags = tags.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
            request = request.with_header("x-amz-tagging", tags.collect::<Vec<_>>().join("&"));
        }
        match &self.settings.encryption {
            S3Encryption::Aes256 => request.with_header("x-amz-server-side-encryption", "AES256"),
            S3Encryption::Kms(key) => request
                .with_header("x-amz-server-side-encryption", "aws:kms")
                .with_header("x-amz-server-side-encryption-aws-kms-key-id", key),
            S3Encryption::OfBucket | S3Encryption::Customer { .. } => request,
        }
    }

    /// Adds the key that S3 needs to copy from an object with a customer-provided key.
    fn with_source_key(&self, request: AwsRequest) -> AwsRequest {
        match &self.settings.encryption {
            S3Encryption::Customer { key, digest } => request
                .with_header("x-amz-copy-source-server-side-encryption-customer-algorithm", "AES256")
                .with_header("x-amz-copy-source-server-side-encryption-customer-key", key.reveal())
                .with_header("x-amz-copy-source-server-side-encryption-customer-key-md5", digest),
            S3Encryption::OfBucket | S3Encryption::Aes256 | S3Encryption::Kms(_) => request,
        }
    }

    /// Adds the key that S3 needs to read and write objects with customer-provided keys.
    fn with_customer_key(&self, request: AwsRequest) -> AwsRequest {
        match &self.settings.encryption {
            S3Encryption::Customer { key, digest } => request
                .with_header("x-amz-server-side-encryption-customer-algorithm", "AES256")
                .with_header("x-amz-server-side-encryption-customer-key", key.reveal())
                .with_header("x-amz-server-side-encryption-customer-key-md5", digest),
            S3Encryption::OfBucket | S3Encryption::Aes256 | S3Encryption::Kms(_) => request,
        }
    }
}

/// Returns the body of a request that deletes objects, and is answered only with those that stay.
fn batch(deletions: &[Deletion<'_>]) -> String {
    let condition = |etag: &str| format!("<ETag>{}</ETag>", xml::escaped(etag));
    let objects = deletions.iter().map(|Deletion { key, etag }| {
        let condition = etag.map(condition).unwrap_or_default();
        format!("<Object><Key>{}</Key>{condition}</Object>", xml::escaped(key))
    });
    let objects: String = objects.collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
         {objects}<Quiet>true</Quiet></Delete>"
    )
}

/// Returns an element of a listing.
fn listed(element: &str) -> Option<Listed> {
    Some(Listed { key: xml::text(element, "Key")?, etag: xml::text(element, "ETag").unwrap_or_default() })
}

/// Returns the ETag of a copy.
fn copied(response: &AwsResponse, action: &str) -> Result<String, StoreError> {
    let document = String::from_utf8_lossy(&response.body);
    let copied = xml::text(&document, "ETag").or_else(|| Some(etag(response)).filter(|tag| !tag.is_empty()));
    // The service may fail after it has begun to answer.
    copied.ok_or_else(|| StoreError::Service {
        service: "S3".to_owned(),
        action: action.to_owned(),
        reason: xml::text(&document, "Message").unwrap_or_else(|| "the answer is incomplete".to_owned()),
    })
}

fn etag(response: &AwsResponse) -> String {
    response.header("etag").unwrap_or_default().to_owned()
}

/// Whether the object does not exist. Answers to HEAD have no code, and then the bucket may be missing instead.
fn is_missing(problem: &RequestError) -> bool {
    matches!(problem.code(), Some("NoSuchKey" | "404")) && problem.status() == Some(404)
}
