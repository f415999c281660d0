//! The backend `oci` against a double of Object Storage.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_backend::{Expected, StoreError};
use groma_value::Value;
use md5::{Digest, Md5};
use serde_json::{Value as Json, json};

use super::store::{self, Store, has_one_winner, keeps_the_contract};
use super::web::{Request, decoded, serve};

#[derive(Default)]
struct Shared {
    objects: BTreeMap<String, (Vec<u8>, u64)>,
    version: u64,
    /// The number of objects on a page.
    page: usize,
    /// The answer to everything, if there is one.
    refusal: Option<(u16, &'static str)>,
    /// How many answers to writes are lost.
    dropped_responses: usize,
}

#[derive(Clone)]
pub struct Double {
    pub port: u16,
    shared: Arc<Mutex<Shared>>,
}

impl Double {
    fn start() -> Self {
        Self::with_pages_of(1)
    }

    pub fn with_pages_of(page: usize) -> Self {
        let shared = Arc::new(Mutex::new(Shared { page, ..Shared::default() }));
        let served = Arc::clone(&shared);
        let port = serve(move |request| {
            let mut shared = served.lock().unwrap();
            let answer = shared.answer(&request);
            if request.method == "PUT" && shared.dropped_responses > 0 {
                shared.dropped_responses -= 1;
                return None;
            }
            Some(answer)
        });
        Self { port, shared }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }

