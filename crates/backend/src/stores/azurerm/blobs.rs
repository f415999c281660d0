//! Requests to Blob Storage.

use std::time::Duration;

use bytes::Bytes;
use groma_cloud::api::{ApiRequest, url_encoded};
use groma_cloud::azure::AzureCredentials;
use groma_cloud::http::{HttpResponse, Method};
use tokio::sync::OnceCell;

use super::access::Access;
use super::settings::AzureEncryption;
use crate::error::StoreError;
use crate::stores::token_errors::token_error;
use crate::stores::xml;

/// The version of the protocol, that of Terraform.
const PROTOCOL: &str = "2023-11-03";

/// The largest state that is read.
const LIMIT: u64 = 4 << 30;

const METADATA: &str = "x-ms-meta-";

/// A container of an account.
pub(super) struct Container {
    pub credentials: AzureCredentials,
    pub access: Access,
    pub account: String,
    pub name: String,
    pub encryption: AzureEncryption,
    pub timeout: Duration,
    /// The endpoint of the account's blobs, once it is known.
    pub endpoint: OnceCell<String>,
}

/// The metadata of a blob, with names in lower case.
pub(super) type Metadata = Vec<(String, String)>;

/// The ETag, the lease and the metadata of a blob.
#[derive(Clone, Debug)]
pub(super) struct Properties {
    pub etag: String,
    pub length: u64,
    pub is_leased: bool,
    pub metadata: Metadata,
}

/// The condition of a write.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition<'a> {
    None,
    Absent,
    Matches(&'a str),
}

/// The result of a request whose refusal is no failure.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Done; the blob has this ETag now, where the service names it.
    Done(String),
    /// Refused with this code of the service.
    Refused(String),
}

