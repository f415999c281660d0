//! The backend `gcs` against fake-gcs-server.

use std::sync::LazyLock;

use groma_backend::{Expected, StoreError};
use groma_cloud::api::{ApiClient, ApiRequest};
use groma_cloud::background;
use groma_cloud::http::{ConnectionSettings, HttpResponse, Method};
use groma_value::Value;
use serde_json::{Value as Json, json};

use super::proxy::{Fault, Proxy};
use super::server::Server;
use super::store::{self, Store, has_one_winner, keeps_the_contract};

static SERVER: LazyLock<Option<Server>> = LazyLock::new(|| {
    Server::start("fake-gcs-server", &[], |port| {
        let host = format!("127.0.0.1:{port}");
        let port = port.to_string();
        let arguments =
            ["-scheme", "http", "-backend", "memory", "-host", "127.0.0.1", "-port", &port, "-public-host", &host];
        arguments.map(str::to_owned).to_vec()
    })
});

pub fn server() -> Option<u16> {
    let port = SERVER.as_ref().map(|server| server.port);
    if port.is_none() {
        eprintln!("skipped: fake-gcs-server is not installed (go install github.com/fsouza/fake-gcs-server@latest)");
    }
    port
}

fn send(request: ApiRequest) -> HttpResponse {
    let api = ApiClient::new(ConnectionSettings::default(), groma_cloud::Environment::default()).unwrap();
    background::block_on(async move { api.send(&request).await }).unwrap().unwrap()
}

pub fn make_bucket(port: u16, name: &str) {
    let url = format!("http://127.0.0.1:{port}/storage/v1/b");
    assert!(send(ApiRequest::json(Method::POST, url, &json!({ "name": name }))).status.is_success());
}

fn object(port: u16, bucket: &str, name: &str) -> Json {
    let name = groma_cloud::api::url_encoded(name);
    let url = format!("http://127.0.0.1:{port}/storage/v1/b/{bucket}/o/{name}?alt=media");
    serde_json::from_slice(&send(ApiRequest::get(url)).body).unwrap()
}

