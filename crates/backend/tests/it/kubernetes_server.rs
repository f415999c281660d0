//! A double of the Kubernetes API: secrets and leases of one namespace, with resource versions and label selectors.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value as Json, json};

use super::kubernetes_protobuf;
use super::web::{Request, decoded, response, serve};

/// The namespace that exists.
pub const NAMESPACE: &str = "states";

#[derive(Default)]
pub struct Shared {
    /// The objects by `KIND/NAME`.
    pub objects: BTreeMap<String, Json>,
    /// The bearer tokens that are accepted; all if empty.
    pub tokens: Vec<String>,
    /// The forbidden verb and its resource.
    pub forbidden: Option<(&'static str, &'static str)>,
    /// How many answers to writes are lost.
    pub dropped_responses: usize,
    version: u64,
}

#[derive(Clone)]
pub struct KubernetesServer {
    pub port: u16,
    shared: Arc<Mutex<Shared>>,
}

impl KubernetesServer {
    pub fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let served = Arc::clone(&shared);
        let port = serve(move |request| {
            let mut shared = served.lock().unwrap();
            let (status, body) = shared.answer(&request);
            if request.method != "GET" && shared.dropped_responses > 0 {
                shared.dropped_responses -= 1;
                return None;
            }
            Some(response(status, &body.to_string()))
        });
        Self { port, shared }
    }

    pub fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }

    /// Returns a kubeconfig file.
    pub fn kubeconfig(&self) -> String {
        kubeconfig(&json!({ "server": format!("http://127.0.0.1:{}", self.port) }), "token")
    }

    pub fn names(&self) -> Vec<String> {
        self.shared().objects.keys().cloned().collect()
    }
}

/// Returns a kubeconfig file, in JSON, with one cluster and one user.
pub fn kubeconfig(cluster: &Json, token: &str) -> String {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{ "name": "it", "cluster": cluster }],
        "users": [{ "name": "it", "user": { "token": token } }],
        "contexts": [{ "name": "it", "context": { "cluster": "it", "user": "it" } }],
    });
    config.to_string()
}

fn failure(code: u16, reason: &str, kind: &str) -> (u16, Json) {
    let details = json!({ "kind": kind });
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason,
        "details": details,
    });
    (code, status)
}

impl Shared {
    fn answer(&mut self, request: &Request) -> (u16, Json) {
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        if !self.tokens.is_empty() && !self.tokens.iter().any(|known| known == token) {
            return failure(401, "Unauthorized", "");
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let Some((_, path)) = path.split_once("/namespaces/") else { return failure(404, "NotFound", "") };
        let mut parts = path.split('/');
        let (namespace, kind) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let name = parts.next();
        let verb = match (&*request.method, name) {
            ("GET", None) => "list",
            ("GET", _) => "get",
            ("POST", _) => "create",
            ("PUT", _) => "update",
            _ => "delete",
        };
        if self.forbidden == Some((verb, kind)) {
            return failure(403, "Forbidden", kind);
        }
        if namespace != NAMESPACE {
            return failure(404, "NotFound", if verb == "create" { "namespaces" } else { kind });
        }
        let body = kubernetes_protobuf::lease(&request.body);
        let body = body.unwrap_or_else(|| serde_json::from_slice(&request.body).unwrap_or_default());
        let name = name.or(body["metadata"]["name"].as_str()).unwrap_or_default();
        let key = format!("{kind}/{name}");
        match verb {
            "list" => self.list(kind, query, request.header("accept").unwrap_or_default()),
            "get" => {
                self.objects.get(&key).map_or_else(|| failure(404, "NotFound", kind), |found| (200, found.clone()))
            }
            "create" if self.objects.contains_key(&key) => failure(409, "AlreadyExists", kind),
            "create" => (201, self.store(key, body)),
            "update" => match self.objects.get(&key) {
                None => failure(404, "NotFound", kind),
                Some(found) if found["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"] => {
                    failure(409, "Conflict", kind)
                }
                Some(_) => (200, self.store(key, body)),
            },
            _ => match self.objects.remove(&key) {
                Some(_) => (200, json!({ "apiVersion": "v1", "kind": "Status", "status": "Success" })),
                None => failure(404, "NotFound", kind),
            },
        }
    }

    pub fn store(&mut self, key: String, mut object: Json) -> Json {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let (version, kind) = match key.split_once('/') {
            Some(("secrets", _)) => ("v1", "Secret"),
            _ => ("coordination.k8s.io/v1", "Lease"),
        };
        object["apiVersion"] = json!(version);
        object["kind"] = json!(kind);
        self.objects.insert(key, object.clone());
        object
    }

    fn list(&self, kind: &str, query: &str, accept: &str) -> (u16, Json) {
        let selector = query.split('&').find_map(|pair| pair.strip_prefix("labelSelector=")).unwrap_or_default();
        let selector = decoded(selector);
        let matches = |object: &Json| {
            selector
                .split(',')
                .filter_map(|pair| pair.split_once('='))
                .all(|(name, value)| object["metadata"]["labels"][name] == value)
        };
        let prefix = format!("{kind}/");
        let found = self.objects.iter().filter(|(key, object)| key.starts_with(&prefix) && matches(object));
        let is_partial = accept.contains("PartialObjectMetadataList");
        let item = |object: &Json| if is_partial { json!({ "metadata": object["metadata"] }) } else { object.clone() };
        let items: Vec<Json> = found.map(|(_, object)| item(object)).collect();
        (200, json!({ "apiVersion": "v1", "kind": "SecretList", "items": items, "metadata": {} }))
    }
}
