//! The backend `kubernetes` against a double of the API.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_backend::{Expected, StoreError};
use groma_value::{Type, Value};
use serde_json::{Value as Json, json};

use super::kubernetes_server::{KubernetesServer, NAMESPACE};
use super::store::{self, Store, has_one_winner, keeps_the_contract};

fn open(server: &KubernetesServer, more: &[(&'static str, Value)]) -> Result<Store, StoreError> {
    let given = [
        ("secret_suffix", Value::string("net")),
        ("namespace", Value::string(NAMESPACE)),
        ("host", Value::string(format!("http://127.0.0.1:{}", server.port))),
        ("token", Value::string("token")),
    ];
    Store::open("kubernetes", &store::block(&given, more), &[])
}

fn unpacked(secret: &Json) -> Vec<u8> {
    let packed = STANDARD.decode(secret["data"]["tfstate"].as_str().unwrap()).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns text that stays large when it is compressed.
fn noise(length: usize) -> Vec<u8> {
    let mut seed = 7_u32;
    let byte = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    std::iter::repeat_with(byte).take(length).collect()
}

#[test]
fn states_and_locks_keep_the_contract() {
    let server = KubernetesServer::start();
    let store = open(&server, &[]).unwrap();
    keeps_the_contract(&store);
    store::exchanges_locks(&store, "default");
    store::keeps_journals(&store);
    assert_eq!(store.workspaces().unwrap(), ["default"]);
    assert_eq!(server.names(), ["leases/lock-tfstate-default-net", "secrets/tfstate-default-net"]);
    has_one_winner(&store, "default");
}

#[test]
fn secrets_and_leases_are_those_of_the_peers() {
    let server = KubernetesServer::start();
    let labels = Value::map(Type::String, [("team", Value::string("net"))]);
    let store = open(&server, &[("labels", labels)]).unwrap();
    let held = store.lock("blue").unwrap();
    store.write("blue", b"{\"n\":1}", Expected::Absent, Some(&held)).unwrap();
    let labels = json!({
        "tfstate": "true", "tfstateSecretSuffix": "net", "tfstateWorkspace": "blue",
        "app.kubernetes.io/managed-by": "terraform", "team": "net",
    });
    {
        let shared = server.shared();
        let secret = &shared.objects["secrets/tfstate-blue-net"];
        assert_eq!((&secret["metadata"]["labels"], &secret["type"]), (&labels, &json!("Opaque")));
        assert_eq!(secret["metadata"]["annotations"], json!({ "encoding": "gzip" }));
        assert_eq!(unpacked(secret), b"{\"n\":1}");
        let lease = &shared.objects["leases/lock-tfstate-blue-net"];
        assert_eq!((&lease["metadata"]["labels"], &lease["spec"]["holderIdentity"]), (&labels, &json!(held.id)));
        let info = lease["metadata"]["annotations"]["app.terraform.io/lock-info"].as_str().unwrap();
        let info: Json = serde_json::from_str(info).unwrap();
        assert_eq!((&info["ID"], &info["Path"]), (&json!(held.id), &json!("")));
    }
    store.unlock("blue", &held.id).unwrap();
    let lease = server.shared().objects["leases/lock-tfstate-blue-net"].clone();
    assert_eq!((&lease["spec"], &lease["metadata"]["annotations"]), (&json!({}), &json!({})));
}

#[test]
fn large_states_are_split_into_parts_and_surplus_parts_deleted() {
    let server = KubernetesServer::start();
    let store = open(&server, &[]).unwrap();
    let large = noise(2_300_000);
    let one = store.write("default", &large, Expected::Absent, None).unwrap();
    let parts =
        ["secrets/tfstate-default-net", "secrets/tfstate-default-net-part-1", "secrets/tfstate-default-net-part-2"];
    assert_eq!(server.names(), parts);
    let found = store.read("default").unwrap().unwrap();
    assert_eq!((found.bytes == large, &found.version), (true, &one));
    assert_eq!(store.workspaces().unwrap(), ["default"]);
    // A part that changes makes another version of the whole.
    let mut part = server.shared().objects[parts[2]].clone();
    part["data"]["tfstate"] = json!("AAAA");
    server.shared().store(parts[2].to_owned(), part);
    assert!(matches!(store.read("default"), Err(StoreError::InvalidData { .. })));
    store.write("default", b"{}", Expected::Any, None).unwrap();
    assert_eq!(server.names(), parts[..1]);
    assert_eq!(store.read("default").unwrap().unwrap().bytes, b"{}");
}

#[test]
fn secret_with_an_unsplit_large_state_is_read() {
    let server = KubernetesServer::start();
    let store = open(&server, &[]).unwrap();
    let large = noise(1_200_000);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&large).unwrap();
    let data = STANDARD.encode(encoder.finish().unwrap());
    let secret = json!({ "metadata": { "name": "tfstate-default-net" }, "data": { "tfstate": data } });
    server.shared().store("secrets/tfstate-default-net".to_owned(), secret);
    assert!(store.read("default").unwrap().unwrap().bytes == large);
}

#[test]
fn writes_and_locks_whose_responses_never_arrive_are_recognized() {
    let server = KubernetesServer::start();
    let store = open(&server, &[]).unwrap();
    server.shared().dropped_responses = 1;
    let held = store.lock("default").unwrap();
    server.shared().dropped_responses = 1;
    let one = store.write("default", b"{\"n\":1}", Expected::Absent, Some(&held)).unwrap();
    server.shared().dropped_responses = 1;
    let two = store.write("default", b"{\"n\":2}", Expected::Version(one), Some(&held)).unwrap();
    assert_eq!(store.read("default").unwrap().unwrap().version, two);
    store.unlock("default", &held.id).unwrap();
}

#[test]
fn missing_rights_and_namespaces_are_named_with_advice() {
    let server = KubernetesServer::start();
    let store = open(&server, &[]).unwrap();
    let denied = |verb, attempt: &dyn Fn() -> StoreError, expected: &str| {
        server.shared().forbidden = Some(verb);
        let problem = attempt();
        let StoreError::AccessDenied { permission, advice, .. } = &problem else { panic!("{problem:?}") };
        assert_eq!(permission.as_deref(), Some(expected));
        assert!(advice.contains("kubectl create role terraform-state -n states"), "{advice}");
    };
    denied("get", &|| store.read("default").unwrap_err(), "get secrets");
    denied("create", &|| store.write("default", b"{}", Expected::Absent, None).unwrap_err(), "create secrets");
    denied("create", &|| store.lock("default").unwrap_err(), "create leases");
    denied("list", &|| store.workspaces().unwrap_err(), "list secrets");
    server.shared().forbidden = None;
    let other_namespace = open(&server, &[("namespace", Value::string("none"))]).unwrap();
    assert_eq!(other_namespace.read("default").unwrap(), None);
    let problem = other_namespace.lock("default").unwrap_err();
    assert!(matches!(&problem, StoreError::NotFound { what, .. } if what.contains("\"none\"")), "{problem:?}");
    server.shared().tokens = vec!["other".to_owned()];
    assert!(matches!(store.read("default"), Err(StoreError::Unauthenticated { .. })));
    let numbered = open(&server, &[("secret_suffix", Value::string("net-1"))]);
    assert!(matches!(numbered.err(), Some(StoreError::InvalidArgument { .. })));
}

#[test]
fn kubeconfig_names_cluster_and_program_for_credentials() {
    let server = KubernetesServer::start();
    server.shared().tokens = vec!["second".to_owned()];
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("login");
    // The first token is rejected, as one that has ended early.
    let script = "#!/bin/sh\nif [ -e \"$0.used\" ]; then token=second; else token=first; touch \"$0.used\"; fi\necho \"{\\\"status\\\":{\\\"token\\\":\\\"$token\\\"}}\"\n";
    std::fs::write(&program, script).unwrap();
    let kubeconfig = format!(
        "current-context: here\ncontexts:\n- name: here\n  context: {{cluster: c, user: u}}\nclusters:\n- name: c\n  cluster: {{server: \"http://127.0.0.1:{}\"}}\nusers:\n- name: u\n  user:\n    exec: {{apiVersion: client.authentication.k8s.io/v1, command: sh, args: [\"{}\"]}}\n",
        server.port,
        program.display()
    );
    let path = folder.path().join("config");
    std::fs::write(&path, kubeconfig).unwrap();
    let given = [("secret_suffix", Value::string("net")), ("namespace", Value::string(NAMESPACE))];
    let path = path.display().to_string();
    let store = Store::open("kubernetes", &store::block(&given, &[]), &[("KUBE_CONFIG_PATHS", &path)]).unwrap();
    assert_eq!(store.read("default").unwrap(), None);
    let held = store.lock("default").unwrap();
    store.unlock("default", &held.id).unwrap();
    let nothing = Store::open("kubernetes", &store::block(&given, &[]), &[]).err().unwrap();
    assert!(nothing.to_string().contains("KUBE_CONFIG_PATH"), "{nothing}");
}
