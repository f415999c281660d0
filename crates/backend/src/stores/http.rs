//! `http`: a state behind a URL, with optional lock and unlock requests.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groma_value::Type;
use md5::{Digest, Md5};
use reqwest::header::{CONTENT_TYPE, IF_MATCH};
use reqwest::{Client, Method, RequestBuilder, StatusCode, Url};

use super::requests::{
    self, DigestedBody, ReceivedBody, Response, RetryPolicy, TlsArguments, TlsSettings, Verification, shown,
};
use crate::backend_type::BackendType;
use crate::error::StoreError;
use crate::host::Host;
use crate::lock_info::{LockInfo, NAMELESS, read_holder};
use crate::schema::{Argument, BackendSchema, Product, Settings};
use crate::store::{
    DEFAULT_WORKSPACE, Expected, HeldLock, Snapshot, StateStore, StoreFuture, Version, WorkspaceSupport, Write,
};

pub(crate) const TYPE: BackendType = BackendType { name: "http", schema, open };

fn schema() -> &'static BackendSchema {
    static SCHEMA: LazyLock<BackendSchema> = LazyLock::new(|| {
        let text = |name| Argument::optional(name, Type::String);
        let number = |name| Argument::optional(name, Type::Number);
        BackendSchema::new([
            Argument::required_to_connect("address", Type::String).env(&["TF_HTTP_ADDRESS"]),
            text("update_method").env(&["TF_HTTP_UPDATE_METHOD"]).default("POST"),
            text("lock_address").env(&["TF_HTTP_LOCK_ADDRESS"]),
            text("lock_method").env(&["TF_HTTP_LOCK_METHOD"]).default("LOCK"),
            text("unlock_address").env(&["TF_HTTP_UNLOCK_ADDRESS"]),
            text("unlock_method").env(&["TF_HTTP_UNLOCK_METHOD"]).default("UNLOCK"),
            text("username").env(&["TF_HTTP_USERNAME"]),
            text("password").env(&["TF_HTTP_PASSWORD"]).sensitive(),
            Argument::optional("skip_cert_verification", Type::Bool),
            number("retry_max").env(&["TF_HTTP_RETRY_MAX"]).default("2"),
            number("retry_wait_min").env(&["TF_HTTP_RETRY_WAIT_MIN"]).default("1"),
            number("retry_wait_max").env(&["TF_HTTP_RETRY_WAIT_MAX"]).default("30"),
            text("client_ca_certificate_pem").env(&["TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"]),
            text("client_certificate_pem").env(&["TF_HTTP_CLIENT_CERTIFICATE_PEM"]),
            text("client_private_key_pem").env(&["TF_HTTP_CLIENT_PRIVATE_KEY_PEM"]).sensitive(),
            Argument::optional("headers", Type::map(Type::String)).sensitive().only(Product::OpenTofu),
        ])
    });
    &SCHEMA
}

/// A state behind a URL.
struct HttpStore {
    client: Client,
    retries: RetryPolicy,
    address: Url,
    update: Method,
    lock: Option<(Method, Url)>,
    unlock: Option<(Method, Url)>,
    username: String,
    password: String,
    headers: Vec<(String, String)>,
    /// The info that each lock of this process was taken with: the unlock request repeats it.
    held: Mutex<BTreeMap<String, LockInfo>>,
}

