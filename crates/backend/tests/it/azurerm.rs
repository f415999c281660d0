//! The backend `azurerm` against Azurite.

use std::sync::LazyLock;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_backend::{Expected, StoreError};
use groma_cloud::api::{ApiClient, ApiRequest};
use groma_cloud::azure::StorageKey;
use groma_cloud::background;
use groma_cloud::http::{ConnectionSettings, HttpResponse, Method};
use groma_value::Value;
use serde_json::Value as Json;

use super::proxy::{Fault, Proxy};
use super::server::Server;
use super::store::{self, Store, has_one_winner, keeps_the_contract};

/// An account of its own: Terraform signs requests for that of the emulator's documentation in another way.
pub const ACCOUNT: &str = "acmestates";
pub const KEY: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNA==";

static SERVER: LazyLock<Option<Server>> = LazyLock::new(|| {
    let accounts = format!("{ACCOUNT}:{KEY}");
    Server::start("azurite-blob", &[("AZURITE_ACCOUNTS", &accounts)], |port| {
        let port = port.to_string();
        let arguments = [
            "--disableTelemetry",
            "--skipApiVersionCheck",
            "--inMemoryPersistence",
            "--silent",
            "--blobHost",
            "127.0.0.1",
            "--blobPort",
            &port,
        ];
        arguments.map(str::to_owned).to_vec()
    })
});

pub fn server() -> Option<u16> {
    let port = SERVER.as_ref().map(|server| server.port);
    if port.is_none() {
        eprintln!("skipped: azurite-blob is not installed (npm install -g azurite)");
    }
    port
}

/// Sends a request behind the store's back.
fn send(port: u16, method: Method, path: &str, headers: &[(&str, &str)]) -> HttpResponse {
    let url = format!("http://127.0.0.1:{port}/{ACCOUNT}/{path}");
    let request = ApiRequest::new(method, url).with_header("x-ms-version", "2023-11-03");
    let request = headers.iter().fold(request, |request, (name, value)| request.with_header(name, *value));
    let request = StorageKey::new(ACCOUNT, KEY).unwrap().sign(request, SystemTime::now()).unwrap();
    let api = ApiClient::new(ConnectionSettings::default(), groma_cloud::Environment::default()).unwrap();
    background::block_on(async move { api.send(&request).await }).unwrap().unwrap()
}

pub fn make_container(port: u16, name: &str) {
    assert!(send(port, Method::PUT, &format!("{name}?restype=container"), &[]).status.is_success());
}