fn open(port: u16, bucket: &str, more: &[(&'static str, Value)]) -> Result<Store, StoreError> {
    let endpoint = Value::string(format!("http://127.0.0.1:{port}/storage/v1/b"));
    let given = [
        ("bucket", Value::string(bucket)),
        ("prefix", Value::string("/team/net")),
        ("access_token", Value::string("token")),
        ("storage_custom_endpoint", endpoint),
    ];
    Store::open("gcs", &store::block(&given, more), &[])
}

#[test]
fn states_and_locks_keep_the_contract() {
    let Some(port) = server() else { return };
    make_bucket(port, "contract");
    let store = open(port, "contract", &[]).unwrap();
    keeps_the_contract(&store);
    store::keeps_journals(&store);
    store::exchanges_locks(&store, "green");
    assert_eq!(store.workspaces().unwrap(), ["default"]);
    has_one_winner(&store, "default");
}

#[test]
fn lock_object_is_that_of_the_peers() {
    let Some(port) = server() else { return };
    make_bucket(port, "records");
    let store = open(port, "records", &[]).unwrap();
    let held = store.lock("blue").unwrap();
    assert!(held.id.parse::<u64>().is_ok(), "the generation is the ID of the lock");
    let info = object(port, "records", "team/net/blue.tflock");
    assert_eq!(info["Path"], "gs://records/team/net/blue.tflock");
    assert_eq!((&info["ID"], &info["Who"]), (&json!(held.info.id), &json!("tester@here")));
    assert_ne!(info["ID"], held.id);
    store.write("blue", b"{\"n\":1}", Expected::Absent, Some(&held)).unwrap();
    assert_eq!(object(port, "records", "team/net/blue.tfstate"), json!({ "n": 1 }));
    store.unlock("blue", &held.id).unwrap();
}

#[test]
fn lock_of_another_generation_is_not_released() {
    let Some(port) = server() else { return };
    make_bucket(port, "generations");
    let proxy = Proxy::start(port);
    let store = open(proxy.port, "generations", &[]).unwrap();
    let held = store.lock("default").unwrap();
    // The server of the test ignores the condition of a deletion.
    proxy.break_if(|request| {
        let is_stale = request.method == "DELETE" && request.target.ends_with("ifGenerationMatch=17");
        is_stale.then_some(Fault::Answer(412, "{}"))
    });
    let problem = store.unlock("default", "17").unwrap_err();
    let StoreError::LockIdMismatch { holder: Some(holder), .. } = &problem else { panic!("{problem:?}") };
    assert_eq!(holder.id, held.id);
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn writes_and_locks_whose_responses_never_arrive_are_recognized() {
    let Some(port) = server() else { return };
    make_bucket(port, "lost");
    let proxy = Proxy::start(port);
    let store = open(proxy.port, "lost", &[]).unwrap();
    proxy.break_next("POST", "tflock", Fault::LostAnswer);
    let held = store.lock("default").unwrap();
    proxy.break_next("POST", "tfstate", Fault::LostAnswer);
    let version = store.write("default", b"{\"n\":1}", Expected::Absent, Some(&held)).unwrap();
    assert_eq!(store.read("default").unwrap().unwrap().version, version);
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn missing_buckets_and_permissions_are_named_with_advice() {
    let Some(port) = server() else { return };
    let store = open(port, "nowhere", &[]).unwrap();
    for problem in [store.read("default").unwrap_err(), store.lock("default").unwrap_err()] {
        let StoreError::NotFound { what, advice } = &problem else { panic!("{problem:?}") };
        assert!(what.contains("\"nowhere\"") && advice.contains("gcloud storage buckets create gs://nowhere"));
    }
    make_bucket(port, "denied");
    let proxy = Proxy::start(port);
    let store = open(proxy.port, "denied", &[]).unwrap();
    let body = r#"{"error":{"code":403,"message":"no"}}"#;
    proxy.break_if(move |_| Some(Fault::Answer(403, body)));
    let named = |problem: StoreError, expected: &str| {
        let StoreError::AccessDenied { permission, advice, .. } = &problem else { panic!("{problem:?}") };
        assert_eq!(permission.as_deref(), Some(expected));
        assert!(advice.contains("add-iam-policy-binding gs://denied"), "{advice}");
    };
    named(store.read("default").unwrap_err(), "storage.objects.get");
    named(store.write("default", b"{}", Expected::Any, None).unwrap_err(), "storage.objects.create");
    named(store.delete("default", None).unwrap_err(), "storage.objects.delete");
    named(store.workspaces().unwrap_err(), "storage.objects.list");
    proxy.break_if(|_| Some(Fault::Answer(401, "{}")));
    assert!(matches!(store.read("default"), Err(StoreError::Unauthenticated { .. })));
}

#[test]
fn keys_are_checked_and_sent() {
    let Some(port) = server() else { return };
    make_bucket(port, "sealed");
    let key = || Value::string("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=");
    let proxy = Proxy::start(port);
    let store = open(proxy.port, "sealed", &[("encryption_key", key())]).unwrap();
    let (sender, seen) = std::sync::mpsc::channel();
    proxy.break_if(move |request| {
        sender.send((request.target.clone(), request.headers.contains("x-goog-encryption-key-sha256"))).unwrap();
        None
    });
    store.write("default", b"{}", Expected::Absent, None).unwrap();
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
    for (target, has_key) in seen.try_iter() {
        assert_eq!(has_key, target.contains("tfstate"), "{target}");
    }
    let both = open(port, "sealed", &[("encryption_key", key()), ("kms_encryption_key", Value::string("projects/p"))]);
    assert!(matches!(both.err(), Some(StoreError::InvalidArgument { .. })));
    let short = open(port, "sealed", &[("encryption_key", Value::string("c2hvcnQ="))]);
    assert!(short.err().unwrap().to_string().contains("32 bytes"));
}