fn open(settings: &Settings, host: &Host) -> Result<Arc<dyn StateStore>, StoreError> {
    let address = url(settings, "address")?.ok_or_else(|| {
        invalid("address", "it is required; set it in the block, with -backend-config or with TF_HTTP_ADDRESS")
    })?;
    let lock = url(settings, "lock_address")?;
    let unlock = url(settings, "unlock_address")?;
    let with_method = |url: Option<Url>, name| url.map(|url| Ok((method(settings, name)?, url))).transpose();
    let certificate = settings.text("client_certificate_pem");
    let key = settings.text("client_private_key_pem");
    let identity = match (certificate, key) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some(format!("{certificate}\n{key}").into_bytes()),
        (Some(_), None) => return Err(invalid("client_private_key_pem", "it is required with client_certificate_pem")),
        (None, Some(_)) => return Err(invalid("client_certificate_pem", "it is required with client_private_key_pem")),
    };
    let tls = TlsSettings {
        authorities: settings.text("client_ca_certificate_pem").map(|pem| pem.as_bytes().to_vec()),
        identity,
        verification: if settings.flag("skip_cert_verification") {
            Verification::Skipped
        } else {
            Verification::Required
        },
    };
    let arguments = TlsArguments { authorities: "client_ca_certificate_pem", identity: "client_certificate_pem" };
    let seconds = |name, default| Duration::from_secs(settings.number(name).unwrap_or(default));
    Ok(Arc::new(HttpStore {
        client: requests::client(host, &tls, arguments)?,
        retries: RetryPolicy {
            attempts: settings.number("retry_max").unwrap_or(2),
            shortest: seconds("retry_wait_min", 1),
            longest: seconds("retry_wait_max", 30),
        },
        address,
        update: method(settings, "update_method")?,
        lock: with_method(lock, "lock_method")?,
        unlock: with_method(unlock, "unlock_method")?,
        username: settings.required("username").to_owned(),
        password: settings.required("password").to_owned(),
        headers: headers(settings)?,
        held: Mutex::default(),
    }))
}

fn invalid(argument: &str, reason: impl Into<String>) -> StoreError {
    StoreError::InvalidArgument { argument: argument.to_owned(), reason: reason.into() }
}

