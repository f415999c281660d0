//! The requests of Consul's HTTP API that states and locks need.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Client, Method, RequestBuilder, StatusCode, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::StoreError;
use crate::stores::requests::{self, Response, RetryPolicy, shown};

/// Marks the keys of locks, as the client library of Consul does.
const LOCK_FLAG: u64 = 0x2ddc_cbc0_58a5_0c18;

/// Requests that change something are not repeated here: the caller knows whether they may be.
const ONCE: RetryPolicy = RetryPolicy { attempts: 0, shortest: Duration::ZERO, longest: Duration::ZERO };

const SEVERAL: RetryPolicy =
    RetryPolicy { attempts: 2, shortest: Duration::from_millis(500), longest: Duration::from_secs(2) };

/// A client of one server.
#[derive(Clone)]
pub(super) struct Api {
    client: Client,
    base: Url,
    credentials: std::sync::Arc<Credentials>,
}

/// The credentials and parameters of each request, and the path of the states that they are for.
pub(super) struct Credentials {
    pub token: Option<String>,
    pub auth: Option<(String, Option<String>)>,
    /// The key of the default workspace's state, with which all other keys begin.
    pub path: String,
    /// Datacenter, namespace and partition.
    pub query: Vec<(&'static str, String)>,
}

/// An entry of the key-value store.
pub(super) struct Entry {
    pub value: Vec<u8>,
    pub modify_index: u64,
    /// The session that holds the key as a lock.
    pub session: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawEntry {
    #[serde(default)]
    value: Option<String>,
    modify_index: u64,
    #[serde(default)]
    session: Option<String>,
}

/// The access that the rules of the token must allow.
#[derive(Clone, Copy)]
enum Access<'a> {
    Read(&'a str),
    List(&'a str),
    Write(&'a str),
    Session,
}

impl Access<'_> {
    /// Returns the permission in the terms of Consul's messages.
    fn permission(self) -> String {
        match self {
            Self::Read(key) => format!("key:read on {key:?}"),
            Self::List(prefix) => format!("key:list on {prefix:?}"),
            Self::Write(key) => format!("key:write on {key:?}"),
            Self::Session => "session:write on the node of the agent".to_owned(),
        }
    }
}

/// The result of a transaction.
pub(super) enum Committed {
    /// The new index of the key.
    At(u64),
    /// The server refuses values of this size.
    TooLarge,
}

impl Api {
    pub fn new(client: Client, base: Url, credentials: Credentials) -> Self {
        Self { client, base, credentials: std::sync::Arc::new(credentials) }
    }

    /// Returns the location of a key for messages.
    pub fn shown(&self, key: &str) -> String {
        shown(&self.url("kv", key))
    }

    fn url(&self, endpoint: &str, rest: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(endpoint.split('/'));
            if !rest.is_empty() {
                segments.extend(rest.split('/'));
            }
        }
        url.query_pairs_mut().extend_pairs(&self.credentials.query);
        if url.query() == Some("") {
            url.set_query(None);
        }
        url
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        retries: RetryPolicy,
        body: Option<Vec<u8>>,
    ) -> Result<Response, StoreError> {
        let build = |mut request: RequestBuilder| {
            if let Some(token) = &self.credentials.token {
                request = request.header("X-Consul-Token", token);
            }
            if let Some((user, password)) = &self.credentials.auth {
                request = request.basic_auth(user, password.as_deref());
            }
            match &body {
                Some(body) => request.body(body.clone()),
                None => request,
            }
        };
        requests::send(&self.client, &method, url, retries, build).await
    }

    /// Reads a key; `None` if it does not exist.
    pub async fn get(&self, key: &str) -> Result<Option<Entry>, StoreError> {
        let mut url = self.url("kv", key);
        // The leader confirms that it still is one, so that no old value is read after a network partition.
        url.query_pairs_mut().append_pair("consistent", "");
        let response = self.send(Method::GET, &url, SEVERAL, None).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let entries: Vec<RawEntry> = self.parsed(&response, Access::Read(key), "read the key")?;
        let Some(raw) = entries.into_iter().next() else { return Ok(None) };
        let value = STANDARD.decode(raw.value.unwrap_or_default()).map_err(|_| self.unexpected(key, &response))?;
        let session = raw.session.filter(|session| !session.is_empty());
        Ok(Some(Entry { value, modify_index: raw.modify_index, session }))
    }

    /// Lists the keys with this prefix, without those below further slashes.
    pub async fn keys(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut url = self.url("kv", prefix);
        url.query_pairs_mut().append_pair("keys", "").append_pair("separator", "/");
        let response = self.send(Method::GET, &url, SEVERAL, None).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(Vec::new());
        }
        self.parsed(&response, Access::List(prefix), "list the workspaces")
    }

