//! A double of Consul: the key-value store, sessions and transactions, as far as states need them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::web::{Reply, Request, serve};

/// The largest request body, as in Consul.
const LIMIT: usize = 512 * 1024;

#[derive(Clone)]
pub struct ConsulServer {
    pub address: String,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
pub struct Shared {
    pub entries: BTreeMap<String, Entry>,
    pub sessions: Vec<String>,
    /// The permission that the token lacks, on all keys and nodes.
    pub forbidden: Option<&'static str>,
    index: u64,
}

#[derive(Clone, Default)]
pub struct Entry {
    pub value: Vec<u8>,
    modify_index: u64,
    flags: u64,
    pub session: Option<String>,
}

impl ConsulServer {
    pub fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let served = Arc::clone(&shared);
        let address = serve(move |request| served.lock().unwrap().answer(&request));
        Self { address, shared }
    }

    pub fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }

    pub fn backend(&self, path: &str, more: &str) -> String {
        format!(
            "  backend \"consul\" {{\n    address = \"{}\"\n    scheme = \"http\"\n    path = \"{path}\"\n    {more}\n  }}",
            self.address
        )
    }

    pub fn keys(&self) -> Vec<String> {
        self.shared().entries.keys().cloned().collect()
    }
}

impl Shared {
    fn answer(&mut self, request: &Request) -> Reply {
        let path = request.path.strip_prefix("/v1/").unwrap_or_default().to_owned();
        let (kind, rest) = path.split_once('/').unwrap_or((&path, ""));
        let needed = match (&*request.method, kind) {
            ("GET", "kv") => "key:read",
            ("PUT", "session") => "session:write",
            ("PUT" | "DELETE", "kv") => "key:write",
            // Lists have only the keys that may be read, and a transaction reports its operations one by one.
            _ => "",
        };
        if self.forbidden == Some(needed) && request.query("keys").is_none() {
            return Reply::new(403, format!("Permission denied: token lacks permission '{needed}'"));
        }
        match (&*request.method, (kind, rest)) {
            (method, ("kv", key)) => self.key(method, key, request),
            ("PUT", ("txn", _)) => self.transaction(request),
            ("PUT", ("session", task)) => self.session(task),
            // No session of others exists, so none blocks a lock.
            ("GET", ("session", _)) => Reply::new(200, "[]"),
            _ => Reply::new(404, ""),
        }
    }

    fn write(&mut self, key: &str, change: impl FnOnce(&mut Entry)) -> u64 {
        // One index for the whole store, as in Consul: conditional writes compare it.
        self.index += 1;
        let entry = self.entries.entry(key.to_owned()).or_default();
        entry.modify_index = self.index;
        change(entry);
        self.index
    }

    fn key(&mut self, method: &str, key: &str, request: &Request) -> Reply {
        match method {
            "GET" if request.query("keys").is_some() => {
                let found = self.entries.keys().filter(|known| known.starts_with(key));
                let separator = request.query("separator");
                let cut = found.map(|known| match separator.and_then(|separator| known[key.len()..].find(separator)) {
                    Some(at) => known[..=key.len() + at].to_owned(),
                    None => known.clone(),
                });
                let mut names: Vec<String> = cut.collect();
                names.dedup();
                if names.is_empty() { Reply::new(404, "") } else { Reply::new(200, json!(names).to_string()) }
            }
            "GET" => match self.entries.get(key) {
                None => Reply::new(404, "").with("X-Consul-Index", self.index.to_string()),
                Some(entry) => Reply::new(200, json!([shown(key, entry)]).to_string())
                    .with("X-Consul-Index", entry.modify_index.to_string()),
            },
            "PUT" => {
                if request.body.len() > LIMIT {
                    return Reply::new(413, "Request body too large");
                }
                let done = self.put(key, request);
                Reply::new(200, done.to_string())
            }
            "DELETE" => {
                let is_current =
                    |entry: &Entry| request.query("cas").is_none_or(|index| index == entry.modify_index.to_string());
                if request.query("recurse").is_some() {
                    self.entries.retain(|known, _| !known.starts_with(key));
                } else if self.entries.get(key).is_some_and(is_current) {
                    self.entries.remove(key);
                }
                Reply::new(200, "true")
            }
            _ => Reply::new(405, ""),
        }
    }