    pub fn open(&self, more: &[(&'static str, Value)]) -> Result<Store, StoreError> {
        let pem = private_key();
        let given = [
            ("bucket", "states"),
            ("namespace", "ns"),
            ("key", "team/a.tfstate"),
            ("region", "eu-frankfurt-1"),
            ("tenancy_ocid", "tenancy"),
            ("user_ocid", "user"),
            ("fingerprint", "finger"),
            ("private_key", &pem),
        ];
        let given: Vec<(&'static str, Value)> = given.map(|(name, value)| (name, Value::string(value))).to_vec();
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        Store::open("oci", &store::block(&given, more), &[("OCI_CLI_ENDPOINT", &endpoint)])
    }
}

/// Creates an API key.
pub fn private_key() -> String {
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
    let encoded = STANDARD.encode(der.as_ref());
    let lines: Vec<&str> = encoded.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
}

fn reply(status: u16, etag: &str, body: &[u8]) -> Vec<u8> {
    [head(status, etag, body).as_bytes(), body].concat()
}

/// Returns the head of a response. Terraform needs the digest.
fn head(status: u16, etag: &str, body: &[u8]) -> String {
    let (length, digest) = (body.len(), STANDARD.encode(Md5::digest(body)));
    format!(
        "HTTP/1.1 {status} X\r\netag: {etag}\r\ncontent-md5: {digest}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    )
}

fn failure(status: u16, code: &str) -> Vec<u8> {
    reply(status, "", json!({ "code": code, "message": "no" }).to_string().as_bytes())
}

impl Shared {
    fn answer(&mut self, request: &Request) -> Vec<u8> {
        let signature = request.header("authorization").unwrap_or_default();
        let key = "keyId=\"tenancy/user/finger\"";
        if !signature.starts_with("Signature version=\"1\"") || !signature.contains(key) {
            return failure(401, "NotAuthenticated");
        }
        if let Some((status, code)) = self.refusal {
            return failure(status, code);
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        if path == "/n/ns/b/states/objectversions" {
            return self.versions(query);
        }
        let name = path.strip_prefix("/n/ns/b/states/o").map(|rest| decoded(rest.trim_start_matches('/')));
        let Some(name) = name else { return failure(404, "BucketNotFound") };
        if name.is_empty() {
            return self.list(query);
        }
        let found = self.objects.get(&name).cloned();
        let etag = found.as_ref().map(|(_, version)| format!("e{version}"));
        let is_refused = request.header("if-none-match").is_some() && found.is_some()
            || request.header("if-match").is_some_and(|expected| etag.as_deref().is_some_and(|etag| etag != expected));
        match (&*request.method, found) {
            _ if is_refused => failure(412, "IfNoneMatchFailed"),
            ("PUT", None) if request.header("if-match").is_some() => failure(404, "ObjectNotFound"),
            ("PUT", _) => {
                self.version += 1;
                self.objects.insert(name, (request.body.clone(), self.version));
                reply(200, &format!("e{}", self.version), b"")
            }
            ("HEAD", Some((bytes, version))) => head(200, &format!("e{version}"), &bytes).into_bytes(),
            ("GET", Some((bytes, version))) => reply(200, &format!("e{version}"), &bytes),
            ("DELETE", Some(_)) => {
                self.objects.remove(&name);
                reply(204, "", b"")
            }
            _ => failure(404, "ObjectNotFound"),
        }
    }

    /// The versions of one object, which Terraform deletes one by one with a workspace. There are no older ones here.
    fn versions(&self, query: &str) -> Vec<u8> {
        let name = decoded(query.trim_start_matches("prefix="));
        let found = self.objects.get(&name).map(|_| json!({ "name": name, "versionId": "latest" }));
        reply(200, "", json!({ "items": found.into_iter().collect::<Vec<_>>() }).to_string().as_bytes())
    }

    fn list(&self, query: &str) -> Vec<u8> {
        let value = |name: &str| {
            let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            decoded(pair.unwrap_or_default())
        };
        let (prefix, start) = (value("prefix"), value("start"));
        let mut names = self.objects.keys().filter(|name| name.starts_with(&prefix) && **name >= start);
        let objects: Vec<Json> = names.by_ref().take(self.page).map(|name| json!({ "name": name })).collect();
        reply(200, "", json!({ "objects": objects, "nextStartWith": names.next() }).to_string().as_bytes())
    }
}

#[test]
fn states_and_locks_keep_the_contract() {
    let double = Double::start();
    let store = double.open(&[]).unwrap();
    keeps_the_contract(&store);
    store::keeps_journals(&store);
    store::exchanges_locks(&store, "green");
    has_one_winner(&store, "default");
    has_one_winner(&store, "red");
    let held = store.lock("red").unwrap();
    let name = "tf-state-env/red/team/a.tfstate.lock";
    let info: Json = serde_json::from_slice(&double.shared().objects[name].0).unwrap();
    assert_eq!((&info["ID"], &info["Path"]), (&json!(held.id), &json!(name)));
    double.shared().objects.insert("tf-state-env/other/b.tfstate".to_owned(), (Vec::new(), 0));
    assert_eq!(store.workspaces().unwrap(), ["red"]);
}

#[test]
fn writes_and_locks_whose_responses_never_arrive_are_recognized() {
    let double = Double::start();
    let store = double.open(&[]).unwrap();
    double.shared().dropped_responses = 1;
    let held = store.lock("default").unwrap();
    double.shared().dropped_responses = 1;
    let version = store.write("default", b"{}", Expected::Absent, Some(&held)).unwrap();
    assert_eq!(store.read("default").unwrap().unwrap().version, version);
    store.unlock("default", &held.id).unwrap();
    store::renews_without_an_answer(&store, "default", || double.shared().dropped_responses = 1);
}

#[test]
fn missing_buckets_rights_and_methods_are_named_with_advice() {
    let double = Double::start();
    let store = double.open(&[("bucket", Value::string("none"))]).unwrap();
    let problem = store.read("default").unwrap_err();
    assert!(
        matches!(&problem, StoreError::NotFound { advice, .. } if advice.contains("oci os bucket create --name none"))
    );
    let store = double.open(&[]).unwrap();
    double.shared().refusal = Some((404, "NotAuthorizedOrNotFound"));
    let problem = store.workspaces().unwrap_err();
    assert!(
        matches!(&problem, StoreError::AccessDenied { advice, .. } if advice.contains("allow group")),
        "{problem:?}"
    );
    double.shared().refusal = Some((401, "NotAuthenticated"));
    assert!(matches!(store.read("default"), Err(StoreError::Unauthenticated { .. })));
    let instance = double.open(&[("auth", Value::string("InstancePrincipal"))]).err().unwrap();
    assert!(matches!(instance, StoreError::Unsupported { .. }));
}