    /// Lists all keys with this prefix.
    pub async fn tree(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut url = self.url("kv", prefix);
        url.query_pairs_mut().append_pair("keys", "");
        let response = self.send(Method::GET, &url, SEVERAL, None).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(Vec::new());
        }
        self.parsed(&response, Access::List(prefix), "list the keys")
    }

    /// Writes a key unconditionally.
    pub async fn put(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let response = self.send(Method::PUT, &self.url("kv", key), SEVERAL, Some(value)).await?;
        self.parsed::<Value>(&response, Access::Write(key), "write the key").map(|_| ())
    }

    pub async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let response = self.send(Method::DELETE, &self.url("kv", key), SEVERAL, None).await?;
        self.parsed::<Value>(&response, Access::Write(key), "delete the key").map(|_| ())
    }

    /// Deletes a key unless it was changed since `index`.
    pub async fn delete_at(&self, key: &str, index: u64) -> Result<(), StoreError> {
        let mut url = self.url("kv", key);
        url.query_pairs_mut().append_pair("cas", &index.to_string());
        let response = self.send(Method::DELETE, &url, SEVERAL, None).await?;
        self.parsed::<Value>(&response, Access::Write(key), "delete the key").map(|_| ())
    }

    /// Deletes all keys with this prefix.
    pub async fn delete_tree(&self, prefix: &str) -> Result<(), StoreError> {
        let mut url = self.url("kv", prefix);
        url.query_pairs_mut().append_pair("recurse", "");
        let response = self.send(Method::DELETE, &url, SEVERAL, None).await?;
        self.parsed::<Value>(&response, Access::Write(prefix), "delete the keys").map(|_| ())
    }

    /// Writes `key` with the operation of a transaction.
    pub async fn transaction(&self, key: &str, operation: &Value) -> Result<Committed, StoreError> {
        #[derive(Deserialize)]
        struct Outcome {
            #[serde(rename = "Results", default)]
            results: Option<Vec<Value>>,
        }
        let body = json!([{ "KV": operation }]).to_string().into_bytes();
        let url = self.url("txn", "");
        let mut response = self.send(Method::PUT, &url, ONCE, Some(body.clone())).await?;
        if response.status == StatusCode::CONFLICT {
            self.check_index(key, operation).await?;
            // Another writer may have come and gone, or the token lacks the right to write, which a transaction reports as a conflict.
            response = self.send(Method::PUT, &url, ONCE, Some(body)).await?;
        }
        if response.status == StatusCode::CONFLICT {
            self.check_index(key, operation).await?;
            return Err(self.denied(Access::Write(key), transaction_reason(&response)));
        }
        if is_too_large(&response) {
            return Ok(Committed::TooLarge);
        }
        let outcome: Outcome = self.parsed(&response, Access::Write(key), "write the state")?;
        let first = outcome.results.unwrap_or_default().into_iter().next();
        let index = first.and_then(|result| result["KV"]["ModifyIndex"].as_u64());
        index.map(Committed::At).ok_or_else(|| self.unexpected(key, &response))
    }

    /// Checks that a key has the index on which a refused operation depends.
    async fn check_index(&self, key: &str, operation: &Value) -> Result<(), StoreError> {
        let Some(expected) = operation["Index"].as_u64() else { return Ok(()) };
        let found = self.get(key).await?.map_or(0, |entry| entry.modify_index);
        match found == expected {
            true => Ok(()),
            false => Err(StoreError::Conflict { location: self.shown(key), found: None }),
        }
    }

    /// Creates a session, which expires unless it is renewed.
    pub async fn create_session(&self) -> Result<String, StoreError> {
        #[derive(Deserialize)]
        struct Created {
            #[serde(rename = "ID")]
            id: String,
        }
        let body = json!({"Name": "Consul API Lock", "TTL": "15s", "LockDelay": "5000ms", "Behavior": "release"});
        let url = self.url("session/create", "");
        let response = self.send(Method::PUT, &url, SEVERAL, Some(body.to_string().into_bytes())).await?;
        self.parsed::<Created>(&response, Access::Session, "create a session").map(|created| created.id)
    }

    /// Renews a session; returns whether it still exists.
    pub async fn renew_session(&self, session: &str) -> Result<bool, StoreError> {
        let response = self.send(Method::PUT, &self.url("session/renew", session), ONCE, None).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(false);
        }
        self.parsed::<Value>(&response, Access::Session, "renew the session").map(|_| true)
    }

    pub async fn destroy_session(&self, session: &str) -> Result<(), StoreError> {
        let response = self.send(Method::PUT, &self.url("session/destroy", session), SEVERAL, None).await?;
        self.parsed::<Value>(&response, Access::Session, "destroy the session").map(|_| ())
    }

    /// Lets a session acquire a key as a lock; returns whether it did.
    pub async fn acquire(&self, key: &str, session: &str) -> Result<bool, StoreError> {
        let mut url = self.url("kv", key);
        url.query_pairs_mut().append_pair("acquire", session).append_pair("flags", &LOCK_FLAG.to_string());
        let response = self.send(Method::PUT, &url, SEVERAL, None).await?;
        self.parsed(&response, Access::Write(key), "lock the state")
    }

    /// Lets a session release a key.
    pub async fn release(&self, key: &str, session: &str) -> Result<bool, StoreError> {
        let mut url = self.url("kv", key);
        url.query_pairs_mut().append_pair("release", session).append_pair("flags", &LOCK_FLAG.to_string());
        let response = self.send(Method::PUT, &url, SEVERAL, None).await?;
        self.parsed(&response, Access::Write(key), "unlock the state")
    }

    fn parsed<T: serde::de::DeserializeOwned>(
        &self,
        response: &Response,
        access: Access<'_>,
        action: &str,
    ) -> Result<T, StoreError> {
        match response.status {
            StatusCode::OK => serde_json::from_slice(&response.body).map_err(|_| {
                let key = match access {
                    Access::Read(key) | Access::List(key) | Access::Write(key) => key,
                    Access::Session => "session",
                };
                self.unexpected(key, response)
            }),
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => Err(self.denied(access, response.reason())),
            _ => Err(StoreError::Service {
                service: shown(&self.base),
                action: action.to_owned(),
                reason: response.reason(),
            }),
        }
    }

    fn denied(&self, access: Access<'_>, reason: String) -> StoreError {
        StoreError::AccessDenied {
            resource: shown(&self.base),
            permission: Some(access.permission()),
            reason,
            // Separate rules for states, workspaces, locks and journals would be found out one by one.
            advice: format!(
                "A policy of the token in access_token or CONSUL_HTTP_TOKEN must have the rules key_prefix {:?} {{ policy = \"write\" }} and \
                 session_prefix \"\" {{ policy = \"write\" }}.",
                self.credentials.path
            ),
        }
    }

    fn unexpected(&self, key: &str, response: &Response) -> StoreError {
        StoreError::InvalidData {
            location: self.shown(key),
            reason: format!("the server's answer is not what Consul sends (HTTP status {})", response.status),
            advice: "Check that the address is that of a Consul server.".to_owned(),
        }
    }
}

/// Returns the reason of the first operation that a transaction refuses.
fn transaction_reason(response: &Response) -> String {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    body["Errors"][0]["What"].as_str().map_or_else(|| response.reason(), str::to_owned)
}

/// Whether the server refuses the size of a value: with a status, or in words.
fn is_too_large(response: &Response) -> bool {
    if response.status == StatusCode::PAYLOAD_TOO_LARGE {
        return true;
    }
    let text = String::from_utf8_lossy(&response.body);
    response.status.is_client_error() && (text.contains("too large") || text.contains("exceeds"))
}
