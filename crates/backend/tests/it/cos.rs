//! The backend `cos` against a double of object storage and of the tag API.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use groma_backend::{Expected, StoreError};
use groma_value::Value;
use serde_json::{Value as Json, json};

use super::store::{self, Store, keeps_the_contract};
use super::web::{Request, response, serve};

#[derive(Default)]
struct Shared {
    objects: BTreeMap<String, (Vec<u8>, String)>,
    tags: BTreeSet<String>,
    /// The values of all tags that were ever created.
    created: BTreeSet<String>,
    /// The answer to all requests for objects, if there is one.
    refusal: Option<(u16, &'static str)>,
    dropped_responses: usize,
}

#[derive(Clone)]
struct Double {
    port: u16,
    shared: Arc<Mutex<Shared>>,
}

impl Double {
    fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
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

    fn open(&self, more: &[(&'static str, Value)]) -> Result<Store, StoreError> {
        let url = format!("http://127.0.0.1:{}", self.port);
        let given = [
            ("bucket", "states-125"),
            ("region", "ap-guangzhou"),
            ("prefix", "team"),
            ("secret_id", "id"),
            ("secret_key", "key"),
            ("endpoint", &url),
            ("domain", &url),
        ];
        let given: Vec<(&'static str, Value)> = given.map(|(name, value)| (name, Value::string(value))).to_vec();
        Store::open("cos", &store::block(&given, more), &[])
    }
}

fn failure(status: u16, code: &str) -> Vec<u8> {
    response(status, &format!("<Error><Code>{code}</Code><Message>no</Message></Error>"))
}

impl Shared {
    fn answer(&mut self, request: &Request) -> Vec<u8> {
        let signature = request.header("authorization").unwrap_or_default();
        if request.header("x-tc-action").is_some() {
            assert!(signature.starts_with("TC3-HMAC-SHA256 Credential=id/"), "{signature}");
            return self.tag(request);
        }
        if !signature.starts_with("q-sign-algorithm=sha1&q-ak=id&q-sign-time=") {
            return failure(403, "SignatureDoesNotMatch");
        }
        if let Some((status, code)) = self.refusal {
            return failure(status, code);
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let key = path.trim_start_matches('/').to_owned();
        match &*request.method {
            "GET" if key.is_empty() => self.list(query),
            "GET" => match self.objects.get(&key) {
                Some((bytes, digest)) => {
                    let length = bytes.len();
                    let head = format!(
                        "HTTP/1.1 200 X\r\nx-cos-meta-md5: {digest}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                    );
                    [head.as_bytes(), bytes].concat()
                }
                None => failure(404, "NoSuchKey"),
            },
            "PUT" if request.header("x-cos-forbid-overwrite").is_some() && self.objects.contains_key(&key) => {
                failure(409, "ObjectAlreadyExists")
            }
            "PUT" => {
                let digest = request.header("x-cos-meta-md5").unwrap_or_default().to_owned();
                self.objects.insert(key, (request.body.clone(), digest));
                response(200, "")
            }
            _ => {
                self.objects.remove(&key);
                response(204, "")
            }
        }
    }

    /// Pages of two objects each.
    fn list(&self, query: &str) -> Vec<u8> {
        let value = |name: &str| {
            let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            pair.unwrap_or_default().replace("%2F", "/")
        };
        let (prefix, marker) = (value("prefix"), value("marker"));
        let found: Vec<&String> = self
            .objects
            .keys()
            .filter(|key| key.starts_with(&prefix) && (marker.is_empty() || **key > marker))
            .collect();
        let contents: String =
            found.iter().take(2).map(|key| format!("<Contents><Key>{key}</Key></Contents>")).collect();
        response(200, &format!("<List><IsTruncated>{}</IsTruncated>{contents}</List>", found.len() > 2))
    }

    fn tag(&mut self, request: &Request) -> Vec<u8> {
        let body: Json = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body["TagKey"], "tencentcloud-terraform-lock");
        let value = body["TagValue"].as_str().unwrap().to_owned();
        let is_done = match request.header("x-tc-action") {
            Some("CreateTag") => {
                self.created.insert(value.clone());
                self.tags.insert(value)
            }
            _ => self.tags.remove(&value),
        };
        let error = if request.header("x-tc-action") == Some("CreateTag") {
            "ResourceInUse.TagDuplicate"
        } else {
            "ResourceNotFound"
        };
        let answer = if is_done { json!({}) } else { json!({ "Error": { "Code": error, "Message": "no" } }) };
        response(200, &json!({ "Response": answer }).to_string())
    }
}

#[test]
fn states_and_locks_keep_the_contract() {
    let double = Double::start();
    let store = double.open(&[]).unwrap();
    keeps_the_contract(&store);
    let held = store.lock("red").unwrap();
    let file = "team/red/terraform.tfstate.tflock";
    let (info, digest) = double.shared().objects[file].clone();
    assert_eq!(held.id, digest, "the digest of the lock object is the ID of the lock");
    let info: Json = serde_json::from_slice(&info).unwrap();
    assert_eq!((&info["Path"], &info["ID"]), (&json!(file), &json!(held.info.id)));
    // The tag is that of the peers: the digest of bucket and lock object.
    assert!(double.shared().created.contains("c4ca9ac1fd9666353d8acc2b420fad6b") && double.shared().tags.is_empty());
    store.unlock("red", &held.id).unwrap();
    for name in ["a", "b", "c"] {
        store.write(name, b"{}", Expected::Absent, None).unwrap();
    }
    double.shared().objects.insert("team/d/other.tfstate".to_owned(), Default::default());
    assert_eq!(store.workspaces().unwrap(), ["a", "b", "c"]);
}

#[test]
fn lock_waits_for_the_mutex_of_another_run() {
    let double = Double::start();
    let store = double.open(&[]).unwrap();
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
    let value = double.shared().created.first().unwrap().clone();
    double.shared().tags.insert(value);
    let freed = double.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        freed.shared().tags.clear();
    });
    store.lock("default").unwrap();
    thread.join().unwrap();
    assert!(double.shared().tags.is_empty());
}

#[test]
fn dropped_responses_damaged_objects_and_refusals_are_recognized() {
    let double = Double::start();
    let store = double.open(&[]).unwrap();
    double.shared().dropped_responses = 1;
    let held = store.lock("default").unwrap();
    double.shared().dropped_responses = 1;
    store.write("default", b"{}", Expected::Absent, Some(&held)).unwrap();
    store.unlock("default", &held.id).unwrap();
    double.shared().objects.get_mut("team/terraform.tfstate").unwrap().0 = b"{".to_vec();
    assert!(matches!(store.read("default"), Err(StoreError::InvalidData { .. })));
    double.shared().refusal = Some((404, "NoSuchBucket"));
    assert!(matches!(store.read("default"), Err(StoreError::NotFound { .. })));
    double.shared().refusal = Some((403, "AccessDenied"));
    let problem = store.write("default", b"{}", Expected::Any, None).unwrap_err();
    assert!(matches!(&problem, StoreError::AccessDenied { permission: Some(name), .. } if name == "cos:PutObject"));
    let acl = double.open(&[("acl", Value::string("public"))]);
    assert!(matches!(acl.err(), Some(StoreError::InvalidArgument { .. })));
}