pub fn open(port: u16, container: &str, more: &[(&'static str, Value)]) -> Result<Store, StoreError> {
    let given = [
        ("storage_account_name", Value::string(ACCOUNT)),
        ("container_name", Value::string(container)),
        ("key", Value::string("team/a.tfstate")),
        ("access_key", Value::string(KEY)),
    ];
    let endpoint = format!("http://127.0.0.1:{port}/{ACCOUNT}");
    let config = store::block(&given, more);
    Store::open("azurerm", &config, &[("AZURE_STORAGE_SERVICE_ENDPOINT", &endpoint)])
}

fn holder(response: &HttpResponse) -> Option<Json> {
    let encoded = response.header("x-ms-meta-terraformlockid")?;
    serde_json::from_slice(&STANDARD.decode(encoded).unwrap()).ok()
}

#[test]
fn states_and_locks_keep_the_contract() {
    let Some(port) = server() else { return };
    make_container(port, "contract");
    let store = open(port, "contract", &[]).unwrap();
    keeps_the_contract(&store);
    store::keeps_journals(&store);
    has_one_winner(&store, "default");
    has_one_winner(&store, "red");
}

#[test]
fn lock_is_the_lease_and_metadata_of_the_peers() {
    let Some(port) = server() else { return };
    make_container(port, "records");
    let store = open(port, "records", &[]).unwrap();
    let held = store.lock("blue").unwrap();
    let blob = "records/team/a.tfstateenv%3Ablue";
    let seen = send(port, Method::HEAD, blob, &[]);
    assert_eq!(
        (seen.header("x-ms-lease-state"), seen.header("x-ms-lease-duration")),
        (Some("leased"), Some("infinite"))
    );
    let info = holder(&seen).unwrap();
    assert_eq!((info["ID"].as_str(), info["Path"].as_str()), (Some(&*held.id), Some("records/team/a.tfstateenv:blue")));
    let empty = store.read("blue").unwrap().unwrap();
    store.write("blue", b"{\"n\":1}", Expected::Version(empty.version), Some(&held)).unwrap();
    assert!(holder(&send(port, Method::HEAD, blob, &[])).is_some(), "a write keeps the info");
    store.unlock("blue", &held.id).unwrap();
    let seen = send(port, Method::HEAD, blob, &[]);
    assert_eq!((seen.header("x-ms-lease-status"), holder(&seen)), (Some("unlocked"), None));
}

#[test]
fn blobs_keep_the_metadata_of_others_and_get_snapshots() {
    let Some(port) = server() else { return };
    make_container(port, "metadata");
    let store = open(port, "metadata", &[("snapshot", Value::bool(true))]).unwrap();
    let blob = "metadata/team/a.tfstate";
    let first = store.write("default", b"{\"n\":1}", Expected::Absent, None).unwrap();
    send(port, Method::PUT, &format!("{blob}?comp=metadata"), &[("x-ms-meta-owner", "me")]);
    assert!(matches!(
        store.write("default", b"{\"n\":2}", Expected::Version(first), None),
        Err(StoreError::Conflict { .. })
    ));
    let held = store.lock("default").unwrap();
    let found = store.read("default").unwrap().unwrap();
    let two = store.write("default", b"{\"n\":2}", Expected::Version(found.version), Some(&held)).unwrap();
    store.write("default", b"{\"n\":3}", Expected::Version(two), Some(&held)).unwrap();
    store.unlock("default", &held.id).unwrap();
    assert_eq!(send(port, Method::HEAD, blob, &[]).header("x-ms-meta-owner"), Some("me"));
    let list = send(port, Method::GET, "metadata?restype=container&comp=list&include=snapshots", &[]);
    let list = String::from_utf8(list.body).unwrap();
    assert!(list.matches("<Snapshot>").count() >= 2, "{list}");
}

#[test]
fn lock_without_a_write_leaves_no_blob() {
    let Some(port) = server() else { return };
    make_container(port, "untouched");
    let store = open(port, "untouched", &[]).unwrap();
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
    assert_eq!(store.read("default").unwrap(), None);
}

#[test]
fn lease_without_info_is_named_and_released_by_force() {
    let Some(port) = server() else { return };
    make_container(port, "stuck");
    let store = open(port, "stuck", &[]).unwrap();
    store.write("default", b"{\"n\":1}", Expected::Absent, None).unwrap();
    // A run of a peer was killed between the lease and its info.
    let lease = [
        ("x-ms-lease-action", "acquire"),
        ("x-ms-lease-duration", "-1"),
        ("x-ms-proposed-lease-id", "11111111-2222-3333-4444-555555555555"),
    ];
    assert!(send(port, Method::PUT, "stuck/team/a.tfstate?comp=lease", &lease).status.is_success());
    let problem = store.lock("default").unwrap_err();
    assert!(problem.is_held_lock(), "it is waited for: {problem:?}");
    let StoreError::Locked { holder: Some(holder), reason } = problem else { panic!() };
    assert!(reason.contains("without lock info"), "{reason}");
    store.unlock("default", &holder.id).unwrap();
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn run_that_is_killed_while_it_locks_leaves_a_lease_that_ends() {
    let Some(port) = server() else { return };
    make_container(port, "killed");
    let proxy = Proxy::start(port);
    let store = open(proxy.port, "killed", &[]).unwrap();
    store.write("default", b"{\"n\":1}", Expected::Absent, None).unwrap();
    proxy.break_if(|request| {
        // From the metadata on nothing arrives, as if the process had ended.
        let is_later = request.target.contains("comp=metadata") || request.headers.contains("release");
        is_later.then_some(Fault::Answer(400, ""))
    });
    assert!(store.lock("default").is_err());
    let seen = send(port, Method::HEAD, "killed/team/a.tfstate", &[]);
    assert_eq!((seen.header("x-ms-lease-state"), seen.header("x-ms-lease-duration")), (Some("leased"), Some("fixed")));
}

#[test]
fn writes_whose_responses_never_arrive_are_recognized_and_ended_leases_reported() {
    let Some(port) = server() else { return };
    make_container(port, "lost");
    let proxy = Proxy::start(port);
    let store = open(proxy.port, "lost", &[]).unwrap();
    let held = store.lock("default").unwrap();
    let empty = store.read("default").unwrap().unwrap();
    let mut answers = 1;
    proxy.break_if(move |request| {
        let is_write = request.method == "PUT" && request.headers.contains("BlockBlob") && answers > 0;
        answers -= i32::from(is_write);
        is_write.then_some(Fault::LostAnswer)
    });
    let one = store.write("default", b"{\"n\":1}", Expected::Version(empty.version), Some(&held)).unwrap();
    let broken = [("x-ms-lease-action", "break"), ("x-ms-lease-break-period", "0")];
    assert!(send(port, Method::PUT, "lost/team/a.tfstate?comp=lease", &broken).status.is_success());
    let problem = store.write("default", b"{\"n\":2}", Expected::Version(one), Some(&held)).unwrap_err();
    assert!(matches!(problem, StoreError::LockLost { .. }), "{problem:?}");
}

#[test]
fn missing_containers_and_rights_are_named_with_advice() {
    let Some(port) = server() else { return };
    let store = open(port, "nowhere", &[]).unwrap();
    for problem in [
        store.read("default").unwrap_err(),
        store.lock("default").unwrap_err(),
        store.workspaces().unwrap_err(),
        store.write("default", b"{}", Expected::Absent, None).unwrap_err(),
    ] {
        let StoreError::NotFound { what, advice } = &problem else { panic!("{problem:?}") };
        assert!(what.contains("\"nowhere\"") && advice.contains("az storage container create --name nowhere"));
    }
    let wrong = open(port, "nowhere", &[("access_key", Value::string("d3Jvbmc="))]).unwrap();
    let problem = wrong.read("default").unwrap_err();
    assert!(matches!(&problem, StoreError::Unauthenticated { .. } | StoreError::AccessDenied { .. }), "{problem:?}");
    assert!(problem.detail().contains("use_azuread_auth"), "{}", problem.detail());
    let invalid = [("container_name", "Upper"), ("storage_account_name", "a-b"), ("access_key", "???")];
    for (name, value) in invalid {
        let problem = open(port, "nowhere", &[(name, Value::string(value))]).err().unwrap();
        assert!(matches!(&problem, StoreError::InvalidArgument { argument, .. } if argument == name), "{problem:?}");
    }
}