fn url(settings: &Settings, name: &str) -> Result<Option<Url>, StoreError> {
    let Some(text) = settings.text(name) else { return Ok(None) };
    let url = Url::parse(text).map_err(|problem| invalid(name, problem.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(Some(url)),
        other => Err(invalid(name, format!("its scheme must be http or https, not {other:?}"))),
    }
}

fn method(settings: &Settings, name: &str) -> Result<Method, StoreError> {
    Method::from_bytes(settings.required(name).as_bytes()).map_err(|problem| invalid(name, problem.to_string()))
}

fn headers(settings: &Settings) -> Result<Vec<(String, String)>, StoreError> {
    let headers = settings.map("headers");
    for (name, value) in &headers {
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let reason = match name.to_ascii_lowercase().as_str() {
            _ if !is_name => "header names may only contain letters, digits, - and _".to_owned(),
            "content-type" | "content-md5" => format!("the header {name:?} is set by the backend itself"),
            "authorization" if settings.text("username").is_some() => {
                "the header \"Authorization\" excludes the argument username".to_owned()
            }
            _ if !value.is_ascii() => format!("the value of the header {name:?} must be ASCII"),
            _ => continue,
        };
        return Err(invalid("headers", reason));
    }
    Ok(headers)
}

/// The names of a stored state's version.
struct StoredVersions {
    version: Version,
    /// The version by its content.
    digest: Version,
}

impl HttpStore {
    async fn send(
        &self,
        method: &Method,
        url: &Url,
        body: Option<Bytes>,
        condition: Option<&Expected>,
    ) -> Result<Response, StoreError> {
        self.receive(method, url, body, condition).await
    }

    async fn receive<B: ReceivedBody>(
        &self,
        method: &Method,
        url: &Url,
        body: Option<Bytes>,
        condition: Option<&Expected>,
    ) -> Result<Response<B>, StoreError> {
        let build = |mut request: RequestBuilder| {
            for (name, value) in &self.headers {
                request = request.header(name, value);
            }
            if !self.username.is_empty() {
                request = request.basic_auth(&self.username, Some(&self.password));
            }
            match condition {
                Some(Expected::Version(Version(version))) => {
                    if let Some(tag) = version.strip_prefix(TAG) {
                        request = request.header(IF_MATCH, tag);
                    }
                }
                Some(Expected::Absent | Expected::Any) | None => {}
            }
            match &body {
                Some(bytes) => request
                    .header(CONTENT_TYPE, "application/json")
                    .header("Content-MD5", STANDARD.encode(Md5::digest(bytes)))
                    .body(bytes.clone()),
                None => request,
            }
        };
        requests::receive(&self.client, method, url, self.retries, build).await
    }

    async fn fetch(&self) -> Result<Option<Snapshot>, StoreError> {
        let response = self.send(&Method::GET, &self.address, None, None).await?;
        match response.status {
            StatusCode::OK => {
                let version = version(&response, &response.body);
                Ok(Some(Snapshot { bytes: response.body, version }))
            }
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(None),
            _ => Err(failure(&response, &self.address, "read the state")),
        }
    }

    /// Checks the condition of a write by reading, where the server has no strong ETags.
    async fn check(&self, expected: &Expected) -> Result<(), StoreError> {
        let is_tagged = matches!(expected, Expected::Version(version) if version.0.starts_with(TAG));
        if is_tagged || *expected == Expected::Any {
            return Ok(());
        }
        let found = self.stored_versions().await?;
        let is_expected = match (expected, &found) {
            (Expected::Absent, found) => found.is_none(),
            (Expected::Version(version), Some(found)) => *version == found.version || *version == found.digest,
            (Expected::Version(version), None) => *version == digest(&[]),
            (Expected::Any, _) => true,
        };
        if is_expected {
            return Ok(());
        }
        Err(StoreError::Conflict { location: shown(&self.address), found: found.map(|found| found.version) })
    }

    /// Reads the state without keeping it, as it may be large; `None` without a state.
    async fn stored_versions(&self) -> Result<Option<StoredVersions>, StoreError> {
        let response: Response<DigestedBody> = self.receive(&Method::GET, &self.address, None, None).await?;
        let tag = tag(&response);
        let DigestedBody { digest, beginning } = response.body;
        match response.status {
            // An empty body is no state for Terraform and OpenTofu.
            StatusCode::OK if beginning.is_empty() => Ok(None),
            StatusCode::OK => {
                let digest = digest_version(digest);
                Ok(Some(StoredVersions { version: tag.unwrap_or_else(|| digest.clone()), digest }))
            }
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(None),
            status => {
                let response = Response { status, headers: response.headers, body: beginning };
                Err(failure(&response, &self.address, "read the state"))
            }
        }
    }

    async fn put(&self, write: Write<'_>) -> Result<Version, StoreError> {
        self.check(&write.expected).await?;
        let mut url = self.address.clone();
        if let Some(lock) = write.lock {
            url.query_pairs_mut().append_pair("ID", &lock.id);
        }
        let response = self.send(&self.update, &url, Some(write.bytes.clone()), Some(&write.expected)).await?;
        match response.status {
            StatusCode::OK | StatusCode::CREATED | StatusCode::NO_CONTENT => Ok(version(&response, write.bytes)),
            StatusCode::PRECONDITION_FAILED => {
                Err(StoreError::Conflict { location: shown(&self.address), found: None })
            }
            StatusCode::PAYLOAD_TOO_LARGE => {
                Err(StoreError::TooLarge { location: shown(&self.address), reason: response.reason() })
            }
            _ => Err(failure(&response, &self.address, "write the state")),
        }
    }

    async fn take_lock(&self, info: &LockInfo) -> Result<HeldLock, StoreError> {
        let Some((method, url)) = &self.lock else {
            return Err(StoreError::Unsupported {
                operation: "locking".to_owned(),
                advice: "Set lock_address.".to_owned(),
            });
        };
        let info = LockInfo { path: String::new(), ..info.clone() };
        let body = serde_json::to_vec(&info).unwrap_or_default();
        let response = self.send(method, url, Some(body.into()), None).await?;
        let held = || HeldLock { id: info.id.clone(), info: info.clone() };
        match response.status {
            StatusCode::OK => {}
            StatusCode::LOCKED | StatusCode::CONFLICT => {
                let holder = read_holder(&response.body);
                // The answer to an earlier attempt was lost: the lock is this run's own.
                if holder.id != info.id {
                    // A server that returns no ID cannot compare it either, so any ID releases the lock.
                    let reason = match &*holder.id {
                        NAMELESS => {
                            "HTTP remote state already locked; the server returned no valid lock info".to_owned()
                        }
                        id => format!("HTTP remote state already locked: ID={id}"),
                    };
                    return Err(StoreError::Locked { holder: Some(Box::new(holder)), reason });
                }
            }
            _ => return Err(failure(&response, url, "lock the state")),
        }
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(info.id.clone(), info.clone());
        Ok(held())
    }

    async fn release(&self, id: &str) -> Result<(), StoreError> {
        let Some((method, url)) = &self.unlock else { return Ok(()) };
        let known = self.held.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        // A server that compares IDs finds the user's ID in the body; the other fields are unknown.
        let info = known.unwrap_or_else(|| LockInfo {
            id: id.to_owned(),
            created: "0001-01-01T00:00:00Z".to_owned(),
            ..LockInfo::default()
        });
        let body = serde_json::to_vec(&info).unwrap_or_default();
        let response = self.send(method, url, Some(body.into()), None).await?;
        match response.status {
            StatusCode::OK => {
                self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
                Ok(())
            }
            StatusCode::LOCKED | StatusCode::CONFLICT => {
                let holder = serde_json::from_slice(&response.body).ok().map(Box::new);
                Err(StoreError::LockIdMismatch { given: id.to_owned(), holder })
            }
            _ => Err(failure(&response, url, "unlock the state")),
        }
    }

    async fn remove(&self) -> Result<(), StoreError> {
        let response = self.send(&Method::DELETE, &self.address, None, None).await?;
        match response.status {
            StatusCode::OK | StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(()),
            _ => Err(failure(&response, &self.address, "delete the state")),
        }
    }
}

/// Marks versions that are ETags of the server; all others are digests of the content.
const TAG: &str = "etag:";

/// Returns the version of a response: its strong ETag, or the digest of the content. Weak ones never match in conditions.
fn version(response: &Response, content: &[u8]) -> Version {
    tag(response).unwrap_or_else(|| digest(content))
}

/// Returns the strong ETag of a response.
fn tag<B>(response: &Response<B>) -> Option<Version> {
    let tag = response.header("ETag").filter(|tag| tag.starts_with('"'))?;
    Some(Version(format!("{TAG}{tag}")))
}

fn digest(content: &[u8]) -> Version {
    digest_version(Md5::new_with_prefix(content))
}

fn digest_version(digest: Md5) -> Version {
    Version(format!("md5:{}", STANDARD.encode(digest.finalize())))
}

fn failure(response: &Response, url: &Url, action: &str) -> StoreError {
    let service = shown(url);
    match response.status {
        StatusCode::UNAUTHORIZED => StoreError::Unauthenticated {
            service,
            reason: format!("HTTP remote state endpoint requires auth ({})", response.reason()),
            advice: "Set username and password, or TF_HTTP_USERNAME and TF_HTTP_PASSWORD.".to_owned(),
        },
        StatusCode::FORBIDDEN => StoreError::AccessDenied {
            resource: service,
            permission: None,
            reason: format!("HTTP remote state endpoint invalid auth ({})", response.reason()),
            advice: format!(
                "The server knows the user but does not let it {action}. Ask its administrator for the right."
            ),
        },
        _ => StoreError::Service { service, action: action.to_owned(), reason: response.reason() },
    }
}

impl StateStore for HttpStore {
    fn location(&self, _: &str) -> String {
        shown(&self.address)
    }

    fn restore_advice(&self) -> &'static str {
        "Restore an earlier version of the state on the server, if it keeps any."
    }

    fn workspace_support(&self) -> WorkspaceSupport {
        WorkspaceSupport::DefaultOnly
    }

    fn can_lock(&self) -> bool {
        self.lock.is_some()
    }

    fn workspaces(&self) -> StoreFuture<'_, Vec<String>> {
        Box::pin(async { Ok(self.fetch().await?.map(|_| DEFAULT_WORKSPACE.to_owned()).into_iter().collect()) })
    }

    fn read<'a>(&'a self, _: &'a str) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(self.fetch())
    }

    fn write<'a>(&'a self, _: &'a str, write: Write<'a>) -> StoreFuture<'a, Version> {
        Box::pin(self.put(write))
    }

    fn delete_workspace<'a>(&'a self, _: &'a str, _: Option<&'a HeldLock>) -> StoreFuture<'a, ()> {
        Box::pin(self.remove())
    }

    fn lock<'a>(&'a self, _: &'a str, info: &'a LockInfo) -> StoreFuture<'a, HeldLock> {
        Box::pin(self.take_lock(info))
    }

    fn unlock<'a>(&'a self, _: &'a str, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.release(id))
    }
}