/// A request to take or to end the lease of a blob.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lease<'a> {
    /// Takes the lease with this ID for so many seconds, or changes the duration of one with the same ID; -1 for no end.
    Acquire(&'a str, i32),
    Release(&'a str),
    /// Ends the lease of any holder, at once.
    Break,
}

impl Container {
    /// Returns the name of a blob for messages.
    pub fn location(&self, blob: &str) -> String {
        format!("{}/{}/{blob}", self.account, self.name)
    }

    async fn url(&self, blob: &str) -> Result<String, StoreError> {
        let look_up = || async {
            let cloud = self.credentials.cloud().await.map_err(|problem| token_error("Azure", &problem))?;
            Ok::<_, StoreError>(format!("https://{}.blob.{}", self.account, cloud.storage_suffix))
        };
        let endpoint = self.endpoint.get_or_try_init(look_up).await?;
        let container = url_encoded(&self.name);
        // Slashes separate the folders that people see; encoded ones would be another name.
        let blob = blob.split('/').map(url_encoded).collect::<Vec<_>>().join("/");
        Ok(if blob.is_empty() { format!("{endpoint}/{container}") } else { format!("{endpoint}/{container}/{blob}") })
    }

    async fn send(&self, request: ApiRequest, url: &str) -> Result<HttpResponse, StoreError> {
        let request = request.with_header("x-ms-version", PROTOCOL).with_limit(LIMIT);
        let request = self.access.authorize(request, url, &self.credentials).await?;
        let service = || format!("the storage account {:?}", self.account);
        match tokio::time::timeout(self.timeout, self.credentials.api().send(&request)).await {
            Ok(answer) => answer.map_err(|problem| token_error(&service(), &problem)),
            Err(_) => Err(StoreError::Network {
                service: service(),
                reason: format!("no answer within {} seconds", self.timeout.as_secs()),
            }),
        }
    }

    async fn blob(&self, method: Method, blob: &str, query: &str) -> Result<(ApiRequest, String), StoreError> {
        let url = format!("{}{query}", self.url(blob).await?);
        Ok((ApiRequest::new(method, &*url), url))
    }

    /// Reads a blob; `None` if it does not exist.
    pub async fn get(&self, blob: &str) -> Result<Option<(Vec<u8>, Properties)>, StoreError> {
        let (request, url) = self.blob(Method::GET, blob, "").await?;
        let response = self.send(self.with_customer_key(request), &url).await?;
        match response.status.as_u16() {
            200 => {
                let properties = properties(&response);
                Ok(Some((response.body, properties)))
            }
            404 if !is_container_missing(&response) => Ok(None),
            _ => Err(self.failed(blob, "blobs/read", "read the blob", &response)),
        }
    }

    /// Reads the properties of a blob; `None` if it does not exist.
    pub async fn head(&self, blob: &str) -> Result<Option<Properties>, StoreError> {
        let (request, url) = self.blob(Method::HEAD, blob, "").await?;
        let response = self.send(self.with_customer_key(request), &url).await?;
        match response.status.as_u16() {
            200 => Ok(Some(properties(&response))),
            404 if !is_container_missing(&response) => Ok(None),
            _ => Err(self.failed(blob, "blobs/read", "read the properties of the blob", &response)),
        }
    }

    /// Writes a small blob with its metadata, which it would lose otherwise.
    pub async fn put(
        &self,
        blob: &str,
        bytes: &[u8],
        metadata: &Metadata,
        lease: Option<&str>,
        condition: Condition<'_>,
    ) -> Result<Outcome, StoreError> {
        self.put_shared(blob, &Bytes::copy_from_slice(bytes), metadata, lease, condition).await
    }

    /// Writes a blob with its metadata, which it would lose otherwise. The request shares the memory of the bytes.
    pub async fn put_shared(
        &self,
        blob: &str,
        bytes: &Bytes,
        metadata: &Metadata,
        lease: Option<&str>,
        condition: Condition<'_>,
    ) -> Result<Outcome, StoreError> {
        let (request, url) = self.blob(Method::PUT, blob, "").await?;
        let mut request = request.with_header("x-ms-blob-type", "BlockBlob");
        if bytes.is_empty() {
            // The service wants to know the length even of nothing.
            request = request.with_header("content-length", "0");
        } else {
            request = request.with_header("content-type", "application/json").with_body(bytes.clone());
        }
        // The signature covers all headers, so they are complete before the request is authorized.
        request = conditional(with_metadata(self.encrypted(request), metadata), condition);
        let response = self.send(leased(request, lease), &url).await?;
        self.outcome(blob, "blobs/write", "write the blob", &response)
    }

    /// Replaces the metadata of a blob.
    pub async fn put_metadata(
        &self,
        blob: &str,
        metadata: &Metadata,
        lease: Option<&str>,
        condition: Condition<'_>,
    ) -> Result<Outcome, StoreError> {
        let (request, url) = self.blob(Method::PUT, blob, "?comp=metadata").await?;
        let request = conditional(with_metadata(self.encrypted(request), metadata), condition);
        let response = self.send(leased(request, lease), &url).await?;
        self.outcome(blob, "blobs/write", "write the metadata of the blob", &response)
    }

    /// Acquires, releases or breaks the lease of a blob.
    pub async fn lease(&self, blob: &str, lease: Lease<'_>) -> Result<Outcome, StoreError> {
        let (request, url) = self.blob(Method::PUT, blob, "?comp=lease").await?;
        let request = match lease {
            Lease::Acquire(id, seconds) => request
                .with_header("x-ms-lease-action", "acquire")
                .with_header("x-ms-lease-duration", seconds.to_string())
                .with_header("x-ms-proposed-lease-id", id),
            Lease::Release(id) => request.with_header("x-ms-lease-action", "release").with_header("x-ms-lease-id", id),
            Lease::Break => {
                request.with_header("x-ms-lease-action", "break").with_header("x-ms-lease-break-period", "0")
            }
        };
        let response = self.send(request, &url).await?;
        self.outcome(blob, "blobs/write", "change the lease of the blob", &response)
    }

    /// Takes a snapshot of a blob.
    pub async fn snapshot(&self, blob: &str) -> Result<(), StoreError> {
        let (request, url) = self.blob(Method::PUT, blob, "?comp=snapshot").await?;
        let response = self.send(self.encrypted(request), &url).await?;
        match self.outcome(blob, "blobs/write", "take a snapshot of the blob", &response)? {
            Outcome::Done(_) => Ok(()),
            Outcome::Refused(_) => Err(self.failed(blob, "blobs/write", "take a snapshot of the blob", &response)),
        }
    }

    /// Deletes a blob with its snapshots. A missing one is not an error.
    pub async fn delete(
        &self,
        blob: &str,
        lease: Option<&str>,
        condition: Condition<'_>,
    ) -> Result<Outcome, StoreError> {
        let (request, url) = self.blob(Method::DELETE, blob, "").await?;
        let request = conditional(request.with_header("x-ms-delete-snapshots", "include"), condition);
        let response = self.send(leased(request, lease), &url).await?;
        if response.status.as_u16() == 404 && !is_container_missing(&response) {
            return Ok(Outcome::Done(String::new()));
        }
        self.outcome(blob, "blobs/delete", "delete the blob", &response)
    }

    /// Lists the names of blobs that begin with `prefix`.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let mut query = format!("?restype=container&comp=list&prefix={}", url_encoded(prefix));
            if let Some(marker) = &next {
                query.push_str(&format!("&marker={}", url_encoded(marker)));
            }
            let (request, url) = self.blob(Method::GET, "", &query).await?;
            let response = self.send(request, &url).await?;
            if !response.status.is_success() {
                return Err(self.failed(prefix, "blobs/read", "list the blobs", &response));
            }
            let document = String::from_utf8_lossy(&response.body);
            let blobs = xml::elements(&document, "Blob");
            names.extend(blobs.into_iter().filter_map(|blob| xml::text(blob, "Name")));
            next = xml::text(&document, "NextMarker");
            if next.is_none() {
                return Ok(names);
            }
        }
    }

    fn outcome(
        &self,
        blob: &str,
        permission: &str,
        action: &str,
        response: &HttpResponse,
    ) -> Result<Outcome, StoreError> {
        let status = response.status.as_u16();
        if response.status.is_success() {
            return Ok(Outcome::Done(response.header("etag").unwrap_or_default().to_owned()));
        }
        let code = code(response).unwrap_or_default();
        // The other codes of these statuses are answers about the container or the account.
        let is_condition =
            matches!(code, "ConditionNotMet" | "BlobAlreadyExists" | "BlobNotFound") || code.starts_with("Lease");
        if matches!(status, 404 | 409 | 412) && is_condition {
            return Ok(Outcome::Refused(code.to_owned()));
        }
        Err(self.failed(blob, permission, action, response))
    }

    /// Adds the headers that encrypt the written blob.
    fn encrypted(&self, request: ApiRequest) -> ApiRequest {
        match &self.encryption {
            AzureEncryption::Scope(scope) => request.with_header("x-ms-encryption-scope", scope),
            AzureEncryption::OfAccount | AzureEncryption::Customer { .. } => self.with_customer_key(request),
        }
    }

    fn with_customer_key(&self, request: ApiRequest) -> ApiRequest {
        match &self.encryption {
            AzureEncryption::Customer { key, digest } => request
                .with_header("x-ms-encryption-key", key.reveal())
                .with_header("x-ms-encryption-key-sha256", digest)
                .with_header("x-ms-encryption-algorithm", "AES256"),
            AzureEncryption::OfAccount | AzureEncryption::Scope(_) => request,
        }
    }

    pub fn failed(&self, blob: &str, permission: &str, action: &str, response: &HttpResponse) -> StoreError {
        let status = response.status.as_u16();
        let document = String::from_utf8_lossy(&response.body);
        let code = code(response).unwrap_or_default();
        let message = xml::text(&document, "Message").unwrap_or_default();
        let message = message.lines().next().unwrap_or_default();
        let reason = format!("HTTP status {status}: {code}: {message}").trim_end_matches([':', ' ', '.']).to_owned();
        let service = format!("the storage account {:?}", self.account);
        match (status, code) {
            (404, "ContainerNotFound") => StoreError::NotFound {
                what: format!("the container {:?} in the storage account {:?}", self.name, self.account),
                advice: format!(
                    "Check container_name, or create it: az storage container create --name {} --account-name {}",
                    self.name, self.account
                ),
            },
            (401, _) | (403, "AuthenticationFailed" | "InvalidAuthenticationInfo") => {
                StoreError::Unauthenticated { service, reason, advice: self.access.advice().to_owned() }
            }
            (403, _) => StoreError::AccessDenied {
                resource: self.location(blob),
                permission: Some(format!("Microsoft.Storage/storageAccounts/blobServices/containers/{permission}")),
                reason,
                advice: match code {
                    "AuthorizationFailure" => format!(
                        "The network rules of the account may exclude this machine. {}",
                        self.access.advice()
                    ),
                    "KeyBasedAuthenticationNotPermitted" => {
                        "The account forbids shared keys. Set use_azuread_auth = true, without access_key, and assign the role Storage \
                         Blob Data Contributor on the container to this identity."
                            .to_owned()
                    }
                    _ => self.access.advice().to_owned(),
                },
            },
            (413, _) => StoreError::TooLarge { location: self.location(blob), reason },
            _ => StoreError::Service { service, action: action.to_owned(), reason },
        }
    }
}