    fn put(&mut self, key: &str, request: &Request) -> bool {
        let flags = request.query("flags").and_then(|flags| flags.parse().ok()).unwrap_or_default();
        if let Some(session) = request.query("acquire") {
            let holder = self.entries.get(key).and_then(|entry| entry.session.clone());
            if !self.sessions.iter().any(|known| known == session) || holder.is_some_and(|holder| holder != session) {
                return false;
            }
            self.write(key, |entry| {
                *entry =
                    Entry { session: Some(session.to_owned()), flags, value: request.body.clone(), ..entry.clone() };
            });
            return true;
        }
        if let Some(session) = request.query("release") {
            let is_held = self.entries.get(key).is_some_and(|entry| entry.session.as_deref() == Some(session));
            if is_held {
                self.write(key, |entry| entry.session = None);
            }
            return is_held;
        }
        self.write(key, |entry| entry.value = request.body.clone());
        true
    }

    fn transaction(&mut self, request: &Request) -> Reply {
        if request.body.len() > LIMIT {
            return Reply::new(413, "Request body too large, max size: 524288");
        }
        if self.forbidden == Some("key:write") {
            let what = "Permission denied: token lacks permission 'key:write'";
            let body = json!({"Results": null, "Errors": [{"OpIndex": 0, "What": what}]});
            return Reply::new(409, body.to_string());
        }
        let operations: Json = serde_json::from_slice(&request.body).unwrap();
        let operation = &operations[0]["KV"];
        let key = operation["Key"].as_str().unwrap();
        let found = self.entries.get(key).map_or(0, |entry| entry.modify_index);
        match operation["Verb"].as_str().unwrap() {
            "cas" if operation["Index"].as_u64().unwrap_or_default() != found => {
                let what = format!("failed to set key {key:?}, index is stale");
                return Reply::new(409, json!({"Results": null, "Errors": [{"OpIndex": 0, "What": what}]}).to_string());
            }
            "cas" | "set" => {
                let value = STANDARD.decode(operation["Value"].as_str().unwrap_or_default()).unwrap();
                self.write(key, |entry| entry.value = value);
            }
            "get" if found == 0 => {
                return Reply::new(409, json!({"Errors": [{"OpIndex": 0, "What": "key doesn't exist"}]}).to_string());
            }
            _ => {}
        }
        let result = shown(key, &self.entries[key]);
        Reply::new(200, json!({"Results": [{"KV": result}], "Errors": null}).to_string())
    }

    fn session(&mut self, task: &str) -> Reply {
        let (task, id) = task.split_once('/').unwrap_or((task, ""));
        match task {
            "create" => {
                self.index += 1;
                let id = format!("00000000-0000-0000-0000-{:012}", self.index);
                self.sessions.push(id.clone());
                Reply::new(200, json!({"ID": id}).to_string())
            }
            "renew" if self.sessions.iter().any(|known| known == id) => {
                Reply::new(200, json!([{"ID": id, "TTL": "15s"}]).to_string())
            }
            "renew" => Reply::new(404, format!("Session id '{id}' not found")),
            _ => {
                self.end_session(id);
                Reply::new(200, "true")
            }
        }
    }

    /// Writes a key as another program would.
    pub fn store(&mut self, key: &str, value: Vec<u8>) {
        self.write(key, |entry| entry.value = value);
    }

    /// Ends a session, which releases its locks.
    pub fn end_session(&mut self, id: &str) {
        self.sessions.retain(|known| known != id);
        self.entries
            .values_mut()
            .filter(|entry| entry.session.as_deref() == Some(id))
            .for_each(|entry| entry.session = None);
    }
}

fn shown(key: &str, entry: &Entry) -> Json {
    let mut shown = json!({
        "Key": key, "Value": STANDARD.encode(&entry.value), "Flags": entry.flags, "LockIndex": 0, "CreateIndex": 1,
        "ModifyIndex": entry.modify_index,
    });
    if let Some(session) = &entry.session {
        shown["Session"] = json!(session);
    }
    shown
}