/// Returns the error code of the service. Answers to HEAD have it in a header only.
fn code(response: &HttpResponse) -> Option<&str> {
    response.header("x-ms-error-code")
}

fn is_container_missing(response: &HttpResponse) -> bool {
    code(response) == Some("ContainerNotFound")
}

fn properties(response: &HttpResponse) -> Properties {
    let header = |name: &str| response.header(name).unwrap_or_default();
    let metadata = response.headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(METADATA)?;
        Some((name.to_owned(), value.to_str().ok()?.to_owned()))
    });
    Properties {
        etag: header("etag").to_owned(),
        length: header("content-length").parse().unwrap_or_default(),
        is_leased: header("x-ms-lease-status") == "locked",
        metadata: metadata.collect(),
    }
}

fn conditional(request: ApiRequest, condition: Condition<'_>) -> ApiRequest {
    match condition {
        Condition::None => request,
        Condition::Absent => request.with_header("if-none-match", "*"),
        Condition::Matches(etag) => request.with_header("if-match", etag),
    }
}

fn leased(request: ApiRequest, lease: Option<&str>) -> ApiRequest {
    match lease {
        Some(id) => request.with_header("x-ms-lease-id", id),
        None => request,
    }
}

fn with_metadata(request: ApiRequest, metadata: &Metadata) -> ApiRequest {
    metadata.iter().fold(request, |request, (name, value)| request.with_header(&format!("{METADATA}{name}"), value))
}
